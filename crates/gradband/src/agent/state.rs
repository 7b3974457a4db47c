//! What an agent knows of its arms, whatever policy it plays: a re-tuned one inherits it.

use super::playable::Playable;
use crate::error::{Error, Place, Result};
use crate::exact::index::Arm;
use crate::policy::decide::{Decide, View};
use crate::simulate::linear::{Glimpse, Moments, Regression};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The most that is counted, and the largest sum of squares of rewards.
pub(super) const MOST: u64 = 1 << 48;
const LARGEST_SUM: f64 = 1e80;

/// An arm and its statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmState {
    pub name: std::sync::Arc<str>,
    /// May it be pulled?
    pub active: bool,
    /// Pulls whose rewards are known, and those that wait for theirs.
    pub pulls: u64,
    pub pending: u64,
    /// Sums of the rewards, of their squares, of them rounded at random to 0 or 1, and of each divided by the probability of its
    /// pull.
    pub sum: f64,
    pub squares: f64,
    pub ones: u64,
    pub weighted: f64,
    /// With contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<Moments>,
    /// What follows from those for the policy at hand. It is kept, so that an agent that was saved has the same bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
}

impl ArmState {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            active: true,
            pulls: 0,
            pending: 0,
            sum: 0.0,
            squares: 0.0,
            ones: 0,
            weighted: 0.0,
            moments: None,
            regression: None,
        }
    }

    /// Are the numbers such as play leaves them? Counts beyond these would overflow when they are added.
    fn is_sound(&self) -> bool {
        let sums = [self.sum, self.squares, self.weighted];
        self.pulls <= MOST
            && self.pending <= MOST
            && self.ones <= self.pulls
            && sums.iter().all(|sum| sum.abs() <= LARGEST_SUM)
    }

    /// The mean of the rewards that are known.
    pub fn mean(&self) -> Option<f64> {
        (self.pulls > 0).then(|| self.sum / self.pulls as f64)
    }

    /// The arm as a policy sees it.
    fn seen(&self, past_mean: f64) -> Arm {
        let (pulls, known) = ((self.pulls + self.pending) as f64, self.pulls as f64);
        let mean = self.mean().unwrap_or(past_mean);
        let (variance, ones) = match self.pulls {
            0 => (0.0, past_mean),
            _ => ((self.squares / known - mean * mean).max(0.0), self.ones as f64 / known),
        };
        Arm { pulls, known, mean, variance, ones, weighted: self.weighted }
    }

    /// The same in one of finitely many contexts.
    fn seen_in(&self, context: usize, past_mean: f64) -> Arm {
        let (pulls, known, sum) = self.moments.as_ref().map_or((0.0, 0.0, 0.0), |m| m.in_context(context));
        let mean = if known > 0.0 { sum / known } else { past_mean };
        Arm { pulls, known, mean, ..Arm::default() }
    }
}

/// All arms, and what the policy remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    pub arms: Vec<ArmState>,
    /// The policy's own.
    pub memory: Vec<f64>,
    /// The rewards in the order in which they became known, for policies that read them one by one.
    pub read: Vec<(u32, f64)>,
    /// How often a new problem began.
    pub restarts: u64,
    /// Decisions that count: pulls, rewarded or not.
    #[serde(skip)]
    round: u64,
    /// Where an arm stands of which nothing is known.
    #[serde(skip)]
    past_mean: f64,
    /// The arms as a policy sees them, and those that may be pulled.
    #[serde(skip)]
    seen: Vec<Arm>,
    #[serde(skip)]
    active: Vec<usize>,
}

/// A reward, with all that its pull left.
pub(super) struct Credit<'a> {
    pub arm: usize,
    pub reward: f64,
    /// The same, rounded at random.
    pub one: bool,
    /// That of its pull.
    pub probability: f64,
    pub context: &'a [f64],
}

impl State {
    pub fn new(names: &[String], policy: &Playable, coin: f64) -> Self {
        let arms = names.iter().map(|name| ArmState::new(name)).collect();
        let mut state = Self { arms, ..Self::default() };
        state.restart(policy, coin);
        state
    }

    /// Another arm.
    pub fn add(&mut self, name: &str, policy: &Playable) {
        let mut arm = ArmState::new(name);
        arm.prepare(policy);
        self.arms.push(arm);
        self.look(policy);
    }

    /// What follows from the rest, and is not stored: after a load, with another policy or other arms.
    pub fn look(&mut self, policy: &Playable) {
        self.past_mean = policy.problem().past_mean.unwrap_or(0.0);
        self.seen = self.arms.iter().map(|arm| arm.seen(self.past_mean)).collect();
        self.active = (0..self.arms.len()).filter(|&arm| self.arms[arm].active).collect();
        self.round = self.arms.iter().map(|arm| arm.pulls + arm.pending).sum();
    }

    /// Forgets everything but the arms themselves.
    pub fn restart(&mut self, policy: &Playable, coin: f64) {
        for arm in &mut self.arms {
            *arm = ArmState { active: arm.active, ..ArmState::new(&arm.name) };
            arm.prepare(policy);
        }
        self.memory = policy.decider().start(coin);
        self.read.clear();
        self.look(policy);
    }

    /// Takes another policy: what follows from the statistics follows anew.
    pub fn take(&mut self, policy: &Playable, coin: f64) {
        self.arms.iter_mut().for_each(|arm| arm.prepare(policy));
        self.memory = policy.decider().start(coin);
        for &(arm, reward) in &self.read {
            policy.decider().read(arm as usize, reward, &mut self.memory);
        }
        self.look(policy);
    }

