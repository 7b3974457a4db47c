//! After the ascent: a temperature that was learned slowly, so that the policy kept looking, may be lower once there
//! is nothing left to find. Sharper values are tried on training instances that are the same for each.

use super::Settings;
use crate::problem::{Problem, Split};
use crate::registry::Choice;
use crate::simulate::{Job, Task};
use crate::stream::Key;
use crate::{Result, batch};
use std::ops::ControlFlow;

/// Apart from the batches of training.
const POLISH: u64 = 7;
/// Each value is this part of the one before.
const FACTOR: f64 = 0.7;
const MOST: usize = 12;

/// The policy with each parameter that wants it lowered as long as the mean reward rises.
pub(super) fn polish(problem: &Problem, learned: Choice, settings: &Settings, seed: u64) -> Result<Choice> {
    let mut best = learned;
    for slot in best.slots().iter().filter(|slot| slot.info.polished) {
        let mut reward = mean_reward(problem, &best, settings, seed);
        for _ in 0..MOST {
            let mut params = best.params.clone();
            params[slot.range.start] *= FACTOR;
            best.project(problem, &mut params);
            let sharper = best.with_params(problem, &params)?;
            let found = mean_reward(problem, &sharper, settings, seed);
            if found <= reward {
                break;
            }
            (best, reward) = (sharper, found);
        }
    }
    Ok(best)
}

/// On four batches' worth of runs: enough to tell a few per cent of regret apart on common instances.
fn mean_reward(problem: &Problem, choice: &Choice, settings: &Settings, seed: u64) -> f64 {
    let agent = choice.agent(problem);
    let job = Job::new(problem, Key::new(seed).child(POLISH), Split::Train, Task::Evaluate);
    let instances = 4 * settings.estimator.batch_size * settings.estimator.baseline.runs();
    let mut sum = 0.0;
    let _ =
        batch::play(&[&*agent], &job, instances, |row| sum += row[0].reward, |_| ControlFlow::Continue(()));
    sum / instances as f64
}
