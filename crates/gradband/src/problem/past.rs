//! What the past says about an arm of an unseen problem: the prior of a policy that is told about it.

use super::table::{matching, mixture, moments};
use super::{Armed, Bandit, Belief, Prior, Problem, Rewards, Split};
use crate::numeric::lanes::One;
use crate::numeric::stream::{Key, Random, Stream};

/// Instances of one's own code that are looked at.
const INSTANCES: u64 = 4_096;

/// What the training part says about an arm of an unseen problem, whichever arm it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastArms {
    /// The mean of arms' means.
    pub mean: f64,
    /// Their variance.
    pub variance: f64,
    /// Beta(a, b), for rewards in [0, 1]: the fitted one of a table, that of a Beta prior with equal arms, else the one
    /// with this mean and variance. Both parameters are between 1e-3 and 1e6.
    pub beta: Option<(f64, f64)>,
}

impl Problem {
    /// What its past says about an arm; nothing with contexts, or of code that draws what is not a number.
    ///
    /// Quick for all priors but one's own code, of which 4,096 instances are drawn at each call, always the same ones.
    ///
    /// ```
    /// use gradband::{Prior, Problem};
    /// let problem = Problem::bernoulli(Prior::beta(3, 2.0, 198.0)?).horizon(100).build()?;
    /// assert_eq!(problem.past_arms().unwrap().beta, Some((2.0, 198.0)));
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn past_arms(&self) -> Option<PastArms> {
        let prior = &self.armed()?.prior;
        let (mean, variance) = prior.arm_moments();
        // One's own code may draw anything; a simulation will say so.
        if !(mean.is_finite() && variance.is_finite()) {
            return None;
        }
        let beta = || prior.arm_beta().unwrap_or_else(|| matching(mean, variance));
        Some(PastArms { mean, variance, beta: self.unit_rewards().then(beta) })
    }
}

impl Prior {
    /// Mean and variance of the mean of an arm, each arm as likely as any other.
    fn arm_moments(&self) -> (f64, f64) {
        match self {
            Self::Points(points) => {
                let arms = |(means, weight)| <[f64]>::iter(means).map(move |&mean| ((mean, 0.0), weight));
                let parts: Vec<_> = points.iter().flat_map(arms).collect();
                mixture(parts.into_iter())
            }
            Self::Beta { alpha, beta } => {
                mixture(alpha.iter().zip(beta).map(|(&a, &b)| (moments((a, b)), 1.0)))
            }
            Self::Normal { mean, sd } => {
                mixture(mean.iter().zip(sd).map(|(&mean, &sd)| ((mean, sd * sd), 1.0)))
            }
            Self::Table(table) => table.fitted().moments(),
            Self::Own(bandit) => own_moments(&**bandit),
        }
    }

    /// The Beta distribution of every arm's mean, if there is one.
    fn arm_beta(&self) -> Option<(f64, f64)> {
        match self {
            Self::Beta { alpha, beta } => {
                let first = (*alpha.first()?, *beta.first()?);
                let equal = alpha.iter().copied().zip(beta.iter().copied()).all(|arm| arm == first);
                equal.then_some(first)
            }
            Self::Table(table) if !table.fitted().is_flat() => match table.fitted().unseen()? {
                Belief::Beta(a, b) => Some((a, b)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Armed {
    /// How far rewards are from zero, in terms of how far apart they are within an instance; 0 if they are in [0, 1]. Sums
    /// of remote rewards lose in single precision what tells the arms apart.
    pub(super) fn remoteness(&self) -> f64 {
        /// Instances that are looked at.
        const FEW: u64 = 64;
        if self.rewards.unit() {
            return 0.0;
        }
        let noise = if let Rewards::Gaussian(gaussian) = &self.rewards { gaussian.noise_sd } else { 0.0 };
        let mut means = vec![0.0; self.prior.arms()];
        let (mut square, mut within) = (0.0, 0.0);
        for instance in 0..FEW {
            let mut stream = Stream::<One<f64>>::new((), Key::new(0), instance);
            self.prior.sample(Split::Train, &mut stream, &mut means);
            let (mean, variance) = mixture(means.iter().map(|&mean| ((mean, 0.0), 1.0)));
            square += mean * mean / FEW as f64;
            within += variance / FEW as f64;
        }
        let remoteness = (square / (within + noise * noise)).sqrt();
        // Nothing apart, or code of one's own that draws what is not a number.
        if remoteness.is_finite() { remoteness } else { 0.0 }
    }
}

fn own_moments(bandit: &dyn Bandit) -> (f64, f64) {
    let mut means = vec![0.0; bandit.arms()];
    let mut parts = Vec::with_capacity(means.len() * INSTANCES as usize);
    for instance in 0..INSTANCES {
        bandit.instance(&mut Random(Stream::<One<f64>>::new((), Key::new(0), instance)), &mut means);
        parts.extend(means.iter().map(|&mean| ((mean, 0.0), 1.0)));
    }
    mixture(parts.into_iter())
}
