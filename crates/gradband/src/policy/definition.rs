//! What the catalogue knows of a policy, built in or of the user's own.

use super::choice::Choice;
use super::decide::Decide;
use super::params::{Param, Setting};
use super::record::ProblemRecord;
use crate::error::Result;
use crate::exact::{Exact, Part};
use crate::observe::Observer;
use crate::problem::{Problem, Split};
use crate::simulate::Player;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// How a policy learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// By the gradient of its score, or by a search if it has none.
    Score,
    /// By the gradient of its score through time, in stages.
    Recurrent,
    /// By Q-learning.
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

/// Which worlds a policy plays in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worlds {
    /// All of them.
    Any,
    /// The textbook's alone: rewards are known at once, there is no floor, and the end is known.
    Plain,
}

impl Worlds {
    /// Why a policy of these worlds does not play a problem, if it does not.
    pub(super) fn refusal(self, problem: &Problem) -> Option<String> {
        let world = problem.world();
        if self == Self::Any || world.is_plain() {
            return None;
        }
        // A known end is nothing to complain of.
        let unusual = world.to_string();
        let unusual = match unusual.split_once(", ") {
            Some((_, rest)) if world.horizon.is_fixed() => rest,
            _ => &unusual,
        };
        Some(format!(
            "is trained and played only where rewards are known at once, there is no floor, and the end is known; this \
             problem has {unusual}"
        ))
    }
}

/// How a policy is evaluated without sampling error.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    /// As a mixture of count-based policies, one of which is drawn before the first round.
    Counts(fn(&Problem, &Choice, &mut dyn Observer) -> Result<Vec<Part>>),
    /// In its own way, on one side of a table's split.
    Own(fn(&Problem, &Choice, Split, &mut dyn Observer) -> Result<Exact>),
}

/// Why a policy does not apply to a problem with its settings, if it does not.
pub(super) type RefusesAs = fn(&Problem, &Choice) -> Option<String>;

/// Makes a policy ready to play.
pub(super) type Prepare = fn(&Problem, &Choice, &mut dyn Observer) -> Result<Box<dyn Player>>;

/// Finds what a setting leaves to a search on the problem.
pub(super) type Fit = fn(&Problem, &Choice, &mut dyn Observer) -> Result<Choice>;

/// Makes a policy ready to be asked by an agent.
pub(super) type Ready = fn(&ProblemRecord, &Choice, &mut dyn Observer) -> Result<Box<dyn Decide>>;

/// Finds what a policy takes along from its problem.
pub(super) type Carry = fn(&Problem, &Choice, &mut dyn Observer) -> Result<Vec<f64>>;

/// A built-in policy.
pub(super) struct Definition {
    pub name: &'static str,
    pub summary: &'static str,
    pub params: &'static [Param],
    pub settings: &'static [Setting],
    pub learns: Learns,
    pub plays: Plays,
    pub worlds: Worlds,
    /// Why it does not apply to a problem, if it does not.
    pub refuses: fn(&Problem) -> Option<String>,
    /// The same with given settings, where it depends on them; the other is for those that it starts with.
    pub refuses_as: Option<RefusesAs>,
    /// The policy ready to play; long preparations are remembered.
    pub player: Prepare,
    /// The policy as an agent asks it, when nothing is left of the problem but its record.
    pub decider: Ready,
    /// What that needs beside its parameters.
    pub carries: Carry,
    /// About how many seconds its preparation takes, at these parameters or those that it starts from; 0 if it is
    /// remembered or there is none.
    pub seconds: fn(&Problem, Option<&Choice>) -> f64,
    /// Simulated runs of an iteration of its training, if they are not those of most policies.
    pub runs: Option<fn(&Problem) -> usize>,
    pub exact: Option<Method>,
    pub fit: Option<Fit>,
}

impl Definition {
    /// What most multi-armed policies have in common.
    pub const ARMS: Self = Self {
        name: "",
        summary: "",
        params: &[],
        settings: &[],
        learns: Learns::Score,
        plays: Plays::Arms,
        worlds: Worlds::Any,
        refuses: |_| None,
        refuses_as: None,
        player: |_, choice, _| Err(crate::error::Error::new(choice.name(), "has no engine")),
        decider: |_, choice, _| Err(crate::error::Error::new(choice.name(), "has no probabilities")),
        carries: |_, _, _| Ok(Vec::new()),
        seconds: |_, _| 0.0,
        runs: None,
        exact: None,
        fit: None,
    };

