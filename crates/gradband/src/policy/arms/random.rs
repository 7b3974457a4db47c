//! Any arm, uniformly: what learning must beat.

use crate::error::Result;
use crate::exact::{CountKernel, Part};
use crate::numeric::lanes::Real;
use crate::numeric::stream::{Random as Numbers, Stream};
use crate::policy::decide::{Decide, Now};
use crate::policy::definition::{Definition, Method, Plays};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use crate::simulate::plain::{Plain, PlainKernel, Round};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "random",
    summary: "any arm with equal probability",
    plays: Plays::Both,
    player: |problem, _, _| match problem.contextual() {
        None => Ok(Box::new(Arms(Random))),
        Some(_) => Ok(Box::new(Plain(Random))),
    },
    decider: |_, _, _| Ok(Box::new(Random)),
    exact: Some(Method::Counts(|_, _, _| Ok(Part::only(Random)))),
    ..Definition::ARMS
};

/// Uniformly random arms.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl ArmsKernel<0> for Random {
    const USES: Uses = Uses::Pulls;
    const LONG: bool = false;
    const DRAWS: bool = true;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        _: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let u = history.uniform;
        let arms = history.pulls.len() as f64;
        let arm = (u * u.lit(arms)).floor();
        R::select(arm.lt(u.lit(arms)), arm, u.lit(arms - 1.0))
    }
}

impl CountKernel for Random {
    fn probabilities(&self, pulls: &[u32], _: &[u32], pi: &mut [f64], _: &mut [f64]) {
        pi.fill(1.0 / pulls.len() as f64);
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], _: &mut [f64]) {
        pi.fill(1.0 / pulls.len() as f64);
    }
}

impl Decide for Random {
    fn weigh(&self, _: &Now, weights: &mut [f64]) -> Result<()> {
        weights.fill(1.0);
        Ok(())
    }
}

impl PlainKernel for Random {
    type State = ();

    fn dim(&self) -> usize {
        0
    }

    fn unscored(&self) -> Option<&'static str> {
        Some("has nothing to learn")
    }

    fn start(&self, _: bool, _: &mut Numbers, _: &mut [f64]) {}

    fn act(&self, (): &mut (), round: &Round, actions: &mut Numbers, _: Option<&mut [f64]>) -> usize {
        actions.below(round.seen.arms())
    }
}
