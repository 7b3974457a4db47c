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
/// While a wave is read the next is played. `progress` hears of the instances done so far and may stop the work.
pub fn play(
    agents: &[&dyn Agent],
    job: &Job,
    instances: usize,
    mut each: impl FnMut(&[Outcome]) + Send,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let rounds = job.problem.horizon * job.task.runs() * agents.len();
    let wave = (WAVE_ROUNDS / rounds).clamp(16, WAVE);
    let size = |first: usize| wave.min(instances.saturating_sub(first));
    let mut row = vec![Outcome::default(); agents.len()];
    let mut now = vec![Outcome::default(); agents.len() * size(0)];
    let mut next = now.clone();
    simulate(agents, job, 0, size(0), &mut now);
    let mut first = 0;
    while first < instances {
        let (played, following) = (size(first), first + size(first));
        rayon::join(
            || simulate(agents, job, following, size(following), &mut next),
            || {
                for i in 0..played {
                    for (agent, outcome) in row.iter_mut().enumerate() {
                        *outcome = now[agent * played + i];
                    }
                    each(&row);
                }
            },
        );
        std::mem::swap(&mut now, &mut next);
        first = following;
        progress(first)?;
    }
    ControlFlow::Continue(())
}

/// Fills the buffer with the outcomes of `size` instances, agent by agent.
fn simulate(agents: &[&dyn Agent], job: &Job, first: usize, size: usize, buffer: &mut [Outcome]) {
    let mut blocks = Vec::new();
    for (agent, outcomes) in agents.iter().zip(buffer[..agents.len() * size].chunks_mut(size.max(1))) {
        for (i, block) in outcomes.chunks_mut(job.block).enumerate() {
            blocks.push((agent, (first + i * job.block) as u64, block));
        }
    }
    blocks.into_par_iter().for_each(|(agent, first, block)| agent.rollout(job, first, block));
}
