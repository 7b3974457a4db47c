//! Problems as named values: how a spec, a dictionary or a record describes a problem, whatever its format.

use super::normal::Covariance;
use crate::error::{Error, ErrorKind, Place, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// true or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list: vectors, matrices, lists of matrices.
    List(Vec<Value>),
    /// A table of further keys.
    Table(Keys),
}

/// Values by name: a problem as a spec describes it.
///
/// ```
/// use gradband::Problem;
/// use gradband::problem::Keys;
/// let prior = Keys::kind("beta").with("arms", 3_usize).with("alpha", 1.0).with("beta", 1.0);
/// let keys = Keys::kind("bernoulli").with("horizon", 50_usize).with("prior", prior);
/// assert_eq!(Problem::from_keys("mine", &keys, None)?.to_string(), "mine (3 arms, horizon 50)");
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Keys(BTreeMap<String, Value>);

macro_rules! values {
    ($($from:ty => $make:expr),*) => {$(
        impl From<$from> for Value {
            fn from(x: $from) -> Self {
                $make(x)
            }
        }
    )*};
}
values!(
    bool => Self::Flag,
    usize => |x| Self::Whole(i64::try_from(x).unwrap_or(i64::MAX)),
    f64 => Self::Number,
    &str => |x: &str| Self::Text(x.into()),
    String => Self::Text,
    Keys => Self::Table,
    Vec<Value> => Self::List
);

impl From<&[f64]> for Value {
    fn from(numbers: &[f64]) -> Self {
        Self::List(numbers.iter().map(|&x| Self::Number(x)).collect())
    }
}

impl From<Vec<f64>> for Value {
    fn from(numbers: Vec<f64>) -> Self {
        Self::from(&numbers[..])
    }
}

impl Value {
    /// A matrix, row by row.
    pub fn rows(numbers: &[f64], width: usize) -> Self {
        Self::List(numbers.chunks(width.max(1)).map(Self::from).collect())
    }

    /// What kind of value it is, in words for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Flag(_) => "true or false",
            Self::Whole(_) | Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// The value as a number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Self::Whole(x) => Some(x as f64),
            Self::Number(x) => Some(x),
            _ => None,
        }
    }

    /// The value as text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn wrong(&self, place: impl Into<Place>, expected: &str) -> Error {
        Error::new(place, format!("found {}, expected {expected}", self.kind()))
    }

    /// All numbers of a number, a list or a matrix, row by row.
    pub fn numbers(&self, place: impl Into<Place>) -> Result<Vec<f64>> {
        let place = place.into();
        match self {
            Self::List(items) => {
                let parts = items.iter().enumerate().map(|(i, item)| item.numbers(place.clone().index(i)));
                Ok(parts.collect::<Result<Vec<_>>>()?.concat())
            }
            other => other
                .as_number()
                .map(|x| vec![x])
                .ok_or_else(|| other.wrong(place, "a number or a list of them")),
        }
    }

    /// How many entries a list has.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::List(items) => Some(items.len()),
            _ => None,
        }
    }

    /// 0 for a number, 1 for a list of numbers, 2 for a matrix.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::List(items) => 1 + items.first().map_or(0, Self::depth),
            _ => 0,
        }
    }

    /// A list of so many numbers.
    pub(super) fn list(&self, place: impl Into<Place>, expected: usize) -> Result<Vec<f64>> {
        let place = place.into();
        let Self::List(items) = self else {
            return Err(self.wrong(place, &format!("a list of {expected} numbers")));
        };
        if items.len() != expected {
            return Err(Error::new(place, format!("found {} entries, expected {expected}", items.len())));
        }
        let number = |(i, item): (usize, &Self)| {
            item.as_number().ok_or_else(|| item.wrong(place.clone().index(i), "a number"))
        };
        items.iter().enumerate().map(number).collect()
    }

    /// A number for all entries, or a list of them.
    pub(super) fn vector(&self, place: impl Into<Place>, dim: usize) -> Result<Vec<f64>> {
        match (self, self.as_number()) {
            (_, Some(x)) => Ok(vec![x; dim]),
            (Self::List(_), None) => self.list(place, dim),
            (other, None) => Err(other.wrong(place, &format!("a number, or a list of {dim} numbers"))),
        }
    }

    /// A number for all variances, a list of them, or a matrix.
    pub(super) fn covariance(&self, place: impl Into<Place>, dim: usize) -> Result<Covariance> {
        match (self.depth(), self.as_number()) {
            (0, None) => Err(self.wrong(place, "a number, a list of numbers, or a matrix")),
            (0 | 1, _) => self.vector(place, dim).map(Covariance::Diagonal),
            _ => Ok(Covariance::Full(self.matrix(place, dim, dim)?.concat())),
        }
    }

    /// So many lists of so many numbers.
    pub(super) fn matrix(
        &self,
        place: impl Into<Place>,
        rows: usize,
        columns: usize,
    ) -> Result<Vec<Vec<f64>>> {
        let place = place.into();
        match self {
            Self::List(items) if items.len() == rows => {
                let row = |(i, row): (usize, &Self)| row.list(place.clone().index(i), columns);
                items.iter().enumerate().map(row).collect()
            }
            other => {
                let found = other.len().map_or(other.kind().into(), |length| format!("{length} rows"));
                Err(Error::new(place, format!("found {found}, expected {rows} lists of {columns} numbers")))
            }
        }
    }
}

