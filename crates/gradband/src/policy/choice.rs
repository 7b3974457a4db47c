//! A policy on a problem: all parameters and settings filled in and checked.

use super::definition::{Learns, PolicyKind};
use super::description::Description;
use super::params::{Coordinate, Initial, Param, SettingValue, Shape};
use super::prepared::Prepared;
use crate::error::{Error, ErrorKind, Place, Result, within};
use crate::numeric::lanes::One;
use crate::numeric::stream::{Key, Stream};
use crate::observe::Observer;
use crate::problem::Problem;
use crate::simulate::Player;
use std::collections::BTreeMap;

/// A policy with all its parameters and settings, for problems of one shape.
#[derive(Clone, Debug)]
pub struct Choice {
    kind: PolicyKind,
    params: Vec<f64>,
    settings: BTreeMap<&'static str, SettingValue>,
    /// Dimension of the contexts; 0 if there are none.
    dim: usize,
    arms: usize,
    state: State,
}

/// How final the parameters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// They are what they are.
    Known,
    /// A setting asks for a search on the problem, which is still to be run.
    Unfitted,
    /// A network whose weights are still to be learned.
    Untrained,
}

/// Where a parameter stands among all numbers.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The parameter.
    pub param: Param,
    /// Its dimensions: an empty list is a number.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub range: std::ops::Range<usize>,
}

/// Numbers that a network may have.
const MOST_NUMBERS: usize = 4_000_000;
/// The same for policies whose numbers are learned by their score, and are written as text: a W for five hundred features.
const MOST_SCORED: usize = 300_000;

impl Slot {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.param.name
    }
}

impl Choice {
    /// The policy with its initial parameters and default settings, on a problem that it does not refuse. A rank that is said
    /// counts at once: a W for all features may be too large.
    pub(super) fn complete(kind: &PolicyKind, problem: &Problem, rank: Option<&str>) -> Result<Self> {
        let settings = kind.settings().iter().map(|setting| (setting.name, setting.default())).collect();
        let dim = problem.contextual().map_or(0, |contextual| contextual.dim());
        let mut choice = Self {
            kind: kind.clone(),
            params: Vec::new(),
            settings,
            dim,
            arms: problem.arms,
            state: State::Known,
        };
        let setting = kind.settings().iter().find(|setting| setting.name == "rank");
        // What is wrong with it is said when it is set.
        let rank = setting.zip(rank).and_then(|(setting, rank)| setting.parse(rank, choice.columns()).ok());
        choice.settings.extend(rank.map(|rank| ("rank", rank)));
        choice.restart(problem, |_| None)?;
        Ok(choice)
    }

    /// Fills in the parameters: those that `kept` has, and initial values for the rest.
    fn restart(&mut self, problem: &Problem, kept: impl Fn(&Slot) -> Option<Vec<f64>>) -> Result<()> {
        let slots = self.slots();
        self.check_size(&slots)?;
        let untrained =
            slots.iter().any(|slot| matches!(slot.param.initial, Initial::Weights) && kept(slot).is_none());
        let mut params = Vec::new();
        for slot in &slots {
            params.extend(kept(slot).map_or_else(|| self.start(slot, problem), Ok)?);
        }
        self.params = params;
        self.state = if untrained { State::Untrained } else { State::Known };
        Ok(())
    }

    /// Refuses what would not fit into memory, before any of it is taken: an ascent keeps some eight copies.
    fn check_size(&self, slots: &[Slot]) -> Result<()> {
        let numbers = slots.last().map_or(0, |slot| slot.range.end);
        let scored = self.kind.learns() == Learns::Score;
        let most = if scored { MOST_SCORED } else { MOST_NUMBERS };
        let Some(largest) = slots.iter().max_by_key(|slot| slot.range.len()).filter(|_| numbers > most)
        else {
            return Ok(());
        };
        let shape: Vec<String> = largest.shape.iter().map(usize::to_string).collect();
        // Measured with a thousand features: 47 s an iteration, files of 45 MB.
        let columns = largest.shape.last().copied().unwrap_or(1);
        let scored = scored.then(|| {
            let (seconds, megabytes) = (5e-8 * (numbers * columns) as f64, 45e-6 * numbers as f64);
            format!(", an iteration about {seconds:.0} s, its files {megabytes:.0} MB each")
        });
        let message = format!(
            "{} would have {numbers} numbers here, at most {most} are allowed: {} is {}, and training would take \
             about {:.1} GB{}; ask for a smaller rank or network, or leave features out",
            self.name(),
            largest.name(),
            shape.join(" x "),
            64e-9 * numbers as f64,
            scored.unwrap_or_default()
        );
        Err(Error::of("policy", ErrorKind::TooLarge(message)))
    }

