//! A problem and the models behind it, with and without contexts.

use super::origin::{Origin, Remembered};
use super::{Contextual, Instance, MAX_ARMS, MAX_DIM, MAX_HORIZON, Prior, Rewards, Split, World};
use crate::error::{Error, ErrorKind, Result, count};
use crate::numeric::stream::Key;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// The longest horizon with contexts: an instance keeps its contexts and rewards.
const MAX_CONTEXT_HORIZON: usize = 1_000_000;
/// The most numbers that an instance may keep.
const MAX_NUMBERS: usize = 1 << 26;

/// The model of a multi-armed bandit: arms whose mean rewards stay the same from round to round.
#[derive(Clone, Debug)]
pub struct Armed {
    /// How rewards are distributed around the mean of an arm.
    pub rewards: Rewards,
    /// How the means of the arms vary from instance to instance.
    pub prior: Prior,
}

/// What happens in a round, with or without contexts.
#[derive(Clone, Debug)]
pub enum Model {
    /// A multi-armed bandit.
    Armed(Armed),
    /// A contextual bandit: each round shows a vector of features first.
    Contextual(Contextual),
}

/// A bandit problem with a prior over its instances (the paper's script P): the sample of past problems that a policy
/// is tuned to.
///
/// ```
/// use gradband::{Prior, Problem};
/// // Six campaigns whose click rates are drawn around 5 %, 500 rounds.
/// let problem = Problem::bernoulli(Prior::beta(6, 4.0, 76.0)?).horizon(500).build()?;
/// assert_eq!((problem.arms(), problem.horizon()), (6, 500));
/// let paper = Problem::named("bernoulli-2")?;
/// assert_eq!(paper.with_horizon(50)?.horizon(), 50);
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) name: String,
    pub(crate) arms: usize,
    /// Rounds that are simulated, as the world's horizon has them.
    pub(crate) horizon: usize,
    pub(super) world: World,
    pub(crate) model: Model,
    pub(super) arm_names: Option<Vec<String>>,
    /// How far rewards are from zero, in terms of how far apart they are.
    pub(super) remoteness: f64,
    pub(super) digest: Remembered,
    /// What it was made of, if the user did not make it.
    pub(super) origin: Option<Arc<Origin<Problem>>>,
}

impl Problem {
    /// The name of the problem in results, or the path of the spec it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of arms (the paper's K).
    pub fn arms(&self) -> usize {
        self.arms
    }

    /// The number of rounds of a run (the paper's n); the most that are simulated, if the end is unknown.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// What happens in a round, with or without contexts.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The names of the arms, if they have any.
    pub fn arm_names(&self) -> Option<&[String]> {
        self.arm_names.as_deref()
    }

    /// The same problem over another number of rounds.
    pub fn with_horizon(&self, horizon: usize) -> Result<Self> {
        self.with_world(World { horizon: horizon.into(), ..self.world })
    }

    /// How late rewards are known, the least share of an arm, and how long a run is.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The same problem in another world.
    ///
    /// ```
    /// use gradband::Problem;
    /// use gradband::problem::{Delay, World};
    /// let prompt = Problem::named("bernoulli-2")?;
    /// let late = prompt.with_world(World { delay: Delay::Rounds(20), ..*prompt.world() })?;
    /// assert_eq!(late.to_string(), "bernoulli-2 (2 arms, horizon 200, delay 20)");
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn with_world(&self, world: World) -> Result<Self> {
        let changed = Self { horizon: world.horizon.rounds(), world, origin: None, ..self.clone() };
        changed.check()?;
        Ok(changed)
    }

    /// The mean of past arms: where an arm stands of which nothing is known. With contexts there is none.
    pub(crate) fn past_mean(&self) -> f64 {
        self.past_arms().map_or(0.0, |past| past.mean)
    }

    /// Do sums of rewards over a run keep, in single precision, what tells the arms apart? Rounding then moves a mean over
    /// n rounds by about 1e-8 sqrt(n) of its distance from zero, and noise by 1 / sqrt(n) of itself: hundred times more.
    pub(crate) fn is_near_zero(&self) -> bool {
        self.remoteness * self.horizon as f64 <= 1e6
    }

