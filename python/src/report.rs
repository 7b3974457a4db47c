//! Reports of trainings and comparisons: a page, or the part of it that a notebook shows.

use crate::error::Result;
use gradband::Error;
use gradband_lab::session::{self, Session};
use gradband_report::{Block, Figure};
use pyo3::prelude::*;

fn read(text: &str) -> gradband::Result<Session> {
    serde_json::from_str(text).map_err(|error| Error::new("session", error.to_string()))
}

/// The page.
#[pyfunction]
fn page(text: &str) -> Result<String> {
    Ok(session::page(&[read(text)?]).html())
}

/// Its figures as SVG, by their names.
#[pyfunction]
fn figures(text: &str) -> Result<Vec<(String, String)>> {
    let page = session::page(&[read(text)?]);
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    let figures = blocks.filter_map(|block| match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    });
    let drawn = |figure: &Figure| (figure.id.clone(), figure.svg());
    Ok(figures.map(drawn).collect())
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(figures, module)?)
}
