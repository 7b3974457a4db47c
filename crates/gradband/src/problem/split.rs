//! Which rows are held out: decided by what they hold, so that neither their order nor a seed matters.

use crate::error::{Result, within};

/// Which part of a table of past instances, or of examples, a simulation may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The rows that training uses.
    Train,
    /// The rows kept for evaluation.
    HeldOut,
}

/// Refuses shares that cannot be held out of a table or of labelled examples.
pub fn check_holdout(holdout: f64) -> Result<f64> {
    within("holdout", holdout, 0.0, 0.9)
}

/// FNV-1a: a split must not depend on a hasher that another Rust release may change.
pub(super) fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        h = (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    h ^ (h >> 29)
}

/// To which of so many folds a hash belongs, whatever part of the hashes was held out before: they are mixed anew.
pub(super) fn fold_of(hash: u64, folds: usize) -> usize {
    let mixed = (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 33) % folds as u64) as usize
}

/// The rows to train on and those to hold out, each in order: the smallest hashes are held out, and equal ones
/// stay together. Nothing if no row would be left to train on.
pub(super) fn split(hashes: &[u64], holdout: f64) -> Option<[Vec<u32>; 2]> {
    let hash = |i: u32| hashes[i as usize];
    let mut order: Vec<u32> = (0..hashes.len() as u32).collect();
    order.sort_by_key(|&i| (hash(i), i));
    let mut size = ((hashes.len() as f64 * holdout).round() as usize).max(2);
    while size < hashes.len() && hash(order[size]) == hash(order[size - 1]) {
        size += 1;
    }
    if size >= hashes.len() {
        return None;
    }
    let mut train = order.split_off(size);
    train.sort_unstable();
    order.sort_unstable();
    Some([train, order])
}
