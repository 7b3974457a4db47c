//! The finite-horizon Gittins index (Gittins, 1979; Kaufmann, 2018): the arm with the largest index for the
//! rounds that remain, every mean drawn from Beta(alpha, beta). Rewards in [0, 1] are rounded at random to 0 or 1.
//!
//! alpha and beta are rounded to whole numbers: an arm then starts with alpha - 1 successes and beta - 1 failures in the
//! table of Beta(1, 1), which serves them all.

use crate::error::{Error, ErrorKind, Result};
use crate::exact::Part;
use crate::exact::gittins::{GittinsTable, MAX_HORIZON, at_hand, shared};
use crate::exact::index::{Arm, Index, IndexPolicy};
use crate::numeric::lanes::{Best, Real};
use crate::numeric::stream::Stream;
use crate::observe::Observer;
use crate::policy::choice::Choice;
use crate::policy::decide::Largest;
use crate::policy::definition::{Definition, Method, unit_rewards_only};
use crate::policy::fit;
use crate::problem::Problem;
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};
use std::sync::Arc;

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "gittins",
    summary: "the largest finite-horizon Gittins index of Beta arms, flat or fitted, with Bernoulli rounding",
    params: &[fit::ALPHA, fit::BETA],
    settings: &[fit::PRIOR],
    refuses: |problem| {
        let unknown = !problem.world().horizon.is_fixed();
        let unknown = || unknown.then(|| "counts the rounds that remain, and here nobody knows how many".into());
        unit_rewards_only(problem).or_else(unknown).or_else(|| too_long(problem.horizon))
    },
    player: |problem, choice, observer| Ok(Box::new(Arms(Gittins::of(problem, choice, observer)?))),
    decider: |problem, choice, observer| {
        let policy = Gittins::new(problem.horizon, head_start(choice), observer)?;
        Ok(Box::new(Largest(policy)))
    },
    exact: Some(Method::Counts(|problem, choice, observer| {
        Ok(Part::only(IndexPolicy(Gittins::of(problem, choice, observer)?)))
    })),
    // 0.3 s at n = 200 and in proportion to the table from there, which is pessimistic.
    seconds: |problem, choice| {
        let rounds = problem.horizon + choice.map_or(0, |choice| head_start(choice).iter().sum::<u32>() as usize);
        if at_hand(rounds) { 0.0 } else { 4e-8 * (rounds as f64).powi(3) }
    },
    ..Definition::ARMS
};

fn too_long(rounds: usize) -> Option<String> {
    (rounds > MAX_HORIZON).then(|| {
        format!(
            "needs a table of {:.1e} indices ({:.1} GB) for {rounds} rounds; the largest horizon that fits is {MAX_HORIZON}",
            (rounds as f64).powi(3) / 6.0,
            (rounds as f64).powi(3) / 1.5e9,
        )
    })
}

/// The successes and failures that an arm starts with.
fn head_start(choice: &Choice) -> [u32; 2] {
    ["alpha", "beta"].map(|name| choice.scalar(name).map_or(0, |x| (x.round() - 1.0).max(0.0) as u32))
}

/// The Gittins index policy.
#[derive(Clone, Debug)]
pub struct Gittins {
    table: Arc<GittinsTable>,
    horizon: usize,
    head_start: [u32; 2],
}

impl Gittins {
    /// For a horizon and what every arm starts with; the table is computed unless it is at hand.
    pub fn new(horizon: usize, head_start: [u32; 2], observer: &mut dyn Observer) -> Result<Self> {
        let rounds = horizon + head_start.iter().sum::<u32>() as usize;
        if let Some(message) = too_long(rounds) {
            return Err(Error::of("prior", ErrorKind::TooLarge(format!("gittins {message}, those of its prior included"))));
        }
        Ok(Self { table: shared(rounds, observer)?, horizon, head_start })
    }

    fn of(problem: &Problem, choice: &Choice, observer: &mut dyn Observer) -> Result<Self> {
        Self::new(problem.horizon, head_start(choice), observer)
    }

    #[inline(always)]
    fn lookup(&self, successes: u32, failures: u32, round: usize) -> f64 {
        let [won, lost] = self.head_start;
        f64::from(self.table.index(successes + won, failures + lost, (self.horizon - round) as u32))
    }
}

impl ArmsKernel<0> for Gittins {
    const USES: Uses = Uses::Sums;
    const LONG: bool = false;
    const BERNOULLI_ROUNDING: bool = true;

    fn unscored(&self) -> Option<&'static str> {
        Some("plays the largest index with certainty: there is nothing to learn")
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        _actions: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let mut best = None;
        for (arm, (&pulls, &successes)) in history.pulls.iter().zip(history.sums).enumerate() {
            // Late rewards make sums that are no whole numbers.
            let (counts, wins) = (pulls.indices(), (successes + 0.5).indices());
            let index = R::from_fn(
                pulls.token(),
                #[inline(always)]
                |lane| self.lookup(wins[lane], counts[lane] - wins[lane], history.round),
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
    const ENDS: bool = true;

    fn index(&self, round: usize, arm: &Arm) -> f64 {
        let successes = (arm.successes() + 0.5) as u32;
        self.lookup(successes, arm.pulls as u32 - successes, round)
    }
}
