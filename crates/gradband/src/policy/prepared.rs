//! A player that knows which problem it was prepared for.

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::simulate::{Job, Output, Player};

/// Refuses problems of another shape. Kernels keep tables for so many arms, features and rounds: on others they would read
/// past them, or play nonsense.
pub(super) struct Prepared {
    name: String,
    player: Box<dyn Player>,
    shape: [usize; 3],
}

/// Arms, features and rounds.
fn shape(problem: &Problem) -> [usize; 3] {
    [problem.arms, problem.contextual().map_or(0, |contextual| contextual.dim()), problem.horizon]
}

impl Prepared {
    pub fn new(name: &str, problem: &Problem, player: Box<dyn Player>) -> Self {
        Self { name: name.into(), player, shape: shape(problem) }
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        if shape(problem) == self.shape {
            return Ok(());
        }
        let [arms, features, rounds] = self.shape;
        let message =
            format!("{} is prepared for {arms} arms, {features} features and {rounds} rounds", self.name);
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

    #[cfg(test)]
    fn trajectory(&self, job: &Job, instance: u64, run: usize) -> Option<crate::simulate::Trajectory> {
        self.player.trajectory(job, instance, run)
    }
}
