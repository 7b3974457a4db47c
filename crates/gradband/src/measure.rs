//! What policies are worth: Bayes regret and reward with standard errors, paired comparisons, gradients, exact answers.
//!
//! Uses policies, the engines and the dynamic programmes. [`Simulator`] is the front door.

mod evaluate;
mod exact;
mod gradient;
mod simulator;
mod statistics;
mod verdict;

pub(crate) use evaluate::evaluate_job;
pub use evaluate::{
    Comparison, Evaluation, MAX_INSTANCES, check_instances, evaluate, evaluation_key, over_rounds,
    training_regret,
};
pub use exact::{check_exact, exact};
pub use gradient::{Estimator, Gradient, gradient_key};
pub use simulator::Simulator;
pub use statistics::{Estimate, Interval, Quantiles};
pub use verdict::{Against, Verdict};
