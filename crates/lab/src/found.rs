//! What a unit found: the `estimate` of its record. Numbers are rounded, so that records are small.

use crate::transfer::Transferred;
use crate::work::{Train, Work};
use gradband::{Error, Estimate, Result};
use serde::{Deserialize, Serialize};

/// No measured number is larger; what is computed with larger ones overflows.
const LARGEST: f64 = 1e100;

/// The result of a unit, one variant for each kind of [`crate::work::Work`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// What was measured of a training.
    Trained(Trained),
    /// What was measured of policies that played, in the order in which they were given.
    Played(Vec<Played>),
    /// What was measured of policies that were tuned on several problems, and of others beside them.
    Transferred(Vec<Transferred>),
    /// Estimated gradients.
    Gradients {
        /// The regret of the policy.
        regret: Estimate,
        /// The gradient by each baseline.
        gradients: Vec<Slope>,
    },
    /// A regret and a gradient without sampling error.
    Exact {
        /// The Bayes regret.
        regret: f64,
        /// The gradient of the Bayes reward.
        gradient: Vec<f64>,
    },
    /// A matrix, row by row.
    Matrix(Vec<Vec<f64>>),
    /// The size of a data set.
    Size {
        /// The number of classes, which are the arms.
        arms: usize,
        /// The number of features.
        features: usize,
        /// The number of rows of the table.
        examples: usize,
    },
    /// The number of entries of a Gittins table; the time is the record's.
    Entries(usize),
}

/// A curve as records keep it: (iteration or round, Bayes regret, its standard error).
pub type Curve = Vec<(usize, f64, f64)>;

/// What was measured of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// The regret of iterates.
    pub curve: Curve,
    /// The regret before training.
    pub initial: Estimate,
    /// The regret of the policy that is handed out.
    pub tuned: Estimate,
    /// The regret over rounds of the policy that is handed out, in the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Curve,
    /// The regret on the other problems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Estimate>,
    /// The parameters that are handed out, if there are few, or a projection and this is the first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<f64>,
    /// The seconds of training alone.
    pub seconds: f64,
}

/// What was measured of a policy that played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The Bayes regret.
    pub regret: Estimate,
    /// Its regret less that of the policy before it, on the same instances.
    pub step: Estimate,
    /// The regret over rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Curve,
}

/// A gradient in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// The mean over all instances.
    pub mean: f64,
    /// The standard error of the mean.
    pub std_error: f64,
    /// The standard deviation of one instance's estimate.
    pub deviation: f64,
}

impl Slope {
    /// The mean with its standard error.
    pub fn estimate(&self) -> Estimate {
        Estimate { mean: self.mean, std_error: self.std_error }
    }
}

impl Found {
    /// Refuses what such work cannot have found: records are read from files, and files can be damaged.
    pub(crate) fn check(&self, work: &Work) -> Result<()> {
        match (self, work) {
            (Self::Trained(found), Work::Train(train)) => found.check(train),
            (Self::Played(found), Work::Play(play)) => {
                same_length("played", found.len(), play.policies.len())?;
                found.iter().try_for_each(Played::check)
            }
            (Self::Transferred(found), Work::Transfer(transfer)) => transfer.check(found),
            (Self::Gradients { regret, gradients }, Work::Gradient(gradient)) => {
                same_length("gradients", gradients.len(), gradient.baselines.len())?;
                check_estimates([*regret])?;
                gradients.iter().try_for_each(|slope| {
                    check_numbers("gradients", &[slope.mean, slope.std_error, slope.deviation])
                })
            }
            (Self::Exact { regret, gradient }, Work::Exact { .. }) => {
                check_numbers("regret", &[*regret])?;
                check_numbers("gradient", gradient)
            }
            (Self::Matrix(rows), Work::Matrix { .. }) => rows.iter().try_for_each(|row| {
                same_length("matrix", row.len(), rows[0].len())?;
                check_numbers("matrix", row)
            }),
            (Self::Size { .. }, Work::Size { .. }) | (Self::Entries(_), Work::Gittins { .. }) => Ok(()),
            _ => Err(Error::new("estimate", "is not what a unit with this setting finds")),
        }
    }
}

impl Trained {
    fn check(&self, train: &Train) -> Result<()> {
        check_estimates([self.initial, self.tuned])?;
        check_estimates(self.elsewhere.iter().copied())?;
        same_length("elsewhere", self.elsewhere.len(), train.elsewhere.len())?;
        check_curve("curve", &self.curve)?;
        check_curve("rounds", &self.rounds)?;
        check_numbers("params", &self.params)?;
        check_numbers("seconds", &[self.seconds])
    }
}

impl Played {
    fn check(&self) -> Result<()> {
        check_estimates([self.regret, self.step])?;
        check_curve("curve", &self.curve)
    }
}

pub(crate) fn same_length(place: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::new(place, format!("found {found} entries, expected {expected}")))
}

/// Refuses numbers that no measurement gives.
pub(crate) fn check_numbers(place: &str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|x| x.is_nan() || x.abs() > LARGEST) {
        None => Ok(()),
        Some(x) => Err(Error::new(place, format!("found {x:e}, which no measurement gives"))),
    }
}

/// The same for estimates; a standard error may be unknown.
pub(crate) fn check_estimates(estimates: impl IntoIterator<Item = Estimate>) -> Result<()> {
    estimates.into_iter().try_for_each(|estimate| {
        check_numbers("mean", &[estimate.mean])?;
        if estimate.std_error == f64::INFINITY {
            return Ok(());
        }
        check_numbers("std_error", &[estimate.std_error])
    })
}

fn check_curve(place: &str, curve: &Curve) -> Result<()> {
    if curve.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(Error::new(place, "does not go forward"));
    }
    curve.iter().try_for_each(|&(_, mean, std_error)| check_numbers(place, &[mean, std_error]))
}

/// A number with so many significant digits: the last bits of a mean over thousands of instances mean nothing.
pub(crate) fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

/// An estimate as records keep it.
pub(crate) fn short(estimate: Estimate) -> Estimate {
    Estimate { mean: rounded(estimate.mean, 6), std_error: rounded(estimate.std_error, 3) }
}

/// A curve as records keep it.
pub(crate) fn short_curve(points: impl IntoIterator<Item = (usize, Estimate)>) -> Curve {
    let point = |(at, regret): (usize, Estimate)| {
        let Estimate { mean, std_error } = short(regret);
        (at, mean, std_error)
    };
    points.into_iter().map(point).collect()
}
