//! What a multi-armed policy is to the engine: its choice, written for any lanes, and the statistics that it sees.

use crate::numeric::lanes::{One, Real};
use crate::numeric::simd::{Sixteen, vectorized_in};
use crate::numeric::stream::Stream;

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
    /// A uniform number in [0, 1), if the policy draws one.
    pub uniform: R,
}

/// Which statistics a policy reads; the others are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// Pulls alone.
    Pulls,
    /// Pulls and sums.
    Sums,
    /// Pulls and means.
    Means,
    /// Pulls, sums and means.
    All,
}

/// A multi-armed policy with `N` parameters and a small state per run, written for any lanes.
///
/// `act` is compiled for every width of lanes and for `K` known (2) or not (0); everything in it must be
/// `#[inline(always)]`, closures included, or the wide form falls back to calls.
pub trait ArmsKernel<const N: usize>: Clone + Send + Sync {
    /// Which statistics it reads.
    const USES: Uses;
    /// Does it begin by pulling each arm once?
    const EACH_ARM_ONCE: bool = false;
    /// Does each choice take one uniform number? With two arms it is drawn ahead, off the path from one choice to the next.
    const DRAWS: bool = false;
    /// Is it worth compiling for long registers? What asks for each lane does not gain from them, what computes nothing need not.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // others have none
    const LONG: bool = true;
    /// Do its own numbers depend on pulls and rewards? Else it is not told of them (`update`, `recount`).
    const LEARNS: bool = false;
    /// Numbers at the end of its own that belong to the pull just made, and are needed again when its reward is known.
    const NOTES: usize = 0;
    /// Does it see rewards in [0, 1] rounded at random to 0 or 1 (Agrawal and Goyal, 2012)?
    const BERNOULLI_ROUNDING: bool = false;

    /// Does it begin by pulling each arm once?
    #[inline(always)]
    fn each_arm_once(&self) -> bool {
        Self::EACH_ARM_ONCE
    }

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
    fn start<R: Real>(&self, _training: bool, _own: &mut [R], _actions: &mut Stream<R>, _score: &mut [R; N]) {
    }

    /// Chooses an arm and, if `SCORE`, adds the gradient of the log-probability of its choice to `score`.
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        score: &mut [R; N],
    ) -> R;

    /// Learns a reward of an arm.
    #[inline(always)]
    fn update<R: Real>(&self, _arm: R, _reward: R, _counted: Counted<R>, _own: &mut [R]) {}

    /// An arm was pulled, and its reward is not known yet.
    #[inline(always)]
    fn recount<R: Real>(&self, _arm: R, _counted: Counted<R>, _own: &mut [R]) {}

    /// An arm is played with probability `floor` + (1 - K `floor`) pi, whoever chose it: for policies that note it.
    #[inline(always)]
    fn played<R: Real>(&self, _arm: R, _floor: f64, _own: &mut [R]) {}
}

/// What is known of an arm.
#[derive(Clone, Copy)]
pub struct Counted<R> {
    /// How often it was pulled, pulls with pending rewards among them.
    pub count: R,
    /// How many of its rewards are known: all, unless they come late.
    pub known: R,
    /// The mean of those, if the policy uses means.
    pub mean: R,
    /// The sum of its rewards, those that are not known yet as large as the mean, if the policy uses sums.
    pub sum: R,
}

/// The most parameters of a policy in lanes.
pub(super) const MOST_PARAMS: usize = 6;

/// What the engine knows of a policy before it plays.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    pub params: usize,
    pub slots: usize,
    pub uses: Uses,
    pub each_arm_once: bool,
    pub draws: bool,
    pub learns: bool,
    pub notes: usize,
    pub bernoulli_rounding: bool,
}

/// A policy as the engine asks it, in one kind of lanes, with `K` arms if they are known and room for the scores of `N` parameters.
pub(super) trait ArmsChooser<R: Real, const K: usize, const N: usize> {
    fn needs(&self, arms: usize) -> Needs;
    fn start(&self, training: bool, own: &mut [R], actions: &mut Stream<R>, score: &mut [R; N]);
    fn act(
        &self,
        scored: bool,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        score: &mut [R; N],
    ) -> R;
    fn update(&self, arm: R, reward: R, counted: Counted<R>, own: &mut [R]);
    fn recount(&self, arm: R, counted: Counted<R>, own: &mut [R]);
    fn played(&self, arm: R, floor: f64, own: &mut [R]);
}

