//! Soft index: a softmax of upper bounds that start at the prior of an arm and narrow as the rounds run out. The Gittins
//! index is nearly of this form, and here every number of it is learned.
//!
//! ```text
//! N_i  = pulls_i + k,   p_i = (sum_i + k m) / N_i                    k pulls that paid m each stand for the prior
//! s_i  = sqrt(v_i / (N_i + 1)),   v_i = p_i (1 - p_i) for rewards in [0, 1], else the variance of the noise
//! L_i  = ln(1 + delta r / N_i)                                       r: the rounds to come, this one among them
//! U_i  = p_i + alpha s_i L_i^gamma
//! pi_i ∝ exp((U_i - max_j U_j) / temperature)
//! ```
//! With e_i = ([i = a] - pi_i) / temperature and b_i = s_i L_i^gamma the score of arm a is
//!
//! ```text
//! by temperature   -sum_i e_i U_i / temperature, and sum_i e_i dU_i by the others:
//! dU by alpha      b
//!       gamma      alpha b ln L
//!       delta      alpha b gamma r / (L (N + delta r))
//!       m          k/N dU/dp,   dU/dp = 1 + alpha b (1 - 2 p) / (2 p (1 - p))      (1 if p is 0 or 1, or noise is given)
//!       k          (m - p)/N dU/dp - alpha b (1 / (2 (N + 1)) + gamma delta r / (L N (N + delta r)))
//! ```
//! If nobody knows the end, r is the mean number of rounds to come, given that this one is played.

mod counts;

pub(super) use counts::Counts;

use crate::error::Result;
use crate::exact::Part;
use crate::exact::index::{IndexPolicy, argmax};
use crate::numeric::lanes::{Best, One, Real, largest};
use crate::numeric::special::exp;
use crate::numeric::stream::Stream;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now, certain};
use crate::policy::definition::{Definition, Method};
use crate::policy::params::{Allowed, End, Initial, Param, Range, Setting};
use crate::problem::{Horizon, PastArms, Problem, Rewards};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use std::f64::consts::LOG2_E;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "soft-index",
    summary: "a softmax of upper bounds that start at the prior and narrow as the rounds run out",
    params: &[
        Param::number(
            "mean",
            Initial::Of("that of past arms", |problem| prior(problem).0),
            MEANS,
            INNER_MEANS,
        )
        .over(|problem, choice| {
            let [mean, strength] = ["mean", "strength"].map(|name| choice.scalar(name).unwrap_or(1.0));
            spread(problem, mean, strength)
        }),
        Param::number(
            "strength",
            Initial::Of("that of past arms", |problem| prior(problem).1),
            Range::new(1e-6, 1e6),
            Range::new(1e-3, 1e6),
        )
        .log(1.0),
        Param::number("alpha", Initial::Fixed(1.0), Range::new(0.0, 1e3), Range::new(1e-3, 100.0)).log(1.0),
        Param::number("gamma", Initial::Fixed(0.35), Range::new(0.0, 10.0), Range::new(0.01, 10.0)).log(1.0),
        Param::number("delta", Initial::Fixed(1.0), Range::new(1e-6, 1e6), Range::new(1e-3, 1e3)).log(1.0),
        Param::number(
            "temperature",
            Initial::Of("0.05 of the spread of past arms", |problem| {
                let (mean, strength) = prior(problem);
                TEMPERATURE * spread(problem, mean, strength)
            }),
            Range::new(1e-9, 1e6),
            Range::new(1e-6, 1e6),
        )
        .log(1.0)
        .polished(),
    ],
    settings: &[Setting {
        name: "hard",
        allowed: Allowed::Flag,
        summary: "play the largest bound, for deployment",
    }],
    player: |problem, choice, _| Ok(Box::new(Arms(SoftIndex::of(problem, choice)?))),
    carries: |problem, _, _| Ok(noise_variance(problem).into_iter().collect()),
    decider: |problem, choice, _| {
        let noise = problem.carried.first().copied();
        Ok(Box::new(SoftIndex::with(choice, noise, problem.horizon.into())?))
    },
    runs: Some(|problem| (PATIENCE / run_cost(problem)).clamp(FEWEST, MOST) as usize),
    exact: Some(Method::Counts(|problem, choice, _| {
        let counts = Counts(SoftIndex::of(problem, choice)?);
        Ok(if counts.0.hard { Part::only(IndexPolicy(counts)) } else { Part::only(counts) })
    })),
    ..Definition::ARMS
};

/// Nanoseconds that an iteration of a training may take on one core, and the runs that it has in any case, and at most: six
/// numbers need more of them than one, and rounds take longer than those of most policies.
const PATIENCE: f64 = 16e6;
const FEWEST: f64 = 400.0;
const MOST: f64 = 5000.0;

