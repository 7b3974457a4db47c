//! Linear epsilon-greedy: the arm with the largest estimated mean, or with probability epsilon any arm.
//!
//! ```text
//! pi_i = epsilon / K + (1 - epsilon) [i = greedy arm]
//! d log pi_a / d epsilon = (1/K - 1) / pi_a for the greedy arm, 1 / epsilon for the others
//! ```

use super::{RIDGE, decider, player};
use crate::numeric::lanes::{Best, One, Real};
use crate::policy::definition::Definition;
use crate::policy::params::{Initial, Param, Range};
use crate::simulate::linear::{Draws, LinearKernel, Slopes};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "lin-epsilon-greedy",
    summary: "the largest linear estimate, but any arm with probability epsilon",
    params: &[Param::number("epsilon", Initial::Fixed(0.2), Range::new(0.0, 1.0), Range::new(0.01, 1.0)).scale()],
    settings: &[RIDGE],
    player: |_, choice, _| Ok(player(LinEpsilonGreedy { epsilon: choice.scalar("epsilon")? }, choice)),
    decider: |_, choice, _| Ok(decider(LinEpsilonGreedy { epsilon: choice.scalar("epsilon")? }, choice)),
    ..Definition::CONTEXTS
};

/// Linear epsilon-greedy.
#[derive(Clone, Copy, Debug)]
pub struct LinEpsilonGreedy {
    /// Probability of exploring.
    pub epsilon: f64,
}

impl LinearKernel for LinEpsilonGreedy {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }

    fn learns_projection(&self) -> bool {
        false
    }

    fn scalars(&self) -> usize {
        1
    }

    /// The score of an exploring pull is 1 / epsilon.
    fn unscored(&self) -> Option<&'static str> {
        (self.epsilon == 0.0).then_some("never explores at epsilon = 0: there is no gradient to estimate")
    }

    #[inline(always)]
    fn act<R: Real, const SCORE: bool>(&self, mu: &[R], _: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R {
        let (u, arms, greedy) = (draws[0], mu.len(), Best::of(mu).arm);
        // Below epsilon the draw explores, and u / epsilon is uniform again.
        let (epsilon, last) = (u.lit(self.epsilon), u.lit(arms as f64 - 1.0));
        let any = (u / epsilon * arms as f32).floor();
        let arm = R::select(u.lt(epsilon), R::select(any.lt(last), any, last), greedy);
        if SCORE {
            let others = (arms as f64 - 1.0) / arms as f64;
            let of_greedy = u.lit(-others / (1.0 - others * self.epsilon));
            slopes.scalars[0] = R::select((arm - greedy).is(0.0), of_greedy, u.lit(1.0 / self.epsilon));
        }
        arm
    }

    fn is_certain(&self) -> bool {
        self.epsilon == 0.0
    }

    fn weigh(&self, mu: &[One<f64>], _: &[One<f64>], weights: &mut [f64]) {
        weights.fill(self.epsilon / mu.len() as f64);
        weights[Best::of(mu).arm.0 as usize] += 1.0 - self.epsilon;
    }
}
