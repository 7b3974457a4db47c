//! Rewards that the user's own code draws, a lane at a time.

use super::RewardModel;
use crate::numeric::lanes::{One, OneWord, Real};
use crate::numeric::stream::{Random, Stream, reward};
use crate::problem::Bandit;
use std::sync::Arc;

/// The rewards of a [`Bandit`].
#[derive(Clone, Debug)]
pub struct Own(pub(crate) Arc<dyn Bandit>);

impl Own {
    pub(super) fn unit(&self) -> bool {
        self.0.unit_rewards()
    }
}

impl RewardModel for &Own {
    #[inline(always)]
    fn binary(self) -> bool {
        false
    }

    /// The draw is a function of (instance, round, arm), as in every model: all policies that pull an arm in a round
    /// see the same reward.
    #[inline(always)]
    fn draw<R: Real>(self, word: R::Word, arm: R, mean: R) -> R {
        let (words, arms) = (R::bits(reward::of_arm(word, arm)), arm.indices());
        R::from_fn(
            arm.token(),
            #[inline(always)]
            |lane| self.one(words[lane], arms[lane], mean.lane(lane)),
        )
    }
}

impl Own {
    #[inline(never)]
    fn one(&self, word: u32, arm: u32, mean: f64) -> f64 {
        let mut random = Random(Stream::<One<f64>>::from_word(OneWord(word)));
        self.0.reward(&mut random, arm as usize, mean)
    }
}
