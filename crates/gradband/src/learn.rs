//! GradBand: policies that learn, one [`Plan`] per way to learn.
//!
//! Uses everything below: policies, engines, exact programmes, measurements. [`Trainer`] is the front door; [`Options`] are
//! what a user may say, and [`Plan`] is that with every default filled in for a problem and a policy.

mod ascent;
mod auto;
mod candidates;
mod exact_ascent;
mod history;
mod kept;
mod optimizer;
mod options;
mod plan;
mod polish;
mod q_learning;
mod recurrent;
mod search;
mod start;
mod trained;
mod trainer;
mod trouble;
mod validate;

pub use crate::measure::Estimator;
pub use crate::simulate::{BASELINES, Baseline, Returns};
pub use ascent::{Ascent, Average, GradientSource};
pub use auto::{Chosen, Tried, choose};
pub use optimizer::{OPTIMIZERS, Optimizer, Rate};
pub use options::{LearningRate, Options, RECIPES, RecipeName};
pub use plan::Plan;
pub use q_learning::QLearning;
pub use recurrent::{Recipe, Stage};
pub use start::Start;
pub use trained::Trained;
pub use trainer::Trainer;
pub use trouble::Trouble;
