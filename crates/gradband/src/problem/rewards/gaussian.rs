//! Rewards with normal noise.

use super::{NamedRewards, RewardModel};
use crate::numeric::lanes::Real;
use crate::numeric::stream::reward;

/// Rewards drawn from N(mean, sd²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    /// The standard deviation of the noise.
    pub noise_sd: f64,
}

impl NamedRewards for Gaussian {
    const NAME: &'static str = "gaussian";
    const UNIT: bool = false;
    const KEYS: &'static [(&'static str, f64, f64)] = &[("noise_sd", 0.0, 1e6)];

    fn of(values: &[f64]) -> Self {
        Self { noise_sd: values[0] }
    }
    fn values(&self) -> Vec<f64> {
        vec![self.noise_sd]
    }
    fn describe(&self) -> String {
        format!("Gaussian rewards with a standard deviation of {}", self.noise_sd)
    }
}

impl RewardModel for Gaussian {
    #[inline(always)]
    fn binary(self) -> bool {
        false
    }
    #[inline(always)]
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
        reward::normal(word, arm).fma(mean.lit(self.noise_sd), mean)
    }
}
