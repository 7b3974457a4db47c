//! Boltzmann exploration: a softmax of the empirical means.
//!
//! ```text
//! pi_i    ∝ exp(mean_i / w)
//! score_a = -w^-2 (mean_a - sum_i pi_i mean_i)
//! ```

use crate::exact::forward::scalar_block;
use crate::exact::index::{certain, mean, unpulled};
use crate::exact::softmax::{Lead, softmax_of_minus, two_arms};
use crate::exact::{CountKernel, Part};
use crate::numeric::lanes::{Real, Weigh, count_below, largest, pick, weigh};
use crate::numeric::stream::Stream;
use crate::policy::decide::{Soft, Softmax, best_mean};
use crate::policy::definition::{Definition, Method, needs_each_arm_once};
use crate::policy::params::{Initial, Param, Range};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "boltzmann",
    summary: "a softmax of the empirical means with temperature w",
    params: &[Param::number("w", Initial::Fixed(1.0), Range::new(1e-3, 1e3), Range::new(0.01, 10.0)).scale()],
    refuses: needs_each_arm_once,
    player: |_, choice, _| Ok(Box::new(Arms(Boltzmann::new(choice.scalar("w")?)))),
    decider: |_, choice, _| Ok(Box::new(Soft(Boltzmann::new(choice.scalar("w")?)))),
    exact: Some(Method::Counts(|_, choice, _| Ok(Part::only(Boltzmann::new(choice.scalar("w")?))))),
    ..Definition::ARMS
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

impl ArmsKernel<1> for Boltzmann {
    const USES: Uses = Uses::Means;
    const EACH_ARM_ONCE: bool = true;
    const DRAWS: bool = true;

    fn slots(&self, arms: usize) -> usize {
        arms
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        _: &mut Stream<R>,
        [score]: &mut [R; 1],
    ) -> R {
        let means = history.means;
        let u = history.uniform;
        let best = largest(means);
        let (total, weighted) = weigh::<R, SCORE>(self, best, (means, history.pulls), own);
        let arm = count_below(&own[..means.len() - 1], u * total);
        if SCORE {
            let lag = pick(means, arm) - best;
            *score = (weighted / total - lag).fma(u.lit(1.0 / (self.w * self.w)), *score);
        }
        arm
    }
}

/// How far the mean lags behind.
impl Weigh for Boltzmann {
    #[inline(always)]
    fn weigh<R: Real>(&self, best: R, mean: R, _: R) -> (R, R) {
        let lag = mean - best;
        (lag, lag * best.lit(std::f64::consts::LOG2_E / self.w))
    }
}

/// x_i = (max_j mean_j - mean_i) / w.
impl Softmax for Boltzmann {
    fn exponents(&self, arms: impl Iterator<Item = (f64, f64)> + Clone, x: &mut [f64]) {
        let best = best_mean(arms.clone());
        for (x, (_, mean)) in x.iter_mut().zip(arms) {
            *x = (best - mean) / self.w;
        }
    }
}

impl CountKernel for Boltzmann {
    fn dim(&self) -> usize {
        1
    }

    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        if let Some(arm) = unpulled(pulls) {
            return certain(arm, pulls.len(), pi, dpi);
        }
        // d log pi_i / dw = (1/w) (x_i - sum_j pi_j x_j).
        self.exponents(pulls.iter().zip(successes).map(|(&t, &s)| (f64::from(t), mean(s, t))), dpi);
        softmax_of_minus(pi, dpi, 1.0 / self.w);
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        if let Some(arm) = unpulled(pulls) {
            return certain(arm, pulls.len(), pi, dpi);
        }
        let &[first, second] = pulls else { return scalar_block(self, pulls, pi, dpi) };
        let rate = 1.0 / self.w;
        two_arms([first, second], pi, dpi, rate, Lead::Linear(rate));
    }
}
