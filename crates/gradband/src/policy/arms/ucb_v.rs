//! UCB-V (Audibert et al., 2009): each arm once, then the largest
//! mean_i + sqrt(2 V_i E / pulls_i) + 3 E / pulls_i with V_i the biased sample variance and E = ln(2 n^2); n is the mean
//! number of rounds where the end is unknown.

use crate::exact::Part;
use crate::exact::index::{Arm, Index, IndexPolicy};
use crate::numeric::lanes::{Best, One, Real, add, pick, put};
use crate::numeric::stream::Stream;
use crate::policy::decide::Largest;
use crate::policy::definition::{Definition, Method, needs_each_arm_once, unit_rewards_only};
use crate::simulate::arms::{Arms, ArmsKernel, Counted, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "ucb-v",
    summary: "upper confidence bounds that use the empirical variance",
    refuses: |problem| unit_rewards_only(problem).or_else(|| needs_each_arm_once(problem)),
    player: |problem, _, _| Ok(Box::new(Arms(UcbV::new(problem.arms, problem.mean_rounds())))),
    decider: |problem, choice, _| {
        Ok(Box::new(Largest(UcbV::new(choice.arms(), problem.world()?.horizon.mean().round() as usize))))
    },
    exact: Some(Method::Counts(|problem, _, _| {
        Ok(Part::only(IndexPolicy(UcbV::new(problem.arms, problem.mean_rounds()))))
    })),
    ..Definition::ARMS
};

/// UCB-V.
#[derive(Clone, Copy, Debug)]
pub struct UcbV {
    /// E.
    exploration: f64,
    arms: usize,
}

impl UcbV {
    /// For a number of arms and a horizon.
    pub fn new(arms: usize, horizon: usize) -> Self {
        let n = horizon as f64;
        Self { exploration: One(2.0 * n * n).ln().0, arms }
    }
}

impl ArmsKernel<0> for UcbV {
    const USES: Uses = Uses::Means;
    const LEARNS: bool = true;
    const EACH_ARM_ONCE: bool = true;

    /// Sums of squares and indices: an index changes with its arm, and only then.
    fn slots(&self, arms: usize) -> usize {
        2 * arms
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        _history: &History<R>,
        own: &mut [R],
        _actions: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        Best::of(&own[self.arms..]).arm
    }

    #[inline(always)]
    fn update<R: Real>(&self, arm: R, reward: R, counted: Counted<R>, own: &mut [R]) {
        add(&mut own[..self.arms], arm, reward * reward);
        self.recount(arm, counted, own);
    }

    /// Before a reward is known the variance is that of the mean alone, none.
    #[inline(always)]
    fn recount<R: Real>(&self, arm: R, Counted { count, known, mean, .. }: Counted<R>, own: &mut [R]) {
        let (squares, indices) = own.split_at_mut(self.arms);
        let square = pick(squares, arm);
        let variance = (square / known.max(known.one()) - mean * mean).max(count.zero());
        let e = count.lit(self.exploration) / count;
        put(indices, arm, mean + (variance * e * 2.0).sqrt() + e * 3.0);
    }
}

impl Index for UcbV {
    const EACH_ARM_ONCE: bool = true;

    fn index(&self, _: usize, arm: &Arm) -> f64 {
        let per_pull = self.exploration / arm.pulls;
        arm.mean + (2.0 * arm.variance * per_pull).sqrt() + 3.0 * per_pull
    }
}
