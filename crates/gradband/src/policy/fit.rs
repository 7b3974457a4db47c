//! What a policy can know of the past without learning: the prior of an arm, fitted to the training part, and one number
//! that is searched for there.

use super::choice::Choice;
use super::params::{Allowed, Initial, Param, Range, Setting};
use crate::error::Result;
use crate::numeric::search;
use crate::numeric::stream::Key;
use crate::observe::Observer;
use crate::problem::{Problem, Split};
use crate::simulate::batch::{self, Quantity};
use crate::simulate::{Job, Task};

/// Where alpha and beta come from.
pub(super) const PRIOR: Setting = Setting {
    name: "prior",
    allowed: Allowed::OneOf(&["flat", "fit"]),
    summary: "alpha and beta are 1 unless they are given, or those of the Beta that fits the past arms of the training part",
};

/// The prior Beta(alpha, beta) of an arm's mean.
pub(super) const ALPHA: Param = of_prior("alpha", |problem, choice| Ok(prior(problem, choice).0));
pub(super) const BETA: Param = of_prior("beta", |problem, choice| Ok(prior(problem, choice).1));

const fn of_prior(name: &'static str, start: fn(&Problem, &Choice) -> Result<f64>) -> Param {
    let range = Range::new(1e-3, 1e6);
    Param::number(name, Initial::Setting("prior", start), range, range).unsaid_at(1.0).set()
}

fn prior(problem: &Problem, choice: &Choice) -> (f64, f64) {
    let fitted = if choice.word("prior") == Some("fit") { problem.past_arms() } else { None };
    fitted.and_then(|past| past.beta).unwrap_or((1.0, 1.0))
}

/// Nanoseconds that a search may take on one core, and the values that it may try.
const PATIENCE: f64 = 2e9;
const VALUES: usize = 30;
/// Its randomness: that of a training with seed 0.
const TRAINING: u64 = 2;

/// The point of a grid, or near it, with the least regret on training instances, which are the same at every point. A run
/// takes so many nanoseconds.
pub(super) fn searched_on_grid(
    problem: &Problem,
    run_cost: f64,
    axes: [&[f64]; 2],
    at: impl Fn([f64; 2]) -> Result<Choice>,
    observer: &mut dyn Observer,
) -> Result<[f64; 2]> {
    let instances = ((PATIENCE / run_cost) as usize / VALUES).clamp(50, 1000);
    let job = Job::new(problem, Key::new(0).child(TRAINING), Split::Train, Task::Evaluate);
    search::on_grid(axes, 2, |point| {
        let player = at(point)?.player(problem, observer)?;
        Ok(batch::means(&[&*player], &job, instances, Quantity::Reward, observer)?[0])
    })
}

/// The number between two with the least regret on training instances, which are the same at every value; 1 if nothing can
/// be tried. A run takes so many nanoseconds.
pub(super) fn searched(
    problem: &Problem,
    run_cost: f64,
    (low, high): (f64, f64),
    at: impl Fn(f64) -> Result<Choice>,
    observer: &mut dyn Observer,
) -> Result<f64> {
    let instances = ((PATIENCE / run_cost) as usize / VALUES).clamp(50, 1000);
    let job = Job::new(problem, Key::new(0).child(TRAINING), Split::Train, Task::Evaluate);
    let mut left = VALUES;
    let best = search::largest(low, high, |x| {
        if left == 0 {
            return Ok(None);
        }
        left -= 1;
        let player = at(x)?.player(problem, observer)?;
        Ok(Some(batch::means(&[&*player], &job, instances, Quantity::Reward, observer)?[0]))
    })?;
    Ok(best.unwrap_or(1.0))
}
