//! What can be learned and what can be set: names, shapes, domains and where training starts.

use super::choice::Choice;
use crate::error::{Error, Result, count, within};
use crate::problem::Problem;
use std::fmt::{self, Display, Formatter};

/// An end of a range, which may depend on the problem.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// A number.
    Fixed(f64),
    /// How it reads in a list, and its value on a problem.
    Of(&'static str, fn(&Problem) -> f64),
}

impl End {
    /// Half of the horizon, rounded down.
    pub(crate) const HALF_HORIZON: Self = Self::Of("floor(n/2)", |problem| (problem.horizon / 2) as f64);

    /// Its value on a problem.
    fn on(self, problem: &Problem) -> f64 {
        match self {
            Self::Fixed(x) => x,
            Self::Of(_, value) => value(problem),
        }
    }
}

/// How it reads in a list.
impl Display for End {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Fixed(x) => write!(f, "{x}"),
            Self::Of(text, _) => f.write_str(text),
        }
    }
}

/// A closed range of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Lower end.
    pub low: End,
    /// Upper end.
    pub high: End,
}

impl Range {
    pub(crate) const fn new(low: f64, high: f64) -> Self {
        Self { low: End::Fixed(low), high: End::Fixed(high) }
    }

    /// Lower and upper end on a problem.
    pub fn on(self, problem: &Problem) -> (f64, f64) {
        (self.low.on(problem), self.high.on(problem))
    }

    /// The ends where there is no problem to ask: those that depend on one are rounds or means, and never that large.
    pub(crate) fn fixed(self) -> (f64, f64) {
        let or = |end: End, none: f64| if let End::Fixed(x) = end { x } else { none };
        (or(self.low, -1e15), or(self.high, 1e15))
    }
}

/// How it reads in a list.
impl Display for Range {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "[{}, {}]", self.low, self.high)
    }
}

/// The value that training starts from.
#[derive(Clone, Copy, Debug)]
pub enum Initial {
    /// A number.
    Fixed(f64),
    /// How it reads in a list, and its value on a problem.
    Of(&'static str, fn(&Problem) -> f64),
    /// What a setting says, and its value.
    Setting(&'static str, fn(&Problem, &Choice) -> Result<f64>),
    /// The identity matrix; with a rank below the dimension, random rows whose W'W is the identity on average.
    Identity,
    /// Random weights, another for each seed of a training.
    Weights,
}

/// How it reads in a list.
impl Display for Initial {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Fixed(x) => write!(f, "{x}"),
            Self::Of(text, _) => f.write_str(text),
            Self::Setting(name, _) => write!(f, "the setting {name}"),
            Self::Identity => f.write_str("identity"),
            Self::Weights => f.write_str("random"),
        }
    }
}

/// In which coordinates training moves a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinate {
    /// The parameter itself.
    Plain,
    /// The parameter in units of such a size.
    Over(f64),
    /// Its logarithm, in steps that are so many times the others'.
    Log(f64),
    /// Its logarithm; in plain gradient ascent, which is the paper's, the parameter itself.
    Scale,
}

impl Coordinate {
    /// From a parameter to its coordinate.
    pub(crate) fn of(self, x: f64) -> f64 {
        match self {
            Self::Plain => x,
            Self::Over(unit) => x / unit,
            Self::Log(step) => x.ln() / step,
            Self::Scale => x.ln(),
        }
    }

    /// From a coordinate back to the parameter.
    pub(crate) fn value(self, u: f64) -> f64 {
        match self {
            Self::Plain => u,
            Self::Over(unit) => u * unit,
            Self::Log(step) => (u * step).exp(),
            Self::Scale => u.exp(),
        }
    }

    /// The derivative of the parameter with respect to its coordinate.
    pub(crate) fn slope(self, x: f64) -> f64 {
        match self {
            Self::Plain => 1.0,
            Self::Over(unit) => unit,
            Self::Log(step) => x * step,
            Self::Scale => x,
        }
    }
}

/// A unit in which a parameter moves, on a problem, from a policy's parameters.
pub(crate) type Unit = fn(&Problem, &Choice) -> f64;

