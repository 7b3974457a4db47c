//! Exp3 (section 5.2; Auer et al., 1995) with eta = w / K.
//!
//! ```text
//! p_i     = exp(w S_i / K) / sum_j exp(w S_j / K)
//! pi_i    = (1 - w) p_i + w / K
//! x_i     = S_i / K + (w / K) D_i
//! score_a = (1 / pi_a) [p_a ((1 - w) (x_a - sum_j p_j x_j) - 1) + 1 / K]
//! after pulling a:  S_a += Y / pi_a,   D_a -= (Y / pi_a) score_a
//! ```
//! S contains 1/pi_w, so it moves with w: D_i = dS_i/dw carries that. The paper's lemma 6 holds S fixed
//! (D = 0) and is therefore biased; [`Derivative::Paper`] is that variant.

use crate::error::Result;
use crate::numeric::lanes::{Real, largest, pick, put};
use crate::numeric::special::exp;
use crate::numeric::stream::Stream;
use crate::policy::decide::{Decide, Now};
use crate::policy::definition::{Definition, unit_rewards_only};
use crate::policy::params::{Allowed, Initial, Param, Range, Setting};
use crate::simulate::arms::{Arms, ArmsKernel, Counted, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "exp3",
    summary: "exponential weights of importance-weighted rewards, eta = w/K",
    params: &[Param::number("w", Initial::Fixed(1.0), Range::new(0.0, 1.0), Range::new(0.01, 1.0)).scale()],
    settings: &[Setting {
        name: "score",
        allowed: Allowed::OneOf(&["total", "paper"]),
        summary: "the total derivative, or the paper's biased lemma 6",
    }],
    refuses: unit_rewards_only,
    decider: |_, choice, _| {
        Ok(Box::new(Exp3::new(choice.scalar("w")?, choice.arms(), Derivative::Total)))
    },
    // Its state is not the counts: there is no exact form.
    player: |problem, choice, _| {
        let paper = choice.word("score") == Some("paper");
        let derivative = if paper { Derivative::Paper } else { Derivative::Total };
        Ok(Box::new(Arms(Exp3::new(choice.scalar("w")?, problem.arms, derivative))))
    },
    ..Definition::ARMS
};

/// Which derivative of log pi to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// The total derivative: unbiased.
    Total,
    /// The paper's partial derivative: biased.
    Paper,
}

/// Exp3 with exploration w.
#[derive(Clone, Copy, Debug)]
pub struct Exp3 {
    w: f64,
    arms: usize,
    derivative: Derivative,
}

impl Exp3 {
    /// `w` in [0, 1].
    pub fn new(w: f64, arms: usize, derivative: Derivative) -> Self {
        Self { w, arms, derivative }
    }
}

/// S is the sum of the rewards, each divided by the probability that was played.
impl Decide for Exp3 {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let k = weights.len() as f64;
        let best = now.arms.iter().map(|arm| arm.weighted).fold(f64::MIN, f64::max);
        for (weight, arm) in weights.iter_mut().zip(now.arms) {
            *weight = exp(self.w / k * (arm.weighted - best));
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight = (1.0 - self.w) * *weight / total + self.w / k);
        Ok(())
    }
}

impl ArmsKernel<1> for Exp3 {
    const USES: Uses = Uses::Pulls;
    const LEARNS: bool = true;
    const NOTES: usize = 2;
    const DRAWS: bool = true;

    /// S, D and weights of the arms; then 1/pi and score of the arm pulled last.
    fn slots(&self, arms: usize) -> usize {
        3 * arms + 2
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        _: &mut Stream<R>,
        [score]: &mut [R; 1],
    ) -> R {
        let arms = if K == 0 { history.pulls.len() } else { K };
        let (sums, rest) = own.split_at_mut(arms);
        let (slopes, rest) = rest.split_at_mut(arms);
        let (weights, last) = rest.split_at_mut(arms);
        let u = history.uniform;
        let k = arms as f64;
        let (rate, keep, share) = (u.lit(self.w / k), u.lit(1.0 - self.w), u.lit(self.w / k));

        let steep = u.lit(self.w / k * std::f64::consts::LOG2_E);
        let best = largest(sums);
        let (mut total, mut moment) = (u.zero(), u.zero());
        for ((&sum, &slope), weight) in sums.iter().zip(slopes.iter()).zip(weights.iter_mut()) {
            let lag = sum - best;
            *weight = (lag * steep).exp2();
            total = total + *weight;
            if SCORE {
                // x_i up to a constant that cancels: S_i - max S keeps its digits.
                moment = (lag * u.lit(1.0 / k) + slope * rate).fma(*weight, moment);
            }
        }
        // Cumulative (1 - w) weight_i + (w / K) total: pi times the total, no division.
        let floor = share * total;
        let mut bound = u.zero();
        let mut arm = u.zero();
        let target = u * total;
        for &weight in &weights[..arms - 1] {
            bound = bound + keep.fma(weight, floor);
            arm = arm + R::only(target.ge(bound), u.one());
        }
        let weight = pick(weights, arm);
        let inverse = total / keep.fma(weight, floor);
        last[0] = inverse;
        if SCORE {
            let p = weight / total;
            let x = (pick(sums, arm) - best) * u.lit(1.0 / k) + pick(slopes, arm) * rate;
            let inner = keep.fma(x - moment / total, -u.one());
            let own_score = inverse * p.fma(inner, u.lit(1.0 / k));
            *score = *score + own_score;
            last[1] = own_score;
        }
        arm
    }

    #[inline(always)]
    fn update<R: Real>(&self, arm: R, reward: R, _: Counted<R>, own: &mut [R]) {
        let (sums, rest) = own.split_at_mut(self.arms);
        let (slopes, rest) = rest.split_at_mut(self.arms);
        let last = &rest[self.arms..];
        let estimate = reward * last[0];
        put(sums, arm, pick(sums, arm) + estimate);
        if self.derivative == Derivative::Total {
            put(slopes, arm, pick(slopes, arm) - estimate * last[1]);
        }
    }

    /// S takes the probability that was played, floor included, and D its derivative.
    #[inline(always)]
    fn played<R: Real>(&self, arm: R, floor: f64, own: &mut [R]) {
        let (sums, rest) = own.split_at_mut(self.arms);
        let (slopes, rest) = rest.split_at_mut(self.arms);
        let (weights, last) = rest.split_at_mut(self.arms);
        let k = self.arms as f64;
        let best = largest(sums);
        let x = |i: usize| (sums[i] - best) * arm.lit(1.0 / k) + slopes[i] * arm.lit(self.w / k);
        let (mut total, mut moment) = (arm.zero(), arm.zero());
        for (i, &weight) in weights.iter().enumerate() {
            total = total + weight;
            moment = x(i).fma(weight, moment);
        }
        let (keep, share) = (arm.lit(1.0 - self.w), arm.lit(self.w / k));
        let p = pick(weights, arm) / total;
        let own_x = (pick(sums, arm) - best) * arm.lit(1.0 / k) + pick(slopes, arm) * arm.lit(self.w / k);
        // d pi_a / dw = p_a ((1 - w) (x_a - sum_j p_j x_j) - 1) + 1 / K, of which the floor leaves 1 - K floor.
        let slope = p.fma(keep.fma(own_x - moment / total, -arm.one()), arm.lit(1.0 / k));
        let free = arm.lit(1.0 - k * floor);
        let inverse = arm.one() / free.fma(keep.fma(p, share), arm.lit(floor));
        (last[0], last[1]) = (inverse, free * slope * inverse);
    }
}
