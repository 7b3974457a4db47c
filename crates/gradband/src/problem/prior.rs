//! Priors over instances: weighted points, independent Beta or normal means, or the user's own past.

use super::table::sample_beta;
use super::{Bandit, Split, Table};
use crate::error::{Error, Result, within};
use crate::numeric::lanes::One;
use crate::numeric::stream::{Random, Stream};
use std::sync::Arc;

/// Finitely many instances with their probabilities: a prior for [`Prior::Points`], or tables for
/// [`Discrete`](super::Discrete).
#[derive(Clone, Debug)]
pub struct Points {
    instances: Vec<Vec<f64>>,
    weights: Vec<f64>,
    cumulative: Vec<f64>,
}

impl Points {
    /// Instances with weights, which need not sum to one; equally likely ones without.
    pub fn new(instances: Vec<Vec<f64>>, weights: Option<Vec<f64>>) -> Result<Self> {
        let arms = instances.first().map_or(0, Vec::len);
        if arms == 0 {
            return Err(Error::new("instances", "is empty; give at least one list of arm means"));
        }
        for (i, instance) in instances.iter().enumerate() {
            let place = format!("instances[{i}]");
            if instance.len() != arms {
                let found = instance.len();
                return Err(Error::new(
                    place,
                    format!("found {found} means, expected {arms} as in the first"),
                ));
            }
            for (arm, &mean) in instance.iter().enumerate() {
                within(format!("{place}[{arm}]"), mean, -1e6, 1e6)?;
            }
        }
        let weights = weights.unwrap_or_else(|| vec![1.0; instances.len()]);
        if weights.len() != instances.len() {
            let (found, expected) = (weights.len(), instances.len());
            return Err(Error::new(
                "weights",
                format!("found {found}, expected one per instance ({expected})"),
            ));
        }
        for (i, &weight) in weights.iter().enumerate() {
            within(format!("weights[{i}]"), weight, 0.0, 1e12)?;
        }
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Err(Error::new("weights", "all are zero; at least one must be positive"));
        }
        let weights: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let mut sum = 0.0;
        let cumulative = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        Ok(Self { instances, weights, cumulative })
    }

    /// Numbers of an instance.
    pub(super) fn len(&self) -> usize {
        self.instances[0].len()
    }

    /// The instances and their probabilities.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.instances.iter().map(Vec::as_slice).zip(self.weights.iter().copied())
    }

    pub(super) fn sample(&self, stream: &mut Stream<One<f64>>) -> &[f64] {
        let u = stream.uniform().0;
        // Rounding may leave the last cumulative weight below one, and an instance of weight zero must never
        // come up: the last positive one closes the range.
        let last = self.weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0);
        &self.instances[self.cumulative.partition_point(|&bound| bound <= u).min(last)]
    }
}

/// The distribution of instances: how the mean rewards of the arms vary from one past problem to the next.
///
/// ```
/// use gradband::Prior;
/// let clicks = Prior::beta(6, 4.0, 76.0)?; // six arms with means around 5 %
/// let either = Prior::points(vec![vec![0.6, 0.4], vec![0.4, 0.6]])?; // one arm is better, but which?
/// let effects = Prior::normals(vec![0.0, 0.2], vec![1.0, 0.5])?; // a control and a treatment
/// assert_eq!([clicks, either, effects].map(|prior| prior.arms()), [6, 2, 2]);
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Prior {
    /// Weighted instances.
    Points(Points),
    /// Independent Beta(alpha, beta) means.
    Beta {
        /// The first parameter of each arm.
        alpha: Vec<f64>,
        /// The second parameter of each arm.
        beta: Vec<f64>,
    },
    /// Independent normal means.
    Normal {
        /// The centre of each arm's mean.
        mean: Vec<f64>,
        /// The standard deviation of each arm's mean.
        sd: Vec<f64>,
    },
    /// The user's past instances; shared, because problems are copied and tables are large.
    Table(Arc<Table>),
    /// Drawn by the user's own code.
    Own(Arc<dyn Bandit>),
}

impl Prior {
    /// Finitely many instances, each a list of arm means, all equally likely.
    pub fn points(instances: Vec<Vec<f64>>) -> Result<Self> {
        Points::new(instances, None).map(Self::Points)
    }

    /// Arms whose means are all drawn from the same Beta distribution.
    pub fn beta(arms: usize, alpha: f64, beta: f64) -> Result<Self> {
        Self::betas(vec![alpha; arms], vec![beta; arms])
    }

