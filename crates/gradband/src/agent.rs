//! A policy in use: one decision at a time, with its exact probability; rewards late, twice or never; arms that come and go.
//!
//! Uses policies. The time is an argument, and a saved agent is text: there is no clock and no file here, so that a binary, a
//! service and other languages can be built on it.
//!
//! | part | what |
//! |---|---|
//! | `deciding` | the agent: pull and update |
//! | `playable` | a policy that has left its problem |
//! | `state` | what is known of the arms, whatever the policy |
//! | `ledger` | which decisions wait for their rewards, and which have had them |
//! | `weigh` | from there to probabilities |
//! | `context` | features by name, raw |
//! | `keep` | arms that come and go, other policies, logs |
//! | `save` | all of it as text, and back |

mod context;
mod deciding;
mod decision;
mod keep;
mod ledger;
mod playable;
mod save;
mod state;
#[cfg(test)]
mod tests;
mod weigh;

pub use context::Context;
pub use deciding::Agent;
pub use decision::{After, ArmStats, Decision, Pull, Row, Stats};
pub use ledger::{Counts, Status, Window};
pub use playable::Playable;
pub use save::FORMAT;
