//! Many instances on all threads, in chunks that are handed back in order.
//!
//! A chunk is summed up by whoever played it, a thread or one of a [`Crew`](crate::Crew), and chunks are added in the order
//! of their instances. Which instances form a chunk depends on the problem alone: threads and other machines are not
//! observable.

use super::crew::{Kept, round, share_out};
use super::job::{Job, Outcome, Output, Player, Task};
use crate::error::Result;
use crate::numeric::bytes::{Bytes, Put};
use crate::observe::{Observer, go_on};
use rayon::prelude::*;
use std::ops::Range;

/// Between two looks at the observer: nanoseconds of work, so that nobody waits long for a stop; and numbers that the
/// sums of the chunks hold, so that memory is bounded.
const WAVE_COST: f64 = 5e8;
const WAVE_NUMBERS: usize = 1 << 22;
/// Nanoseconds that a number of a policy takes in a round.
const NUMBER_COST: f64 = 0.1;
const MOST_CHUNKS: usize = 1 << 10;

/// What consecutive instances told, policy by policy.
pub(crate) struct Chunk {
    /// Number of instances.
    pub len: usize,
    outcomes: Vec<Outcome>,
    gradients: Vec<f64>,
    curves: Vec<f64>,
    marks: usize,
    dim: usize,
}

impl Chunk {
    /// The outcomes of a policy, instance by instance.
    pub fn outcomes(&self, player: usize) -> &[Outcome] {
        &self.outcomes[player * self.len..(player + 1) * self.len]
    }

    /// The past instance behind instance `i`.
    pub fn cluster(&self, i: usize) -> u32 {
        self.outcomes[i].cluster
    }

    /// The gradient of the first policy on instance `i`, if the job asked for one.
    pub fn gradient(&self, i: usize) -> &[f64] {
        &self.gradients[i * self.dim..(i + 1) * self.dim]
    }

    /// The regret of a policy on instance `i` after each mark.
    pub fn curve(&self, player: usize, i: usize) -> &[f64] {
        &self.curves[(player * self.len + i) * self.marks..][..self.marks]
    }

    fn play(players: &[&dyn Player], job: &Job, first: usize, len: usize) -> Result<Self> {
        let dim = if job.task == Task::Evaluate { 0 } else { players[0].dim() };
        let marks = job.marks.len();
        let mut chunk = Self {
            len,
            outcomes: vec![Outcome::default(); players.len() * len],
            gradients: vec![0.0; dim * len],
            curves: vec![0.0; players.len() * len * marks],
            marks,
            dim,
        };
        for (i, player) in players.iter().enumerate() {
            let gradients = if i == 0 { &mut chunk.gradients[..] } else { &mut [] };
            let out = Output {
                outcomes: &mut chunk.outcomes[i * len..(i + 1) * len],
                gradients,
                curves: &mut chunk.curves[i * len * marks..(i + 1) * len * marks],
            };
            player.rollout(job, first as u64, out)?;
        }
        job.problem.armed().map_or(Ok(()), |armed| armed.rewards.check_drawn())?;
        Ok(chunk)
    }

    /// Chunks that were played by one call, one after the other.
    fn split(self, size: usize) -> Vec<Self> {
        if self.len <= size {
            return vec![self];
        }
        let players = self.outcomes.len() / self.len;
        let part = |first: usize| {
            let len = size.min(self.len - first);
            let each = |player: usize| player * self.len + first;
            Self {
                len,
                outcomes: (0..players).flat_map(|p| self.outcomes[each(p)..][..len].to_vec()).collect(),
                gradients: self.gradients[first * self.dim..][..len * self.dim].to_vec(),
                curves: (0..players)
                    .flat_map(|p| self.curves[each(p) * self.marks..][..len * self.marks].to_vec())
                    .collect(),
                ..self
            }
        };
        (0..self.len).step_by(size).map(part).collect()
    }
}

/// What is kept of a chunk, and how it is sent.
pub(crate) trait Summary: Sync {
    type Sum: Send;
    /// What it is called in a task.
    fn kept(&self) -> Kept;
    /// On the thread that played the chunk.
    fn sum(&self, chunk: &Chunk) -> Self::Sum;
    fn write(&self, sum: &Self::Sum, out: &mut Vec<u8>);
    fn read(&self, from: &mut Bytes) -> Result<Self::Sum>;
}

