//! Linear contextual policies as agents, and the settings they share.

use crate::lanes::Real;
use crate::linear::{self, Draws, LinearPolicy, Precision, Projection, Score};
use crate::policy::{CoSoftElim, LinEpsilonGreedy, LinThompson, LinUcb, SoftUcb};
use crate::problem::Problem;
use crate::registry::{Agent, Allowed, Choice, SettingInfo};
use crate::simulate::{Job, Lanes, Outcome};

/// The noise that is assumed where the problem does not know it: rewards of 0 or 1 have at most this.
const DEFAULT_NOISE_SD: f64 = 0.5;
/// A policy needs some noise to divide by.
const LEAST_NOISE_SD: f64 = 1e-3;

/// Single precision is for prior variances x'M x / lambda (here an upper bound) up to this. An estimated variance, of
/// order one or less, is their difference with what was learned, so that it is off by about this many roundings, a
/// thousandth; a hundred times more and Q, which only grows, overshoots and runs away.
const SINGLE_PRECISION_SPREAD: f64 = 3e4;

pub(crate) const RIDGE: SettingInfo = SettingInfo {
    name: "ridge",
    allowed: Allowed::Number { low: 1e-6, high: 1e6, default: "1" },
    summary: "lambda of the ridge regression",
};
pub(crate) const NOISE_SD: SettingInfo = SettingInfo {
    name: "noise_sd",
    allowed: Allowed::Number { low: LEAST_NOISE_SD, high: 1e6, default: "auto" },
    summary: "sigma; auto: the problem's, else 0.5",
};
pub(crate) const RANK: SettingInfo =
    SettingInfo { name: "rank", allowed: Allowed::Rank, summary: "rows of W; auto: as many as features" };

/// lambda.
pub(crate) fn ridge(choice: &Choice) -> f64 {
    choice.setting("ridge").parse().unwrap_or(1.0)
}

/// sigma: what the user says, else what the problem knows.
pub(crate) fn noise_sd(problem: &Problem, choice: &Choice) -> f64 {
    let known = || problem.contextual().and_then(|contextual| contextual.noise_sd());
    let given = choice.setting("noise_sd").parse().ok();
    given.or_else(known).unwrap_or(DEFAULT_NOISE_SD).max(LEAST_NOISE_SD)
}

/// The projection that a choice has learned, else the identity.
pub(crate) fn projection(problem: &Problem, choice: &Choice) -> Projection {
    let dim = problem.contextual().map_or(1, |contextual| contextual.dim());
    match choice.param("W") {
        Some(w) => Projection::new(w, choice.rank(), dim, ridge(choice)),
        None => Projection::identity(dim, ridge(choice)),
    }
}

/// Any linear policy. The engine is compiled for this type alone: a choice between five rules in each round costs
/// nothing that can be measured, an engine for each of them minutes of compilation.
#[derive(Clone, Copy, Debug)]
pub enum AnyLinear {
    /// See [`CoSoftElim`].
    CoSoftElim(CoSoftElim),
    /// See [`SoftUcb`].
    SoftUcb(SoftUcb),
    /// See [`LinThompson`].
    LinThompson(LinThompson),
    /// See [`LinEpsilonGreedy`].
    LinEpsilonGreedy(LinEpsilonGreedy),
    /// See [`LinUcb`].
    LinUcb(LinUcb),
}

/// The same expression for whichever policy it is.
macro_rules! each {
    ($any:expr, $policy:ident => $body:expr) => {
        match $any {
            AnyLinear::CoSoftElim($policy) => $body,
            AnyLinear::SoftUcb($policy) => $body,
            AnyLinear::LinThompson($policy) => $body,
            AnyLinear::LinEpsilonGreedy($policy) => $body,
            AnyLinear::LinUcb($policy) => $body,
        }
    };
}

impl LinearPolicy for AnyLinear {
    fn draws(&self) -> Draws {
        each!(self, policy => policy.draws())
    }

    fn learns_projection(&self) -> bool {
        each!(self, policy => policy.learns_projection())
    }

    fn scalars(&self) -> usize {
        each!(self, policy => policy.scalars())
    }

    fn unscored(&self) -> Option<&'static str> {
        each!(self, policy => policy.unscored())
    }

    #[inline(always)]
    fn act<R: Real<Mask = bool>, const SCORE: bool>(
        &self,
        mu: &[R],
        v: &[R],
        draws: &[R],
        score: &mut Score<R>,
    ) -> usize {
        each!(self, policy => policy.act::<R, SCORE>(mu, v, draws, score))
    }
}

/// A policy with its projection.
pub(crate) struct LinearAgent {
    pub policy: AnyLinear,
    pub projection: Projection,
}

impl LinearAgent {
    /// The policy on the projection that the choice has learned.
    pub fn boxed(policy: AnyLinear, problem: &Problem, choice: &Choice) -> Box<dyn Agent> {
        Box::new(Self { policy, projection: projection(problem, choice) })
    }
}

impl Agent for LinearAgent {
    fn dim(&self) -> usize {
        linear::gradient_len(&self.policy, &self.projection)
    }

    fn rollout(&self, job: &Job, first: u64, out: &mut [Outcome], gradients: &mut [f64]) {
        let Some(contextual) = job.problem.contextual() else { return };
        let spread = contextual.longest_squared() * self.projection.gram_norm() / self.projection.ridge();
        let precision = match job.lanes {
            Lanes::Auto | Lanes::Single if spread <= SINGLE_PRECISION_SPREAD => Precision::Single,
            _ => Precision::Double,
        };
        let job = linear::Job {
            projection: &self.projection,
            horizon: job.problem.horizon,
            arms: job.problem.arms,
            task: job.task,
            key: job.key,
            precision,
            sample: &|index, instance| contextual.sample(job.problem, job.split, job.key, index, instance),
        };
        linear::rollout(&self.policy, &job, first, out, gradients);
    }

    fn unscored(&self) -> Option<&'static str> {
        self.policy.unscored()
    }
}
