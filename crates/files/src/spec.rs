//! The TOML spec: a problem, a policy and how to train it, as the user writes it down.
//!
//! A spec is text first (so that messages can name file, line and key), then keys and plain serde types, then checked
//! problems, policies and plans.

mod source;
mod train;

#[cfg(test)]
mod tests;

pub use train::{TrainSpec, Training};

use crate::{read_examples, read_table};
use gradband::measure::check_instances;
use gradband::policy::{Choice, Learns, Slot};
use gradband::problem::{Data, Keys, Scale, Value};
use gradband::{Catalogue, Error, Place, Policy, Problem, Result};
use serde::{Deserialize, Serialize};
use source::Source;
use std::collections::BTreeMap;
use std::io::Read;

/// The problem that `train` takes if none is named: the paper's two-armed Bernoulli.
pub const PROBLEM: &str = "bernoulli-2";
/// Instances of an evaluation.
pub const INSTANCES: usize = 10_000;
/// The part of a table that training does not see.
pub const HOLDOUT: f64 = 0.3;
/// The part of labelled data that training does not see: none, as in the paper.
pub const EXAMPLES_HOLDOUT: f64 = 0.0;
/// The seed.
pub const SEED: u64 = 1;

/// The policy that `train` takes on a problem.
pub fn default_policy(problem: &Problem) -> &'static str {
    if problem.contextual().is_some() { "cosoftelim" } else { "softelim" }
}

/// What a spec file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What is simulated.
    pub problem: Keys,
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
    /// A name in the catalogue.
    pub kind: String,
    /// Parameters and settings.
    #[serde(flatten)]
    pub values: BTreeMap<String, Value>,
}

impl PolicySpec {
    /// What a spec would say of a policy.
    pub fn of(choice: &Choice) -> Self {
        let value = |slot: Slot| {
            let numbers = &choice.params()[slot.range.clone()];
            let value = match slot.shape[..] {
                [_, columns] => Value::rows(numbers, columns),
                [_] => Value::from(numbers),
                _ => Value::Number(numbers[0]),
            };
            (slot.name().to_string(), value)
        };
        let settings = choice.settings().map(|(name, value)| (name.to_string(), Value::Text(value.to_string())));
        // Weights of neural policies are in a file of their own.
        let written = |_: &Slot| choice.kind().learns() == Learns::Score;
        let params = choice.slots().into_iter().filter(written).map(value);
        Self { kind: choice.name().into(), values: settings.chain(params).collect() }
    }

    /// The policy on a problem. Errors name keys of this part.
    pub fn choose(&self, problem: &Problem, catalogue: &Catalogue) -> Result<Choice> {
        let kind = catalogue.kind(&self.kind).map_err(|error| error.at("kind"))?;
        let is_param = |key: &str| kind.params().iter().any(|param| param.name == key);
        let is_setting = |key: &str| kind.settings().iter().any(|setting| setting.name == key);
        let mut policy = Policy::of(kind.clone());
        let mut unknown = None;
        for (key, value) in &self.values {
            policy = match value {
                _ if !is_param(key) && !is_setting(key) => {
                    unknown = unknown.or(Some(key));
                    policy
                }
                Value::List(_) => policy.with_param(key, &value.numbers(key.as_str())?),
                _ if is_setting(key) => policy.with_setting(key, &scalar(key, value)?),
                _ => match value.as_number() {
                    Some(x) => policy.with_param(key, &[x]),
                    None => {
                        let found = scalar(key, value)?;
                        return Err(Error::new(key.as_str(), format!("found '{found}', expected a number")));
                    }
                },
            };
        }
        let choice = policy.on(problem).map_err(|error| {
            let key = error.place().steps().last().cloned();
            match key {
                Some(gradband::Step::Key(key)) if self.values.contains_key(&key) => error.at(Place::key(key)),
                _ => error.at("kind"),
            }
        })?;
        match unknown {
            None => Ok(choice),
            Some(key) => {
                let known = kind.params().iter().map(|param| param.name);
                Err(Error::unknown(key, key, known.chain(kind.settings().iter().map(|setting| setting.name))))
            }
        }
    }
}

fn scalar(key: &str, value: &Value) -> Result<String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Whole(x) => Ok(x.to_string()),
        Value::Number(x) => Ok(x.to_string()),
        Value::Flag(x) => Ok(x.to_string()),
        other => Err(Error::new(key, format!("found {}, expected a number or a name", other.kind()))),
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

/// What a problem needs from a file, by its key, its path and how to read it.
struct Needed<'a> {
    key: &'static str,
    path: &'a str,
    reading: Reading,
}

enum Reading {
    Table { holdout: f64 },
    Examples { label: Option<String>, scale: Scale, holdout: f64 },
}

