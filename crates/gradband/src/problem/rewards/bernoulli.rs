//! Rewards of 0 or 1.

use super::{NamedRewards, RewardModel};
use crate::numeric::lanes::Real;
use crate::numeric::stream::reward;

/// Rewards of 1 with probability `mean`, else 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bernoulli;

impl NamedRewards for Bernoulli {
    const NAME: &'static str = "bernoulli";
    const UNIT: bool = true;
    const KEYS: &'static [(&'static str, f64, f64)] = &[];

    fn of(_: &[f64]) -> Self {
        Self
    }
    fn values(&self) -> Vec<f64> {
        Vec::new()
    }
    fn describe(&self) -> String {
        "rewards of 0 or 1 (Bernoulli)".into()
    }
}

impl RewardModel for Bernoulli {
    #[inline(always)]
    fn binary(self) -> bool {
        true
    }
    #[inline(always)]
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
        R::only(reward::uniform(word, arm).lt(mean), mean.one())
    }
}
