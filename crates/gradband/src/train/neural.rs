//! Neural policies: trained in stages, through time; or by Q-learning.

use super::{Observer, Record, StopReason, Trained};
use crate::dqn;
use crate::lstm::train::{Recipe, Step, train};
use crate::policy::{self, lstm::network};
use crate::problem::Problem;
use crate::registry::Choice;
use crate::{Error, Result};
use std::ops::ControlFlow;

/// Bytes that a thread may keep.
const MOST: f64 = 4e9;

/// Backpropagation keeps whole runs: sixteen instances at a time, 7 H + K numbers of four bytes per round.
fn check_memory(initial: &Choice, recipe: &Recipe) -> Result<()> {
    let network = network(initial);
    let horizon = recipe.stages.iter().map(|stage| stage.horizon).max().unwrap_or(0);
    let numbers = (7 * network.sizes().hidden + network.arms()) * horizon * recipe.baseline.runs();
    let bytes = numbers as f64 * 64.0;
    if bytes <= MOST {
        return Ok(());
    }
    let message = format!(
        "training through {horizon} rounds would take {:.0} GB per thread, at most {:.0} are allowed; shorten the \
         curriculum, the hidden layer or the runs per instance",
        bytes / 1e9,
        MOST / 1e9
    );
    Err(Error::new("policy", message))
}

/// Trains a recurrent policy, from its weights if it has any, else from random ones.
pub(super) fn lstm(
    problem: &Problem,
    initial: &Choice,
    recipe: &Recipe,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    check_memory(initial, recipe)?;
    let trained_before = initial.params.iter().any(|&x| x != 0.0);
    let start = trained_before.then(|| initial.params.clone());
    let mut history: Vec<Record> = Vec::new();
    let mut reason = None;
    let mut each = |step: &Step| {
        let record = Record { iteration: history.len() + 1, params: None, gradient_norm: step.gradient_norm };
        observer.iteration(&record, step.params);
        history.push(record);
        reason = observer.stop();
        if reason.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut learned = train(problem, &network(initial), recipe, seed, start, &mut each);
    initial.project(problem, &mut learned.params);
    initial.project(problem, &mut learned.last);
    let planned: usize = recipe.stages.iter().map(|stage| stage.iterations).sum();
    Ok(Trained {
        policy: initial.with_params(problem, &learned.params)?,
        last: initial.with_params(problem, &learned.last)?,
        learning_rate: recipe.stages.first().map_or(0.0, |stage| stage.rate.initial),
        stop_reason: reason.filter(|_| history.len() < planned).unwrap_or(StopReason::Iterations),
        history,
    })
}

/// Trains a Q-network. A record has the root of the mean loss in place of a gradient's length.
pub(super) fn dqn(
    problem: &Problem,
    initial: &Choice,
    settings: &dqn::Settings,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    let mut history: Vec<Record> = Vec::new();
    let mut reason = None;
    let mut each = |done: usize, loss: f64| {
        let record = Record { iteration: done, params: None, gradient_norm: loss.sqrt() };
        observer.iteration(&record, &[]);
        history.push(record);
        reason = observer.stop();
        if reason.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut params = dqn::train(problem, &policy::dqn::network(initial), settings, seed, &mut each);
    initial.project(problem, &mut params);
    let policy = initial.with_params(problem, &params)?;
    Ok(Trained {
        last: policy.clone(),
        policy,
        learning_rate: settings.rate,
        stop_reason: reason.unwrap_or(StopReason::Iterations),
        history,
    })
}
