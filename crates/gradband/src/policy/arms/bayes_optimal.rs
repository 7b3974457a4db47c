//! The best possible policy, which knows the prior: what any other policy can be measured by.
//!
//! On a table of past instances it knows the ones that evaluation draws from: a bound, and not something to
//! deploy.

use crate::error::{Error, Result};
use crate::exact::Mixture;
use crate::exact::bayes_optimal::BayesOptimal as Optimal;
use crate::exact::space::{self, Cost, LIMIT};
use crate::numeric::lanes::Real;
use crate::numeric::stream::Stream;
use crate::observe::Observer;
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
        Ok(Box::new(Arms(BayesOptimal { optimal: shared(problem, Split::HeldOut, observer)? })))
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

/// Bayes-optimal play.
#[derive(Clone, Debug)]
pub struct BayesOptimal {
    optimal: Arc<Optimal>,
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
