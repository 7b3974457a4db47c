//! Policies that are networks.

super::definition::policies![lstm, dqn];

pub(crate) use dqn::network as q_network;
pub(crate) use lstm::network as lstm_network;
