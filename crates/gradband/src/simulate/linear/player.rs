//! A linear policy with its projection, as a player.

use super::{LinearChooser, Precision, Projection, gradient_len, rollout};
use crate::error::Result;
use crate::numeric::simd::Lanes;
use crate::simulate::job::{Job, Output, Player, misplaced};

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
        let longest = contextual.model().longest_squared();
        let (basis, precision) = self.projection.engine(longest, job.problem.horizon);
        let precision = match job.lanes {
            Lanes::Auto | Lanes::Single => precision,
            Lanes::Double => Precision::Double,
        };
        rollout(&*self.policy, &self.projection, (basis, precision), job, first, out)?;
        self.policy.check()
    }

    fn unscored(&self) -> Option<&'static str> {
        self.policy.unscored()
    }
}
