//! What is wrong, and where: errors as data, which a caller can match and place in its own words.
//!
//! Used by every room. An error knows its [`Place`] as steps (a file, a line, a key, an index), so that whoever knows
//! more (the reader of a file, the binary that parsed a flag) adds steps instead of editing text.

use crate::stop::StopReason;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Shorthand for results that fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Something that was asked for and cannot be had: where, and why.
///
/// ```
/// use gradband::{ErrorKind, Prior, Problem};
/// let error = Problem::bernoulli(Prior::beta(3, 1.0, 1.0)?).horizon(0).build().unwrap_err();
/// assert_eq!(error.place().to_string(), "horizon");
/// assert!(matches!(error.kind(), ErrorKind::Count { found: 0, least: 1, .. }));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{kind}", Prefix(place))]
pub struct Error {
    place: Place,
    kind: ErrorKind,
}

struct Prefix<'a>(&'a Place);

impl Display for Prefix<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

/// What is wrong, with the numbers and names that a caller can match on.
///
/// ```
/// use gradband::{ErrorKind, Problem, Simulator};
/// let problem = Problem::named("linear-1")?;
/// let error = Simulator::new(&problem).evaluate("thompson").unwrap_err();
/// let ErrorKind::Refused { policy, instead, .. } = error.kind() else { panic!("{error}") };
/// assert_eq!(policy, "thompson");
/// assert!(instead.contains(&"lin-thompson".to_string()));
/// # Ok::<(), gradband::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A number that is not finite or not between two others.
    Range {
        /// The number that was given.
        found: f64,
        /// The least that is allowed; `f64::MIN` if there is no least, `f64::MIN_POSITIVE` for anything above 0.
        low: f64,
        /// The most that is allowed; `f64::MAX` if there is no most.
        high: f64,
    },
    /// A whole number that is not between two others.
    Count {
        /// The number that was given.
        found: usize,
        /// The least that is allowed.
        least: usize,
        /// The most that is allowed.
        most: usize,
    },
    /// A name that does not exist.
    Unknown {
        /// The name that was given.
        found: String,
        /// All names that would have been accepted.
        known: Vec<String>,
    },
    /// Something that must be given but was not, and why it is needed.
    Missing(String),
    /// A policy that does not apply to a problem.
    Refused {
        /// The policy's name.
        policy: String,
        /// Why it does not apply.
        reason: String,
        /// Policies that apply to the problem.
        instead: Vec<String>,
    },
    /// A policy that cannot be differentiated, at its parameters or at all.
    Unscored {
        /// The policy's name.
        policy: String,
        /// Why it has no gradient.
        reason: String,
    },
    /// A policy whose weights are missing: it must be trained or loaded before it plays.
    Untrained {
        /// The policy's name.
        policy: String,
    },
    /// A reward for a decision that an agent never made, or has forgotten.
    UnknownDecision {
        /// The id that was given.
        id: String,
    },
    /// A reward for a decision that has another one already, or was withdrawn.
    Conflict {
        /// The reward that it has; none if it was withdrawn.
        known: Option<f64>,
        /// The reward that was given.
        found: f64,
    },
    /// Work that would take more memory or time than is allowed: what it takes, and what would fit.
    TooLarge(String),
    /// Anything else, in words.
    Invalid(String),
    /// The observer stopped the work.
    Stopped(StopReason),
    /// What the caller's own code failed with.
    Outside(Outside),
}

/// An error of the caller's own code, carried as it is. It is equal to itself alone.
#[derive(Clone, Debug)]
pub struct Outside(Arc<dyn std::error::Error + Send + Sync>);

