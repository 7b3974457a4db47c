//! Problems for Python: what was asked for, and enough of it to ask again elsewhere.

use crate::convert::{self, SPEC};
use crate::error::Result;
use crate::sampled::{Sampler, Slot};
use gradband::problem::{Keys, ProblemBuilder, Value};
use gradband::{Error, Place, Prior};
use gradband_files::spec::{DataFile, HOLDOUT};
use gradband_files::{DATASETS, Target, datasets, io, is_file, problem_names};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::cell::RefCell;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// A problem and where it came from. `gradband.Problem` has one.
#[pyclass(frozen, module = "gradband._lib")]
pub struct Problem {
    /// The problem, with what its spec says beyond it.
    pub target: Target,
    /// Where the user's sampler leaves its exception, if there is one.
    pub slot: Option<Arc<Slot>>,
    source: Source,
}

/// What a problem is made from.
#[derive(Clone)]
enum Source {
    Named,
    /// Text, what messages call it, and the file that it names.
    Spec(String, String, Option<Held>),
    Sampled,
}

/// The content of a file that a spec names.
#[derive(Clone)]
struct Held {
    name: String,
    bytes: Vec<u8>,
    holdout: f64,
}

impl Held {
    /// The file beside the spec, or the data set.
    fn read(path: &Path, named: &str) -> gradband::Result<Self> {
        let beside = path.parent().unwrap_or(Path::new("")).join(named);
        Ok(match DATASETS.iter().find(|set| !beside.exists() && set.name == named) {
            Some(set) => {
                Self { name: set.name.into(), bytes: datasets::open(set)?.into_owned(), holdout: 0.0 }
            }
            None => Self { name: beside.display().to_string(), bytes: io::read(&beside)?, holdout: HOLDOUT },
        })
    }

    /// The rows of both, which must have the same header.
    fn joined(&self, other: &Self) -> gradband::Result<Vec<u8>> {
        let split = |held: &Self| {
            let end = held.bytes.iter().position(|&byte| byte == b'\n').unwrap_or(held.bytes.len());
            let (header, rows) = held.bytes.split_at(end);
            (header.trim_ascii().to_vec(), rows.trim_ascii().to_vec())
        };
        let ((header, rows), (theirs, more)) = (split(self), split(other));
        let packed = [&self.bytes, &other.bytes].iter().any(|bytes| bytes.starts_with(&[0x1f, 0x8b]));
        if header != theirs || packed {
            let message = "joins tables with the same columns, which are not compressed";
            return Err(Error::new("|", message));
        }
        Ok([&header[..], &rows[..], &more[..], b""].join(&b'\n'))
    }

    fn open(&self) -> DataFile {
        let reader = Box::new(Cursor::new(self.bytes.clone()));
        DataFile { name: self.name.clone(), reader, holdout: self.holdout }
    }
}

impl Problem {
    fn parse(
        text: &str,
        name: &str,
        held: impl FnOnce(&str) -> gradband::Result<Held>,
    ) -> gradband::Result<Self> {
        let kept = RefCell::new(None);
        let target = Target::parse(text, name, |named| {
            let held = held(named)?;
            let file = held.open();
            kept.replace(Some(held));
            Ok(file)
        })?;
        Ok(Self { target, slot: None, source: Source::Spec(text.into(), name.into(), kept.into_inner()) })
    }

    /// The spec's text and name and the table, if it is made of one.
    fn table(&self) -> Option<(&str, &str, &Held)> {
        match &self.source {
            Source::Spec(text, name, Some(held)) if self.target.problem.armed().is_some() => {
                Some((text, name, held))
            }
            _ => None,
        }
    }

    fn like(&self, target: Target) -> Self {
        Self { target, slot: self.slot.clone(), source: self.source.clone() }
    }
}

#[pymethods]
impl Problem {
    /// A built-in problem or data set by its name, or the spec at a path.
    #[staticmethod]
    fn open(name: &str) -> Result<Self> {
        if !problem_names().any(|known| known == name) && is_file(name) {
            let path = Path::new(name);
            let text = io::read_text(path)?;
            return Ok(Self::parse(&text, name, |named| Held::read(path, named))?);
        }
        let unknown = |error: Error| Error::new("problem", format!("{}; nor is it a file", error.kind()));
        let problem = gradband_files::named(name).map_err(|error| match error.kind() {
            gradband::ErrorKind::Unknown { .. } => unknown(error),
            _ => error,
        })?;
        Ok(Self { target: problem.into(), slot: None, source: Source::Named })
    }

    /// A spec as a dict. `data` is the content of the file that it names and `called` what messages call that, if it is
    /// not to be read.
    #[staticmethod]
    #[pyo3(signature = (spec, data=None, called="data"))]
    fn spec(spec: &Bound<PyDict>, data: Option<Vec<u8>>, called: &str) -> Result<Self> {
        let keys = convert::keys(&Place::default(), spec)?;
        let text = toml::to_string(&keys)
            .map_err(|error| Error::new("", format!("cannot be written as TOML: {error}")))?;
        let held = |named: &str| match data {
            Some(bytes) => Ok(Held { name: called.into(), bytes, holdout: HOLDOUT }),
            None => Held::read(Path::new(""), named),
        };
        Ok(Self::parse(&text, SPEC, held)?)
    }

