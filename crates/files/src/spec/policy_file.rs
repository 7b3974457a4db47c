//! `policy.json`: a policy that can be stored, carried elsewhere and played again.

use super::Spec;
use crate::problem::{Contexts, Contextual, Problem, Scaling};
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<f64>,
    /// The safetensors file beside this one that has them instead, for neural policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// What is not learned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl From<&Choice> for PolicyRecord {
    fn from(choice: &Choice) -> Self {
        let (names, shape) =
            choice.slots().into_iter().map(|slot| (slot.info.name.into(), slot.shape)).unzip();
        Self {
            kind: choice.info.name.into(),
            names,
            shape,
            params: choice.params.clone(),
            weights: None,
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
    /// What the user calls the arms; the classes of a labelled table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm_names: Option<Vec<String>>,
    /// d, where there are contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_dim: Option<usize>,
    /// The features of a labelled table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<FeatureRecord>>,
}

/// A feature, and how the policy sees it: (raw - shift) * factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureRecord {
    /// Its column.
    pub name: String,
    /// What is subtracted first.
    pub shift: f64,
    /// What the rest is multiplied by; 0 for a constant feature.
    pub factor: f64,
}

impl From<&Problem> for ProblemRecord {
    fn from(problem: &Problem) -> Self {
        let contextual = problem.contextual();
        let features = match contextual.map(|contextual| &contextual.source) {
            Some(Contexts::Classification(set)) => {
                let columns = set.examples.feature_names().iter().zip(set.examples.scaling());
                let record = |(name, scaling): (&String, &Scaling)| FeatureRecord {
                    name: name.clone(),
                    shift: scaling.shift,
                    factor: scaling.factor,
                };
                Some(columns.map(record).collect())
            }
            _ => None,
        };
        Self {
            name: problem.name.clone(),
            kind: problem.kind().into(),
            arms: problem.arms,
            horizon: problem.horizon,
            arm_names: problem.arm_names.clone(),
            context_dim: contextual.map(Contextual::dim),
            features,
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
        self.check_features(problem)?;
        let mut choice = initial;
        for (key, value) in &self.policy.settings {
            choice = choice
                .with(problem, key, value)
                .map_err(|error| Error::new(format!("policy.settings.{key}"), error.message))?;
        }
        let names: Vec<_> = choice.slots().iter().map(|slot| slot.info.name).collect();
        if self.policy.names != names {
            let message = format!("found {:?}, expected {names:?} for {}", self.policy.names, info.name);
            return Err(Error::new("policy.names", message));
        }
        choice
            .with_params(problem, &self.policy.params)
            .map_err(|error| Error::new("policy.params", error.message))
    }

    /// A projection learned for some features says nothing about others.
    fn check_features(&self, problem: &Problem) -> Result<()> {
        let theirs = ProblemRecord::from(problem);
        if self.problem.context_dim != theirs.context_dim {
            let dim = |dim: Option<usize>| dim.map_or("none".into(), |dim| dim.to_string());
            let message = format!(
                "the policy is for {} features, but {} has {}",
                dim(self.problem.context_dim),
                problem.name,
                dim(theirs.context_dim)
            );
            return Err(Error::new("problem.context_dim", message));
        }
        if let (Some(ours), Some(theirs)) = (&self.problem.features, &theirs.features)
            && let Some((our, their)) = ours.iter().zip(theirs).find(|(our, their)| our.name != their.name)
        {
            let message = format!(
                "the policy has a feature '{}' where {} has '{}'",
                our.name, problem.name, their.name
            );
            return Err(Error::new("problem.features", message));
        }
        Ok(())
    }
}
