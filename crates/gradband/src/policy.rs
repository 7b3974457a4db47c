//! What a policy is, its parameters, and the catalogue: one policy, one file.
//!
//! Uses numbers, problems, the engines that simulate policies and the dynamic programmes that evaluate them exactly. A
//! policy's file joins what they need: its definition, its kernel, its probabilities given the counts.

mod arms;
mod catalogue;
mod choice;
pub(crate) mod decide;
mod definition;
mod fit;
mod linear;
mod network;
mod own;
mod params;
mod prepared;
mod record;
mod refusal;
mod rule;
mod stored;
mod value;

pub use catalogue::{Catalogue, POLICIES, applicable, named, ready};
pub use choice::{Choice, Slot};
pub use definition::{Learns, Plays, PolicyKind, Worlds};
pub use linear::mom_subspace;
pub use params::{Allowed, Coordinate, End, Initial, Param, Range, Setting, SettingValue, Shape};
pub use record::{FeatureRecord, ProblemRecord};
pub use rule::{Form, JointRule, JointSeen, LinearRule, Rule, Scalar, Seen};
pub use stored::PolicyRecord;
pub use value::{IntoPolicy, Policy};

pub(crate) use definition::Method;
#[cfg(test)]
pub(crate) use linear::kernels as linear_kernels;
pub(crate) use network::{lstm_network, q_network};

#[cfg(test)]
pub(crate) mod tests;