    /// What most contextual policies have in common.
    pub const CONTEXTS: Self = Self { plays: Plays::Contexts, ..Self::ARMS };
}

/// Declares the policies of one engine, a file each, and lists their definitions.
macro_rules! policies {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        /// The definitions of these policies.
        pub(super) static DEFINITIONS: &[super::definition::Definition] = &[$($name::DEFINITION),*];
    };
}
pub(super) use policies;

/// What there is to know of a policy, wherever it comes from.
pub(super) trait Define: Send + Sync {
    fn name(&self) -> &str;
    fn summary(&self) -> &str;
    fn params(&self) -> &[Param];
    fn settings(&self) -> &[Setting] {
        &[]
    }
    fn learns(&self) -> Learns {
        Learns::Score
    }
    fn plays(&self) -> Plays;
    fn worlds(&self) -> Worlds {
        Worlds::Any
    }
    fn refuses(&self, _: &Problem) -> Option<String> {
        None
    }
    /// Given where it depends on settings.
    fn refuses_as(&self) -> Option<RefusesAs> {
        None
    }
    fn player(
        &self,
        problem: &Problem,
        choice: &Choice,
        observer: &mut dyn Observer,
    ) -> Result<Box<dyn Player>>;
    fn decider(
        &self,
        problem: &ProblemRecord,
        choice: &Choice,
        observer: &mut dyn Observer,
    ) -> Result<Box<dyn Decide>>;
    fn carries(&self, _: &Problem, _: &Choice, _: &mut dyn Observer) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }
    fn seconds(&self, _: &Problem, _: Option<&Choice>) -> f64 {
        0.0
    }
    fn runs(&self, _: &Problem) -> Option<usize> {
        None
    }
    fn is_exact(&self) -> bool {
        false
    }
    /// The parts of a count-based policy, or its own exact result.
    fn method(&self) -> Option<Method> {
        None
    }
    /// As a mixture of count-based policies.
    fn parts(
        &self,
        problem: &Problem,
        choice: &Choice,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<Part>>> {
        match self.method() {
            Some(Method::Counts(parts)) => parts(problem, choice, observer).map(Some),
            _ => Ok(None),
        }
    }
    fn fit(&self) -> Option<Fit> {
        None
    }
}

impl Define for Definition {
    fn name(&self) -> &str {
        self.name
    }
    fn summary(&self) -> &str {
        self.summary
    }
    fn params(&self) -> &[Param] {
        self.params
    }
    fn settings(&self) -> &[Setting] {
        self.settings
    }
    fn learns(&self) -> Learns {
        self.learns
    }
    fn plays(&self) -> Plays {
        self.plays
    }
    fn worlds(&self) -> Worlds {
        self.worlds
    }
    fn refuses(&self, problem: &Problem) -> Option<String> {
        (self.refuses)(problem)
    }
    fn refuses_as(&self) -> Option<RefusesAs> {
        self.refuses_as
    }
    fn player(
        &self,
        problem: &Problem,
        choice: &Choice,
        observer: &mut dyn Observer,
    ) -> Result<Box<dyn Player>> {
        (self.player)(problem, choice, observer)
    }
    fn decider(
        &self,
        problem: &ProblemRecord,
        choice: &Choice,
        observer: &mut dyn Observer,
    ) -> Result<Box<dyn Decide>> {
        (self.decider)(problem, choice, observer)
    }
    fn carries(&self, problem: &Problem, choice: &Choice, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        (self.carries)(problem, choice, observer)
    }
    fn seconds(&self, problem: &Problem, choice: Option<&Choice>) -> f64 {
        (self.seconds)(problem, choice)
    }
    fn runs(&self, problem: &Problem) -> Option<usize> {
        self.runs.map(|runs| runs(problem))
    }
    fn is_exact(&self) -> bool {
        self.exact.is_some()
    }
    fn method(&self) -> Option<Method> {
        self.exact
    }
    fn fit(&self) -> Option<Fit> {
        self.fit
    }
}

