//! A linear policy with its projection, as a player.

use super::{LinearChooser, Precision, Projection, gradient_len, rollout};
use crate::error::Result;
use crate::numeric::simd::Lanes;
use crate::simulate::job::{Job, Output, Player, misplaced};

/// Single precision is for prior variances x'M x / lambda (here an upper bound) up to this. An estimated variance, of
/// order one or less, is their difference with what was learned, so that it is off by about this many roundings, a
/// thousandth; a hundred times more and Q, which only grows, overshoots and runs away.
const SINGLE_PRECISION_SPREAD: f64 = 3e4;

/// A policy with its projection.
pub(crate) struct LinearPlayer {
    policy: Box<dyn LinearChooser>,
    projection: Projection,
}

impl LinearPlayer {
    /// A policy in a projected space.
    pub fn new(policy: impl LinearChooser + 'static, projection: Projection) -> Self {
        Self { policy: Box::new(policy), projection }
    }
}

impl Player for LinearPlayer {
    fn dim(&self) -> usize {
        gradient_len(&*self.policy, &self.projection)
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let contextual = job.problem.contextual().ok_or_else(|| misplaced(job.problem, "with contexts"))?;
        let spread =
            contextual.model().longest_squared() * self.projection.gram_norm() / self.projection.ridge();
        let precision = match job.lanes {
            Lanes::Auto | Lanes::Single if spread <= SINGLE_PRECISION_SPREAD => Precision::Single,
            _ => Precision::Double,
        };
        rollout(&*self.policy, &self.projection, precision, job, first, out)?;
        self.policy.check()
    }

    fn unscored(&self) -> Option<&'static str> {
        self.policy.unscored()
    }
}
