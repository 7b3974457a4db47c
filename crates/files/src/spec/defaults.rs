//! What is used when the user does not say, and how much may be asked for.

use crate::problem::Problem;
use crate::{Error, Result};

/// The problem that `train` takes: the paper's two-armed Bernoulli.
pub const PROBLEM: &str = "bernoulli-2";
/// The policy that `train` takes; with contexts it is [`CONTEXTUAL_POLICY`].
pub const POLICY: &str = "softelim";
/// The policy that `train` takes where there are contexts.
pub const CONTEXTUAL_POLICY: &str = "cosoftelim";
/// Where gradients come from.
pub const GRADIENT: &str = "sampled";
/// See [`crate::baseline::BASELINES`].
pub const BASELINE: &str = "loo";
/// What returns are made of.
pub const RETURNS: &str = "mean";
/// See [`crate::optimizer::OPTIMIZERS`]; with contexts it is [`CONTEXTUAL_OPTIMIZER`].
pub const OPTIMIZER: &str = "sgd";
/// Matrices have entries of all sizes.
pub const CONTEXTUAL_OPTIMIZER: &str = "adam";
/// L.
pub const ITERATIONS: usize = 100;
/// What an iteration costs unless the batch size is given: the price of the paper's self with m = 1000.
pub const RUNS_PER_ITERATION: usize = 2000;
/// The same where there are contexts: m = 500.
pub const CONTEXTUAL_RUNS_PER_ITERATION: usize = 1000;
/// What is handed out.
pub const AVERAGE: &str = "tail";
/// No decay of the learning rate.
pub const DECAY: f64 = 1.0;
/// Instances of an evaluation.
pub const INSTANCES: usize = 10_000;
/// The part of a table that training does not see.
pub const HOLDOUT: f64 = 0.3;
/// The part of a labelled table that training does not see: none, as in the paper.
pub const EXAMPLES_HOLDOUT: f64 = 0.0;
/// The seed.
pub const SEED: u64 = 1;

/// The largest evaluation: quantiles keep a number for each instance.
pub const MAX_INSTANCES: usize = 100_000_000;

/// The policy that `train` takes on a problem.
pub fn policy(problem: &Problem) -> &'static str {
    if problem.contextual().is_some() { CONTEXTUAL_POLICY } else { POLICY }
}

/// The optimizer that `train` takes on a problem.
pub fn optimizer(problem: &Problem) -> &'static str {
    if problem.contextual().is_some() { CONTEXTUAL_OPTIMIZER } else { OPTIMIZER }
}

/// What an iteration costs on a problem, in runs.
pub fn runs_per_iteration(problem: &Problem) -> usize {
    if problem.contextual().is_some() { CONTEXTUAL_RUNS_PER_ITERATION } else { RUNS_PER_ITERATION }
}

/// Refuses evaluations without a standard error, or of more than memory holds.
pub fn check_instances(place: &str, count: usize) -> Result<()> {
    if (2..=MAX_INSTANCES).contains(&count) {
        return Ok(());
    }
    Err(Error::new(place, format!("found {count}, expected 2 to {MAX_INSTANCES}")))
}