impl Outside {
    /// The error.
    pub fn get(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl PartialEq for Outside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Error {
    /// An error described in words, at a place.
    pub fn new(place: impl Into<Place>, message: impl Into<String>) -> Self {
        Self::of(place, ErrorKind::Invalid(message.into()))
    }

    /// An error of the given kind, at a place.
    pub fn of(place: impl Into<Place>, kind: ErrorKind) -> Self {
        Self { place: place.into(), kind }
    }

    /// An error of the caller's own code, which comes back as it is.
    pub fn outside(place: impl Into<Place>, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::of(place, ErrorKind::Outside(Outside(Arc::new(error))))
    }

    /// An error about a name that is not among the known ones.
    pub fn unknown<'a>(
        place: impl Into<Place>,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(String::from).collect();
        Self::of(place, ErrorKind::Unknown { found: found.into(), known })
    }

    /// The place that the error is about; empty if there is none in particular.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is wrong, as data to match on.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The same error with its place put inside another one: `horizon` within `problem` is `problem.horizon`.
    #[must_use]
    pub fn within(mut self, outer: impl Into<Place>) -> Self {
        self.place = outer.into().then(self.place);
        self
    }

    /// The same error at another place.
    #[must_use]
    pub fn at(self, place: impl Into<Place>) -> Self {
        Self { place: place.into(), ..self }
    }

    /// The reason for which the observer stopped the work, if that is what happened.
    pub fn stopped(&self) -> Option<StopReason> {
        match self.kind {
            ErrorKind::Stopped(reason) => Some(reason),
            _ => None,
        }
    }
}

impl Display for ErrorKind {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            &Self::Range { found, low, high } => {
                write!(f, "found {}, expected {}", short(found), allowed(low, high))
            }
            Self::Count { found, least, most } => write!(f, "found {found}, expected {least} to {most}"),
            Self::Unknown { found, known } => {
                let hint = hint(found, known.iter().map(String::as_str));
                write!(f, "unknown name '{}'{hint} (known: {})", abridged(found), known.join(", "))
            }
            Self::Missing(why) => write!(f, "is missing; {why}"),
            Self::Refused { policy, reason, instead } => {
                write!(f, "{policy} {reason}; on this problem use one of {}", instead.join(", "))
            }
            Self::Unscored { policy, reason } => write!(f, "{policy} {reason}"),
            Self::Untrained { policy } => {
                write!(f, "{policy} has no weights yet; train it, or load the file that a training wrote")
            }
            Self::UnknownDecision { id } => write!(f, "no decision '{id}' is known here"),
            Self::Conflict { known: Some(known), found } => {
                write!(f, "found {found}, but {known} was reported before, and a reward counts once")
            }
            Self::Conflict { known: None, found } => {
                write!(f, "found {found}, but the decision was withdrawn")
            }
            Self::TooLarge(message) | Self::Invalid(message) => f.write_str(message),
            Self::Stopped(reason) => write!(f, "stopped: {reason}"),
            Self::Outside(error) => write!(f, "{}", error.0),
        }
    }
}

/// A number without three hundred digits.
fn short(x: f64) -> String {
    if x.is_finite() && x.abs() >= 1e15 { format!("{x:e}") } else { x.to_string() }
}

fn allowed(low: f64, high: f64) -> String {
    let (least, most) = (short(low), short(high));
    match (low == f64::MIN, high == f64::MAX) {
        _ if low == f64::MIN_POSITIVE => "a number above 0".into(),
        (true, true) => "a finite number".into(),
        (false, true) => format!("a number of at least {least}"),
        (true, false) => format!("a number of at most {most}"),
        (false, false) => format!("a number from {least} to {most}"),
    }
}

/// The words `; did you mean 'this'?` if a known name resembles the one found, else nothing.
pub fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // The distance takes time in proportion to both lengths, and no name is this long.
    if found.len() > 100 {
        return String::new();
    }
    let nearest = known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(name, found), name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| distance <= 1 + name.len() / 3);
    nearest.map_or(String::new(), |(_, name)| format!("; did you mean '{name}'?"))
}

/// Shortens what a user typed so that it fits into a message.
pub fn abridged(text: &str) -> String {
    if text.chars().count() <= 40 { text.into() } else { text.chars().take(37).collect::<String>() + "..." }
}

/// Refuses numbers that are not finite or not within `low..=high`.
pub(crate) fn within(place: impl Into<Place>, found: f64, low: f64, high: f64) -> Result<f64> {
    if found.is_finite() && (low..=high).contains(&found) {
        return Ok(found);
    }
    Err(Error::of(place, ErrorKind::Range { found, low, high }))
}

/// Refuses whole numbers that are not within `least..=most`.
pub(crate) fn count(place: impl Into<Place>, found: usize, least: usize, most: usize) -> Result<usize> {
    if (least..=most).contains(&found) {
        return Ok(found);
    }
    Err(Error::of(place, ErrorKind::Count { found, least, most }))
}

/// Where something is wrong, as steps from the outside in: a file, a line, a key, an entry.
///
/// ```
/// use gradband::Place;
/// let place = Place::file("past.csv").line(3).then("prior.alpha[1]");
/// assert_eq!(place.to_string(), "past.csv, line 3, prior.alpha[1]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(Vec<Step>);

