//! Bandit policies that learn how to explore from a sample of past problems.
//!
//! A [`Problem`] is simulated, a policy from the [`registry`] plays it, [`train::train`] climbs the gradient of its
//! Bayes reward, and [`evaluate::evaluate`] says what was gained.

pub mod baseline;
pub mod batch;
pub mod contextual;
pub mod dqn;
mod error;
pub mod evaluate;
pub mod exact;
pub mod gradient;
pub mod lanes;
pub mod linear;
mod linear_agent;
pub mod lstm;
pub mod matmul;
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

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