    /// Arms whose means are drawn from Beta distributions of their own.
    pub fn betas(alpha: Vec<f64>, beta: Vec<f64>) -> Result<Self> {
        same_length("beta", alpha.len(), beta.len())?;
        for (name, values) in [("alpha", &alpha), ("beta", &beta)] {
            for (arm, &x) in values.iter().enumerate() {
                within(format!("{name}[{arm}]"), x, 1e-3, 1e6)?;
            }
        }
        Ok(Self::Beta { alpha, beta })
    }

    /// Arms whose means are all drawn from the same normal distribution.
    pub fn normal(arms: usize, mean: f64, sd: f64) -> Result<Self> {
        Self::normals(vec![mean; arms], vec![sd; arms])
    }

    /// Arms whose means are drawn from normal distributions of their own.
    pub fn normals(mean: Vec<f64>, sd: Vec<f64>) -> Result<Self> {
        same_length("sd", mean.len(), sd.len())?;
        for (arm, (&mean, &sd)) in mean.iter().zip(&sd).enumerate() {
            within(format!("mean[{arm}]"), mean, -1e6, 1e6)?;
            within(format!("sd[{arm}]"), sd, 0.0, 1e6)?;
        }
        Ok(Self::Normal { mean, sd })
    }

    /// Past instances, one of which is drawn for each simulation.
    pub fn table(table: Table) -> Self {
        Self::Table(Arc::new(table))
    }

    /// Means drawn by one's own code; only its instances are used, not its rewards.
    pub fn own(bandit: impl Bandit + 'static) -> Self {
        Self::Own(Arc::new(bandit))
    }

    /// The number of arms.
    pub fn arms(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Beta { alpha, .. } => alpha.len(),
            Self::Normal { mean, .. } => mean.len(),
            Self::Table(table) => table.arms(),
            Self::Own(bandit) => bandit.arms(),
        }
    }

    pub(super) fn arm_names(&self) -> Option<&[String]> {
        match self {
            Self::Table(table) if !table.is_exchangeable() => Some(table.arm_names()),
            _ => None,
        }
    }

    /// The number of past instances that a split draws from, if the prior is a table.
    pub fn clusters(&self, split: Split) -> Option<usize> {
        match self {
            Self::Table(table) => Some(table.rows(split).len()),
            _ => None,
        }
    }

    /// Draws the arm means of one instance; the result is the past instance it came from (0 if none).
    pub(crate) fn sample(&self, split: Split, stream: &mut Stream<One<f64>>, means: &mut [f64]) -> u32 {
        match self {
            Self::Points(points) => means.copy_from_slice(points.sample(stream)),
            Self::Beta { alpha, beta } => {
                for ((mean, &a), &b) in means.iter_mut().zip(alpha).zip(beta) {
                    *mean = sample_beta(stream, a, b);
                }
            }
            Self::Normal { mean: centre, sd } => {
                for ((mean, &centre), &sd) in means.iter_mut().zip(centre).zip(sd) {
                    *mean = stream.normal_pair().0.0.mul_add(sd, centre);
                }
            }
            Self::Table(table) => return table.sample(split, stream, means),
            Self::Own(bandit) => {
                let mut random = Random(*stream);
                bandit.instance(&mut random, means);
                *stream = random.0;
            }
        }
        0
    }

    /// Makes it fit for a problem whose rewards are in [0, 1], or not.
    pub(super) fn serve(&mut self, unit_rewards: bool) -> Result<()> {
        match self {
            Self::Table(table) if table.has_means_alone() => Arc::make_mut(table).refit(unit_rewards),
            _ => Ok(()),
        }
    }

    /// Rewards in [0, 1] need means in [0, 1].
    pub(super) fn check_unit_means(&self) -> Result<()> {
        match self {
            Self::Points(points) => {
                for (i, instance) in points.instances.iter().enumerate() {
                    for (arm, &mean) in instance.iter().enumerate() {
                        within(format!("prior.instances[{i}][{arm}]"), mean, 0.0, 1.0)?;
                    }
                }
                Ok(())
            }
            Self::Beta { .. } | Self::Own(_) => Ok(()),
            Self::Normal { .. } => Err(Error::new(
                "prior.kind",
                "a normal prior leaves [0, 1]; use kind = \"beta\" here, or problem kind = \"gaussian\"",
            )),
            Self::Table(table) => table.check_unit_means(),
        }
    }
}

fn same_length(place: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::new(place, format!("found {found} entries, expected {expected}: one per arm")))
}
