//! What training leaves.

use super::trouble::Trouble;
use crate::observe::Iteration;
use crate::policy::{Choice, Policy};
use crate::stop::StopReason;
use std::fmt::{self, Display, Formatter};

/// What training leaves: the policy that is handed out, and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    pub(super) handed_out: Policy,
    pub(super) initial: Choice,
    pub(super) start: Option<Choice>,
    pub(super) policy: Choice,
    pub(super) last: Choice,
    pub(super) learning_rate: Option<f64>,
    pub(super) history: Vec<Iteration>,
    pub(super) stop_reason: StopReason,
    pub(super) troubles: Vec<Trouble>,
}

impl Trained {
    pub(super) fn new(initial: Choice, policy: Choice, last: Choice) -> Self {
        let handed_out = policy.policy();
        let (learning_rate, history, stop_reason) = (None, Vec::new(), StopReason::Iterations);
        let troubles = Vec::new();
        let start = None;
        Self { handed_out, initial, start, policy, last, learning_rate, history, stop_reason, troubles }
    }

    /// The policy that is handed out.
    pub fn policy(&self) -> &Policy {
        &self.handed_out
    }

    /// The same on the problem it was trained on.
    pub fn choice(&self) -> &Choice {
        &self.policy
    }

    /// The policy before training: of a network, with its random weights.
    pub fn initial(&self) -> &Choice {
        &self.initial
    }

    /// Where the ascent started, if that was not there: at what the history says.
    pub fn start(&self) -> Option<&Choice> {
        self.start.as_ref()
    }

    /// The last iterate.
    pub fn last(&self) -> &Choice {
        &self.last
    }

    /// The rate of the first iteration, if there was one.
    pub fn learning_rate(&self) -> Option<f64> {
        self.learning_rate
    }

    /// One record per iteration.
    pub fn history(&self) -> &[Iteration] {
        &self.history
    }

    /// What whoever uses the policy should know of its training; nothing if it went well.
    pub fn troubles(&self) -> &[Trouble] {
        &self.troubles
    }

    /// Why it ended.
    pub fn stop_reason(&self) -> StopReason {
        self.stop_reason
    }
}

impl Display for Trained {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} after {} iterations ({})", self.handed_out, self.history.len(), self.stop_reason)
    }
}
