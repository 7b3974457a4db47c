//! Many instances on all threads, in chunks that are handed back in order.
//!
//! A chunk is summed up by the thread that played it, and chunks are added in the order of their instances. Which
//! instances form a chunk depends on the problem alone: threads, and later other machines, are not observable.

use super::job::{Job, Outcome, Output, Player, Task};
use crate::error::Result;
use crate::observe::{Observer, go_on};
use rayon::prelude::*;

/// Between two looks at the observer: nanoseconds of work, so that nobody waits long for a stop; and numbers that the
/// sums of the chunks hold, so that memory is bounded.
const WAVE_COST: f64 = 5e8;
const WAVE_NUMBERS: usize = 1 << 22;
/// Chunks that are worth handing out together.
const LEAST_CHUNKS: usize = 8;
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

/// Plays every policy on the same `instances`. `sum` turns a chunk into what is kept of it, on the thread that played
/// it; `add` gets those in the order of the instances.
pub(crate) fn play<T: Send>(
    players: &[&dyn Player],
    job: &Job,
    instances: usize,
    what: &str,
    sum: impl Fn(&Chunk) -> T + Sync,
    mut add: impl FnMut(T),
    observer: &mut dyn Observer,
) -> Result<()> {
    let size = job.chunk();
    let chunks = instances.div_ceil(size);
    let slowness: f64 = players.iter().map(|player| player.slowness()).sum();
    let cost = job.problem.cost() * (job.task.runs() * size) as f64 * slowness;
    let numbers: usize = players.iter().map(|player| player.dim()).sum();
    let most = (WAVE_NUMBERS / numbers.max(1)).clamp(1, MOST_CHUNKS);
    let wave = ((WAVE_COST / cost) as usize).max(LEAST_CHUNKS).min(most);
    let together = players.iter().map(|player| player.together(job)).max().unwrap_or(1).min(wave);
    for start in (0..chunks).step_by(wave) {
        let end = (start + wave).min(chunks);
        let parts = (start..end).into_par_iter().step_by(together).map(|chunk| {
            let first = chunk * size;
            let last = (end.min(chunk + together) * size).min(instances);
            let chunks = Chunk::play(players, job, first, last - first)?.split(size);
            Ok(chunks.iter().map(&sum).collect::<Vec<_>>())
        });
        parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().for_each(&mut add);
        let done = ((start + wave) * size).min(instances);
        go_on(observer, what, "instances", done as u64, instances as u64)?;
    }
    Ok(())
}

/// Means over instances of a number of each policy's outcome.
pub(crate) fn means(
    players: &[&dyn Player],
    job: &Job,
    instances: usize,
    of: fn(&Outcome) -> f64,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>> {
    let mut totals = vec![0.0; players.len()];
    let sum = |chunk: &Chunk| -> Vec<f64> {
        (0..players.len()).map(|player| chunk.outcomes(player).iter().map(of).sum()).collect()
    };
    let add = |part: Vec<f64>| totals.iter_mut().zip(part).for_each(|(total, x)| *total += x);
    play(players, job, instances, "playing", sum, add, observer)?;
    Ok(totals.into_iter().map(|total| total / instances as f64).collect())
}
