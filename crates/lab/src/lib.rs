//! The paper's experiments as data, and ours, one file each; their records; and the report that is made of records alone.
//!
//! An [`Experiment`] plans series of units, each with its [`work`]; [`run::run`] runs the units that have no record yet and
//! records what they [`found`]; [`report::page`] turns records into figures, and into a table that sets every number of the
//! paper beside ours. [`session`] does the same for a user's own training or comparison.

mod compute;
mod cost;
pub mod experiment;
pub mod experiments;
pub mod found;
pub mod plot;
pub mod problems;
pub mod record;
pub mod report;
pub mod row;
pub mod run;
pub mod session;
pub mod transfer;
pub mod work;

pub use experiment::{Experiment, Results, Series, Size};
pub use experiments::EXPERIMENTS;
pub use record::Shard;
pub use row::{Reason, Row, Verdict};

use gradband::Place;
use std::path::Path;

/// Why something was not done.
#[derive(Debug)]
pub enum Failure {
    /// The user's input is wrong.
    Input(gradband::Error),
    /// Anything else.
    Other(String),
    /// The observer stopped it.
    Interrupted,
}

impl From<gradband::Error> for Failure {
    fn from(error: gradband::Error) -> Self {
        if error.stopped().is_some() { Self::Interrupted } else { Self::Input(error) }
    }
}

impl Failure {
    fn input(place: impl Into<Place>, message: impl Into<String>) -> Self {
        Self::Input(gradband::Error::new(place, message))
    }

    fn file(path: &Path, what: &str, error: &std::io::Error) -> Self {
        let (name, message) = (path.display().to_string(), format!("{what}: {error}"));
        match error.kind() {
            // What is wrong is in the file.
            std::io::ErrorKind::InvalidData => Self::input(Place::file(name), message),
            _ => Self::Other(format!("{name}: {message}")),
        }
    }
}
