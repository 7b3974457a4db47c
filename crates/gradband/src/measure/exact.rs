//! A policy's value without sampling error, where its problem is small enough.

use crate::error::{Error, Result};
use crate::exact::space::{self, Cost, LIMIT};
use crate::exact::{Exact, Mixture, mixture};
use crate::observe::Observer;
use crate::policy::{Choice, Method, PolicyKind, applicable};
use crate::problem::{Problem, Split};

/// Refuses problems and policies that have no exact result, and those that take too much memory or time.
pub fn check_exact(problem: &Problem, choice: &Choice, split: Split) -> Result<()> {
    choice.check_problem(problem)?;
    if !problem.world().is_plain() {
        let message = format!(
            "{problem}: exact results are for rewards that are known at once, without a floor, over a known number of rounds; \
             simulate instead"
        );
        return Err(Error::new("problem", message));
    }
    let components = Mixture::count(problem, split)?;
    if !choice.kind().is_exact() {
        let known: Vec<_> =
            applicable(problem).filter(|kind| kind.is_exact()).map(PolicyKind::name).collect();
        let message = format!(
            "{} plays by more than the counts of each arm and has no exact result; use one of {}",
            choice.name(),
            known.join(", ")
        );
        return Err(Error::new("policy", message));
    }
    if matches!(choice.kind().method(), Some(Method::Own(_))) {
        return Ok(());
    }
    let (arms, dim) = (problem.arms, choice.learned());
    space::check(arms, problem.horizon, &LIMIT, |horizon| Cost::evaluation(arms, horizon, dim, components))
}

/// The exact Bayes reward and regret of a policy, and the gradient of the reward, on one side of a table's split.
pub fn exact(problem: &Problem, choice: &Choice, split: Split, observer: &mut dyn Observer) -> Result<Exact> {
    check_exact(problem, choice, split)?;
    if let Some(Method::Own(evaluate)) = choice.kind().method() {
        return evaluate(problem, choice, split, observer);
    }
    match choice.kind().parts(problem, choice, observer)? {
        Some(parts) => mixture(&parts, &Mixture::of(problem, split)?, problem.horizon, observer),
        None => Err(Error::new("policy", format!("{} has no exact result", choice.name()))),
    }
}
