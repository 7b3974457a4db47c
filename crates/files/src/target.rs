//! A problem by what the user calls it: a built-in one, a data set, or a spec with what it says beyond the problem.

use crate::datasets::{self, DATASETS};
use crate::spec::{
    DataFile, EvaluateSpec, PolicySpec, Spec, SpecFile, TrainSpec, Training, default_policy, effective,
};
use crate::{io, spec::INSTANCES};
use gradband::policy::Choice;
use gradband::problem::{Keys, PROBLEMS, Value};
use gradband::{Catalogue, Error, Problem, Result};
use std::path::{MAIN_SEPARATOR, Path};

/// A problem and the spec it came from, if any.
#[derive(Clone, Debug)]
pub struct Target {
    /// The problem.
    pub problem: Problem,
    /// Remarks about it, such as features that are constant.
    pub notes: Vec<String>,
    file: Option<SpecFile>,
}

/// All problems that have a name: the library's, then the data sets.
pub fn problem_names() -> impl Iterator<Item = &'static str> + Clone {
    PROBLEMS.iter().map(|problem| problem.name).chain(DATASETS.iter().map(|set| set.name))
}

/// The built-in problem or data set of that name.
pub fn named(name: &str) -> Result<Problem> {
    match DATASETS.iter().find(|set| set.name == name) {
        Some(set) => set.problem(&datasets::open(set)?),
        None if PROBLEMS.iter().any(|problem| problem.name == name) => Problem::named(name),
        None => Err(Error::unknown("problem", name, problem_names())),
    }
}

/// Does it look like the path of a file rather than a name?
pub fn is_file(name: &str) -> bool {
    Path::new(name).exists() || name.contains(['.', '/', MAIN_SEPARATOR])
}

/// The built-in problem or data set of that name, or the spec at that path.
pub fn open(name: &str) -> Result<Target> {
    if !problem_names().any(|known| known == name) && is_file(name) {
        return Target::from_file(Path::new(name));
    }
    Ok(Target { problem: named(name)?, notes: Vec::new(), file: None })
}

impl Target {
    /// The spec at that path.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = io::read_text(path)?;
        let file = SpecFile::parse(&text, &path.display().to_string())?;
        let (problem, notes) = file.problem(|named| {
            let table = path.parent().unwrap_or(Path::new("")).join(named);
            let set = DATASETS.iter().find(|set| !table.exists() && set.name == named);
            let (name, bytes) = match set {
                Some(set) => (set.name.into(), datasets::open(set)?.into_owned()),
                None => (table.display().to_string(), io::read(&table)?),
            };
            Ok(DataFile { name, reader: Box::new(std::io::Cursor::new(bytes)) })
        })?;
        Ok(Self { problem, notes, file: Some(file) })
    }

    /// The spec file, if there is one.
    pub fn file(&self) -> Option<&SpecFile> {
        self.file.as_ref()
    }

    /// The spec, if there is one.
    pub fn spec(&self) -> Option<&Spec> {
        self.file.as_ref().map(|file| &file.spec)
    }

    /// The policy of the spec, if it names one.
    pub fn policy(&self, catalogue: &Catalogue) -> Result<Option<Choice>> {
        self.file.as_ref().map_or(Ok(None), |file| file.policy(&self.problem, catalogue))
    }

    /// The policy that is trained if nobody names one.
    pub fn default_policy(&self) -> &'static str {
        default_policy(&self.problem)
    }

    /// How to train: what is said, then the spec, then the defaults. Errors name the key, or file, line and key where
    /// the spec is to blame.
    pub fn training(&self, said: &TrainSpec, choice: &Choice) -> Result<Training> {
        let mut merged = match self.spec() {
            Some(spec) => said.clone().over(&spec.train),
            None => said.clone(),
        };
        merged.eval_instances =
            merged.eval_instances.or(self.spec().and_then(|spec| spec.evaluate.instances));
        merged.resolve(&self.problem, choice).map_err(|error| self.blame(error, said))
    }

    fn blame(&self, error: Error, said: &TrainSpec) -> Error {
        let key = error.place().to_string();
        match &self.file {
            Some(file) if !said.has(&key) && file.spec.train.has(&key) => file.blame(error.within("train")),
            _ => error,
        }
    }

    /// Instances of an evaluation: what is said, then the spec, then the default.
    pub fn instances(&self, said: Option<usize>) -> Result<usize> {
        let count = said.or(self.spec().and_then(|spec| spec.evaluate.instances)).unwrap_or(INSTANCES);
        gradband::measure::check_instances("instances", count).map(|()| count)
    }

    /// The problem as a spec, defaults included.
    pub fn problem_keys(&self) -> Keys {
        match self.spec() {
            Some(spec) => effective(&spec.problem),
            None => problem_keys(&self.problem),
        }
    }

    /// Everything that a training was asked for, defaults included.
    pub fn effective(&self, choice: &Choice, training: &Training) -> Spec {
        Spec {
            problem: self.problem_keys(),
            policy: Some(PolicySpec::of(choice)),
            train: training.spec.clone(),
            evaluate: EvaluateSpec { instances: Some(training.eval_instances) },
        }
    }
}

/// What a spec would say of a problem with a name; of a data set, its name and scale.
pub(crate) fn problem_keys(problem: &Problem) -> Keys {
    let mut keys = problem.to_keys();
    if let Some(set) = DATASETS.iter().find(|set| set.name == problem.name()) {
        keys.set("data", set.name);
        keys.set("scale", Value::from(set.scale.name()));
    }
    keys
}
