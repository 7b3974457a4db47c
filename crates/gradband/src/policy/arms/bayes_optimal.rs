//! The best possible policy, which knows the prior: what any other policy can be measured by. Of all policies, the one with
//! the largest E[sum of rewards], by dynamic programming over the counts.
//!
//! On a table of past instances it knows the ones that evaluation draws from: a bound, and not something to
//! deploy. With `prior=fit` it is the best policy if every mean is drawn from the Beta that fits the past arms, and with
//! `prior=beta` from Beta(alpha, beta): policies that can be used, whatever the means are drawn from.

use crate::error::{Error, ErrorKind, Result};
use crate::exact::bayes_optimal::BayesOptimal as Optimal;
use crate::exact::space::{self, Cost, LIMIT};
use crate::exact::{ArmPrior, Component, Exact, Mixture, forward};
use crate::numeric::lanes::Real;
use crate::numeric::stream::Stream;
use crate::observe::Observer;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now, certain};
use crate::policy::definition::{Definition, Method, Worlds};
use crate::policy::fit;
use crate::policy::params::{Allowed, Setting};
use crate::problem::{Prior, Problem, Rewards, Split};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use std::sync::{Arc, Mutex, PoisonError};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "bayes-optimal",
    summary: "the best possible policy given the prior, or a Beta prior, by dynamic programming",
    params: &[fit::ALPHA.when("prior", &["beta", "fit"]), fit::BETA.when("prior", &["beta", "fit"])],
    settings: &[Setting {
        name: "prior",
        allowed: Allowed::OneOf(&["known", "beta", "fit"]),
        summary: "what it is optimal for: the prior of the problem, Beta(alpha, beta) arms (1 and 1 unless they are given), \
                  or the Beta that fits the past arms of the training part",
    }],
    worlds: Worlds::Plain,
    refuses: |problem| refuses(problem, true),
    refuses_as: Some(|problem, choice| refuses(problem, knows_prior(choice))),
    player: |problem, choice, observer| {
        let prior = prior(problem, choice, Split::HeldOut)?;
        let optimal = shared(prior, problem.horizon, observer)?;
        Ok(Box::new(Arms(BayesOptimal { optimal, arms: problem.arms })))
    },
    carries: |problem, choice, _| Ok(numbers(&prior(problem, choice, Split::HeldOut)?)),
    decider: |problem, _, observer| {
        let prior = carried(&problem.carried, problem.arms).map_err(|error| error.at("problem.carried"))?;
        Ok(Box::new(BayesOptimal { optimal: shared(prior, problem.horizon, observer)?, arms: problem.arms }))
    },
    exact: Some(Method::Own(exact)),
    seconds: |problem, choice| {
        cost(problem, choice.is_none_or(knows_prior)).map_or(0.0, |cost| 3e-9 * cost.steps as f64)
    },
    ..Definition::ARMS
};

/// Is it optimal for the prior of the problem?
fn knows_prior(choice: &Choice) -> bool {
    choice.word("prior") == Some("known")
}

/// What it is optimal for.
fn prior(problem: &Problem, choice: &Choice, split: Split) -> Result<Mixture> {
    if knows_prior(choice) {
        return Mixture::of(problem, split);
    }
    let of_arms = |name| Ok(vec![choice.scalar(name)?; problem.arms]);
    Mixture::beta(&of_arms("alpha")?, &of_arms("beta")?)
}

fn exact(problem: &Problem, choice: &Choice, split: Split, observer: &mut dyn Observer) -> Result<Exact> {
    let optimal = shared(prior(problem, choice, split)?, problem.horizon, observer)?;
    if knows_prior(choice) {
        return Ok(optimal.exact.clone());
    }
    let (arms, horizon, components) = (problem.arms, problem.horizon, Mixture::count(problem, split)?);
    space::check(arms, horizon, &LIMIT, |horizon| Cost::evaluation(arms, horizon, 0, components))?;
    forward(&*optimal, &Mixture::of(problem, split)?, horizon, observer)
}

/// What the dynamic programme takes, or why there is none.
fn cost(problem: &Problem, knows_prior: bool) -> Result<Cost> {
    if !knows_prior {
        return match problem.armed() {
            Some(armed) if matches!(armed.rewards, Rewards::Bernoulli(_)) => over_counts(problem, 1),
            _ => Err(Error::new("problem", format!("it needs Bernoulli rewards, not {} ones", problem.kind()))),
        };
    }
    let components = Mixture::count(problem, Split::HeldOut)?;
    let points = problem.armed().is_some_and(|armed| matches!(armed.prior, Prior::Points(_)));
    if points && components <= 2 {
        let mixture = Mixture::of(problem, Split::HeldOut)?;
        return Optimal::plan(&mixture, problem.horizon, &LIMIT).map(|plan| plan.cost());
    }
    over_counts(problem, components)
}

