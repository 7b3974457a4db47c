//! Gathers examples one by one and checks them, wherever they come from.

use super::labels::{Labels, MAX_CLASSES};
use super::matrix::{MAX_NUMBERS, MAX_ROWS, Matrix};
use super::{Examples, LARGEST_VALUE, MAX_FEATURES, Scale, Scaling};
use crate::error::{Error, ErrorKind, Place, Result, abridged};
use crate::problem::split::{check_holdout, split};

/// Gathers [`Examples`] row by row.
///
/// ```
/// use gradband::Problem;
/// use gradband::problem::{ExamplesBuilder, Scale};
/// let mut builder = ExamplesBuilder::new(Scale::MinMax, 0.0)?;
/// for (petal, species) in [(1.4, "setosa"), (4.7, "versicolor"), (1.3, "setosa"), (5.1, "versicolor")] {
///     builder.push(&[petal, petal * petal], species)?;
/// }
/// let (examples, notes) = builder.finish(None)?;
/// assert!(notes.is_empty());
/// let problem = Problem::classification(examples).horizon(50).build()?;
/// assert_eq!(problem.arm_names().unwrap(), ["setosa", "versicolor"]);
/// # Ok::<(), gradband::Error>(())
/// ```
///
/// Errors name the row, counted from 1, or `examples` for what is wrong with all of them: a reader that knows more
/// puts its own place there.
pub struct ExamplesBuilder {
    scale: Scale,
    holdout: f64,
    matrix: Matrix,
    labels: Labels,
}

/// The rows to train on, and those held out if any are.
type Parts = (Vec<u32>, Option<Vec<u32>>);

impl ExamplesBuilder {
    /// A builder whose features will be scaled by `scale`. A share `holdout` of the examples will be held out, chosen by a
    /// hash of the features: equal examples stay together, and neither a seed nor the order of the rows matters.
    pub fn new(scale: Scale, holdout: f64) -> Result<Self> {
        check_holdout(holdout)?;
        Ok(Self { scale, holdout, matrix: Matrix::new(scale, holdout > 0.0), labels: Labels::default() })
    }

    /// The number of examples so far.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether there are no examples yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of features so far.
    pub fn dim(&self) -> usize {
        self.matrix.dim()
    }

    /// Adds an example. Features missing at the end of a row are 0, even if a later row is longer.
    pub fn push(&mut self, row: &[f64], label: &str) -> Result<()> {
        self.check(row)?;
        if !self.labels.push(label) {
            let message = format!(
                "found '{}' as another label after {MAX_CLASSES} different ones: it looks continuous, expected at \
                 most {MAX_CLASSES} classes; set `label` to the column that holds the class",
                abridged(label)
            );
            return Err(Error::new(self.place(), message));
        }
        self.matrix.push(row);
        Ok(())
    }

    fn check(&self, row: &[f64]) -> Result<()> {
        if row.len() > MAX_FEATURES {
            let message = format!("found {} features, expected at most {MAX_FEATURES}", row.len());
            return Err(Error::new(self.place(), message));
        }
        if !self.matrix.has_room(row.len()) {
            let message = format!(
                "more than {MAX_ROWS} examples or {MAX_NUMBERS} numbers (examples x features) up to here; take a sample of \
                 the rows"
            );
            return Err(Error::of(self.place(), ErrorKind::TooLarge(message)));
        }
        // No early end, so that many are compared at once.
        if row.iter().fold(true, |valid, x| valid & (x.abs() <= LARGEST_VALUE)) {
            return Ok(());
        }
        Err(self.out_of_range(row))
    }

    fn out_of_range(&self, row: &[f64]) -> Error {
        let feature = row.iter().take_while(|x| x.abs() <= LARGEST_VALUE).count();
        let message = format!(
            "found {:?}, expected a finite number of at most {LARGEST_VALUE:e} in size",
            row[feature]
        );
        Error::new(self.place().column(feature + 1, format!("f{}", feature + 1)), message)
    }

    /// The row that comes next.
    fn place(&self) -> Place {
        Place::key(format!("row {}", self.len() + 1))
    }