    /// The policy with these settings for so many arms and features, without a problem to ask for anything else: its numbers are
    /// still to be given.
    pub(super) fn stored(
        kind: &PolicyKind,
        (arms, dim): (usize, usize),
        said: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let mut settings: BTreeMap<_, _> =
            kind.settings().iter().map(|setting| (setting.name, setting.default())).collect();
        for (key, value) in said {
            let place = || Place::from("policy.settings").then(Place::key(key));
            let setting = kind.settings().iter().find(|setting| setting.name == key).ok_or_else(|| {
                Error::unknown(place(), key, kind.settings().iter().map(|setting| setting.name))
            })?;
            // A constant feature may come after those of the contexts.
            let value = setting.parse(value, dim + 1).map_err(|error| error.at(place()))?;
            settings.insert(setting.name, value);
        }
        Ok(Self { kind: kind.clone(), params: Vec::new(), settings, dim, arms, state: State::Untrained })
    }

    /// The policy with these settings and numbers, on a problem on which it was found; the numbers may be out of bounds.
    pub(super) fn of_parts(
        kind: &PolicyKind,
        problem: &Problem,
        settings: &BTreeMap<String, String>,
        params: Vec<f64>,
    ) -> Result<Self> {
        let dim = problem.contextual().map_or(0, |contextual| contextual.dim());
        let found = Self::stored(kind, (problem.arms, dim), settings)?;
        found.check_count(&params)?;
        Ok(Self { params, state: State::Known, ..found })
    }

    /// What others need to have it too, at these numbers.
    pub(crate) fn description(&self, params: &[f64]) -> Description {
        let settings = self.settings().map(|(name, value)| (name, value.to_string())).collect();
        Description { name: self.name().into(), settings, params: params.to_vec() }
    }

    fn check_count(&self, params: &[f64]) -> Result<()> {
        let expected = self.slots().last().map_or(0, |slot| slot.range.end);
        if params.len() == expected {
            return Ok(());
        }
        let message = format!("found {} numbers, {} takes {expected}", params.len(), self.name());
        Err(Error::new("params", message))
    }

    /// The same with its numbers, as far as they can be checked without a problem.
    pub(super) fn with_stored(self, params: &[f64]) -> Result<Self> {
        self.check_count(params)?;
        for slot in &self.slots() {
            let (low, high) = slot.param.domain.fixed();
            for (i, &x) in params[slot.range.clone()].iter().enumerate() {
                within("", x, low, high)
                    .map_err(|error| error.at(Place::key("params").then(slot.place(i))))?;
            }
        }
        Ok(Self { params: params.to_vec(), state: State::Known, ..self })
    }

    /// Which policy.
    pub fn kind(&self) -> &PolicyKind {
        &self.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.kind.name()
    }

    /// All numbers, in the order of [`Self::slots`], matrices row by row.
    pub fn params(&self) -> &[f64] {
        &self.params
    }

    /// Are its parameters known, or are they the weights of a network that nobody has trained?
    pub fn is_trained(&self) -> bool {
        self.state != State::Untrained
    }

    /// Are its parameters final: neither weights that nobody has trained, nor what a search has still to find?
    pub fn is_known(&self) -> bool {
        self.state == State::Known
    }

    /// What is learned, and where it stands among the numbers.
    pub fn slots(&self) -> Vec<Slot> {
        let mut end = 0;
        let set = |setting| self.settings.get(setting).map(SettingValue::to_string);
        let there = |param: &&Param| match param.when {
            Some((setting, values)) => set(setting).is_some_and(|value| values.contains(&value.as_str())),
            None => true,
        };
        let params = self.kind.params().iter().filter(there);
        let slot = |param: &Param| {
            let shape = match param.shape {
                Shape::Number => Vec::new(),
                Shape::Matrix(shape) => shape(self),
            };
            let start = end;
            end += shape.iter().product::<usize>();
            Slot { param: *param, shape, range: start..end }
        };
        params.map(slot).collect()
    }

    /// d: the dimension of contexts.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// K.
    pub(crate) fn arms(&self) -> usize {
        self.arms
    }

