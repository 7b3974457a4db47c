//! Policies by name: the one list behind names, help, checks and the tests that run every entry.

use super::definition::{Learns, PolicyKind};
use super::own::{OwnArms, OwnLinear};
use super::rule::{LinearRule, Rule};
use super::{arms, linear, network};
use crate::error::{Error, Result};
use crate::problem::Problem;

/// Every built-in policy.
pub static POLICIES: std::sync::LazyLock<Vec<PolicyKind>> = std::sync::LazyLock::new(|| {
    let rooms = [arms::DEFINITIONS, network::DEFINITIONS, linear::DEFINITIONS];
    rooms.into_iter().flatten().map(PolicyKind::built_in).collect()
});

/// The built-in policy of that name.
pub fn named(name: &str) -> Result<PolicyKind> {
    Catalogue::default().kind(name)
}

/// Those that are worth playing before they are trained, or need no training: all but neural ones.
pub fn ready(problem: &Problem) -> impl Iterator<Item = &'static PolicyKind> {
    applicable(problem).filter(|kind| kind.learns() == Learns::Score)
}

/// The built-in policies that apply to a problem.
pub fn applicable(problem: &Problem) -> impl Iterator<Item = &'static PolicyKind> {
    POLICIES.iter().filter(move |kind| kind.refusal(problem).is_none())
}

/// All policies by name: the built-in ones and those that are added.
///
/// ```
/// use gradband::{Catalogue, Param, Rule, Scalar, Seen};
/// struct Greedy;
/// impl Rule for Greedy {
///     fn params(&self) -> Vec<Param> {
///         vec![Param::positive("temperature", 0.1)]
///     }
///     fn logits<T: Scalar>(&self, params: &[T], seen: &Seen, logits: &mut [T]) {
///         for (arm, logit) in logits.iter_mut().enumerate() {
///             *logit = params[0].recip() * seen.mean(arm);
///         }
///     }
/// }
/// let catalogue = Catalogue::default().with_rule(Greedy);
/// assert_eq!(catalogue.policy("Greedy(temperature=0.5)")?.param("temperature"), Some(&[0.5][..]));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Catalogue {
    kinds: Vec<PolicyKind>,
}

/// The built-in ones.
impl Default for Catalogue {
    fn default() -> Self {
        Self { kinds: POLICIES.clone() }
    }
}

impl Catalogue {
    /// The same with a multi-armed rule of one's own.
    #[must_use]
    pub fn with_rule(self, rule: impl Rule) -> Self {
        self.with(PolicyKind::own(OwnArms::new(rule)))
    }

    /// The same with a contextual rule of one's own.
    #[must_use]
    pub fn with_linear_rule(self, rule: impl LinearRule) -> Self {
        self.with(PolicyKind::own(OwnLinear::new(rule)))
    }

    /// The same with a policy of any kind, such as a [`JointRule`](super::JointRule)'s. A name that is there already goes to it.
    #[must_use]
    pub fn with(mut self, kind: PolicyKind) -> Self {
        self.kinds.retain(|known| known.name() != kind.name());
        self.kinds.push(kind);
        self
    }

    /// The policy of that name, without parameters.
    pub fn kind(&self, name: &str) -> Result<PolicyKind> {
        let found = self.kinds.iter().find(|kind| kind.name() == name).cloned();
        found.ok_or_else(|| Error::unknown("policy", name, self.kinds.iter().map(PolicyKind::name)))
    }
}
