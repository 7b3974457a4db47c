//! `workers=`: simulations that the user's own pool of processes or machines does.

use crate::error::Result;
use crate::pool;
use crate::problem::Problem;
use gradband::measure;
use gradband::{Catalogue, Crew, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The pool as the library asks it: an object of `gradband/workers.py`.
pub struct Hired {
    hands: usize,
    crew: Py<PyAny>,
}

impl Hired {
    pub fn new(crew: &Bound<PyAny>) -> PyResult<Self> {
        Ok(Self { hands: crew.getattr("hands")?.extract()?, crew: crew.clone().unbind() })
    }
}

impl Crew for Hired {
    fn hands(&self) -> usize {
        self.hands
    }

    fn play(&self, tasks: Vec<Vec<u8>>) -> gradband::Result<Vec<Vec<u8>>> {
        Python::attach(|py| {
            let tasks = PyList::new(py, tasks.iter().map(|task| PyBytes::new(py, task)))?;
            self.crew.call_method1(py, "play", (tasks,))?.extract(py)
        })
        .map_err(|error: PyErr| Error::outside("workers", error))
    }
}

/// The other side: has a problem, and does tasks on one thread.
#[pyclass(frozen, module = "gradband._lib")]
struct Worker(measure::Worker);

#[pymethods]
impl Worker {
    #[new]
    fn new(problem: &Bound<Problem>) -> Self {
        Self(measure::Worker::new(problem.get().target.problem.clone(), Catalogue::default()))
    }

    fn work<'py>(&self, py: Python<'py>, task: &[u8]) -> Result<Bound<'py, PyBytes>> {
        let pool = pool::of(Some(1))?;
        let answer = py.detach(|| pool.install(|| self.0.work(task)))?;
        Ok(PyBytes::new(py, &answer))
    }
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Worker>()
}
