//! Where the plain engine's means and rewards come from, with or without contexts.

use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use crate::problem::{Armed, Instance, RewardModel};
use crate::simulate::instances;
use crate::simulate::job::Job;

/// Where means and rewards come from.
pub(super) enum Source<'a> {
    Arms { armed: &'a Armed, means: &'a [f64], words: Stream<One<f64>>, best: usize, offset: f64 },
    Contexts(&'a Instance),
}

/// One round of it.
pub(super) struct Now<'a> {
    pub context: &'a [f32],
    word: Option<<One<f64> as crate::numeric::lanes::Real>::Word>,
    pub best: usize,
}

fn largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (arm, value) in values.enumerate() {
        best = if value > best.1 { (arm, value) } else { best };
    }
    best.0
}

impl<'a> Source<'a> {
    pub fn arms(job: &Job, armed: &'a Armed, index: u64, means: &'a [f64]) -> Self {
        let best = largest(means.iter().copied());
        let offset = instances::offset(job.task, One(means[best])).0;
        Self::Arms { armed, means, words: Stream::new((), job.reward_key(), index), best, offset }
    }

    #[inline(always)]
    pub fn advance(&mut self, job: &Job, t: usize) -> Now<'a> {
        match self {
            Self::Arms { words, best, .. } => {
                Now { context: &[], word: Some(words.next_word()), best: *best }
            }
            Self::Contexts(instance) => {
                let arms = job.problem.arms;
                let means = &instance.means[t * arms..(t + 1) * arms];
                let best = largest(means.iter().map(|&x| f64::from(x)));
                Now { context: self.context(job, t), word: None, best }
            }
        }
    }

    /// What a round shows.
    #[inline(always)]
    pub fn context(&self, job: &Job, t: usize) -> &'a [f32] {
        match self {
            Self::Arms { .. } => &[],
            Self::Contexts(instance) => {
                let dim = instance.contexts.len() / job.problem.horizon;
                &instance.contexts[t * dim..(t + 1) * dim]
            }
        }
    }

    /// Mean and reward of an arm.
    #[inline(always)]
    pub fn pull(&self, job: &Job, t: usize, now: &Now, arm: usize) -> (f64, f64) {
        match self {
            Self::Arms { armed, means, .. } => {
                let reward = now
                    .word
                    .map_or(0.0, |word| (&armed.rewards).draw(word, One(arm as f64), One(means[arm])).0);
                (means[arm], reward)
            }
            Self::Contexts(instance) => {
                let at = t * job.problem.arms + arm;
                (f64::from(instance.means[at]), f64::from(instance.rewards[at]))
            }
        }
    }

    /// What returns are measured from.
    #[inline(always)]
    pub fn offset(&self) -> f64 {
        match self {
            Self::Arms { offset, .. } => *offset,
            Self::Contexts(_) => 0.0,
        }
    }
}
