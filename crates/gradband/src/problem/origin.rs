//! Where a problem comes from that the user did not make.

use std::sync::OnceLock;

/// One step from a problem to another that training plays on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// One of the folds of its training data.
    Fold(usize),
    /// Another number of rounds.
    Horizon(usize),
}

/// Where a problem comes from.
#[derive(Clone, Debug)]
pub(super) struct Origin<P> {
    pub root: P,
    pub steps: Vec<Step>,
}

/// A digest that is taken when it is asked for; that of a copy, which may be changed, is taken anew.
#[derive(Debug, Default)]
pub(super) struct Remembered(pub OnceLock<[u8; 32]>);

impl Clone for Remembered {
    fn clone(&self) -> Self {
        Self::default()
    }
}
