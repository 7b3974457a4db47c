//! The problems of the experiments: by name, or described as in a spec.

use gradband::problem::Keys;
use gradband::{Problem, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which problem a unit is about, as its record says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProblemSource {
    /// A built-in problem or a data set, by name.
    Named(String),
    /// A data set of which another part is held out.
    Split {
        /// The data set, by name.
        data: String,
        /// The share that is held out.
        holdout: f64,
        /// Which of all such splits.
        split: u64,
    },
    /// The `[problem]` part of a spec.
    Described(Keys),
}

impl From<&str> for ProblemSource {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

impl From<Keys> for ProblemSource {
    fn from(keys: Keys) -> Self {
        Self::Described(keys)
    }
}

/// Opens problems. Data sets take seconds to read, so those with a name are kept.
#[derive(Debug, Default)]
pub struct Problems {
    named: BTreeMap<String, Problem>,
}

impl Problems {
    /// The problem; an error if it is a data set that is not on this machine.
    pub fn open(&mut self, source: &ProblemSource) -> Result<Problem> {
        match source {
            ProblemSource::Described(keys) => Problem::from_keys("spec", keys, None),
            ProblemSource::Split { data, holdout, split } => {
                self.open(&ProblemSource::Named(data.clone()))?.resplit(*holdout, *split)
            }
            ProblemSource::Named(name) => match self.named.get(name) {
                Some(problem) => Ok(problem.clone()),
                None => {
                    let problem = gradband_files::named(name)?;
                    self.named.insert(name.clone(), problem.clone());
                    Ok(problem)
                }
            },
        }
    }
}
