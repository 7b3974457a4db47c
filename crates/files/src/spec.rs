//! The TOML spec: a problem, a policy and how to train it, as the user writes it down.
//!
//! A spec is text first (so that messages can name file, line and key), then keys and plain serde types, then checked
//! problems, policies and plans.

mod read;
mod source;
mod train;

#[cfg(test)]
mod tests;

pub use train::{TrainSpec, Training};

use crate::table::{Columns, TableOptions, read_table_with};
use crate::{io, read_examples};
use gradband::measure::check_instances;
use gradband::policy::{Choice, Learns, Shape, Slot};
use gradband::problem::{Data, Fit, Keys, MAX_ARMS, Scale, Value, check_holdout};
use gradband::{Catalogue, Error, ErrorKind, Place, Policy, Prior, Problem, Result, Step, abridged};
use serde::{Deserialize, Serialize};
use source::Source;
use std::collections::BTreeMap;
use std::io::Read;
use toml::de::DeTable;

/// The problem that is trained on if none is named: the paper's two-armed Bernoulli.
pub const PROBLEM: &str = "bernoulli-2";
/// The number of instances of an evaluation, unless it is said.
pub const INSTANCES: usize = 10_000;
/// The share of the user's own data that is held out, unless it is said. (Built-in data sets have none, as in the paper.)
pub const HOLDOUT: f64 = 0.3;
/// The most values in a spec: what is kept of each takes far more memory than its text.
const MAX_VALUES: usize = 1_000_000;
/// The seed, unless it is said.
pub const SEED: u64 = 1;

/// The name of the policy that is trained on a problem, unless it is said.
pub fn default_policy(problem: &Problem) -> &'static str {
    if problem.contextual().is_some() { "soft-ucb" } else { "softelim" }
}

/// What a spec says: a problem, and as much as the user cares to say about the policy, its training and its evaluation.
///
/// It is read by [`open`](crate::open), or by [`SpecFile::parse`] where text does not come from a file, and written by
/// any serde format.
///
/// ```
/// use gradband_files::SpecFile;
/// let text = r#"
///     [problem]
///     kind = "bernoulli"
///     horizon = 50
///     [problem.prior]
///     kind = "beta"
///     arms = 3
///     alpha = 1
///     beta = 1
///
///     [train]
///     iterations = 20
/// "#;
/// let spec = SpecFile::parse(text, "three-arms.toml")?.spec;
/// assert_eq!((spec.train.iterations, spec.policy), (Some(20), None));
///
/// let error = SpecFile::parse(&text.replace("iterations", "iteration"), "three-arms.toml").unwrap_err();
/// assert!(error.to_string().starts_with("three-arms.toml, line 12, train.iteration: unknown name"), "{error}");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The problem that is simulated.
    pub problem: Keys,
    /// The policy that plays, and from which training starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySpec>,
    /// How the policy learns.
    #[serde(default)]
    pub train: TrainSpec,
    /// How the policy is measured.
    #[serde(default)]
    pub evaluate: EvaluateSpec,
}

/// What stands for whichever policy is best.
pub const AUTO: &str = "auto";

impl Spec {
    /// Whether training is to find out which policy is best: none is named, or `auto`.
    pub fn leaves_open(&self) -> bool {
        self.policy.as_ref().is_none_or(|policy| policy.kind == AUTO && policy.values.is_empty())
    }
}

/// The `[policy]` part of a spec: the name of a policy, then parameters and settings by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySpec {
    /// The name of the policy in the catalogue.
    pub kind: String,
    /// Its parameters and settings, as far as they are said.
    #[serde(flatten)]
    pub values: BTreeMap<String, Value>,
}

