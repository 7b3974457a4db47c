//! Bernoulli Thompson sampling (Agrawal and Goyal, 2012): a sample from each arm's Beta(1 + successes,
//! 1 + failures) posterior, and the arm with the largest. Rewards in [0, 1] are rounded at random to 0 or 1.

mod counts;

pub(super) use counts::Counts;

use crate::exact::Part;
use crate::numeric::lanes::{Best, Real};
use crate::numeric::stream::Stream;
use crate::policy::definition::{Definition, Method, unit_rewards_only};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "thompson",
    summary: "Thompson sampling with Beta(1, 1) posteriors and Bernoulli rounding",
    refuses: unit_rewards_only,
    player: |_, _, _| Ok(Box::new(Arms(Thompson))),
    exact: Some(Method::Counts(|problem, _, _| Ok(Part::only(Counts::new(problem.arms, problem.horizon))))),
    ..Definition::ARMS
};

/// Bernoulli Thompson sampling with a Beta(1, 1) prior.
#[derive(Clone, Copy, Debug)]
pub struct Thompson;

impl ArmsKernel<0> for Thompson {
    const USES: Uses = Uses::Sums;
    const BERNOULLI_ROUNDING: bool = true;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        actions: &mut Stream<R>,
        _: &mut [R; 0],
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
