//! Training from where the history says, and as far as parts of it that are kept aside want to go.

use super::ascent::{Ascent, Average};
use super::start::{self, Begun, Start};
use super::trained::Trained;
use super::trouble::HandedOut;
use super::validate;
use crate::error::Result;
use crate::observe::Observer;
use crate::policy::Choice;
use crate::problem::{Problem, Split};

/// Does the past have a say beyond the gradient: in where training starts, or in how far it goes? In the paper's setting,
/// which hands out the last iterate, it has none; and one number cannot fit much chance.
pub(super) fn matters(ascent: &Ascent, problem: &Problem, initial: &Choice) -> bool {
    let sampled = ascent.average == Average::Tail && problem.clusters(Split::Train).is_some();
    ascent.start == Start::History || sampled && initial.learned() > 1
}

/// Optimises `initial` on the training instances of `problem`.
pub(super) fn train(
    ascent: &Ascent,
    problem: &Problem,
    initial: &Choice,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Trained> {
    initial.scored_player(problem, observer)?;
    let route = validate::route(ascent, problem, initial, seed, observer)?;
    let begun = match (ascent.start, route.which()) {
        (Start::Identity, _) => None,
        (Start::History, HandedOut::Plain) => start::plain(problem, initial, seed, observer)?,
        (Start::History, _) => start::history(problem, initial, seed, observer)?,
    };
    let start = begun.as_ref().map(|begun| begun.choice.clone());
    let begun = begun.unwrap_or_else(|| Begun::at(initial));
    let iterations = route.iterations(ascent.iterations);
    let trained = ascent.from(problem, &begun, iterations, seed, observer)?;
    let troubles = route.trouble(ascent.iterations).into_iter().chain(trained.troubles).collect();
    Ok(Trained { initial: initial.clone(), start, troubles, ..trained })
}
