//! What is handed out: the mean of the last iterates, unless something on the way was better on training instances that no
//! batch has seen. They are the same for every candidate.

use super::kept;
use super::trouble::{HandedOut, Trouble};
use crate::error::Result;
use crate::measure::training_regret;
use crate::observe::Observer;
use crate::policy::Choice;
use crate::problem::Problem;

/// Batches' worth of runs on which candidates are compared.
const BATCHES: usize = 2;
/// Another candidate must be better by this part of the regret: less is noise, and the mean is the steadiest.
const MARGIN: f64 = 0.01;

/// The candidate with the least regret on training instances, the first one unless another is clearly better, and what
/// that says of the training. An iteration of it had so many runs.
pub(super) fn choose(
    problem: &Problem,
    mut candidates: Vec<(HandedOut, Choice)>,
    runs: usize,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(Choice, Option<Trouble>)> {
    let choices: Vec<&Choice> = candidates.iter().map(|(_, choice)| choice).collect();
    let each = |regrets: &Vec<f64>| regrets.len() == choices.len();
    let regrets = kept::step(observer, "candidates", each, |observer| {
        training_regret(&choices, problem, seed, BATCHES * runs, observer)
    })?;
    let mut best = 0;
    for i in 1..candidates.len() {
        let margin = if best == 0 { MARGIN * regrets[0] } else { 0.0 };
        if regrets[i] < regrets[best] - margin {
            best = i;
        }
    }
    let better = (regrets[0] - regrets[best]) / regrets[0].max(f64::MIN_POSITIVE);
    let (which, choice) = candidates.swap_remove(best);
    Ok((choice, Trouble::setback(which, better)))
}
