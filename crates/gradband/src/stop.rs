//! Why work ended: part of errors, of observers and of what training leaves.

use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Why a training ended, or why an observer stopped other work.
///
/// Training that is stopped hands out what it has learned so far:
///
/// ```
/// use gradband::{Iteration, Observer, Problem, Progress, StopReason, Trainer};
/// use std::ops::ControlFlow;
///
/// /// Stops after ten iterations.
/// struct Ten(usize);
/// impl Observer for Ten {
///     fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
///         if self.0 < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(StopReason::Time) }
///     }
///     fn iteration(&mut self, _: &Iteration, _: &[f64]) {
///         self.0 += 1;
///     }
/// }
/// let trained = Trainer::new("softelim").train_observed(&Problem::named("bernoulli-2")?, &mut Ten(0))?;
/// assert_eq!((trained.stop_reason(), trained.history().len()), (StopReason::Time, 10));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    /// All iterations are done.
    Iterations,
    /// The user interrupted it.
    Interrupted,
    /// The time limit was reached.
    Time,
    /// No step is left that would improve the policy.
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
