//! The problems that have a name: those of the paper's experiments.

use super::{Contexts, Covariance, DATASETS, Dataset, Linear, Normal, Points, Prior, Problem, Rewards};
use crate::{Error, Result};

/// A built-in problem, or a family of them with a number in the name.
#[derive(Clone, Copy, Debug)]
pub struct ProblemInfo {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Function(fn() -> Result<Problem>),
    Dataset(&'static Dataset),
}

/// What a problem is, without building it: data sets take time to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The spec's name of the model.
    pub kind: &'static str,
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: usize,
    /// d, where there are contexts.
    pub context_dim: Option<usize>,
}

/// n of the data sets (section 7.9).
pub const DATASET_HORIZON: usize = 500;

impl ProblemInfo {
    /// Its size.
    pub fn size(&self) -> Result<Size> {
        Ok(match self.source {
            Source::Function(build) => {
                let problem = build()?;
                let context_dim = problem.contextual().map(super::Contextual::dim);
                Size { kind: problem.kind(), arms: problem.arms, horizon: problem.horizon, context_dim }
            }
            Source::Dataset(set) => Size {
                kind: "classification",
                arms: set.classes,
                horizon: DATASET_HORIZON,
                context_dim: Some(set.features),
            },
        })
    }

    /// The data set behind it, if it is one.
    pub fn dataset(&self) -> Option<&'static Dataset> {
        match self.source {
            Source::Function(_) => None,
            Source::Dataset(set) => Some(set),
        }
    }
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
            source: Source::Function(distractors::<$k>),
        }),*]
    };
}

const DISTRACTORS: [ProblemInfo; 22] =
    distractors!(3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);

/// Section 7.7: K = 4, d = 8, n = 200, x ~ N(1, I), sigma = 0.5, and the covariance of figure 6.
fn linear(name: &str, theta: Covariance) -> Result<Problem> {
    let context = Normal::new(vec![1.0; 8], Covariance::Diagonal(vec![1.0; 8]))?;
    let theta = Normal::new(vec![0.0; 8], theta)?;
    Problem::with_contexts(name, Contexts::Linear(Linear::new(context, vec![theta], 0.5)?), 4, 200)
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

const LINEAR: [ProblemInfo; 4] = [
    ProblemInfo {
        name: "linear-1",
        summary: "4 arms, 8 features of which the first 4 matter, linear Gaussian rewards, n = 200",
        source: Source::Function(|| linear("linear-1", diagonal(&[0, 1, 2, 3]))),
    },
    ProblemInfo {
        name: "linear-2",
        summary: "the same, features 1 and 3 matter",
        source: Source::Function(|| linear("linear-2", diagonal(&[0, 2]))),
    },
    ProblemInfo {
        name: "linear-3",
        summary: "the same, features 1-2 and 3-4 have correlated parameters",
        source: Source::Function(|| linear("linear-3", blocks(2))),
    },
    ProblemInfo {
        name: "linear-4",
        summary: "the same, features 1-4 have correlated parameters",
        source: Source::Function(|| linear("linear-4", blocks(4))),
    },
];

const NAMED: [ProblemInfo; 5] = [
    ProblemInfo {
        name: "bernoulli-2",
        summary: "means (0.6, 0.4) or (0.4, 0.6), Bernoulli rewards, n = 200",
        source: Source::Function(|| Problem::new("bernoulli-2", Rewards::Bernoulli, two_points()?, 200)),
    },
    ProblemInfo {
        name: "bernoulli-2-uniform",
        summary: "2 arms, uniform means, Bernoulli rewards, n = 200",
        source: Source::Function(|| {
            Problem::new("bernoulli-2-uniform", Rewards::Bernoulli, uniform(2)?, 200)
        }),
    },
    ProblemInfo {
        name: "beta-2",
        summary: "means (0.6, 0.4) or (0.4, 0.6), beta rewards with v = 4, n = 200",
        source: Source::Function(|| Problem::new("beta-2", BETA, two_points()?, 200)),
    },
    ProblemInfo {
        name: "bernoulli-10",
        summary: "10 arms, uniform means, Bernoulli rewards, n = 1000",
        source: Source::Function(|| Problem::new("bernoulli-10", Rewards::Bernoulli, uniform(10)?, 1000)),
    },
    ProblemInfo {
        name: "beta-10",
        summary: "10 arms, uniform means, beta rewards with v = 4, n = 1000",
        source: Source::Function(|| Problem::new("beta-10", BETA, uniform(10)?, 1000)),
    },
];

/// Every built-in problem.
pub static PROBLEMS: [ProblemInfo; 42] = {
    let mut all = [NAMED[0]; 42];
    let (mut i, mut j) = (0, 0);
    while j < NAMED.len() {
        all[i] = NAMED[j];
        (i, j) = (i + 1, j + 1);
    }
    j = 0;
    while j < DISTRACTORS.len() {
        all[i] = DISTRACTORS[j];
        (i, j) = (i + 1, j + 1);
    }
    j = 0;
    while j < LINEAR.len() {
        all[i] = LINEAR[j];
        (i, j) = (i + 1, j + 1);
    }
    j = 0;
    while j < DATASETS.len() {
        let set = &DATASETS[j];
        all[i] = ProblemInfo { name: set.name, summary: set.summary, source: Source::Dataset(set) };
        (i, j) = (i + 1, j + 1);
    }
    all
};

impl Problem {
    /// The built-in problem of that name. A data set that is not part of the library must be read by the caller:
    /// see [`Self::of_dataset`].
    pub fn named(name: &str) -> Result<Self> {
        match PROBLEMS.iter().find(|info| info.name == name).map(|info| info.source) {
            Some(Source::Function(build)) => build(),
            Some(Source::Dataset(set)) => match set.embedded {
                Some(bytes) => Self::of_dataset(set, bytes),
                None => Err(Error::new(
                    "PROBLEM",
                    format!("{name} is not here yet; run: gradband data fetch {name}"),
                )),
            },
            None => Err(Error::unknown("PROBLEM", name, PROBLEMS.iter().map(|info| info.name))),
        }
    }
}