/// Plays every policy on the same `instances`; `add` gets the sums of the chunks in the order of the instances.
pub(crate) fn play<S: Summary>(
    players: &[&dyn Player],
    job: &Job,
    instances: usize,
    what: &str,
    summary: &S,
    mut add: impl FnMut(S::Sum),
    observer: &mut dyn Observer,
) -> Result<()> {
    let size = job.chunk();
    let chunks = instances.div_ceil(size);
    let slowness: f64 = players.iter().map(|player| player.slowness()).sum();
    let numbers: usize = players.iter().map(|player| player.dim()).sum();
    let run = job.problem.cost() * slowness + NUMBER_COST * (numbers * job.problem.horizon) as f64;
    let cost = run * (job.task.runs() * size) as f64;
    let most = (WAVE_NUMBERS / numbers.max(1)).clamp(1, MOST_CHUNKS);
    // A player that nobody else can have is played here.
    let described = || players.iter().map(|player| player.description()).collect::<Option<Vec<_>>>();
    let crew = observer.crew().and_then(|crew| Some((crew, described()?)));
    let crew = crew.map(|(crew, players)| (round(&players, job, summary.kept(), instances), crew));
    let hands = crew.as_ref().map_or(1, |(_, crew)| crew.hands().max(1));
    // However long a chunk takes, every thread gets one; chunks that are played together are not parted.
    let least = rayon::current_num_threads();
    let wave = ((WAVE_COST / cost) as usize).max(least).saturating_mul(hands).min(most);
    let together = together(players, job);
    let wave = if wave > together { wave - wave % together } else { wave };
    for start in (0..chunks).step_by(wave) {
        let units = start..(start + wave).min(chunks);
        let sums = match &crew {
            None => sums(players, job, instances, units, summary)?,
            Some((round, crew)) => share_out(&**crew, round, units, |from| summary.read(from))?,
        };
        sums.into_iter().for_each(&mut add);
        let done = ((start + wave) * size).min(instances);
        go_on(observer, what, "instances", done as u64, instances as u64)?;
    }
    Ok(())
}

/// How many chunks are better played by one call.
fn together(players: &[&dyn Player], job: &Job) -> usize {
    players.iter().map(|player| player.together(job)).max().unwrap_or(1).max(1)
}

/// The sums of some chunks, on all threads.
fn sums<S: Summary>(
    players: &[&dyn Player],
    job: &Job,
    instances: usize,
    chunks: Range<usize>,
    summary: &S,
) -> Result<Vec<S::Sum>> {
    let (size, end) = (job.chunk(), chunks.end);
    let together = together(players, job);
    let sums = chunks.into_par_iter().step_by(together).map(|chunk| {
        let first = chunk * size;
        let last = (end.min(chunk + together) * size).min(instances);
        let chunks = Chunk::play(players, job, first, last - first)?.split(size);
        Ok(chunks.iter().map(|chunk| summary.sum(chunk)).collect::<Vec<_>>())
    });
    Ok(sums.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The same as a crew sends them.
pub(crate) fn answer<S: Summary>(
    players: &[&dyn Player],
    job: &Job,
    instances: usize,
    chunks: Range<usize>,
    summary: &S,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for sum in sums(players, job, instances, chunks, summary)? {
        summary.write(&sum, &mut out);
    }
    Ok(out)
}

/// A number of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Reward,
    Regret,
}

/// The total of a number, policy by policy.
pub(crate) struct Totals {
    pub of: Quantity,
    pub players: usize,
}

impl Summary for Totals {
    type Sum = Vec<f64>;

    fn kept(&self) -> Kept {
        match self.of {
            Quantity::Reward => Kept::Reward,
            Quantity::Regret => Kept::Regret,
        }
    }

    fn sum(&self, chunk: &Chunk) -> Vec<f64> {
        let of = |outcome: &Outcome| match self.of {
            Quantity::Reward => outcome.reward,
            Quantity::Regret => outcome.regret,
        };
        (0..self.players).map(|player| chunk.outcomes(player).iter().map(of).sum()).collect()
    }

    fn write(&self, sum: &Vec<f64>, out: &mut Vec<u8>) {
        sum.iter().for_each(|&total| out.put_number(total));
    }

    fn read(&self, from: &mut Bytes) -> Result<Vec<f64>> {
        (0..self.players).map(|_| from.number()).collect()
    }
}

/// Means over instances of a number of each policy's outcome.
pub(crate) fn means(
    players: &[&dyn Player],
    job: &Job,
    instances: usize,
    of: Quantity,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>> {
    let mut totals = vec![0.0; players.len()];
    let summary = Totals { of, players: players.len() };
    let add = |part: Vec<f64>| totals.iter_mut().zip(part).for_each(|(total, x)| *total += x);
    play(players, job, instances, "playing", &summary, add, observer)?;
    Ok(totals.into_iter().map(|total| total / instances as f64).collect())
}
