//! A policy with its parameters and settings, checked against a problem.

use super::{Agent, Allowed, Coordinate, Initial, ParamInfo, PolicyInfo, SettingInfo, Shape, applicable};
use crate::exact::Progress;
use crate::lanes::One;
use crate::problem::Problem;
use crate::stream::{Key, Stream};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A policy, its parameters and settings.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Which policy.
    pub info: &'static PolicyInfo,
    /// All numbers, in the order of [`Self::slots`], matrices row by row.
    pub params: Vec<f64>,
    settings: BTreeMap<&'static str, String>,
    /// Dimension of the contexts; 0 if there are none.
    dim: usize,
    arms: usize,
}

/// Where a parameter stands among all numbers.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The parameter.
    pub info: &'static ParamInfo,
    /// Its dimensions: an empty list is a number.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub range: std::ops::Range<usize>,
}

impl Choice {
    /// The policy with its initial parameters and default settings.
    pub fn initial(info: &'static PolicyInfo, problem: &Problem) -> Result<Self> {
        if let Some(reason) = info.refusal(problem) {
            let others: Vec<_> = applicable(problem).map(|info| info.name).collect();
            let message = format!("{} {reason}; on this problem use one of {}", info.name, others.join(", "));
            return Err(Error::new("policy", message));
        }
        let settings =
            info.settings.iter().map(|setting| (setting.name, setting.default().to_string())).collect();
        let dim = problem.contextual().map_or(0, |contextual| contextual.dim());
        let mut choice = Self { info, params: Vec::new(), settings, dim, arms: problem.arms };
        choice.params = choice.slots().iter().flat_map(|slot| choice.start(slot, problem)).collect();
        Ok(choice)
    }

