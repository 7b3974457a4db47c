//! Arguments of Python as values of the library.

use crate::error::Result;
use gradband::learn::LearningRate;
use gradband::problem::{Keys, Value};
use gradband::{Error, Place, Step, abridged};
use gradband_files::TrainSpec;
use gradband_jobs::policies::Params;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// What something is, for messages.
fn found(value: &Bound<PyAny>) -> String {
    let shown = value.repr().map(|text| abridged(&text.to_string()));
    shown.unwrap_or_else(|_| "something that cannot be shown".into())
}

pub fn expected(place: impl Into<Place>, value: &Bound<PyAny>, what: &str) -> Error {
    Error::new(place, format!("found {}, expected {what}", found(value)))
}

/// Any value of a spec: numbers, text, lists, tables, and what has `tolist` (arrays and their numbers).
pub fn value(place: &Place, object: &Bound<PyAny>) -> Result<Value> {
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Flag(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        let whole = object.extract::<i64>();
        return whole
            .map(Value::Whole)
            .map_err(|_| expected(place.clone(), object, "a smaller number").into());
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Number(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::Text(object.extract()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return Ok(Value::Table(keys(place, dict)?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.enumerate();
        let items = items.map(|(i, item)| value(&place.clone().index(i), &item?));
        return Ok(Value::List(items.collect::<Result<_>>()?));
    }
    if let Ok(list) = object.call_method0("tolist") {
        return value(place, &list);
    }
    if let Ok(path) = object.call_method0("__fspath__") {
        return value(place, &path);
    }
    Err(expected(place.clone(), object, "a number, text, a list or a dict").into())
}

/// A dict as keys; what is `None` is not said.
pub fn keys(place: &Place, dict: &Bound<PyDict>) -> Result<Keys> {
    let mut keys = Keys::default();
    for (key, object) in dict.iter() {
        let Ok(name) = key.extract::<String>() else {
            return Err(expected(place.clone(), &key, "a key that is text").into());
        };
        if !object.is_none() {
            keys.set(&name, value(&place.clone().then(Place::key(&name)), &object)?);
        }
    }
    Ok(keys)
}

/// Keywords of a call, by name.
pub struct Keywords<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Keywords<'_, 'py> {
    /// Whatever it is.
    pub fn get(&self, name: &str) -> Result<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        Ok(Some(value.extract().map_err(|_| expected(name, &value, "a name"))?))
    }

    /// A whole number, not negative.
    pub fn count(&self, name: &str) -> Result<Option<usize>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let whole = !value.is_instance_of::<PyBool>();
        let number = value.extract::<usize>().ok().filter(|_| whole);
        Ok(Some(number.ok_or_else(|| expected(name, &value, "a whole number of at least 0"))?))
    }

    fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        Ok(Some(value.extract().map_err(|_| expected(name, &value, "a number"))?))
    }

    /// The seed; 1 if nobody says.
    pub fn seed(&self) -> Result<u64> {
        let Some(value) = self.get("seed")? else { return Ok(gradband_files::spec::SEED) };
        let range = "a whole number from 0 to 18446744073709551615";
        Ok(value.extract().map_err(|_| expected("seed", &value, range))?)
    }

    /// The parameters of a policy.
    pub fn params(&self) -> Result<Option<Params>> {
        let Some(object) = self.get("params")? else { return Ok(None) };
        Ok(Some(match value(&Place::key("params"), &object)? {
            Value::Text(text) => Params::Text(text),
            Value::Table(table) => {
                let values = table.names().filter_map(|name| Some((name.into(), table.get(name)?.clone())));
                Params::ByName(values.collect())
            }
            other => Params::Numbers(other.numbers("params")?),
        }))
    }

    /// How to train, as far as it is said.
    pub fn train(&self) -> Result<TrainSpec> {
        let learning_rate = match self.get("learning_rate")? {
            None => None,
            Some(value) if value.extract::<String>().is_ok_and(|text| text == "auto") => {
                Some(LearningRate::Auto)
            }
            Some(value) => {
                let number =
                    value.extract().map_err(|_| expected("learning_rate", &value, "'auto' or a number"));
                Some(LearningRate::Fixed(number?))
            }
        };
        Ok(TrainSpec {
            gradient: self.text("gradient")?,
            start: self.text("start")?,
            baseline: self.text("baseline")?,
            runs_per_instance: self.count("runs_per_instance")?,
            returns: self.text("returns")?,
            optimizer: self.text("optimizer")?,
            learning_rate,
            iterations: self.count("iterations")?,
            batch_size: self.count("batch_size")?,
            average: self.text("average")?,
            eval_instances: self.count("eval_instances")?,
            recipe: self.text("recipe")?,
            time_limit: self.number("time_limit")?,
            ..TrainSpec::default()
        })
    }
}

/// What specs that were no files are called. Nobody wrote their lines.
pub const SPEC: &str = "spec";

/// A place for people who wrote no file.
pub fn place(place: &Place) -> Place {
    match place.steps() {
        [Step::File(name), Step::Line(_), rest @ ..] | [Step::File(name), rest @ ..] if name == SPEC => {
            rest.iter().cloned().collect()
        }
        _ => place.clone(),
    }
}
