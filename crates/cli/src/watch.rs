//! The one observer: shows how far a job is, and stops it for Ctrl-C.

use crate::interrupt::{self, Hold};
use crate::output;
use crate::progress::Meter;
use gradband::learn::Plan;
use gradband::{Iteration, Observer, Progress, StopReason};
use gradband_jobs::{Client, Remark, Work};
use std::ops::ControlFlow;

/// What is counted before the iterations of a training, or beside them.
const STAGES: [&str; 2] = ["folds", "policies"];

/// Whoever sits at the terminal.
pub struct Terminal;

impl Client for Terminal {
    fn watch(&self, work: &Work) -> Box<dyn Observer> {
        Box::new(Watch::of(work))
    }

    fn remark(&self, remark: &Remark) {
        output::note(&remark.to_string());
    }
}

/// Watches a simulation, a dynamic programme or, iteration by iteration, a training.
#[derive(Default)]
pub struct Watch {
    meter: Option<Meter>,
    training: Option<Training>,
    /// The choice of a policy is stopped, not ended.
    _hold: Option<Hold>,
}

/// What is watched of a training; nothing in particular where many are trained.
#[derive(Default)]
struct Training {
    iterations: u64,
    /// Rounds played after so many iterations, where iterations differ in length: recurrent stages grow.
    rounds: Vec<u64>,
}

impl Watch {
    fn of(work: &Work) -> Self {
        match *work {
            Work::Measuring => Self::default(),
            Work::Choosing => Self {
                training: Some(Training::default()),
                _hold: Some(interrupt::hold()),
                ..Self::default()
            },
            Work::Training(plan, problem) => {
                let iterations = plan.iterations();
                let rounds = match plan {
                    Plan::Recurrent(_) => {
                        (0..=iterations).map(|done| plan.rounds(done, problem) as u64).collect()
                    }
                    _ => Vec::new(),
                };
                let training = Training { iterations: iterations as u64, rounds };
                Self { training: Some(training), ..Self::default() }
            }
        }
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
        ControlFlow::Continue(())
    }

    fn iteration(&mut self, record: &Iteration, _: &[f64]) {
        let Some(training) = &self.training else { return };
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