    /// What is learned, and where it stands among the numbers.
    pub fn slots(&self) -> Vec<Slot> {
        let mut end = 0;
        let learned =
            self.info.params.iter().filter(|info| info.when.is_none_or(|flag| self.setting(flag) == "true"));
        let slot = |info: &'static ParamInfo| {
            let shape = match info.shape {
                Shape::Number => Vec::new(),
                Shape::Matrix(shape) => shape(self),
            };
            let start = end;
            end += shape.iter().product::<usize>();
            Slot { info, shape, range: start..end }
        };
        learned.map(slot).collect()
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
        self.setting("rank").parse().unwrap_or(self.dim)
    }

    fn start(&self, slot: &Slot, problem: &Problem) -> Vec<f64> {
        let (low, high) = slot.info.feasible.on(problem);
        match slot.info.initial {
            Initial::Fixed(x) => vec![x],
            Initial::Of(_, value) => vec![value(problem).clamp(low, high.max(low))],
            Initial::Setting(_, value) => vec![value(problem, self).clamp(low, high.max(low))],
            Initial::Identity => projection(slot.shape[0], slot.shape[1]),
            // Whoever trains draws others.
            Initial::Weights => vec![0.0; slot.range.len()],
        }
    }

    /// A name for each number: `w`, or `W[1,2]` for the second entry of the first row.
    pub fn number_names(&self) -> Vec<String> {
        let names = |slot: Slot| -> Vec<String> {
            match slot.shape[..] {
                [rows, columns] => (0..rows * columns)
                    .map(|k| format!("{}[{},{}]", slot.info.name, k / columns + 1, k % columns + 1))
                    .collect(),
                [length] => (1..=length).map(|i| format!("{}[{i}]", slot.info.name)).collect(),
                _ => vec![slot.info.name.into()],
            }
        };
        self.slots().into_iter().flat_map(names).collect()
    }

    /// In which coordinates training moves each number.
    pub(crate) fn coordinates(&self) -> Vec<Coordinate> {
        self.slots().iter().flat_map(|slot| vec![slot.info.coordinate; slot.range.len()]).collect()
    }

    /// The parameter of that name.
    pub(crate) fn param(&self, name: &str) -> Option<&[f64]> {
        let slot = self.slots().into_iter().find(|slot| slot.info.name == name)?;
        Some(&self.params[slot.range])
    }

    /// The same policy at other parameters, which must be in its domain.
    pub fn with_params(&self, problem: &Problem, params: &[f64]) -> Result<Self> {
        let slots = self.slots();
        let expected = slots.last().map_or(0, |slot| slot.range.end);
        if params.len() != expected {
            let describe = |slot: &Slot| match slot.shape[..] {
                [rows, columns] => format!("{} ({rows} x {columns})", slot.info.name),
                [length] => format!("{} ({length})", slot.info.name),
                _ => slot.info.name.to_string(),
            };
            let names: Vec<_> = slots.iter().map(describe).collect();
            let takes =
                if names.is_empty() { "none".into() } else { format!("{expected} ({})", names.join(", ")) };
            let message = format!("found {} parameter(s), {} takes {takes}", params.len(), self.info.name);
            return Err(Error::new("params", message));
        }
        for slot in &slots {
            let (low, high) = slot.info.domain.on(problem);
            for &x in &params[slot.range.clone()] {
                crate::error::within(&format!("params ({})", slot.info.name), x, low, high)?;
            }
        }
        Ok(Self { params: params.to_vec(), ..self.clone() })
    }

    /// The same policy with the numbers of one parameter changed.
    pub fn with_param(&self, problem: &Problem, name: &str, values: &[f64]) -> Result<Self> {
        let slots = self.slots();
        let slot = slots.iter().find(|slot| slot.info.name == name);
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
        self.with_params(problem, &params)
    }

    /// The same policy with one parameter or setting changed by name.
    pub fn with(&self, problem: &Problem, key: &str, value: &str) -> Result<Self> {
        let old_slots = self.slots();
        if old_slots.iter().any(|slot| slot.info.name == key) {
            let x =
                value.parse().map_err(|_| Error::new(key, format!("found '{value}', expected a number")))?;
            return self.with_param(problem, key, &[x]);
        }
        let setting = self.info.settings.iter().find(|setting| setting.name == key);
        let setting = setting.ok_or_else(|| self.unknown_key(key))?;
        let mut changed = self.clone();
        changed.settings.insert(setting.name, self.checked(setting, value)?);
        // Another shape or another start: what keeps its name and shape keeps its value, unless it starts from
        // this very setting.
        let kept = |slot: &Slot| {
            let old =
                old_slots.iter().find(|old| old.info.name == slot.info.name && old.shape == slot.shape)?;
            let restarts = matches!(slot.info.initial, Initial::Setting(name, _) if name == key);
            (!restarts).then(|| self.params[old.range.clone()].to_vec())
        };
        let slots = changed.slots();
        let start = |slot| kept(slot).unwrap_or_else(|| changed.start(slot, problem));
        changed.params = slots.iter().flat_map(start).collect();
        Ok(changed)
    }

    fn checked(&self, setting: &SettingInfo, value: &str) -> Result<String> {
        let number = |low: f64, high: f64| {
            let x = value.parse().map_err(|_| {
                Error::new(setting.name, format!("found '{value}', expected {}", setting.values()))
            })?;
            crate::error::within(setting.name, x, low, high)
        };
        match setting.allowed {
            Allowed::OneOf(values) => {
                let known = values.iter().find(|&&known| known == value);
                known
                    .map(|known| known.to_string())
                    .ok_or_else(|| Error::unknown(setting.name, value, values.iter().copied()))
            }
            Allowed::Number { .. } | Allowed::Rank if value == "auto" && setting.default() == "auto" => {
                Ok(value.into())
            }
            Allowed::Number { low, high, .. } => number(low, high).map(|x| x.to_string()),
            Allowed::Rank | Allowed::Count { .. } => {
                let (low, high) = match setting.allowed {
                    Allowed::Count { low, high, .. } => (low, high),
                    _ => (1, self.dim),
                };
                let x = number(low as f64, high as f64)?;
                let whole = x.fract() == 0.0;
                whole.then(|| x.to_string()).ok_or_else(|| {
                    Error::new(setting.name, format!("found {value}, expected a whole number"))
                })
            }
        }
    }

    fn unknown_key(&self, key: &str) -> Error {
        let known = self.info.params.iter().map(|param| param.name);
        let known = known.chain(self.info.settings.iter().map(|setting| setting.name));
        if let Some(flag) =
            self.info.params.iter().find(|param| param.name == key).and_then(|param| param.when)
        {
            return Error::new(key, format!("is a parameter only with {flag} = true"));
        }
        Error::unknown(self.info.name, key, known)
    }

    /// The value of a setting; empty if the policy has none of that name.
    pub fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The settings and their values.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.settings.iter().map(|(&name, value)| (name, value.as_str()))
    }

    /// Computes what the policy needs before it plays, so that [`Self::agent`] finds it; `None` if `progress`
    /// stops it.
    pub fn prepare(&self, problem: &Problem, progress: &mut Progress) -> Option<()> {
        self.info.preparation.map_or(Some(()), |preparation| (preparation.run)(problem, progress))
    }

    /// The policy, ready to play. What it needs is computed now unless it was prepared.
    pub fn agent(&self, problem: &Problem) -> Box<dyn Agent> {
        (self.info.build)(problem, self)
    }

    /// Refuses policies with nothing to learn.
    pub fn check_learnable(&self, problem: &Problem) -> Result<()> {
        if !self.params.is_empty() {
            return Ok(());
        }
        let learnable = applicable(problem).filter(|info| !info.params.is_empty());
        let learnable: Vec<_> = learnable.map(|info| info.name).collect();
        let message = format!("{} has nothing to learn; use one of {}", self.info.name, learnable.join(", "));
        Err(Error::new("policy", message))
    }

    /// The policy, ready for its gradient: it must have one at these parameters.
    pub fn scored_agent(&self, problem: &Problem) -> Result<Box<dyn Agent>> {
        self.check_learnable(problem)?;
        let agent = self.agent(problem);
        match agent.unscored() {
            None => Ok(agent),
            Some(reason) => Err(Error::new("params", format!("{} {reason}", self.info.name))),
        }
    }

    /// The nearest parameters in the feasible set: where training keeps them.
    pub fn project(&self, problem: &Problem, params: &mut [f64]) {
        for slot in self.slots() {
            let (low, high) = slot.info.feasible.on(problem);
            params[slot.range].iter_mut().for_each(|x| *x = x.clamp(low, high.max(low)));
        }
    }

    /// Reads `name` or `name(param=value,…)`. The place of an error is empty, or `(name, param)`.
    pub fn parse(text: &str, problem: &Problem) -> Result<Self> {
        let here = |error: Error| Error::new("", error.message);
        let text = text.trim();
        let (name, inner) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(inner) => (name.trim_end(), Some(inner)),
                None => return Err(Error::new("", format!("found '{text}', expected a ')' at its end"))),
            },
        };
        let initial = Self::initial(super::policy(name).map_err(here)?, problem).map_err(here)?;
        inner.into_iter().flat_map(|inner| inner.split(',')).try_fold(initial, |choice, part| {
            let Some((key, value)) = part.split_once('=') else {
                return Err(Error::new("", format!("found '{part}' in '{text}', expected param=value")));
            };
            let (key, value) = (key.trim(), value.trim());
            choice
                .with(problem, key, value)
                .map_err(|error| Error::new(format!("({name}, {key})"), error.message))
        })
    }

    /// `name(param=value, …)`, as it can be typed again; matrices and values that are usual are left out.
    pub fn label(&self) -> String {
        let slots = self.slots();
        let numbers = slots.iter().filter(|slot| slot.shape.is_empty());
        let mut parts: Vec<_> =
            numbers.map(|slot| format!("{}={}", slot.info.name, self.params[slot.range.start])).collect();
        let changed = self.info.settings.iter().filter(|info| self.setting(info.name) != info.default());
        parts.extend(changed.map(|info| format!("{}={}", info.name, self.setting(info.name))));
        if parts.is_empty() {
            self.info.name.into()
        } else {
            format!("{}({})", self.info.name, parts.join(","))
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
