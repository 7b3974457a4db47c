//! Many instances on all threads, handed back one by one in the order of their index.
//!
//! Threads fill a bounded buffer block by block; what follows reads it in order. So the number of threads, the
//! size of a block and the width of the lanes are not observable, and memory does not grow with the instances.

use crate::registry::Agent;
use crate::simulate::{Job, Outcome};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Instances between two looks at the outcomes, at most; and rounds, so that nobody waits long for a stop.
const WAVE: usize = 4096;
const WAVE_ROUNDS: usize = 1 << 27;

/// Plays every agent on the same `instances`; `each` sees, for each instance, one outcome per agent.
///
/// `progress` hears of the instances done so far and may stop the work.
pub fn play(
    agents: &[&dyn Agent],
    job: &Job,
    instances: usize,
    mut each: impl FnMut(&[Outcome]),
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let rounds = job.problem.horizon * job.task.runs() * agents.len();
    let wave = (WAVE_ROUNDS / rounds).clamp(16, WAVE);
    let mut buffer = vec![Outcome::default(); agents.len() * wave.min(instances)];
    let mut row = vec![Outcome::default(); agents.len()];
    let mut first = 0;
    while first < instances {
        let size = wave.min(instances - first);
        let mut blocks = Vec::new();
        for (agent, outcomes) in agents.iter().zip(buffer.chunks_mut(size)) {
            for (i, block) in outcomes.chunks_mut(job.block).enumerate() {
                blocks.push((agent, (first + i * job.block) as u64, block));
            }
        }
        blocks.into_par_iter().for_each(|(agent, first, block)| agent.rollout(job, first, block));
        for i in 0..size {
            for (agent, outcome) in row.iter_mut().enumerate() {
                *outcome = buffer[agent * size + i];
            }
            each(&row);
        }
        first += size;
        progress(first)?;
    }
    ControlFlow::Continue(())
}
