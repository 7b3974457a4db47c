//! UCB1 (Auer et al., 2002): each arm once, then the largest mean_i + sqrt(2 ln t / pulls_i).

use crate::exact::Part;
use crate::exact::index::{Arm, Index, IndexPolicy};
use crate::numeric::lanes::{Best, One, Real, put};
use crate::numeric::stream::Stream;
use crate::policy::decide::Largest;
use crate::policy::definition::{Definition, Method, needs_each_arm_once, unit_rewards_only};
use crate::simulate::arms::{Arms, ArmsKernel, Counted, History, Uses};
use std::sync::Arc;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "ucb1",
    summary: "the largest upper confidence bound on the mean",
    refuses: |problem| unit_rewards_only(problem).or_else(|| needs_each_arm_once(problem)),
    player: |problem, _, _| Ok(Box::new(Arms(Ucb1::new(problem.horizon)))),
    decider: |problem, _, _| Ok(Box::new(Largest(Ucb1::new(problem.horizon)))),
    exact: Some(Method::Counts(|problem, _, _| Ok(Part::only(IndexPolicy(Ucb1::new(problem.horizon)))))),
    ..Definition::ARMS
};

/// UCB1.
#[derive(Clone, Debug)]
pub struct Ucb1 {
    /// sqrt(2 ln t) for each 0-based round; shared, because every block of instances copies its policy.
    widths: Arc<[f64]>,
}

impl Ucb1 {
    /// For a horizon.
    pub fn new(horizon: usize) -> Self {
        Self { widths: (0..horizon).map(width).collect() }
    }
}

/// sqrt(2 ln t) of a 0-based round.
fn width(round: usize) -> f64 {
    (2.0 * One((round + 1) as f64).ln().0).sqrt()
}

impl ArmsKernel<0> for Ucb1 {
    const USES: Uses = Uses::Means;
    const LEARNS: bool = true;
    const EACH_ARM_ONCE: bool = true;

    /// 1 / sqrt(pulls), which changes for the pulled arm alone.
    fn slots(&self, arms: usize) -> usize {
        arms
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        _actions: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let means = history.means;
        let width = own[0].lit(self.widths[history.round]);
        let mut best = Best::first(width.fma(own[0], means[0]));
        for arm in 1..means.len() {
            best.offer(arm, width.fma(own[arm], means[arm]));
        }
        best.arm
    }

    #[inline(always)]
    fn update<R: Real>(&self, arm: R, _reward: R, counted: Counted<R>, own: &mut [R]) {
        self.recount(arm, counted, own);
    }

    #[inline(always)]
    fn recount<R: Real>(&self, arm: R, Counted { count, .. }: Counted<R>, own: &mut [R]) {
        put(own, arm, count.one() / count.sqrt());
    }
}

impl Index for Ucb1 {
    const EACH_ARM_ONCE: bool = true;

    fn index(&self, round: usize, arm: &Arm) -> f64 {
        let width = self.widths.get(round).map_or_else(|| width(round), |&width| width);
        arm.mean + width / arm.pulls.sqrt()
    }
}
