//! Contextual bandits: each round shows a vector of features before an arm is chosen. One kind, one file.

use super::{Classification, Discrete, Examples, Linear, Split};
use crate::numeric::matmul::{Into, Matrix, product};
use crate::numeric::stream::{Key, Random, Stream, fill_normals};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Purposes of an instance's randomness; the actions of its runs have others.
pub(crate) const PRIOR: u64 = 0;
pub(crate) const REWARDS: u64 = 1;
const CONTEXTS: u64 = 1 << 32;

/// A contextual problem, built in or of one's own: draws contexts, means and rewards.
///
/// ```
/// use gradband::{ContextModel, Draw, Instance, Problem, Simulator};
///
/// /// Two users: each likes another of two arms.
/// #[derive(Debug)]
/// struct TwoTastes;
/// impl ContextModel for TwoTastes {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn draw(&self, draw: &Draw, instance: &mut Instance) {
///         let mut random = draw.random();
///         for t in 0..draw.horizon {
///             let user = random.below(2);
///             instance.contexts[2 * t + user] = 1.0;
///             instance.means[2 * t + user] = 0.9;
///             instance.means[2 * t + 1 - user] = 0.1;
///         }
///         for (reward, mean) in instance.rewards.iter_mut().zip(&instance.means) {
///             *reward = f32::from(random.uniform() < f64::from(*mean));
///         }
///     }
///     fn unit_rewards(&self) -> bool {
///         true
///     }
/// }
/// let problem = Problem::contexts(TwoTastes, 2).horizon(100).build()?;
/// let regret = Simulator::new(&problem).instances(200).evaluate("linucb")?.regret();
/// assert!(regret.mean < 40.0);
/// # Ok::<(), gradband::Error>(())
/// ```
pub trait ContextModel: Any + Debug + Send + Sync {
    /// d: the number of features.
    fn dim(&self) -> usize;

    /// Fills an instance, whose buffers have the right lengths and hold zeros.
    fn draw(&self, draw: &Draw, instance: &mut Instance);

    /// Are rewards in [0, 1]?
    fn unit_rewards(&self) -> bool {
        false
    }

    /// Standard deviation of the rewards' noise, where the problem knows it.
    fn noise_sd(&self) -> Option<f64> {
        None
    }

    /// About the largest squared length of a context: decides on the precision of the simulation.
    fn longest_squared(&self) -> f64 {
        f64::INFINITY
    }

    /// What a spec calls the kind.
    fn kind(&self) -> &'static str {
        "own"
    }

    /// Names of the features, where they have any.
    fn feature_names(&self) -> Option<&[String]> {
        None
    }

    /// Names of the arms, where they have any.
    fn arm_names(&self) -> Option<&[String]> {
        None
    }
}

/// The contextual model of a problem.
#[derive(Clone, Debug)]
pub struct Contextual(pub(super) Arc<dyn ContextModel>);

impl Contextual {
    /// The model itself.
    pub fn model(&self) -> &dyn ContextModel {
        &*self.0
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.0.dim()
    }

    /// The linear-Gaussian bandit, if it is one.
    pub fn linear(&self) -> Option<&Linear> {
        (self.model() as &dyn Any).downcast_ref()
    }

    /// Finitely many contexts, if that is what it is.
    pub fn discrete(&self) -> Option<&Discrete> {
        (self.model() as &dyn Any).downcast_ref()
    }

    /// The labelled examples, if it is a classification problem.
    pub fn examples(&self) -> Option<&Examples> {
        (self.model() as &dyn Any).downcast_ref::<Classification>().map(Classification::examples)
    }

    /// Draws instance `index` into buffers that are reused.
    pub(crate) fn sample(
        &self,
        (arms, horizon): (usize, usize),
        split: Split,
        key: Key,
        index: u64,
        instance: &mut Instance,
    ) {
        let sizes = [horizon * self.dim(), horizon * arms, horizon * arms];
        for (buffer, size) in
            [&mut instance.contexts, &mut instance.means, &mut instance.rewards].into_iter().zip(sizes)
        {
            buffer.clear();
            buffer.resize(size, 0.0);
        }
        let [prior, rewards, contexts] = [PRIOR, REWARDS, CONTEXTS].map(|purpose| key.child(purpose));
        self.0.draw(&Draw { arms, horizon, split, index, prior, contexts, rewards }, instance);
    }
}

/// One simulated instance: what all its runs and all policies share.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// horizon x dim, row by row.
    pub contexts: Vec<f32>,
    /// horizon x arms: f_i(x_t).
    pub means: Vec<f32>,
    /// horizon x arms: the table Y.
    pub rewards: Vec<f32>,
}

/// Which instance is drawn, and with which randomness.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Draw {
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: usize,
    /// The part of the data that may be used, where there is any.
    pub split: Split,
    /// Which instance.
    pub index: u64,
    pub(super) prior: Key,
    pub(super) contexts: Key,
    rewards: Key,
}

impl Draw {
    /// Random numbers that belong to this instance.
    pub fn random(&self) -> Random {
        Random(Stream::new((), self.prior, self.index))
    }

    /// f_i(x_t) = x_t'theta_i.
    pub(super) fn linear_means(&self, theta: &[f32], dim: usize, instance: &mut Instance) {
        product(
            Matrix::new(&instance.contexts, self.horizon, dim, dim),
            Matrix::new(theta, self.arms, dim, dim).transposed(),
            Into::Replace,
            &mut instance.means,
            self.arms,
        );
    }

    /// Means plus noise.
    pub(super) fn gaussian_rewards(&self, noise_sd: f64, instance: &mut Instance) {
        fill_normals(self.rewards, self.index, &mut instance.rewards);
        for (reward, &mean) in instance.rewards.iter_mut().zip(&instance.means) {
            *reward = *reward * noise_sd as f32 + mean;
        }
    }
}
