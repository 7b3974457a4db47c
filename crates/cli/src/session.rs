//! What the reports of `train` and `compare` show beyond the result: regret over rounds and over iterations.

use crate::commands::{interrupted, measure, title, watch};
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use gradband::Problem;
use gradband::problem::Contexts;
use gradband::registry::{Agent, Choice};
use gradband::statistics::Estimate;
use gradband::train::Trained;
use gradband_lab::session::{Measured, Session, Way};
use serde::Serialize;

/// Points of a curve over rounds.
const ROUNDS: usize = 20;
/// Instances behind a point of a curve, at most; and nanoseconds that all points together may take, about.
const INSTANCES: usize = 2000;
const BUDGET: f64 = 2e9;
/// Iterations whose gradient and parameters are drawn, at most: a picture has no use for a million points.
const PICTURED: usize = 400;

/// A policy as the report names it.
pub struct Shown<'a> {
    pub name: String,
    pub choice: &'a Choice,
    pub regret: Estimate,
    pub difference: Estimate,
}

/// The record of a command, still without its training.
pub fn of(
    kind: &str,
    problem: &Problem,
    spec: &impl Serialize,
    seed: u64,
    instances: usize,
    shown: Vec<Shown>,
) -> Result<Session> {
    let choices: Vec<_> = shown.iter().map(|policy| policy.choice).collect();
    let curves = over_rounds(&choices, problem, seed)?;
    let policies = shown.into_iter().zip(curves).map(|(policy, curve)| Measured {
        name: policy.name,
        regret: policy.regret,
        difference: policy.difference,
        curve,
    });
    let spec = toml::to_string_pretty(spec);
    Ok(Session {
        kind: kind.into(),
        problem: title(problem),
        command: command(),
        spec: spec.map_err(|error| Failure::Other(format!("cannot write TOML: {error}")))?,
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        instances,
        policies: policies.collect(),
        gain: None,
        training: None,
    })
}

/// Where training went.
pub fn way(problem: &Problem, trained: &Trained, iterates: &[(usize, Vec<f64>)], seed: u64) -> Result<Way> {
    let policy = &trained.policy;
    let choices = iterates.iter().map(|(_, params)| policy.with_params(problem, params));
    let regrets = regrets(&choices.collect::<gradband::Result<Vec<_>>>()?, problem, seed)?;
    let slots = policy.slots();
    let history = || trained.history.iter().step_by(trained.history.len().div_ceil(PICTURED).max(1));
    let numbers = slots.iter().filter(|slot| slot.shape.is_empty());
    let params = numbers.map(|slot| {
        let at = slot.range.start;
        let recorded = history().filter_map(|record| Some((record.iteration, record.params.as_ref()?[at])));
        let mut values: Vec<_> = recorded.collect();
        // Beside a large W numbers are not recorded.
        if values.is_empty() {
            values.extend(iterates.iter().map(|(i, params)| (*i, params[at])));
        }
        (slot.info.name.to_string(), values)
    });
    let gradient = history().filter(|record| record.gradient_norm.is_finite());
    let w = slots.iter().find(|slot| slot.info.name == "W");
    let (projection, features) = w.map_or_else(Default::default, |slot| {
        (policy.params[slot.range.clone()].to_vec(), feature_names(problem, slot.shape[1]))
    });
    Ok(Way {
        regret: iterates.iter().map(|(i, _)| *i).zip(regrets).collect(),
        gradient: gradient.map(|record| (record.iteration, record.gradient_norm)).collect(),
        params: params.collect(),
        projection,
        features,
    })
}

/// The user's names, or numbers.
fn feature_names(problem: &Problem, count: usize) -> Vec<String> {
    match problem.contextual().map(|contextual| &contextual.source) {
        Some(Contexts::Classification(set)) => set.examples.feature_names().to_vec(),
        _ => (1..=count).map(|i| i.to_string()).collect(),
    }
}

/// Instances for so many runs each, within the budget.
fn affordable(problem: &Problem, runs: usize) -> usize {
    ((BUDGET / problem.cost() / runs.max(1) as f64) as usize).clamp(20, INSTANCES)
}

/// Regret of policies after so many rounds, a list each.
fn over_rounds(choices: &[&Choice], problem: &Problem, seed: u64) -> Result<Vec<Vec<(usize, Estimate)>>> {
    let agents: Vec<_> = choices.iter().map(|choice| choice.agent(problem)).collect();
    let agents: Vec<&dyn Agent> = agents.iter().map(|agent| &**agent).collect();
    let mut rounds: Vec<_> = (1..=ROUNDS).map(|i| (i * problem.horizon / ROUNDS).max(1)).collect();
    rounds.dedup();
    let instances = affordable(problem, agents.len() * rounds.len() / 2);
    let mut progress = Progress::new("regret over rounds", "instances", instances * rounds.len());
    let curves = gradband::evaluate::over_rounds(&agents, problem, seed, instances, &rounds, |done| {
        watch(&mut progress, done)
    });
    let curves = curves.ok_or_else(interrupted)?;
    Ok(curves.into_iter().map(|curve| rounds.iter().copied().zip(curve).collect()).collect())
}

/// Regret of policies on as many instances as a picture needs.
fn regrets(choices: &[Choice], problem: &Problem, seed: u64) -> Result<Vec<Estimate>> {
    if choices.is_empty() {
        return Ok(Vec::new());
    }
    let evaluation = measure(choices, problem, seed, affordable(problem, choices.len()))?;
    Ok((0..choices.len()).map(|i| evaluation.regret(i)).collect())
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
