//! What a command is about: a problem, and what its spec and the flags say together. A flag wins.

use crate::args::PolicyFlags;
use crate::policies::{self, Named, as_flag};
use crate::{datasets, files, output};
use gradband::problem::DATASETS;
use gradband::registry::{Choice, PolicyInfo};
use gradband::spec::{
    DataFile, EvaluateSpec, PolicySpec, ProblemSpec, Spec, SpecFile, TrainSpec, Training, defaults,
};
use gradband::{Error, Problem, Result};
use std::path::{MAIN_SEPARATOR, Path};

/// If no policy is named, the problem's default will do.
pub struct Fallback;

/// A problem and the spec it came from, if any.
pub struct Target {
    pub problem: Problem,
    file: Option<SpecFile>,
}

impl Target {
    /// The built-in problem of that name, or the spec at that path.
    pub fn load(name: &str) -> Result<Self> {
        if let Some(set) = DATASETS.iter().find(|set| set.name == name) {
            let problem = Problem::of_dataset(set, &datasets::open(name)?)?;
            return Ok(Self { problem, file: None });
        }
        let unknown = match Problem::named(name) {
            Ok(problem) => return Ok(Self { problem, file: None }),
            Err(unknown) => unknown,
        };
        let path = Path::new(name);
        if path.exists() || name.contains(['.', '/', MAIN_SEPARATOR]) {
            return Self::from_file(path);
        }
        Err(Error::new(unknown.place, format!("{}; nor is it a file", unknown.message)))
    }

    /// The spec at that path.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        let file = SpecFile::parse(&text, &path.display().to_string())?;
        let (problem, notes) = file.problem(|named| {
            let table = path.parent().unwrap_or(Path::new("")).join(named);
            let is_set = !table.exists() && DATASETS.iter().any(|set| set.name == named);
            let bytes = if is_set { datasets::open(named)? } else { files::read(&table)?.into() };
            let name = if is_set { named.into() } else { table.display().to_string() };
            Ok(DataFile { name, reader: Box::new(std::io::Cursor::new(bytes)) })
        })?;
        for note in notes {
            output::note(&format!("note: {note}"));
        }
        Ok(Self { problem, file: Some(file) })
    }

    /// The spec, if there is one.
    pub fn spec(&self) -> Option<&Spec> {
        self.file.as_ref().map(|file| &file.spec)
    }

    /// The policy of the flags, else that of the spec, else the default if that will do.
    pub fn policy(&self, flags: &PolicyFlags, fallback: Option<Fallback>) -> Result<Named> {
        let named = match (&flags.policy, self.spec_policy()?, fallback) {
            (Some(text), ..) => policies::parse(text, &self.problem, "--policy")?,
            (None, Some(choice), _) => Named::in_full(choice),
            (None, None, Some(Fallback)) => {
                policies::parse(defaults::policy(&self.problem), &self.problem, "--policy")?
            }
            (None, None, None) => {
                let message = "is missing; give a policy (see gradband list policies), or a --policy-file";
                return Err(Error::new("--policy", message));
            }
        };
        match &flags.params {
            None => Ok(named),
            Some(text) => policies::with_params(&named.choice, &self.problem, text).map(Named::in_full),
        }
    }

    /// The policy of the spec.
    pub fn spec_policy(&self) -> Result<Option<Choice>> {
        self.file.as_ref().map_or(Ok(None), |file| file.policy(&self.problem))
    }

    /// How to train: the flags, then the spec, then the defaults.
    pub fn training(&self, flags: &TrainSpec, info: &PolicyInfo) -> Result<Training> {
        let mut merged = match self.spec() {
            Some(spec) => flags.clone().over(&spec.train),
            None => flags.clone(),
        };
        merged.eval_instances =
            merged.eval_instances.or(self.spec().and_then(|spec| spec.evaluate.instances));
        merged.resolve_for(&self.problem, info).map_err(|error| self.blame(error, flags))
    }

    /// Refuses policies that training cannot start from.
    pub fn check_start(&self, choice: &Choice, flags: &PolicyFlags) -> Result<()> {
        let from_spec = flags.policy.is_none() && flags.params.is_none();
        gradband::train::check_start(&self.problem, choice).map_err(|error| match &self.file {
            Some(file) if from_spec && file.spec.policy.is_some() => {
                file.blame(Error::new("policy", format!("{}: {}", error.place, error.message)))
            }
            _ => as_flag(error),
        })
    }

    /// Names the flag, or the line of the spec, that is to blame.
    fn blame(&self, error: Error, flags: &TrainSpec) -> Error {
        let key = error.place.replace('-', "_");
        match &self.file {
            Some(file) if !flags.has(&key) && file.spec.train.has(&key) => {
                file.blame(Error::new(format!("train.{key}"), error.message))
            }
            _ => as_flag(error),
        }
    }

    /// Instances of an evaluation.
    pub fn instances(&self, flag: Option<usize>) -> Result<usize> {
        let count = flag.or(self.spec().and_then(|spec| spec.evaluate.instances));
        let count = count.unwrap_or(defaults::INSTANCES);
        defaults::check_instances("--instances", count).map(|()| count)
    }

    /// The problem as a spec, defaults included.
    pub fn problem_spec(&self) -> ProblemSpec {
        self.spec().map_or_else(|| ProblemSpec::of(&self.problem), |spec| spec.problem.effective())
    }

    /// Everything that a training was asked for, defaults included.
    pub fn effective(&self, choice: &Choice, training: &Training) -> Spec {
        Spec {
            problem: self.problem_spec(),
            policy: Some(PolicySpec::of(choice)),
            train: training.spec.clone(),
            evaluate: EvaluateSpec { instances: Some(training.eval_instances) },
        }
    }
}
