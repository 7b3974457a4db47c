//! Policies by name: the one list behind names, help, checks and the tests that run every entry.

use crate::exact::{Method, Progress};
use crate::policy::{
    bayes_optimal, boltzmann, epsilon_greedy, exp3, explore_then_commit, gittins, random, softelim, thompson,
    ucb_v, ucb1,
};
use crate::problem::Problem;
use crate::simulate::{Job, Outcome};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A policy with its parameters: one virtual call for each block of instances.
pub trait Agent: Send + Sync {
    /// Plays instances `first..first + out.len()`.
    fn rollout(&self, job: &Job, first: u64, out: &mut [Outcome]);
    /// Why the policy has no score at its parameters, if it has none.
    fn unscored(&self) -> Option<&'static str>;
}

impl<P: crate::policy::Policy> Agent for P {
    fn rollout(&self, job: &Job, first: u64, out: &mut [Outcome]) {
        crate::simulate::rollout(self, job, first, out);
    }

    fn unscored(&self) -> Option<&'static str> {
        crate::policy::Policy::unscored(self)
    }
}

/// The upper end of a range, which may depend on the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum High {
    /// A number.
    Fixed(f64),
    /// Half of the horizon, rounded down.
    HalfHorizon,
}

/// How it reads in a list.
impl std::fmt::Display for High {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Fixed(high) => write!(f, "{high}"),
            Self::HalfHorizon => f.write_str("floor(n/2)"),
        }
    }
}

/// A closed range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: High,
}

impl Range {
    pub(crate) const fn new(low: f64, high: f64) -> Self {
        Self { low, high: High::Fixed(high) }
    }

    /// Lower and upper end on a problem.
    pub fn on(self, problem: &Problem) -> (f64, f64) {
        let high = match self.high {
            High::Fixed(high) => high,
            High::HalfHorizon => (problem.horizon / 2) as f64,
        };
        (self.low, high)
    }
}

/// How it reads in a list.
impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)
    }
}

/// The value that training starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// A number.
    Fixed(f64),
    /// floor(sqrt n) + 1/2, within the feasible set.
    RootHorizon,
}

/// How it reads in a list.
impl std::fmt::Display for Initial {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Fixed(x) => write!(f, "{x}"),
            Self::RootHorizon => f.write_str("floor(sqrt n) + 1/2"),
        }
    }
}

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// The paper's name.
    pub name: &'static str,
    /// Where training starts, and what an untuned policy uses.
    pub initial: Initial,
    /// What evaluation accepts.
    pub domain: Range,
    /// Where training keeps it.
    pub feasible: Range,
}

impl ParamInfo {
    /// The initial value on a problem.
    pub fn initial_on(&self, problem: &Problem) -> f64 {
        match self.initial {
            Initial::Fixed(x) => x,
            Initial::RootHorizon => {
                let (low, high) = self.feasible.on(problem);
                ((problem.horizon as f64).sqrt().floor() + 0.5).clamp(low, high.max(low))
            }
        }
    }
}

/// A setting that is not learned.
#[derive(Clone, Copy, Debug)]
pub struct SettingInfo {
    /// Its key in a spec.
    pub name: &'static str,
    /// Its values; the first is the default.
    pub values: &'static [&'static str],
    /// What it does.
    pub summary: &'static str,
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
    /// Why it does not apply to a problem, if it does not.
    pub(crate) refuses: fn(&Problem) -> Option<String>,
    pub(crate) build: fn(&Problem, &Choice) -> Box<dyn Agent>,
    /// How to evaluate it without sampling error, if it plays by counts.
    pub(crate) exact: Option<Method>,
    /// What it needs before it can play, if that takes long.
    pub(crate) preparation: Option<Preparation>,
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
pub static POLICIES: [&PolicyInfo; 11] = [
    &exp3::INFO,
    &softelim::INFO,
    &boltzmann::INFO,
    &epsilon_greedy::INFO,
    &explore_then_commit::INFO,
    &ucb1::INFO,
    &ucb_v::INFO,
    &thompson::INFO,
    &gittins::INFO,
    &bayes_optimal::INFO,
    &random::INFO,
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

/// The policies that apply to a problem.
pub fn applicable(problem: &Problem) -> impl Iterator<Item = &'static PolicyInfo> {
    POLICIES.iter().copied().filter(move |info| (info.refuses)(problem).is_none())
}

/// A policy, its parameters and settings, checked against a problem.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Which policy.
    pub info: &'static PolicyInfo,
    /// In the order of `info.params`.
    pub params: Vec<f64>,
    settings: BTreeMap<&'static str, &'static str>,
}

