//! A linear policy with its projection, as a player.

use super::{Engine, LinearChooser, Precision, Projection, gradient_len, rollout};
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

    fn engine(&self, job: &Job) -> Result<Engine> {
        let contextual = job.problem.contextual().ok_or_else(|| misplaced(job.problem, "with contexts"))?;
        let engine = self.projection.engine(contextual.model().longest_squared(), job.problem.horizon);
        Ok(match job.lanes {
            Lanes::Auto | Lanes::Single => engine,
            Lanes::Double => Engine { precision: Precision::Double, ..engine },
        })
    }
}

impl Player for LinearPlayer {
    fn dim(&self) -> usize {
        gradient_len(&*self.policy, &self.projection)
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let engine = self.engine(job)?;
        rollout(&*self.policy, &self.projection, engine, job, first, out)?;
        self.policy.check()
    }

    /// A vector's worth of instances at once.
    fn together(&self, job: &Job) -> usize {
        match self.engine(job) {
            Ok(engine) if engine.is_side_by_side(&self.projection, job) => 16 / job.chunk(),
            _ => 1,
        }
    }

    fn unscored(&self) -> Option<&'static str> {
        self.policy.unscored()
    }
}
