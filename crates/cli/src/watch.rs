//! The one observer: shows how far the library's work is, and stops it for Ctrl-C and at the time limit.

use crate::interrupt;
use crate::progress::Meter;
use gradband::learn::Plan;
use gradband::{Iteration, Observer, Problem, Progress, StopReason};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What is counted before the iterations of a training, or beside them.
const STAGES: [&str; 2] = ["folds", "policies"];

/// Watches a simulation, a dynamic programme or, iteration by iteration, a training.
#[derive(Default)]
pub struct Watch {
    meter: Option<Meter>,
    deadline: Option<Instant>,
    training: Option<Training>,
}

/// The parameters after an iteration.
pub struct Iterate {
    /// Counted from 1.
    pub iteration: usize,
    /// All of them.
    pub params: Vec<f64>,
}

/// What is watched of a training.
struct Training {
    iterations: u64,
    /// Rounds played after so many iterations, where iterations differ in length: recurrent stages grow.
    rounds: Vec<u64>,
    /// Iterates are kept that are this many iterations apart; none at all if it is 0.
    every: usize,
    kept: Vec<Iterate>,
}

impl Watch {
    /// Of a training: keeps the first iterate and then every `every`-th one, and stops
    /// after `limit`.
    pub fn training(plan: &Plan, problem: &Problem, every: usize, limit: Option<Duration>) -> Self {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let iterations = plan.iterations();
        let rounds = match plan {
            Plan::Recurrent(_) => (0..=iterations).map(|done| plan.rounds(done, problem) as u64).collect(),
            _ => Vec::new(),
        };
        let training = Training { iterations: iterations as u64, rounds, every, kept: Vec::new() };
        Self { meter: None, deadline, training: Some(training) }
    }

    /// Of the choice of a policy, which trains many: stops after `limit`.
    pub fn choosing(limit: Option<Duration>) -> Self {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let training = Training { iterations: 0, rounds: Vec::new(), every: 0, kept: Vec::new() };
        Self { meter: None, deadline, training: Some(training) }
    }

    /// The iterates that were kept.
    pub fn into_iterates(self) -> Vec<Iterate> {
        self.training.map_or_else(Vec::new, |training| training.kept)
    }

    fn show(&mut self, what: &str, unit: &'static str, done: u64, total: u64) {
        if !self.meter.as_ref().is_some_and(|meter| meter.measures(what, total)) {
            // What was shown before goes first.
            self.meter = None;
        }
        self.meter.get_or_insert_with(|| Meter::new(what, unit, total)).set(done);
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        let Progress { what, unit, done, total, .. } = progress;
        // The simulations of one iteration say little about how long a training takes.
        if self.training.is_none() || STAGES.contains(&unit) {
            self.show(what, unit, done, total);
        }
        if interrupt::requested() {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => ControlFlow::Break(StopReason::Time),
            _ => ControlFlow::Continue(()),
        }
    }

    fn iteration(&mut self, record: &Iteration, params: &[f64]) {
        let Some(training) = &mut self.training else { return };
        let due =
            training.every > 0 && (record.iteration == 1 || record.iteration.is_multiple_of(training.every));
        if due {
            training.kept.push(Iterate { iteration: record.iteration, params: params.to_vec() });
        }
        let (unit, done, total) = match training.rounds.last() {
            Some(&total) => {
                ("rounds", training.rounds[record.iteration.min(training.rounds.len() - 1)], total)
            }
            None => ("iterations", record.iteration as u64, training.iterations),
        };
        if total > 0 {
            self.show("training", unit, done, total);
        }
    }
}
