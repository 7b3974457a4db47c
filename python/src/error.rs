//! Errors of the library as `gb.Error` and its kinds, which are classes of Python: `gradband/error.py`.

use crate::convert;
use gradband::ErrorKind;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An error on its way to Python. `?` turns those of the library and of Python into what a function of the module returns.
pub struct Failure(PyErr);

/// What functions of the module return.
pub type Result<T> = std::result::Result<T, Failure>;

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<gradband::Error> for Failure {
    fn from(error: gradband::Error) -> Self {
        Self(raise(&error))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

/// The exception that says what an error of the library says.
pub fn raise(error: &gradband::Error) -> PyErr {
    // What the user's own code raised is raised again.
    if let ErrorKind::Outside(outside) = error.kind()
        && let Some(raised) = outside.get().downcast_ref::<PyErr>()
    {
        return Python::attach(|py| raised.clone_ref(py));
    }
    let name = match error.kind() {
        ErrorKind::UnknownDecision { .. } => "UnknownDecision",
        ErrorKind::Conflict { .. } => "Conflict",
        _ => "Error",
    };
    let (message, place) = (error.kind().to_string(), convert::place(error.place()).to_string());
    Python::attach(|py| match class(py, name) {
        Ok(class) => PyErr::from_type(class, (message, place)),
        Err(error) => error,
    })
}

/// A class of `gradband.error`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("gradband.error").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(name)?.cast_into::<PyType>()?)
}

/// Raises what a message at a place raises: for tests of the classes.
#[pyfunction]
fn fail(message: &str, place: &str) -> Result<()> {
    Err(gradband::Error::new(place, message).into())
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(fail, module)?)
}
