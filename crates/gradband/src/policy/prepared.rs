//! A player that knows which problem it was prepared for.

use super::description::Description;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::simulate::{Job, Output, Player};

/// Refuses problems of another shape. Kernels keep tables for so many arms, features and rounds: on others they would read
/// past them, or play nonsense.
pub(super) struct Prepared {
    description: Description,
    player: Box<dyn Player>,
    shape: [usize; 3],
}

/// Arms, features and rounds.
fn shape(problem: &Problem) -> [usize; 3] {
    [problem.arms, problem.contextual().map_or(0, |contextual| contextual.dim()), problem.horizon]
}

impl Prepared {
    pub fn new(description: Description, problem: &Problem, player: Box<dyn Player>) -> Self {
        Self { description, player, shape: shape(problem) }
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        if shape(problem) == self.shape {
            return Ok(());
        }
        let [arms, features, rounds] = self.shape;
        let name = self.description.name();
        let message = format!("{name} is prepared for {arms} arms, {features} features and {rounds} rounds");
        let [arms, features, rounds] = shape(problem);
        let message = format!(
            "{message}, but {} has {arms} arms, {features} features and {rounds} rounds",
            problem.name
        );
        Err(Error::new("problem", message))
    }
}

impl Player for Prepared {
    fn dim(&self) -> usize {
        self.player.dim()
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        self.check(job.problem)?;
        self.player.rollout(job, first, out)
    }

    fn unscored(&self) -> Option<&'static str> {
        self.player.unscored()
    }

    fn description(&self) -> Option<Vec<u8>> {
        Some(self.description.bytes())
    }

    #[cfg(test)]
    fn trajectory(&self, job: &Job, instance: u64, run: usize) -> Option<crate::simulate::Trajectory> {
        self.player.trajectory(job, instance, run)
    }
}

/// A player on the way of a training, at numbers that are not a policy's yet.
pub(crate) struct Described<P> {
    pub description: Description,
    pub player: P,
}

impl<P: Player> Player for Described<P> {
    fn dim(&self) -> usize {
        self.player.dim()
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        self.player.rollout(job, first, out)
    }

    fn unscored(&self) -> Option<&'static str> {
        self.player.unscored()
    }

    fn description(&self) -> Option<Vec<u8>> {
        Some(self.description.bytes())
    }
}
