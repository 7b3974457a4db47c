//! The `[problem]` part of a spec.

use super::{DataFile, defaults};
use crate::problem::{MAX_ARMS, Model, Points, Prior, Problem, Rewards, Table};
use crate::{Error, Result, error::within};
use serde::de::{SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

/// What is simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemSpec {
    /// The reward model.
    pub kind: String,
    /// n.
    pub horizon: usize,
    /// Of beta rewards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concentration: Option<f64>,
    /// Of Gaussian rewards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_sd: Option<f64>,
    /// Linear: number of arms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arms: Option<usize>,
    /// Linear: number of features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_dim: Option<usize>,
    /// Linear: a number or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_mean: Option<Nested>,
    /// Linear: a number, a list of variances, or a matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_cov: Option<Nested>,
    /// Linear: a number, a list, or a list for each arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta_mean: Option<Nested>,
    /// Linear: a number, a list of variances, or a matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta_cov: Option<Nested>,
    /// Classification: a labelled table, or the name of a data set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Classification: the column with the classes, by name or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<toml::Value>,
    /// Classification: how features are scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    /// Classification: the part that training does not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Discrete contexts: a K x L table of means, or a list of such tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<Nested>,
    /// Discrete contexts: one weight per table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Discrete contexts: standard deviation of the means around the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_sd: Option<f64>,
    /// Discrete contexts: one weight per context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_weights: Option<Vec<f64>>,
    /// Discrete contexts: `random` or `cyclic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_order: Option<String>,
    /// Arms without contexts: the distribution of instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<PriorSpec>,
}

/// The `[problem.prior]` part: every key of every kind, so that a stray one can be named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorSpec {
    /// Which distribution.
    pub kind: String,
    /// Points: the arm means of each instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<Vec<Vec<f64>>>,
    /// Points: one weight per instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Beta and normal: number of arms, where the parameters do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arms: Option<usize>,
    /// Beta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<PerArm>,
    /// Beta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<PerArm>,
    /// Normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<PerArm>,
    /// Normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd: Option<PerArm>,
    /// Table: a CSV file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Table: the part that training does not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
}

/// One number for all arms, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PerArm {
    /// The same for all.
    All(f64),
    /// One for each.
    Each(Vec<f64>),
}

