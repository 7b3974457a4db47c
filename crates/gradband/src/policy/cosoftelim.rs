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

use crate::lanes::{Real, largest};
use crate::linear::{Draws, LinearPolicy, Score, draw_arm};
use crate::linear_agent::{AnyLinear, LinearAgent, NOISE_SD, RANK, RIDGE, noise_sd};
use crate::problem::Problem;
use crate::registry::{Allowed, Choice, Initial, ParamInfo, Plays, PolicyInfo, Range, SettingInfo, Trainer};

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "cosoftelim",
    summary: "contextual soft elimination in a learned projection W of the contexts",
    params: &[
        ParamInfo::PROJECTION,
        ParamInfo::number(
            "gamma",
            Initial::Setting("gamma", rate),
            Range::new(1e-6, 1e6),
            Range::new(1e-3, 1e4),
        )
        .log(1.0)
        .when("learn_gamma"),
    ],
    settings: &[
        RIDGE,
        SettingInfo {
            name: "gamma",
            allowed: Allowed::Number { low: 1e-6, high: 1e6, default: "auto" },
            summary: "how fast arms are eliminated; auto: 1 / noise_sd^2",
        },
        SettingInfo {
            name: "learn_gamma",
            allowed: Allowed::OneOf(&["false", "true"]),
            summary: "learn gamma as well",
        },
        NOISE_SD,
        RANK,
    ],
    trainer: Trainer::Score,
    plays: Plays::Contexts,
    refuses: |_| None,
    build: |problem, choice| {
        let learned = choice.param("gamma").map(|gamma| gamma[0]);
        let gamma = learned.unwrap_or_else(|| rate(problem, choice));
        let policy = CoSoftElim { gamma, learn_gamma: learned.is_some() };
        LinearAgent::boxed(AnyLinear::CoSoftElim(policy), problem, choice)
    },
    exact: None,
    preparation: None,
};

/// gamma as it is set.
fn rate(problem: &Problem, choice: &Choice) -> f64 {
    choice.setting("gamma").parse().unwrap_or_else(|_| noise_sd(problem, choice).powi(-2))
}

/// CoSoftElim: eliminates softly, at a rate that may be learned with the projection.
#[derive(Clone, Copy, Debug)]
pub struct CoSoftElim {
    /// gamma > 0: larger explores less; 1 / noise variance is natural.
    pub gamma: f64,
    /// Is gamma learned too?
    pub learn_gamma: bool,
}

impl LinearPolicy for CoSoftElim {
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
    fn act<R: Real<Mask = bool>, const SCORE: bool>(
        &self,
        mu: &[R],
        v: &[R],
        draws: &[R],
        score: &mut Score<R>,
    ) -> usize {
        let arms = mu.len();
        let (v, precision, weights) = (&v[..arms], &mut score.variance[..arms], &mut score.mean[..arms]);
        let u = draws[0];
        let (zero, one, gamma) = (u.zero(), u.one(), u.lit(self.gamma));
        let best = largest(mu);
        for i in 0..arms {
            precision[i] = gamma / R::select(zero.lt(v[i]), v[i], one);
            precision[i] = R::select(zero.lt(v[i]), precision[i], zero);
            let gap = best - mu[i];
            weights[i] = (-(gap * gap * precision[i])).exp();
        }
        let (arm, total) = draw_arm(weights, u);
        if SCORE {
            let (share, inverse) = (one / total, u.lit(1.0 / self.gamma));
            let (mut lead, mut by_gamma) = (zero, zero);
            for i in 0..arms {
                let gap = best - mu[i];
                let own = R::select(i == arm, one, zero);
                let slope = weights[i].fma(share, -own) * gap * precision[i];
                let by_score = slope * gap;
                by_gamma = by_gamma + by_score;
                weights[i] = slope * -2.0;
                lead = lead - weights[i];
                precision[i] = -by_score * precision[i] * inverse;
            }
            let leader = mu.iter().position(|&x| !x.lt(best)).unwrap_or(0);
            weights[leader] = weights[leader] + lead;
            if self.learn_gamma {
                score.scalars[0] = by_gamma * inverse;
            }
        }
        arm
    }
}
