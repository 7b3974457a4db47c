//! The best possible policy, which knows the prior: what any other policy can be measured by.
//!
//! On a table of past instances it knows the ones that evaluation draws from: a bound, and not something to
//! deploy.

use crate::error::{Error, Result};
use crate::exact::{ArmPrior, Component, Mixture};
use crate::exact::bayes_optimal::BayesOptimal as Optimal;
use crate::exact::space::{self, Cost, LIMIT};
use crate::numeric::lanes::Real;
use crate::numeric::stream::Stream;
use crate::observe::Observer;
use crate::policy::decide::{Decide, Now, certain};
use crate::policy::definition::{Definition, Method, Worlds};
use crate::problem::{Prior, Problem, Split};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use std::sync::{Arc, Mutex, PoisonError};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "bayes-optimal",
    summary: "the best possible policy given the prior, by dynamic programming",
    worlds: Worlds::Plain,
    refuses: |problem| cost(problem).err().map(|error| refusal(&error)),
    player: |problem, _, observer| {
        let optimal = shared(problem, Split::HeldOut, observer)?;
        Ok(Box::new(Arms(BayesOptimal { optimal, arms: problem.arms })))
    },
    carries: |problem, _, _| Ok(numbers(&Mixture::of(problem, Split::HeldOut)?)),
    decider: |problem, _, observer| {
        let prior = prior(&problem.carried, problem.arms).map_err(|error| error.at("problem.carried"))?;
        let optimal = Arc::new(Optimal::new(&prior, problem.horizon, &LIMIT, observer)?);
        Ok(Box::new(BayesOptimal { optimal, arms: problem.arms }))
    },
    exact: Some(Method::Own(|problem, split, observer| Ok(shared(problem, split, observer)?.exact.clone()))),
    seconds: |problem, _| cost(problem).map_or(0.0, |cost| 3e-9 * cost.steps as f64),
    ..Definition::ARMS
};

/// What the dynamic programme takes, or why there is none.
fn cost(problem: &Problem) -> Result<Cost> {
    let (arms, horizon) = (problem.arms, problem.horizon);
    let components = Mixture::count(problem, Split::HeldOut)?;
    let points = problem.armed().is_some_and(|armed| matches!(armed.prior, Prior::Points(_)));
    if points && components <= 2 {
        let mixture = Mixture::of(problem, Split::HeldOut)?;
        return Optimal::plan(&mixture, horizon, &LIMIT).map(|plan| plan.cost());
    }
    let over_counts = |horizon| Cost::bayes_optimal(arms, horizon, components);
    space::check(arms, horizon, &LIMIT, over_counts)?;
    Ok(over_counts(horizon))
}

fn refusal(error: &Error) -> String {
    match error.kind() {
        crate::error::ErrorKind::TooLarge(message) => format!("is too large here: {message}"),
        kind => format!("has no dynamic programme here: {kind}"),
    }
}

/// The last one computed.
static MEMO: Mutex<Option<(Mixture, usize, Arc<Optimal>)>> = Mutex::new(None);

/// The optimal policy of a problem, computed or remembered.
fn shared(problem: &Problem, split: Split, observer: &mut dyn Observer) -> Result<Arc<Optimal>> {
    let (mixture, horizon) = (Mixture::of(problem, split)?, problem.horizon);
    if let Some((known, length, optimal)) = &*MEMO.lock().unwrap_or_else(PoisonError::into_inner)
        && (known, *length) == (&mixture, horizon)
    {
        return Ok(optimal.clone());
    }
    let optimal = Arc::new(Optimal::new(&mixture, horizon, &LIMIT, observer)?);
    *MEMO.lock().unwrap_or_else(PoisonError::into_inner) = Some((mixture, horizon, optimal.clone()));
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
fn prior(numbers: &[f64], arms: usize) -> Result<Mixture> {
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
