//! The TOML spec: a problem, a policy and how to train it, as the user writes it down.
//!
//! A spec is text first (so that messages can name file, line and key), then plain serde types, then checked
//! problems, policies and settings. What the user leaves out comes from [`defaults`].

pub mod defaults;
mod policy_file;
mod problem;
mod source;
mod train;

pub use policy_file::{FORMAT, PolicyFile, PolicyRecord, ProblemRecord, TrainingRecord};
pub use problem::{PerArm, PriorSpec, ProblemSpec};
pub use train::{LearningRate, TrainSpec, Training};

use crate::problem::{Problem, Table};
use crate::registry::{self, Choice};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use source::Source;
use std::collections::BTreeMap;
use std::io::Read;

/// What a spec file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What is simulated.
    pub problem: ProblemSpec,
    /// What plays; training starts there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySpec>,
    /// How it learns.
    #[serde(default)]
    pub train: TrainSpec,
    /// How it is measured.
    #[serde(default)]
    pub evaluate: EvaluateSpec,
}

/// The `[policy]` part: a name, then parameters and settings by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySpec {
    /// A name in the registry.
    pub kind: String,
    /// Parameters and settings.
    #[serde(flatten)]
    pub values: BTreeMap<String, toml::Value>,
}

impl PolicySpec {
    /// What a spec would say of a policy.
    pub fn of(choice: &Choice) -> Self {
        let params = choice.info.params.iter().zip(&choice.params);
        let params = params.map(|(info, &x)| (info.name.to_string(), toml::Value::Float(x)));
        let settings = choice.settings().map(|(name, value)| (name.to_string(), value.into()));
        Self { kind: choice.info.name.into(), values: params.chain(settings).collect() }
    }

    /// The policy, checked against a problem. Errors name keys of this part.
    pub fn choose(&self, problem: &Problem) -> Result<Choice> {
        let at_kind = |error: Error| Error::new("kind", error.message);
        let info = registry::policy(&self.kind).map_err(at_kind)?;
        let mut choice = Choice::initial(info, problem).map_err(at_kind)?;
        for (key, value) in &self.values {
            let text = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(x) => x.to_string(),
                toml::Value::Float(x) => x.to_string(),
                other => {
                    let message = format!("found a {}, expected a number or a name", other.type_str());
                    return Err(Error::new(key, message));
                }
            };
            choice =
                choice.with(problem, key, &text).map_err(|error| Error::new(key.as_str(), error.message))?;
        }
        Ok(choice)
    }
}

/// The `[evaluate]` part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateSpec {
    /// How many instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
}

/// A table that a spec names, opened by whoever has access to files.
pub struct TableFile {
    /// What messages call it.
    pub name: String,
    /// Its bytes.
    pub reader: Box<dyn Read>,
}

/// A spec and the text it came from.
#[derive(Clone, Debug)]
pub struct SpecFile {
    /// What it says.
    pub spec: Spec,
    source: Source,
}

impl SpecFile {
    /// Reads a spec; `name` is what messages call the file.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let source = Source::new(text, name);
        let spec: Spec = toml::from_str(text).map_err(|error| source.explain(&error))?;
        let file = Self { spec, source };
        file.check_counts()?;
        Ok(file)
    }

    fn check_counts(&self) -> Result<()> {
        for (key, count) in [
            ("evaluate.instances", self.spec.evaluate.instances),
            ("train.eval_instances", self.spec.train.eval_instances),
        ] {
            let count = count.unwrap_or(defaults::INSTANCES);
            defaults::check_instances(key, count).map_err(|error| self.blame(error))?;
        }
        Ok(())
    }

    /// The same error, its key now with file and line.
    pub fn blame(&self, error: Error) -> Error {
        Error::new(self.source.place(&error.place), error.message)
    }

    /// The problem; `open` opens the file of a table prior, whose path is relative to the spec.
    pub fn problem(&self, open: impl FnOnce(&str) -> Result<TableFile>) -> Result<Problem> {
        let blame = |error: Error| self.blame(error.within("problem"));
        let spec = &self.spec.problem;
        let named = spec.prior.table().map_err(|error| blame(error.within("prior")))?;
        let (file, table) = match named {
            None => (None, None),
            Some((path, holdout)) => {
                let file = open(path).map_err(|error| {
                    let place = self.source.place("problem.prior.path");
                    Error::new(error.place, format!("{} (named in {place})", error.message))
                })?;
                let table = Table::read(file.reader, &file.name, holdout)?;
                (Some(file.name), Some(table))
            }
        };
        spec.build(self.source.name(), table).map_err(|error| match file {
            Some(file) if error.place.starts_with(&file) => error,
            _ => blame(error),
        })
    }

    /// The policy, if the spec names one.
    pub fn policy(&self, problem: &Problem) -> Result<Option<Choice>> {
        let choose =
            |policy: &PolicySpec| policy.choose(problem).map_err(|error| self.blame(error.within("policy")));
        self.spec.policy.as_ref().map(choose).transpose()
    }
}

#[cfg(test)]
mod tests;
