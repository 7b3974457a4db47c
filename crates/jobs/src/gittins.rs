//! `gradband gittins`: the finite-horizon index table of a Beta(1, 1) arm.

use crate::{Client, Work};
use gradband::exact::{GittinsTable, MAX_GITTINS_HORIZON, gittins_table};
use gradband::{Error, Result};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What is answered, beside the table.
#[derive(Clone, Debug, Serialize)]
pub struct Document<'a> {
    /// Rounds of a run.
    pub horizon: usize,
    /// Indices in the table.
    pub entries: usize,
    /// The index before the first pull.
    pub start: f32,
    /// How long it took.
    pub seconds: f64,
    /// Where all indices are.
    pub output: Option<&'a Path>,
}

/// Refuses a horizon whose table is too large.
pub fn check_horizon(horizon: usize) -> Result<usize> {
    if (1..=MAX_GITTINS_HORIZON).contains(&horizon) {
        return Ok(horizon);
    }
    let message = format!(
        "found {horizon}, expected 1 to {MAX_GITTINS_HORIZON}: {:.1e} indices would take {:.1} GB",
        (horizon as f64).powi(3) / 6.0,
        (horizon as f64).powi(3) / 1.5e9
    );
    Err(Error::new("horizon", message))
}

/// Works out the table of a horizon that was checked.
pub fn run(horizon: usize, client: &dyn Client) -> Result<(Document<'static>, Arc<GittinsTable>)> {
    let start = Instant::now();
    let table = gittins_table(horizon, &mut *client.watch(&Work::Measuring))?;
    let document = Document {
        horizon,
        entries: GittinsTable::entries(horizon),
        start: table.index(0, 0, horizon as u32),
        seconds: start.elapsed().as_secs_f64(),
        output: None,
    };
    Ok((document, table))
}