    /// Instances that a function draws from a seed.
    #[staticmethod]
    #[pyo3(signature = (draw, arms, horizon, kind, noise_sd=None))]
    fn sampled(
        draw: Py<PyAny>,
        arms: usize,
        horizon: usize,
        kind: &str,
        noise_sd: Option<f64>,
    ) -> Result<Self> {
        let sampler = Sampler::new(draw, arms);
        let slot = sampler.slot.clone();
        let prior = Prior::own(sampler);
        let builder: ProblemBuilder = match (kind, noise_sd) {
            ("bernoulli", None) => gradband::Problem::bernoulli(prior),
            ("gaussian", Some(noise_sd)) => gradband::Problem::gaussian(prior, noise_sd),
            ("gaussian", None) => {
                let why = "gaussian rewards need a standard deviation".into();
                return Err(Error::of("noise_sd", gradband::ErrorKind::Missing(why)).into());
            }
            ("bernoulli", Some(_)) => {
                return Err(Error::new("noise_sd", "goes with kind = 'gaussian' alone").into());
            }
            _ => return Err(Error::unknown("kind", kind, ["bernoulli", "gaussian"]).into()),
        };
        let built = builder.horizon(horizon).name("sampled").build();
        if let Some(error) = slot.take() {
            return Err(error.into());
        }
        Ok(Self { target: built?.into(), slot: Some(slot), source: Source::Sampled })
    }

    /// The same where these keys of its world are others.
    fn replace(&self, changes: &Bound<PyDict>) -> Result<Self> {
        let changes = convert::keys(&Place::default(), changes)?;
        Ok(self.like(self.target.with_keys(&changes)?))
    }

    /// The rows of two tables with the same header, together.
    fn union(&self, other: &Bound<Self>) -> Result<Self> {
        let (Some((text, name, held)), Some((.., added))) = (self.table(), other.get().table()) else {
            return Err(Error::new("|", "joins tables of past problems, and one of these is none").into());
        };
        if self.target.problem.kind() != other.get().target.problem.kind() {
            return Err(Error::new("|", "joins tables of one kind of rewards").into());
        }
        let bytes = held.joined(added)?;
        let held = Held { bytes, ..held.clone() };
        let joined = Self::parse(text, name, |_| Ok(held))?;
        Ok(joined.like(joined.target.with_keys(&world(&self.target.problem_keys()))?))
    }

    /// What another process needs to have it too: the name, or spec, what it is called, and its file.
    #[allow(clippy::type_complexity)]
    fn state<'py>(
        &self,
        py: Python<'py>,
    ) -> (String, Option<(String, Option<(String, Bound<'py, PyBytes>, f64)>)>) {
        match &self.source {
            Source::Spec(text, name, held) => {
                let held = held
                    .as_ref()
                    .map(|held| (held.name.clone(), PyBytes::new(py, &held.bytes), held.holdout));
                (name.clone(), Some((text.clone(), held)))
            }
            Source::Named | Source::Sampled => (self.target.problem.name().into(), None),
        }
    }

    /// The problem of a state that is a spec.
    #[staticmethod]
    #[pyo3(signature = (text, name, held=None))]
    fn restore(text: &str, name: &str, held: Option<(String, Vec<u8>, f64)>) -> Result<Self> {
        let held = |named: &str| match held {
            Some((name, bytes, holdout)) => Ok(Held { name, bytes, holdout }),
            None => Err(Error::new(Place::file(named), "is not part of what was stored")),
        };
        Ok(Self::parse(text, name, held)?)
    }

    /// All that it says, as JSON, and its data: equal if and only if problems are.
    fn content<'py>(&self, py: Python<'py>) -> Result<(String, Bound<'py, PyBytes>)> {
        let mut problem = self.target.problem_keys();
        let data = match &self.source {
            Source::Spec(_, _, Some(held)) => &held.bytes[..],
            _ => &[],
        };
        // What a file is called is not what it says.
        if !data.is_empty() {
            if let Some(Value::Table(prior)) = problem.get_mut("prior") {
                prior.set("path", "");
            } else {
                problem.set("data", "");
            }
        }
        let spec = self.target.spec().map(|spec| (&spec.policy, &spec.train, &spec.evaluate));
        let text = serde_json::to_string(&(problem, spec));
        let text = text.map_err(|error| Error::new("", error.to_string()))?;
        Ok((text, PyBytes::new(py, data)))
    }

    /// What it means, in sentences.
    fn meaning(&self) -> Vec<String> {
        gradband_jobs::check::words(&self.target.problem)
    }

    /// What the user should know about it.
    fn notes(&self) -> Vec<String> {
        self.target.notes.clone()
    }

    fn __repr__(&self) -> String {
        self.target.problem.to_string()
    }

    #[getter]
    fn name(&self) -> &str {
        self.target.problem.name()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.target.problem.kind()
    }

    #[getter]
    fn arms(&self) -> usize {
        self.target.problem.arms()
    }

    #[getter]
    fn horizon(&self) -> usize {
        self.target.problem.horizon()
    }

    #[getter]
    fn arm_names(&self) -> Option<Vec<String>> {
        self.target.problem.arm_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn context_dim(&self) -> Option<usize> {
        self.target.problem.contextual().map(gradband::problem::Contextual::dim)
    }

    /// The whole spec as JSON, defaults included, as far as it concerns the problem.
    fn keys(&self) -> Result<String> {
        let keys: Keys = self.target.problem_keys();
        Ok(serde_json::to_string(&keys).map_err(|error| Error::new("", error.to_string()))?)
    }

    /// Does the spec name a policy?
    fn names_policy(&self) -> bool {
        self.target.spec().is_some_and(|spec| !spec.leaves_open())
    }
}

/// The keys of its world.
fn world(keys: &Keys) -> Keys {
    let known = ["horizon", "delay", "batch", "floor"].into_iter();
    known
        .filter_map(|key| Some((key, keys.get(key)?.clone())))
        .fold(Keys::default(), |all, (key, value)| all.with(key, value))
}

/// The names of built-in problems and data sets.
#[pyfunction]
fn problems() -> Vec<&'static str> {
    problem_names().collect()
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Problem>()?;
    module.add_function(wrap_pyfunction!(problems, module)?)
}
