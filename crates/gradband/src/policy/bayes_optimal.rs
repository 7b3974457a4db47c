//! The best possible policy, which knows the prior: what any other policy can be measured by.
//!
//! On a table of past instances it knows the ones that evaluation draws from: a bound, and not something to
//! deploy.

use super::{History, Policy, Uses};
use crate::Result;
use crate::exact::bayes_optimal::BayesOptimal as Optimal;
use crate::exact::space::{self, Cost, LIMIT};
use crate::exact::{Method, Prior, Progress, unhurried};
use crate::lanes::Real;
use crate::problem::{self, Problem, Split};
use crate::registry::{Plays, PolicyInfo, Preparation, Trainer};
use crate::stream::Stream;
use std::sync::{Arc, Mutex, PoisonError};

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "bayes-optimal",
    summary: "the best possible policy given the prior, by dynamic programming",
    params: &[],
    settings: &[],
    trainer: Trainer::Score,
    plays: Plays::Arms,
    refuses: |problem| cost(problem).err(),
    build: |problem, _| Box::new(BayesOptimal::new(problem)),
    exact: Some(Method::Own(|problem, split, progress| {
        Ok(shared(problem, split, progress)?.map(|optimal| optimal.exact.clone()))
    })),
    preparation: Some(Preparation {
        seconds: |problem| cost(problem).map_or(0.0, |cost| 3e-9 * cost.steps as f64),
        run: |problem, progress| match shared(problem, Split::HeldOut, progress) {
            Ok(done) => done.map(drop),
            Err(_) => Some(()), // refused: nothing to prepare
        },
    }),
};

/// What the dynamic programme takes, or why there is none.
fn cost(problem: &Problem) -> std::result::Result<Cost, String> {
    let Some(prior) = problem.bernoulli_prior() else {
        return Err(format!("is for Bernoulli rewards, not {} ones", problem.kind()));
    };
    let (arms, horizon) = (problem.arms, problem.horizon);
    let components = match prior {
        problem::Prior::Points(points) if points.iter().count() <= 2 => {
            let plan =
                Prior::of(problem, Split::HeldOut).and_then(|prior| Optimal::plan(&prior, horizon, &LIMIT));
            return plan.map(|(_, cost)| cost).map_err(|error| refusal(&error.message));
        }
        problem::Prior::Points(points) => points.iter().count(),
        prior => prior.clusters(Split::HeldOut).unwrap_or(1),
    };
    let over_counts = |horizon| Cost::bayes_optimal(arms, horizon, components);
    space::check(arms, horizon, &LIMIT, over_counts).map_err(|error| refusal(&error.message))?;
    Ok(over_counts(horizon))
}

fn refusal(message: &str) -> String {
    format!("is too large here: {message}")
}

/// The last one computed.
static MEMO: Mutex<Option<(Prior, usize, Arc<Optimal>)>> = Mutex::new(None);

/// The optimal policy of a problem, computed or remembered; `None` if `progress` stops it.
fn shared(problem: &Problem, split: Split, progress: &mut Progress) -> Result<Option<Arc<Optimal>>> {
    let (prior, horizon) = (Prior::of(problem, split)?, problem.horizon);
    if let Some((known, length, optimal)) = &*MEMO.lock().unwrap_or_else(PoisonError::into_inner)
        && (known, *length) == (&prior, horizon)
    {
        return Ok(Some(optimal.clone()));
    }
    let Some(optimal) = Optimal::new(&prior, horizon, &LIMIT, progress)? else { return Ok(None) };
    let optimal = Arc::new(optimal);
    *MEMO.lock().unwrap_or_else(PoisonError::into_inner) = Some((prior, horizon, optimal.clone()));
    Ok(Some(optimal))
}

/// Bayes-optimal play.
#[derive(Clone, Debug)]
pub struct BayesOptimal {
    /// Nothing for a problem that the registry refuses: it then plays the first arm.
    optimal: Option<Arc<Optimal>>,
}

impl BayesOptimal {
    /// For a problem; computed unless it is remembered.
    pub fn new(problem: &Problem) -> Self {
        Self { optimal: shared(problem, Split::HeldOut, &mut unhurried).ok().flatten() }
    }
}

impl Policy for BayesOptimal {
    const USES: Uses = Uses::Sums;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        _actions: &mut Stream<R>,
        _score: &mut R,
    ) -> R {
        let first = history.pulls[0];
        let Some(optimal) = &self.optimal else { return first.zero() };
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
                optimal.action(pulls, successes) as f64
            },
        )
    }
}
