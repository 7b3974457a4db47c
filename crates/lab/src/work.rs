//! What a unit of an experiment computes: plain data, which is the setting of its record.

use crate::problems::ProblemSource;
use crate::transfer::Transfer;
use gradband_files::TrainSpec;
use serde::{Deserialize, Serialize};

/// The work of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    /// Trains a policy; measures iterates on the way and the policy at the end.
    Train(Box<Train>),
    /// Plays policies on common instances.
    Play(Play),
    /// Trains a policy on several problems, and plays what was learned on one.
    Transfer(Box<Transfer>),
    /// Estimates the gradient at a policy's parameters with several baselines.
    Gradient(Gradient),
    /// Computes a regret without sampling error.
    Exact {
        /// The problem that is played.
        problem: ProblemSource,
        /// The policy, with its parameters.
        policy: String,
    },
    /// Computes a matrix to look at.
    Matrix {
        /// A problem with contexts.
        problem: ProblemSource,
        /// `covariance` of the arms' parameters, or a policy `mom-thompson(…)` for its projection.
        of: String,
    },
    /// Looks up the size of a data set.
    Size {
        /// The data set.
        problem: ProblemSource,
    },
    /// Computes a table of Gittins indices, for the time it takes.
    Gittins {
        /// The longest horizon of the table.
        horizon: usize,
    },
}

impl From<Train> for Work {
    fn from(train: Train) -> Self {
        Self::Train(Box::new(train))
    }
}

impl From<Transfer> for Work {
    fn from(transfer: Transfer) -> Self {
        Self::Transfer(Box::new(transfer))
    }
}

impl Work {
    /// The problem that the work is about, if there is one.
    pub fn problem(&self) -> Option<&ProblemSource> {
        match self {
            Self::Train(train) => Some(&train.problem),
            Self::Play(play) => Some(&play.problem),
            Self::Transfer(transfer) => Some(&transfer.problem),
            Self::Gradient(gradient) => Some(&gradient.problem),
            Self::Exact { problem, .. } | Self::Matrix { problem, .. } | Self::Size { problem } => {
                Some(problem)
            }
            Self::Gittins { .. } => None,
        }
    }
}

/// A training, and what is measured of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Train {
    /// The problem that the policy is trained and measured on.
    pub problem: ProblemSource,
    /// The policy that training starts from.
    pub policy: String,
    /// How it is trained.
    pub train: TrainSpec,
    /// The iterations after which regret is measured; 0 is before the first.
    pub at: Vec<usize>,
    /// The number of instances of each of these measurements.
    pub instances: usize,
    /// The number of instances on which the initial policy and the one handed out are measured.
    pub final_instances: usize,
    /// After how many rounds the regret of the policy that is handed out is measured, in the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<usize>,
    /// Other problems on which the policy that is handed out is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<ProblemSource>,
}

/// Policies that play on common instances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Play {
    /// The problem that they play.
    pub problem: ProblemSource,
    /// The policies, with their parameters.
    pub policies: Vec<String>,
    /// The number of instances.
    pub instances: usize,
    /// After how many rounds regret is measured on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<usize>,
    /// The number of instances of the measurements on the way.
    #[serde(default)]
    pub round_instances: usize,
}

/// Gradients of one policy, by several baselines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    /// The problem that the policy plays.
    pub problem: ProblemSource,
    /// The policy, with its parameter.
    pub policy: String,
    /// The baselines, by name.
    pub baselines: Vec<String>,
    /// The number of instances of each estimate (the paper's m).
    pub batch_size: usize,
    /// The number of instances on which the policy's regret is measured.
    pub instances: usize,
}
