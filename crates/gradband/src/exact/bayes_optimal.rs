//! The best possible policy under a prior, and what it earns: the yardstick for every other policy.
//!
//! The forward pass of [`forward`](mod@super::forward) read backwards. With H(counts) the expected total
//! reward of the best continuation times the probability of the counts given the pulls,
//!
//! ```text
//! H(T, s) = E[prod_i Binomial(s_i; T_i, theta_i)] sum_i s_i                              in the last layer
//! H(T, s) = max_i (s_i + 1)/(T_i + 1) H(T + e_i, s + e_i) + (T_i + 1 - s_i)/(T_i + 1) H(T + e_i, s)
//! ```
//!
//! so that, again, only the last layer meets the prior: points, Betas and mixtures cost the same.

use super::CountKernel;
use super::belief::{TwoPoints, Unsolved};
use super::forward::Exact;
use super::last_layer::reward_weights;
use super::mixture::Mixture;
use super::space::{self, Axis, Cost, Layer};
use crate::error::Result;
use crate::numeric::simd::vectorized;
use crate::observe::{Observer, go_on};

/// The Bayes-optimal policy of a Bernoulli bandit and its value.
#[derive(Clone, Debug)]
pub struct BayesOptimal {
    /// Its reward and regret; the gradient is empty.
    pub exact: Exact,
    /// By how much, beyond rounding, the least regret may be lower than reported: 0 over counts and on
    /// lattices of beliefs, some 1e-5 on grids of beliefs.
    pub error: f64,
    play: Play,
}

/// Over which states the programme runs, and what it takes.
pub(crate) enum Plan {
    /// Counts of every arm.
    Counts(Cost),
    /// The probability of the first of two instances.
    Belief(Unsolved, Cost),
}

impl Plan {
    /// What it takes.
    pub fn cost(&self) -> Cost {
        match self {
            Self::Counts(cost) | Self::Belief(_, cost) => *cost,
        }
    }
}

#[derive(Clone, Debug)]
enum Play {
    Counts(ActionTable),
    Belief(TwoPoints),
}

impl BayesOptimal {
    /// By whatever is exact and fits into `limit`. Refused, with numbers, if nothing fits.
    pub fn new(prior: &Mixture, horizon: usize, limit: &Cost, observer: &mut dyn Observer) -> Result<Self> {
        match Self::plan(prior, horizon, limit)? {
            Plan::Counts(_) => Self::over_counts(prior, horizon, observer),
            Plan::Belief(unsolved, _) => {
                unsolved.solve(horizon, observer).map(|belief| Self::over_belief(belief, prior, horizon))
            }
        }
    }

    /// What [`Self::new`] would do, and what it takes: the belief if it is exact (two points on a lattice),
    /// else the counts if they fit, else the belief on a grid.
    pub(crate) fn plan(prior: &Mixture, horizon: usize, limit: &Cost) -> Result<Plan> {
        let (arms, components) = (prior.arms(), prior.components().len());
        let counts = |horizon| Cost::bayes_optimal(arms, horizon, components);
        if let Some(unsolved) = Unsolved::new(prior) {
            let cost = unsolved.cost(horizon);
            if cost.within(limit) && (unsolved.is_exact() || !counts(horizon).within(limit)) {
                return Ok(Plan::Belief(unsolved, cost));
            }
        }
        space::check(arms, horizon, limit, counts)?;
        Ok(Plan::Counts(counts(horizon)))
    }

    /// By backward induction over the counts, which must fit (see `space::bayes_optimal_bytes`).
    pub fn over_counts(prior: &Mixture, horizon: usize, observer: &mut dyn Observer) -> Result<Self> {
        let (bayes_reward, table) = backward(prior, horizon, observer)?;
        let bayes_regret = horizon as f64 * prior.mean_max() - bayes_reward;
        let states = space::states(prior.arms(), horizon);
        let exact = Exact { bayes_reward, bayes_regret, gradient: Vec::new(), states };
        Ok(Self { exact, error: 0.0, play: Play::Counts(table) })
    }

    /// By backward induction over the belief, whatever the number of arms.
    pub fn over_belief(belief: TwoPoints, prior: &Mixture, horizon: usize) -> Self {
        let (low, high) = belief.regret_bounds();
        // The upper bound belongs to a policy and converges faster.
        let bayes_regret = high;
        let bayes_reward = horizon as f64 * prior.mean_max() - bayes_regret;
        let exact = Exact { bayes_reward, bayes_regret, gradient: Vec::new(), states: belief.states() };
        Self { exact, error: high - low, play: Play::Belief(belief) }
    }

    /// The arm to pull given the counts, before the horizon. Ties go to the lowest index.
    pub fn action(&self, pulls: &[u32], successes: &[u32]) -> usize {
        match &self.play {
            Play::Counts(table) => table.action(pulls, successes),
            Play::Belief(belief) => belief.action(pulls, successes),
        }
    }
}

impl CountKernel for BayesOptimal {
    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], _: &mut [f64]) {
        pi.fill(0.0);
        pi[self.action(pulls, successes)] = 1.0;
    }
}

