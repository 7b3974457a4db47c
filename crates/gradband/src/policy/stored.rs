//! A policy as data, and back: on a problem, or with nothing but the record of it. What policy files and saved agents hold.

use super::catalogue::Catalogue;
use super::choice::Choice;
use super::decide::Decide;
use super::definition::Learns;
use super::record::ProblemRecord;
use super::value::Policy;
use crate::error::{Error, Place, Result, abridged};
use crate::numeric::bytes::Bytes;
use crate::observe::Observer;
use crate::problem::Problem;
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

/// Arms or features of a record: far more than a policy can have, and few enough to count its numbers.
const LARGEST_SIZE: usize = 1 << 24;

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
        for (key, size) in [("arms", shape.0), ("context_dim", shape.1)] {
            if size > LARGEST_SIZE {
                let message = format!("found {size}, expected at most {LARGEST_SIZE}");
                return Err(Error::new(Place::key("problem").then(key), message));
            }
        }
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

impl Choice {
    /// The policy that was [described](super::description::Description), on the problem on which it was.
    pub(crate) fn described(bytes: &[u8], problem: &Problem, catalogue: &Catalogue) -> Result<Self> {
        let mut from = Bytes(bytes);
        let kind = catalogue.kind(from.text()?)?;
        let mut settings = BTreeMap::new();
        for _ in 0..from.whole()? {
            settings.insert(from.text()?.into(), from.text()?.into());
        }
        let params = from.numbers()?;
        from.end()?;
        Self::of_parts(&kind, problem, &settings, params)
    }
}

impl ProblemRecord {
    /// The record of a problem with what a policy on it takes along.
    pub fn carried_by(choice: &Choice, problem: &Problem, observer: &mut dyn Observer) -> Result<Self> {
        let carried = choice.kind().define().carries(problem, choice, observer)?;
        Ok(Self { carried, ..problem.into() })
    }

    /// A policy for this problem as an agent asks it.
    pub(crate) fn decider(&self, choice: &Choice) -> Result<Box<dyn Decide>> {
        choice.kind().define().decider(self, choice, &mut ())
    }
}