impl PolicySpec {
    /// What a spec says of a policy that is complete.
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
        let settings =
            choice.settings().map(|(name, value)| (name.to_string(), Value::Text(value.to_string())));
        // Weights of neural policies are in a file of their own.
        let written = |_: &Slot| choice.kind().learns() == Learns::Score && choice.is_known();
        let params = choice.slots().into_iter().filter(written).map(value);
        Self { kind: choice.name().into(), values: settings.chain(params).collect() }
    }

    /// The policy on a problem. Errors name keys of this part.
    pub fn choose(&self, problem: &Problem, catalogue: &Catalogue) -> Result<Choice> {
        let kind = catalogue.kind(&self.kind).map_err(|error| error.at("kind"))?;
        // Whether it applies at all comes before what is said about it.
        kind.check(problem).map_err(|error| error.at("kind"))?;
        let said = self.values.iter().try_fold(Policy::of(kind), |policy, (key, value)| {
            say(policy, key, value).map_err(|error| error.within(Place::key(key)))
        });
        said?.on(problem).map_err(|error| {
            let key = match error.place().steps() {
                [_, Step::Key(key)] => Place::key(key),
                _ => Place::key("kind"),
            };
            error.at(key)
        })
    }
}

/// The policy with one more parameter or setting.
fn say(policy: Policy, key: &str, value: &Value) -> Result<Policy> {
    let (params, settings) = (policy.kind().params(), policy.kind().settings());
    if settings.iter().any(|setting| setting.name == key) {
        return Ok(policy.with_setting(key, &word(value)?));
    }
    let Some(param) = params.iter().find(|param| param.name == key) else {
        let known = params.iter().map(|param| param.name);
        return Err(Error::unknown("", key, known.chain(settings.iter().map(|setting| setting.name))));
    };
    let numbers = match (param.shape, value) {
        (Shape::Matrix(_), Value::List(_)) => value.numbers("")?,
        _ => vec![number(value)?],
    };
    Ok(policy.with_param(key, &numbers))
}

fn number(value: &Value) -> Result<f64> {
    let found = || match value {
        Value::Text(text) => format!("'{}'", abridged(text)),
        other => other.kind().into(),
    };
    value.as_number().ok_or_else(|| Error::new("", format!("found {}, expected a number", found())))
}

/// The value of a setting, as it would be typed.
fn word(value: &Value) -> Result<String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Whole(x) => Ok(x.to_string()),
        Value::Number(x) => Ok(x.to_string()),
        Value::Flag(x) => Ok(x.to_string()),
        Value::List(_) | Value::Table(_) => {
            Err(Error::new("", format!("found {}, expected a number or a name", value.kind())))
        }
    }
}

/// The `[evaluate]` part of a spec.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateSpec {
    /// The number of instances that are simulated.
    #[serde(default, deserialize_with = "read::count", skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
}

/// A file that a spec names, opened by the caller of [`SpecFile::problem`].
pub struct DataFile {
    /// What messages call the file.
    pub name: String,
    /// The content of the file, which may be gzip-compressed.
    pub reader: Box<dyn Read>,
    /// The share of labelled data that is held out, unless the spec says it: [`HOLDOUT`], but none of the paper's data sets.
    pub holdout: f64,
}

/// A spec and the text it came from, so that whatever is wrong can be shown where it stands.
#[derive(Clone, Debug)]
pub struct SpecFile {
    /// What the text says.
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
    Table(TableOptions),
    Examples { label: Option<String>, scale: Scale, holdout: Option<f64>, split: Option<usize> },
}

impl SpecFile {
    /// Reads a spec from TOML text; `name` is what messages call the file. Problem and policy are not built yet.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        if io::values(text) > MAX_VALUES {
            let message = format!("has more than {MAX_VALUES} values; put past problems into a table");
            return Err(Error::of(Place::file(name), ErrorKind::TooLarge(message)));
        }
        let source = Source::new(text, name);
        let table = DeTable::parse(text).map_err(|error| source.malformed(&error))?;
        let spec = read::table(table.get_ref()).map_err(|error| source.blame(error))?;
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

    /// The same error, its key now with file and line: `train.iterations` becomes `s.toml, line 9, train.iterations`.
    pub fn blame(&self, error: Error) -> Error {
        self.source.blame(error)
    }

    /// Builds the problem, and says what the user should know about it, such as which features are constant.
    ///
    /// If the spec names a file, `open` is given the name as it stands there and returns the content: a path relative to
    /// the spec, or the name of a data set.
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

    /// The file that the problem is read from, or a data set, as it is named there.
    pub fn data(&self) -> Option<&str> {
        needed(&self.spec.problem).ok().flatten().map(|needed| needed.path)
    }

    /// The policy on the problem, if the spec names one and does not leave the choice open.
    pub fn policy(&self, problem: &Problem, catalogue: &Catalogue) -> Result<Option<Choice>> {
        if self.spec.leaves_open() {
            return Ok(None);
        }
        let choose = |policy: &PolicySpec| {
            policy.choose(problem, catalogue).map_err(|error| self.blame(error.within("policy")))
        };
        self.spec.policy.as_ref().map(choose).transpose()
    }
}

