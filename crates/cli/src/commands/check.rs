//! `gradband check`: is a spec valid, and what does it mean in plain words?

use crate::failure::Result;
use crate::output::Printer;
use crate::watch::Terminal;
use gradband::{Error, Place};
use gradband_files::Target;
use gradband_jobs::{check, tell_notes};
use std::path::Path;

pub fn run(path: &Path, printer: Printer) -> Result<()> {
    let target = Target::from_file(path)?;
    tell_notes(&target, &Terminal);
    let document = check::run(&target, &Terminal).map_err(|error| in_file(error, path))?;
    printer.result(&document, || format!("{} is valid.\n{}", path.display(), document.meaning.join("\n")))
}

/// What is wrong is in the spec, wherever it was found.
fn in_file(error: Error, path: &Path) -> Error {
    match error.place().is_in_file() {
        true => error,
        false => error.within(Place::file(path.display().to_string())),
    }
}
