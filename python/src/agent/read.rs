//! What an agent is told, from objects of Python. Whatever is wrong with them is an error at its place.

use crate::convert::expected;
use gradband::agent::{Context, Row};
use gradband::{Error, Place, Pull, Result};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple};
use std::collections::BTreeMap;

/// An object that may be left out.
pub type Maybe<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

pub fn number(place: impl Into<Place>, value: &Bound<PyAny>) -> Result<f64> {
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Ok(value.value());
    }
    // A string is no number, whatever it spells.
    value.extract().map_err(|_| expected(place, value, "a number"))
}

pub fn text<'a>(place: impl Into<Place>, value: &'a Bound<PyAny>) -> Result<&'a str> {
    let text = value.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    text.ok_or_else(|| expected(place, value, "a string"))
}

pub fn texts(place: &str, value: &Bound<PyAny>) -> Result<Vec<String>> {
    // The letters of a string are no names.
    if value.is_instance_of::<PyString>() {
        return Err(expected(place, value, "a list of strings"));
    }
    let items = value.try_iter().map_err(|_| expected(place, value, "a list of strings"))?;
    let name = |(i, item): (usize, PyResult<Bound<PyAny>>)| {
        let item = item.map_err(|error| Error::new(place, error.to_string()))?;
        text(Place::key(place).index(i), &item).map(String::from)
    };
    items.enumerate().map(name).collect()
}

/// Raw features: by name, or in their order in a list, a tuple, an array or a row of a table.
pub fn context(value: Maybe) -> Result<Context> {
    let Some(value) = value.filter(|value| !value.is_none()) else { return Ok(Context::None) };
    if let Ok(list) = value.cast::<PyList>() {
        return values(list.len(), list.iter());
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return values(tuple.len(), tuple.iter());
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return named(dict);
    }
    // A row of a table knows the names of its columns, an array is a list.
    let py = value.py();
    if let Ok(row) = value.call_method0(pyo3::intern!(py, "to_dict"))
        && let Ok(dict) = row.cast::<PyDict>()
    {
        return named(dict);
    }
    if let Ok(list) = value.call_method0(pyo3::intern!(py, "tolist")) {
        let list = list.cast::<PyList>().map_err(|_| expected("context", &list, CONTEXT))?;
        return values(list.len(), list.iter());
    }
    Err(expected("context", value, CONTEXT))
}

const CONTEXT: &str = "a list of numbers, or numbers by the names of their features";

fn values<'py>(len: usize, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Result<Context> {
    let mut values = Vec::with_capacity(len);
    for (i, item) in items.enumerate() {
        values.push(match item.cast_exact::<PyFloat>() {
            Ok(x) => x.value(),
            Err(_) => number(Place::key("context").index(i), &item)?,
        });
    }
    Ok(Context::Values(values))
}

fn named(dict: &Bound<PyDict>) -> Result<Context> {
    let pairs = dict.iter().map(|(name, value)| {
        let name = text("context", &name)?;
        Ok((name.to_owned(), number(Place::key("context").then(Place::key(name)), &value)?))
    });
    Ok(Context::Named(pairs.collect::<Result<BTreeMap<_, _>>>()?))
}

/// What is asked for.
pub fn pull(context: Maybe, arms: Maybe, id: Maybe, unit: Maybe, at: Maybe) -> Result<Pull> {
    Ok(Pull {
        context: self::context(context)?,
        arms: arms.map(|arms| texts("arms", arms)).transpose()?,
        id: id.map(|id| text("id", id).map(String::from)).transpose()?,
        unit: unit.map(|unit| text("unit", unit).map(String::from)).transpose()?,
        at: at.map(|at| number("at", at)).transpose()?,
    })
}

/// The same from its parts in that order.
pub fn pull_of(parts: &Bound<PyTuple>) -> Result<Pull> {
    let [context, arms, id, unit, at] = &parts_of(parts)?;
    pull(context.as_ref(), arms.as_ref(), id.as_ref(), unit.as_ref(), at.as_ref())
}

/// (arm, reward, context, probability) as a row of a log.
pub fn row_of(parts: &Bound<PyTuple>) -> Result<Row> {
    let [arm, reward, context, probability] = &parts_of(parts)?;
    let none = parts.py().None().into_bound(parts.py());
    Ok(Row {
        arm: text("arm", arm.as_ref().unwrap_or(&none))?.into(),
        reward: reward.as_ref().map(|reward| number("reward", reward)).transpose()?,
        context: self::context(context.as_ref())?,
        probability: number("probability", probability.as_ref().unwrap_or(&none))?,
        ..Row::default()
    })
}

fn parts_of<'py, const N: usize>(parts: &Bound<'py, PyTuple>) -> Result<[Option<Bound<'py, PyAny>>; N]> {
    let parts: Vec<_> = parts.iter().map(|part| (!part.is_none()).then_some(part)).collect();
    let count = parts.len();
    parts.try_into().map_err(|_| Error::new("", format!("found {count} parts, expected {N}")))
}

/// Each of a list, by its place.
pub fn each<'py, T, U>(
    name: &str,
    list: &[Bound<'py, T>],
    read: impl Fn(&Bound<'py, T>) -> Result<U>,
) -> Result<Vec<U>> {
    let place = |i: usize| Place::key(name).index(i);
    list.iter().enumerate().map(|(i, item)| read(item).map_err(|error| error.within(place(i)))).collect()
}
