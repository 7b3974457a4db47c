//! What a comparison says of one policy: which rivals it beats, which beat it, and by how much.

use super::evaluate::Comparison;
use super::statistics::{Estimate, Interval};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// A policy beside its rivals. Differences are rival minus policy, so that a positive one is a gain.
///
/// ```
/// use gradband::{Problem, Simulator};
/// let problem = Problem::named("bernoulli-2")?;
/// let comparison = Simulator::new(&problem).compare(["softelim(w=0.53)", "thompson", "ucb1"])?;
/// let verdict = comparison.verdict(0, &[1, 2]);
/// assert_eq!(verdict.better_than, ["thompson", "ucb1"]);
/// assert!(verdict.to_string().starts_with("softelim(w=0.53) beats thompson by 0."), "{verdict}");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The policy that is judged.
    #[serde(skip)]
    pub policy: String,
    /// The rivals that it beats: the interval of the difference is above 0.
    pub better_than: Vec<String>,
    /// The rivals that beat it: the interval is below 0.
    pub worse_than: Vec<String>,
    /// All rivals, the one to be measured by first.
    pub against: Vec<Against>,
}

/// One rival.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The rival.
    pub policy: String,
    /// Its regret minus that of the judged policy, on the same instances and rewards.
    pub difference: Estimate,
    /// Where the difference lies with a confidence of 95 %.
    pub interval: Interval,
}

impl Comparison {
    /// Policy `i` beside `rivals`, of which the first is the one to be measured by: the best that is known without looking
    /// at this very comparison, or the difference would be biased by the choice.
    pub fn verdict(&self, i: usize, rivals: &[usize]) -> Verdict {
        self.verdict_named(i, rivals, |i| self.label(i).into())
    }

    /// The same with other names for the policies.
    pub fn verdict_named(&self, i: usize, rivals: &[usize], name: impl Fn(usize) -> String) -> Verdict {
        let against = rivals.iter().map(|&rival| {
            let difference = self.difference(rival, i);
            Against { policy: name(rival), difference, interval: self.interval(&difference) }
        });
        let against: Vec<Against> = against.collect();
        let those = |test: fn(&Interval) -> bool| {
            against.iter().filter(|rival| test(&rival.interval)).map(|rival| rival.policy.clone()).collect()
        };
        Verdict {
            policy: name(i),
            better_than: those(|interval| interval.low > 0.0),
            worse_than: those(|interval| interval.high < 0.0),
            against,
        }
    }
}

/// The first rival in a sentence; what it says to do follows from it.
impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Some(Against { policy: rival, difference, interval }) = self.against.first() else {
            return write!(f, "{} has no rival here", self.policy);
        };
        if !difference.std_error.is_finite() {
            return write!(f, "{}: one past problem cannot tell it from {rival}", self.policy);
        }
        let gain = difference.mean;
        if interval.low > 0.0 {
            write!(f, "{} beats {rival} by {gain:.2} (95 % {interval})", self.policy)
        } else if interval.high < 0.0 {
            let loss = Interval { low: -interval.high, high: -interval.low };
            write!(f, "{} is worse than {rival} by {:.2} (95 % {loss}): use {rival}", self.policy, -gain)
        } else {
            let policy = &self.policy;
            write!(
                f,
                "{policy} and {rival} cannot be told apart: a difference of {gain:.2} (95 % {interval})"
            )
        }
    }
}