    /// Returns the examples, and notes that a user should see (constant features, classes that training never sees).
    /// Features without names are called f1, f2, ...
    pub fn finish(mut self, feature_names: Option<Vec<String>>) -> Result<(Examples, Vec<String>)> {
        let feature_names = self.named(feature_names)?;
        let (classes, labels) = std::mem::take(&mut self.labels).finish();
        if let [only] = &classes[..] {
            let message = format!("every label is '{}', expected at least 2 classes", abridged(only));
            return Err(wrong(message));
        }
        let (train, held_out) = self.parts()?;
        let mut notes: Vec<String> =
            held_out.iter().filter_map(|_| unseen(&classes, &labels, &train)).collect();
        let (values, scaling) = self.matrix.finish(self.scale);
        notes.extend(constant(&feature_names, &scaling));
        let max_norm_squared = max_norm_squared(&values, scaling.len());
        let scale = self.scale;
        let examples = Examples {
            feature_names,
            classes,
            values: values.into(),
            labels: labels.into(),
            scale,
            scaling,
            train,
            held_out,
            max_norm_squared,
            sparse: std::sync::Arc::default(),
        };
        Ok((examples, notes))
    }

    /// The names of the features, if there is enough to name.
    fn named(&self, names: Option<Vec<String>>) -> Result<Vec<String>> {
        let (count, dim) = (self.len(), self.dim());
        if count < 2 {
            return Err(wrong(format!("found {count} example(s), expected at least 2")));
        }
        if dim == 0 {
            return Err(wrong("found no feature, expected at least 1"));
        }
        let names = names.unwrap_or_else(|| (1..=dim).map(|feature| format!("f{feature}")).collect());
        if names.len() == dim {
            return Ok(names);
        }
        Err(wrong(format!("found {} names of features, expected {dim}", names.len())))
    }

    fn parts(&mut self) -> Result<Parts> {
        let Some(hashes) = self.matrix.hashes.take() else {
            return Ok(((0..self.len() as u32).collect(), None));
        };
        let (count, holdout) = (self.len(), self.holdout);
        let parts = split(&hashes, holdout).ok_or_else(|| too_few(count, holdout));
        parts.map(|[train, held_out]| (train, Some(held_out)))
    }
}

/// A part cannot be held out.
pub(super) fn too_few(count: usize, holdout: f64) -> Error {
    wrong(format!(
        "found {count} example(s): too few different ones to hold out a part of {holdout}; add examples or set holdout = 0"
    ))
}

/// Something is wrong with all examples together.
fn wrong(message: impl Into<String>) -> Error {
    Error::new("examples", message)
}

fn max_norm_squared(values: &[f32], dim: usize) -> f64 {
    let squared = |row: &[f32]| row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
    values.chunks_exact(dim).map(squared).fold(0.0, f64::max)
}

/// A note on classes that training never sees.
fn unseen(classes: &[String], labels: &[u32], train: &[u32]) -> Option<String> {
    let mut seen = vec![false; classes.len()];
    for &row in train {
        seen[labels[row as usize] as usize] = true;
    }
    let unseen = classes.iter().zip(seen).filter(|(_, seen)| !seen);
    let (count, names) = some(unseen.map(|(class, _)| class.as_str()))?;
    Some(format!("{count} of {} classes are only in the held-out part: {names}", classes.len()))
}

/// A note on features that tell nothing.
fn constant(names: &[String], scaling: &[Scaling]) -> Option<String> {
    let constant = names.iter().zip(scaling).filter(|(_, scaling)| scaling.factor == 0.0);
    let (count, names) = some(constant.map(|(feature, _)| feature.as_str()))?;
    let verb =
        if count == 1 { "feature is constant and becomes" } else { "features are constant and become" };
    Some(format!("{count} {verb} 0: {names}"))
}

/// How many there are, and the first of them as text; nothing if there is none.
fn some<'a>(names: impl Iterator<Item = &'a str>) -> Option<(usize, String)> {
    const SHOWN: usize = 8;
    let names: Vec<_> = names.collect();
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("'{}'", abridged(name))).collect();
    let rest = if names.len() > SHOWN { ", ..." } else { "" };
    (!names.is_empty()).then(|| (names.len(), shown.join(", ") + rest))
}
