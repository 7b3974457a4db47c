//! Answers without sampling error: dynamic programmes over the counts of a Bernoulli bandit.
//!
//! A count-based policy sees only `(successes, pulls)` of each arm, and so does the likelihood. One forward
//! pass over the counts gives the Bayes reward and its gradient for any prior ([`forward()`]), one backward
//! pass the best possible policy ([`BayesOptimal`]).

pub mod bayes_optimal;
pub mod belief;
pub mod forward;
pub mod gittins;
pub mod index;
mod last_layer;
pub mod prior;
pub mod quadrature;
pub(crate) mod softmax;
pub mod space;
pub mod special;

pub use bayes_optimal::BayesOptimal;
pub use belief::TwoPoints;
pub use forward::{CountPolicy, Exact, forward};
pub use prior::{ArmPrior, Prior};

use crate::problem::{Problem, Split};
use crate::registry::{Choice, applicable};
use crate::{Error, Result};
use fearless_simd::{Level, Simd};
use space::{Cost, LIMIT};
use std::ops::ControlFlow;

/// Hears how much of how much work is done, now and then, and may stop it.
pub type Progress<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// Progress that nobody watches.
pub fn unhurried(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Runs `kernel` compiled for AVX2 where the machine has it. The bits are the same: nothing is fused.
#[inline(always)]
pub(crate) fn vectorized<R>(kernel: impl FnOnce() -> R) -> R {
    match Level::new().as_avx2() {
        Some(simd) => simd.vectorize(kernel),
        None => kernel(),
    }
}

/// How a policy of the registry is evaluated.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    /// As a mixture of count-based policies, one of which is drawn before the first round.
    Counts(fn(&Problem, &Choice) -> Vec<Part>),
    /// In its own way, on one side of a table's split; `None` if it was stopped.
    Own(fn(&Problem, Split, &mut Progress) -> Result<Option<Exact>>),
}

/// One policy of a mixture.
pub struct Part {
    /// Its probability.
    pub weight: f64,
    /// The derivative of its probability in the mixture's parameter.
    pub slope: f64,
    /// What it plays.
    pub policy: Box<dyn CountPolicy>,
}

impl Part {
    /// The only policy of a mixture.
    pub(crate) fn only(policy: impl CountPolicy + 'static) -> Vec<Self> {
        vec![Self { weight: 1.0, slope: 0.0, policy: Box::new(policy) }]
    }
}

pub(crate) fn not_bernoulli(problem: &Problem) -> Error {
    let message = format!("only Bernoulli rewards have exact results, not {} ones", problem.kind());
    Error::new("PROBLEM", message)
}

/// Refuses problems and policies that have no exact result, and those that take too much memory or time.
pub fn check(problem: &Problem, choice: &Choice, split: Split) -> Result<()> {
    let prior = problem.bernoulli_prior().ok_or_else(|| not_bernoulli(problem))?;
    match choice.info.exact {
        Some(Method::Counts(_)) => {
            let components = match prior {
                crate::problem::Prior::Points(points) => points.iter().count(),
                prior => prior.clusters(split).unwrap_or(1),
            };
            let (arms, dim) = (problem.arms, choice.params.len());
            space::check(arms, problem.horizon, &LIMIT, |horizon| {
                Cost::evaluation(arms, horizon, dim, components)
            })
        }
        Some(Method::Own(_)) => Ok(()),
        None => {
            let known: Vec<_> =
                applicable(problem).filter(|info| info.exact.is_some()).map(|info| info.name).collect();
            let message = format!(
                "{} plays by more than the counts of each arm and has no exact result; use one of {}",
                choice.info.name,
                known.join(", ")
            );
            Err(Error::new("policy", message))
        }
    }
}

/// The exact Bayes reward and regret of a policy, and the gradient of the reward, on one side of a table's
/// split; `None` if `progress` stops it.
pub fn evaluate(
    problem: &Problem,
    choice: &Choice,
    split: Split,
    progress: &mut Progress,
) -> Result<Option<Exact>> {
    check(problem, choice, split)?;
    let prior = Prior::of(problem, split)?;
    match choice.info.exact {
        Some(Method::Own(evaluate)) => evaluate(problem, split, progress),
        Some(Method::Counts(parts)) => {
            let parts = parts(problem, choice);
            let dim = choice.params.len();
            Ok(mixture(&parts, &prior, problem.horizon, dim, progress))
        }
        None => Ok(None),
    }
}

/// r = sum_k weight_k r_k, and its derivative by the product rule.
fn mixture(
    parts: &[Part],
    prior: &Prior,
    horizon: usize,
    dim: usize,
    progress: &mut Progress,
) -> Option<Exact> {
    let count = parts.len() as u64;
    let mut total = Exact { bayes_reward: 0.0, bayes_regret: 0.0, gradient: vec![0.0; dim], states: 0 };
    for (k, part) in (0..).zip(parts) {
        let exact =
            forward(&*part.policy, prior, horizon, &mut |done, all| progress(k * all + done, count * all))?;
        total.bayes_reward += part.weight * exact.bayes_reward;
        total.bayes_regret += part.weight * exact.bayes_regret;
        total.states += exact.states;
        for (i, slope) in total.gradient.iter_mut().enumerate() {
            *slope += part.weight * exact.gradient.get(i).unwrap_or(&0.0) + part.slope * exact.bayes_reward;
        }
    }
    Some(total)
}
