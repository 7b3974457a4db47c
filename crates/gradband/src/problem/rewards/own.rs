//! Rewards that the user's own code draws, a lane at a time.

use super::RewardModel;
use crate::error::{Error, Result};
use crate::numeric::lanes::{One, OneWord, Real};
use crate::numeric::stream::{Random, Stream, reward};
use crate::problem::Bandit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The rewards of a [`Bandit`].
#[derive(Clone, Debug)]
pub struct Own {
    bandit: Arc<dyn Bandit>,
    /// Was a reward drawn that cannot be? The hot path cannot fail; what it played is refused afterwards.
    broken: Arc<AtomicBool>,
}

impl Own {
    pub(in crate::problem) fn new(bandit: Arc<dyn Bandit>) -> Self {
        Self { bandit, broken: Arc::default() }
    }

    pub(in crate::problem) fn bandit(&self) -> &dyn Bandit {
        &*self.bandit
    }

    /// Refuses everything once a reward was drawn that is not finite, or outside [0, 1] where all should be inside.
    pub(super) fn check_drawn(&self) -> Result<()> {
        if !self.broken.load(Ordering::Relaxed) {
            return Ok(());
        }
        let expected = if self.unit() { "a number from 0 to 1" } else { "a finite number" };
        Err(Error::new("problem.reward", format!("a reward was drawn that is not {expected}")))
    }

    pub(super) fn unit(&self) -> bool {
        self.bandit.unit_rewards()
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
        let reward = self.bandit.reward(&mut random, arm as usize, mean);
        let fine = if self.unit() { (0.0..=1.0).contains(&reward) } else { reward.is_finite() };
        if !fine {
            self.broken.store(true, Ordering::Relaxed);
        }
        reward
    }
}
