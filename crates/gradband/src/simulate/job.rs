//! What every engine is asked, and what it answers.

use super::returns::{Baseline, Returns};
use crate::error::{Error, Result};
use crate::numeric::simd::Lanes;
use crate::numeric::stream::Key;
use crate::problem::{Problem, Split};

/// Purposes beyond those of contexts and of any run's actions.
const DELAYS: u64 = 1 << 33;
const COINS: u64 = DELAYS + 1;
const ORDERS: u64 = DELAYS + 2;

/// What one simulated instance tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Sum of the means of the pulled arms, averaged over the instance's runs.
    pub reward: f64,
    /// The same sum for the best arm, minus `reward`.
    pub regret: f64,
    /// The past instance behind it, for a table.
    pub cluster: u32,
}

/// What is simulated, apart from the policy.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// On which problem.
    pub problem: &'a Problem,
    /// With which randomness.
    pub key: Key,
    /// On which part of it.
    pub split: Split,
    /// For which estimate.
    pub task: Task,
    /// In which lanes.
    pub lanes: Lanes,
    /// Rounds after which the regret so far is noted, in rising order.
    pub marks: &'a [usize],
}

impl<'a> Job<'a> {
    /// A job in the widest lanes, without marks.
    pub fn new(problem: &'a Problem, key: Key, split: Split, task: Task) -> Self {
        Self { problem, key, split, task, lanes: Lanes::Auto, marks: &[] }
    }

    /// Instances whose sums are taken together, before sums are added in order: a property of the problem alone, so
    /// that the bits of a mean do not depend on who computes what.
    pub(crate) fn chunk(&self) -> usize {
        if self.problem.contextual().is_some() { 4 } else { 32 }
    }

    /// Purposes of an instance's streams; the actions of run r are apart from both.
    pub(crate) fn prior_key(&self) -> Key {
        self.key.child(crate::problem::PRIOR)
    }

    pub(crate) fn reward_key(&self) -> Key {
        self.key.child(crate::problem::REWARDS)
    }

    pub(crate) fn action_key(&self, run: usize) -> Key {
        const ACTIONS: u64 = 2;
        self.key.child(ACTIONS + run as u64)
    }

    /// When rewards become known: of the instance, not of a run.
    pub(crate) fn delay_key(&self) -> Key {
        self.key.child(DELAYS)
    }

    /// Which rounds of a run are not the policy's to decide.
    pub(crate) fn coin_key(&self, run: usize) -> Key {
        self.key.child(COINS).child(run as u64)
    }

    /// In which order a run tries arms that were never tried.
    pub(crate) fn order_key(&self, run: usize) -> Key {
        self.key.child(ORDERS).child(run as u64)
    }
}

/// What the runs are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// Regret and reward: one run per instance.
    Evaluate,
    /// The gradient, by a baseline.
    Gradient(Baseline, Returns),
}

impl Task {
    /// How often an instance is played.
    pub fn runs(self) -> usize {
        match self {
            Self::Evaluate => 1,
            Self::Gradient(baseline, _) => baseline.runs(),
        }
    }

    /// Is run `r` of an instance differentiated?
    pub(crate) fn scores(self, r: usize) -> bool {
        matches!(self, Self::Gradient(baseline, _) if baseline.scores(r))
    }

    /// How many are.
    pub(crate) fn scored_runs(self) -> usize {
        (0..self.runs()).filter(|&r| self.scores(r)).count()
    }

    /// What returns are made of.
    pub(crate) fn returns(self) -> Returns {
        match self {
            Self::Evaluate => Returns::Realized,
            Self::Gradient(_, returns) => returns,
        }
    }
}

/// Where a rollout writes.
#[derive(Debug)]
pub struct Output<'a> {
    /// One for each instance.
    pub outcomes: &'a mut [Outcome],
    /// For each instance as many numbers as the policy has parameters; empty unless the task is a gradient.
    pub gradients: &'a mut [f64],
    /// For each instance the regret after each of the job's marks.
    pub curves: &'a mut [f64],
}

/// A policy with its parameters, ready to be simulated: one virtual call for each chunk of instances.
pub trait Player: Send + Sync {
    /// Numbers in the gradient.
    fn dim(&self) -> usize;
    /// Plays instances `first..first + out.outcomes.len()`.
    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()>;
    /// Why the policy has no score at its parameters, if it has none.
    fn unscored(&self) -> Option<&'static str>;
    /// What others need to have the same player; nothing from players that this process alone can have.
    fn description(&self) -> Option<Vec<u8>> {
        None
    }
    /// How many chunks are better played by one call.
    fn together(&self, _job: &Job) -> usize {
        1
    }
    /// How much longer it takes than most policies.
    fn slowness(&self) -> f64 {
        1.0
    }
    /// What a run of an instance did, played plainly and kept whole; nothing from engines that have oracles of their
    /// own.
    #[cfg(test)]
    fn trajectory(&self, _job: &Job, _instance: u64, _run: usize) -> Option<Trajectory> {
        None
    }
}

/// One run, round by round, as the paper writes it: what tests compare engines with.
#[cfg(test)]
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    /// The pulled arms.
    pub arms: Vec<usize>,
    /// Mean and reward of each.
    pub pulled: Vec<(f64, f64)>,
    /// Mean and reward of the best arm.
    pub best: Vec<(f64, f64)>,
    /// The score of each choice; that of what is drawn before the first round belongs to the first.
    pub scores: Vec<Vec<f64>>,
}

/// A player on a problem of the other kind.
pub(crate) fn misplaced(problem: &Problem, needs: &str) -> Error {
    Error::new("problem", format!("this policy is for problems {needs}, not for {} ones", problem.kind()))
}