/// One step of a [`Place`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// A file, or whatever else text was read from.
    File(String),
    /// A line of the file, counted from 1.
    Line(u64),
    /// A column of a table, counted from 1, and its name.
    Column(usize, String),
    /// Something with a name: a key, a parameter, a flag.
    Key(String),
    /// An entry of a list, counted from 0.
    Index(usize),
    /// A remark about the steps before it, such as `where training starts`.
    Note(String),
}

impl Place {
    /// A file, by the name that the user knows it by.
    pub fn file(name: impl Into<String>) -> Self {
        Self(vec![Step::File(name.into())])
    }

    /// A key that is taken as it is, dots and brackets included.
    pub fn key(name: impl Into<String>) -> Self {
        Self(vec![Step::Key(name.into())])
    }

    /// A line within this place, counted from 1.
    #[must_use]
    pub fn line(mut self, number: u64) -> Self {
        self.0.push(Step::Line(number));
        self
    }

    /// A column within this place, counted from 1.
    #[must_use]
    pub fn column(mut self, number: usize, name: impl Into<String>) -> Self {
        self.0.push(Step::Column(number, name.into()));
        self
    }

    /// An entry within this place, counted from 0.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The same place with a remark about it.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.0.push(Step::Note(text.into()));
        self
    }

    /// A place inside this one.
    #[must_use]
    pub fn then(mut self, inner: impl Into<Self>) -> Self {
        self.0.extend(inner.into().0);
        self
    }

    /// The steps, from the outside in.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether it names no place at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it begins with a file.
    pub fn is_in_file(&self) -> bool {
        matches!(self.0.first(), Some(Step::File(_)))
    }
}

/// The place that these steps lead to.
impl FromIterator<Step> for Place {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

/// Reads a path such as `prior.alpha[1]` as steps.
impl From<&str> for Place {
    fn from(path: &str) -> Self {
        let mut steps = Vec::new();
        for part in path.split('.').filter(|part| !part.is_empty()) {
            let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
            if !name.is_empty() {
                steps.push(Step::Key(name.into()));
            }
            let indices = indices.split(['[', ']']).filter(|index| !index.is_empty());
            steps.extend(indices.map(|text| match text.parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Key(text.into()),
            }));
        }
        Self(steps)
    }
}

impl From<String> for Place {
    fn from(path: String) -> Self {
        Self::from(path.as_str())
    }
}

impl From<&String> for Place {
    fn from(path: &String) -> Self {
        Self::from(path.as_str())
    }
}

/// A key as messages show it: users choose keys too, of any length.
fn key(name: &str) -> Cow<'_, str> {
    if name.chars().count() <= 60 { name.into() } else { abridged(name).into() }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            let in_path = i > 0 && matches!(self.0[i - 1], Step::Key(_) | Step::Index(_));
            let comma = if i > 0 { ", " } else { "" };
            match step {
                Step::File(name) => write!(f, "{comma}{name}")?,
                Step::Line(number) => write!(f, "{comma}line {number}")?,
                Step::Column(number, name) => write!(f, "{comma}column {number} ('{}')", abridged(name))?,
                Step::Key(name) if in_path => write!(f, ".{}", key(name))?,
                Step::Key(name) => write!(f, "{comma}{}", key(name))?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Note(text) => write!(f, "{comma}{text}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_steps_and_read_as_they_were_written() {
        for path in ["", "horizon", "problem.prior.weights[1]", "instances[2][0]", "train.batch_size"] {
            assert_eq!(Place::from(path).to_string(), path);
        }
        assert_eq!(Place::from("a[3]").steps(), [Step::Key("a".into()), Step::Index(3)]);
        let cell = Place::file("x.csv").line(7).column(2, "clicks");
        assert_eq!(cell.to_string(), "x.csv, line 7, column 2 ('clicks')");
        assert_eq!(Place::from("params.w").note("at the start").to_string(), "params.w, at the start");
        let error = within("alpha[1]", f64::NAN, 0.0, 1.0).unwrap_err().within("prior");
        assert_eq!(error.to_string(), "prior.alpha[1]: found NaN, expected a number from 0 to 1");
    }

    #[test]
    fn a_name_nearby_is_suggested_and_long_ones_are_cut() {
        let error = Error::unknown("policy", "softelm", ["exp3", "softelim"]);
        assert!(error.to_string().contains("did you mean 'softelim'?"), "{error}");
        let long = "x".repeat(50_000);
        assert!(Error::unknown("policy", &long, ["exp3"]).to_string().len() < 200);
        assert!(Error::unknown(&long, &long, ["exp3"]).to_string().len() < 200);
    }
}
