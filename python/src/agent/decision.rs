//! `gb.Decision`: nothing of it becomes an object of Python before somebody looks at it.

use gradband::Decision;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Which arm, with which probability.
#[pyclass(frozen, eq, name = "Decision", module = "gradband")]
#[derive(Clone, Debug, PartialEq)]
pub struct PyDecision {
    /// By which its reward is reported.
    #[pyo3(get)]
    id: String,
    arm: Arc<str>,
    /// The number of the arm among those of the agent.
    #[pyo3(get)]
    index: usize,
    /// The exact probability with which it was drawn.
    #[pyo3(get)]
    probability: f64,
    /// How many decisions came before.
    #[pyo3(get)]
    round: u64,
    version: Arc<str>,
    /// When its window closes, if there is one.
    #[pyo3(get)]
    until: Option<f64>,
}

impl From<Decision> for PyDecision {
    fn from(decision: Decision) -> Self {
        let Decision { id, arm, index, probability, round, version, until, .. } = decision;
        Self { id, arm, index, probability, round, version, until }
    }
}

type Parts<'a> = (&'a str, &'a str, usize, f64, u64, &'a str, Option<f64>);

#[pymethods]
impl PyDecision {
    #[new]
    #[pyo3(signature = (id, arm, index, probability, round, version, until=None))]
    fn new(
        id: String,
        arm: &str,
        index: usize,
        probability: f64,
        round: u64,
        version: &str,
        until: Option<f64>,
    ) -> Self {
        Self { id, arm: arm.into(), index, probability, round, version: version.into(), until }
    }

    /// The name of the arm.
    #[getter]
    fn arm(&self) -> &str {
        &self.arm
    }

    /// The version of the policy.
    #[getter]
    fn version(&self) -> &str {
        &self.version
    }

    /// Its parts by name: what `gradband play` answers.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("id", &self.id)?;
        dict.set_item("arm", &*self.arm)?;
        dict.set_item("index", self.index)?;
        dict.set_item("probability", self.probability)?;
        dict.set_item("round", self.round)?;
        dict.set_item("version", &*self.version)?;
        if let Some(until) = self.until {
            dict.set_item("until", until)?;
        }
        Ok(dict)
    }

    fn __getnewargs__(&self) -> Parts<'_> {
        (&self.id, &self.arm, self.index, self.probability, self.round, &self.version, self.until)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.id.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let Self { id, arm, probability, .. } = self;
        format!("Decision(id={id:?}, arm={arm:?}, probability={probability:.4})")
    }
}
