//! A policy and the problem that it was trained for as data: what policy files and states of agents hold.

use super::catalogue::Catalogue;
use super::choice::Choice;
use super::decide::Decide;
use super::definition::Learns;
use super::value::Policy;
use crate::error::{Error, Place, Result, abridged};
use crate::observe::Observer;
use crate::problem::{Contextual, Discrete, Keys, Problem, Scaling, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// A policy as data: its name, its parameters and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecord {
    /// Its name in the catalogue.
    pub kind: String,
    /// The names of its parameters.
    pub names: Vec<String>,
    /// For each name its dimensions: an empty list is a number.
    pub shape: Vec<Vec<usize>>,
    /// All numbers, in the order of the names, matrices row by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<f64>,
    /// The safetensors file beside the policy file that holds the numbers instead: networks have many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The settings by name, as they are typed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl From<&Choice> for PolicyRecord {
    fn from(choice: &Choice) -> Self {
        let (names, shape) = choice.slots().into_iter().map(|slot| (slot.name().into(), slot.shape)).unzip();
        Self {
            kind: choice.name().into(),
            names,
            shape,
            // Weights that nobody has trained are not worth a word, nor is what a search has still to find.
            params: if choice.is_known() { choice.params().to_vec() } else { Vec::new() },
            weights: None,
            settings: choice.settings().map(|(name, value)| (name.into(), value.to_string())).collect(),
        }
    }
}

/// What a policy file says of the problem that its policy was trained for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemRecord {
    /// Its name, or the path of its spec.
    pub name: String,
    /// Its kind, as a spec names it: `bernoulli`, `linear`, …
    pub kind: String,
    /// The number of arms (the paper's K).
    pub arms: usize,
    /// The number of rounds of a run (the paper's n).
    pub horizon: usize,
    /// What the user calls the arms; the classes of a labelled table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm_names: Option<Vec<String>>,
    /// The number of features, if there are contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_dim: Option<usize>,
    /// The features of a labelled table: with them the policy can be applied to raw values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<FeatureRecord>>,
    /// How they were scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    /// Delays, batches, floor and horizon as a spec has them; the textbook's world if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Keys>,
    /// The mean of past arms: where an arm stands of which nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past_mean: Option<f64>,
    /// Are all rewards in [0, 1]?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_rewards: Option<bool>,
    /// The standard deviation of the rewards' noise, if there are contexts and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_sd: Option<f64>,
    /// What the policy takes along beside its parameters: the subspace of mom-thompson, the prior of bayes-optimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<f64>,
}

/// A feature of a labelled table, and how the policy sees it: (raw - shift) * factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureRecord {
    /// The name of its column.
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
        let discrete = contextual.and_then(Contextual::discrete);
        Self {
            name: problem.name().into(),
            kind: problem.kind().into(),
            arms: problem.arms(),
            horizon: problem.horizon(),
            arm_names: problem.arm_names().map(<[String]>::to_vec),
            context_dim: contextual.map(Contextual::dim),
            scale: contextual.and_then(Contextual::examples).map(|examples| examples.scale().name().into()),
            features,
            world: (!problem.world().is_plain()).then(|| problem.world().keys()),
            past_mean: Some(discrete.map_or_else(|| problem.past_mean(), Discrete::mean)),
            unit_rewards: Some(problem.unit_rewards()),
            noise_sd: problem.noise_sd(),
            carried: Vec::new(),
        }
    }
}

impl PolicyRecord {
    /// The policy on the problem it is to play, which must be like the one it was trained for: the same arms, and with
    /// contexts the same features, scaled alike. Errors name keys of the file.
    pub fn choose(
        &self,
        trained_for: &ProblemRecord,
        problem: &Problem,
        catalogue: &Catalogue,
    ) -> Result<Choice> {
        let kind = catalogue.kind(&self.kind).map_err(|error| error.at("policy.kind"))?;
        trained_for.check_arms(problem)?;
        let mut choice = Policy::of(kind).on(problem).map_err(|error| error.at("policy.kind"))?;
        trained_for.check_features(problem)?;
        if choice.kind().learns() != Learns::Score || trained_for.features.is_some() {
            trained_for.check_arm_names(problem)?;
        }
        for (key, value) in &self.settings {
            let place = || Place::from("policy.settings").then(Place::key(key));
            choice = choice.with(problem, key, value).map_err(|error| error.at(place()))?;
        }
        self.check_layout(&choice)?;
        choice.with_params(problem, &self.params).map_err(|error| error.within("policy"))
    }

    /// The policy when nothing is left of its problem but the record of it.
    pub(crate) fn restore(&self, trained_for: &ProblemRecord, catalogue: &Catalogue) -> Result<Choice> {
        let kind = catalogue.kind(&self.kind).map_err(|error| error.at("policy.kind"))?;
        let shape = (trained_for.arms, trained_for.context_dim.unwrap_or(0));
        let choice = Choice::stored(&kind, shape, &self.settings)?;
        self.check_layout(&choice)?;
        choice.with_stored(&self.params).map_err(|error| error.within("policy"))
    }

