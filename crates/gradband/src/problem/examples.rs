//! Labelled examples: a classification problem as a contextual bandit.

mod builder;
mod labels;
mod matrix;
mod sparse;
#[cfg(test)]
mod tests;

pub use builder::ExamplesBuilder;
pub(crate) use sparse::Sparse;

use super::Split;
use super::split::{check_holdout, fold_of, hash, split};
use crate::error::{Error, Result};
use builder::too_few;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// The largest number of features.
pub const MAX_FEATURES: usize = 10_000;
/// The largest value of a feature: its square and its inverse must fit.
pub const LARGEST_VALUE: f64 = 1e30;

/// How features are scaled, each one separately.
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
    /// The scale of that name.
    pub fn named(name: &str) -> Result<Self> {
        let found = SCALES.iter().find(|(known, _)| *known == name).map(|&(_, scale)| scale);
        found.ok_or_else(|| Error::unknown("scale", name, SCALES.map(|(known, _)| known)))
    }

    /// The name of the scale.
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

/// Labelled examples with scaled features and a fixed split, made by an [`ExamplesBuilder`].
///
/// Features are scaled over all examples, held out or not: the paper's protocol, and no label is looked at.
#[derive(Clone, Debug)]
pub struct Examples {
    feature_names: Vec<String>,
    classes: Vec<String>,
    /// Shared with its folds.
    values: Arc<Vec<f32>>,
    labels: Arc<Vec<u32>>,
    scale: Scale,
    scaling: Vec<Scaling>,
    train: Vec<u32>,
    /// None: evaluation draws from the same examples as training.
    held_out: Option<Vec<u32>>,
    max_norm_squared: f64,
    /// Found out when it is first asked for, once for all folds.
    sparse: Arc<OnceLock<Option<Sparse>>>,
}

impl Examples {
    /// The names of the classes: in the order of their values if all are numbers, else in alphabetical order.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The names of the features; f1, f2, ... if none were given.
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

    /// Always false: there are at least two examples.
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

    /// The numbers of the examples on one side of the split.
    pub fn rows(&self, split: Split) -> &[u32] {
        match (split, &self.held_out) {
            (Split::HeldOut, Some(held_out)) => held_out,
            _ => &self.train,
        }
    }

    /// Whether a part is held out.
    pub fn is_split(&self) -> bool {
        self.held_out.is_some()
    }

    /// The same examples with one fold of those that training uses held out in the place of the others; none if that would
    /// leave nothing on either side.
    pub(super) fn fold(&self, fold: usize, folds: usize) -> Option<Self> {
        let (held_out, train): (Vec<u32>, Vec<u32>) =
            self.train.iter().partition(|&&row| fold_of(self.content(row, 0), folds) == fold);
        (!held_out.is_empty() && !train.is_empty()).then(|| Self {
            train,
            held_out: Some(held_out),
            ..self.clone()
        })
    }

    /// The same examples with another share of them held out. The number says which: another number, another split, and
    /// neither a seed nor the order of the rows matters.
    ///
    /// ```
    /// use gradband::problem::{ExamplesBuilder, Scale, Split};
    /// let mut rows = ExamplesBuilder::new(Scale::MinMax, 0.0)?;
    /// for i in 0..100 {
    ///     rows.push(&[f64::from(i)], if i % 3 == 0 { "fizz" } else { "other" })?;
    /// }
    /// let (examples, _) = rows.finish(None)?;
    /// let held_out = |number| -> gradband::Result<_> {
    ///     Ok(examples.resplit(0.25, number)?.rows(Split::HeldOut).to_vec())
    /// };
    /// assert!(held_out(1)?.len() == 25 && held_out(1)? != held_out(2)?);
    /// # Ok::<(), gradband::Error>(())
    /// ```
    pub fn resplit(&self, holdout: f64, number: u64) -> Result<Self> {
        check_holdout(holdout)?;
        let hashes: Vec<u64> = (0..self.len() as u32).map(|row| self.content(row, number)).collect();
        let [train, held_out] = split(&hashes, holdout).ok_or_else(|| too_few(self.len(), holdout))?;
        Ok(Self { train, held_out: Some(held_out), ..self.clone() })
    }

    /// A hash of what is in a row, another for each number.
    fn content(&self, row: u32, number: u64) -> u64 {
        let numbers = self.features(row as usize).iter().flat_map(|x| x.to_bits().to_le_bytes());
        let label = self.labels[row as usize].to_le_bytes();
        hash(number.to_le_bytes().into_iter().chain(numbers).chain(label))
    }

    /// The scale that the features were given.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// How each feature was scaled.
    pub fn scaling(&self) -> &[Scaling] {
        &self.scaling
    }

    /// The same by what examples differ in, if that is little.
    pub(crate) fn sparse(&self) -> Option<&Sparse> {
        self.sparse.get_or_init(|| Sparse::of(&self.values, self.dim())).as_ref()
    }

    /// The largest squared length of a feature vector.
    pub fn max_norm_squared(&self) -> f64 {
        self.max_norm_squared
    }
}