    /// The standard deviation of the rewards' noise, if there are contexts and their model knows it.
    pub(crate) fn noise_sd(&self) -> Option<f64> {
        self.contextual().and_then(|contextual| contextual.model().noise_sd())
    }

    /// The number of rounds to be expected.
    pub(crate) fn mean_rounds(&self) -> usize {
        self.world.horizon.mean().round() as usize
    }

    /// The probability that each round is played, if the end is unknown.
    pub(crate) fn round_weights(&self) -> Option<Vec<f64>> {
        let horizon = self.world.horizon;
        (!horizon.is_fixed()).then(|| (0..self.horizon).map(|round| horizon.weight(round)).collect())
    }

    /// The multi-armed model, if it is one.
    pub fn armed(&self) -> Option<&Armed> {
        match &self.model {
            Model::Armed(armed) => Some(armed),
            Model::Contextual(_) => None,
        }
    }

    /// The contextual model, if it is one.
    pub fn contextual(&self) -> Option<&Contextual> {
        match &self.model {
            Model::Armed(_) => None,
            Model::Contextual(contextual) => Some(contextual),
        }
    }

    /// The number of past instances that a split draws from, if the prior is a table. Standard errors count these, not
    /// simulations.
    pub fn clusters(&self, split: Split) -> Option<usize> {
        self.armed().and_then(|armed| armed.prior.clusters(split))
    }

    /// Whether all rewards are in [0, 1], which many policies need.
    pub fn unit_rewards(&self) -> bool {
        match &self.model {
            Model::Armed(armed) => armed.rewards.unit(),
            Model::Contextual(contextual) => contextual.model().unit_rewards(),
        }
    }

    /// The kind of problem, as a spec names it: `bernoulli`, `linear`, …
    pub fn kind(&self) -> &'static str {
        match &self.model {
            Model::Armed(armed) => armed.rewards.name(),
            Model::Contextual(contextual) => contextual.model().kind(),
        }
    }

    /// A rough estimate of the nanoseconds that a run takes; it decides how much work a thread gets at a time.
    pub fn cost(&self) -> f64 {
        let round = match &self.model {
            Model::Armed(_) => 2.0 + self.arms as f64,
            Model::Contextual(contextual) => {
                let dim = contextual.dim() as f64;
                50.0 + 0.1 * dim * dim * self.arms as f64
            }
        };
        round * self.horizon as f64
    }

    /// Draws instance `index` of a contextual problem.
    pub(crate) fn draw_contexts(
        &self,
        split: Split,
        key: Key,
        index: u64,
        instance: &mut Instance,
    ) -> Result<()> {
        match self.contextual() {
            Some(contextual) => contextual.sample((self.arms, self.horizon), split, key, index, instance),
            None => Err(Error::new("problem", format!("{} has no contexts", self.name))),
        }
    }

    /// Refuses reward models, priors and sizes that do not go together.
    pub(super) fn check(&self) -> Result<()> {
        self.check_model()?;
        self.world.check(self.arms)
    }

    fn check_model(&self) -> Result<()> {
        match &self.model {
            Model::Armed(armed) => {
                count("prior.arms", self.arms, 2, MAX_ARMS)?;
                count("horizon", self.horizon, 1, MAX_HORIZON)?;
                armed.rewards.check()?;
                if armed.rewards.unit() { armed.prior.check_unit_means() } else { Ok(()) }
            }
            Model::Contextual(contextual) => check_contexts(contextual, self.arms, self.horizon),
        }
    }
}

/// For example `bernoulli-2 (2 arms, horizon 200)`.
impl Display for Problem {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} ({} arms, {})", self.name, self.arms, self.world)
    }
}

fn check_contexts(contextual: &Contextual, arms: usize, horizon: usize) -> Result<()> {
    count("arms", arms, 2, MAX_ARMS)?;
    count("horizon", horizon, 1, MAX_CONTEXT_HORIZON)?;
    count("context_dim", contextual.dim(), 1, MAX_DIM)?;
    let numbers = horizon.saturating_mul(contextual.dim() + 2 * arms);
    if numbers > MAX_NUMBERS {
        let message = format!("an instance would keep {numbers} numbers, at most {MAX_NUMBERS} are allowed");
        return Err(Error::of("horizon", ErrorKind::TooLarge(message)));
    }
    Ok(())
}
