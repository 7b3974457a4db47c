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

/// Reads labelled data: CSV (separated by commas, semicolons or tabs, with a header or without) or LIBSVM text (`label
/// index:value ...`, indices from 1), either of them gzip-compressed or not.
///
/// `name` is what messages call the file. `label` is the name of a column or its number from 1; by default the
/// column called label, class, target or y, else the last one. Features are scaled by `scale`, and a share `holdout` of
/// the examples is kept from training: see [`ExamplesBuilder::new`]. Also returns what the user should know, such as
/// which features are constant.
///
/// ```
/// use gradband::problem::Scale;
/// use gradband::{Problem, Simulator};
/// let flowers = "petal,sepal,species\n1.4,5.1,setosa\n4.7,7.0,versicolor\n1.3,4.7,setosa\n5.1,5.9,versicolor\n";
/// let (examples, notes) = gradband_files::read_examples(flowers.as_bytes(), "flowers.csv", None, Scale::MinMax, 0.0)?;
/// assert_eq!(examples.classes(), ["setosa", "versicolor"]);
/// assert!(notes.is_empty());
/// let problem = Problem::classification(examples).horizon(50).build()?;
/// println!("{}", Simulator::new(&problem).instances(100).evaluate("lin-thompson")?);
///
/// let broken = flowers.replace("7.0", "seven");
/// let error = gradband_files::read_examples(broken.as_bytes(), "flowers.csv", None, Scale::MinMax, 0.0).unwrap_err();
/// assert_eq!(error.to_string(), "flowers.csv, line 3, column 2 ('sepal'): found 'seven', expected a number");
/// # Ok::<(), gradband::Error>(())
/// ```
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
