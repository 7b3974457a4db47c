//! What policies are worth: Bayes regret and reward with standard errors, paired comparisons, gradients, exact answers.
//!
//! Uses policies, the engines and the dynamic programmes. [`Simulator`] is the front door.

mod evaluate;
mod exact;
mod gradient;
mod simulator;
mod statistics;

pub use evaluate::{Comparison, Evaluation, MAX_INSTANCES, check_instances, evaluate, over_rounds};
pub use exact::{check_exact, exact};
pub use gradient::{Estimator, Gradient, gradient_key};
pub use simulator::Simulator;
pub use statistics::{Estimate, Quantiles};
