//! What the reports of `train` and `compare` show beyond the result: regret over rounds and over iterations.

use crate::commands::measure;
use crate::failure::{Failure, Result};
use crate::watch::Iterate;
use gradband::learn::Trained;
use gradband::measure::over_rounds;
use gradband::problem::Contextual;
use gradband::{Estimate, Problem};
use gradband_lab::session::{Measured, Session, TrainingHistory};
use serde::Serialize;

/// Points of a curve over rounds.
const ROUNDS: usize = 20;
/// Instances behind a point of a curve over iterations, at most; and nanoseconds that all its points together may
/// take, about.
const INSTANCES: usize = 2000;
const BUDGET: f64 = 2e9;
/// Iterations whose gradient and parameters are drawn, at most: a picture has no use for a million points.
const PICTURED: usize = 400;

/// Rounds after which a report shows the regret.
pub fn rounds(problem: &Problem) -> Vec<usize> {
    over_rounds(problem.horizon(), ROUNDS)
}

/// The record of a command, still without its training.
pub fn of(
    kind: &str,
    problem: &Problem,
    spec: &impl Serialize,
    seed: u64,
    instances: usize,
    policies: Vec<Measured>,
) -> Result<Session> {
    let spec = toml::to_string_pretty(spec);
    Ok(Session {
        kind: kind.into(),
        problem: problem.to_string(),
        command: command(),
        spec: spec.map_err(|error| Failure::Other(format!("cannot write TOML: {error}")))?,
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        instances,
        policies,
        gain: None,
        training: None,
    })
}

/// How a training went.
pub fn history(
    problem: &Problem,
    trained: &Trained,
    iterates: &[Iterate],
    seed: u64,
) -> Result<TrainingHistory> {
    let (projection, features) = projection(problem, trained);
    let records = thinned(trained);
    let gradient = records.clone().filter_map(|record| Some((record.iteration, record.gradient_norm?)));
    Ok(TrainingHistory {
        regret: regrets(problem, trained, iterates, seed)?,
        gradient: gradient.collect(),
        params: numbers(trained, iterates),
        projection,
        features,
    })
}

/// As many records as a picture has a use for.
fn thinned(trained: &Trained) -> impl Iterator<Item = &gradband::Iteration> + Clone {
    let history = trained.history();
    history.iter().step_by(history.len().div_ceil(PICTURED).max(1))
}

/// The parameters that are single numbers, over the iterations.
fn numbers(trained: &Trained, iterates: &[Iterate]) -> Vec<(String, Vec<(usize, f64)>)> {
    let slots = trained.choice().slots();
    let numbers = slots.iter().filter(|slot| slot.shape.is_empty());
    let over_iterations = numbers.map(|slot| {
        let at = slot.range.start;
        let recorded =
            thinned(trained).filter_map(|record| Some((record.iteration, record.params.as_ref()?[at])));
        let mut values: Vec<_> = recorded.collect();
        // Beside a large W numbers are not recorded.
        if values.is_empty() {
            values.extend(iterates.iter().map(|iterate| (iterate.iteration, iterate.params[at])));
        }
        (slot.name().to_string(), values)
    });
    over_iterations.collect()
}

/// The learned W and the names of its columns: the user's, or numbers. Nothing if there is none.
fn projection(problem: &Problem, trained: &Trained) -> (Vec<f64>, Vec<String>) {
    let slot = trained.choice().slots().into_iter().find(|slot| slot.name() == "W");
    let Some(slot) = slot else { return (Vec::new(), Vec::new()) };
    let names = feature_names(problem).map(<[String]>::to_vec);
    let names = names.unwrap_or_else(|| (1..=slot.shape[1]).map(|i| i.to_string()).collect());
    (trained.choice().params()[slot.range].to_vec(), names)
}

/// What the user calls the features, if they have names.
pub fn feature_names(problem: &Problem) -> Option<&[String]> {
    problem.contextual().map(Contextual::model).and_then(|model| model.feature_names())
}

/// Regret after some iterations, on as many instances as a picture needs.
fn regrets(
    problem: &Problem,
    trained: &Trained,
    iterates: &[Iterate],
    seed: u64,
) -> Result<Vec<(usize, Estimate)>> {
    if iterates.is_empty() {
        return Ok(Vec::new());
    }
    let choices = iterates.iter().map(|iterate| trained.choice().with_params(problem, &iterate.params));
    let choices = choices.collect::<gradband::Result<Vec<_>>>()?;
    let choices: Vec<_> = choices.iter().collect();
    let instances = ((BUDGET / problem.cost() / choices.len() as f64) as usize).clamp(20, INSTANCES);
    let measured = measure(&choices, problem, seed, instances, &[])?;
    Ok(iterates.iter().enumerate().map(|(i, iterate)| (iterate.iteration, measured.regret(i))).collect())
}

/// The command as it was typed.
fn command() -> String {
    let quoted = |arg: String| {
        let plain = arg.chars().all(|c| c.is_alphanumeric() || "-_./=,:@+".contains(c)) && !arg.is_empty();
        if plain { arg } else { format!("'{}'", arg.replace('\'', r"'\''")) }
    };
    let args = std::env::args_os().skip(1).map(|arg| quoted(arg.to_string_lossy().into_owned()));
    std::iter::once("gradband".to_string()).chain(args).collect::<Vec<_>>().join(" ")
}
