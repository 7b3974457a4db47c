//! Boltzmann exploration: a softmax of the empirical means.
//!
//! ```text
//! pi_i    ∝ exp(mean_i / w)
//! score_a = -w^-2 (mean_a - sum_i pi_i mean_i)
//! ```

use super::{History, Policy, Uses};
use crate::lanes::{Real, count_below, largest, pick};
use crate::registry::{Initial, ParamInfo, PolicyInfo, Range, needs_each_arm_once};
use crate::stream::Stream;

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "boltzmann",
    summary: "a softmax of the empirical means with temperature w",
    params: &[ParamInfo {
        name: "w",
        initial: Initial::Fixed(1.0),
        domain: Range::new(1e-3, 1e3),
        feasible: Range::new(0.01, 10.0),
    }],
    settings: &[],
    refuses: needs_each_arm_once,
    build: |_, choice| Box::new(Boltzmann::new(choice.params[0])),
};

/// Boltzmann exploration with temperature w.
#[derive(Clone, Copy, Debug)]
pub struct Boltzmann {
    w: f64,
}

impl Boltzmann {
    /// `w` > 0: larger explores more.
    pub fn new(w: f64) -> Self {
        Self { w }
    }
}

impl Policy for Boltzmann {
    const USES: Uses = Uses::Means;
    const EACH_ARM_ONCE: bool = true;

    fn slots(&self, arms: usize) -> usize {
        arms
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        score: &mut R,
    ) -> R {
        let means = history.means;
        let u = actions.uniform();
        let best = largest(means);
        let rate = u.lit(std::f64::consts::LOG2_E / self.w);
        let (mut total, mut weighted) = (u.zero(), u.zero());
        for (&mean, bound) in means.iter().zip(own.iter_mut()) {
            let lag = mean - best;
            let weight = (lag * rate).exp2();
            total = total + weight;
            if SCORE {
                weighted = lag.fma(weight, weighted);
            }
            *bound = total;
        }
        let arm = count_below(&own[..means.len() - 1], u * total);
        if SCORE {
            let lag = pick(means, arm) - best;
            *score = (weighted / total - lag).fma(u.lit(1.0 / (self.w * self.w)), *score);
        }
        arm
    }
}
