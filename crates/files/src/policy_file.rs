//! `policy.json`: a policy that can be stored, carried elsewhere and played again.

use crate::spec::Spec;
use crate::{io, weights};
use gradband::policy::Choice;
use gradband::problem::{Contextual, Scaling};
use gradband::{Catalogue, Error, ErrorKind, Place, Policy, Problem, Result, StopReason};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What the file is called.
pub const POLICY_FILE: &str = "policy.json";

/// The format's number: a reader refuses others.
pub const FORMAT: u32 = 1;

/// A policy and where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PolicyFile {
    /// [`FORMAT`].
    pub gradband: u32,
    /// The policy.
    pub policy: PolicyRecord,
    /// What it was trained for.
    pub problem: ProblemRecord,
    /// How it was trained; not needed to play it.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingRecord>,
}

/// A policy as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Its name in the registry.
    pub kind: String,
    /// Its parameters' names.
    pub names: Vec<String>,
    /// For each name its dimensions: an empty list is a number.
    pub shape: Vec<Vec<usize>>,
    /// All numbers, in the order of the names, matrices row by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<f64>,
    /// The safetensors file beside this one that has them instead, for neural policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// What is not learned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl From<&Choice> for PolicyRecord {
    fn from(choice: &Choice) -> Self {
        let (names, shape) =
            choice.slots().into_iter().map(|slot| (slot.name().into(), slot.shape)).unzip();
        Self {
            kind: choice.name().into(),
            names,
            shape,
            params: choice.params().to_vec(),
            weights: None,
            settings: choice.settings().map(|(name, value)| (name.into(), value.to_string())).collect(),
        }
    }
}

/// A problem in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemRecord {
    /// Its name, or the path of its spec.
    pub name: String,
    /// The reward model.
    pub kind: String,
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: usize,
    /// What the user calls the arms; the classes of a labelled table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm_names: Option<Vec<String>>,
    /// d, where there are contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_dim: Option<usize>,
    /// The features of a labelled table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<FeatureRecord>>,
}

/// A feature, and how the policy sees it: (raw - shift) * factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureRecord {
    /// Its column.
    pub name: String,
    /// What is subtracted first.
    pub shift: f64,
    /// What the rest is multiplied by; 0 for a constant feature.
    pub factor: f64,
}

impl From<&Problem> for ProblemRecord {
    fn from(problem: &Problem) -> Self {
        let contextual = problem.contextual();
        let features = contextual.and_then(Contextual::examples).map(|examples| {
            let columns = examples.feature_names().iter().zip(examples.scaling());
            let record = |(name, scaling): (&String, &Scaling)| FeatureRecord {
                name: name.clone(),
                shift: scaling.shift,
                factor: scaling.factor,
            };
            columns.map(record).collect()
        });
        Self {
            name: problem.name().into(),
            kind: problem.kind().into(),
            arms: problem.arms(),
            horizon: problem.horizon(),
            arm_names: problem.arm_names().map(<[String]>::to_vec),
            context_dim: contextual.map(Contextual::dim),
            features,
        }
    }
}

/// How a policy was trained.
#[derive(Clone, Debug, Serialize)]
pub struct TrainingRecord {
    /// Everything that was asked for, defaults included.
    pub spec: Spec,
    /// The seed.
    pub seed: u64,
    /// gradband's version.
    pub version: String,
    /// Iterations done.
    pub iterations: usize,
    /// Why it ended.
    pub stop_reason: StopReason,
}

impl PolicyFile {
    /// A policy that can be stored.
    pub fn new(choice: &Choice, problem: &Problem) -> Self {
        Self { gradband: FORMAT, policy: choice.into(), problem: problem.into(), training: None }
    }

    /// Writes the file, and the weights of a network beside it, into a directory that is there.
    pub fn save(mut self, dir: &Path, choice: &Choice) -> std::io::Result<()> {
        if weights::has_weights_file(choice) {
            weights::write(&dir.join(weights::WEIGHTS_FILE), choice)?;
            self.policy.params.clear();
            self.policy.weights = Some(weights::WEIGHTS_FILE.into());
        }
        let text = serde_json::to_string_pretty(&self).map_err(std::io::Error::other)? + "\n";
        io::write(&dir.join(POLICY_FILE), |file| file.write_all(text.as_bytes()))
    }

