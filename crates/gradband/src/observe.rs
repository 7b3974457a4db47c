//! Who watches: progress of long work, and a way to stop it.
//!
//! Used by every room. One trait instead of a closure for each kind of work; `()` watches nothing.

use crate::error::{Error, ErrorKind, Result};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;

/// How far a piece of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// What is being done: `evaluating`, `preparing`.
    pub what: &'a str,
    /// What is counted: `instances`, `states`.
    pub unit: &'static str,
    /// How many of them are done.
    pub done: u64,
    /// Out of how many.
    pub total: u64,
}

/// Why work ended before it was done, or a training when it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// All iterations are done.
    Iterations,
    /// The user said so.
    Interrupted,
    /// The time limit.
    Time,
    /// No step is left to make.
    Converged,
}

impl Display for StopReason {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Iterations => "all iterations are done",
            Self::Interrupted => "interrupted",
            Self::Time => "out of time",
            Self::Converged => "converged",
        })
    }
}

/// One iteration of a training: the parameters after it, and what led there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// 1-based.
    pub iteration: usize,
    /// Left out above [`Self::MOST_PARAMS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<f64>>,
    /// Length of the gradient in the coordinates of training, before clipping; none without a gradient (a search,
    /// Q-learning).
    pub gradient_norm: Option<f64>,
    /// Mean loss since the record before, of Q-learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

impl Iteration {
    /// With more parameters than this, records leave them out.
    pub const MOST_PARAMS: usize = 64;

    pub(crate) fn new(iteration: usize, params: &[f64], gradient_norm: Option<f64>) -> Self {
        let params = (params.len() <= Self::MOST_PARAMS).then(|| params.to_vec());
        // A gradient that overflowed has no length.
        Self { iteration, params, gradient_norm: gradient_norm.filter(|norm| norm.is_finite()), loss: None }
    }
}

/// Hears how far work is, and may stop it. Both methods do nothing unless they are given.
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
    /// Asked often; `Break` stops the work, for the reason it carries.
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        ControlFlow::Continue(())
    }

    /// After each iteration of a training, with all parameters that it left.
    fn iteration(&mut self, _: &Iteration, _: &[f64]) {}
}

/// Watches nothing.
impl Observer for () {}

/// Asks the observer whether to go on.
pub(crate) fn go_on(
    observer: &mut dyn Observer,
    what: &str,
    unit: &'static str,
    done: u64,
    total: u64,
) -> Result<()> {
    match observer.progress(Progress { what, unit, done, total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(reason) => Err(Error::of("", ErrorKind::Stopped(reason))),
    }
}
