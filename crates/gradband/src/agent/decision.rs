//! What an agent is asked, and what it answers.

use super::context::Context;
use super::ledger::Counts;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A request for a decision; everything may be left out.
///
/// ```
/// use gradband::Pull;
/// let pull = Pull { unit: Some("visitor 17".into()), ..Pull::context([0.3, 1.0]) };
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pull {
    /// What is known of the round.
    pub context: Context,
    /// The arms that may be pulled; all active ones if not said.
    pub arms: Option<Vec<String>>,
    /// An id for the decision; one is made if not said. Asked again with the same id, the agent gives the same answer.
    pub id: Option<String>,
    /// Whom the decision is for: the same unit draws the same number every time.
    pub unit: Option<String>,
    /// The time in seconds, from any beginning; needed where decisions have windows.
    pub at: Option<f64>,
}

impl Pull {
    /// A request in a context.
    pub fn context(context: impl Into<Context>) -> Self {
        Self { context: context.into(), ..Self::default() }
    }

    /// A request at a time.
    pub fn at(at: f64) -> Self {
        Self { at: Some(at), ..Self::default() }
    }
}

/// Which arm, with which probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// By which its reward is reported.
    pub id: String,
    /// The name of the arm.
    pub arm: Arc<str>,
    /// Its number among the arms of the agent.
    pub index: usize,
    /// The exact probability with which it was drawn.
    pub probability: f64,
    /// How many decisions came before.
    pub round: u64,
    /// The version of the policy.
    pub version: Arc<str>,
    /// When its window closes, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// A row of a log: a decision and what became of it. Rows of any log warm an agent up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// The id of the decision.
    pub id: String,
    /// How many decisions came before.
    pub round: u64,
    /// The arm.
    pub arm: String,
    /// The probability with which it was drawn.
    pub probability: f64,
    /// The version of the policy.
    pub version: String,
    /// What was known of the round, raw.
    pub context: Context,
    /// The reward that counts, if there is one.
    pub reward: Option<f64>,
    /// A reward that came too late to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<f64>,
    /// Was it withdrawn?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

/// What happens after the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum After {
    /// The policy goes on, if its rule has a meaning there; else as [`After::Commit`].
    Continue,
    /// The arm with the best mean, for good.
    Commit,
    /// A new problem begins: the statistics are forgotten.
    Restart,
    /// Decisions are refused.
    Stop,
}

/// What an agent knows of an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ArmStats {
    /// Its name.
    pub name: Arc<str>,
    /// May it be pulled?
    pub active: bool,
    /// Pulls whose rewards are known.
    pub pulls: u64,
    /// Pulls that wait for their rewards.
    pub pending: u64,
    /// The sum of the rewards.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
    /// Their mean, if there are any.
    pub mean: Option<f64>,
}

/// What an agent has done so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// The policy's name.
    pub policy: String,
    /// Its version.
    pub version: Arc<str>,
    /// Decisions that count in this problem.
    pub round: u64,
    /// The number of rounds that the policy was trained for; the most that were simulated, if the end was unknown.
    pub horizon: u64,
    /// Decisions made, ever.
    pub decisions: u64,
    /// Decisions that wait for their rewards.
    pub pending: u64,
    /// How often what happened.
    #[serde(flatten)]
    pub counts: Counts,
    /// The arms.
    pub arms: Vec<ArmStats>,
}
