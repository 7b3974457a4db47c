//! What a job adds to its client's observer: a time limit, and iterates to show.

use gradband::{Crew, Iteration, Observer, Progress, StopReason};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The parameters after an iteration.
#[derive(Clone, Debug)]
pub struct Iterate {
    /// Counted from 1.
    pub iteration: usize,
    /// All of them.
    pub params: Vec<f64>,
}

/// Watches a training: keeps the first iterate and then every `every`-th one (none if it is 0), and stops after a while.
pub(crate) struct Watch {
    client: Box<dyn Observer>,
    deadline: Option<Instant>,
    every: usize,
    kept: Vec<Iterate>,
    /// Steps whose iterates are kept with them.
    iterating: BTreeSet<String>,
    /// What comes after a stop is not what training would have come to.
    stopped: bool,
}

impl Watch {
    pub(crate) fn new(client: Box<dyn Observer>, every: usize, seconds: Option<f64>) -> Self {
        let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { client, deadline, every, kept: Vec::new(), iterating: BTreeSet::new(), stopped: false }
    }

    pub(crate) fn into_iterates(self) -> Vec<Iterate> {
        self.kept
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        let going = match (self.client.progress(progress), self.deadline) {
            (ControlFlow::Continue(()), Some(deadline)) if Instant::now() >= deadline => {
                ControlFlow::Break(StopReason::Time)
            }
            (going, _) => going,
        };
        self.stopped |= going.is_break();
        going
    }

    fn iteration(&mut self, record: &Iteration, params: &[f64]) {
        let due = self.every > 0 && (record.iteration == 1 || record.iteration.is_multiple_of(self.every));
        // A search that is resumed goes its way again.
        if due && self.kept.last().is_none_or(|last| last.iteration < record.iteration) {
            self.kept.push(Iterate { iteration: record.iteration, params: params.to_vec() });
        }
        self.client.iteration(record, params);
    }

    fn offer(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        if !self.stopped {
            self.iterating.insert(step.into());
            self.client.offer(step, &|| with(&self.kept, state()));
        }
    }

    fn keep(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        let iterates = if self.iterating.contains(step) { &self.kept[..] } else { &[] };
        if !self.stopped {
            self.client.keep(step, &|| with(iterates, state()));
        }
    }

    fn recall(&mut self, step: &str) -> Option<Vec<u8>> {
        let known = self.client.recall(step)?;
        let mut rest = &known[..];
        let iterates = taken(&mut rest)?;
        if !iterates.is_empty() {
            self.iterating.insert(step.into());
            self.kept = iterates;
        }
        Some(rest.to_vec())
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.client.crew()
    }
}

/// Iterates, and the state of the training after them, as bytes.
fn with(iterates: &[Iterate], state: Vec<u8>) -> Vec<u8> {
    let mut all = (iterates.len() as u64).to_le_bytes().to_vec();
    for Iterate { iteration, params } in iterates {
        all.extend((*iteration as u64).to_le_bytes());
        all.extend((params.len() as u64).to_le_bytes());
        all.extend(params.iter().flat_map(|x| x.to_le_bytes()));
    }
    all.extend(state);
    all
}

fn taken(from: &mut &[u8]) -> Option<Vec<Iterate>> {
    let count = number(from)?;
    let iterate = |_| {
        let (iteration, len) = (number(from)?, number(from)?);
        let (params, rest) = from.split_at_checked(len.checked_mul(8)?)?;
        *from = rest;
        let params = params.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)).collect();
        Some(Iterate { iteration, params })
    };
    (0..count).map(iterate).collect()
}

fn number(from: &mut &[u8]) -> Option<usize> {
    let (number, rest) = from.split_first_chunk()?;
    *from = rest;
    u64::from_le_bytes(*number).try_into().ok()
}
