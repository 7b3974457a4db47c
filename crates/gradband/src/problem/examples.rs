//! Labelled examples, read from CSV or LIBSVM text: a classification problem as a contextual bandit.

mod delimited;
mod header;
mod labels;
mod libsvm;
mod lines;
mod matrix;
#[cfg(test)]
mod tests;
mod values;

use super::Split;
use super::reading::{abridged, split};
use crate::error::within;
use crate::{Error, Result};
use labels::Labels;
use lines::Lines;
use matrix::{MAX_NUMBERS, Matrix};
use serde::{Deserialize, Serialize};
use std::io::Read;
use values::{is_missing, number, value};

/// The largest number of features.
const MAX_FEATURES: usize = 10_000;

/// How features are scaled, each by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// To [-1, 1].
    #[default]
    MinMax,
    /// To [0, 1].
    Unit,
    /// To mean 0 and standard deviation 1.
    Standard,
    /// Not at all.
    None,
}

/// The names of scales, the default first.
pub const SCALES: [(&str, Scale); 4] =
    [("minmax", Scale::MinMax), ("unit", Scale::Unit), ("standard", Scale::Standard), ("none", Scale::None)];

impl Scale {
    /// A scale by its name.
    pub fn named(name: &str) -> Result<Self> {
        let found = SCALES.iter().find(|(known, _)| *known == name).map(|&(_, scale)| scale);
        found.ok_or_else(|| Error::unknown("scale", name, SCALES.map(|(known, _)| known)))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        SCALES.iter().find(|(_, scale)| *scale == self).map_or("none", |(name, _)| name)
    }
}

/// How one feature was scaled: `scaled = (raw - shift) * factor`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What is subtracted.
    pub shift: f64,
    /// What the difference is multiplied by; 0 for a constant feature.
    pub factor: f64,
}

impl Scaling {
    /// The scaled value; it may lie outside the range of the examples.
    pub fn apply(self, raw: f64) -> f32 {
        ((raw - self.shift) * self.factor) as f32
    }
}

/// Labelled examples with scaled features and a fixed split.
///
/// Features are scaled over all examples, held out or not: the paper's protocol, and no label is looked at.
#[derive(Clone, Debug)]
pub struct Examples {
    feature_names: Vec<String>,
    classes: Vec<String>,
    values: Vec<f32>,
    labels: Vec<u32>,
    scaling: Vec<Scaling>,
    train: Vec<u32>,
    /// None: evaluation draws from the same examples as training.
    held_out: Option<Vec<u32>>,
    max_norm_squared: f64,
}

impl Examples {
    /// Reads CSV (separated by commas, semicolons or tabs, with a header or without) or LIBSVM text (`label
    /// index:value ...`, indices from 1), either of them gzip-compressed or not.
    ///
    /// `name` is what messages call the file. `label` is the name of a column or its number from 1; by default
    /// the column called label, class, target or y, else the last one. A share `holdout` of the examples is held
    /// out, chosen by a hash of the features: equal examples stay together, and neither the seed nor the order of
    /// the rows matters. Also returns what the user should know, such as which features are constant.
    pub fn read(
        source: impl Read,
        name: &str,
        label: Option<&str>,
        scale: Scale,
        holdout: f64,
    ) -> Result<(Self, Vec<String>)> {
        within("holdout", holdout, 0.0, 0.9)?;
        let (mut lines, head) = Lines::new(source, name)?;
        let mut table = Table {
            matrix: Matrix::new(scale, holdout > 0.0),
            labels: Labels::default(),
            feature_names: Vec::new(),
            notes: Vec::new(),
        };
        if libsvm::looks_like_it(&head) {
            libsvm::read(&mut lines, label, &mut table)?;
        } else {
            delimited::read(&mut lines, label, &mut table)?;
        }
        table.finish(name, scale, holdout)
    }

