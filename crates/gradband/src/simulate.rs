//! Simulation: what is played (`job`), by many instances at a time (`batch`), what returns are compared with
//! (`returns`), and one engine a file or folder.
//!
//! Uses numbers and problems. A policy's file implements the kernel trait of one engine; the engine turns it into a
//! [`Player`].
//!
//! | engine | plays | a policy is |
//! |---|---|---|
//! | `arms` | multi-armed policies, a run in each lane | an `arms::ArmsKernel` |
//! | `plain` | one run at a time: users' own rules, policies that look contexts up | a `plain::PlainKernel` |
//! | `plain::joint` | all runs at once, round by round: rules of other languages | a `plain::JointKernel` |
//! | `linear` | rules on estimated means and variances | a `linear::LinearKernel` |
//! | `recurrent`, `q_network` | networks | their weights |

pub(crate) mod arms;
pub(crate) mod batch;
mod buffers;
pub(crate) mod crew;
mod episode;
pub(crate) mod instances;
pub(crate) mod job;
pub(crate) mod late;
pub(crate) mod linear;
pub(crate) mod plain;
pub(crate) mod q_network;
pub(crate) mod recurrent;
pub(crate) mod returns;

#[doc(hidden)]
pub use crate::numeric::floor::floor;
pub use crate::numeric::simd::{Lanes, has_wide_lanes};
pub use crate::numeric::stream::Key;
pub use episode::Episode;
#[cfg(test)]
pub(crate) use job::Trajectory;
pub use job::{Job, Outcome, Output, Player, Task};
pub use returns::{BASELINES, Baseline, Returns};
