//! Answers without sampling error: dynamic programmes over the counts of a Bernoulli bandit.
//!
//! Uses numbers and problems. A policy that sees only `(successes, pulls)` of each arm is a [`CountKernel`]; so is the
//! likelihood. One forward pass over the counts gives the Bayes reward and its gradient for any prior ([`forward()`]),
//! one backward pass the best possible policy ([`BayesOptimal`]).

pub(crate) mod bayes_optimal;
pub(crate) mod belief;
pub(crate) mod forward;
pub(crate) mod gittins;
pub(crate) mod index;
mod last_layer;
pub(crate) mod mixture;
pub(crate) mod softmax;
pub(crate) mod space;

pub use bayes_optimal::BayesOptimal;
pub use belief::TwoPoints;
pub use forward::{CountKernel, Exact, forward};
pub use gittins::{
    GittinsTable, MAX_HORIZON as MAX_GITTINS_HORIZON, Store, keep_in, shared as gittins_table,
};
pub use mixture::{ArmPrior, Component, Mixture};
pub use space::{Cost, LIMIT};

use crate::error::Result;
use crate::observe::{Iteration, Observer, Progress};
use crate::stop::StopReason;
use std::ops::ControlFlow;

/// One policy of a mixture, which is drawn before the first round.
pub(crate) struct Part {
    /// Its probability.
    pub weight: f64,
    /// The derivatives of its probability in the mixture's parameters.
    pub slopes: Vec<f64>,
    /// What it plays.
    pub policy: Box<dyn CountKernel>,
}

impl Part {
    /// The only policy of a mixture.
    pub fn only(policy: impl CountKernel + 'static) -> Vec<Self> {
        vec![Self { weight: 1.0, slopes: vec![0.0; policy.dim()], policy: Box::new(policy) }]
    }
}

/// r = sum_k weight_k r_k, and its derivatives by the product rule.
pub(crate) fn mixture(
    parts: &[Part],
    prior: &Mixture,
    horizon: usize,
    observer: &mut dyn Observer,
) -> Result<Exact> {
    let dim = parts.iter().map(|part| part.slopes.len()).max().unwrap_or(0);
    let mut total = Exact { bayes_reward: 0.0, bayes_regret: 0.0, gradient: vec![0.0; dim], states: 0 };
    for (k, part) in parts.iter().enumerate() {
        let mut share = Share { observer: &mut *observer, k: k as u64, count: parts.len() as u64 };
        let exact = forward(&*part.policy, prior, horizon, &mut share)?;
        total.bayes_reward += part.weight * exact.bayes_reward;
        total.bayes_regret += part.weight * exact.bayes_regret;
        total.states += exact.states;
        for (i, (out, slope)) in total.gradient.iter_mut().zip(&part.slopes).enumerate() {
            *out += part.weight * exact.gradient.get(i).unwrap_or(&0.0) + slope * exact.bayes_reward;
        }
    }
    Ok(total)
}

/// Work that is the k-th of several alike.
struct Share<'a> {
    observer: &'a mut dyn Observer,
    k: u64,
    count: u64,
}

impl Observer for Share<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        let Progress { done, total, .. } = progress;
        self.observer.progress(Progress {
            done: self.k * total + done,
            total: self.count * total,
            ..progress
        })
    }

    fn iteration(&mut self, iteration: &Iteration, params: &[f64]) {
        self.observer.iteration(iteration, params);
    }
}