/// A number, or a matrix.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// One number.
    Number,
    /// Rows and columns (or the length of a vector), which depend on the problem and on settings.
    Matrix(fn(&Choice) -> Vec<usize>),
}

/// A parameter of a policy: its name, where it starts, what it may be, and how training moves it.
///
/// ```
/// use gradband::Param;
/// let width = Param::positive("width", 1.0).feasible(0.01, 100.0);
/// assert_eq!(width.feasible.to_string(), "[0.01, 100]");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Param {
    /// What it is called.
    pub name: &'static str,
    /// One number or a matrix.
    pub shape: Shape,
    /// Where training starts, and what an untuned policy uses.
    pub initial: Initial,
    /// What evaluation accepts, for each number.
    pub domain: Range,
    /// Where training keeps it.
    pub feasible: Range,
    /// In which coordinates training moves it.
    pub coordinate: Coordinate,
    /// The unit of its coordinate where training starts, if it has one.
    pub unit: Option<Unit>,
    /// The setting that it depends on, and with which values of it there is such a parameter.
    pub when: Option<(&'static str, &'static [&'static str])>,
    /// Is it lowered after training, as long as that pays?
    pub polished: bool,
    /// Can it be learned, or only be set?
    pub learned: bool,
    /// A value that names do not mention.
    pub unsaid: Option<f64>,
}

impl Param {
    /// A positive number, which training moves by its logarithm.
    pub const fn positive(name: &'static str, initial: f64) -> Self {
        let range = Range::new(1e-6, 1e6);
        Self::number(name, Initial::Fixed(initial), range, range).log(1.0)
    }

    /// A number in [0, 1].
    pub const fn unit(name: &'static str, initial: f64) -> Self {
        let range = Range::new(0.0, 1.0);
        Self::number(name, Initial::Fixed(initial), range, range)
    }

    /// Any number.
    pub const fn real(name: &'static str, initial: f64) -> Self {
        let range = Range::new(-1e6, 1e6);
        Self::number(name, Initial::Fixed(initial), range, range)
    }

    /// The same, kept by training between two numbers.
    #[must_use]
    pub const fn feasible(self, low: f64, high: f64) -> Self {
        Self { feasible: Range::new(low, high), ..self }
    }

    /// The same, accepted between two numbers.
    #[must_use]
    pub const fn domain(self, low: f64, high: f64) -> Self {
        Self { domain: Range::new(low, high), ..self }
    }

    /// One number.
    pub(crate) const fn number(name: &'static str, initial: Initial, domain: Range, feasible: Range) -> Self {
        let (shape, coordinate) = (Shape::Number, Coordinate::Plain);
        let (unit, when, polished, learned, unsaid) = (None, None, false, true, None);
        Self { name, shape, initial, domain, feasible, coordinate, unit, when, polished, learned, unsaid }
    }

    /// W: contexts are projected before anything is estimated.
    pub(crate) const PROJECTION: Self = Self {
        name: "W",
        shape: Shape::Matrix(|choice| vec![choice.rank(), choice.columns()]),
        initial: Initial::Identity,
        domain: Range::new(-1e6, 1e6),
        feasible: Range::new(-1e3, 1e3),
        coordinate: Coordinate::Plain,
        unit: None,
        when: None,
        polished: false,
        learned: true,
        unsaid: None,
    };

    /// The weights of one layer of a network.
    pub(crate) const fn weights(name: &'static str, shape: fn(&Choice) -> Vec<usize>) -> Self {
        // Weights beyond this mean that something went wrong.
        let range = Range::new(-1e6, 1e6);
        Self { shape: Shape::Matrix(shape), ..Self::number(name, Initial::Weights, range, range) }
    }

    /// The same, moved by its logarithm.
    pub(crate) const fn log(self, step: f64) -> Self {
        Self { coordinate: Coordinate::Log(step), ..self }
    }

    /// The same, moved by its logarithm but in the paper's ascent.
    pub(crate) const fn scale(self) -> Self {
        Self { coordinate: Coordinate::Scale, ..self }
    }

    /// The same, moved in units that depend on where training starts.
    pub(crate) const fn over(self, unit: Unit) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// The same, lowered after training.
    pub(crate) const fn polished(self) -> Self {
        Self { polished: true, ..self }
    }

    /// The same, which is set and not learned.
    pub(crate) const fn set(self) -> Self {
        Self { learned: false, ..self }
    }

    /// The same, not mentioned at this value.
    pub(crate) const fn unsaid_at(self, x: f64) -> Self {
        Self { unsaid: Some(x), ..self }
    }

    /// The same, which is there only if a setting has one of these values.
    pub(crate) const fn when(self, setting: &'static str, values: &'static [&'static str]) -> Self {
        Self { when: Some((setting, values)), ..self }
    }
}

/// What a setting may be.
#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    /// true or false; false by default.
    Flag,
    /// One of these; the first is the default.
    OneOf(&'static [&'static str]),
    /// A number in a closed range.
    Number {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// What holds if it is not given: a number, or [`SettingValue::Auto`].
        default: SettingValue,
    },
    /// A whole number in a closed range.
    Count {
        /// Lower end.
        low: usize,
        /// Upper end.
        high: usize,
        /// What holds if it is not given.
        default: usize,
    },
    /// A whole number from 1 to the dimension of contexts, or `auto`.
    Rank,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingValue {
    /// Chosen by the policy.
    Auto,
    /// true or false.
    Flag(bool),
    /// A name.
    Word(&'static str),
    /// A number.
    Number(f64),
    /// A whole number.
    Count(usize),
}

/// As it is typed.
impl Display for SettingValue {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Flag(x) => x.fmt(f),
            Self::Word(x) => f.write_str(x),
            Self::Number(x) => x.fmt(f),
            Self::Count(x) => x.fmt(f),
        }
    }
}