    /// Rows of W.
    pub(crate) fn rank(&self) -> usize {
        self.count("rank").unwrap_or(self.columns())
    }

    /// Columns of W: a constant feature may come after those of the contexts.
    pub(crate) fn columns(&self) -> usize {
        self.dim + usize::from(self.has_intercept())
    }

    /// Does the policy see a constant feature?
    pub(crate) fn has_intercept(&self) -> bool {
        self.word("intercept") == Some("true")
    }

    fn start(&self, slot: &Slot, problem: &Problem) -> Result<Vec<f64>> {
        let (low, high) = slot.param.feasible.on(problem);
        Ok(match slot.param.initial {
            Initial::Fixed(x) => vec![x],
            Initial::Of(_, value) => vec![value(problem).clamp(low, high.max(low))],
            Initial::Setting(_, value) => vec![value(problem, self)?.clamp(low, high.max(low))],
            Initial::Identity => projection(slot.shape[0], slot.shape[1]),
            // Not weights to play with: whoever trains draws others.
            Initial::Weights => vec![0.0; slot.range.len()],
        })
    }

    /// A name for each number: `w`, or `W[1,2]` for the second entry of the first row.
    pub fn number_names(&self) -> Vec<String> {
        let names = |slot: Slot| -> Vec<String> {
            let name = slot.name();
            match slot.shape[..] {
                [rows, columns] => (0..rows * columns)
                    .map(|k| format!("{name}[{},{}]", k / columns + 1, k % columns + 1))
                    .collect(),
                [length] => (1..=length).map(|i| format!("{name}[{i}]")).collect(),
                _ => vec![name.into()],
            }
        };
        self.slots().into_iter().flat_map(names).collect()
    }

