//! Problems: reward models, priors over instances, contexts, tables of past instances, and the built-in problems.
//!
//! Uses numbers alone. A [`Problem`] is checked when it is built and cannot be changed afterwards, so that nothing below
//! has to check it again.

mod bandit;
mod builder;
mod builtin;
mod classification;
mod contextual;
mod digest;
mod discrete;
mod examples;
mod folds;
mod ground;
mod keys;
mod kinds;
mod limits;
mod linear;
mod model;
mod normal;
mod origin;
mod past;
mod past_contexts;
mod prior;
mod rewards;
mod split;
mod table;
mod world;

pub use bandit::Bandit;
pub use builder::ProblemBuilder;
pub use builtin::{BuiltIn, PROBLEMS};
pub use classification::Classification;
pub use contextual::{ContextModel, Contextual, Draw, Instance};
pub use discrete::{Discrete, Order};
pub(crate) use examples::Sparse;
pub use examples::{Examples, ExamplesBuilder, LARGEST_VALUE, MAX_FEATURES, SCALES, Scale, Scaling};
pub use ground::Ground;
pub use keys::{Keys, Value};
pub use kinds::Data;
pub use limits::{MAX_ARMS, MAX_HORIZON};
pub use linear::Linear;
pub use model::{Armed, Model, Problem};
pub use normal::{Covariance, MAX_DIM, Normal};
pub use past::PastArms;
pub use prior::{Points, Prior};
pub use rewards::{Bernoulli, Beta, Gaussian, Own, Rewards};
pub use split::{Split, check_holdout};
pub use table::{Belief, Cell, Doubt, Fit, Fitted, LARGEST_CELL, LARGEST_COUNT, Row, Table, TableBuilder};
pub use world::{Delay, Horizon, World};

pub(crate) use contextual::{PRIOR, REWARDS};
pub(crate) use origin::Step;
pub(crate) use past_contexts::PastContexts;
pub(crate) use rewards::RewardModel;
