//! Policies: one file each. A policy acts in lanes and adds the score of its own choice.

pub mod bayes_optimal;
pub mod boltzmann;
pub mod contextual_explore_then_commit;
pub mod cosoftelim;
pub mod dqn;
pub mod epsilon_greedy;
pub mod exp3;
pub mod explore_then_commit;
pub mod gittins;
pub mod lin_epsilon_greedy;
pub mod lin_thompson;
pub mod linucb;
pub mod lstm;
pub mod mom_thompson;
pub mod random;
pub mod soft_ucb;
pub mod softelim;
pub mod thompson;
pub mod ucb1;
pub mod ucb_v;

pub use bayes_optimal::BayesOptimal;
pub use boltzmann::Boltzmann;
pub use contextual_explore_then_commit::ContextualExploreThenCommit;
pub use cosoftelim::CoSoftElim;
pub use epsilon_greedy::EpsilonGreedy;
pub use exp3::Exp3;
pub use explore_then_commit::ExploreThenCommit;
pub use gittins::Gittins;
pub use lin_epsilon_greedy::LinEpsilonGreedy;
pub use lin_thompson::LinThompson;
pub use linucb::LinUcb;
pub use random::Random;
pub use soft_ucb::SoftUcb;
pub use softelim::SoftElim;
pub use thompson::Thompson;
pub use ucb_v::UcbV;
pub use ucb1::Ucb1;

use crate::lanes::Real;
use crate::stream::Stream;

/// The statistics of a run so far, a lane per run.
pub struct History<'a, R> {
    /// 0-based.
    pub round: usize,
    /// T_i: how often each arm was pulled.
    pub pulls: &'a [R],
    /// The sum of each arm's rewards.
    pub sums: &'a [R],
    /// Their mean; of use only once the arm was pulled.
    pub means: &'a [R],
}

/// Which statistics a policy reads; the others are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// Pulls alone.
    Pulls,
    /// Pulls and sums.
    Sums,
    /// Pulls, sums and means.
    Means,
}

/// A policy for problems with a small state per run.
///
/// `act` is compiled for every width of lanes and for `K` known (2) or not (0); everything in it must be
/// `#[inline(always)]`, closures included, or the wide form falls back to calls.
pub trait Policy: Clone + Send + Sync {
    /// Which statistics it reads.
    const USES: Uses;
    /// Does it begin by pulling each arm once?
    const EACH_ARM_ONCE: bool = false;
    /// Does it see rewards in [0, 1] rounded at random to 0 or 1 (Agrawal and Goyal, 2012)?
    const BERNOULLI_ROUNDING: bool = false;

    /// Numbers of its own that it keeps for each run.
    fn slots(&self, _arms: usize) -> usize {
        0
    }

    /// Why there is no score at these parameters, if there is none.
    fn unscored(&self) -> Option<&'static str> {
        None
    }

    /// Before the first round; `own` is zero.
    #[inline(always)]
    fn start<R: Real>(&self, _training: bool, _own: &mut [R], _actions: &mut Stream<R>, _score: &mut R) {}

    /// Chooses an arm and, if `SCORE`, adds the gradient of the log-probability of its choice to `score`.
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        score: &mut R,
    ) -> R;

    /// Learns the reward of the pulled arm, which has now been pulled `count` times.
    #[inline(always)]
    fn update<R: Real>(&self, _arm: R, _reward: R, _count: R, _own: &mut [R]) {}
}
