//! Rewards between 0 and 1 with a beta distribution.

use super::{NamedRewards, RewardModel};
use crate::numeric::lanes::Real;
use crate::numeric::stream::reward;

/// Rewards drawn from Beta(v mean, v (1 - mean)), with v the concentration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    /// The concentration v; a larger one means less noise.
    pub concentration: f64,
}

impl NamedRewards for Beta {
    const NAME: &'static str = "beta";
    const UNIT: bool = true;
    const KEYS: &'static [(&'static str, f64, f64)] = &[("concentration", 0.01, 1e4)];

    fn of(values: &[f64]) -> Self {
        Self { concentration: values[0] }
    }
    fn values(&self) -> Vec<f64> {
        vec![self.concentration]
    }
    fn describe(&self) -> String {
        format!("rewards in [0, 1] (beta, concentration {})", self.concentration)
    }
}

impl RewardModel for Beta {
    #[inline(always)]
    fn binary(self) -> bool {
        false
    }
    #[inline(always)]
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
        // A mean of 0 or 1 is certain; the floor keeps the parameters positive.
        let v = mean.lit(self.concentration);
        let floor = mean.lit(1e-6);
        reward::beta(word, arm, (v * mean).max(floor), (v * (mean.one() - mean)).max(floor))
    }
}
