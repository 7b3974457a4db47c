//! A policy that has left its problem: all that an agent needs to play it.

use crate::error::{Error, ErrorKind, Result};
use crate::policy::decide::Decide;
use crate::policy::{Catalogue, Choice, PolicyRecord, ProblemRecord};
use crate::problem::{Problem, World};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// A policy with what it takes along from the problem that it was trained for: what an [`Agent`](super::Agent) plays, and what a
/// policy file holds.
///
/// ```
/// use gradband::{Playable, Problem, Trainer};
/// let problem = Problem::named("bernoulli-2")?;
/// let trained = Trainer::new("softelim").iterations(10).train(&problem)?;
/// let policy = Playable::new(trained.choice(), &problem)?;
/// assert_eq!((policy.name(), policy.version().len()), ("softelim", 12));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone)]
pub struct Playable {
    policy: PolicyRecord,
    problem: ProblemRecord,
    world: World,
    version: Arc<str>,
    decider: Arc<dyn Decide>,
}

/// What the version is made of.
#[derive(Serialize)]
struct Content<'a> {
    policy: &'a PolicyRecord,
    problem: &'a ProblemRecord,
}

impl Playable {
    /// A policy on the problem that it was trained for. What it needs of the problem is computed now.
    pub fn new(choice: &Choice, problem: &Problem) -> Result<Self> {
        if !choice.is_trained() {
            return Err(Error::of("policy", ErrorKind::Untrained { policy: choice.name().into() }));
        }
        let choice = choice.fitted(problem, &mut ())?;
        let record = ProblemRecord::carried_by(&choice, problem, &mut ())?;
        Self::with((&choice).into(), record, &choice)
    }

    /// The policy that records describe. Errors name keys of a policy file.
    pub fn from_records(policy: PolicyRecord, problem: ProblemRecord, catalogue: &Catalogue) -> Result<Self> {
        let choice = policy.restore(&problem, catalogue)?;
        Self::with(policy, problem, &choice)
    }

    fn with(policy: PolicyRecord, problem: ProblemRecord, choice: &Choice) -> Result<Self> {
        let policy = PolicyRecord { weights: None, ..policy };
        let (world, decider) = (problem.world()?, problem.decider(choice)?.into());
        let text = serde_json::to_vec(&Content { policy: &policy, problem: &problem });
        let text = text.map_err(|error| Error::new("policy", error.to_string()))?;
        let version = hex(&Sha256::digest(text)[..6]).into();
        Ok(Self { policy, problem, world, version, decider })
    }

    /// The policy's name.
    pub fn name(&self) -> &str {
        &self.policy.kind
    }

    /// The first twelve hexadecimal digits of the SHA-256 of the policy's JSON.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The policy as data.
    pub fn policy(&self) -> &PolicyRecord {
        &self.policy
    }

    /// What it was trained for.
    pub fn problem(&self) -> &ProblemRecord {
        &self.problem
    }

    /// The names of the arms that it was trained with; their numbers, from 1, if they have none.
    pub fn arm_names(&self) -> Vec<String> {
        let numbers = || (1..=self.problem.arms).map(|arm| arm.to_string()).collect();
        self.problem.arm_names.clone().unwrap_or_else(numbers)
    }

    /// Does it choose with certainty? Its logs are then of use for other policies only with a floor.
    pub fn is_certain(&self) -> bool {
        self.decider.is_certain()
    }

    pub(super) fn shared_version(&self) -> &Arc<str> {
        &self.version
    }

    pub(super) fn world(&self) -> &World {
        &self.world
    }

    pub(super) fn decider(&self) -> &dyn Decide {
        &*self.decider
    }

    /// d; 0 without contexts.
    pub(super) fn dim(&self) -> usize {
        self.problem.context_dim.unwrap_or(0)
    }

    /// Refuses another number of arms than the parameters are for, if they depend on it.
    pub(super) fn check_arms(&self, arms: usize) -> Result<()> {
        match self.decider.arms() {
            Some(fixed) if fixed != arms => {
                let message = format!(
                    "found {arms}, expected {fixed}: the parameters of {} belong to {fixed} arms",
                    self.name()
                );
                Err(Error::new("arms", message))
            }
            _ => Ok(()),
        }
    }
}

impl Debug for Playable {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.version)
    }
}

impl From<&Playable> for Playable {
    fn from(playable: &Self) -> Self {
        playable.clone()
    }
}

/// In hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
