//! Builds problems and checks them, so that no simulation meets an invalid one.

use super::origin::Remembered;
use super::{
    Armed, Bandit, Bernoulli, Beta, ContextModel, Contextual, Delay, Gaussian, Horizon, Keys, Model, Own,
    Prior, Problem, Rewards, World,
};
use crate::error::{Error, ErrorKind, Result};
use std::sync::Arc;

/// A contextual kind of problem: its name, its keys, and how it is built from them.
pub(super) struct ContextKind {
    pub name: &'static str,
    pub keys: &'static [&'static str],
    pub build: fn(&Keys) -> Result<ProblemBuilder>,
}

/// A problem in the making: it still needs a horizon, and may get a name and names for its arms.
///
/// ```
/// use gradband::{Prior, Problem};
/// let problem = Problem::gaussian(Prior::normal(2, 0.0, 1.0)?, 0.5)
///     .name("two doses")
///     .arm_names(["low", "high"])
///     .horizon(100)
///     .build()?;
/// assert_eq!(problem.to_string(), "two doses (2 arms, horizon 100)");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ProblemBuilder {
    name: String,
    arms: usize,
    model: Model,
    horizon: Option<Horizon>,
    /// All but the horizon.
    world: World,
    arm_names: Option<Vec<String>>,
}

impl Problem {
    /// A multi-armed problem whose arms pay 0 or 1.
    pub fn bernoulli(prior: Prior) -> ProblemBuilder {
        Self::arms_with(Bernoulli, prior)
    }

    /// A multi-armed problem with rewards between 0 and 1, drawn from Beta(v mean, v (1 - mean)) with v the concentration.
    pub fn beta(prior: Prior, concentration: f64) -> ProblemBuilder {
        Self::arms_with(Beta { concentration }, prior)
    }

    /// A multi-armed problem whose arms pay their mean plus normal noise.
    pub fn gaussian(prior: Prior, noise_sd: f64) -> ProblemBuilder {
        Self::arms_with(Gaussian { noise_sd }, prior)
    }

    /// A multi-armed problem with any reward model.
    pub fn arms_with(rewards: impl Into<Rewards>, prior: Prior) -> ProblemBuilder {
        let rewards = rewards.into();
        let (arms, arm_names) = (prior.arms(), prior.arm_names().map(<[String]>::to_vec));
        let name = rewards.name().into();
        ProblemBuilder::new(name, arms, Model::Armed(Armed { rewards, prior }), arm_names)
    }

    /// A multi-armed problem whose instances and rewards are drawn by one's own code.
    pub fn own(bandit: impl Bandit + 'static) -> ProblemBuilder {
        let bandit: Arc<dyn Bandit> = Arc::new(bandit);
        Self::arms_with(Rewards::Own(Own::new(bandit.clone())), Prior::Own(bandit))
    }

    /// A contextual problem with any model, built in or of one's own.
    pub fn contexts(model: impl ContextModel, arms: usize) -> ProblemBuilder {
        let arm_names = model.arm_names().map(<[String]>::to_vec);
        let name = model.kind().into();
        let model = Model::Contextual(Contextual(Arc::new(model)));
        ProblemBuilder::new(name, arms, model, arm_names)
    }
}

impl ProblemBuilder {
    fn new(name: String, arms: usize, model: Model, arm_names: Option<Vec<String>>) -> Self {
        Self { name, arms, model, horizon: None, world: World::plain(0), arm_names }
    }

    /// Sets the number of rounds of a run (the paper's n), or its distribution if the end is unknown.
    pub fn horizon(self, horizon: impl Into<Horizon>) -> Self {
        Self { horizon: Some(horizon.into()), ..self }
    }

    /// Sets how many further rounds are played before a reward is known.
    pub fn delay(self, delay: impl Into<Delay>) -> Self {
        Self { world: World { delay: delay.into(), ..self.world }, ..self }
    }

    /// Sets after how many rounds, each time, the rewards become known.
    pub fn batch(self, batch: usize) -> Self {
        Self { world: World { batch, ..self.world }, ..self }
    }

    /// Sets the least probability of each arm in each round.
    pub fn floor(self, floor: f64) -> Self {
        Self { world: World { floor, ..self.world }, ..self }
    }

    /// Sets all of these.
    pub(super) fn world(self, world: World) -> Self {
        Self { world, ..self }
    }

    /// Sets what results call the problem; by default its kind.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets what results call the arms.
    pub fn arm_names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { arm_names: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Checks that the parts go together and returns the problem.
    pub fn build(self) -> Result<Problem> {
        let Self { name, arms, mut model, horizon, world, arm_names } = self;
        let horizon = horizon.ok_or_else(|| {
            Error::of("horizon", ErrorKind::Missing("say how many rounds a run has".into()))
        })?;
        if let Some(names) = &arm_names
            && names.len() != arms
        {
            let message = format!("found {} names, expected {arms}: one per arm", names.len());
            return Err(Error::new("arm_names", message));
        }
        if let Model::Armed(Armed { rewards, prior }) = &mut model {
            prior.serve(rewards.unit()).map_err(|error| error.within("prior"))?;
        }
        let world = World { horizon, ..world };
        let mut problem = Problem {
            name,
            arms,
            horizon: horizon.rounds(),
            world,
            model,
            arm_names,
            remoteness: 0.0,
            digest: Remembered::default(),
            origin: None,
        };
        problem.check()?;
        problem.remoteness = problem.armed().map_or(0.0, Armed::remoteness);
        Ok(problem)
    }
}