    /// In which coordinates training moves each number.
    pub(crate) fn coordinates(&self, problem: &Problem) -> Vec<Coordinate> {
        let coordinate = |slot: &Slot| {
            let unit = slot.param.unit.map(|unit| Coordinate::Over(unit(problem, self)));
            vec![unit.unwrap_or(slot.param.coordinate); slot.range.len()]
        };
        self.slots().iter().flat_map(coordinate).collect()
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&[f64]> {
        let slot = self.slots().into_iter().find(|slot| slot.name() == name)?;
        Some(&self.params[slot.range])
    }

    /// The one number of a parameter that the policy always has.
    pub(crate) fn scalar(&self, name: &str) -> Result<f64> {
        let found = self.param(name).and_then(|numbers| numbers.first().copied());
        found.ok_or_else(|| self.unknown_key(name))
    }

    /// The same policy at other parameters, which must be in its domain.
    pub fn with_params(&self, problem: &Problem, params: &[f64]) -> Result<Self> {
        let slots = self.slots();
        let expected = slots.last().map_or(0, |slot| slot.range.end);
        if params.len() != expected {
            let describe = |slot: &Slot| match slot.shape[..] {
                [rows, columns] => format!("{} ({rows} x {columns})", slot.name()),
                [length] => format!("{} ({length})", slot.name()),
                _ => slot.name().to_string(),
            };
            let names: Vec<_> = slots.iter().map(describe).collect();
            let takes =
                if names.is_empty() { "none".into() } else { format!("{expected} ({})", names.join(", ")) };
            let message = format!("found {} parameter(s), {} takes {takes}", params.len(), self.name());
            return Err(Error::new("params", message));
        }
        for slot in &slots {
            let (low, high) = slot.param.domain.on(problem);
            for (i, &x) in params[slot.range.clone()].iter().enumerate() {
                within("", x, low, high)
                    .map_err(|error| error.at(Place::key("params").then(slot.place(i))))?;
            }
        }
        Ok(Self { params: params.to_vec(), state: State::Known, ..self.clone() })
    }

    /// The same for another problem of its shape: what starts from the data starts from the other's, what was set stays.
    pub(crate) fn restarted(&self, problem: &Problem, other: &Problem) -> Result<Self> {
        let set = |slot: &Slot| {
            let numbers = &self.params[slot.range.clone()];
            (self.start(slot, problem).ok()? != numbers).then(|| numbers.to_vec())
        };
        let mut restarted = self.clone();
        restarted.restart(other, set)?;
        Ok(restarted)
    }

    /// Are the numbers of a parameter those that it starts from?
    pub(crate) fn is_at_start(&self, problem: &Problem, name: &str) -> Result<bool> {
        let slots = self.slots();
        let slot = slots.iter().find(|slot| slot.name() == name).ok_or_else(|| self.unknown_key(name))?;
        Ok(self.start(slot, problem)? == self.params[slot.range.clone()])
    }

    /// The same policy with the numbers of one parameter changed.
    pub fn with_param(&self, problem: &Problem, name: &str, values: &[f64]) -> Result<Self> {
        let slots = self.slots();
        let slot = slots.iter().find(|slot| slot.name() == name);
        let slot = slot.ok_or_else(|| self.unknown_key(name))?;
        if values.len() != slot.range.len() {
            let expected = match slot.shape[..] {
                [rows, columns] => format!("{} ({rows} x {columns}, row by row)", rows * columns),
                [length] => length.to_string(),
                _ => "1".into(),
            };
            return Err(Error::new(name, format!("found {} number(s), expected {expected}", values.len())));
        }
        let mut params = self.params.clone();
        params[slot.range.clone()].copy_from_slice(values);
        let changed = self.with_params(problem, &params)?;
        // A part of the weights does not make a network.
        let state = if self.is_trained() { State::Known } else { State::Untrained };
        Ok(Self { state, ..changed })
    }

    /// The same policy with one parameter or setting changed by name.
    pub fn with(&self, problem: &Problem, key: &str, value: &str) -> Result<Self> {
        let old_slots = self.slots();
        if old_slots.iter().any(|slot| slot.name() == key) {
            let found = crate::error::abridged(value);
            let x =
                value.parse().map_err(|_| Error::new(key, format!("found '{found}', expected a number")))?;
            return self.with_param(problem, key, &[x]);
        }
        let setting = self.kind.settings().iter().find(|setting| setting.name == key);
        let setting = *setting.ok_or_else(|| self.unknown_key(key))?;
        let mut changed = self.clone();
        changed.settings.insert(setting.name, setting.parse(value, self.columns())?);
        // Another shape or another start: what keeps its name and shape keeps its value, unless it starts from
        // this very setting.
        let trained = self.is_trained();
        let kept = |slot: &Slot| {
            let old = old_slots.iter().find(|old| old.name() == slot.name() && old.shape == slot.shape)?;
            let restarts = matches!(slot.param.initial, Initial::Setting(name, _) if name == key);
            (trained && !restarts).then(|| self.params[old.range.clone()].to_vec())
        };
        changed.restart(problem, kept)?;
        // A search that was asked for is still to be run, whatever else changed.
        let asks = |slot: &Slot| match slot.param.initial {
            Initial::Setting(name, _) => {
                changed.word(name) == Some("tuned") && (name == key || self.state == State::Unfitted)
            }
            _ => false,
        };
        if self.kind.define().fit().is_some() && changed.slots().iter().any(asks) {
            changed.state = State::Unfitted;
        }
        Ok(changed)
    }

    fn unknown_key(&self, key: &str) -> Error {
        let known = self.kind.params().iter().map(|param| param.name);
        let known = known.chain(self.kind.settings().iter().map(|setting| setting.name));
        if let Some((setting, values)) =
            self.kind.params().iter().find(|param| param.name == key).and_then(|param| param.when)
        {
            return Error::new(key, format!("is a parameter only with {setting} = {}", values.join(" or ")));
        }
        Error::unknown(key, key, known)
    }

    /// A setting that is true or false; false if the policy has none of that name.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.settings.get(name), Some(SettingValue::Flag(true)))
    }

