//! Policies as they are asked for: `name(param=value,…)`, parameters, a spec, a policy file.

use crate::{Client, Remark};
use gradband::policy::{Choice, SettingValue};
use gradband::problem::Value;
use gradband::{Catalogue, Error, ErrorKind, Observer, Place, Problem, Result, Step, abridged};
use gradband_files::{PolicyFile, Target, io};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A policy, and whether it was asked for by its bare name.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The policy.
    pub choice: Choice,
    bare: bool,
    /// Is it one of the rivals whose prior is fitted to the past?
    known_past: bool,
}

/// A policy as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Which one; that of the spec, or the usual one, if nobody says.
    pub policy: Option<Named>,
    /// Its parameters.
    pub params: Option<Params>,
}

/// Which policy.
#[derive(Clone, Debug)]
pub enum Named {
    /// `name` or `name(param=value,...)`, or [`AUTO`](gradband_files::AUTO) where one is trained.
    Text(String),
    /// The policy file at a path.
    File(PathBuf),
    /// A policy on the problem.
    Choice(Choice),
}

/// The parameters of a policy.
#[derive(Clone, Debug)]
pub enum Params {
    /// Numbers with commas between them, or `@` and the path of a JSON file with an array or object.
    Text(String),
    /// All of them.
    Numbers(Vec<f64>),
    /// Some of them.
    ByName(BTreeMap<String, Value>),
}

impl Wanted {
    /// A policy by its name.
    pub fn named(text: impl Into<String>) -> Self {
        Self { policy: Some(Named::Text(text.into())), params: None }
    }

    /// Is anything said?
    fn is_said(&self) -> bool {
        self.policy.is_some() || self.params.is_some()
    }
}

/// What to do if nobody names a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// The problem's default will do.
    Default,
    /// Somebody has to.
    Refused,
}

impl Asked {
    /// With its parameters.
    pub fn in_full(choice: Choice) -> Self {
        Self { choice, bare: false, known_past: false }
    }

    /// By its bare name.
    pub fn untuned(choice: Choice) -> Self {
        Self { choice, bare: true, known_past: false }
    }

    /// Are its parameters those that it has before any learning?
    pub fn is_untuned(&self) -> bool {
        self.bare && self.choice.kind().learns_something()
    }

    /// Is it Thompson sampling that was tuned as any policy is?
    pub fn is_sharpened(&self) -> bool {
        self.choice.settings().any(|setting| setting == ("sharpen", SettingValue::Word("tuned")))
    }

    /// Does it know the prior of the evaluation itself? Nobody can use it instead: it shows what is possible.
    pub fn is_bound(&self) -> bool {
        let knows = ("prior", SettingValue::Word("known"));
        self.choice.name() == "bayes-optimal" && self.choice.settings().any(|setting| setting == knows)
    }

    /// What results call it: as it was asked for, and can be typed again.
    pub fn name(&self) -> String {
        if self.bare { self.choice.name().into() } else { self.choice.label() }
    }

    /// The same for people: learned parameters have more digits than anyone reads.
    pub fn short_name(&self, problem: &Problem) -> String {
        let rounded = |&x: &f64| match format!("{x:.4}").parse() {
            Ok(rounded) if rounded != 0.0 => rounded,
            _ => x,
        };
        let params: Vec<f64> = self.choice.params().iter().map(rounded).collect();
        match self.choice.with_params(problem, &params) {
            // What follows from the past need not be said.
            Ok(choice) if self.known_past => {
                let sharpness = choice.slots().into_iter().find(|slot| slot.name() == "sharpness");
                let sharpness = sharpness.map(|slot| choice.params()[slot.range.start]).filter(|&c| c != 1.0);
                let sharpness = sharpness.map(|c| format!("sharpness={c},")).unwrap_or_default();
                format!("{}({sharpness}prior=fit)", choice.name())
            }
            Ok(choice) if !self.bare && self.choice.is_known() => choice.label(),
            _ => self.name(),
        }
    }

    /// The same with the parameters that a setting leaves to a search on the problem.
    pub fn fitted(self, problem: &Problem, observer: &mut dyn Observer) -> Result<Self> {
        Ok(Self { choice: self.choice.fitted(problem, observer)?, ..self })
    }
}

/// Thompson sampling that knows the past: the prior of an arm is fitted to the training part; or it is sharpened there, too.
pub const INFORMED: [&str; 2] = ["thompson(prior=fit)", "thompson(prior=fit,sharpen=tuned)"];
/// Gittins indices with that prior.
pub const INFORMED_INDEX: &str = "gittins(prior=fit)";
/// The best policy under that prior.
pub const INFORMED_OPTIMUM: &str = "bayes-optimal(prior=fit)";

/// Those of these policies that apply, take no longer than so many seconds to prepare, and are not what they are without
/// the past.
pub fn informed(texts: &[&str], problem: &Problem, patience: f64) -> Vec<Asked> {
    let parsed = texts.iter().filter_map(|text| parse(text, problem, "").ok());
    let parsed = parsed.map(|asked| Asked { known_past: true, ..asked });
    let knows = |policy: &Asked| policy.is_sharpened() || policy.choice.params().iter().any(|&x| x != 1.0);
    parsed.filter(knows).filter(|policy| policy.choice.preparation_seconds(problem) <= patience).collect()
}