/// A policy of the catalogue, without parameters.
#[derive(Clone)]
pub struct PolicyKind(Origin);

#[derive(Clone)]
enum Origin {
    BuiltIn(&'static Definition),
    Own(Arc<dyn Define>),
}

impl PolicyKind {
    pub(super) const fn built_in(definition: &'static Definition) -> Self {
        Self(Origin::BuiltIn(definition))
    }

    pub(super) fn own(definition: impl Define + 'static) -> Self {
        Self(Origin::Own(Arc::new(definition)))
    }

    pub(super) fn define(&self) -> &dyn Define {
        match &self.0 {
            Origin::BuiltIn(definition) => *definition,
            Origin::Own(definition) => &**definition,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.define().name()
    }

    /// One line about it.
    pub fn summary(&self) -> &str {
        self.define().summary()
    }

    /// What can be learned, or set as a number.
    pub fn params(&self) -> &[Param] {
        self.define().params()
    }

    /// Is there anything that can be learned?
    pub fn learns_something(&self) -> bool {
        self.params().iter().any(|param| param.learned)
    }

    /// What can be set.
    pub fn settings(&self) -> &[Setting] {
        self.define().settings()
    }

    /// How it learns.
    pub fn learns(&self) -> Learns {
        self.define().learns()
    }

    /// Which problems it is made for.
    pub fn plays(&self) -> Plays {
        self.define().plays()
    }

    /// Which worlds it plays in.
    pub fn worlds(&self) -> Worlds {
        self.define().worlds()
    }

    /// Why it does not apply to a problem with the settings that it starts with, if it does not.
    pub fn refusal(&self, problem: &Problem) -> Option<String> {
        self.misfit(problem).or_else(|| self.define().refuses(problem))
    }

    /// The same whatever its settings.
    pub(super) fn lasting_refusal(&self, problem: &Problem) -> Option<String> {
        match self.define().refuses_as() {
            Some(_) => self.misfit(problem),
            None => self.refusal(problem),
        }
    }

    /// Why it does not play problems of this kind, or in this world.
    fn misfit(&self, problem: &Problem) -> Option<String> {
        match (self.plays(), problem.contextual()) {
            (Plays::Arms, Some(_)) => Some("is for problems without contexts".into()),
            (Plays::Contexts, None) => Some("is for problems with contexts".into()),
            _ => self.worlds().refusal(problem),
        }
    }

    /// About how long it takes until the policy can play its first round.
    pub fn preparation_seconds(&self, problem: &Problem) -> f64 {
        self.define().seconds(problem, None)
    }

    /// A rough estimate of the nanoseconds that a run takes.
    pub fn run_cost(&self, problem: &Problem) -> f64 {
        /// How much more the rounds of a network take than those of a formula.
        const NETWORK: f64 = 100.0;
        problem.cost() * if self.learns() == Learns::Score { 1.0 } else { NETWORK }
    }

    /// Simulated runs of an iteration of its training, if they are not those of most policies.
    pub(crate) fn runs(&self, problem: &Problem) -> Option<usize> {
        self.define().runs(problem)
    }

    /// Has it an exact result, where its problem is small enough?
    pub fn is_exact(&self) -> bool {
        self.define().is_exact()
    }

    pub(crate) fn method(&self) -> Option<Method> {
        self.define().method()
    }

    pub(crate) fn parts(
        &self,
        problem: &Problem,
        choice: &Choice,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<Part>>> {
        self.define().parts(problem, choice, observer)
    }
}

impl Debug for PolicyKind {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Refuses rewards outside [0, 1].
pub(super) fn unit_rewards_only(problem: &Problem) -> Option<String> {
    (!problem.unit_rewards()).then(|| format!("needs rewards in [0, 1], not {} ones", problem.kind()))
}

/// Refuses horizons in which not every arm can be pulled once.
pub(super) fn needs_each_arm_once(problem: &Problem) -> Option<String> {
    (problem.horizon < problem.arms).then(|| {
        format!(
            "pulls each of {} arms once, which a horizon of {} does not allow",
            problem.arms, problem.horizon
        )
    })
}
