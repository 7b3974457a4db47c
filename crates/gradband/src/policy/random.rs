//! Any arm, uniformly: what learning must beat.

use super::{History, Policy, Uses};
use crate::contextual::{Plain, Player};
use crate::exact::{CountPolicy, Method, Part};
use crate::lanes::{One, Real};
use crate::problem::{Instance, Problem};
use crate::registry::{Plays, PolicyInfo, Trainer};
use crate::stream::Stream;

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "random",
    summary: "any arm with equal probability",
    params: &[],
    settings: &[],
    trainer: Trainer::Score,
    plays: Plays::Both,
    refuses: |_| None,
    build: |problem, _| match problem.contextual() {
        None => Box::new(Random),
        Some(_) => Box::new(Plain(Random)),
    },
    exact: Some(Method::Counts(|_, _| Part::only(Random))),
    preparation: None,
};

/// Uniformly random arms.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl Policy for Random {
    const USES: Uses = Uses::Pulls;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        actions: &mut Stream<R>,
        _score: &mut R,
    ) -> R {
        let u = actions.uniform();
        let arms = history.pulls.len() as f64;
        let arm = (u * u.lit(arms)).floor();
        R::select(arm.lt(u.lit(arms)), arm, u.lit(arms - 1.0))
    }
}

impl CountPolicy for Random {
    fn probabilities(&self, pulls: &[u32], _: &[u32], pi: &mut [f64], _: &mut [f64]) {
        pi.fill(1.0 / pulls.len() as f64);
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], _: &mut [f64]) {
        pi.fill(1.0 / pulls.len() as f64);
    }
}

impl Player for Random {
    fn play(
        &self,
        problem: &Problem,
        _: &Instance,
        _: bool,
        actions: &mut Stream<One<f64>>,
        arms: &mut [usize],
    ) -> f64 {
        arms.fill_with(|| (actions.uniform().0 * problem.arms as f64) as usize);
        0.0
    }

    fn unscored(&self) -> Option<&'static str> {
        Some("has nothing to learn")
    }
}
