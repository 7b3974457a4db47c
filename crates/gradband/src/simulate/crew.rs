//! Chunks that others play: what they are told, and how the work is shared out.
//!
//! ```text
//! task   = round, first and last unit        round = problem, players, what is summed, job, instances
//! answer = the sums of those units, one after the other
//! ```
//! A unit is a chunk of instances, or a group of them for recurrent gradients. Units do not depend on how they are shared
//! out, and their sums are added in order: who does what, and how often, is not observable.

use super::job::{Job, Task};
use super::returns::{Baseline, Returns};
use crate::error::{Error, Result};
use crate::numeric::bytes::{Bytes, Put, cut_off};
use crate::numeric::stream::Key;
use crate::observe::Crew;
use crate::problem::{Problem, Split, Step};
use std::ops::Range;

/// Whoever reads other bytes than we write is told so.
const VERSION: u64 = 0x0001_646e_6162_6467;

/// What is kept of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kept {
    /// Each policy's total reward.
    Reward,
    /// Each policy's total regret.
    Regret,
    /// All that a comparison needs.
    Comparison,
    /// The moments of the gradient, and the total regret.
    Gradient,
    /// The sum of a recurrent network's gradients, its logits divided by so much, and the total regret.
    Recurrent(f64),
}

impl Kept {
    fn write(self, out: &mut Vec<u8>) {
        let (kind, temperature) = match self {
            Self::Reward => (0, 1.0),
            Self::Regret => (1, 1.0),
            Self::Comparison => (2, 1.0),
            Self::Gradient => (3, 1.0),
            Self::Recurrent(temperature) => (4, temperature),
        };
        out.put(kind);
        out.put_number(temperature);
    }

    fn read(from: &mut Bytes) -> Result<Self> {
        let (kind, temperature) = (from.whole()?, from.number()?);
        Ok(match kind {
            0 => Self::Reward,
            1 => Self::Regret,
            2 => Self::Comparison,
            3 => Self::Gradient,
            4 => Self::Recurrent(temperature),
            _ => return Err(cut_off()),
        })
    }
}

/// What all tasks of a round have in common, with the players' descriptions.
pub(crate) fn round(players: &[Vec<u8>], job: &Job, kept: Kept, instances: usize) -> Vec<u8> {
    let mut out = Vec::new();
    write_setup(job.problem, players, &mut out);
    kept.write(&mut out);
    out.put(job.key.bits());
    out.put(u64::from(job.split == Split::HeldOut));
    write_task(job.task, &mut out);
    out.put(job.marks.len() as u64);
    job.marks.iter().for_each(|&mark| out.put(mark as u64));
    out.put(instances as u64);
    out
}

fn write_setup(problem: &Problem, players: &[Vec<u8>], out: &mut Vec<u8>) {
    let (digest, steps) = problem.address();
    out.put(VERSION);
    out.extend(digest);
    out.put(steps.len() as u64);
    for step in steps {
        let (kind, x) = match *step {
            Step::Fold(i) => (0, i),
            Step::Horizon(horizon) => (1, horizon),
        };
        out.put(kind);
        out.put(x as u64);
    }
    out.put(players.len() as u64);
    players.iter().for_each(|player| out.put_bytes(player));
}

fn write_task(task: Task, out: &mut Vec<u8>) {
    let (kind, returns) = match task {
        Task::Evaluate => (0, Returns::Realized),
        Task::Gradient(Baseline::None, returns) => (1, returns),
        Task::Gradient(Baseline::Opt, returns) => (2, returns),
        Task::Gradient(Baseline::SelfPlay, returns) => (3, returns),
        Task::Gradient(Baseline::LeaveOneOut(_), returns) => (4, returns),
    };
    out.put(kind);
    out.put(task.runs() as u64);
    out.put(u64::from(returns == Returns::Mean));
}