    /// The classes as the file calls them: in the order of their values if all are numbers, else by name.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The features as the file calls them, or f1, f2, ...
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// The number of features.
    pub fn dim(&self) -> usize {
        self.feature_names.len()
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never true: a file without examples is refused.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The scaled features of an example.
    pub fn features(&self, example: usize) -> &[f32] {
        &self.values[example * self.dim()..(example + 1) * self.dim()]
    }

    /// The class of an example, an index into [`Self::classes`].
    pub fn label(&self, example: usize) -> usize {
        self.labels[example] as usize
    }

    /// The examples that a split draws from.
    pub fn rows(&self, split: Split) -> &[u32] {
        match (split, &self.held_out) {
            (Split::HeldOut, Some(held_out)) => held_out,
            _ => &self.train,
        }
    }

    /// Is a part held out?
    pub fn is_split(&self) -> bool {
        self.held_out.is_some()
    }

    /// How each feature was scaled.
    pub fn scaling(&self) -> &[Scaling] {
        &self.scaling
    }

    /// The largest squared length of a feature vector.
    pub fn max_norm_squared(&self) -> f64 {
        self.max_norm_squared
    }
}

/// What the readers of both formats fill.
struct Table {
    matrix: Matrix,
    labels: Labels,
    feature_names: Vec<String>,
    notes: Vec<String>,
}

impl Table {
    /// Adds an example, which stands in the current line.
    fn push(&mut self, lines: &Lines, row: &[f64], label: &str) -> Result<()> {
        if !self.matrix.has_room(row.len()) {
            let message = format!("more than {MAX_NUMBERS} numbers (examples x features) up to here");
            return Err(lines.wrong(message));
        }
        if !self.labels.push(label) {
            let message = format!(
                "found '{}' as another label after {} different ones: it looks continuous, expected at most {} \
                 classes; set `label` to the column that holds the class",
                abridged(label),
                labels::MAX_CLASSES,
                labels::MAX_CLASSES
            );
            return Err(lines.wrong(message));
        }
        self.matrix.push(row);
        Ok(())
    }

    fn finish(mut self, name: &str, scale: Scale, holdout: f64) -> Result<(Examples, Vec<String>)> {
        let count = self.matrix.rows();
        if count < 2 {
            return Err(Error::new(name, format!("found {count} example(s), expected at least 2")));
        }
        if self.matrix.dim() == 0 {
            return Err(Error::new(name, "found no feature, expected at least 1"));
        }
        let (classes, labels) = self.labels.finish();
        if let [only] = &classes[..] {
            let message = format!("every label is '{}', expected at least 2 classes", abridged(only));
            return Err(Error::new(name, message));
        }
        let (train, held_out) = match self.matrix.hashes.take() {
            None => ((0..count as u32).collect(), None),
            Some(hashes) => {
                let [train, held_out] = split(&hashes, holdout).ok_or_else(|| {
                    let message = format!(
                        "found {count} example(s): too few different ones to hold out a part of {holdout}; \
                         add examples or set holdout = 0"
                    );
                    Error::new(name, message)
                })?;
                self.notes.extend(unseen(name, &classes, &labels, &train));
                (train, Some(held_out))
            }
        };
        let (values, scaling) = self.matrix.finish(scale);
        let squared = |row: &[f32]| row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        let max_norm_squared = values.chunks_exact(scaling.len()).map(squared).fold(0.0, f64::max);
        let constant = self.feature_names.iter().zip(&scaling).filter(|(_, scaling)| scaling.factor == 0.0);
        self.notes.extend(some(constant.map(|(feature, _)| feature.as_str())).map(|(count, names)| {
            let verb = if count == 1 {
                "feature is constant and becomes"
            } else {
                "features are constant and become"
            };
            format!("{name}: {count} {verb} 0: {names}")
        }));
        let feature_names = self.feature_names;
        let examples =
            Examples { feature_names, classes, values, labels, scaling, train, held_out, max_norm_squared };
        Ok((examples, self.notes))
    }
}

/// A note on classes that training never sees.
fn unseen(name: &str, classes: &[String], labels: &[u32], train: &[u32]) -> Option<String> {
    let mut seen = vec![false; classes.len()];
    for &row in train {
        seen[labels[row as usize] as usize] = true;
    }
    let unseen = classes.iter().zip(seen).filter(|(_, seen)| !seen);
    let (count, names) = some(unseen.map(|(class, _)| class.as_str()))?;
    Some(format!("{name}: {count} of {} classes are only in the held-out part: {names}", classes.len()))
}

/// How many there are, and the first of them as text; nothing if there is none.
fn some<'a>(names: impl Iterator<Item = &'a str>) -> Option<(usize, String)> {
    const SHOWN: usize = 8;
    let names: Vec<_> = names.collect();
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("'{}'", abridged(name))).collect();
    let rest = if names.len() > SHOWN { ", ..." } else { "" };
    (!names.is_empty()).then(|| (names.len(), shown.join(", ") + rest))
}
