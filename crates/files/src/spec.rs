//! The TOML spec: a problem, a policy and how to train it, as the user writes it down.
//!
//! A spec is text first (so that messages can name file, line and key), then plain serde types, then checked
//! problems, policies and settings. What the user leaves out comes from [`defaults`].

mod contextual;
pub mod defaults;
mod policy_file;
mod problem;
mod source;
mod stages;
mod train;

pub use policy_file::{FORMAT, PolicyFile, PolicyRecord, ProblemRecord, TrainingRecord};
pub use problem::{Nested, PerArm, PriorSpec, ProblemSpec};
pub use train::{LearningRate, TrainSpec, Training};

use crate::problem::Problem;
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
        let value = |slot: registry::Slot| {
            let numbers = &choice.params[slot.range];
            let floats = |row: &[f64]| row.iter().map(|&x| toml::Value::Float(x)).collect::<Vec<_>>();
            let value = match slot.shape[..] {
                [_, columns] => numbers.chunks(columns).map(floats).collect::<Vec<_>>().into(),
                _ => toml::Value::Float(numbers[0]),
            };
            (slot.info.name.to_string(), value)
        };
        let settings = choice.settings().map(|(name, value)| (name.to_string(), value.into()));
        // Weights of neural policies are in a file of their own.
        let written = |_: &registry::Slot| choice.info.trainer == registry::Trainer::Score;
        let params = choice.slots().into_iter().filter(written).map(value);
        Self { kind: choice.info.name.into(), values: settings.chain(params).collect() }
    }

    /// The policy, checked against a problem. Errors name keys of this part.
    pub fn choose(&self, problem: &Problem) -> Result<Choice> {
        let at_kind = |error: Error| Error::new("kind", error.message);
        let info = registry::policy(&self.kind).map_err(at_kind)?;
        let mut choice = Choice::initial(info, problem).map_err(at_kind)?;
        // Settings first: which parameters there are depends on them.
        let is_param = |key: &str| info.params.iter().any(|param| param.name == key);
        let (params, settings): (Vec<_>, Vec<_>) = self.values.iter().partition(|(key, _)| is_param(key));
        for (key, value) in settings.into_iter().chain(params) {
            let at_key = |error: Error| Error::new(key.as_str(), error.message);
            let is_matrix = |slot: &registry::Slot| slot.info.name == key && !slot.shape.is_empty();
            choice = match value {
                toml::Value::Array(rows) if choice.slots().iter().any(is_matrix) => {
                    choice.with_param(problem, key, &flattened(rows).map_err(at_key)?).map_err(at_key)?
                }
                value => choice.with(problem, key, &scalar(value).map_err(at_key)?).map_err(at_key)?,
            };
        }
        Ok(choice)
    }
}

fn scalar(value: &toml::Value) -> Result<String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(x) => Ok(x.to_string()),
        toml::Value::Float(x) => Ok(x.to_string()),
        toml::Value::Boolean(x) => Ok(x.to_string()),
        other => Err(Error::new("", format!("found a {}, expected a number or a name", other.type_str()))),
    }
}

/// A list of numbers, or of rows of them.
fn flattened(items: &[toml::Value]) -> Result<Vec<f64>> {
    let mut numbers = Vec::new();
    for item in items {
        match item {
            toml::Value::Integer(x) => numbers.push(*x as f64),
            toml::Value::Float(x) => numbers.push(*x),
            toml::Value::Array(row) => numbers.extend(flattened(row)?),
            other => return Err(Error::new("", format!("found a {}, expected numbers", other.type_str()))),
        }
    }
    Ok(numbers)
}

/// The `[evaluate]` part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateSpec {
    /// How many instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
}

/// A file that a spec names, opened by whoever has access to files.
pub struct DataFile {
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

    /// The problem, and remarks about it; `open` opens the file of a table, whose path is relative to the spec, or
    /// the data set of that name.
    pub fn problem(&self, open: impl FnOnce(&str) -> Result<DataFile>) -> Result<(Problem, Vec<String>)> {
        let blame = |error: Error| self.blame(error.within("problem"));
        let spec = &self.spec.problem;
        let file = match spec.file().map_err(blame)? {
            None => None,
            Some((key, path)) => Some(open(path).map_err(|error| {
                let place = self.source.place(&format!("problem.{key}"));
                Error::new(error.place, format!("{} (named in {place})", error.message))
            })?),
        };
        let name = file.as_ref().map(|file| file.name.clone());
        spec.build(self.source.name(), file).map_err(|error| match name {
            // What is wrong in a table is not in the spec.
            Some(name) if error.place.contains(&name) => {
                Error::new(error.place.trim_start_matches("prior."), error.message)
            }
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