/// One action per state, packed into 1, 2, 4 or 8 bits.
#[derive(Clone, Debug)]
struct ActionTable {
    bits: u32,
    /// First byte of every block, by round.
    starts: Vec<Vec<usize>>,
    bytes: Vec<u8>,
}

impl ActionTable {
    fn action(&self, pulls: &[u32], successes: &[u32]) -> usize {
        let round: u32 = pulls.iter().sum();
        let state = space::outcome_rank(pulls, successes);
        let per_byte = (8 / self.bits) as usize;
        let byte = self.bytes[self.starts[round as usize][space::rank(pulls)] + state / per_byte];
        let shifted = u32::from(byte) >> (self.bits * (state % per_byte) as u32);
        (shifted & ((1 << self.bits) - 1)) as usize
    }

    /// Appends a block and returns its first byte.
    fn push(&mut self, actions: &[u8]) -> usize {
        let start = self.bytes.len();
        let bits = self.bits;
        let pack = |chunk: &[u8]| {
            chunk.iter().rev().fold(0u32, |byte, &action| (byte << bits) | u32::from(action)) as u8
        };
        self.bytes.extend(actions.chunks((8 / bits) as usize).map(pack));
        start
    }
}

/// An arm replaces one of lower index only if it is better by more than rounding: exact ties go to the
/// lowest.
const TIE: f64 = 1e-12;

/// Backward induction; the optimal Bayes reward and the policy.
fn backward(prior: &Mixture, horizon: usize, observer: &mut dyn Observer) -> Result<(f64, ActionTable)> {
    let arms = prior.arms();
    let mut next = Layer::new(arms, horizon);
    let mut after = reward_weights(prior, &next, horizon, Vec::new());
    let mut now = Vec::with_capacity(space::layer_states(arms, horizon.saturating_sub(1)) as usize);
    let (mut other, mut actions): (Vec<f64>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut table = ActionTable {
        bits: space::action_bits(arms),
        starts: vec![Vec::new(); horizon],
        bytes: Vec::with_capacity(space::action_bytes(arms, horizon) as usize),
    };
    let mut child = vec![0; arms];
    let mut done = 0;
    for round in (0..horizon).rev() {
        go_on(observer, "preparing bayes-optimal", "states", done, space::states(arms, horizon) as u64)?;
        let layer = Layer::new(arms, round);
        done += layer.states() as u64;
        now.resize(layer.states(), 0.0);
        layer.for_each_block(|block, pulls| {
            let best = &mut now[layer.block(block)];
            actions.clear();
            actions.resize(best.len(), 0);
            other.resize(best.len(), 0.0);
            for arm in 0..arms {
                child.copy_from_slice(pulls);
                child[arm] += 1;
                let from = &after[next.block(space::rank(&child))];
                let axis = Axis::new(pulls, arm);
                let (other, actions) = (&mut other[..], &mut actions[..]);
                vectorized(
                    #[inline(always)]
                    || {
                        if arm == 0 {
                            gather(axis, from, best);
                        } else {
                            gather(axis, from, other);
                            improve(best, other, actions, arm as u8);
                        }
                    },
                );
            }
            let start = table.push(&actions);
            table.starts[round].push(start);
        });
        std::mem::swap(&mut now, &mut after);
        next = layer;
    }
    Ok((after[0], table))
}

/// Takes `arm` where it is better.
#[inline(always)]
fn improve(best: &mut [f64], other: &[f64], actions: &mut [u8], arm: u8) {
    for ((b, &q), action) in best.iter_mut().zip(other).zip(actions) {
        let better = q > *b + *b * TIE;
        *action = if better { arm } else { *action };
        *b = if q > *b { q } else { *b };
    }
}

/// `out[s] = from[s + 1] (s + 1)/(T + 1) + from[s] (T + 1 - s)/(T + 1)` along one arm's axis: the adjoint of
/// the forward pass.
#[inline(always)]
fn gather(axis: Axis, from: &[f64], out: &mut [f64]) {
    let Axis { outer, len, inner } = axis;
    let scale = 1.0 / len as f64; // len = T + 1
    for o in 0..outer {
        let from = &from[o * (len + 1) * inner..(o + 1) * (len + 1) * inner];
        let out = &mut out[o * len * inner..(o + 1) * len * inner];
        if inner == 1 {
            for (s, (q, (stay, up))) in (0..len as i32).zip(out.iter_mut().zip(from.iter().zip(&from[1..]))) {
                let s = f64::from(s) + 1.0;
                *q = (up * s + stay * (len as f64 + 1.0 - s)) * scale;
            }
            continue;
        }
        for s in 0..len {
            let (success, failure) = ((s + 1) as f64 * scale, (len - s) as f64 * scale);
            let (stay, up) = from[s * inner..(s + 2) * inner].split_at(inner);
            for (q, (stay, up)) in out[s * inner..(s + 1) * inner].iter_mut().zip(stay.iter().zip(up)) {
                *q = up * success + stay * failure;
            }
        }
    }
}