impl SpecFile {
    /// Reads a spec; `name` is what messages call the file.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let source = Source::new(text, name);
        let spec: Spec = toml::from_str(text).map_err(|error| source.explain(&error))?;
        let file = Self { spec, source };
        for (key, count) in [
            ("evaluate.instances", file.spec.evaluate.instances),
            ("train.eval_instances", file.spec.train.eval_instances),
        ] {
            check_instances(key, count.unwrap_or(INSTANCES)).map_err(|error| file.blame(error))?;
        }
        Ok(file)
    }

    /// What messages call the file.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The same error, its key now with file and line.
    pub fn blame(&self, error: Error) -> Error {
        let place = self.source.place(error.place());
        error.at(place)
    }

    /// The problem, and remarks about it; `open` opens the file of a table, whose path is relative to the spec, or
    /// the data set of that name.
    pub fn problem(&self, open: impl FnOnce(&str) -> Result<DataFile>) -> Result<(Problem, Vec<String>)> {
        let keys = &self.spec.problem;
        let blame = |error: Error| match error.place().is_in_file() {
            // What is wrong in a table is not in the spec.
            true => error,
            false => self.blame(error.within("problem")),
        };
        // The keys are checked before a file is opened that they may not need.
        let (data, notes) = match needed(keys).map_err(blame)? {
            None => (None, Vec::new()),
            Some(needed) => {
                let place = self.source.place(&Place::from("problem").then(needed.key));
                let file = open(needed.path).map_err(|error| {
                    let message = format!("{} (named in {place})", error.kind());
                    Error::new(error.place().clone(), message)
                })?;
                let (data, notes) = needed.reading.read(file).map_err(blame)?;
                (Some(data), notes)
            }
        };
        let problem = Problem::from_keys(self.source.name(), keys, data).map_err(blame)?;
        Ok((problem, notes))
    }

    /// The policy, if the spec names one.
    pub fn policy(&self, problem: &Problem, catalogue: &Catalogue) -> Result<Option<Choice>> {
        let choose = |policy: &PolicySpec| {
            policy.choose(problem, catalogue).map_err(|error| self.blame(error.within("policy")))
        };
        self.spec.policy.as_ref().map(choose).transpose()
    }
}

impl Reading {
    fn read(self, file: DataFile) -> Result<(Data, Vec<String>)> {
        match self {
            Self::Table { holdout } => {
                read_table(file.reader, &file.name, holdout).map(|table| (Data::Table(table), Vec::new()))
            }
            Self::Examples { label, scale, holdout } => {
                read_examples(file.reader, &file.name, label.as_deref(), scale, holdout)
                    .map(|(examples, notes)| (Data::Examples(examples), notes))
            }
        }
    }
}

fn holdout(keys: &Keys, default: f64) -> Result<f64> {
    let holdout = keys.optional_number("holdout")?.unwrap_or(default);
    if (0.0..=0.9).contains(&holdout) {
        return Ok(holdout);
    }
    let kind = gradband::ErrorKind::Range { found: holdout, low: 0.0, high: 0.9 };
    Err(Error::of("holdout", kind))
}

/// The file that a problem needs, if it needs one.
fn needed(keys: &Keys) -> Result<Option<Needed<'_>>> {
    let kind = Problem::check_kind(keys)?;
    if kind == "classification" {
        let label = match keys.get("label") {
            None => None,
            Some(Value::Text(label)) => Some(label.clone()),
            Some(Value::Whole(column)) => Some(column.to_string()),
            Some(other) => {
                let message = format!("found {}, expected the name or number of a column", other.kind());
                return Err(Error::new("label", message));
            }
        };
        keys.needed(kind, "data")?;
        let path = keys.optional_text("data")?.unwrap_or_default();
        let scale = Scale::named(keys.optional_text("scale")?.unwrap_or("minmax"))?;
        let reading = Reading::Examples { label, scale, holdout: holdout(keys, EXAMPLES_HOLDOUT)? };
        return Ok(Some(Needed { key: "data", path, reading }));
    }
    let Some(Value::Table(prior)) = keys.get("prior") else { return Ok(None) };
    table(prior).map_err(|error| error.within("prior"))
}

fn table(prior: &Keys) -> Result<Option<Needed<'_>>> {
    if gradband::Prior::check_kind(prior)? != "table" {
        return Ok(None);
    }
    prior.needed("table", "path")?;
    let path = prior.optional_text("path")?.unwrap_or_default();
    Ok(Some(Needed { key: "prior.path", path, reading: Reading::Table { holdout: holdout(prior, HOLDOUT)? } }))
}

/// The keys with defaults filled in.
pub(crate) fn effective(keys: &Keys) -> Keys {
    let mut keys = keys.clone();
    let or = |keys: &mut Keys, key: &str, value: Value| {
        if keys.get(key).is_none() {
            keys.set(key, value);
        }
    };
    if keys.get("kind").and_then(Value::as_text) == Some("classification") {
        or(&mut keys, "scale", "minmax".into());
        or(&mut keys, "holdout", EXAMPLES_HOLDOUT.into());
    }
    if let Some(Value::Table(prior)) = keys.get_mut("prior")
        && prior.get("kind").and_then(Value::as_text) == Some("table")
    {
        or(prior, "holdout", HOLDOUT.into());
    }
    keys
}
