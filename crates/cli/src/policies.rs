//! Policies as typed: `name(param=value,…)`, `--params`, and policy files.

use crate::{files, output, weights};
use gradband::registry::Choice;
use gradband::spec::{FORMAT, Nested, PolicyFile};
use gradband::{Error, Problem, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// A policy and what to call it in results: as it was asked for.
#[derive(Clone, Debug)]
pub struct Named {
    /// As it can be typed again.
    pub name: String,
    /// The same, shorter, for people.
    pub short: String,
    /// The policy.
    pub choice: Choice,
}

impl Named {
    /// With all its parameters.
    pub fn in_full(choice: Choice) -> Self {
        Self { name: choice.label(), short: output::short_label(&choice), choice }
    }

    /// By its bare name: untuned.
    pub fn untuned(choice: Choice) -> Self {
        let name = choice.info.name.to_string();
        Self { name: name.clone(), short: name, choice }
    }
}

/// `name` or `name(param=value,…)`; `flag` is what messages call it.
pub fn parse(text: &str, problem: &Problem, flag: &str) -> Result<Named> {
    let choice = Choice::parse(text, problem)
        .map_err(|error| Error::new(format!("{flag} {}", error.place).trim_end(), error.message))?;
    Ok(if text.contains('(') { Named::in_full(choice) } else { Named::untuned(choice) })
}

/// A comma-separated list, in which commas within parentheses do not count.
pub fn parse_list(text: &str, problem: &Problem, flag: &str) -> Result<Vec<Named>> {
    let mut depth = 0_i32;
    let parts = text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth <= 0
    });
    parts.map(|part| parse(part, problem, flag)).collect()
}

/// The policy at the parameters of `--params`.
pub fn with_params(choice: &Choice, problem: &Problem, text: &str) -> Result<Choice> {
    let Some(file) = text.strip_prefix('@') else {
        let params = numbers(text)?;
        return choice.with_params(problem, &params).map_err(as_flag);
    };
    let named: Params = read_json(Path::new(file))?;
    let at_file = |error: Error| Error::new(format!("{file}, {}", error.place), error.message);
    match named {
        Params::InOrder(params) => choice.with_params(problem, &params).map_err(at_file),
        Params::ByName(params) => params.iter().try_fold(choice.clone(), |choice, (name, value)| {
            choice.with_param(problem, name, &value.numbers()).map_err(at_file)
        }),
    }
}

/// What a parameter file holds.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected an array of numbers, or an object with a number or matrix for each name"
)]
enum Params {
    InOrder(Vec<f64>),
    ByName(BTreeMap<String, Nested>),
}

fn numbers(text: &str) -> Result<Vec<f64>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let number = |part: &str| {
        let wrong = || Error::new("--params", format!("found '{part}', expected a number"));
        part.trim().parse().map_err(|_| wrong())
    };
    text.split(',').map(number).collect()
}

/// The library names flags without their dashes.
pub fn as_flag(error: Error) -> Error {
    Error::new(format!("--{}", error.place), error.message)
}

/// The policy in a policy file, which must fit the problem.
pub fn from_file(path: &Path, problem: &Problem) -> Result<Choice> {
    #[derive(Deserialize)]
    struct Format {
        gradband: Option<u32>,
    }
    let name = path.display();
    match read_json::<Format>(path)?.gradband {
        Some(FORMAT) => {}
        Some(other) => {
            let message = format!("found format {other}, this version reads {FORMAT}");
            return Err(Error::new(format!("{name}, gradband"), message));
        }
        None => return Err(Error::new(name.to_string(), "is not a policy file: it has no key 'gradband'")),
    }
    let mut file: PolicyFile = read_json(path)?;
    if let Some(weights) = &file.policy.weights {
        let beside = path.parent().unwrap_or(Path::new("")).join(weights);
        file.policy.params = weights::read(&beside, &file.policy)?;
    }
    let choice = file
        .choose(problem)
        .map_err(|error| Error::new(format!("{name}, {}", error.place), error.message))?;
    if file.problem.horizon != problem.horizon {
        let (theirs, ours) = (file.problem.horizon, problem.horizon);
        output::note(&format!("note: {name} was trained for a horizon of {theirs}, not {ours}"));
    }
    Ok(choice)
}

pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = files::read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        let place = match error.line() {
            0 => path.display().to_string(),
            line => format!("{}, line {line}, column {}", path.display(), error.column()),
        };
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Error::new(place, format!("not the JSON that was expected: {message}"))
    })
}
