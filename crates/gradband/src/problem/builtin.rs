//! The problems of the paper's experiments that need no data, by name.

use super::{Covariance, Linear, Normal, Prior, Problem};
use crate::error::{Error, Result};

/// A built-in problem, before it is built.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The name by which [`Problem::named`] finds it.
    pub name: &'static str,
    /// A line that describes it.
    pub summary: &'static str,
    build: fn(&'static str) -> Result<Problem>,
}

impl BuiltIn {
    /// Builds the problem.
    pub fn build(&self) -> Result<Problem> {
        (self.build)(self.name)
    }
}

fn two_points() -> Result<Prior> {
    Prior::points(vec![vec![0.6, 0.4], vec![0.4, 0.6]])
}

fn uniform(arms: usize) -> Result<Prior> {
    Prior::beta(arms, 1.0, 1.0)
}

/// v of the paper's beta rewards.
const CONCENTRATION: f64 = 4.0;

/// Section 7.6: the best arm is 2 or 3, arm 1 tells which, and arms 4 to K only distract.
fn distractors<const K: usize>(name: &'static str) -> Result<Problem> {
    let tail = vec![0.7; K - 3];
    let instances = vec![[vec![0.6, 0.9, 0.7], tail.clone()].concat(), [vec![0.2, 0.7, 0.9], tail].concat()];
    Problem::bernoulli(Prior::points(instances)?).name(name).horizon(200).build()
}

macro_rules! distractors {
    ($($k:literal)*) => {
        [$(BuiltIn {
            name: concat!("distractors-", $k),
            summary: concat!($k, " arms, two instances that differ in the first three, n = 200"),
            build: distractors::<$k>,
        }),*]
    };
}

const DISTRACTORS: [BuiltIn; 22] = distractors!(3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);

/// Section 7.7: K = 4, d = 8, n = 200, x ~ N(1, I), sigma = 0.5, and the covariance of figure 6.
fn linear(name: &'static str, theta: Covariance) -> Result<Problem> {
    let context = Normal::new(vec![1.0; 8], Covariance::Diagonal(vec![1.0; 8]))?;
    let theta = Normal::new(vec![0.0; 8], theta)?;
    Problem::linear(Linear::new(context, vec![theta], 0.5)?, 4).name(name).horizon(200).build()
}

fn diagonal(ones: &[usize]) -> Covariance {
    Covariance::Diagonal((0..8).map(|i| f64::from(u8::from(ones.contains(&i)))).collect())
}

/// Ones on the diagonal and 0.95 beside them, in blocks of that size that fill the first four dimensions.
fn blocks(size: usize) -> Covariance {
    let entry = |i: usize, j: usize| match (i < 4 && j < 4 && i / size == j / size, i == j) {
        (true, true) => 1.0,
        (true, false) => 0.95,
        (false, _) => 0.0,
    };
    Covariance::Full((0..64).map(|k| entry(k / 8, k % 8)).collect())
}

const LINEAR: [BuiltIn; 4] = [
    BuiltIn {
        name: "linear-1",
        summary: "4 arms, 8 features of which the first 4 matter, linear Gaussian rewards, n = 200",
        build: |name| linear(name, diagonal(&[0, 1, 2, 3])),
    },
    BuiltIn {
        name: "linear-2",
        summary: "the same, features 1 and 3 matter",
        build: |name| linear(name, diagonal(&[0, 2])),
    },
    BuiltIn {
        name: "linear-3",
        summary: "the same, features 1-2 and 3-4 have correlated parameters",
        build: |name| linear(name, blocks(2)),
    },
    BuiltIn {
        name: "linear-4",
        summary: "the same, features 1-4 have correlated parameters",
        build: |name| linear(name, blocks(4)),
    },
];

const NAMED: [BuiltIn; 5] = [
    BuiltIn {
        name: "bernoulli-2",
        summary: "means (0.6, 0.4) or (0.4, 0.6), Bernoulli rewards, n = 200",
        build: |name| Problem::bernoulli(two_points()?).name(name).horizon(200).build(),
    },
    BuiltIn {
        name: "bernoulli-2-uniform",
        summary: "2 arms, uniform means, Bernoulli rewards, n = 200",
        build: |name| Problem::bernoulli(uniform(2)?).name(name).horizon(200).build(),
    },
    BuiltIn {
        name: "beta-2",
        summary: "means (0.6, 0.4) or (0.4, 0.6), beta rewards with v = 4, n = 200",
        build: |name| Problem::beta(two_points()?, CONCENTRATION).name(name).horizon(200).build(),
    },
    BuiltIn {
        name: "bernoulli-10",
        summary: "10 arms, uniform means, Bernoulli rewards, n = 1000",
        build: |name| Problem::bernoulli(uniform(10)?).name(name).horizon(1000).build(),
    },
    BuiltIn {
        name: "beta-10",
        summary: "10 arms, uniform means, beta rewards with v = 4, n = 1000",
        build: |name| Problem::beta(uniform(10)?, CONCENTRATION).name(name).horizon(1000).build(),
    },
];

/// Every built-in problem.
pub static PROBLEMS: [BuiltIn; 31] = {
    let mut all = [NAMED[0]; 31];
    let parts: [&[BuiltIn]; 3] = [&NAMED, &DISTRACTORS, &LINEAR];
    let (mut part, mut end) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            all[end] = parts[part][i];
            (i, end) = (i + 1, end + 1);
        }
        part += 1;
    }
    all
};

impl Problem {
    /// The built-in problem of that name: `bernoulli-2`, `linear-1`, … The data sets are in the crate `gradband-files`.
    pub fn named(name: &str) -> Result<Self> {
        let found = PROBLEMS.iter().find(|problem| problem.name == name);
        found
            .ok_or_else(|| Error::unknown("problem", name, PROBLEMS.iter().map(|problem| problem.name)))?
            .build()
    }
}
