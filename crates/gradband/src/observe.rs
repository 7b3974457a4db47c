//! Watching long work: its progress, and a way to stop it.
//!
//! Used by every room. One trait instead of a closure for each kind of work; `()` watches nothing.

mod crew;

pub use crew::Crew;

use crate::error::{Error, ErrorKind, Result};
use crate::stop::StopReason;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;

/// How far a piece of work has come, as an [`Observer`] is told.
///
/// ```
/// use gradband::{Observer, Problem, Progress, Simulator, StopReason};
/// use std::ops::ControlFlow;
///
/// /// A progress bar in words.
/// struct Bar(Vec<String>);
/// impl Observer for Bar {
///     fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
///         let Progress { what, unit, done, total, .. } = progress;
///         self.0.push(format!("{what}: {done} of {total} {unit}"));
///         ControlFlow::Continue(())
///     }
/// }
/// let (problem, mut bar) = (Problem::named("bernoulli-2")?, Bar(Vec::new()));
/// Simulator::new(&problem).instances(100).compare_observed(["ucb1"], &mut bar)?;
/// assert_eq!(bar.0.last().unwrap(), "evaluating: 100 of 100 instances");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// What is being done: `evaluating`, `preparing`.
    pub what: &'a str,
    /// What is counted: `instances`, `states`.
    pub unit: &'static str,
    /// How many of them are done.
    pub done: u64,
    /// How many there are in all.
    pub total: u64,
}

impl<'a> Progress<'a> {
    /// So much of so much.
    pub fn new(what: &'a str, unit: &'static str, done: u64, total: u64) -> Self {
        Self { what, unit, done, total }
    }
}

/// The record of one iteration of a training: the parameters after it, and the gradient that led there.
///
/// ```
/// use gradband::{Problem, Trainer};
/// let trained = Trainer::new("softelim").iterations(20).train(&Problem::named("bernoulli-2")?)?;
/// let last = &trained.history()[19];
/// assert_eq!((last.iteration, last.params.as_deref()), (20, Some(trained.last().params())));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// The number of the iteration, counted from 1.
    pub iteration: usize,
    /// The parameters after it; left out if there are more than [`Self::MOST_PARAMS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<f64>>,
    /// The length of the gradient in the coordinates of training, before clipping. A search and Q-learning have none.
    pub gradient_norm: Option<f64>,
    /// The mean loss of Q-learning since the record before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

impl Iteration {
    /// Records of trainings with more parameters than this leave them out.
    pub const MOST_PARAMS: usize = 64;

    pub(crate) fn new(iteration: usize, params: &[f64], gradient_norm: Option<f64>) -> Self {
        let params = (params.len() <= Self::MOST_PARAMS).then(|| params.to_vec());
        // A gradient that overflowed has no length.
        Self { iteration, params, gradient_norm: gradient_norm.filter(|norm| norm.is_finite()), loss: None }
    }
}

/// Watches a training or a simulation, and may stop it. Its methods do nothing by default.
///
/// ```
/// use gradband::{Iteration, Observer, Problem, Trainer};
/// struct Count(usize);
/// impl Observer for Count {
///     fn iteration(&mut self, _: &Iteration, _: &[f64]) {
///         self.0 += 1;
///     }
/// }
/// let mut count = Count(0);
/// Trainer::new("softelim").iterations(5).train_observed(&Problem::named("bernoulli-2")?, &mut count)?;
/// assert_eq!(count.0, 5);
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait Observer {
    /// Called several times a second; `Break` stops the work for the reason it carries.
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        ControlFlow::Continue(())
    }

    /// Called after each iteration of a training, with its record and all parameters.
    fn iteration(&mut self, _: &Iteration, _: &[f64]) {}

    /// Called where a training could go on another time from what `state` gives, which may be large: for whoever wants to keep
    /// it now and then under the name of the step, in the place of what was kept before.
    fn offer(&mut self, _step: &str, _state: &dyn Fn() -> Vec<u8>) {}

    /// The same at the end of a step. What was kept of steps within it, whose names begin with its own and a slash, will not be
    /// asked for again.
    fn keep(&mut self, _step: &str, _state: &dyn Fn() -> Vec<u8>) {}

    /// What was kept of a step by an earlier run of the same training: the same policy, problem, options and seed. The result
    /// has then the bits of a training that was never broken off.
    fn recall(&mut self, _step: &str) -> Option<Vec<u8>> {
        None
    }

    /// Who simulates in the place of this process's threads, if anybody does.
    fn crew(&self) -> Option<Arc<dyn Crew>> {
        None
    }
}

/// Ignores everything.
impl Observer for () {}

/// Work that is done even if the observer wants to stop: it is short, and what was learned is lost without it.
pub(crate) struct Unstoppable<'a>(pub &'a mut dyn Observer);

impl Observer for Unstoppable<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        let _ = self.0.progress(progress);
        ControlFlow::Continue(())
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.0.crew()
    }
}

/// What was found, or why the observer stopped the search for it; other errors stay errors.
pub(crate) fn unless_stopped<T>(found: Result<T>) -> Result<std::result::Result<T, StopReason>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(error) => error.stopped().map_or(Err(error), |reason| Ok(Err(reason))),
    }
}

/// Asks the observer whether to go on.
pub(crate) fn go_on(
    observer: &mut dyn Observer,
    what: &str,
    unit: &'static str,
    done: u64,
    total: u64,
) -> Result<()> {
    match observer.progress(Progress::new(what, unit, done, total)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(reason) => Err(Error::of("", ErrorKind::Stopped(reason))),
    }
}
