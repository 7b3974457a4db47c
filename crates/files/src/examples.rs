//! Labelled examples from CSV or LIBSVM text.

mod delimited;
mod header;
mod libsvm;
#[cfg(test)]
mod tests;
mod values;

use crate::lines::Lines;
use gradband::problem::{Examples, ExamplesBuilder, Scale};
use gradband::{Place, Result};
use std::io::Read;

/// What a file says beside its rows.
#[derive(Default)]
struct Columns {
    /// None: they have no names.
    features: Option<Vec<String>>,
    /// What the user should know about the choice of the label.
    note: Option<String>,
}

/// Reads CSV (separated by commas, semicolons or tabs, with a header or without) or LIBSVM text (`label
/// index:value ...`, indices from 1), either of them gzip-compressed or not.
///
/// `name` is what messages call the file. `label` is the name of a column or its number from 1; by default the
/// column called label, class, target or y, else the last one. See [`ExamplesBuilder::new`] for the other two. Also
/// returns what the user should know, such as which features are constant.
pub fn read_examples(
    source: impl Read,
    name: &str,
    label: Option<&str>,
    scale: Scale,
    holdout: f64,
) -> Result<(Examples, Vec<String>)> {
    let mut builder = ExamplesBuilder::new(scale, holdout)?;
    let (lines, head) = Lines::new(source, name)?;
    let columns = if libsvm::looks_like_it(&head) {
        libsvm::read(lines, label, &mut builder)?
    } else {
        delimited::read(lines, label, &mut builder)?
    };
    let built = builder.finish(columns.features);
    let (examples, notes) = built.map_err(|error| error.at(Place::file(name)))?;
    let notes = columns.note.into_iter().chain(notes).map(|note| format!("{name}: {note}"));
    Ok((examples, notes.collect()))
}
