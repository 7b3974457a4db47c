//! Policies for Python: the content of a policy file.

use crate::error::Result;
use crate::problem::Problem;
use crate::rule::{self, Rule};
use gradband::agent::Playable;
use gradband::policy::Learns;
use gradband::{Error, Place};
use gradband_files::{FORMAT, POLICY_FILE, PolicyFile, WEIGHTS_FILE, io};
use gradband_jobs::policies::Named;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A policy with its parameters, and what it was trained for. `gradband.Policy` has one.
#[pyclass(frozen, module = "gradband._lib")]
pub struct Policy {
    /// What a file would hold, parameters of networks included.
    pub file: PolicyFile,
    version: String,
}

impl Policy {
    pub fn new(mut file: PolicyFile) -> gradband::Result<Self> {
        let catalogue = rule::catalogue();
        // What networks learned goes into a file of its own, also if it came as JSON, in the numbers that they play with.
        if catalogue.kind(&file.policy.kind)?.learns() != Learns::Score {
            file.policy.weights = Some(WEIGHTS_FILE.into());
            file.policy.params.iter_mut().for_each(|x| *x = f64::from(*x as f32));
        }
        let playable = Playable::from_records(file.policy.clone(), file.problem.clone(), &catalogue)?;
        Ok(Self { version: playable.version().into(), file })
    }
}

/// The policy that an argument stands for, on a problem: its name, or one that was trained or loaded.
pub fn named(argument: &Bound<PyAny>, problem: &Problem, key: &str) -> Result<Named> {
    if let Ok(text) = argument.extract::<String>() {
        return Ok(Named::Text(text));
    }
    if let Ok(rule) = argument.cast::<Rule>() {
        return Ok(Named::Choice(rule.get().policy.on(&problem.target.problem)?));
    }
    let Ok(policy) = argument.cast::<Policy>() else {
        let found = argument.get_type().name()?.to_string();
        let message =
            format!("found {found}, expected a name such as 'softelim(w=0.5)' or a gradband.Policy");
        return Err(Error::new(Place::key(key), message).into());
    };
    let choice = policy.get().file.choose(&problem.target.problem, &rule::catalogue());
    Ok(Named::Choice(choice.map_err(|error| error.within(Place::key(key)))?))
}

#[pymethods]
impl Policy {
    /// The policy in a directory, or in the file at a path.
    #[staticmethod]
    fn load(path: PathBuf) -> Result<Self> {
        let path = if path.is_dir() { path.join(POLICY_FILE) } else { path };
        let place = || Place::file(path.display().to_string());
        let file = PolicyFile::load(&path)?;
        Ok(Self::new(file).map_err(|error| error.within(place()))?)
    }

    /// The policy that JSON text describes, parameters of networks included.
    #[staticmethod]
    fn parse(text: &str) -> Result<Self> {
        let wrong =
            |error: serde_json::Error| Error::new("policy", format!("not what was expected: {error}"));
        let file: PolicyFile = serde_json::from_str(text).map_err(wrong)?;
        if file.gradband != FORMAT {
            let message = format!("found format {}, this version reads {FORMAT}", file.gradband);
            return Err(Error::new("gradband", message).into());
        }
        Ok(Self::new(file)?)
    }

    /// A policy by its name on a problem, with the parameters that the name gives.
    #[staticmethod]
    fn named(text: &str, problem: &Problem) -> Result<Self> {
        let problem = &problem.target.problem;
        let asked = gradband_jobs::policies::parse(text, problem, "policy")?;
        Ok(Self::new(PolicyFile::new(&asked.choice, problem)?)?)
    }

    /// A rule of the user's own on a problem, with the parameters that it starts from.
    #[staticmethod]
    fn ruled(rule: &Bound<Rule>, problem: &Bound<Problem>) -> Result<Self> {
        let problem = &problem.get().target.problem;
        Ok(Self::new(PolicyFile::new(&rule.get().policy.on(problem)?, problem)?)?)
    }

    /// All of it as JSON; what networks learned is in it, too.
    fn json(&self) -> Result<String> {
        let mut file = self.file.clone();
        file.policy.weights = None;
        Ok(serde_json::to_string(&file).map_err(|error| Error::new("policy", error.to_string()))?)
    }

    /// Writes policy.json, and the weights of a network beside it, into a directory.
    fn save(&self, dir: PathBuf) -> Result<()> {
        let written = io::create_dir(&dir).and_then(|()| self.file.save(&dir));
        let place = || Place::file(dir.display().to_string());
        Ok(written.map_err(|error| Error::new(place(), format!("cannot be written: {error}")))?)
    }

    #[getter]
    fn kind(&self) -> &str {
        &self.file.policy.kind
    }

    /// Names, shapes and all numbers.
    #[allow(clippy::type_complexity)]
    fn params(&self) -> (Vec<String>, Vec<Vec<usize>>, Vec<f64>) {
        let record = &self.file.policy;
        (record.names.clone(), record.shape.clone(), record.params.clone())
    }

    #[getter]
    fn version(&self) -> &str {
        &self.version
    }
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Policy>()
}
