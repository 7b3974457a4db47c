//! Thompson sampling (Agrawal and Goyal, 2012): a sample from each arm's posterior, and the arm with the largest. Rewards
//! in [0, 1] are rounded at random to 0 or 1.
//!
//! ```text
//! sample_i ~ Beta(c (alpha + successes_i), c (beta + failures_i))
//! ```
//! alpha and beta are the prior: 1 and 1, or fitted to the past arms of the training part. The sharpness c raises the
//! posterior to a power: the same mean, and less to explore with. It is searched for on training instances.

mod counts;

pub(super) use counts::Counts;

use crate::error::Result;
use crate::exact::Part;
use crate::exact::index::Arm;
use crate::numeric::lanes::{Best, Real, put};
use crate::numeric::largest::{Law, largest};
use crate::numeric::stream::{Shape, Stream};
use crate::observe::Observer;
use crate::policy::choice::Choice;
use crate::policy::decide::{Decide, Now};
use crate::policy::definition::{Definition, Method, unit_rewards_only};
use crate::policy::fit;
use crate::policy::params::{Allowed, Initial, Param, Range, Setting};
use crate::problem::Problem;
use crate::simulate::arms::{Arms, ArmsKernel, Counted, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "thompson",
    summary: "Thompson sampling with Beta posteriors, flat or fitted, and Bernoulli rounding",
    params: &[fit::ALPHA, fit::BETA, SHARPNESS],
    settings: &[
        fit::PRIOR,
        Setting {
            name: "sharpen",
            allowed: Allowed::OneOf(&["given", "tuned"]),
            summary: "where the sharpness comes from: it is given (1 if not), or a search on training instances",
        },
    ],
    refuses: unit_rewards_only,
    player: |_, choice, _| Ok(Box::new(Arms(Thompson::of(choice)?))),
    exact: Some(Method::Counts(|problem, choice, _| match Thompson::of(choice)? {
        Thompson { alpha: 1.0, beta: 1.0, sharpness: 1.0 } => {
            Ok(Part::only(Counts::new(problem.arms, problem.horizon)))
        }
        policy => Ok(Part::only(Counts::in_log_odds(&policy, problem.arms, problem.horizon)?)),
    })),
    decider: |_, choice, _| Ok(Box::new(Thompson::of(choice)?)),
    fit: Some(tuned),
    ..Definition::ARMS
};

/// How much longer its rounds take than most policies'.
const COST: f64 = 10.0;
/// Where a search for the sharpness looks.
const FEASIBLE: (f64, f64) = (0.25, 128.0);

const SHARPNESS: Param = Param::number(
    "sharpness",
    Initial::Setting("sharpen", |_, _| Ok(1.0)),
    Range::new(1e-3, 1e3),
    Range::new(FEASIBLE.0, FEASIBLE.1),
)
.unsaid_at(1.0);

/// The sharpness with the least regret on training instances; the prior stays.
fn tuned(problem: &Problem, choice: &Choice, observer: &mut dyn Observer) -> Result<Choice> {
    let policy = Thompson::of(choice)?;
    let at = |sharpness: f64| choice.with_params(problem, &[policy.alpha, policy.beta, sharpness]);
    at(fit::searched(problem, COST * problem.cost(), FEASIBLE, at, observer)?)
}

/// Thompson sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thompson {
    alpha: f64,
    beta: f64,
    sharpness: f64,
}

impl Thompson {
    #[cfg(test)]
    pub fn new(alpha: f64, beta: f64, sharpness: f64) -> Self {
        Self { alpha, beta, sharpness }
    }

    fn of(choice: &Choice) -> Result<Self> {
        let [alpha, beta, sharpness] = ["alpha", "beta", "sharpness"].map(|name| choice.scalar(name));
        Ok(Self { alpha: alpha?, beta: beta?, sharpness: sharpness? })
    }

    /// May a posterior have a parameter below one? Then the gammas need another way, which takes longer.
    #[inline(always)]
    fn is_small(&self) -> bool {
        self.alpha.min(self.beta) * self.sharpness < 1.0
    }

    /// The parameters of an arm's posterior.
    #[inline(always)]
    fn posterior<R: Real>(&self, pulls: R, successes: R) -> [R; 2] {
        let (alpha, beta, sharpness) = (pulls.lit(self.alpha), pulls.lit(self.beta), pulls.lit(self.sharpness));
        [(successes + alpha) * sharpness, (pulls - successes + beta) * sharpness]
    }
}

/// The probability that each arm's sample is the largest.
impl Decide for Thompson {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let law = |arm: &Arm| {
            let (successes, failures) = (arm.successes(), arm.pulls - arm.successes());
            let [a, b] = [self.alpha + successes, self.beta + failures].map(|x| self.sharpness * x);
            Law::LogitBeta { a, b }
        };
        largest(&now.arms.iter().map(law).collect::<Vec<_>>(), weights);
        Ok(())
    }
}

impl ArmsKernel<0> for Thompson {
    const USES: Uses = Uses::Sums;
    const LEARNS: bool = true;
    const BERNOULLI_ROUNDING: bool = true;

    fn unscored(&self) -> Option<&'static str> {
        Some("has no score for its sharpness (train searches for it instead)")
    }

    /// Scales of the posteriors' two parameters: they change with the pulled arm's alone, and have a square root and a division.
    fn slots(&self, arms: usize) -> usize {
        if self.is_small() { 0 } else { 2 * arms }
    }

    #[inline(always)]
    fn start<R: Real>(&self, _: bool, own: &mut [R], _: &mut Stream<R>, _: &mut [R; 0]) {
        let (first, second) = own.split_at_mut(own.len() / 2);
        if let Some(zero) = first.first().map(|x| x.zero()) {
            let [a, b] = self.posterior(zero, zero);
            first.fill(Shape::scale(a));
            second.fill(Shape::scale(b));
        }
    }

    #[inline(always)]
    fn update<R: Real>(&self, arm: R, _: R, counted: Counted<R>, own: &mut [R]) {
        self.recount(arm, counted, own);
    }

    #[inline(always)]
    fn recount<R: Real>(&self, arm: R, counted: Counted<R>, own: &mut [R]) {
        if !self.is_small() {
            let [a, b] = self.posterior(counted.count, counted.sum);
            let (first, second) = own.split_at_mut(own.len() / 2);
            put(first, arm, Shape::scale(a));
            put(second, arm, Shape::scale(b));
        }
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        actions: &mut Stream<R>,
        _: &mut [R; 0],
    ) -> R {
        let arms = history.pulls.len();
        // No sample is below 0.
        let mut best = Best::first(history.pulls[0].lit(-1.0));
        if self.is_small() {
            for arm in 0..arms {
                let [a, b] = self.posterior(history.pulls[arm], history.sums[arm]);
                let sample = R::apart(
                    a.token(),
                    #[inline(always)]
                    || actions.beta(a, b),
                );
                best.offer(arm, sample);
            }
        } else {
            let (first, second) = own.split_at(arms);
            actions.beta_of_arms(
                arms,
                #[inline(always)]
                |arm| {
                    let [a, b] = self.posterior(history.pulls[arm], history.sums[arm]);
                    [Shape::of(a, first[arm]), Shape::of(b, second[arm])]
                },
                #[inline(always)]
                |lanes, arm, sample| best.offer_some(lanes, arm, sample),
            );
        }
        best.arm
    }
}

#[cfg(test)]
mod tests;