/// Compiled into the engine.
impl<R: Real, const K: usize, const N: usize, P: ArmsKernel<N>> ArmsChooser<R, K, N> for P {
    #[inline(always)]
    fn needs(&self, arms: usize) -> Needs {
        // What rounds rewards at random takes its numbers in between.
        const { assert!(!(P::DRAWS && P::BERNOULLI_ROUNDING)) };
        Needs {
            params: N,
            slots: self.slots(arms),
            uses: P::USES,
            each_arm_once: self.each_arm_once(),
            draws: P::DRAWS,
            learns: P::LEARNS,
            notes: P::NOTES,
            bernoulli_rounding: P::BERNOULLI_ROUNDING,
        }
    }
    #[inline(always)]
    fn start(&self, training: bool, own: &mut [R], actions: &mut Stream<R>, score: &mut [R; N]) {
        ArmsKernel::start(self, training, own, actions, score);
    }
    #[inline(always)]
    fn act(
        &self,
        scored: bool,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        score: &mut [R; N],
    ) -> R {
        if scored {
            ArmsKernel::act::<R, K, true>(self, history, own, actions, score)
        } else {
            ArmsKernel::act::<R, K, false>(self, history, own, actions, score)
        }
    }
    #[inline(always)]
    fn update(&self, arm: R, reward: R, counted: Counted<R>, own: &mut [R]) {
        ArmsKernel::update(self, arm, reward, counted, own);
    }
    #[inline(always)]
    fn recount(&self, arm: R, counted: Counted<R>, own: &mut [R]) {
        ArmsKernel::recount(self, arm, counted, own);
    }
    #[inline(always)]
    fn played(&self, arm: R, floor: f64, own: &mut [R]) {
        ArmsKernel::played(self, arm, floor, own);
    }
}

/// Called by the engine: one that is compiled once, for all policies.
pub(super) struct Called<'a, P, const N: usize>(pub &'a P);

impl<R: Real, const N: usize, P: ArmsKernel<N>> ArmsChooser<R, 0, MOST_PARAMS> for Called<'_, P, N> {
    fn needs(&self, arms: usize) -> Needs {
        ArmsChooser::<R, 0, N>::needs(self.0, arms)
    }
    fn start(&self, training: bool, own: &mut [R], actions: &mut Stream<R>, score: &mut [R; MOST_PARAMS]) {
        vectorized_in::<R, _>(
            score[0].token(),
            #[inline(always)]
            || self.0.start(training, own, actions, first(score)),
        );
    }
    fn act(
        &self,
        scored: bool,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        score: &mut [R; MOST_PARAMS],
    ) -> R {
        vectorized_in::<R, _>(
            score[0].token(),
            #[inline(always)]
            || ArmsChooser::<R, 0, N>::act(self.0, scored, history, own, actions, first(score)),
        )
    }
    fn update(&self, arm: R, reward: R, counted: Counted<R>, own: &mut [R]) {
        vectorized_in::<R, _>(
            arm.token(),
            #[inline(always)]
            || ArmsKernel::update(self.0, arm, reward, counted, own),
        );
    }
    fn recount(&self, arm: R, counted: Counted<R>, own: &mut [R]) {
        vectorized_in::<R, _>(
            arm.token(),
            #[inline(always)]
            || ArmsKernel::recount(self.0, arm, counted, own),
        );
    }
    fn played(&self, arm: R, floor: f64, own: &mut [R]) {
        vectorized_in::<R, _>(
            arm.token(),
            #[inline(always)]
            || ArmsKernel::played(self.0, arm, floor, own),
        );
    }
}

/// The scores of the policy's own parameters.
#[inline(always)]
fn first<R, const N: usize>(score: &mut [R; MOST_PARAMS]) -> &mut [R; N] {
    const { assert!(N <= MOST_PARAMS) };
    match score.first_chunk_mut() {
        Some(first) => first,
        None => unreachable!("there is room for all parameters"),
    }
}

/// The same in all kinds of lanes that the general engine is compiled for.
pub(super) trait CalledInLanes:
    ArmsChooser<One<f32>, 0, MOST_PARAMS>
    + ArmsChooser<One<f64>, 0, MOST_PARAMS>
    + ArmsChooser<Sixteen, 0, MOST_PARAMS>
{
}
impl<const N: usize, P: ArmsKernel<N>> CalledInLanes for Called<'_, P, N> {}