fn over_counts(problem: &Problem, components: usize) -> Result<Cost> {
    let cost = |horizon| Cost::bayes_optimal(problem.arms, horizon, components);
    space::check(problem.arms, problem.horizon, &LIMIT, cost)?;
    Ok(cost(problem.horizon))
}

fn refuses(problem: &Problem, knows_prior: bool) -> Option<String> {
    let error = cost(problem, knows_prior).err()?;
    let reason = match error.kind() {
        ErrorKind::TooLarge(message) => format!("is too large here: {message}"),
        kind => format!("has no dynamic programme here: {kind}"),
    };
    let remedy = if knows_prior && cost(problem, false).is_ok() { "; bayes-optimal(prior=fit) has one" } else { "" };
    Some(reason + remedy)
}

/// The last ones computed: a policy that knows the prior and one that was fitted are played side by side.
static MEMO: Mutex<Vec<(Mixture, usize, Arc<Optimal>)>> = Mutex::new(Vec::new());
const REMEMBERED: usize = 2;

/// The optimal policy under a prior, computed or remembered.
fn shared(prior: Mixture, horizon: usize, observer: &mut dyn Observer) -> Result<Arc<Optimal>> {
    let memo = || MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, optimal)) = memo().iter().find(|(known, n, _)| (known, *n) == (&prior, horizon)) {
        return Ok(optimal.clone());
    }
    let optimal = Arc::new(Optimal::new(&prior, horizon, &LIMIT, observer)?);
    let mut memo = memo();
    memo.truncate(REMEMBERED - 1);
    memo.insert(0, (prior, horizon, optimal.clone()));
    Ok(optimal)
}

/// A prior as numbers: for each component its weight, then alpha and beta of each arm. Of an arm whose mean is known they are
/// the mean and zero.
fn numbers(prior: &Mixture) -> Vec<f64> {
    let pair = |arm: &ArmPrior| match *arm {
        ArmPrior::Point(mean) => [mean, 0.0],
        ArmPrior::Beta { alpha, beta } => [alpha, beta],
    };
    let component = |part: &Component| [part.weight].into_iter().chain(part.arms.iter().flat_map(pair).collect::<Vec<_>>());
    prior.components().iter().flat_map(component).collect()
}

/// The prior back from its numbers.
fn carried(numbers: &[f64], arms: usize) -> Result<Mixture> {
    let arm = |&[alpha, beta]: &[f64; 2]| match beta {
        0.0 => ArmPrior::Point(alpha),
        _ => ArmPrior::Beta { alpha, beta },
    };
    let component = |numbers: &[f64]| Component {
        weight: numbers[0],
        arms: numbers[1..].as_chunks().0.iter().map(arm).collect(),
    };
    if !numbers.len().is_multiple_of(1 + 2 * arms) {
        return Err(Error::new("prior", format!("found {} numbers, expected {} for each component", numbers.len(), 1 + 2 * arms)));
    }
    Mixture::new(numbers.chunks_exact(1 + 2 * arms).map(component).collect())
}

/// Bayes-optimal play.
#[derive(Clone, Debug)]
pub struct BayesOptimal {
    optimal: Arc<Optimal>,
    arms: usize,
}

impl Decide for BayesOptimal {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let pulls: Vec<_> = now.arms.iter().map(|arm| arm.pulls as u32).collect();
        let successes: Vec<_> = now.arms.iter().map(|arm| (arm.successes() + 0.5) as u32).collect();
        certain(self.optimal.action(&pulls, &successes), weights);
        Ok(())
    }
    fn arms(&self) -> Option<usize> {
        Some(self.arms)
    }
    fn ends(&self) -> bool {
        true
    }
    fn is_certain(&self) -> bool {
        true
    }
}

impl ArmsKernel<0> for BayesOptimal {
    const USES: Uses = Uses::Sums;
    const LONG: bool = false;

    fn unscored(&self) -> Option<&'static str> {
        Some("plays the best arm with certainty: there is nothing to learn")
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        _actions: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let first = history.pulls[0];
        let arms = history.pulls.len();
        let mut counts = vec![0; 2 * arms];
        let (pulls, successes) = counts.split_at_mut(arms);
        R::from_fn(
            first.token(),
            #[inline(always)]
            |lane| {
                for arm in 0..arms {
                    pulls[arm] = history.pulls[arm].lane(lane) as u32;
                    successes[arm] = history.sums[arm].lane(lane) as u32;
                }
                self.optimal.action(pulls, successes) as f64
            },
        )
    }
}

#[cfg(test)]
mod tests;