impl<'de> Deserialize<'de> for PerArm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = PerArm;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a number, or a list with a number for each arm")
            }
            fn visit_f64<E>(self, x: f64) -> std::result::Result<PerArm, E> {
                Ok(PerArm::All(x))
            }
            fn visit_i64<E>(self, x: i64) -> std::result::Result<PerArm, E> {
                Ok(PerArm::All(x as f64))
            }
            fn visit_u64<E>(self, x: u64) -> std::result::Result<PerArm, E> {
                Ok(PerArm::All(x as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> std::result::Result<PerArm, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(PerArm::Each)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A number, or a list of such: vectors, matrices, lists of matrices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Nested {
    /// One number.
    Number(f64),
    /// A list.
    List(Vec<Nested>),
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Nested;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a number, a list of numbers, or a matrix")
            }
            fn visit_f64<E>(self, x: f64) -> std::result::Result<Nested, E> {
                Ok(Nested::Number(x))
            }
            fn visit_i64<E>(self, x: i64) -> std::result::Result<Nested, E> {
                Ok(Nested::Number(x as f64))
            }
            fn visit_u64<E>(self, x: u64) -> std::result::Result<Nested, E> {
                Ok(Nested::Number(x as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> std::result::Result<Nested, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Nested::List)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A kind and the keys that go with it.
struct Kind {
    name: &'static str,
    keys: &'static [&'static str],
}

const KINDS: [Kind; 6] = [
    Kind { name: "bernoulli", keys: &["prior"] },
    Kind { name: "beta", keys: &["prior", "concentration"] },
    Kind { name: "gaussian", keys: &["prior", "noise_sd"] },
    Kind {
        name: "linear",
        keys: &["noise_sd", "arms", "context_dim", "context_mean", "context_cov", "theta_mean", "theta_cov"],
    },
    Kind { name: CLASSIFICATION, keys: &["data", "label", "scale", "holdout"] },
    Kind {
        name: "discrete-context",
        keys: &["noise_sd", "means", "weights", "mean_sd", "context_weights", "context_order"],
    },
];

const CLASSIFICATION: &str = "classification";

const TABLE: &str = "table";

const PRIORS: [Kind; 4] = [
    Kind { name: "points", keys: &["instances", "weights"] },
    Kind { name: "beta", keys: &["alpha", "beta", "arms"] },
    Kind { name: "normal", keys: &["mean", "sd", "arms"] },
    Kind { name: TABLE, keys: &["path", "holdout"] },
];

/// Refuses unknown kinds, and keys that belong to others.
fn check_kind(kinds: &[Kind], name: &str, spec: &impl Serialize) -> Result<()> {
    let kind = kinds.iter().find(|kind| kind.name == name);
    let kind = kind.ok_or_else(|| Error::unknown("kind", name, kinds.iter().map(|kind| kind.name)))?;
    let given = toml::Table::try_from(spec).map_err(|error| Error::new("", error.to_string()))?;
    for key in given.keys().filter(|key| !kind.keys.contains(&key.as_str())) {
        let owners: Vec<_> = kinds
            .iter()
            .filter(|kind| kind.keys.contains(&key.as_str()))
            .map(|kind| format!("kind = \"{}\"", kind.name))
            .collect();
        if !owners.is_empty() {
            let message = format!("goes with {}, not with kind = \"{name}\"", owners.join(" or "));
            return Err(Error::new(key.as_str(), message));
        }
    }
    Ok(())
}

pub(super) fn needed<'a, T>(kind: &str, key: &str, value: &'a Option<T>) -> Result<&'a T> {
    value.as_ref().ok_or_else(|| Error::new(key, format!("is missing; kind = \"{kind}\" needs it")))
}

impl ProblemSpec {
    /// What a spec would say of a problem that did not come from a file.
    pub fn of(problem: &Problem) -> Self {
        let mut spec = Self { kind: problem.kind().into(), horizon: problem.horizon, ..Self::default() };
        match &problem.model {
            Model::Armed(armed) => {
                match armed.rewards {
                    Rewards::Bernoulli => {}
                    Rewards::Beta { concentration } => spec.concentration = Some(concentration),
                    Rewards::Gaussian { noise_sd } => spec.noise_sd = Some(noise_sd),
                }
                spec.prior = Some(PriorSpec::of(&armed.prior));
            }
            Model::Contextual(contextual) => spec.of_contextual(problem, &contextual.source),
        }
        spec
    }

    /// The same with defaults filled in.
    pub fn effective(&self) -> Self {
        let mut spec = self.clone();
        if let Some(prior) = &mut spec.prior
            && prior.kind == TABLE
        {
            prior.holdout.get_or_insert(defaults::HOLDOUT);
        }
        if spec.kind == CLASSIFICATION {
            spec.scale.get_or_insert("minmax".into());
            spec.holdout.get_or_insert(defaults::EXAMPLES_HOLDOUT);
        }
        spec
    }

    fn rewards(&self) -> Result<Rewards> {
        match self.kind.as_str() {
            "beta" => {
                let &concentration = needed(&self.kind, "concentration", &self.concentration)?;
                Ok(Rewards::Beta { concentration })
            }
            "gaussian" => {
                let &noise_sd = needed(&self.kind, "noise_sd", &self.noise_sd)?;
                Ok(Rewards::Gaussian { noise_sd })
            }
            _ => Ok(Rewards::Bernoulli),
        }
    }

    /// The file that is needed, with its key.
    pub(super) fn file(&self) -> Result<Option<(&'static str, &str)>> {
        check_kind(&KINDS, &self.kind, self)?;
        if self.kind == CLASSIFICATION {
            return Ok(Some(("data", needed(&self.kind, "data", &self.data)?)));
        }
        let path = self.prior.as_ref().map_or(Ok(None), PriorSpec::path);
        Ok(path.map_err(|error| error.within("prior"))?.map(|path| ("prior.path", path)))
    }

    /// The problem, and remarks about it; `file` is what it needs. Errors name keys of this part.
    pub fn build(&self, name: &str, file: Option<DataFile>) -> Result<(Problem, Vec<String>)> {
        let problem = match (self.kind.as_str(), file) {
            (CLASSIFICATION, Some(file)) => return self.classification(name, file),
            ("linear", _) => self.linear(name)?,
            ("discrete-context", _) => self.discrete(name)?,
            (_, file) => {
                let prior = needed(&self.kind, "prior", &self.prior)?;
                let prior = prior.build(file).map_err(|error| error.within("prior"))?;
                Problem::new(name, self.rewards()?, prior, self.horizon)?
            }
        };
        Ok((problem, Vec::new()))
    }
}

impl PriorSpec {
    fn of(prior: &Prior) -> Self {
        match prior {
            Prior::Points(points) => {
                let (instances, weights) =
                    points.iter().map(|(instance, weight)| (instance.to_vec(), weight)).unzip();
                let (instances, weights) = (Some(instances), Some(weights));
                Self { kind: "points".into(), instances, weights, ..Self::default() }
            }
            Prior::Beta { alpha, beta } => {
                let (alpha, beta) = (PerArm::Each(alpha.clone()), PerArm::Each(beta.clone()));
                Self { kind: "beta".into(), alpha: Some(alpha), beta: Some(beta), ..Self::default() }
            }
            Prior::Normal { mean, sd } => {
                let (mean, sd) = (PerArm::Each(mean.clone()), PerArm::Each(sd.clone()));
                Self { kind: "normal".into(), mean: Some(mean), sd: Some(sd), ..Self::default() }
            }
            Prior::Table(_) => Self { kind: TABLE.into(), ..Self::default() },
        }
    }

    /// The file of a table prior.
    fn path(&self) -> Result<Option<&str>> {
        check_kind(&PRIORS, &self.kind, self)?;
        if self.kind != TABLE {
            return Ok(None);
        }
        within("holdout", self.holdout.unwrap_or(defaults::HOLDOUT), 0.0, 0.9)?;
        needed(&self.kind, "path", &self.path).map(|path| Some(path.as_str()))
    }

    fn build(&self, file: Option<DataFile>) -> Result<Prior> {
        if let Some(file) = file {
            let holdout = self.holdout.unwrap_or(defaults::HOLDOUT);
            return Table::read(file.reader, &file.name, holdout).map(Prior::Table);
        }
        match self.kind.as_str() {
            "points" => {
                let instances = needed(&self.kind, "instances", &self.instances)?;
                Points::new(instances.clone(), self.weights.clone()).map(Prior::Points)
            }
            "beta" => {
                let (alpha, beta) = self.pair(("alpha", &self.alpha), ("beta", &self.beta))?;
                Prior::beta(alpha, beta)
            }
            _ => {
                let (mean, sd) = self.pair(("mean", &self.mean), ("sd", &self.sd))?;
                Prior::normal(mean, sd)
            }
        }
    }

    /// Both parameters with one entry per arm.
    fn pair(&self, a: (&str, &Option<PerArm>), b: (&str, &Option<PerArm>)) -> Result<(Vec<f64>, Vec<f64>)> {
        let (first, second) = (needed(&self.kind, a.0, a.1)?, needed(&self.kind, b.0, b.1)?);
        let arms = match (self.arms, first, second) {
            (Some(arms), ..) => arms,
            (None, PerArm::Each(list), _) | (None, _, PerArm::Each(list)) => list.len(),
            (None, PerArm::All(_), PerArm::All(_)) => {
                let message = format!("is missing: {} and {} are numbers, so it must say how many", a.0, b.0);
                return Err(Error::new("arms", message));
            }
        };
        if !(2..=MAX_ARMS).contains(&arms) {
            return Err(Error::new("arms", format!("found {arms}, expected 2 to {MAX_ARMS}")));
        }
        Ok((first.spread(a.0, arms)?, second.spread(b.0, arms)?))
    }
}

impl PerArm {
    fn spread(&self, key: &str, arms: usize) -> Result<Vec<f64>> {
        match self {
            &Self::All(x) => Ok(vec![x; arms]),
            Self::Each(list) if list.len() == arms => Ok(list.clone()),
            Self::Each(list) => {
                let message = format!("found {} entries, expected {arms}: one per arm", list.len());
                Err(Error::new(key, message))
            }
        }
    }
}
