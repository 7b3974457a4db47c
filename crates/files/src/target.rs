//! A problem by what the user calls it: a built-in one, a data set, or a spec with what it says beyond the problem.

use crate::datasets::{self, DATASETS};
use crate::io;
use crate::spec::{
    DataFile, EvaluateSpec, PolicySpec, Spec, SpecFile, TrainSpec, Training, default_policy, effective,
};
use crate::spec::{HOLDOUT, INSTANCES};
use gradband::learn::Options;
use gradband::policy::Choice;
use gradband::problem::{Keys, PROBLEMS, Value};
use gradband::{Catalogue, Error, Problem, Result, Step};
use std::path::{MAIN_SEPARATOR, Path};

/// A problem, and what the spec that it came from says about the policy and its training, if it came from one.
///
/// What [`open`] returns.
#[derive(Clone, Debug)]
pub struct Target {
    /// The problem.
    pub problem: Problem,
    /// What the user should know about it, such as which features are constant.
    pub notes: Vec<String>,
    file: Option<SpecFile>,
}

/// The names of all built-in problems, then of the data sets.
pub fn problem_names() -> impl Iterator<Item = &'static str> + Clone {
    PROBLEMS.iter().map(|problem| problem.name).chain(DATASETS.iter().map(|set| set.name))
}

/// The built-in problem or data set of that name.
///
/// Data sets need the feature `datasets`, but for one that is fetched into the cache.
///
/// ```
/// assert_eq!(gradband_files::named("bernoulli-2")?.arms(), 2);
/// #[cfg(feature = "datasets")]
/// assert_eq!(gradband_files::named("iris")?.arm_names().unwrap(), ["0", "1", "2"]);
/// let error = gradband_files::named("irsi").unwrap_err();
/// assert!(error.to_string().contains("did you mean 'iris'?"));
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn named(name: &str) -> Result<Problem> {
    match DATASETS.iter().find(|set| set.name == name) {
        Some(set) => set.problem(&datasets::open(set)?),
        None if PROBLEMS.iter().any(|problem| problem.name == name) => Problem::named(name),
        None => Err(Error::unknown("problem", name, problem_names())),
    }
}

/// Whether [`open`] would take it for the path of a spec rather than a name: there is such a file, or it has a dot or a
/// slash in it.
pub fn is_file(name: &str) -> bool {
    Path::new(name).exists() || name.contains(['.', '/', MAIN_SEPARATOR])
}

/// Opens a problem by what the user calls it: the name of a built-in problem or data set, or the path of a TOML spec.
///
/// ```
/// use gradband::{Catalogue, Trainer};
/// let dir = tempfile::tempdir().unwrap();
/// std::fs::write(dir.path().join("clicks.csv"), "old,new\n0.05,0.07\n0.11,0.09\n0.02,0.04\n0.08,0.08\n").unwrap();
/// let path = dir.path().join("clicks.toml");
/// let spec = r#"
///     [problem]
///     kind = "bernoulli"
///     horizon = 100
///     [problem.prior]
///     kind = "table"
///     path = "clicks.csv"
///     holdout = 0.5
///
///     [policy]
///     kind = "softelim"
///     w = 0.5
/// "#;
/// std::fs::write(&path, spec).unwrap();
///
/// let target = gradband_files::open(path.to_str().unwrap())?;
/// assert_eq!((target.problem.arms(), target.problem.horizon()), (2, 100));
/// let policy = target.policy(&Catalogue::default())?.unwrap();
/// assert_eq!(policy.params(), [0.5]);
/// let tuned = Trainer::new(&policy).iterations(10).train(&target.problem)?;
/// println!("{tuned}");
///
/// assert_eq!(gradband_files::open("bernoulli-10")?.problem.arms(), 10);
/// # Ok::<(), gradband::Error>(())
/// ```
pub fn open(name: &str) -> Result<Target> {
    if !problem_names().any(|known| known == name) && is_file(name) {
        return Target::from_file(Path::new(name));
    }
    Ok(named(name)?.into())
}

/// A problem of which no spec says more.
impl From<Problem> for Target {
    fn from(problem: Problem) -> Self {
        Self { problem, notes: Vec::new(), file: None }
    }
}

