#![doc = include_str!("front.md")]

// Rooms, each of which uses only those below it; `tests/rooms.rs` checks that.
//
//     agent      learn
//     measure
//     policy
//     simulate   exact
//     problem
//     numeric
//     observe
//     error
//     stop
pub mod agent;
mod error;
pub mod exact;
pub mod learn;
pub mod measure;
mod numeric;
mod observe;
pub mod policy;
pub mod problem;
pub mod simulate;
mod stop;

pub use agent::{Agent, Decision, Playable, Pull};
pub use error::{Error, ErrorKind, Outside, Place, Result, Step, abridged, hint};
pub use learn::{Trained, Trainer};
pub use measure::{Comparison, Estimate, Evaluation, Simulator};
pub use numeric::stream::Random;
pub use observe::{Iteration, Observer, Progress};
pub use policy::{Catalogue, JointRule, JointSeen, LinearRule, Param, Policy, Rule, Scalar, Seen};
pub use problem::{Bandit, ContextModel, Draw, Instance, Prior, Problem};
pub use stop::StopReason;

// Unit tests share helpers with the tests in `tests/`, which know this crate by its name.
#[cfg(test)]
extern crate self as gradband;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
