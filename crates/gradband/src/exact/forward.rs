//! The exact Bayes reward of a count-based policy on Bernoulli rewards, and its gradient: no sampling error.
//!
//! Every history with given counts has the same likelihood, so the policy and the prior separate. Write
//! V(counts) for the mean, over the orders in which the counts' successes can occur within each arm's pulls,
//! of the sum over arm sequences of prod_t pi_w(I_t | counts so far):
//!
//! ```text
//! V(0) = 1
//! V(T + e_i, s + e_i) += (s_i + 1) / (T_i + 1)       pi_i V(T, s)     for every arm i (a success)
//! V(T + e_i, s)       += (T_i + 1 - s_i) / (T_i + 1) pi_i V(T, s)     (a failure)
//! r(n; pi_w) = sum over the last layer of V(T, s) E[prod_i Binomial(s_i; T_i, theta_i)] sum_i s_i
//! ```
//!
//! Only the last line meets the prior. V lies in [0, 1] and all terms are positive: nothing overflows and no
//! digit is lost, whatever the horizon. dV/dw follows the same recursion by the product rule.

use super::last_layer::reward_weights;
use super::mixture::Mixture;
use super::space::{self, Axis, Layer};
use crate::error::Result;
use crate::numeric::simd::vectorized;
use crate::observe::{Observer, go_on};

/// A policy that sees only how often each arm was pulled and how often it succeeded.
pub trait CountKernel: Send + Sync {
    /// Number of parameters that the gradient is taken in.
    fn dim(&self) -> usize {
        0
    }

    /// pi_w(i | counts) of every arm, and for each parameter d pi / dw of every arm. The 0-based round is the sum of
    /// the pulls.
    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]);

    /// The same for all states of a block (see `space`) at once: arm i's are at `pi[i * states..]`, and their
    /// derivatives in parameter p at `dpi[(p * arms + i) * states..]`.
    /// Override it to share what depends on the pulls only, and to let the compiler vectorise.
    fn block(&self, pulls: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        scalar_block(self, pulls, pi, dpi);
    }

    /// After a programme: refuses its result if what the policy gave were not probabilities.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// [`CountKernel::block`] state by state.
pub(crate) fn scalar_block<P: CountKernel + ?Sized>(
    policy: &P,
    pulls: &[u32],
    pi: &mut [f64],
    dpi: &mut [f64],
) {
    let (arms, len) = (pulls.len(), space::block_len(pulls));
    // Both are laid out alike, one state after the other and all of them: an entry of one becomes a row of the other.
    let (mut one, mut done) = (vec![0.0; arms], vec![0.0; arms * policy.dim()]);
    space::for_each_outcome(pulls, |state, successes| {
        policy.probabilities(pulls, successes, &mut one, &mut done);
        one.iter().enumerate().for_each(|(arm, &p)| pi[arm * len + state] = p);
        done.iter().enumerate().for_each(|(arm, &p)| dpi[arm * len + state] = p);
    });
}

/// What is known without sampling error.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Exact {
    /// Expected sum of rewards over the horizon, over prior and policy.
    pub bayes_reward: f64,
    /// Horizon times E[max theta], less the reward.
    pub bayes_regret: f64,
    /// d(Bayes reward)/dw: one entry per parameter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gradient: Vec<f64>,
    /// States visited.
    pub states: u128,
}

/// The exact Bayes reward and gradient of `policy` over `horizon` rounds. Relative error about `horizon` times 1e-16.
///
/// Takes `space::evaluation_bytes` of memory; the caller checks that they fit (see `space::check`).
pub fn forward<P: CountKernel + ?Sized>(
    policy: &P,
    prior: &Mixture,
    horizon: usize,
    observer: &mut dyn Observer,
) -> Result<Exact> {
    let (last, spare) = layers(policy, prior.arms(), horizon, observer)?;
    policy.check()?;
    let weights = reward_weights(prior, &last.layer, horizon, spare);
    let bayes_reward = dot(&last.layer, &last.value, &weights);
    let gradient = last.slopes.iter().map(|slope| dot(&last.layer, slope, &weights)).collect();
    let bayes_regret = horizon as f64 * prior.mean_max() - bayes_reward;
    Ok(Exact { bayes_reward, bayes_regret, gradient, states: space::states(prior.arms(), horizon) })
}

/// One layer of V and, for each parameter of the policy, dV/dw.
struct Weights {
    layer: Layer,
    value: Vec<f64>,
    slopes: Vec<Vec<f64>>,
}

