//! Signs that a training did not go well, found in its iterates.

use crate::observe::Iteration;
use crate::policy::{Choice, Coordinate, Slot};
use crate::problem::Problem;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Which of the policies that training met is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HandedOut {
    /// The mean of the last half of the iterates.
    Tail,
    /// The last iterate.
    Last,
    /// The iterate whose batch had the least regret.
    Best,
    /// The policy that training started from.
    Start,
    /// One that treats all features alike, as LinUCB does, with a ridge and a width that were searched for.
    Plain,
}

impl Display for HandedOut {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Tail => "the mean of the last half of the iterates",
            Self::Last => "the last iterate",
            Self::Best => "an earlier iterate",
            Self::Start => "the policy that training started from",
            Self::Plain => "a policy that treats all features alike (LinUCB with a tuned ridge and width)",
        })
    }
}

/// Something that whoever uses the policy should know of its training.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
#[non_exhaustive]
pub enum Trouble {
    /// A parameter ended at the end of the set in which training keeps it: the best value may lie beyond.
    Bound {
        /// The parameter.
        param: String,
        /// Where it is kept.
        bound: f64,
    },
    /// A parameter jumps back and forth instead of settling: the steps are too long.
    Oscillation {
        /// The parameter.
        param: String,
    },
    /// What the last iterates gave was worse than something on the way, which is handed out instead.
    Setback {
        /// What is handed out.
        instead: HandedOut,
        /// By which part of the regret it is better.
        better: f64,
    },
    /// The steps were so long that numbers overflowed; training ended there.
    Diverged {
        /// In which iteration.
        iteration: usize,
        /// What is handed out.
        instead: HandedOut,
    },
    /// Parts of the training data that were kept aside do not confirm what was learned on the rest.
    Unconfirmed {
        /// What is handed out.
        instead: HandedOut,
        /// After so many iterations.
        iterations: usize,
    },
    /// Iterations whose gradient was too large for a number, and which therefore did not move anything.
    Lost {
        /// How many.
        iterations: usize,
        /// Of how many.
        of: usize,
    },
}

impl Display for Trouble {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Bound { param, bound } => {
                write!(
                    f,
                    "{param} ended at {bound}, the end of the set in which training keeps it: the best may lie beyond"
                )
            }
            Self::Oscillation { param } => {
                write!(f, "{param} jumps back and forth: try a smaller learning rate, or a larger batch")
            }
            Self::Setback { instead, better } => write!(
                f,
                "on training instances {instead} has {:.0} % less regret than the last iterates, and is handed out: try a \
                 smaller learning rate",
                100.0 * better
            ),
            Self::Diverged { iteration, instead } => write!(
                f,
                "training diverged: its weights overflowed in iteration {iteration}, and {instead} is handed out; try a \
                 smaller learning rate"
            ),
            Self::Unconfirmed { instead: HandedOut::Tail, iterations } => write!(
                f,
                "parts of the training data that were kept aside do not confirm more than {iterations} iterations"
            ),
            Self::Unconfirmed { instead, .. } => write!(
                f,
                "parts of the training data that were kept aside do not confirm what was learned on the rest: {instead} \
                 is handed out; more data would help"
            ),
            Self::Lost { iterations, of } => write!(
                f,
                "in {iterations} of {of} iterations the gradient was no finite number, and nothing was learned: bring \
                 rewards and features closer to 1 (scale = \"minmax\"), or try a smaller learning rate"
            ),
        }
    }
}

/// Below this part of the regret a setback is noise.
const SETBACK: f64 = 0.03;

impl Trouble {
    /// Whether it is one that something else than the last iterates is handed out.
    pub(super) fn setback(instead: HandedOut, better: f64) -> Option<Self> {
        let earlier = matches!(instead, HandedOut::Best | HandedOut::Start);
        (earlier && better > SETBACK).then_some(Self::Setback { instead, better })
    }

    /// Whether there were iterations without a gradient.
    pub(super) fn lost(history: &[Iteration]) -> Option<Self> {
        let iterations = history.iter().filter(|record| record.gradient_norm.is_none()).count();
        (iterations > 0).then_some(Self::Lost { iterations, of: history.len() })
    }
}

/// Steps of the last half that turn back, and the spread of the iterates there, in logarithms or relative to their
/// size: beyond both a parameter does not settle.
const TURNS: f64 = 0.8;
const SPREAD: f64 = 0.25;
/// Fewer iterates say nothing.
const LEAST: usize = 10;

/// What the iterates of a training tell, parameter by parameter; matrices are left out.
pub(super) fn troubles(
    problem: &Problem,
    policy: &Choice,
    coordinates: &[Coordinate],
    iterates: &[&[f64]],
) -> Vec<Trouble> {
    let tail = &iterates[iterates.len() / 2..];
    let mut found = Vec::new();
    // A temperature means nothing to a policy that plays without chance.
    let used = |slot: &&Slot| slot.shape.is_empty() && !(slot.param.polished && policy.flag("hard"));
    for slot in policy.slots().iter().filter(used) {
        let at = slot.range.start;
        let (low, high) = slot.param.feasible.on(problem);
        let value = policy.params()[at];
        let near = |bound: f64| (value - bound).abs() <= 1e-3 * bound.abs().max(1e-9);
        // Ends that a parameter cannot leave in any way are no trouble.
        let beyond = |bound: f64| {
            let (least, most) = slot.param.domain.on(problem);
            bound > least && bound < most
        };
        let bound = [low, high].into_iter().find(|&bound| near(bound) && beyond(bound));
        if let Some(bound) = bound {
            found.push(Trouble::Bound { param: slot.name().into(), bound });
        } else if tail.len() >= LEAST && oscillates(tail.iter().map(|w| place(coordinates[at], w[at]))) {
            found.push(Trouble::Oscillation { param: slot.name().into() });
        }
    }
    found
}

/// A parameter on a scale on which steps compare.
fn place(coordinate: Coordinate, x: f64) -> f64 {
    match coordinate {
        Coordinate::Plain if x <= 0.0 => x,
        Coordinate::Over(unit) => x / unit,
        _ => x.ln(),
    }
}

fn oscillates(values: impl Iterator<Item = f64>) -> bool {
    let values: Vec<f64> = values.collect();
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let turns = steps.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let spread = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    turns as f64 > TURNS * (steps.len() - 1) as f64 && spread > SPREAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settling_is_not_oscillating() {
        let settling = (0..50).map(|i| 1.0 / f64::from(1 + i));
        let jumping = (0..50).map(|i| if i % 2 == 0 { 0.0 } else { 1.0 });
        let jitter = (0..50).map(|i| if i % 2 == 0 { 0.0 } else { 0.1 });
        assert!(!oscillates(settling));
        assert!(oscillates(jumping));
        assert!(!oscillates(jitter), "iterates always jitter a little");
    }
}