    /// A setting that is a number, unless it is automatic.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.settings.get(name) {
            Some(&SettingValue::Number(x)) => Some(x),
            _ => None,
        }
    }

    /// A setting that is a whole number, unless it is automatic.
    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        match self.settings.get(name) {
            Some(&SettingValue::Count(x)) => Some(x),
            _ => None,
        }
    }

    /// A setting that is a name.
    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        match self.settings.get(name) {
            Some(SettingValue::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The settings and their values.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, SettingValue)> {
        self.settings.iter().map(|(&name, &value)| (name, value))
    }

    /// The same with the parameters that a setting leaves to a search on the problem; itself if there are none.
    pub fn fitted(&self, problem: &Problem, observer: &mut dyn Observer) -> Result<Self> {
        match (self.state, self.kind.define().fit()) {
            (State::Unfitted, Some(fit)) => fit(problem, self, observer),
            _ => Ok(self.clone()),
        }
    }

    /// About how long it takes until it can play its first round.
    pub fn preparation_seconds(&self, problem: &Problem) -> f64 {
        self.kind.define().seconds(problem, Some(self))
    }

    /// Numbers that training moves.
    pub(crate) fn learned(&self) -> usize {
        self.slots().iter().filter(|slot| slot.param.learned).map(|slot| slot.range.len()).sum()
    }

    /// The same, played without chance if it can be set to `hard`.
    pub(crate) fn hard(&self, problem: &Problem) -> Result<Self> {
        match self.settings.contains_key("hard") {
            true => self.with(problem, "hard", "true"),
            false => Ok(self.clone()),
        }
    }

    /// The policy, ready to play. What it needs is computed now, unless it is remembered.
    pub fn player(&self, problem: &Problem, observer: &mut dyn Observer) -> Result<Box<dyn Player>> {
        self.check_problem(problem)?;
        match self.state {
            State::Known => {
                let player = self.kind.define().player(problem, self, observer)?;
                Ok(Box::new(Prepared::new(self.description(&self.params), problem, player)))
            }
            State::Unfitted => self.fitted(problem, observer)?.player(problem, observer),
            State::Untrained => Err(Error::of("policy", ErrorKind::Untrained { policy: self.name().into() })),
        }
    }

    /// Refuses problems of another shape than that which the parameters are for, and worlds that the policy does not play
    /// in.
    pub(crate) fn check_problem(&self, problem: &Problem) -> Result<()> {
        let dim = problem.contextual().map_or(0, |contextual| contextual.dim());
        if (dim, problem.arms) == (self.dim, self.arms) {
            let refused = |reason| Err(Error::new("policy", format!("{} {reason}", self.name())));
            return self.kind.worlds().refusal(problem).map_or(Ok(()), refused);
        }
        let message = format!(
            "{} is set up for {} arms and {} features, but {} has {} and {dim}",
            self.name(),
            self.arms,
            self.dim,
            problem.name,
            problem.arms
        );
        Err(Error::new("problem", message))
    }

    /// The nearest parameters in the feasible set: where training keeps them.
    pub(crate) fn project(&self, problem: &Problem, params: &mut [f64]) {
        for slot in self.slots() {
            let (low, high) = slot.param.feasible.on(problem);
            params[slot.range].iter_mut().for_each(|x| *x = x.clamp(low, high.max(low)));
        }
    }

    /// `name(param=value, …)`, as it can be typed again; matrices, values that are usual and those that are not known
    /// yet are left out.
    pub fn label(&self) -> String {
        let slots = self.slots();
        let is_changed = |name: &str| {
            let setting = self.kind.settings().iter().find(|setting| setting.name == name);
            setting.is_some_and(|setting| self.settings.get(name) != Some(&setting.default()))
        };
        // A value is usual only where nothing else would come from a setting.
        let said = |slot: &&Slot| {
            slot.param.unsaid != Some(self.params[slot.range.start])
                || matches!(slot.param.initial, Initial::Setting(name, _) if is_changed(name))
        };
        let numbers = slots.iter().filter(|slot| slot.shape.is_empty() && self.is_known()).filter(said);
        let mut parts: Vec<_> =
            numbers.map(|slot| format!("{}={}", slot.name(), self.params[slot.range.start])).collect();
        let changed = self.kind.settings().iter().filter(|setting| is_changed(setting.name));
        parts.extend(changed.map(|setting| format!("{}={}", setting.name, self.settings[setting.name])));
        if parts.is_empty() { self.name().into() } else { format!("{}({})", self.name(), parts.join(",")) }
    }
}

impl Slot {
    /// The place of its i-th number.
    pub(super) fn place(&self, i: usize) -> Place {
        match self.shape[..] {
            [_, columns] => Place::key(self.name()).index(i / columns).index(i % columns),
            [_] => Place::key(self.name()).index(i),
            _ => Place::key(self.name()),
        }
    }
}

/// The identity; with fewer rows than columns, normal rows whose W'W is the identity on average: no feature is
/// preferred before anything is learned.
fn projection(rows: usize, columns: usize) -> Vec<f64> {
    if rows == columns {
        let entry = |i: usize| f64::from(u8::from(i.is_multiple_of(columns + 1)));
        return (0..rows * columns).map(entry).collect();
    }
    let mut stream = Stream::<One<f64>>::new((), Key::new(0), 0);
    (0..rows * columns).map(|_| stream.normal_pair().0.0 / (rows as f64).sqrt()).collect()
}
