//! SoftElim (section 5.3): arms that look worse, and were pulled enough to be sure, fade out.
//!
//! ```text
//! gap_score_i = 2 (max_j mean_j - mean_i)^2 pulls_i
//! pi_i        ∝ exp(-gap_score_i / w^2)
//! score_a     = 2 w^-3 (gap_score_a - sum_i pi_i gap_score_i)
//! ```

use crate::exact::forward::scalar_block;
use crate::exact::index::{certain, mean, unpulled};
use crate::exact::softmax::{Lead, softmax_of_minus, two_arms};
use crate::exact::{CountKernel, Part};
use crate::numeric::lanes::{Real, Weigh, count_below, largest, pick_each, weigh};
use crate::numeric::stream::Stream;
use crate::policy::decide::{Soft, Softmax, best_mean};
use crate::policy::definition::{Definition, Method, needs_each_arm_once};
use crate::policy::params::{Initial, Param, Range};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use std::f64::consts::LOG2_E;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "softelim",
    summary: "soft elimination: arms that look worse fade out with the evidence",
    params: &[Param::number("w", Initial::Fixed(1.0), Range::new(1e-3, 1e3), Range::new(0.05, 10.0)).scale()],
    refuses: needs_each_arm_once,
    player: |_, choice, _| Ok(Box::new(Arms(SoftElim::new(choice.scalar("w")?)))),
    decider: |_, choice, _| Ok(Box::new(Soft(SoftElim::new(choice.scalar("w")?)))),
    exact: Some(Method::Counts(|_, choice, _| Ok(Part::only(SoftElim::new(choice.scalar("w")?))))),
    ..Definition::ARMS
};

/// SoftElim with exploration parameter w.
#[derive(Clone, Copy, Debug)]
pub struct SoftElim {
    w: f64,
    /// -2 log2(e) / w^2: the kernel leaves the factor 2 of the gap score to its constants, and exponentiates
    /// to base 2.
    rate: f64,
    /// 4 / w^3.
    slope: f64,
}

impl SoftElim {
    /// `w` > 0: larger explores more.
    pub fn new(w: f64) -> Self {
        Self { w, rate: -2.0 * LOG2_E / (w * w), slope: 4.0 / (w * w * w) }
    }
}

impl ArmsKernel<1> for SoftElim {
    const USES: Uses = Uses::Means;
    const EACH_ARM_ONCE: bool = true;
    const DRAWS: bool = true;

    /// Cumulative weights.
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
        let (means, pulls) = (history.means, history.pulls);
        let u = history.uniform;
        if K == 2 {
            // The better arm's weight is exactly exp(0) = 1: one exponential serves both.
            let gap = means[0] - means[1];
            let first_leads = gap.ge(gap.zero());
            let gap_score = gap * gap * R::select(first_leads, pulls[1], pulls[0]);
            let weight = (gap_score * u.lit(self.rate)).exp2();
            let total = weight + 1.0;
            let second = (u * total).ge(R::select(first_leads, u.one(), weight));
            if SCORE {
                let trailing = !(second ^ first_leads);
                let own_score = R::only(trailing, gap_score);
                *score = (own_score - gap_score * weight / total).fma(u.lit(self.slope), *score);
            }
            return R::only(second, u.one());
        }
        let best = largest(means);
        let (total, weighted) = weigh::<R, SCORE>(self, best, (means, pulls), own);
        let arm = count_below(&own[..means.len() - 1], u * total);
        if SCORE {
            let [mean, pulls] = pick_each([means, pulls], arm);
            let (gap_score, _) = self.weigh(best, mean, pulls);
            *score = (gap_score - weighted / total).fma(u.lit(self.slope), *score);
        }
        arm
    }
}

/// The gap score.
impl Weigh for SoftElim {
    #[inline(always)]
    fn weigh<R: Real>(&self, best: R, mean: R, pulls: R) -> (R, R) {
        let gap = best - mean;
        let gap_score = gap * gap * pulls;
        (gap_score, gap_score * best.lit(self.rate))
    }
}

/// x_i = gap_score_i / w^2.
impl Softmax for SoftElim {
    fn exponents(&self, arms: impl Iterator<Item = (f64, f64)> + Clone, x: &mut [f64]) {
        let best = best_mean(arms.clone());
        for (x, (pulls, mean)) in x.iter_mut().zip(arms) {
            let gap = best - mean;
            *x = 2.0 * gap * gap * pulls / (self.w * self.w);
        }
    }
}

impl CountKernel for SoftElim {
    fn dim(&self) -> usize {
        1
    }

    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        if let Some(arm) = unpulled(pulls) {
            return certain(arm, pulls.len(), pi, dpi);
        }
        // d log pi_i / dw = (2/w) (x_i - sum_j pi_j x_j).
        self.exponents(pulls.iter().zip(successes).map(|(&t, &s)| (f64::from(t), mean(s, t))), dpi);
        softmax_of_minus(pi, dpi, 2.0 / self.w);
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        if let Some(arm) = unpulled(pulls) {
            return certain(arm, pulls.len(), pi, dpi);
        }
        let &[first, second] = pulls else { return scalar_block(self, pulls, pi, dpi) };
        let scale = 2.0 / (self.w * self.w);
        let rates = [scale * f64::from(first), scale * f64::from(second)];
        two_arms([first, second], pi, dpi, 2.0 / self.w, Lead::Square(rates));
    }
}
