//! Many instances on all threads, handed back one by one in the order of their index.
//!
//! Threads fill a bounded buffer block by block; what follows reads it in order. So the number of threads, the
//! size of a block and the width of the lanes are not observable, and memory does not grow with the instances.

use crate::registry::Agent;
use crate::simulate::{Job, Outcome, Task};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Instances between two looks at the outcomes, at most; their cost in nanoseconds, so that nobody waits long for
/// a stop; and the numbers of their gradients, so that memory is bounded.
const WAVE: usize = 4096;
const WAVE_COST: f64 = 5e8;
const WAVE_NUMBERS: usize = 1 << 20;

/// Plays every agent on the same `instances`; `each` sees, for each instance, one outcome per agent.
///
/// While a wave is read the next is played. `progress` hears of the instances done so far and may stop the work.
pub fn play(
    agents: &[&dyn Agent],
    job: &Job,
    instances: usize,
    mut each: impl FnMut(&[Outcome]) + Send,
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    play_with_gradients(agents, job, instances, |row, _| each(row), progress)
}

/// The same; `each` also sees the gradient of the first agent, if the job asks for one.
pub fn play_with_gradients(
    agents: &[&dyn Agent],
    job: &Job,
    instances: usize,
    mut each: impl FnMut(&[Outcome], &[f64]) + Send,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let dim = match job.task {
        Task::Evaluate => 0,
        Task::Gradient(..) => agents[0].dim(),
    };
    let cost = job.problem.cost() * (job.task.runs() * agents.len()) as f64;
    let wave = ((WAVE_COST / cost) as usize).min(WAVE_NUMBERS / dim.max(1)).clamp(16, WAVE);
    let size = |first: usize| wave.min(instances.saturating_sub(first));
    let mut row = vec![Outcome::default(); agents.len()];
    let mut now = Wave::new(agents.len(), dim, size(0));
    let mut next = Wave::new(agents.len(), dim, size(0));
    now.simulate(agents, job, 0, size(0));
    let mut first = 0;
    while first < instances {
        let (played, following) = (size(first), first + size(first));
        rayon::join(
            || next.simulate(agents, job, following, size(following)),
            || {
                for i in 0..played {
                    for (agent, outcome) in row.iter_mut().enumerate() {
                        *outcome = now.outcomes[agent * played + i];
                    }
                    each(&row, &now.gradients[i * dim..(i + 1) * dim]);
                }
            },
        );
        std::mem::swap(&mut now, &mut next);
        first = following;
        progress(first)?;
    }
    ControlFlow::Continue(())
}

/// What is known of the instances between two looks.
struct Wave {
    outcomes: Vec<Outcome>,
    /// Of the first agent, `dim` numbers per instance.
    gradients: Vec<f64>,
    dim: usize,
}

impl Wave {
    fn new(agents: usize, dim: usize, size: usize) -> Self {
        Self { outcomes: vec![Outcome::default(); agents * size], gradients: vec![0.0; dim * size], dim }
    }

    /// Plays `size` instances, agent by agent.
    fn simulate(&mut self, agents: &[&dyn Agent], job: &Job, first: usize, size: usize) {
        let mut blocks = Vec::new();
        let mut gradients = self.gradients[..size * self.dim].chunks_mut((job.block * self.dim).max(1));
        for (agent, outcomes) in
            agents.iter().zip(self.outcomes[..agents.len() * size].chunks_mut(size.max(1)))
        {
            for (i, block) in outcomes.chunks_mut(job.block).enumerate() {
                let gradients = gradients.next().unwrap_or_default();
                blocks.push((agent, (first + i * job.block) as u64, block, gradients));
            }
        }
        blocks
            .into_par_iter()
            .for_each(|(agent, first, block, gradients)| agent.rollout(job, first, block, gradients));
    }
}
