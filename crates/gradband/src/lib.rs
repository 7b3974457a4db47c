#![doc = include_str!("front.md")]

// Rooms, each of which uses only those below it; `tests/rooms.rs` checks that.
//
//     learn
//     measure
//     policy
//     simulate   exact
//     problem
//     numeric
//     error, observe
mod error;
pub mod exact;
pub mod learn;
pub mod measure;
mod numeric;
mod observe;
pub mod policy;
pub mod problem;
pub mod simulate;

pub use error::{Error, ErrorKind, Place, Result, Step, abridged, hint};
pub use learn::{Trained, Trainer};
pub use measure::{Comparison, Estimate, Evaluation, Simulator};
pub use numeric::stream::Random;
pub use observe::{Iteration, Observer, Progress, StopReason};
pub use policy::{Catalogue, LinearRule, Param, Policy, Rule, Scalar, Seen};
pub use problem::{Bandit, ContextModel, Draw, Instance, Prior, Problem};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