    /// Reads a file, and the weights beside it.
    pub fn load(path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            gradband: Option<u32>,
        }
        let place = Place::file(path.display().to_string());
        match io::read_json::<Format>(path)?.gradband {
            Some(FORMAT) => {}
            Some(other) => {
                let message = format!("found format {other}, this version reads {FORMAT}");
                return Err(Error::new(place.then("gradband"), message));
            }
            None => return Err(Error::new(place, "is not a policy file: it has no key 'gradband'")),
        }
        let mut file: Self = io::read_json(path)?;
        if let Some(weights) = &file.policy.weights {
            // Beside the policy file and nowhere else, whatever it says.
            if Path::new(weights).file_name() != Some(weights.as_ref()) {
                let message = format!("found '{weights}', expected the name of a file beside this one");
                return Err(Error::new(place.then("policy.weights"), message));
            }
            let beside = path.parent().unwrap_or(Path::new("")).join(weights);
            file.policy.params = weights::read(&beside, &file.policy)?;
        }
        Ok(file)
    }

    /// The policy on the problem it is to play. Errors name keys of the file.
    pub fn choose(&self, problem: &Problem, catalogue: &Catalogue) -> Result<Choice> {
        let kind = catalogue.kind(&self.policy.kind).map_err(|error| error.at("policy.kind"))?;
        if self.problem.arms != problem.arms() {
            let message = format!(
                "the policy is for {} arms, but {} has {}",
                self.problem.arms,
                problem.name(),
                problem.arms()
            );
            return Err(Error::new("problem.arms", message));
        }
        let mut choice = Policy::of(kind.clone()).on(problem).map_err(|error| error.at("policy.kind"))?;
        self.check_features(problem)?;
        for (key, value) in &self.policy.settings {
            let place = || Place::from("policy.settings").then(Place::key(key));
            choice = choice.with(problem, key, value).map_err(|error| error.at(place()))?;
        }
        let slots = choice.slots();
        let names: Vec<_> = slots.iter().map(|slot| slot.name()).collect();
        if self.policy.names != names {
            let message = format!("found {:?}, expected {names:?} for {}", self.policy.names, kind.name());
            return Err(Error::new("policy.names", message));
        }
        if slots.iter().map(|slot| &slot.shape).ne(&self.policy.shape) {
            let expected: Vec<_> = slots.iter().map(|slot| &slot.shape).collect();
            let message = format!("found {:?}, expected {expected:?} for {}", self.policy.shape, kind.name());
            return Err(Error::new("policy.shape", message));
        }
        choice.with_params(problem, &self.policy.params).map_err(|error| match error.kind() {
            ErrorKind::Invalid(_) => error.at("policy.params"),
            _ => error.within("policy"),
        })
    }

    /// A projection learned for some features says nothing about others.
    fn check_features(&self, problem: &Problem) -> Result<()> {
        let theirs = ProblemRecord::from(problem);
        if self.problem.context_dim != theirs.context_dim {
            let dim = |dim: Option<usize>| dim.map_or("none".into(), |dim| dim.to_string());
            let message = format!(
                "the policy is for {} features, but {} has {}",
                dim(self.problem.context_dim),
                problem.name(),
                dim(theirs.context_dim)
            );
            return Err(Error::new("problem.context_dim", message));
        }
        if let (Some(ours), Some(theirs)) = (&self.problem.features, &theirs.features)
            && let Some((our, their)) = ours.iter().zip(theirs).find(|(our, their)| our.name != their.name)
        {
            let message = format!(
                "the policy has a feature '{}' where {} has '{}'",
                our.name,
                problem.name(),
                their.name
            );
            return Err(Error::new("problem.features", message));
        }
        Ok(())
    }
}

/// Writes `policy.json` (and the weights of a network) into a directory, which is made if it is not there.
pub fn save_policy(dir: &Path, choice: &Choice, problem: &Problem) -> Result<()> {
    let written = io::create_dir(dir).and_then(|()| PolicyFile::new(choice, problem).save(dir, choice));
    let place = || Place::file(dir.display().to_string());
    written.map_err(|error| Error::new(place(), format!("cannot be written: {error}")))
}

/// The policy in a policy file, on the problem that it is to play.
pub fn load_policy(path: &Path, problem: &Problem) -> Result<Choice> {
    load_policy_from(path, problem, &Catalogue::default())
}

/// The same with policies of one's own.
pub fn load_policy_from(path: &Path, problem: &Problem, catalogue: &Catalogue) -> Result<Choice> {
    let file = PolicyFile::load(path)?;
    let place = || Place::file(path.display().to_string());
    file.choose(problem, catalogue).map_err(|error| error.within(place()))
}
