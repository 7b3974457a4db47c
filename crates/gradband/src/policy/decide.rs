//! What an agent asks of a policy: the probabilities of the arms, given what is known of them, in double precision.
//!
//! A policy's file says which [`Decide`] it is; here is what many of them share.

use crate::error::Result;
use crate::exact::index::{Arm, Index, argmax};
use crate::numeric::lanes::One;
use crate::numeric::simd::vectorized;
use crate::numeric::special::exp;
use crate::problem::Horizon;
pub(super) use crate::simulate::linear::certain;
use crate::simulate::linear::{LinearKernel, Projection};

/// What is known before a decision.
pub(crate) struct Now<'a> {
    /// Decisions made so far; in this context, if the policy looks at each by itself.
    pub round: usize,
    /// That which the policy was trained for.
    pub horizon: Horizon,
    /// The arms that may be pulled.
    pub arms: &'a [Arm],
    /// Their estimated means and variances in this context, if the policy looks at those.
    pub means: &'a [One<f64>],
    pub variances: &'a [One<f64>],
    /// Which of finitely many contexts it is, if the policy looks at each by itself.
    pub context: usize,
    /// What the policy remembers.
    pub memory: &'a [f64],
}

/// What a policy looks at.
pub(crate) enum View<'a> {
    /// The statistics of the arms.
    Arms,
    /// The statistics of the arms in one of finitely many contexts.
    EachContext,
    /// Means and variances that are estimated in a projected space.
    Estimates(&'a Projection),
}

/// A policy that an agent plays.
pub(crate) trait Decide: Send + Sync {
    /// Writes the probability of each arm, up to a common factor.
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()>;

    /// What it looks at.
    fn view(&self) -> View<'_> {
        View::Arms
    }

    /// Is each arm pulled once before it is asked?
    fn each_arm_once(&self) -> bool {
        false
    }

    /// How many arms there must be, if its parameters belong to so many: it is then asked for all of them, allowed or not.
    fn arms(&self) -> Option<usize> {
        None
    }

    /// Does it mean anything after the horizon?
    fn ends(&self) -> bool {
        false
    }

    /// Does it choose with certainty? Then its probabilities say nothing about other arms.
    fn is_certain(&self) -> bool {
        false
    }

    /// What it remembers before the first round; `coin` is uniform.
    fn start(&self, _coin: f64) -> Vec<f64> {
        Vec::new()
    }

    /// An arm is about to be pulled, whoever chose it. (What it remembers is not in `now`.)
    fn pulled(&self, _now: &Now, _memory: &mut Vec<f64>) {}

    /// Does it read the rewards one by one?
    fn reads(&self) -> bool {
        false
    }

    /// A reward is known.
    fn read(&self, _arm: usize, _reward: f64, _memory: &mut Vec<f64>) {}
}

/// A policy that pulls the arm with the largest index, or explores.
pub(super) struct Largest<I>(pub I);

impl<I: Index> Decide for Largest<I> {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let best = argmax(now.arms.iter().map(|arm| self.0.index(now.round, arm))).0;
        let epsilon = self.0.epsilon().unwrap_or(0.0);
        weights.fill(epsilon / weights.len() as f64);
        weights[best] += 1.0 - epsilon;
        Ok(())
    }
    fn each_arm_once(&self) -> bool {
        I::EACH_ARM_ONCE
    }
    fn ends(&self) -> bool {
        I::ENDS
    }
    fn is_certain(&self) -> bool {
        self.0.epsilon().is_none_or(|epsilon| epsilon == 0.0)
    }
}

/// A policy with pi_i ∝ exp(-x_i), where x_i >= 0 follows from the pulls and means of all arms.
pub(super) trait Softmax: Send + Sync {
    /// Writes x_i of arms with these pulls and means, each of which was pulled; one of them is zero.
    fn exponents(&self, arms: impl Iterator<Item = (f64, f64)> + Clone, x: &mut [f64]);
}

/// The best mean, none of which is NaN: `f64::max` takes three times as long, because one might be.
#[inline(always)]
pub(super) fn best_mean(arms: impl Iterator<Item = (f64, f64)>) -> f64 {
    arms.fold(f64::MIN, |best, (_, mean)| if mean > best { mean } else { best })
}

/// A softmax as an agent asks it.
pub(super) struct Soft<S>(pub S);

impl<S: Softmax> Decide for Soft<S> {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        vectorized(
            #[inline(always)]
            || {
                self.0.exponents(now.arms.iter().map(|arm| (arm.pulls, arm.mean)), weights);
                for x in weights {
                    *x = exp(-*x);
                }
            },
        );
        Ok(())
    }
    fn each_arm_once(&self) -> bool {
        true
    }
}

/// A rule on estimated means and variances, in a projected space.
pub(super) struct Linear<P> {
    pub policy: P,
    pub projection: Projection,
}

impl<P: LinearKernel> Decide for Linear<P> {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        self.policy.weigh(now.means, now.variances, weights);
        self.policy.check()
    }
    fn view(&self) -> View<'_> {
        View::Estimates(&self.projection)
    }
    fn is_certain(&self) -> bool {
        self.policy.is_certain()
    }
}
