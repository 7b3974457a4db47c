//! After the ascent: a temperature that was learned slowly, so that the policy kept looking, may be lower once there
//! is nothing left to find. Sharper values are tried on training instances that are the same for each.

use super::kept::Found;
use super::start::Start;
use crate::error::Result;
use crate::numeric::stream::Key;
use crate::observe::{Observer, unless_stopped};
use crate::policy::Choice;
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::{Job, Task};
use crate::stop::StopReason;

/// Apart from the batches of training.
const POLISH: u64 = 7;
/// Each value is this part of the one before.
const FACTOR: f64 = 0.7;
const MOST: usize = 12;

/// The policy with each parameter that wants it lowered as long as the mean reward rises, on so many runs; from the
/// history it may end without any chance. When the observer stops it, that is the best so far, with the reason.
pub(super) fn polish(
    problem: &Problem,
    learned: Choice,
    runs: usize,
    start: Start,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(Choice, Option<StopReason>)> {
    let mut best = learned;
    let stopped = unless_stopped(sharpen(problem, &mut best, runs, start, seed, observer))?.err();
    Ok((best, stopped))
}

fn sharpen(
    problem: &Problem,
    best: &mut Choice,
    runs: usize,
    start: Start,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<()> {
    let job = Job::new(problem, Key::new(seed).child(POLISH), Split::Train, Task::Evaluate);
    let mut found = Found::new("polish", observer);
    let mut mean_reward = |choice: &Choice| {
        found.next(observer, |observer| {
            let player = choice.player(problem, observer)?;
            Ok(batch::means(&[&*player], &job, runs, Quantity::Reward, observer)?[0])
        })
    };
    for slot in best.slots().iter().filter(|slot| slot.param.polished) {
        let mut reward = mean_reward(best)?;
        for _ in 0..MOST {
            let mut params = best.params().to_vec();
            params[slot.range.start] *= FACTOR;
            best.project(problem, &mut params);
            let sharper = best.with_params(problem, &params)?;
            let found = mean_reward(&sharper)?;
            if found <= reward {
                break;
            }
            (*best, reward) = (sharper, found);
        }
        if start == Start::History {
            let hard = best.hard(problem)?;
            if mean_reward(&hard)? >= reward {
                *best = hard;
            }
        }
    }
    Ok(())
}