/// About how many nanoseconds a run with its score takes.
fn run_cost(problem: &Problem) -> f64 {
    (5.0 + 7.0 * problem.arms as f64) * problem.horizon as f64
}

/// The temperature at first, in standard deviations of past arms.
const TEMPERATURE: f64 = 0.05;

/// The mean of rewards in [0, 1] is there too, and training keeps it off the ends.
const MEANS: Range = Range {
    low: End::Of("0 or -1e6", |problem| if problem.unit_rewards() { 0.0 } else { -1e6 }),
    high: End::Of("1 or 1e6", |problem| if problem.unit_rewards() { 1.0 } else { 1e6 }),
};
const INNER_MEANS: Range = Range {
    low: End::Of("1e-6 or -1e6", |problem| if problem.unit_rewards() { 1e-6 } else { -1e6 }),
    high: End::Of("1 - 1e-6 or 1e6", |problem| if problem.unit_rewards() { 1.0 - 1e-6 } else { 1e6 }),
};

/// Mean and strength of the prior that past arms have: of Beta(a, b) they are a / (a + b) and a + b.
fn prior(problem: &Problem) -> (f64, f64) {
    let Some(past) = problem.past_arms() else { return (0.5, 1.0) };
    match (past.beta, noise_variance(problem)) {
        (Some((a, b)), _) => (a / (a + b), a + b),
        (None, Some(noise)) => (past.mean, noise / past.variance.max(f64::MIN_POSITIVE)),
        (None, None) => (past.mean, 1.0),
    }
}

/// The variance of noise, for rewards that are not in [0, 1]; that of past arms' means if the problem does not know it.
fn noise_variance(problem: &Problem) -> Option<f64> {
    match problem.armed().map(|armed| &armed.rewards) {
        _ if problem.unit_rewards() => None,
        Some(Rewards::Gaussian(gaussian)) => Some(gaussian.noise_sd * gaussian.noise_sd),
        _ => problem.past_arms().map(|PastArms { variance, .. }| variance),
    }
}

/// The standard deviation of an arm's mean under a prior of that mean and strength.
fn spread(problem: &Problem, mean: f64, strength: f64) -> f64 {
    let variance = match noise_variance(problem) {
        None => mean * (1.0 - mean) / (strength + 1.0),
        Some(noise) => noise / strength,
    };
    variance.sqrt().max(1e-6)
}

/// A softmax of upper bounds, or the largest of them.
#[derive(Clone, Copy, Debug)]
pub struct SoftIndex {
    /// The prior: what so many pulls paid.
    mean: f64,
    strength: f64,
    /// Width of the bounds, in standard deviations.
    alpha: f64,
    /// How the width depends on the rounds to come.
    gamma: f64,
    delta: f64,
    /// Larger explores more.
    temperature: f64,
    /// The variance of rewards, unless they are in [0, 1].
    noise: Option<f64>,
    horizon: Horizon,
    /// Play the largest bound (the lowest arm on ties); there is no score then.
    hard: bool,
}

impl SoftIndex {
    /// Of rewards in [0, 1]: mean, strength, alpha, gamma, delta and temperature.
    pub fn new(params: [f64; 6], horizon: Horizon) -> Self {
        let [mean, strength, alpha, gamma, delta, temperature] = params;
        Self { mean, strength, alpha, gamma, delta, temperature, noise: None, horizon, hard: false }
    }

    fn of(problem: &Problem, choice: &Choice) -> Result<Self> {
        Self::with(choice, noise_variance(problem), problem.world().horizon)
    }

    fn with(choice: &Choice, noise: Option<f64>, horizon: Horizon) -> Result<Self> {
        let mut params = [0.0; 6];
        for (param, number) in DEFINITION.params.iter().zip(&mut params) {
            *number = choice.scalar(param.name)?;
        }
        Ok(Self { noise, hard: choice.flag("hard"), ..Self::new(params, horizon) })
    }

