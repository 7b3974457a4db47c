//! The native part of the Python package: `gradband._lib`. What users see is in `python/gradband`.

mod agent;
mod error;

use pyo3::prelude::*;

#[pymodule]
fn _lib(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // Each part adds its own classes and functions.
    error::add(module)?;
    agent::add(module)
}