/// The policy that is asked for, else that of the spec, else the default if that will do.
pub fn asked(target: &Target, wanted: &Wanted, unnamed: Unnamed, client: &dyn Client) -> Result<Asked> {
    let problem = &target.problem;
    let asked = match (&wanted.policy, target.policy(&Catalogue::default())?) {
        (Some(Named::Text(text)), _) => parse(text, problem, "policy")?,
        (Some(Named::File(path)), _) => Asked::in_full(from_file(path, problem, client)?),
        (Some(Named::Choice(choice)), _) => Asked::in_full(choice.clone()),
        (None, Some(choice)) => Asked::in_full(choice),
        (None, None) if unnamed == Unnamed::Default => {
            Asked::untuned(Choice::parse(target.default_policy(), problem)?)
        }
        (None, None) => {
            let why = "give a policy (see gradband list policies), or a --policy-file";
            return Err(Error::of("policy", ErrorKind::Missing(why.into())));
        }
    };
    match &wanted.params {
        None => Ok(asked),
        Some(params) => with_params(&asked.choice, problem, params).map(Asked::in_full),
    }
}

/// The policy that is asked for or that of the spec; somebody has to name one.
pub(crate) fn named(target: &Target, wanted: &Wanted, client: &dyn Client) -> Result<Asked> {
    match &wanted.policy {
        // It comes before what the spec says of a policy.
        Some(Named::File(path)) if wanted.params.is_none() => {
            from_file(path, &target.problem, client).map(Asked::in_full)
        }
        _ => asked(target, wanted, Unnamed::Refused, client),
    }
}

/// What is wrong with the policy to train: where it is asked for, or at the lines of the spec if it comes from there.
pub fn blame(error: Error, target: &Target, wanted: &Wanted) -> Error {
    let said = wanted.is_said();
    let Some(file) = target.file().filter(|file| !said && file.spec.policy.is_some()) else { return error };
    let inner = match error.place().steps() {
        [Step::Key(key), inner @ ..] if key == "policy" || key == "params" => inner.iter().cloned(),
        _ => return error,
    };
    let place = Place::key("policy").then(inner.collect::<Place>());
    file.blame(error.at(place))
}

/// `name` or `name(param=value,…)`; `key` is what messages call it.
pub fn parse(text: &str, problem: &Problem, key: &str) -> Result<Asked> {
    let choice = Choice::parse(text, problem).map_err(|error| match error.place().steps() {
        [Step::Key(found)] if found == "policy" => error.at(Place::key(key)),
        _ => error.within(Place::key(key)),
    })?;
    Ok(if text.contains('(') { Asked::in_full(choice) } else { Asked::untuned(choice) })
}

/// A comma-separated list, in which commas within parentheses do not count.
pub fn parse_list(text: &str, problem: &Problem, key: &str) -> Result<Vec<Asked>> {
    let mut depth = 0_i32;
    let parts = text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth <= 0
    });
    parts.map(|part| parse(part, problem, key)).collect()
}

/// What a parameter file holds.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected an array of numbers, or an object with a number or matrix for each name"
)]
enum ParamsFile {
    Numbers(Vec<f64>),
    ByName(BTreeMap<String, Value>),
}

/// The policy at other parameters.
fn with_params(choice: &Choice, problem: &Problem, params: &Params) -> Result<Choice> {
    match params {
        Params::Numbers(numbers) => choice.with_params(problem, numbers),
        Params::ByName(values) => by_name(choice, problem, values).map_err(|error| error.within("params")),
        Params::Text(text) => match text.strip_prefix('@') {
            None => choice.with_params(problem, &numbers(text)?),
            Some(file) => params_file(choice, problem, file),
        },
    }
}

fn params_file(choice: &Choice, problem: &Problem, file: &str) -> Result<Choice> {
    let changed = match io::read_json(Path::new(file))? {
        ParamsFile::Numbers(params) => choice.with_params(problem, &params),
        ParamsFile::ByName(params) => by_name(choice, problem, &params),
    };
    changed.map_err(|error| error.within(Place::file(file)))
}

fn by_name(choice: &Choice, problem: &Problem, values: &BTreeMap<String, Value>) -> Result<Choice> {
    values.iter().try_fold(choice.clone(), |choice, (name, value)| {
        choice.with_param(problem, name, &value.numbers(Place::key(name))?)
    })
}

fn numbers(text: &str) -> Result<Vec<f64>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let number = |part: &str| {
        let wrong = || Error::new("params", format!("found '{}', expected a number", abridged(part)));
        part.trim().parse().map_err(|_| wrong())
    };
    text.split(',').map(number).collect()
}

/// The policy in a policy file, which must fit the problem.
pub fn from_file(path: &Path, problem: &Problem, client: &dyn Client) -> Result<Choice> {
    let file = PolicyFile::load(path)?;
    let place = || Place::file(path.display().to_string());
    let choice = file.choose(problem, &Catalogue::default()).map_err(|error| error.within(place()))?;
    let (theirs, ours) = (file.problem.horizon, problem.horizon());
    if theirs != ours {
        let name = path.display();
        client.remark(&Remark::Note(format!("{name} was trained for a horizon of {theirs}, not {ours}")));
    }
    Ok(choice)
}