impl Target {
    /// Reads the spec at a path, and the table or labelled data that it names. Paths in it are relative to its directory.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = io::read_text(path)?;
        Self::parse(&text, &path.display().to_string(), |named| {
            let table = path.parent().unwrap_or(Path::new("")).join(named);
            let set = DATASETS.iter().find(|set| !table.exists() && set.name == named);
            let (name, bytes, holdout) = match set {
                Some(set) => (set.name.into(), datasets::open(set)?.into_owned(), 0.0),
                None => (table.display().to_string(), io::read(&table)?, HOLDOUT),
            };
            Ok(DataFile { name, reader: Box::new(std::io::Cursor::new(bytes)), holdout })
        })
    }

    /// Reads a spec from text. `name` is what messages call it, `open` opens the file that it names, as [`SpecFile::problem`]
    /// asks for it.
    pub fn parse(text: &str, name: &str, open: impl FnOnce(&str) -> Result<DataFile>) -> Result<Self> {
        let file = SpecFile::parse(text, name)?;
        let (problem, notes) = file.problem(open)?;
        Ok(Self { problem, notes, file: Some(file) })
    }

    /// The same where keys of the problem's world are others.
    pub fn with_keys(&self, changes: &Keys) -> Result<Self> {
        let mut changed = Self { problem: self.problem.with_keys(changes)?, ..self.clone() };
        if let Some(file) = &mut changed.file {
            for name in changes.names() {
                changes.get(name).into_iter().for_each(|value| file.spec.problem.set(name, value.clone()));
            }
        }
        Ok(changed)
    }

    /// The spec with its text, if the problem came from one.
    pub fn file(&self) -> Option<&SpecFile> {
        self.file.as_ref()
    }

    /// The spec, if the problem came from one.
    pub fn spec(&self) -> Option<&Spec> {
        self.file.as_ref().map(|file| &file.spec)
    }

    /// The policy that the spec names, if it names one.
    pub fn policy(&self, catalogue: &Catalogue) -> Result<Option<Choice>> {
        self.file.as_ref().map_or(Ok(None), |file| file.policy(&self.problem, catalogue))
    }

    /// Whether it is a spec that leaves open which policy to train.
    pub fn leaves_open(&self) -> bool {
        self.spec().is_some_and(Spec::leaves_open)
    }

    /// What is said about a training, then what the spec says of it.
    fn merged(&self, said: &TrainSpec) -> TrainSpec {
        match self.spec() {
            Some(spec) => said.clone().over(&spec.train),
            None => said.clone(),
        }
    }

    /// What a choice of the policy to train goes by, and after how many seconds it ends. Errors name keys as those of
    /// [`Self::training`] do.
    pub fn choosing(&self, said: &TrainSpec) -> Result<(Options, Option<f64>)> {
        let merged = self.merged(said);
        let options = merged.options().map_err(|error| self.blame(error, said))?;
        Ok((options, merged.time_limit))
    }

    /// The name of the policy that is trained if nobody names one.
    pub fn default_policy(&self) -> &'static str {
        default_policy(&self.problem)
    }

    /// Everything that a training of a policy will do: what is `said`, then what the spec says, then the defaults. Errors
    /// name the key, or file, line and key where the spec is to blame.
    pub fn training(&self, said: &TrainSpec, choice: &Choice) -> Result<Training> {
        let mut merged = self.merged(said);
        merged.eval_instances =
            merged.eval_instances.or(self.spec().and_then(|spec| spec.evaluate.instances));
        merged.resolve(&self.problem, choice).map_err(|error| self.blame(error, said))
    }

    fn blame(&self, error: Error, said: &TrainSpec) -> Error {
        match (&self.file, error.place().steps()) {
            (Some(file), [Step::Key(key), ..]) if !said.has(key) && file.spec.train.has(key) => {
                file.blame(error.within("train"))
            }
            _ => error,
        }
    }

    /// The number of instances of an evaluation: what is `said`, then what the spec says, then the default.
    pub fn instances(&self, said: Option<usize>) -> Result<usize> {
        let count = said.or(self.spec().and_then(|spec| spec.evaluate.instances)).unwrap_or(INSTANCES);
        gradband::measure::check_instances("instances", count).map(|()| count)
    }

    /// What a spec says of the problem, defaults included.
    pub fn problem_keys(&self) -> Keys {
        match self.spec() {
            Some(spec) => effective(&spec.problem, &self.problem),
            None => problem_keys(&self.problem),
        }
    }

    /// The spec that asks for a training in full, defaults included: with it the training can be repeated.
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
