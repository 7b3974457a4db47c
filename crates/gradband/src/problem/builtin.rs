//! The problems that have a name: those of the paper's multi-armed experiments.

use super::{Points, Prior, Problem, Rewards};
use crate::{Error, Result};

/// A built-in problem, or a family of them with a number in the name.
#[derive(Clone, Copy, Debug)]
pub struct ProblemInfo {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    build: fn() -> Result<Problem>,
}

fn two_points() -> Result<Prior> {
    Points::new(vec![vec![0.6, 0.4], vec![0.4, 0.6]], None).map(Prior::Points)
}

fn uniform(arms: usize) -> Result<Prior> {
    Prior::beta(vec![1.0; arms], vec![1.0; arms])
}

/// Section 7.6: the best arm is 2 or 3, arm 1 tells which, and arms 4 to K only distract.
fn distractors<const K: usize>() -> Result<Problem> {
    let tail = vec![0.7; K - 3];
    let instances = vec![[vec![0.6, 0.9, 0.7], tail.clone()].concat(), [vec![0.2, 0.7, 0.9], tail].concat()];
    let prior = Prior::Points(Points::new(instances, None)?);
    Problem::new(format!("distractors-{K}"), Rewards::Bernoulli, prior, 200)
}

const BETA: Rewards = Rewards::Beta { concentration: 4.0 };

macro_rules! distractors {
    ($($k:literal)*) => {
        [$(ProblemInfo {
            name: concat!("distractors-", $k),
            summary: concat!($k, " arms, two instances that differ in the first three, n = 200"),
            build: distractors::<$k>,
        }),*]
    };
}

const DISTRACTORS: [ProblemInfo; 22] =
    distractors!(3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);

const NAMED: [ProblemInfo; 5] = [
    ProblemInfo {
        name: "bernoulli-2",
        summary: "means (0.6, 0.4) or (0.4, 0.6), Bernoulli rewards, n = 200",
        build: || Problem::new("bernoulli-2", Rewards::Bernoulli, two_points()?, 200),
    },
    ProblemInfo {
        name: "bernoulli-2-uniform",
        summary: "2 arms, uniform means, Bernoulli rewards, n = 200",
        build: || Problem::new("bernoulli-2-uniform", Rewards::Bernoulli, uniform(2)?, 200),
    },
    ProblemInfo {
        name: "beta-2",
        summary: "means (0.6, 0.4) or (0.4, 0.6), beta rewards with v = 4, n = 200",
        build: || Problem::new("beta-2", BETA, two_points()?, 200),
    },
    ProblemInfo {
        name: "bernoulli-10",
        summary: "10 arms, uniform means, Bernoulli rewards, n = 1000",
        build: || Problem::new("bernoulli-10", Rewards::Bernoulli, uniform(10)?, 1000),
    },
    ProblemInfo {
        name: "beta-10",
        summary: "10 arms, uniform means, beta rewards with v = 4, n = 1000",
        build: || Problem::new("beta-10", BETA, uniform(10)?, 1000),
    },
];

/// Every built-in problem.
pub static PROBLEMS: [ProblemInfo; 27] = {
    let mut all = [NAMED[0]; 27];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < NAMED.len() { NAMED[i] } else { DISTRACTORS[i - NAMED.len()] };
        i += 1;
    }
    all
};

impl Problem {
    /// The built-in problem of that name.
    pub fn named(name: &str) -> Result<Self> {
        match PROBLEMS.iter().find(|info| info.name == name) {
            Some(info) => (info.build)(),
            None => Err(Error::unknown("PROBLEM", name, PROBLEMS.iter().map(|info| info.name))),
        }
    }
}
