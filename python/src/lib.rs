//! The native part of the Python package: `gradband._lib`. What users see is in `python/gradband`.

mod agent;
mod convert;
mod crew;
mod episodes;
mod error;
mod jobs;
mod policy;
mod pool;
mod problem;
mod report;
mod rule;
mod run;
mod sampled;
mod train;

use pyo3::prelude::*;

#[pymodule]
fn _lib(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // Gittins tables are kept where the command keeps them. That one cannot be is no reason to speak.
    gradband_files::cache::install(None, |_| ());
    // Each part adds its own classes and functions.
    agent::add(module)?;
    crew::add(module)?;
    episodes::add(module)?;
    rule::add(module)?;
    error::add(module)?;
    problem::add(module)?;
    policy::add(module)?;
    jobs::add(module)?;
    train::add(module)?;
    report::add(module)
}
