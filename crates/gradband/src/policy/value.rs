//! A policy as a value: what users name, what training hands out, what files hold.

use super::catalogue::Catalogue;
use super::choice::Choice;
use super::definition::PolicyKind;
use super::own::{OwnArms, OwnJoint, OwnLinear};
use super::rule::{JointRule, LinearRule, Rule};
use crate::error::{Error, Place, Result, abridged};
use crate::problem::Problem;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A policy with as many of its parameters and settings as are said; the others follow from the problem that it meets.
///
/// ```
/// use gradband::Policy;
/// let policy: Policy = "softelim(w=0.5)".parse()?;
/// assert_eq!((policy.name(), policy.param("w")), ("softelim", Some(&[0.5][..])));
/// assert_eq!(policy.to_string(), "softelim(w=0.5)");
/// assert!("softelm".parse::<Policy>().unwrap_err().to_string().contains("did you mean 'softelim'?"));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    kind: PolicyKind,
    settings: BTreeMap<String, String>,
    params: BTreeMap<String, Vec<f64>>,
}

impl Policy {
    fn new(kind: PolicyKind, settings: BTreeMap<String, String>, params: BTreeMap<String, Vec<f64>>) -> Self {
        Self { kind, settings, params }
    }

    /// A policy of a kind, with nothing said of its parameters.
    pub fn of(kind: PolicyKind) -> Self {
        Self::new(kind, BTreeMap::new(), BTreeMap::new())
    }

    /// A multi-armed rule of one's own.
    pub fn own(rule: impl Rule) -> Self {
        Self::of(PolicyKind::own(OwnArms::new(rule)))
    }

    /// A multi-armed rule of one's own that is asked for many runs at once.
    pub fn own_joint(rule: impl JointRule) -> Self {
        Self::of(PolicyKind::own(OwnJoint::new(rule)))
    }

    /// A contextual rule of one's own.
    pub fn own_linear(rule: impl LinearRule) -> Self {
        Self::of(PolicyKind::own(OwnLinear::new(rule)))
    }

    /// Which policy.
    pub fn kind(&self) -> &PolicyKind {
        &self.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.kind.name()
    }

    /// The numbers of a parameter, matrices row by row, if they are said.
    pub fn param(&self, name: &str) -> Option<&[f64]> {
        self.params.get(name).map(Vec::as_slice)
    }

    /// The same with the numbers of a parameter.
    #[must_use]
    pub fn with_param(mut self, name: &str, numbers: &[f64]) -> Self {
        self.params.insert(name.into(), numbers.to_vec());
        self
    }

