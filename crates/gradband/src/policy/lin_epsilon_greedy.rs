//! Linear epsilon-greedy: the arm with the largest estimated mean, or with probability epsilon any arm.
//!
//! ```text
//! pi_i = epsilon / K + (1 - epsilon) [i = greedy arm]
//! d log pi_a / d epsilon = (1/K - 1) / pi_a for the greedy arm, 1 / epsilon for the others
//! ```

use crate::lanes::{Best, Real};
use crate::linear::{Draws, LinearPolicy, Score};
use crate::linear_agent::{AnyLinear, LinearAgent, RIDGE};
use crate::registry::{Initial, ParamInfo, Plays, PolicyInfo, Range, Trainer};

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "lin-epsilon-greedy",
    summary: "the largest linear estimate, but any arm with probability epsilon",
    params: &[ParamInfo::number("epsilon", Initial::Fixed(0.2), Range::new(0.0, 1.0), Range::new(0.01, 1.0))],
    settings: &[RIDGE],
    trainer: Trainer::Score,
    plays: Plays::Contexts,
    refuses: |_| None,
    build: |problem, choice| {
        let policy = LinEpsilonGreedy { epsilon: choice.params[0] };
        LinearAgent::boxed(AnyLinear::LinEpsilonGreedy(policy), problem, choice)
    },
    exact: None,
    preparation: None,
};

/// Linear epsilon-greedy.
#[derive(Clone, Copy, Debug)]
pub struct LinEpsilonGreedy {
    /// Probability of exploring.
    pub epsilon: f64,
}

impl LinearPolicy for LinEpsilonGreedy {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }

    fn learns_projection(&self) -> bool {
        false
    }

    fn scalars(&self) -> usize {
        1
    }

    #[inline(always)]
    fn act<R: Real<Mask = bool>, const SCORE: bool>(
        &self,
        mu: &[R],
        _: &[R],
        draws: &[R],
        score: &mut Score<R>,
    ) -> usize {
        let (u, arms) = (draws[0], mu.len());
        let greedy = Best::of(mu).arm.indices()[0] as usize;
        // Below epsilon the draw explores, and u / epsilon is uniform again.
        let epsilon = u.lit(self.epsilon);
        let arm = if u.lt(epsilon) {
            ((u / epsilon * arms as f32).floor().indices()[0] as usize).min(arms - 1)
        } else {
            greedy
        };
        if SCORE {
            let others = (arms as f64 - 1.0) / arms as f64;
            score.scalars[0] = u.lit(if arm == greedy {
                -others / (1.0 - others * self.epsilon)
            } else {
                1.0 / self.epsilon
            });
        }
        arm
    }
}
