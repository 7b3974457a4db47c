//! Policies that choose without chance have no score: their one parameter is searched for, on training instances
//! that are the same at every value (common random numbers make the comparison sharp).

use super::ascent::{Ascent, TRAINING};
use super::kept::Found;
use super::trained::Trained;
use crate::error::{Error, Result};
use crate::numeric::search;
use crate::numeric::stream::Key;
use crate::observe::{Iteration, Observer, unless_stopped};
use crate::policy::Choice;
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::{Job, Task};
use crate::stop::StopReason;

/// A grid over the feasible set, then golden-section search around its best value. An iteration is one value, and
/// costs what an iteration with gradients would.
pub(super) fn train(
    problem: &Problem,
    initial: &Choice,
    ascent: &Ascent,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    let slots = initial.slots();
    let mut learned = slots.iter().filter(|slot| slot.param.learned && slot.range.len() == 1);
    let (Some(slot), 1) = (learned.next(), initial.learned()) else {
        let message = format!("{} has not one number to search for", initial.name());
        return Err(Error::new("policy", message));
    };
    let (low, high) = slot.param.feasible.on(problem);
    let at = |x: f64| {
        let mut params = initial.params().to_vec();
        params[slot.range.start] = x;
        params
    };
    let job = Job::new(problem, Key::new(seed).child(TRAINING), Split::Train, Task::Evaluate);
    let instances = ascent.estimator.runs();
    let mut history: Vec<Iteration> = Vec::new();
    let mut found = Found::new("search", observer);
    let mut reason = None;
    let best = search::largest(low, high, |x| {
        if history.len() >= ascent.iterations {
            reason = Some(StopReason::Iterations);
            return Ok(None);
        }
        let choice = initial.with_params(problem, &at(x))?;
        let value = |observer: &mut dyn Observer| mean_reward(&choice, &job, instances, observer);
        let reward = match unless_stopped(found.next(observer, value))? {
            Ok(reward) => reward,
            Err(why) => {
                reason = Some(why);
                return Ok(None);
            }
        };
        let record = Iteration::new(history.len() + 1, &at(x), None);
        observer.iteration(&record, &at(x));
        history.push(record);
        Ok(Some(reward))
    })?;
    let best = best.map_or_else(|| initial.params().to_vec(), at);
    let last = history.last().and_then(|record| record.params.clone()).unwrap_or_else(|| best.clone());
    let (policy, last) = (initial.with_params(problem, &best)?, initial.with_params(problem, &last)?);
    let stop_reason = reason.unwrap_or(StopReason::Converged);
    Ok(Trained { history, stop_reason, ..Trained::new(initial.clone(), policy, last) })
}

fn mean_reward(choice: &Choice, job: &Job, instances: usize, observer: &mut dyn Observer) -> Result<f64> {
    let player = choice.player(job.problem, observer)?;
    Ok(batch::means(&[&*player], job, instances, Quantity::Reward, observer)?[0])
}
