//! The largest problems.

/// The longest horizon: beyond it a single run would take minutes.
pub const MAX_HORIZON: usize = 10_000_000;
/// The largest number of arms.
pub const MAX_ARMS: usize = 10_000;
