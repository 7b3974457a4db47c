//! Contextual bandits: each round shows a vector of features before an arm is chosen.

use super::{Classification, Discrete, Linear, Model, Problem, Split, check_horizon};
use crate::matmul::{Matrix, Old, product};
use crate::stream::{Key, fill_normals};
use crate::{Error, Result};

/// The longest horizon: an instance keeps its contexts and rewards.
const MAX_HORIZON: usize = 1_000_000;
/// The most numbers that an instance may keep.
const MAX_NUMBERS: usize = 1 << 26;

/// Purposes of an instance's randomness; the actions of its runs have others (see [`crate::simulate`]).
const PRIOR: u64 = 0;
const REWARDS: u64 = 1;
const CONTEXTS: u64 = 1 << 32;

/// Where contexts and rewards come from.
#[derive(Clone, Debug)]
pub enum Contexts {
    /// Normal contexts, linear rewards.
    Linear(Linear),
    /// Examples of a labelled table.
    Classification(Classification),
    /// One-hot contexts, a table of means.
    Discrete(Discrete),
}

/// A source of contexts and rewards.
#[derive(Clone, Debug)]
pub struct Contextual {
    /// Where they come from.
    pub source: Contexts,
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

/// Which instance is drawn, with which randomness.
pub(super) struct Draw {
    pub arms: usize,
    pub split: Split,
    pub index: u64,
    pub prior: Key,
    pub contexts: Key,
    rewards: Key,
}

impl Draw {
    /// f_i(x_t) = x_t'theta_i.
    pub fn linear_means(&self, theta: &[f32], dim: usize, instance: &mut Instance) {
        let horizon = instance.means.len() / self.arms;
        product(
            Matrix::new(&instance.contexts, horizon, dim, dim),
            Matrix::new(theta, self.arms, dim, dim).transposed(),
            Old::Forget,
            &mut instance.means,
            self.arms,
        );
    }

    /// Means plus noise.
    pub fn gaussian_rewards(&self, noise_sd: f64, instance: &mut Instance) {
        fill_normals(self.rewards, self.index, &mut instance.rewards);
        for (reward, &mean) in instance.rewards.iter_mut().zip(&instance.means) {
            *reward = *reward * noise_sd as f32 + mean;
        }
    }
}

impl Contextual {
    /// d.
    pub fn dim(&self) -> usize {
        match &self.source {
            Contexts::Linear(linear) => linear.context.dim(),
            Contexts::Classification(set) => set.examples.dim(),
            Contexts::Discrete(discrete) => discrete.contexts(),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match &self.source {
            Contexts::Linear(_) => "linear",
            Contexts::Classification(_) => "classification",
            Contexts::Discrete(_) => "discrete-context",
        }
    }

    pub(super) fn unit_rewards(&self) -> bool {
        matches!(self.source, Contexts::Classification(_))
    }

    /// Standard deviation of the rewards' noise, where the problem knows it.
    pub fn noise_sd(&self) -> Option<f64> {
        match &self.source {
            Contexts::Linear(linear) => Some(linear.noise_sd),
            Contexts::Classification(_) => None,
            Contexts::Discrete(discrete) => Some(discrete.noise_sd),
        }
    }

    /// About the longest context, squared: exactly for finitely many, else three times the mean.
    pub fn longest_squared(&self) -> f64 {
        match &self.source {
            Contexts::Linear(linear) => 3.0 * linear.context.mean_square(),
            Contexts::Classification(set) => set.examples.max_norm_squared(),
            Contexts::Discrete(_) => 1.0,
        }
    }

    /// Draws instance `index` of `problem`, which this model belongs to, into buffers that are reused.
    pub fn sample(&self, problem: &Problem, split: Split, key: Key, index: u64, instance: &mut Instance) {
        let (n, arms) = (problem.horizon, problem.arms);
        instance.contexts.resize(n * self.dim(), 0.0);
        instance.means.resize(n * arms, 0.0);
        instance.rewards.resize(n * arms, 0.0);
        let [prior, rewards, contexts] = [PRIOR, REWARDS, CONTEXTS].map(|purpose| key.child(purpose));
        let draw = Draw { arms, split, index, prior, contexts, rewards };
        match &self.source {
            Contexts::Linear(linear) => linear.sample(&draw, instance),
            Contexts::Classification(set) => set.sample(&draw, instance),
            Contexts::Discrete(discrete) => discrete.sample(&draw, instance),
        }
    }
}

impl Problem {
    /// A contextual bandit.
    pub fn with_contexts(
        name: impl Into<String>,
        source: Contexts,
        arms: usize,
        horizon: usize,
    ) -> Result<Self> {
        if !(2..=super::MAX_ARMS).contains(&arms) {
            let message = format!("found {arms}, expected 2 to {}", super::MAX_ARMS);
            return Err(Error::new("arms", message));
        }
        check_horizon(horizon, MAX_HORIZON)?;
        let contextual = Contextual { source };
        let numbers = horizon.saturating_mul(contextual.dim() + 2 * arms);
        if numbers > MAX_NUMBERS {
            let message =
                format!("an instance would keep {numbers} numbers, at most {MAX_NUMBERS} are allowed");
            return Err(Error::new("horizon", message));
        }
        Ok(Self { name: name.into(), arms, horizon, model: Model::Contextual(contextual), arm_names: None })
    }
}