    /// The same with a setting, as it is typed.
    #[must_use]
    pub fn with_setting(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// The policy on a problem, checked and complete. Errors name the parameter or setting.
    pub fn on(&self, problem: &Problem) -> Result<Choice> {
        let rank = self.settings.get("rank").map(String::as_str);
        let initial = Choice::unsettled(&self.kind, problem, rank)?;
        let here = |key: &str| Place::key(self.name()).then(Place::key(key));
        // Settings first: which parameters there are depends on them.
        let set = self.settings.iter().try_fold(initial, |choice, (key, value)| {
            choice.with(problem, key, value).map_err(|error| error.at(here(key)))
        })?;
        let said = self.params.iter().try_fold(set, |choice, (key, numbers)| {
            choice.with_param(problem, key, numbers).map_err(|error| error.at(here(key)))
        })?;
        let said = said.admitted(problem)?;
        let complete = said.slots().iter().all(|slot| self.params.contains_key(slot.name()));
        if complete { said.with_params(problem, said.params()) } else { Ok(said) }
    }

    /// Reads `name` or `name(param=value,…)`.
    fn parse(text: &str, catalogue: &Catalogue) -> Result<Self> {
        let text = text.trim();
        let (name, inner) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inner) => (name.trim_end(), Some(inner)),
                None => {
                    let found = abridged(text);
                    return Err(Error::new("policy", format!("found '{found}', expected a ')' at its end")));
                }
            },
        };
        let mut policy = Self::of(catalogue.kind(name)?);
        for part in inner.into_iter().flat_map(|inner| inner.split(',')) {
            let Some((key, value)) = part.split_once('=') else {
                let (part, text) = (abridged(part), abridged(text));
                return Err(Error::new(
                    "policy",
                    format!("found '{part}' in '{text}', expected param=value"),
                ));
            };
            policy
                .say(key.trim(), value.trim())
                .map_err(|error| error.at(Place::key(name).then(Place::key(key.trim()))))?;
        }
        Ok(policy)
    }

    /// A parameter or a setting as typed.
    fn say(&mut self, key: &str, value: &str) -> Result<()> {
        if self.kind.params().iter().any(|param| param.name == key)
            && !self.kind.settings().iter().any(|setting| setting.name == key)
        {
            let found = abridged(value);
            let x =
                value.parse().map_err(|_| Error::new(key, format!("found '{found}', expected a number")))?;
            self.params.insert(key.into(), vec![x]);
            return Ok(());
        }
        if let Some(setting) = self.kind.settings().iter().find(|setting| setting.name == key) {
            setting.parse(value, usize::MAX)?;
            self.settings.insert(key.into(), value.into());
            return Ok(());
        }
        let known = self.kind.params().iter().map(|param| param.name);
        Err(Error::unknown(key, key, known.chain(self.kind.settings().iter().map(|setting| setting.name))))
    }
}

impl Choice {
    /// `name` or `name(param=value,…)` on a problem.
    pub fn parse(text: &str, problem: &Problem) -> Result<Self> {
        text.parse::<Policy>()?.on(problem)
    }

    /// The policy as a value that knows nothing of the problem.
    pub fn policy(&self) -> Policy {
        let settings = self.settings().map(|(name, value)| (name.to_string(), value.to_string()));
        let params = self
            .slots()
            .into_iter()
            .map(|slot| (slot.name().to_string(), self.params()[slot.range].to_vec()));
        let params = if self.is_known() { params.collect() } else { BTreeMap::new() };
        Policy::new(self.kind().clone(), settings.collect(), params)
    }
}

impl Catalogue {
    /// `name` or `name(param=value,…)` as a policy.
    pub fn policy(&self, text: &str) -> Result<Policy> {
        Policy::parse(text, self)
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text, &Catalogue::default())
    }
}

/// `name(param=value,…)`, as it can be typed again; matrices are left out.
impl Display for Policy {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let params = self.params.iter().filter(|(_, numbers)| numbers.len() == 1);
        let params = params.map(|(name, numbers)| format!("{name}={}", numbers[0]));
        let usual = |name: &str, value: &str| {
            let setting = self.kind.settings().iter().find(|setting| setting.name == name);
            setting.is_some_and(|setting| setting.default().to_string() == value)
        };
        let settings = self.settings.iter().filter(|(name, value)| !usual(name, value));
        let parts: Vec<_> = params.chain(settings.map(|(name, value)| format!("{name}={value}"))).collect();
        match parts.is_empty() {
            true => f.write_str(self.name()),
            false => write!(f, "{}({})", self.name(), parts.join(",")),
        }
    }
}

/// What can stand where a policy is asked for: a [`Policy`], or its name as typed.
pub trait IntoPolicy {
    /// The policy.
    fn into_policy(self) -> Result<Policy>;
}

impl IntoPolicy for Policy {
    fn into_policy(self) -> Result<Policy> {
        Ok(self)
    }
}

impl IntoPolicy for &Policy {
    fn into_policy(self) -> Result<Policy> {
        Ok(self.clone())
    }
}

impl IntoPolicy for &str {
    fn into_policy(self) -> Result<Policy> {
        self.parse()
    }
}

impl IntoPolicy for &String {
    fn into_policy(self) -> Result<Policy> {
        self.parse()
    }
}

impl IntoPolicy for &Choice {
    fn into_policy(self) -> Result<Policy> {
        Ok(self.policy())
    }
}