/// A setting that is not learned.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its key in a spec.
    pub name: &'static str,
    /// Its values.
    pub allowed: Allowed,
    /// What it does.
    pub summary: &'static str,
}

impl Setting {
    /// What holds if it is not given.
    pub fn default(&self) -> SettingValue {
        match self.allowed {
            Allowed::Flag => SettingValue::Flag(false),
            Allowed::OneOf(values) => SettingValue::Word(values[0]),
            Allowed::Number { default, .. } => default,
            Allowed::Count { default, .. } => SettingValue::Count(default),
            Allowed::Rank => SettingValue::Auto,
        }
    }

    /// What can be given, for people.
    pub fn values(&self) -> String {
        match self.allowed {
            Allowed::Flag => "false | true".into(),
            Allowed::OneOf(values) => values.join(" | "),
            Allowed::Number { low, high, default } => {
                let auto = if default == SettingValue::Auto { "auto | " } else { "" };
                format!("{auto}[{low}, {high}]")
            }
            Allowed::Count { low, high, .. } => format!("{low} to {high}"),
            Allowed::Rank => "auto | 1 to d".into(),
        }
    }

    /// A value as typed, checked; `dim` is the dimension of contexts.
    pub(super) fn parse(&self, text: &str, dim: usize) -> Result<SettingValue> {
        let wrong = || {
            let found = crate::error::abridged(text);
            Error::new(self.name, format!("found '{found}', expected {}", self.values()))
        };
        if text == "auto" && self.default() == SettingValue::Auto {
            return Ok(SettingValue::Auto);
        }
        match self.allowed {
            Allowed::Flag => text.parse().map(SettingValue::Flag).map_err(|_| wrong()),
            Allowed::OneOf(values) => {
                let known = values.iter().find(|&&known| known == text);
                known
                    .map(|known| SettingValue::Word(known))
                    .ok_or_else(|| Error::unknown(self.name, text, values.iter().copied()))
            }
            Allowed::Number { low, high, .. } => {
                within(self.name, text.parse().map_err(|_| wrong())?, low, high).map(SettingValue::Number)
            }
            Allowed::Count { low, high, .. } => {
                count(self.name, text.parse().map_err(|_| wrong())?, low, high).map(SettingValue::Count)
            }
            Allowed::Rank => {
                count(self.name, text.parse().map_err(|_| wrong())?, 1, dim).map(SettingValue::Count)
            }
        }
    }
}
