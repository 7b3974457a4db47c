//! The paper's experiments as data, one file each; their records; and the report that is made of records alone.
//!
//! An [`Experiment`] plans series of units; [`run::run`] runs the units that have no record yet; [`report::page`] turns
//! records into figures, and into a table that sets every number of the paper beside ours.

pub mod experiment;
pub mod experiments;
pub mod plot;
pub mod record;
pub mod report;
pub mod row;
pub mod run;
pub mod session;
pub mod work;

pub use experiment::{Experiment, Results, Series, Size};
pub use experiments::EXPERIMENTS;
pub use row::{Reason, Row, Verdict};

use std::path::Path;

/// Why the lab stops.
#[derive(Debug)]
pub enum Failure {
    /// The user's input is wrong.
    Input(gradband::Error),
    /// Anything else.
    Other(String),
    /// It was asked to stop.
    Interrupted,
}

impl From<gradband::Error> for Failure {
    fn from(error: gradband::Error) -> Self {
        Self::Input(error)
    }
}

impl Failure {
    fn input(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Input(gradband::Error::new(place, message))
    }

    fn file(path: &Path, what: &str, error: &std::io::Error) -> Self {
        Self::Other(format!("{}: {what}: {error}", path.display()))
    }
}
