//! What a job adds to its client's observer: a time limit, and iterates to show.

use gradband::{Iteration, Observer, Progress, StopReason};
use std::ops::ControlFlow;
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
}

impl Watch {
    pub(crate) fn new(client: Box<dyn Observer>, every: usize, seconds: Option<f64>) -> Self {
        let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { client, deadline, every, kept: Vec::new() }
    }

    pub(crate) fn into_iterates(self) -> Vec<Iterate> {
        self.kept
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        self.client.progress(progress)?;
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => ControlFlow::Break(StopReason::Time),
            _ => ControlFlow::Continue(()),
        }
    }

    fn iteration(&mut self, record: &Iteration, params: &[f64]) {
        if self.every > 0 && (record.iteration == 1 || record.iteration.is_multiple_of(self.every)) {
            self.kept.push(Iterate { iteration: record.iteration, params: params.to_vec() });
        }
        self.client.iteration(record, params);
    }
}
