//! A problem as data: what is left of it when its policy leaves it.

use crate::error::{Error, Place, Result, abridged};
use crate::problem::{Contextual, Discrete, Keys, Problem, Scaling, World};
use serde::{Deserialize, Serialize};

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

impl ProblemRecord {
    /// How late rewards are known, the least share of an arm, and how long a run is.
    pub fn world(&self) -> Result<World> {
        let Some(keys) = &self.world else { return Ok(World::plain(self.horizon)) };
        World::of_keys(keys, self.horizon, self.arms).map_err(|error| error.within("problem.world"))
    }

    /// Are all rewards in [0, 1]? Older files leave it to the kind of problem.
    pub(crate) fn unit_rewards(&self) -> bool {
        self.unit_rewards.unwrap_or(!["gaussian", "linear", "discrete-context"].contains(&&*self.kind))
    }

    pub(super) fn check_arms(&self, problem: &Problem) -> Result<()> {
        if self.arms == problem.arms() {
            return Ok(());
        }
        let message =
            format!("the policy is for {} arms, but {} has {}", self.arms, problem.name(), problem.arms());
        Err(Error::new("problem.arms", message))
    }

    /// A network knows arms by their numbers, and a classifier's arms are its classes: others are another problem. To
    /// all other policies one arm is like the next.
    pub(super) fn check_arm_names(&self, problem: &Problem) -> Result<()> {
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
    pub(super) fn check_features(&self, problem: &Problem) -> Result<()> {
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
