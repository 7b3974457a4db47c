//! What the reports of `train` and `compare` show beyond the result: regret over rounds and over iterations.

use crate::{Client, Iterate, measure, stands_on};
use gradband::learn::Trained;
use gradband::measure::over_rounds;
use gradband::problem::{Contextual, Covariance};
use gradband::{Error, Problem, Result};
use gradband_lab::session::{Measured, Session, TrainingHistory};
use serde::Serialize;

/// Points of a curve over rounds.
const ROUNDS: usize = 20;
/// Nanoseconds that all points of a curve over iterations may take together, about; and the least instances of each.
const BUDGET: f64 = 2e9;
const LEAST: usize = 20;
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
    command: &str,
    spec: &impl Serialize,
    seed: u64,
    instances: usize,
    policies: Vec<Measured>,
) -> Result<Session> {
    let spec = toml::to_string_pretty(spec);
    Ok(Session {
        kind: kind.into(),
        problem: problem.to_string(),
        command: command.into(),
        spec: spec.map_err(|error| Error::new("", format!("cannot write TOML: {error}")))?,
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        instances,
        ground: stands_on(problem, instances),
        lead: Vec::new(),
        policies,
        gain: None,
        training: None,
    })
}

/// How a training went; `instances` is what the evaluation had.
pub fn history(
    problem: &Problem,
    trained: &Trained,
    iterates: &[Iterate],
    seed: u64,
    instances: usize,
    client: &dyn Client,
) -> Result<TrainingHistory> {
    let (projection, features) = projection(problem, trained);
    let mut spreads = if projection.is_empty() { Vec::new() } else { spreads(problem) };
    if !spreads.is_empty() {
        // A constant feature has none.
        spreads.resize(features.len(), 0.0);
    }
    let records = thinned(trained);
    let gradient = records.clone().filter_map(|record| Some((record.iteration, record.gradient_norm?)));
    let (params, handed_out_params) = numbers(trained, iterates).into_iter().unzip();
    let history = TrainingHistory {
        gradient: gradient.collect(),
        params,
        handed_out_params,
        projection,
        features,
        spreads,
        ..TrainingHistory::default()
    };
    regrets(problem, trained, iterates, seed, instances, history, client)
}

/// As many records as a picture has a use for.
fn thinned(trained: &Trained) -> impl Iterator<Item = &gradband::Iteration> + Clone {
    let history = trained.history();
    history.iter().step_by(history.len().div_ceil(PICTURED).max(1))
}

/// A parameter's name and its values by iteration; and the value that is handed out.
type Number = ((String, Vec<(usize, f64)>), f64);

/// The parameters that are single numbers.
fn numbers(trained: &Trained, iterates: &[Iterate]) -> Vec<Number> {
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
        ((slot.name().to_string(), values), trained.choice().params()[at])
    });
    over_iterations.collect()
}

/// The learned W and the names of its columns: the user's, or numbers. Nothing if there is none.
fn projection(problem: &Problem, trained: &Trained) -> (Vec<f64>, Vec<String>) {
    let slot = trained.choice().slots().into_iter().find(|slot| slot.name() == "W");
    let Some(slot) = slot else { return (Vec::new(), Vec::new()) };
    let names = column_names(problem, slot.shape[1]);
    let names = names.unwrap_or_else(|| (1..=slot.shape[1]).map(|i| i.to_string()).collect());
    (trained.choice().params()[slot.range].to_vec(), names)
}

/// What the user calls the columns of a W, if features have names; a constant feature comes last.
pub fn column_names(problem: &Problem, columns: usize) -> Option<Vec<String>> {
    let mut names = feature_names(problem)?.to_vec();
    names.resize(columns, "constant".into());
    Some(names)
}

/// The standard deviations of the features; none where the problem does not say what its contexts are.
fn spreads(problem: &Problem) -> Vec<f64> {
    let Some(contexts) = problem.contextual() else { return Vec::new() };
    if let Some(linear) = contexts.linear() {
        let dim = linear.context().dim();
        return match linear.context().covariance() {
            Covariance::Diagonal(variances) => variances.iter().map(|x| x.sqrt()).collect(),
            Covariance::Full(matrix) => (0..dim).map(|i| matrix[i * dim + i].max(0.0).sqrt()).collect(),
        };
    }
    let Some(examples) = contexts.examples() else { return Vec::new() };
    let count = examples.len() as f64;
    let spread = |j: usize| {
        let values = || (0..examples.len()).map(|i| f64::from(examples.features(i)[j]));
        let mean = values().sum::<f64>() / count;
        (values().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt()
    };
    (0..examples.dim()).map(spread).collect()
}

/// What the user calls the features, if they have names.
fn feature_names(problem: &Problem) -> Option<&[String]> {
    problem.contextual().map(Contextual::model).and_then(|model| model.feature_names())
}

/// Adds the regret after some iterations, and of what is handed out: on the evaluation's instances, or on the first of
/// them if all would take long.
fn regrets(
    problem: &Problem,
    trained: &Trained,
    iterates: &[Iterate],
    seed: u64,
    instances: usize,
    history: TrainingHistory,
    client: &dyn Client,
) -> Result<TrainingHistory> {
    if iterates.is_empty() {
        return Ok(history);
    }
    let choices = iterates.iter().map(|iterate| trained.choice().with_params(problem, &iterate.params));
    let choices = choices.collect::<Result<Vec<_>>>()?;
    let choices: Vec<_> = choices.iter().chain([trained.choice()]).collect();
    let cost = trained.choice().kind().run_cost(problem) * choices.len() as f64;
    let instances = instances.min(((BUDGET / cost) as usize).max(LEAST));
    let measured = measure(&choices, problem, seed, instances, &[], client)?;
    let regret = |(i, iterate): (usize, &Iterate)| (iterate.iteration, measured.regret(i));
    Ok(TrainingHistory {
        regret: iterates.iter().enumerate().map(regret).collect(),
        handed_out: Some(measured.regret(iterates.len())),
        instances: Some(instances),
        ..history
    })
}
