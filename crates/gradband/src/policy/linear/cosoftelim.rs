//! CoSoftElim (section 5.4): contextual soft elimination.
//!
//! ```text
//! gap_score_i = gamma (max_j mu_j - mu_i)^2 / v_i      (0 where v_i = 0)
//! pi_i        ∝ exp(-gap_score_i)
//! d log pi_a / d gap_score_i = pi_i - [i = a] =: e_i
//! d gap_score_i / d mu_i  = -2 gamma gap_i / v_i = -(the same for the leading mu)
//! d gap_score_i / d v_i   = -gap_score_i / v_i
//! d gap_score_i / d gamma =  gap_score_i / gamma
//! ```

use super::{INTERCEPT, NOISE_SD, OFFSET, RANK, RIDGE, assumed_noise_sd, decider, noise_sd, player};
use crate::error::Result;
use crate::numeric::lanes::{Best, One, Real, add, largest};
use crate::policy::choice::Choice;
use crate::policy::definition::Definition;
use crate::policy::params::{Allowed, Initial, Param, Range, Setting, SettingValue};
use crate::problem::Problem;
use crate::simulate::linear::{Draws, LinearKernel, Slopes, draw_arm};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "cosoftelim",
    summary: "contextual soft elimination in a learned projection W of the contexts",
    params: &[
        Param::PROJECTION,
        Param::number("gamma", Initial::Setting("gamma", rate), Range::new(1e-6, 1e6), Range::new(1e-3, 1e4))
            .log(1.0)
            .when("learn_gamma", &["true"]),
    ],
    settings: &[
        RIDGE,
        Setting {
            name: "gamma",
            allowed: Allowed::Number { low: 1e-6, high: 1e6, default: SettingValue::Auto },
            summary: "how fast arms are eliminated; auto: 1 / noise_sd^2",
        },
        Setting { name: "learn_gamma", allowed: Allowed::Flag, summary: "learn gamma as well" },
        NOISE_SD,
        RANK,
        INTERCEPT,
        OFFSET,
    ],
    player: |problem, choice, _| {
        Ok(player(CoSoftElim::of(choice, noise_sd(problem, choice)), choice))
    },
    decider: |problem, choice, _| {
        Ok(decider(CoSoftElim::of(choice, assumed_noise_sd(problem.noise_sd, choice)), choice))
    },
    ..Definition::CONTEXTS
};

/// gamma as it is set.
fn rate(problem: &Problem, choice: &Choice) -> Result<f64> {
    Ok(set_rate(choice, noise_sd(problem, choice)))
}

fn set_rate(choice: &Choice, noise_sd: f64) -> f64 {
    choice.number("gamma").unwrap_or_else(|| noise_sd.powi(-2))
}

/// CoSoftElim: eliminates softly, at a rate that may be learned with the projection.
#[derive(Clone, Copy, Debug)]
pub struct CoSoftElim {
    /// gamma > 0: larger explores less; 1 / noise variance is natural.
    pub gamma: f64,
    /// Is gamma learned too?
    pub learn_gamma: bool,
}

impl CoSoftElim {
    fn of(choice: &Choice, noise_sd: f64) -> Self {
        let learned = choice.param("gamma").map(|gamma| gamma[0]);
        Self {
            gamma: learned.unwrap_or_else(|| set_rate(choice, noise_sd)),
            learn_gamma: learned.is_some(),
        }
    }

    /// The probabilities up to a factor, and gamma / v; also the largest mean.
    #[inline(always)]
    fn weights<R: Real>(
        &self,
        mu: &[R],
        v: &[R],
        precision: &mut [R],
        weights: &mut [R],
    ) -> R {
        let best = largest(mu);
        let (zero, one, gamma) = (best.zero(), best.one(), best.lit(self.gamma));
        for i in 0..mu.len() {
            precision[i] = gamma / R::select(zero.lt(v[i]), v[i], one);
            precision[i] = R::only(zero.lt(v[i]), precision[i]);
            let gap = best - mu[i];
            weights[i] = (-(gap * gap * precision[i])).weight();
        }
        best
    }
}

impl LinearKernel for CoSoftElim {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }

    fn learns_projection(&self) -> bool {
        true
    }

    fn scalars(&self) -> usize {
        usize::from(self.learn_gamma)
    }

    #[inline(always)]
    fn act<R: Real, const SCORE: bool>(&self, mu: &[R], v: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R {
        let arms = mu.len();
        let (v, precision, weights) = (&v[..arms], &mut slopes.variance[..arms], &mut slopes.mean[..arms]);
        let u = draws[0];
        let (zero, one) = (u.zero(), u.one());
        let best = self.weights(mu, v, precision, weights);
        let (arm, total) = draw_arm(weights, u);
        if SCORE {
            let (share, inverse) = (one / total, u.lit(1.0 / self.gamma));
            let (mut lead, mut by_gamma) = (zero, zero);
            for i in 0..arms {
                let gap = best - mu[i];
                let own = R::only(arm.is(i as f32), one);
                let slope = weights[i].fma(share, -own) * gap * precision[i];
                let by_score = slope * gap;
                by_gamma = by_gamma + by_score;
                weights[i] = slope * -2.0;
                lead = lead - weights[i];
                precision[i] = -by_score * precision[i] * inverse;
            }
            add(weights, Best::of(mu).arm, lead);
            if self.learn_gamma {
                slopes.scalars[0] = by_gamma * inverse;
            }
        }
        arm
    }

    fn weigh(&self, mu: &[One<f64>], v: &[One<f64>], weights: &mut [f64]) {
        let mut both = vec![One(0.0); 2 * mu.len()];
        let (precision, soft) = both.split_at_mut(mu.len());
        self.weights(mu, v, precision, soft);
        weights.iter_mut().zip(soft).for_each(|(out, x)| *out = x.0);
    }
}
