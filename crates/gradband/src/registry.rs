//! Policies by name: the one list behind names, help, checks and the tests that run every entry.

use crate::exact::{Method, Progress};
use crate::policy::{
    bayes_optimal, boltzmann, contextual_explore_then_commit, cosoftelim, dqn, epsilon_greedy, exp3,
    explore_then_commit, gittins, lin_epsilon_greedy, lin_thompson, linucb, lstm, mom_thompson, random,
    soft_ucb, softelim, thompson, ucb_v, ucb1,
};
use crate::problem::Problem;
use crate::simulate::{Job, Outcome};
use crate::{Error, Result};

mod choice;
mod params;

pub use choice::{Choice, Slot};
pub use params::{Allowed, Coordinate, High, Initial, ParamInfo, Range, SettingInfo, Shape};

/// A policy with its parameters: one virtual call for each block of instances.
pub trait Agent: Send + Sync {
    /// Numbers in the gradient.
    fn dim(&self) -> usize {
        1
    }
    /// Plays instances `first..first + out.len()`; writes `dim` numbers per instance to `gradients` if the job is
    /// a gradient (else it is empty).
    fn rollout(&self, job: &Job, first: u64, out: &mut [Outcome], gradients: &mut [f64]);
    /// Why the policy has no score at its parameters, if it has none.
    fn unscored(&self) -> Option<&'static str>;
}

impl<P: crate::policy::Policy> Agent for P {
    fn rollout(&self, job: &Job, first: u64, out: &mut [Outcome], gradients: &mut [f64]) {
        crate::simulate::rollout(self, job, first, out);
        for (gradient, outcome) in gradients.iter_mut().zip(out) {
            *gradient = outcome.gradient;
        }
    }

    fn unscored(&self) -> Option<&'static str> {
        crate::policy::Policy::unscored(self)
    }
}

/// What the registry knows of a policy.
pub struct PolicyInfo {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// What can be learned.
    pub params: &'static [ParamInfo],
    /// What can be set.
    pub settings: &'static [SettingInfo],
    /// How it is trained.
    pub trainer: Trainer,
    /// Which problems it is made for.
    pub plays: Plays,
    /// Why it does not apply to such a problem, if it does not.
    pub(crate) refuses: fn(&Problem) -> Option<String>,
    pub(crate) build: fn(&Problem, &Choice) -> Box<dyn Agent>,
    /// How to evaluate it without sampling error, if it plays by counts.
    pub(crate) exact: Option<Method>,
    /// What it needs before it can play, if that takes long.
    pub(crate) preparation: Option<Preparation>,
}

/// How a policy is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trainer {
    /// By the gradient of its score, or by a search if it has none ([`crate::train`]).
    Score,
    /// By the gradient of its score through time, in stages ([`crate::lstm::train`]).
    Lstm,
    /// By Q-learning ([`crate::dqn::train`]).
    QLearning,
}

/// Which problems a policy is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plays {
    /// Arms without contexts.
    Arms,
    /// Contexts.
    Contexts,
    /// Either.
    Both,
}

/// A computation that a policy needs before it plays, and that is remembered.
#[derive(Clone, Copy)]
pub(crate) struct Preparation {
    /// About how long it takes; nothing if it is remembered.
    pub seconds: fn(&Problem) -> f64,
    /// Does it; `None` if it was stopped.
    pub run: fn(&Problem, &mut Progress) -> Option<()>,
}

impl PolicyInfo {
    /// Why it does not apply to a problem, if it does not.
    pub fn refusal(&self, problem: &Problem) -> Option<String> {
        let reason = match (self.plays, problem.contextual()) {
            (Plays::Arms, Some(_)) => "is for problems without contexts",
            (Plays::Contexts, None) => "is for problems with contexts",
            _ => return (self.refuses)(problem),
        };
        Some(reason.into())
    }

    /// About how long it takes until the policy can play its first round.
    pub fn preparation_seconds(&self, problem: &Problem) -> f64 {
        self.preparation.map_or(0.0, |preparation| (preparation.seconds)(problem))
    }

    /// Has it an exact result, where its problem is small enough?
    pub fn is_exact(&self) -> bool {
        self.exact.is_some()
    }
}

impl std::fmt::Debug for PolicyInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every policy.
pub static POLICIES: [&PolicyInfo; 20] = [
    &exp3::INFO,
    &softelim::INFO,
    &boltzmann::INFO,
    &epsilon_greedy::INFO,
    &explore_then_commit::INFO,
    &lstm::INFO,
    &dqn::INFO,
    &ucb1::INFO,
    &ucb_v::INFO,
    &thompson::INFO,
    &gittins::INFO,
    &bayes_optimal::INFO,
    &random::INFO,
    &cosoftelim::INFO,
    &soft_ucb::INFO,
    &lin_thompson::INFO,
    &lin_epsilon_greedy::INFO,
    &linucb::INFO,
    &mom_thompson::INFO,
    &contextual_explore_then_commit::INFO,
];

/// Refuses rewards outside [0, 1].
pub(crate) fn unit_rewards_only(problem: &Problem) -> Option<String> {
    (!problem.unit_rewards()).then(|| format!("needs rewards in [0, 1], not {} ones", problem.kind()))
}

/// Refuses horizons in which not every arm can be pulled once.
pub(crate) fn needs_each_arm_once(problem: &Problem) -> Option<String> {
    (problem.horizon < problem.arms).then(|| {
        format!(
            "pulls each of {} arms once, which a horizon of {} does not allow",
            problem.arms, problem.horizon
        )
    })
}

/// The policy of that name.
pub fn policy(name: &str) -> Result<&'static PolicyInfo> {
    POLICIES
        .iter()
        .find(|info| info.name == name)
        .copied()
        .ok_or_else(|| Error::unknown("policy", name, POLICIES.iter().map(|info| info.name)))
}

/// Those that are worth playing before they are trained, or need no training: all but neural ones.
pub fn ready(problem: &Problem) -> impl Iterator<Item = &'static PolicyInfo> {
    applicable(problem).filter(|info| info.trainer == Trainer::Score)
}

/// The policies that apply to a problem.
pub fn applicable(problem: &Problem) -> impl Iterator<Item = &'static PolicyInfo> {
    POLICIES.iter().copied().filter(move |info| info.refusal(problem).is_none())
}
