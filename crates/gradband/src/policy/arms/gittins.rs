//! The finite-horizon Gittins index (Gittins, 1979; Kaufmann, 2018): the arm with the largest index for the
//! rounds that remain, every mean drawn from Beta(1, 1). Rewards in [0, 1] are rounded at random to 0 or 1.

use crate::error::Result;
use crate::exact::Part;
use crate::exact::gittins::{GittinsTable, MAX_HORIZON, at_hand, shared};
use crate::exact::index::{Index, IndexPolicy};
use crate::numeric::lanes::{Best, Real};
use crate::numeric::stream::Stream;
use crate::observe::Observer;
use crate::policy::definition::{Definition, Method, unit_rewards_only};
use crate::problem::Problem;
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use std::sync::Arc;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "gittins",
    summary: "the largest finite-horizon Gittins index of Beta(1, 1) arms, with Bernoulli rounding",
    refuses: |problem| unit_rewards_only(problem).or_else(|| too_long(problem)),
    player: |problem, _, observer| Ok(Box::new(Arms(Gittins::new(problem.horizon, observer)?))),
    exact: Some(Method::Counts(|problem, _, observer| {
        Ok(Part::only(IndexPolicy(Gittins::new(problem.horizon, observer)?)))
    })),
    // 0.3 s at n = 200 and in proportion to the table from there, which is pessimistic.
    seconds: |problem| if at_hand(problem.horizon) { 0.0 } else { 4e-8 * (problem.horizon as f64).powi(3) },
    ..Definition::ARMS
};

fn too_long(problem: &Problem) -> Option<String> {
    (problem.horizon > MAX_HORIZON).then(|| {
        format!(
            "needs a table of {:.1e} indices ({:.1} GB) for {} rounds; the largest horizon that fits is {MAX_HORIZON}",
            (problem.horizon as f64).powi(3) / 6.0,
            (problem.horizon as f64).powi(3) / 1.5e9,
            problem.horizon,
        )
    })
}

/// The Gittins index policy.
#[derive(Clone, Debug)]
pub struct Gittins {
    table: Arc<GittinsTable>,
    horizon: usize,
}

impl Gittins {
    /// For a horizon; the table is computed unless it is at hand.
    pub fn new(horizon: usize, observer: &mut dyn Observer) -> Result<Self> {
        Ok(Self { table: shared(horizon, observer)?, horizon })
    }
}

impl ArmsKernel<0> for Gittins {
    const USES: Uses = Uses::Sums;
    const BERNOULLI_ROUNDING: bool = true;

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        _actions: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let remaining = (self.horizon - history.round) as u32;
        let mut best = None;
        for (arm, (&pulls, &successes)) in history.pulls.iter().zip(history.sums).enumerate() {
            let (counts, wins) = (pulls.indices(), successes.indices());
            let index = R::from_fn(
                pulls.token(),
                #[inline(always)]
                |lane| f64::from(self.table.index(wins[lane], counts[lane] - wins[lane], remaining)),
            );
            match &mut best {
                None => best = Some(Best::first(index)),
                Some(best) => best.offer(arm, index),
            }
        }
        best.map_or(history.pulls[0], |best| best.arm)
    }
}

impl Index for Gittins {
    const EACH_ARM_ONCE: bool = false;

    fn index(&self, round: usize, pulls: u32, successes: u32) -> f64 {
        f64::from(self.table.index(successes, pulls - successes, (self.horizon - round) as u32))
    }
}