/// The forward recursion for V and dV/dw, up to the last layer; and a buffer that is free again.
fn layers<P: CountKernel + ?Sized>(
    policy: &P,
    arms: usize,
    horizon: usize,
    observer: &mut dyn Observer,
) -> Result<(Weights, Vec<f64>)> {
    let dim = policy.dim();
    // Reserved at once: a vector that grows may take twice what it needs.
    let largest = space::layer_states(arms, horizon) as usize;
    let buffer = || Vec::with_capacity(largest);
    let buffers = || (0..dim).map(|_| buffer()).collect::<Vec<Vec<f64>>>();
    let mut now = Weights { layer: Layer::new(arms, 0), value: buffer(), slopes: buffers() };
    now.value.push(1.0);
    now.slopes.iter_mut().for_each(|slope| slope.push(0.0));
    let (mut value, mut slopes) = (buffer(), buffers());
    let (mut pi, mut dpi) = (Vec::new(), Vec::new());
    let mut child = vec![0; arms];
    let all = space::states(arms, horizon) as u64;
    for round in 0..horizon {
        go_on(observer, "computing", "states", space::states(arms, round) as u64, all)?;
        let next = Layer::new(arms, round + 1);
        // Every entry is overwritten below; only the length matters.
        value.resize(next.states(), 0.0);
        slopes.iter_mut().for_each(|slope| slope.resize(next.states(), 0.0));
        now.layer.for_each_block(|block, pulls| {
            let states = now.layer.block(block);
            let len = states.len();
            pi.resize(pi.len().max(arms * len), 0.0);
            dpi.resize(dpi.len().max(arms * len * dim), 0.0);
            policy.block(pulls, &mut pi[..arms * len], &mut dpi[..arms * len * dim]);
            for arm in 0..arms {
                // The first block to reach its child, in lexicographic order, writes; later ones add.
                let first = pulls[..arm].iter().all(|&count| count == 0);
                child.copy_from_slice(pulls);
                child[arm] += 1;
                let target = next.block(space::rank(&child));
                let axis = Axis::new(pulls, arm);
                let (pi, v) = (&mut pi[arm * len..(arm + 1) * len], &now.value[states.clone()]);
                let (dpi, dvs, slopes, value) =
                    (&mut dpi, &now.slopes, &mut slopes, &mut value[target.clone()]);
                vectorized(
                    #[inline(always)]
                    || {
                        for p in 0..dim {
                            let dpi = &mut dpi[(p * arms + arm) * len..(p * arms + arm + 1) * len];
                            product_rule(dpi, pi, v, &dvs[p][states.clone()]);
                            spread(axis, dpi, &mut slopes[p][target.clone()], first);
                        }
                        times(pi, v);
                        spread(axis, pi, value, first);
                    },
                );
            }
        });
        std::mem::swap(&mut now.value, &mut value);
        std::mem::swap(&mut now.slopes, &mut slopes);
        now.layer = next;
    }
    Ok((now, value))
}

/// `dpi = dpi v + pi dv`.
#[inline(always)]
fn product_rule(dpi: &mut [f64], pi: &[f64], v: &[f64], dv: &[f64]) {
    for (((dp, p), v), dv) in dpi.iter_mut().zip(pi).zip(v).zip(dv) {
        *dp = *dp * v + p * dv;
    }
}

/// `pi = pi v`.
#[inline(always)]
fn times(pi: &mut [f64], v: &[f64]) {
    for (p, v) in pi.iter_mut().zip(v) {
        *p *= v;
    }
}

/// Moves weight along one arm's axis, a share (s + 1)/(T + 1) up by a success and the rest by a failure:
/// `target[s] = from[s] (T + 1 - s)/(T + 1) + from[s - 1] s/(T + 1)`, added to what is there unless `first`.
#[inline(always)]
fn spread(axis: Axis, from: &[f64], target: &mut [f64], first: bool) {
    let Axis { outer, len, inner } = axis;
    let scale = 1.0 / len as f64; // len = T + 1
    for o in 0..outer {
        let from = &from[o * len * inner..(o + 1) * len * inner];
        let target = &mut target[o * (len + 1) * inner..(o + 1) * (len + 1) * inner];
        if inner == 1 {
            spread_last(from, target, scale, first);
            continue;
        }
        for s in 0..=len {
            let into = &mut target[s * inner..(s + 1) * inner];
            let (up, stay) = (s as f64 * scale, (len - s) as f64 * scale);
            let below = &from[s.max(1) * inner - inner..][..inner];
            let same = &from[s.min(len - 1) * inner..][..inner];
            // At s = 0 and s = len one of the shares is zero, and the slice that goes with it is any.
            if first {
                for ((t, b), a) in into.iter_mut().zip(below).zip(same) {
                    *t = b * up + a * stay;
                }
            } else {
                for ((t, b), a) in into.iter_mut().zip(below).zip(same) {
                    *t += b * up + a * stay;
                }
            }
        }
    }
}

/// [`spread`] along the contiguous axis.
#[inline(always)]
fn spread_last(from: &[f64], target: &mut [f64], scale: f64, first: bool) {
    let len = from.len();
    if first {
        target.fill(0.0);
    }
    target[0] += from[0];
    target[len] += from[len - 1];
    // An i32 counter, because its conversion to f64 vectorises and that of usize does not.
    for (s, (t, (below, same))) in (1i32..).zip(target[1..len].iter_mut().zip(from.iter().zip(&from[1..]))) {
        let s = f64::from(s);
        *t += (below * s + same * (len as f64 - s)) * scale;
    }
}

/// sum over the layer of a[state] * b[state], block by block.
fn dot(layer: &Layer, a: &[f64], b: &[f64]) -> f64 {
    let mut total = 0.0;
    layer.for_each_block(|block, _| {
        let states = layer.block(block);
        total += a[states.clone()].iter().zip(&b[states]).map(|(a, b)| a * b).sum::<f64>();
    });
    total
}
