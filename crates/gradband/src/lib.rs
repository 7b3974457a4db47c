//! Bandit policies that learn how to explore from a sample of past problems.

pub mod baseline;
pub mod batch;
mod error;
pub mod evaluate;
pub mod gradient;
pub mod lanes;
pub mod optimizer;
pub mod policy;
pub mod problem;
pub mod registry;
pub mod simulate;
pub mod spec;
pub mod statistics;
pub mod stream;
pub mod train;

pub use error::{Error, Result};
pub use problem::Problem;