impl Keys {
    /// Keys that begin with `kind = "…"`.
    pub fn kind(name: &str) -> Self {
        Self::default().with("kind", name)
    }

    /// The same with one more key.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.set(key, value);
        self
    }

    /// Sets a key.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.into(), value.into());
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.get_mut(key)
    }

    /// The names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The value of a key that this kind needs.
    pub fn needed(&self, kind: &str, key: &str) -> Result<&Value> {
        self.get(key).ok_or_else(|| Error::of(key, ErrorKind::Missing(format!("kind = \"{kind}\" needs it"))))
    }

    /// A number that this kind needs.
    pub fn number(&self, kind: &str, key: &str) -> Result<f64> {
        let value = self.needed(kind, key)?;
        value.as_number().ok_or_else(|| value.wrong(key, "a number"))
    }

    /// Text that this kind needs.
    pub fn text(&self, kind: &str, key: &str) -> Result<&str> {
        let value = self.needed(kind, key)?;
        value.as_text().ok_or_else(|| value.wrong(key, "text"))
    }

    /// A number, if it is there.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|value| value.as_number().ok_or_else(|| value.wrong(key, "a number"))).transpose()
    }

    /// A whole number, if it is there.
    pub fn optional_count(&self, key: &str) -> Result<Option<usize>> {
        let count = |value: &Value| match *value {
            Value::Whole(x) => usize::try_from(x).ok(),
            _ => None,
        };
        let wrong = |value: &Value| {
            let found = value.as_number().map_or(value.kind().into(), |x| x.to_string());
            Error::new(key, format!("found {found}, expected a whole number that is not negative"))
        };
        self.get(key).map(|value| count(value).ok_or_else(|| wrong(value))).transpose()
    }

    /// Text, if it is there.
    pub fn optional_text(&self, key: &str) -> Result<Option<&str>> {
        self.get(key).map(|value| value.as_text().ok_or_else(|| value.wrong(key, "text"))).transpose()
    }

    /// A list of numbers of any length, if it is there.
    pub(super) fn optional_numbers(&self, key: &str) -> Result<Option<Vec<f64>>> {
        self.get(key).map(|value| value.list(key, value.len().unwrap_or(0))).transpose()
    }

    /// The name after `kind`, which must be among those known; refuses keys that belong to other kinds, or to none.
    pub(super) fn check_kind(
        &self,
        kinds: &[(&'static str, Vec<&'static str>)],
        common: &[&str],
    ) -> Result<&str> {
        let kind = self.get("kind").ok_or_else(|| {
            let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
            Error::of("kind", ErrorKind::Missing(format!("expected one of {}", names.join(", "))))
        })?;
        let kind = kind.as_text().ok_or_else(|| kind.wrong("kind", "a name"))?;
        let Some((_, own)) = kinds.iter().find(|(name, _)| *name == kind) else {
            return Err(Error::unknown("kind", kind, kinds.iter().map(|(name, _)| *name)));
        };
        let foreign = self.names().find(|key| !common.contains(key) && !own.contains(key));
        let Some(key) = foreign else { return Ok(kind) };
        let owners: Vec<_> = kinds
            .iter()
            .filter(|(_, keys)| keys.contains(&key))
            .map(|(name, _)| format!("kind = \"{name}\""))
            .collect();
        if owners.is_empty() {
            return Err(Error::unknown(key, key, common.iter().chain(own).copied()));
        }
        let message = format!("goes with {}, not with kind = \"{kind}\"", owners.join(" or "));
        Err(Error::new(key, message))
    }
}
