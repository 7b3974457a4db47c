//! Policies for contexts, most of them rules on estimated means and variances in a projected space.

super::definition::policies![
    cosoftelim,
    soft_ucb,
    lin_thompson,
    lin_epsilon_greedy,
    linucb,
    mom_thompson,
    contextual_explore_then_commit,
];

pub use mom_thompson::subspace as mom_subspace;

use super::choice::Choice;
use super::decide::{Decide, Linear};
use super::params::{Allowed, Setting, SettingValue};
use crate::problem::Problem;
use crate::simulate::Player;
use crate::simulate::linear::{LinearKernel, LinearPlayer, Projection};

/// The noise that is assumed where the problem does not know it: rewards of 0 or 1 have at most this.
const DEFAULT_NOISE_SD: f64 = 0.5;
/// A policy needs some noise to divide by.
const LEAST_NOISE_SD: f64 = 1e-3;
const DEFAULT_RIDGE: f64 = 1.0;

pub(super) const RIDGE: Setting = Setting {
    name: "ridge",
    allowed: Allowed::Number { low: 1e-6, high: 1e6, default: SettingValue::Number(DEFAULT_RIDGE) },
    summary: "lambda of the ridge regression",
};
pub(super) const NOISE_SD: Setting = Setting {
    name: "noise_sd",
    allowed: Allowed::Number { low: LEAST_NOISE_SD, high: 1e6, default: SettingValue::Auto },
    summary: "sigma; auto: the problem's, else 0.5",
};
pub(super) const RANK: Setting = Setting {
    name: "rank",
    allowed: Allowed::Rank,
    summary: "rows of W; auto: as many as features, or what the history needs",
};
pub(super) const INTERCEPT: Setting = Setting {
    name: "intercept",
    allowed: Allowed::OneOf(&["auto", "true", "false"]),
    summary: "a constant feature after the others; auto: if training starts from labelled rows",
};
pub(super) const OFFSET: Setting = Setting {
    name: "offset",
    allowed: Allowed::Number { low: -1e6, high: 1e6, default: SettingValue::Number(0.0) },
    summary: "what is subtracted from rewards: an arm of which nothing is known stands there",
};

/// lambda.
fn ridge(choice: &Choice) -> f64 {
    choice.number("ridge").unwrap_or(DEFAULT_RIDGE)
}

/// sigma: what the user says, else what the problem knows.
fn noise_sd(problem: &Problem, choice: &Choice) -> f64 {
    assumed_noise_sd(problem.noise_sd(), choice)
}

/// The same where nothing is left of the problem but this.
fn assumed_noise_sd(known: Option<f64>, choice: &Choice) -> f64 {
    choice.number("noise_sd").or(known).unwrap_or(DEFAULT_NOISE_SD).max(LEAST_NOISE_SD)
}

/// The projection that a policy has learned, else the identity.
pub(super) fn projection(choice: &Choice) -> Projection {
    let (columns, ridge) = (choice.columns(), ridge(choice));
    let projection = match choice.param("W") {
        Some(w) => Projection::new(w, choice.rank(), columns, ridge),
        None => Projection::identity(columns, ridge),
    };
    projection.with_intercept(choice.has_intercept()).with_offset(choice.number("offset").unwrap_or(0.0))
}

/// A kernel on the projection that the policy has learned.
fn player(kernel: impl LinearKernel + 'static, choice: &Choice) -> Box<dyn Player> {
    Box::new(LinearPlayer::new(kernel, projection(choice)))
}

/// The same as an agent asks it.
fn decider(kernel: impl LinearKernel + 'static, choice: &Choice) -> Box<dyn Decide> {
    Box::new(Linear { policy: kernel, projection: projection(choice) })
}

/// The kernels themselves, for the tests of their engine.
#[cfg(test)]
pub(crate) mod kernels {
    pub(crate) use super::cosoftelim::CoSoftElim;
    pub(crate) use super::lin_epsilon_greedy::LinEpsilonGreedy;
    pub(crate) use super::lin_thompson::LinThompson;
    pub(crate) use super::linucb::LinUcb;
    pub(crate) use super::soft_ucb::SoftUcb;
}
