//! `policy.json`: a policy that can be stored, carried elsewhere and played again.

use super::Spec;
use crate::problem::Problem;
use crate::registry::{self, Choice};
use crate::train::StopReason;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format's number: a reader refuses others.
pub const FORMAT: u32 = 1;

/// A policy and where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PolicyFile {
    /// [`FORMAT`].
    pub gradband: u32,
    /// The policy.
    pub policy: PolicyRecord,
    /// What it was trained for.
    pub problem: ProblemRecord,
    /// How it was trained; not needed to play it.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingRecord>,
}

/// A policy as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Its name in the registry.
    pub kind: String,
    /// Its parameters' names.
    pub names: Vec<String>,
    /// For each name its dimensions: an empty list is a number.
    pub shape: Vec<Vec<usize>>,
    /// All numbers, in the order of the names, matrices row by row.
    pub params: Vec<f64>,
    /// What is not learned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl From<&Choice> for PolicyRecord {
    fn from(choice: &Choice) -> Self {
        Self {
            kind: choice.info.name.into(),
            names: choice.info.params.iter().map(|info| info.name.into()).collect(),
            shape: vec![Vec::new(); choice.info.params.len()],
            params: choice.params.clone(),
            settings: choice.settings().map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }
}

/// A problem in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemRecord {
    /// Its name, or the path of its spec.
    pub name: String,
    /// The reward model.
    pub kind: String,
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: usize,
    /// What the user calls the arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm_names: Option<Vec<String>>,
}

impl From<&Problem> for ProblemRecord {
    fn from(problem: &Problem) -> Self {
        Self {
            name: problem.name.clone(),
            kind: problem.kind().into(),
            arms: problem.arms,
            horizon: problem.horizon,
            arm_names: problem.arm_names.clone(),
        }
    }
}

/// How a policy was trained.
#[derive(Clone, Debug, Serialize)]
pub struct TrainingRecord {
    /// Everything that was asked for, defaults included.
    pub spec: Spec,
    /// The seed.
    pub seed: u64,
    /// gradband's version.
    pub version: String,
    /// Iterations done.
    pub iterations: usize,
    /// Why it ended.
    pub stop_reason: StopReason,
}

impl PolicyFile {
    /// The policy, checked against the problem it is to play. Errors name keys of the file.
    pub fn choose(&self, problem: &Problem) -> Result<Choice> {
        let info =
            registry::policy(&self.policy.kind).map_err(|error| Error::new("policy.kind", error.message))?;
        if self.problem.arms != problem.arms {
            let message = format!(
                "the policy is for {} arms, but {} has {}",
                self.problem.arms, problem.name, problem.arms
            );
            return Err(Error::new("problem.arms", message));
        }
        let initial =
            Choice::initial(info, problem).map_err(|error| Error::new("policy.kind", error.message))?;
        let names: Vec<_> = info.params.iter().map(|param| param.name).collect();
        if self.policy.names != names {
            let message = format!("found {:?}, expected {names:?} for {}", self.policy.names, info.name);
            return Err(Error::new("policy.names", message));
        }
        let mut choice = initial
            .with_params(problem, &self.policy.params)
            .map_err(|error| Error::new("policy.params", error.message))?;
        for (key, value) in &self.policy.settings {
            choice = choice
                .with(problem, key, value)
                .map_err(|error| Error::new(format!("policy.settings.{key}"), error.message))?;
        }
        Ok(choice)
    }
}