fn read_task(from: &mut Bytes) -> Result<Task> {
    let (kind, runs, mean) = (from.whole()?, from.count()?, from.whole()?);
    let returns = if mean == 1 { Returns::Mean } else { Returns::Realized };
    Ok(match kind {
        0 => Task::Evaluate,
        1 => Task::Gradient(Baseline::None, returns),
        2 => Task::Gradient(Baseline::Opt, returns),
        3 => Task::Gradient(Baseline::SelfPlay, returns),
        4 => Task::Gradient(Baseline::LeaveOneOut(runs), returns),
        _ => return Err(cut_off()),
    })
}

/// A task as the other side reads it.
#[derive(Clone, Debug)]
pub(crate) struct Order<'a> {
    /// Problem and players, as they were sent: equal bytes, equal players.
    pub setup: &'a [u8],
    /// The digest of the problem that the steps start from.
    pub digest: [u8; 32],
    pub steps: Vec<Step>,
    /// Their descriptions.
    pub players: Vec<&'a [u8]>,
    pub kept: Kept,
    pub instances: usize,
    pub units: Range<usize>,
    key: Key,
    split: Split,
    task: Task,
    marks: Vec<usize>,
}

impl<'a> Order<'a> {
    pub fn read(task: &'a [u8]) -> Result<Self> {
        let mut from = Bytes(task);
        if from.whole()? != VERSION {
            return Err(cut_off());
        }
        let digest = from.take(32)?.try_into().map_err(|_| cut_off())?;
        let step = |from: &mut Bytes| match (from.whole()?, from.count()?) {
            (0, i) => Ok(Step::Fold(i)),
            (1, horizon) => Ok(Step::Horizon(horizon)),
            _ => Err(cut_off()),
        };
        let steps = (0..from.count()?).map(|_| step(&mut from)).collect::<Result<_>>()?;
        let players = (0..from.count()?).map(|_| from.bytes()).collect::<Result<Vec<_>>>()?;
        let setup = &task[..task.len() - from.0.len()];
        let kept = Kept::read(&mut from)?;
        let (key, held_out) = (Key::of_bits(from.whole()?), from.whole()? == 1);
        let split = if held_out { Split::HeldOut } else { Split::Train };
        let task = read_task(&mut from)?;
        let marks = (0..from.count()?).map(|_| from.count()).collect::<Result<_>>()?;
        let instances = from.count()?;
        let units = from.count()?..from.count()?;
        from.end()?;
        if players.is_empty() || units.start > units.end {
            return Err(cut_off());
        }
        Ok(Self { setup, digest, steps, players, kept, instances, units, key, split, task, marks })
    }

    /// What is to be played.
    pub fn job<'b>(&'b self, problem: &'b Problem) -> Job<'b> {
        Job { marks: &self.marks, ..Job::new(problem, self.key, self.split, self.task) }
    }
}

/// Shares units out and reads what the crew found of each, in order.
pub(crate) fn share_out<T>(
    crew: &dyn Crew,
    round: &[u8],
    units: Range<usize>,
    read: impl Fn(&mut Bytes) -> Result<T>,
) -> Result<Vec<T>> {
    let shares = crew.hands().clamp(1, units.len().max(1));
    let bound = |share: usize| units.start + units.len() * share / shares;
    let parts: Vec<Range<usize>> = (0..shares).map(|share| bound(share)..bound(share + 1)).collect();
    let task = |part: &Range<usize>| {
        let mut task = round.to_vec();
        task.put(part.start as u64);
        task.put(part.end as u64);
        task
    };
    let answers = crew.play(parts.iter().map(task).collect())?;
    if answers.len() != parts.len() {
        let message = format!("found {} answers to {} tasks", answers.len(), parts.len());
        return Err(Error::new("crew", message));
    }
    let mut found = Vec::with_capacity(units.len());
    for (part, answer) in parts.into_iter().zip(&answers) {
        let mut from = Bytes(answer);
        for _ in part {
            found.push(read(&mut from)?);
        }
        from.end()?;
    }
    Ok(found)
}
