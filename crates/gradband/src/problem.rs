//! A bandit problem: how rewards are drawn, and the prior over instances.

mod builtin;
mod prior;
mod table;

pub use builtin::{PROBLEMS, ProblemInfo};
pub use prior::{Points, Prior};
pub use table::{Cell, Row, Table};

use crate::{Error, Result, error::within};

/// The longest horizon: beyond it a single run would take minutes.
pub const MAX_HORIZON: usize = 10_000_000;
/// The largest number of arms.
pub const MAX_ARMS: usize = 10_000;

/// The distribution of an arm's rewards given its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rewards {
    /// 1 with probability mean, else 0.
    Bernoulli,
    /// Beta(v mean, v (1 - mean)).
    Beta {
        /// v: larger means less noise.
        concentration: f64,
    },
    /// Normal(mean, sd²).
    Gaussian {
        /// Standard deviation.
        noise_sd: f64,
    },
}

/// Which part of a table of past instances a simulation may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The rows that training uses.
    Train,
    /// The rows kept for evaluation.
    HeldOut,
}

/// A multi-armed bandit problem with a prior over its instances (the paper's script P).
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its name, or the path of its spec.
    pub name: String,
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: usize,
    /// The reward model.
    pub rewards: Rewards,
    /// The distribution of instances.
    pub prior: Prior,
    /// Names of the arms, where the user gave any.
    pub arm_names: Option<Vec<String>>,
}

impl Problem {
    /// Checks that reward model, prior and horizon go together.
    pub fn new(name: impl Into<String>, rewards: Rewards, prior: Prior, horizon: usize) -> Result<Self> {
        let arms = prior.arms();
        if !(2..=MAX_ARMS).contains(&arms) {
            return Err(Error::new("prior", format!("found {arms} arm(s), expected 2 to {MAX_ARMS}")));
        }
        if !(1..=MAX_HORIZON).contains(&horizon) {
            return Err(Error::new("horizon", format!("found {horizon}, expected 1 to {MAX_HORIZON}")));
        }
        match rewards {
            Rewards::Bernoulli => {}
            Rewards::Beta { concentration } => {
                within("concentration", concentration, 0.01, 1e4)?;
            }
            Rewards::Gaussian { noise_sd } => {
                within("noise_sd", noise_sd, 0.0, 1e6)?;
            }
        }
        if !matches!(rewards, Rewards::Gaussian { .. }) {
            prior.check_unit_means()?;
        }
        let arm_names = prior.arm_names().map(<[String]>::to_vec);
        Ok(Self { name: name.into(), arms, horizon, rewards, prior, arm_names })
    }

    /// Are rewards in [0, 1]?
    pub fn unit_rewards(&self) -> bool {
        !matches!(self.rewards, Rewards::Gaussian { .. })
    }

    /// The spec's name of the reward model.
    pub fn kind(&self) -> &'static str {
        match self.rewards {
            Rewards::Bernoulli => "bernoulli",
            Rewards::Beta { .. } => "beta",
            Rewards::Gaussian { .. } => "gaussian",
        }
    }
}