impl Choice {
    /// The policy with its initial parameters and default settings.
    pub fn initial(info: &'static PolicyInfo, problem: &Problem) -> Result<Self> {
        if let Some(reason) = (info.refuses)(problem) {
            let others: Vec<_> = applicable(problem).map(|info| info.name).collect();
            let message = format!("{} {reason}; on this problem use one of {}", info.name, others.join(", "));
            return Err(Error::new("policy", message));
        }
        let params = info.params.iter().map(|param| param.initial_on(problem)).collect();
        let settings = info.settings.iter().map(|setting| (setting.name, setting.values[0])).collect();
        Ok(Self { info, params, settings })
    }

    /// The same policy at other parameters, which must be in its domain.
    pub fn with_params(&self, problem: &Problem, params: &[f64]) -> Result<Self> {
        let names: Vec<_> = self.info.params.iter().map(|param| param.name).collect();
        if params.len() != names.len() {
            let takes = if names.is_empty() {
                "none".into()
            } else {
                format!("{} ({})", names.len(), names.join(", "))
            };
            let message = format!("found {} parameter(s), {} takes {takes}", params.len(), self.info.name);
            return Err(Error::new("params", message));
        }
        for (info, &x) in self.info.params.iter().zip(params) {
            let (low, high) = info.domain.on(problem);
            crate::error::within(&format!("params ({})", info.name), x, low, high)?;
        }
        Ok(Self { params: params.to_vec(), ..self.clone() })
    }

    /// The same policy with one parameter or setting changed by name.
    pub fn with(&self, problem: &Problem, key: &str, value: &str) -> Result<Self> {
        if let Some(i) = self.info.params.iter().position(|param| param.name == key) {
            let x =
                value.parse().map_err(|_| Error::new(key, format!("found '{value}', expected a number")))?;
            let mut params = self.params.clone();
            params[i] = x;
            return self.with_params(problem, &params);
        }
        if let Some(setting) = self.info.settings.iter().find(|setting| setting.name == key) {
            let value = setting
                .values
                .iter()
                .find(|&&known| known == value)
                .ok_or_else(|| Error::unknown(key, value, setting.values.iter().copied()))?;
            let mut changed = self.clone();
            changed.settings.insert(setting.name, value);
            return Ok(changed);
        }
        let known = self.info.params.iter().map(|param| param.name);
        let known = known.chain(self.info.settings.iter().map(|setting| setting.name));
        Err(Error::unknown(self.info.name, key, known))
    }

    /// The value of a setting that the policy has.
    pub fn setting(&self, name: &str) -> &'static str {
        self.settings.get(name).copied().unwrap_or_default()
    }

    /// The settings and their values.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.settings.iter().map(|(&name, &value)| (name, value))
    }

    /// Computes what the policy needs before it plays, so that [`Self::agent`] finds it; `None` if `progress`
    /// stops it.
    pub fn prepare(&self, problem: &Problem, progress: &mut Progress) -> Option<()> {
        self.info.preparation.map_or(Some(()), |preparation| (preparation.run)(problem, progress))
    }

    /// The policy, ready to play. What it needs is computed now unless it was prepared.
    pub fn agent(&self, problem: &Problem) -> Box<dyn Agent> {
        (self.info.build)(problem, self)
    }

    /// Refuses policies with nothing to learn.
    pub fn check_learnable(&self, problem: &Problem) -> Result<()> {
        if !self.info.params.is_empty() {
            return Ok(());
        }
        let learnable = applicable(problem).filter(|info| !info.params.is_empty());
        let learnable: Vec<_> = learnable.map(|info| info.name).collect();
        let message = format!("{} has nothing to learn; use one of {}", self.info.name, learnable.join(", "));
        Err(Error::new("policy", message))
    }

    /// The policy, ready for its gradient: it must have one at these parameters.
    pub fn scored_agent(&self, problem: &Problem) -> Result<Box<dyn Agent>> {
        self.check_learnable(problem)?;
        let agent = self.agent(problem);
        match agent.unscored() {
            None => Ok(agent),
            Some(reason) => Err(Error::new("params", format!("{} {reason}", self.info.name))),
        }
    }

    /// The nearest parameters in the feasible set: where training keeps them.
    pub fn project(&self, problem: &Problem, params: &mut [f64]) {
        for (info, x) in self.info.params.iter().zip(params) {
            let (low, high) = info.feasible.on(problem);
            *x = x.clamp(low, high.max(low));
        }
    }

    /// `name(param=value, …)`, as it can be typed again.
    pub fn label(&self) -> String {
        let mut parts: Vec<_> =
            self.info.params.iter().zip(&self.params).map(|(info, x)| format!("{}={x}", info.name)).collect();
        let changed = self.info.settings.iter().filter(|info| self.setting(info.name) != info.values[0]);
        parts.extend(changed.map(|info| format!("{}={}", info.name, self.setting(info.name))));
        if parts.is_empty() {
            self.info.name.into()
        } else {
            format!("{}({})", self.info.name, parts.join(","))
        }
    }
}