    /// The numbers mean something only under the names and in the shapes that they were written with.
    fn check_layout(&self, choice: &Choice) -> Result<()> {
        let (names, shape): (Vec<String>, Vec<Vec<usize>>) =
            choice.slots().into_iter().map(|slot| (slot.name().into(), slot.shape)).unzip();
        let differ = |key: &str, found: &dyn Debug, expected: &dyn Debug| {
            let found = abridged(&format!("{found:?}"));
            let message = format!("found {found}, expected {expected:?} for {}", choice.name());
            Err(Error::new(Place::key("policy").then(key), message))
        };
        if self.names != names {
            return differ("names", &self.names, &names);
        }
        if self.shape != shape {
            return differ("shape", &self.shape, &shape);
        }
        Ok(())
    }
}

impl ProblemRecord {
    /// The record of a problem with what a policy on it takes along.
    pub fn carried_by(choice: &Choice, problem: &Problem, observer: &mut dyn Observer) -> Result<Self> {
        let carried = choice.kind().define().carries(problem, choice, observer)?;
        Ok(Self { carried, ..problem.into() })
    }

    /// How late rewards are known, the least share of an arm, and how long a run is.
    pub fn world(&self) -> Result<World> {
        let Some(keys) = &self.world else { return Ok(World::plain(self.horizon)) };
        World::of_keys(keys, self.horizon, self.arms).map_err(|error| error.within("problem.world"))
    }

    /// Are all rewards in [0, 1]? Older files leave it to the kind of problem.
    pub(crate) fn unit_rewards(&self) -> bool {
        self.unit_rewards.unwrap_or(!["gaussian", "linear", "discrete-context"].contains(&&*self.kind))
    }

    /// A policy for this problem as an agent asks it.
    pub(crate) fn decider(&self, choice: &Choice) -> Result<Box<dyn Decide>> {
        choice.kind().define().decider(self, choice, &mut ())
    }

    fn check_arms(&self, problem: &Problem) -> Result<()> {
        if self.arms == problem.arms() {
            return Ok(());
        }
        let message =
            format!("the policy is for {} arms, but {} has {}", self.arms, problem.name(), problem.arms());
        Err(Error::new("problem.arms", message))
    }

    /// A network knows arms by their numbers, and a classifier's arms are its classes: others are another problem. To
    /// all other policies one arm is like the next.
    fn check_arm_names(&self, problem: &Problem) -> Result<()> {
        let (Some(ours), Some(theirs)) = (&self.arm_names, problem.arm_names()) else { return Ok(()) };
        let Some(arm) = (0..ours.len().max(theirs.len())).find(|&arm| ours.get(arm) != theirs.get(arm))
        else {
            return Ok(());
        };
        let name =
            |names: &[String]| names.get(arm).map_or("none".into(), |name| format!("'{}'", abridged(name)));
        let message =
            format!("the policy has the arm {} where {} has {}", name(ours), problem.name(), name(theirs));
        Err(Error::new(Place::from("problem.arm_names").index(arm), message))
    }

    /// A projection learned for some features says nothing about others, nor about the same ones on another scale.
    fn check_features(&self, problem: &Problem) -> Result<()> {
        let theirs = Self::from(problem);
        if self.context_dim != theirs.context_dim {
            let dim = |dim: Option<usize>| dim.map_or("none".into(), |dim| dim.to_string());
            let message = format!(
                "the policy is for {} features, but {} has {}",
                dim(self.context_dim),
                problem.name(),
                dim(theirs.context_dim)
            );
            return Err(Error::new("problem.context_dim", message));
        }
        let (Some(ours), Some(theirs)) = (&self.features, &theirs.features) else { return Ok(()) };
        if ours.len() != theirs.len() {
            let message = format!("found {} features, expected {}", ours.len(), theirs.len());
            return Err(Error::new("problem.features", message));
        }
        match ours.iter().zip(theirs).position(|(our, their)| our != their) {
            None => Ok(()),
            Some(i) => {
                let place = Place::from("problem.features").index(i);
                Err(Error::new(place, ours[i].difference(&theirs[i], problem.name())))
            }
        }
    }
}

impl FeatureRecord {
    /// What sets it apart from the feature of a problem that stands in its place.
    fn difference(&self, other: &Self, problem: &str) -> String {
        let [ours, theirs] = [&self.name, &other.name].map(|name| abridged(name));
        if self.name != other.name {
            return format!("the policy has a feature '{ours}' where {problem} has '{theirs}'");
        }
        let scaled = |feature: &Self| format!("(x - {}) * {}", feature.shift, feature.factor);
        format!(
            "the policy sees the feature '{ours}' as {}, but on {problem} it is {}; use the data and the `scale` that it \
             was trained with",
            scaled(self),
            scaled(other)
        )
    }
}
