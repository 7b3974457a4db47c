//! A bandit problem: how contexts and rewards are drawn, and the prior over instances.

mod builtin;
mod classification;
mod contextual;
mod datasets;
mod discrete;
mod examples;
mod linear;
mod normal;
mod prior;
mod reading;
mod table;

pub use builtin::{DATASET_HORIZON, PROBLEMS, ProblemInfo, Size};
pub use classification::Classification;
pub use contextual::{Contexts, Contextual, Instance};
pub use datasets::{DATASETS, Dataset};
pub use discrete::{Discrete, Order};
pub use examples::{Examples, Scale, Scaling};
pub use linear::Linear;
pub use normal::{Covariance, MAX_DIM, Normal};
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

/// Which part of a table of past instances, or of examples, a simulation may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The rows that training uses.
    Train,
    /// The rows kept for evaluation.
    HeldOut,
}

/// Arms whose means stay the same from round to round.
#[derive(Clone, Debug)]
pub struct Armed {
    /// The reward model.
    pub rewards: Rewards,
    /// The distribution of instances.
    pub prior: Prior,
}

/// What happens in a round.
#[derive(Clone, Debug)]
pub enum Model {
    /// A multi-armed bandit.
    Armed(Armed),
    /// A contextual bandit: each round shows a vector of features first.
    Contextual(Contextual),
}

/// A bandit problem with a prior over its instances (the paper's script P).
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its name, or the path of its spec.
    pub name: String,
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: usize,
    /// What happens in a round.
    pub model: Model,
    /// Names of the arms, where the user gave any.
    pub arm_names: Option<Vec<String>>,
}

impl Problem {
    /// A multi-armed bandit. Checks that reward model, prior and horizon go together.
    pub fn new(name: impl Into<String>, rewards: Rewards, prior: Prior, horizon: usize) -> Result<Self> {
        let arms = prior.arms();
        if !(2..=MAX_ARMS).contains(&arms) {
            return Err(Error::new("prior", format!("found {arms} arm(s), expected 2 to {MAX_ARMS}")));
        }
        check_horizon(horizon, MAX_HORIZON)?;
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
        Ok(Self {
            name: name.into(),
            arms,
            horizon,
            model: Model::Armed(Armed { rewards, prior }),
            arm_names,
        })
    }

    /// The multi-armed model, if it is one.
    pub fn armed(&self) -> Option<&Armed> {
        match &self.model {
            Model::Armed(armed) => Some(armed),
            Model::Contextual(_) => None,
        }
    }

    /// The prior of a multi-armed bandit with Bernoulli rewards, if it is one.
    pub(crate) fn bernoulli_prior(&self) -> Option<&Prior> {
        self.armed().filter(|armed| armed.rewards == Rewards::Bernoulli).map(|armed| &armed.prior)
    }

    /// The contextual model, if it is one.
    pub fn contextual(&self) -> Option<&Contextual> {
        match &self.model {
            Model::Armed(_) => None,
            Model::Contextual(contextual) => Some(contextual),
        }
    }

    /// Number of past instances that a split draws from, if it is a table: the observations behind an average.
    pub fn clusters(&self, split: Split) -> Option<usize> {
        self.armed().and_then(|armed| armed.prior.clusters(split))
    }

    /// Are rewards in [0, 1]?
    pub fn unit_rewards(&self) -> bool {
        match &self.model {
            Model::Armed(armed) => !matches!(armed.rewards, Rewards::Gaussian { .. }),
            Model::Contextual(contextual) => contextual.unit_rewards(),
        }
    }

    /// The spec's name of the model.
    pub fn kind(&self) -> &'static str {
        match &self.model {
            Model::Armed(armed) => match armed.rewards {
                Rewards::Bernoulli => "bernoulli",
                Rewards::Beta { .. } => "beta",
                Rewards::Gaussian { .. } => "gaussian",
            },
            Model::Contextual(contextual) => contextual.kind(),
        }
    }

    /// About how many nanoseconds a run takes: how much work is handed out at a time depends on it.
    pub fn cost(&self) -> f64 {
        let round = match &self.model {
            Model::Armed(_) => 4.0,
            Model::Contextual(contextual) => {
                let dim = contextual.dim() as f64;
                50.0 + 0.1 * dim * dim * self.arms as f64
            }
        };
        round * self.horizon as f64
    }
}

fn check_horizon(horizon: usize, most: usize) -> Result<()> {
    if (1..=most).contains(&horizon) {
        return Ok(());
    }
    Err(Error::new("horizon", format!("found {horizon}, expected 1 to {most}")))
}
