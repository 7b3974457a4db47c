//! Instances of multi-armed problems, and what runs on them earned: shared by all engines that play them.

use super::job::{Job, Outcome, misplaced};
use crate::error::{Result, within};
use crate::numeric::lanes::{One, Real};
use crate::numeric::stream::Stream;
use crate::problem::{Armed, Prior};
use crate::simulate::Task;
use crate::simulate::returns::{Baseline, Returns};

/// The multi-armed model of a job, or why there is none.
pub(crate) fn armed<'a>(job: &Job<'a>) -> Result<&'a Armed> {
    job.problem.armed().ok_or_else(|| misplaced(job.problem, "without contexts"))
}

/// Draws the arm means of consecutive instances, in double precision and one after the other; their past instances go
/// to the outcomes, as far as there are any. Not for inlining: kernels have no use for a copy each.
#[inline(never)]
pub(crate) fn draw(
    job: &Job,
    armed: &Armed,
    first: u64,
    outcomes: &mut [Outcome],
    means: &mut [f64],
) -> Result<()> {
    let key = job.prior_key();
    for (lane, means) in means.chunks_exact_mut(job.problem.arms).enumerate() {
        let mut stream = Stream::<One<f64>>::new((), key, first + lane as u64);
        let cluster = armed.prior.sample(job.split, &mut stream, means);
        if matches!(armed.prior, Prior::Own(_)) {
            check(job, means)?;
        }
        if let Some(outcome) = outcomes.get_mut(lane) {
            outcome.cluster = cluster;
        }
    }
    Ok(())
}

/// The user's own code may draw anything.
fn check(job: &Job, means: &[f64]) -> Result<()> {
    let (low, high) = if job.problem.unit_rewards() { (0.0, 1.0) } else { (-1e6, 1e6) };
    for (arm, &mean) in means.iter().enumerate() {
        within(format!("instance[{arm}]"), mean, low, high).map_err(|error| error.within("problem"))?;
    }
    Ok(())
}

/// What returns are measured from. From the best mean, which cancels in every reference but none's, optimal rounds add
/// exactly nothing.
#[inline(always)]
pub(crate) fn offset<R: Real>(task: Task, best: R) -> R {
    match task {
        Task::Gradient(baseline, Returns::Mean) if baseline != Baseline::None => best,
        _ => best.zero(),
    }
}

/// Rewards and regrets of the runs of an instance. They come from pull counts, so that no digit is lost in adding up
/// rounds, whatever the lanes' precision.
#[derive(Clone, Copy)]
pub(crate) struct Tally<'a> {
    means: &'a [f64],
    best: f64,
    reward: f64,
    regret: f64,
}

impl<'a> Tally<'a> {
    /// Of an instance with these means.
    #[inline(always)]
    pub fn new(means: &'a [f64]) -> Self {
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { means, best, reward: 0.0, regret: 0.0 }
    }

    /// Adds a run that pulled the arms so often.
    #[inline(always)]
    pub fn add(&mut self, pulls: impl IntoIterator<Item = f64>) {
        for (pulls, mean) in pulls.into_iter().zip(self.means) {
            self.reward += pulls * mean;
            self.regret += pulls * (self.best - mean);
        }
    }

    /// The regret so far, averaged over `runs`.
    #[inline(always)]
    pub fn regret(&self, runs: usize) -> f64 {
        self.regret / runs as f64
    }

    /// Averages over `runs`.
    #[inline(always)]
    pub fn settle(self, runs: usize, outcome: &mut Outcome) {
        outcome.reward = self.reward / runs as f64;
        outcome.regret = self.regret / runs as f64;
    }
}
