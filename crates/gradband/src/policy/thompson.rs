//! Bernoulli Thompson sampling (Agrawal and Goyal, 2012): a sample from each arm's Beta(1 + successes,
//! 1 + failures) posterior, and the arm with the largest. Rewards in [0, 1] are rounded at random to 0 or 1.

mod counts;

pub use counts::Counts;

use super::{History, Policy, Uses};
use crate::exact::{Method, Part};
use crate::lanes::{Best, Real};
use crate::registry::{Plays, PolicyInfo, Trainer, unit_rewards_only};
use crate::stream::Stream;

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "thompson",
    summary: "Thompson sampling with Beta(1, 1) posteriors and Bernoulli rounding",
    params: &[],
    settings: &[],
    trainer: Trainer::Score,
    plays: Plays::Arms,
    refuses: unit_rewards_only,
    build: |_, _| Box::new(Thompson),
    exact: Some(Method::Counts(|problem, _| Part::only(Counts::new(problem.arms, problem.horizon)))),
    preparation: None,
};

/// Bernoulli Thompson sampling with a Beta(1, 1) prior.
#[derive(Clone, Copy, Debug)]
pub struct Thompson;

impl Policy for Thompson {
    const USES: Uses = Uses::Sums;
    const BERNOULLI_ROUNDING: bool = true;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        actions: &mut Stream<R>,
        _score: &mut R,
    ) -> R {
        let mut best = None;
        for (arm, (&pulls, &successes)) in history.pulls.iter().zip(history.sums).enumerate() {
            let sample = actions.beta_of_counts(successes + 1.0, pulls - successes + 1.0);
            match &mut best {
                None => best = Some(Best::first(sample)),
                Some(best) => best.offer(arm, sample),
            }
        }
        best.map_or(history.pulls[0], |best| best.arm)
    }
}