    /// What follows from the statistics follows anew.
    pub fn follow(&mut self, policy: &Playable) {
        self.arms.iter_mut().for_each(|arm| arm.follow(policy.decider()));
    }

    /// The number of the arm of that name.
    pub fn arm(&self, place: impl Into<Place>, name: &str) -> Result<usize> {
        let names = || self.arms.iter().map(|arm| &*arm.name);
        names().position(|known| known == name).ok_or_else(|| Error::unknown(place, name, names()))
    }

    /// The arms that are active and among the named ones, if there are any, in the order of their numbers.
    pub fn allowed(&self, names: Option<&[String]>, which: &mut Vec<usize>) -> Result<()> {
        which.clear();
        match names {
            None => which.extend_from_slice(&self.active),
            Some(names) => {
                for (i, name) in names.iter().enumerate() {
                    which.push(self.arm(Place::key("arms").index(i), name)?);
                }
                which.retain(|&arm| self.arms[arm].active);
                which.sort_unstable();
                which.dedup();
            }
        }
        let none = || Error::new("arms", "found no active arm, expected at least one");
        if which.is_empty() { Err(none()) } else { Ok(()) }
    }

    /// Decisions that count: pulls, rewarded or not.
    pub fn round(&self) -> usize {
        self.round as usize
    }

    /// Do the numbers fit each other and the policy, and do they say what follows from them for it?
    pub fn fits(&self, policy: &Playable) -> bool {
        let view = policy.decider().view();
        self.is_sound(policy)
            && self.arms.iter().all(|arm| match (&view, &arm.regression) {
                (View::Estimates(projection), Some(regression)) => regression.fits(projection),
                (View::Estimates(_), None) => false,
                (_, regression) => regression.is_none(),
            })
    }

    /// The same without what follows.
    pub fn is_sound(&self, policy: &Playable) -> bool {
        let dim = policy.dim();
        let moments = |arm: &ArmState| arm.moments.as_ref().map_or(dim == 0, |m| dim > 0 && m.fit(dim));
        let memory = policy.decider().start(0.0).len();
        let mut names = HashSet::new();
        self.arms.iter().all(|arm| arm.is_sound() && names.insert(&arm.name))
            && !self.arms.is_empty()
            && self.restarts <= MOST
            && self.arms.iter().all(moments)
            && self.memory.len() == memory
            && self.read.iter().all(|&(arm, _)| (arm as usize) < self.arms.len())
    }

    /// Writes the arms as a policy sees them in a context; nothing if [`Self::shown`] has them as they are.
    pub fn show(&self, view: &View, which: &[usize], context: usize, out: &mut Vec<Arm>) {
        out.clear();
        match view {
            View::EachContext => {
                out.extend(which.iter().map(|&arm| self.arms[arm].seen_in(context, self.past_mean)));
            }
            _ if which.len() == self.arms.len() => {}
            _ => out.extend(which.iter().map(|&arm| self.seen[arm])),
        }
    }

    /// The arms that [`Self::show`] was asked for.
    pub fn shown<'a>(&'a self, out: &'a [Arm]) -> &'a [Arm] {
        if out.is_empty() { &self.seen } else { out }
    }

    /// A pull counts at once; `seen` is its context as the policy's projection shows it.
    pub fn pull(&mut self, arm: usize, x: &[f64], seen: &Glimpse) {
        self.round += 1;
        self.seen[arm].pulls += 1.0;
        let arm = &mut self.arms[arm];
        arm.pending += 1;
        if let Some(moments) = &mut arm.moments {
            moments.pull(x, 1.0);
        }
        if let Some(regression) = &mut arm.regression {
            regression.pull(seen);
        }
    }

    /// A pull that never was.
    pub fn withdraw(&mut self, arm: usize, x: &[f64], policy: &Playable) {
        self.round -= 1;
        self.seen[arm].pulls -= 1.0;
        let arm = &mut self.arms[arm];
        arm.pending -= 1;
        if let Some(moments) = &mut arm.moments {
            moments.pull(x, -1.0);
            arm.follow(policy.decider());
        }
    }

    /// A reward is known.
    pub fn credit(&mut self, credit: &Credit, policy: &Playable, seen: &mut Glimpse) {
        let &Credit { arm: index, reward, one, probability, context } = credit;
        let arm = &mut self.arms[index];
        arm.pending -= 1;
        arm.pulls += 1;
        arm.sum += reward;
        arm.squares += reward * reward;
        arm.ones += u64::from(one);
        arm.weighted += reward / probability;
        self.seen[index] = arm.seen(self.past_mean);
        if let Some(moments) = &mut arm.moments {
            moments.learn(context, reward);
        }
        let decider = policy.decider();
        if let (Some(regression), View::Estimates(projection)) = (&mut arm.regression, decider.view()) {
            seen.look(projection, context);
            regression.learn(projection, seen, reward);
        }
        if decider.reads() {
            self.read.push((index as u32, reward));
            decider.read(index, reward, &mut self.memory);
        }
    }
}

impl ArmState {
    fn prepare(&mut self, policy: &Playable) {
        let dim = policy.dim();
        if dim > 0 && self.moments.is_none() {
            self.moments = Some(Moments::new(dim));
        }
        self.follow(policy.decider());
    }

    /// What follows from the moments.
    fn follow(&mut self, decider: &dyn Decide) {
        self.regression = match (&self.moments, decider.view()) {
            (Some(moments), View::Estimates(projection)) if self.pulls + self.pending > 0 => {
                Some(Regression::of(projection, moments))
            }
            (Some(_), View::Estimates(projection)) => Some(Regression::new(projection)),
            _ => None,
        };
    }
}
