//! LIBSVM text: `label index:value ...`, indices from 1 and increasing, what is left out is 0.

use super::Columns;
use super::values::{is_missing, value};
use crate::lines::Lines;
use gradband::problem::{ExamplesBuilder, MAX_FEATURES};
use gradband::{Error, Place, Result, abridged};

/// Is this the beginning of LIBSVM text?
pub(super) fn looks_like_it(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n').filter(|line| line.first() != Some(&b'#'));
    // A line with a label alone is an example whose features are all 0: the next one tells.
    let fields = |line: &[u8]| -> Vec<Vec<u8>> {
        line.split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty())
            .map(<[u8]>::to_vec)
            .take(9)
            .collect()
    };
    let Some((line, fields)) = lines.map(|line| (line, fields(line))).find(|(_, fields)| fields.len() > 1)
    else {
        return false;
    };
    let before = line.split(|&byte| byte == b'#').next().unwrap_or(line);
    if before.iter().any(|byte| matches!(byte, b',' | b';' | b'"')) {
        return false;
    }
    let tabs = before.contains(&b'\t');
    let is_pair = |field: &Vec<u8>| {
        let colon = field.iter().position(|&byte| byte == b':');
        colon.is_some_and(|at| !tabs || at > 0 && field[..at].iter().all(u8::is_ascii_digit))
    };
    fields[1..].iter().take_while(|field| field[0] != b'#').all(is_pair)
}

pub(super) fn read(mut lines: Lines, label: Option<&str>, builder: &mut ExamplesBuilder) -> Result<Columns> {
    if let Some(label) = label {
        let message =
            format!("found `label` = '{}', but in a LIBSVM file the label is always first", abridged(label));
        return Err(Error::new(Place::file(lines.name), message));
    }
    let mut row = Vec::new();
    while lines.advance()? {
        let line = lines.text()?;
        let mut fields = line.split('#').next().unwrap_or(line).split_ascii_whitespace();
        let Some(label) = fields.next() else { continue };
        if is_missing(label) || label.contains(':') {
            return Err(lines.wrong(format!("found '{}', expected a label first", abridged(label))));
        }
        row.clear();
        for (field, position) in fields.zip(2..) {
            let place = || lines.place().then(Place::key(format!("field {position}")));
            add(&mut row, field).map_err(|wrong| wrong.error(place()))?;
        }
        builder.push(&row, label).map_err(|error| error.at(lines.place()))?;
    }
    Ok(Columns::default())
}

/// What is wrong with a field.
enum Wrong {
    /// It is not a pair, or its index is impossible.
    Field(String),
    /// The value of that feature is impossible.
    Value(usize, String),
}

impl Wrong {
    fn error(self, place: Place) -> Error {
        match self {
            Self::Field(message) => Error::new(place, message),
            Self::Value(index, message) => Error::new(place.column(index, format!("f{index}")), message),
        }
    }
}

/// Adds `index:value` to a row.
fn add(row: &mut Vec<f64>, field: &str) -> std::result::Result<(), Wrong> {
    let wrong = |expected: &str| Wrong::Field(format!("found '{}', expected {expected}", abridged(field)));
    let (index, text) = field.split_once(':').ok_or_else(|| wrong("index:value, such as 3:0.5"))?;
    let index = match index.parse::<usize>() {
        Ok(0) => return Err(wrong("indices from 1")),
        Ok(index) if index > MAX_FEATURES => {
            return Err(wrong(&format!("an index of at most {MAX_FEATURES}")));
        }
        Ok(index) if index <= row.len() => {
            return Err(wrong(&format!("increasing indices, above {}", row.len())));
        }
        Ok(index) => index,
        Err(_) => return Err(wrong("index:value with a whole number from 1 as index")),
    };
    let x = value(text).map_err(|message| Wrong::Value(index, message))?;
    row.resize(index - 1, 0.0);
    row.push(x);
    Ok(())
}
