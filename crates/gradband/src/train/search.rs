//! Policies that choose without chance have no score: their one parameter is searched for, on training instances
//! that are the same at every value (common random numbers make the comparison sharp).

use super::{Observer, Record, Settings, StopReason, TRAINING, Trained};
use crate::problem::{Problem, Split};
use crate::registry::Choice;
use crate::simulate::{Job, Task};
use crate::stream::Key;
use crate::{Result, batch};
use std::ops::ControlFlow;

/// Values of the first look, evenly spaced in the logarithm.
const GRID: usize = 13;
/// Part of the bracket that a step of golden-section search keeps.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// The search ends when the bracket's ends are this close, relative to each other.
const CLOSE: f64 = 1.02;

/// A grid over the feasible set, then golden-section search around its best value. An iteration is one value.
pub(super) fn search(
    problem: &Problem,
    initial: &Choice,
    settings: &Settings,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    let slot = &initial.slots()[0];
    let (low, high) = slot.info.feasible.on(problem);
    let mut search = Search { problem, initial, settings, seed, observer, history: Vec::new(), reason: None };
    let step = (high / low).powf(1.0 / (GRID - 1) as f64);
    let grid: Vec<f64> = (0..GRID).map(|i| low * step.powi(i as i32)).collect();
    let mut best = (initial.params[0], f64::NEG_INFINITY);
    let mut bracket = (low, high);
    for (i, &x) in grid.iter().enumerate() {
        let Some(reward) = search.reward(x)? else { break };
        if reward > best.1 {
            best = (x, reward);
            bracket = (grid[i.saturating_sub(1)], grid[(i + 1).min(GRID - 1)]);
        }
    }
    // In logarithms: at a + (b - a) (1 - golden) and a + (b - a) golden.
    let inner = |(a, b): (f64, f64), part: f64| a * (b / a).powf(part);
    let (mut left, mut right) = (None, None);
    while search.reason.is_none() && bracket.1 / bracket.0 > CLOSE {
        let points = (inner(bracket, 1.0 - GOLDEN), inner(bracket, GOLDEN));
        for (point, reward) in [(points.0, &mut left), (points.1, &mut right)] {
            if reward.is_none() {
                *reward = search.reward(point)?;
            }
            if let Some(reward) = *reward
                && reward > best.1
            {
                best = (point, reward);
            }
        }
        let (Some(at_left), Some(at_right)) = (left, right) else { break };
        if at_left > at_right {
            bracket.1 = points.1;
            (left, right) = (None, left);
        } else {
            bracket.0 = points.0;
            (left, right) = (right, None);
        }
    }
    let last = search.history.last().and_then(|record| record.params.clone());
    Ok(Trained {
        policy: initial.with_params(problem, &[best.0])?,
        last: initial.with_params(problem, &last.unwrap_or_else(|| vec![best.0]))?,
        learning_rate: f64::NAN,
        stop_reason: search.reason.unwrap_or(StopReason::Converged),
        history: search.history,
    })
}

struct Search<'a> {
    problem: &'a Problem,
    initial: &'a Choice,
    settings: &'a Settings,
    seed: u64,
    observer: &'a mut dyn Observer,
    history: Vec<Record>,
    reason: Option<StopReason>,
}

impl Search<'_> {
    /// The mean reward at a value, or nothing if it is time to stop.
    fn reward(&mut self, x: f64) -> Result<Option<f64>> {
        if self.history.len() >= self.settings.iterations {
            self.reason = Some(StopReason::Iterations);
            return Ok(None);
        }
        let agent = self.initial.with_params(self.problem, &[x])?.agent(self.problem);
        let key = Key::new(self.seed).child(TRAINING);
        let job = Job::new(self.problem, key, Split::Train, Task::Evaluate);
        // What an iteration with gradients would cost.
        let estimator = &self.settings.estimator;
        let instances = estimator.batch_size * estimator.baseline.runs();
        let mut sum = 0.0;
        let done = batch::play(
            &[&*agent],
            &job,
            instances,
            |row| sum += row[0].reward,
            |_| {
                self.reason = self.observer.stop();
                if self.reason.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        if done.is_break() {
            return Ok(None);
        }
        let record =
            Record { iteration: self.history.len() + 1, params: Some(vec![x]), gradient_norm: f64::NAN };
        self.observer.iteration(&record, &[x]);
        self.history.push(record);
        Ok(Some(sum / instances as f64))
    }
}
