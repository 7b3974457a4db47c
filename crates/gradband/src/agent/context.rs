//! Contexts as users have them, by name and raw, and as a policy sees them.

use crate::error::{Error, ErrorKind, Place, Result};
use crate::policy::ProblemRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of a round before its decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a list of numbers, or numbers by the names of their features")]
pub enum Context {
    /// Nothing: for policies without contexts.
    #[default]
    None,
    /// Raw values in the order of the features.
    Values(Vec<f64>),
    /// Raw values by the names of their features.
    Named(BTreeMap<String, f64>),
}

impl From<Vec<f64>> for Context {
    fn from(values: Vec<f64>) -> Self {
        Self::Values(values)
    }
}

impl<const N: usize> From<[f64; N]> for Context {
    fn from(values: [f64; N]) -> Self {
        Self::Values(values.into())
    }
}

impl<const N: usize> From<[(&str, f64); N]> for Context {
    fn from(values: [(&str, f64); N]) -> Self {
        Self::Named(values.map(|(name, x)| (name.into(), x)).into())
    }
}

/// Larger values are no measurements, and their fourth powers no numbers.
pub(super) const LARGEST: f64 = 1e30;

impl Context {
    /// The features as the policy sees them, and whether one is outside the range that it was trained with.
    pub(super) fn scaled(&self, problem: &ProblemRecord) -> Result<(Vec<f64>, bool)> {
        let dim = problem.context_dim.unwrap_or(0);
        let names = problem.features.as_deref().unwrap_or_default();
        let mut x = match self {
            Self::None if dim > 0 => {
                let message = format!("the policy looks at {dim} features");
                return Err(Error::of("context", ErrorKind::Missing(message)));
            }
            Self::None => Vec::new(),
            Self::Values(values) if values.len() != dim => {
                return Err(Error::new("context", format!("found {} numbers, expected {dim}", values.len())));
            }
            Self::Values(values) => values.clone(),
            Self::Named(_) if names.is_empty() => {
                let message =
                    format!("found names, expected a list of {dim} numbers: the features have no names");
                return Err(Error::new("context", message));
            }
            Self::Named(values) => {
                let known = || names.iter().map(|feature| &*feature.name);
                if let Some(name) = values.keys().find(|name| !known().any(|known| known == **name)) {
                    return Err(Error::unknown(Place::key("context").then(Place::key(name)), name, known()));
                }
                let value = |name: &str| {
                    let missing = ErrorKind::Missing("the policy looks at this feature".into());
                    let place = || Place::key("context").then(Place::key(name));
                    values.get(name).copied().ok_or_else(|| Error::of(place(), missing))
                };
                known().map(value).collect::<Result<_>>()?
            }
        };
        let place = |i: usize| match (self, names.get(i)) {
            (Self::Named(_), Some(feature)) => Place::key("context").then(Place::key(&feature.name)),
            _ => Place::key("context").index(i),
        };
        let is_unusable = |x: &f64| x.is_nan() || x.abs() > LARGEST;
        if let Some(i) = x.iter().position(is_unusable) {
            let kind = ErrorKind::Range { found: x[i], low: -LARGEST, high: LARGEST };
            return Err(Error::of(place(i), kind));
        }
        x.iter_mut().zip(names).for_each(|(x, feature)| *x = (*x - feature.shift) * feature.factor);
        if let Some(i) = x.iter().position(is_unusable) {
            let message = format!(
                "is scaled to {:e} by the policy's shift and factor, expected at most {LARGEST:e} in size",
                x[i]
            );
            return Err(Error::new(place(i), message));
        }
        let (low, high) = match problem.scale.as_deref() {
            Some("minmax") => (-1.0, 1.0),
            Some("unit") => (0.0, 1.0),
            _ => (f64::MIN, f64::MAX),
        };
        // A value at the end of its range may be scaled to a rounding beyond it.
        let slack = 1e-9;
        let outside = x.iter().any(|&x| x < low - slack || x > high + slack);
        Ok((x, outside))
    }

    /// The raw values behind features that a policy has seen; of a feature that is constant, the constant.
    pub(super) fn raw(x: &[f64], problem: &ProblemRecord) -> Self {
        let names = problem.features.as_deref().unwrap_or_default();
        if x.is_empty() {
            return Self::None;
        }
        let raw = |(i, &x): (usize, &f64)| match names.get(i) {
            Some(feature) if feature.factor == 0.0 => feature.shift,
            Some(feature) => x / feature.factor + feature.shift,
            None => x,
        };
        Self::Values(x.iter().enumerate().map(raw).collect())
    }
}