impl Reading {
    fn read(self, file: DataFile) -> Result<(Data, Vec<String>)> {
        match self {
            Self::Table(options) => match read_table_with(file.reader, &file.name, &options) {
                Ok((table, notes)) => Ok((Data::Table(table), notes)),
                Err(error) if error.place().is_in_file() => Err(error),
                Err(error) => Err(error.within("prior")),
            },
            Self::Examples { label, scale, holdout, split } => {
                let holdout = holdout.unwrap_or(file.holdout);
                let (mut examples, notes) =
                    read_examples(file.reader, &file.name, label.as_deref(), scale, holdout)?;
                if let Some(number) = split {
                    if holdout == 0.0 {
                        return Err(Error::new("split", "needs a holdout above 0: nothing is split"));
                    }
                    examples = examples.resplit(holdout, number as u64)?;
                }
                Ok((Data::Examples(examples), notes))
            }
        }
    }
}

fn holdout(keys: &Keys) -> Result<Option<f64>> {
    keys.optional_number("holdout")?.map(check_holdout).transpose()
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
        let path = keys.text(kind, "data")?;
        let scale = Scale::named(keys.optional_text("scale")?.unwrap_or("minmax"))?;
        let split = keys.optional_count("split")?;
        let reading = Reading::Examples { label, scale, holdout: holdout(keys)?, split };
        return Ok(Some(Needed { key: "data", path, reading }));
    }
    let Some(Value::Table(prior)) = keys.get("prior") else { return Ok(None) };
    table(prior).map_err(|error| error.within("prior"))
}

fn table(prior: &Keys) -> Result<Option<Needed<'_>>> {
    if Prior::check_kind(prior)? != "table" {
        return Ok(None);
    }
    let path = prior.text("table", "path")?;
    let columns = match prior.get("columns") {
        None => Columns::default(),
        Some(Value::Table(columns)) => {
            Columns::from_keys(columns).map_err(|error| error.within("columns"))?
        }
        Some(other) => {
            let expected = "a table such as { problem = \"campaign\", arm = \"creative\" }";
            return Err(Error::new("columns", format!("found {}, expected {expected}", other.kind())));
        }
    };
    let arms = prior.optional_count("arms")?;
    if let Some(found) = arms.filter(|arms| !(2..=MAX_ARMS).contains(arms)) {
        return Err(Error::of("arms", ErrorKind::Count { found, least: 2, most: MAX_ARMS }));
    }
    let fit = prior.optional_text("fit")?.map(Fit::named).transpose()?;
    let options = TableOptions { holdout: holdout(prior)?.unwrap_or(HOLDOUT), columns, arms, fit };
    Ok(Some(Needed { key: "prior.path", path, reading: Reading::Table(options) }))
}

/// The keys with defaults filled in, as they are for the problem that they made.
pub(crate) fn effective(keys: &Keys, problem: &Problem) -> Keys {
    let mut keys = keys.clone();
    let or = |keys: &mut Keys, key: &str, value: Value| {
        if keys.get(key).is_none() {
            keys.set(key, value);
        }
    };
    if keys.get("kind").and_then(Value::as_text) == Some("classification") {
        or(&mut keys, "scale", "minmax".into());
        or(&mut keys, "holdout", if problem.ground().held_out() { HOLDOUT } else { 0.0 }.into());
    }
    if let Some(Value::Table(prior)) = keys.get_mut("prior")
        && prior.get("kind").and_then(Value::as_text) == Some("table")
    {
        or(prior, "holdout", HOLDOUT.into());
    }
    if let Some(armed) = problem.armed() {
        if let (Prior::Table(table), Some(Value::Table(prior))) = (&armed.prior, keys.get_mut("prior")) {
            or(prior, "fit", table.fitted().fit().name().into());
        }
        for (key, value) in armed.rewards.values() {
            or(&mut keys, key, value.into());
        }
    }
    keys
}