    /// The bound of an arm with r rounds to come, and its derivatives by all parameters but the temperature. Divisions
    /// take the longest: those that can share one do.
    #[inline(always)]
    fn bound<R: Real, const SCORE: bool>(&self, pulls: R, sum: R, r: f64) -> (R, [R; 5]) {
        let (zero, one) = (pulls.zero(), pulls.one());
        let (strength, reach) = (pulls.lit(self.strength), pulls.lit(self.delta * r));
        let count = pulls + strength;
        let more = count + 1.0;
        let both = one / (count * more);
        let (share, less) = (both * more, both * count);
        // What was lost is counted by itself: 1 - p has no digits left where p is almost 1.
        let p = (sum + pulls.lit(self.strength * self.mean)) * share;
        let q = (pulls - sum + pulls.lit(self.strength * (1.0 - self.mean))) * share;
        let variance = match self.noise {
            None => (p * q).max(zero),
            Some(noise) => pulls.lit(noise),
        };
        let log = ln_1p(share * reach);
        let log_log = log.ln();
        let width = (variance * less).sqrt() * (log_log * pulls.lit(self.gamma * LOG2_E)).exp2();
        let wide = width * pulls.lit(self.alpha);
        if !SCORE {
            return (p + wide, [zero; 5]);
        }
        // Below, a derivative by p is anything, and counts as 1.
        let least = pulls.lit(1e-30);
        let certain = variance.lt(least);
        let (uncertainty, rounds) = (variance.max(least), log * (count + reach));
        let both = wide / (uncertainty * rounds);
        let mut by_p = one;
        if self.noise.is_none() {
            by_p = R::select(certain, one, (both * rounds * 0.5).fma(q - p, one));
        }
        let by_reach = both * uncertainty * pulls.lit(self.gamma);
        let narrower = (wide * 0.5).fma(less, by_reach * reach * share);
        let slopes = [
            by_p * strength * share,
            by_p * (pulls * pulls.lit(self.mean) - sum) * share * share - narrower,
            width,
            wide * log_log,
            by_reach * pulls.lit(r),
        ];
        (p + wide, slopes)
    }
}

impl Decide for SoftIndex {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        // After the last round that was planned for there is always one more.
        let r = now.horizon.remaining(now.round).max(1.0);
        for (weight, arm) in weights.iter_mut().zip(now.arms) {
            let (pulls, sum) = (One(arm.pulls), One(arm.pulls * arm.mean));
            *weight = self.bound::<One<f64>, false>(pulls, sum, r).0.0;
        }
        let (arm, best) = argmax(weights.iter().copied());
        if self.hard {
            certain(arm, weights);
        } else {
            weights.iter_mut().for_each(|x| *x = exp((*x - best) / self.temperature));
        }
        Ok(())
    }

    fn is_certain(&self) -> bool {
        self.hard
    }
}

/// ln(1 + x) for x > 0, all of whose digits count: 1 + x forgets some of a small x, which are added again (their factor
/// is 1 / (1 + x), roughly, and what is forgotten of a large x does not matter).
#[inline(always)]
fn ln_1p<R: Real>(x: R) -> R {
    let more = x + 1.0;
    let forgotten = x - (more - 1.0);
    forgotten.fma((x.one() - x * 0.5).max(x.zero()), more.ln())
}

/// Numbers kept for each arm: its bound, its weight and the bound's derivatives.
const KEPT: usize = 7;

impl ArmsKernel<6> for SoftIndex {
    const USES: Uses = Uses::Sums;
    const DRAWS: bool = true;

    fn slots(&self, arms: usize) -> usize {
        KEPT * arms
    }

    fn unscored(&self) -> Option<&'static str> {
        self.hard.then_some("plays the largest bound with certainty if hard: there is no gradient (train it soft, then set hard)")
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        _: &mut Stream<R>,
        score: &mut [R; 6],
    ) -> R {
        let arms = history.pulls.len();
        let (bounds, rest) = own.split_at_mut(arms);
        let (weights, slopes) = rest.split_at_mut(arms);
        let r = self.horizon.remaining(history.round);
        for i in 0..arms {
            let (bound, by) = self.bound::<R, SCORE>(history.pulls[i], history.sums[i], r);
            bounds[i] = bound;
            if SCORE {
                slopes[5 * i..5 * i + 5].copy_from_slice(&by);
            }
        }
        if self.hard {
            return Best::of(bounds).arm;
        }
        let u = history.uniform;
        let (zero, one, best) = (u.zero(), u.one(), largest(bounds));
        let rate = u.lit(LOG2_E / self.temperature);
        let mut total = zero;
        for (weight, bound) in weights.iter_mut().zip(bounds.iter_mut()) {
            *bound = *bound - best;
            *weight = (*bound * rate).exp2();
            total = total + *weight;
        }
        let (drawn, mut sum, mut arm) = (u * total, zero, zero);
        for &weight in &weights[..arms - 1] {
            sum = sum + weight;
            arm = arm + R::only(drawn.ge(sum), one);
        }
        if SCORE {
            let (share, cold) = (one / total, u.lit(1.0 / self.temperature));
            for i in 0..arms {
                let chosen = R::only(arm.is(i as f32), one);
                let e = (-weights[i]).fma(share, chosen) * cold;
                for (score, &by) in score.iter_mut().zip(&slopes[5 * i..5 * i + 5]) {
                    *score = e.fma(by, *score);
                }
                score[5] = (e * -cold).fma(bounds[i], score[5]);
            }
        }
        arm
    }
}

#[cfg(test)]
mod tests;
