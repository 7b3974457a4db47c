//! CSV: a row per example, separated by commas, semicolons or tabs.

use super::Columns;
use super::header::Header;
use super::values::{is_text, missing_label, value};
use crate::lines::Lines;
use crate::records::{Records, counts_columns};
use gradband::problem::{ExamplesBuilder, MAX_FEATURES};
use gradband::{Error, Place, Result};

/// Rows that are looked at to tell a slip from a column of text.
const LOOK_AHEAD: usize = 1000;

pub(super) fn read(lines: Lines, label: Option<&str>, builder: &mut ExamplesBuilder) -> Result<Columns> {
    let name = lines.name;
    let empty = || Error::new(Place::file(name), "is empty; expected one line per example");
    let mut records = Records::new(lines)?.ok_or_else(empty)?;
    let (line, first) = first_record(&mut records)?;
    let mut more = records.advance()?;
    let second = more.then(|| records.record());
    let header = Header::new(&first, second, label, &Place::file(name).line(line))?;
    // Are those in the first line names or an example? The lines below it tell.
    let doubtful = !header.named && counts_columns(first.iter().map(String::as_str));
    let mut rows = Rows { name, columns: first.len(), row: Vec::with_capacity(first.len()), header };
    if !rows.header.named {
        rows.push(line, first.iter().map(String::as_str), builder).map_err(|bad| bad.error)?;
    } else if !more {
        return Err(Error::new(Place::file(name), "has a header but no example"));
    }
    while more {
        records.check_len(rows.columns)?;
        if let Err(bad) = rows.push(records.line(), records.record().iter(), builder) {
            return Err(if bad.is_text { text_found(&mut records, bad) } else { bad.error });
        }
        if doubtful && records.record().iter().any(|field| field.parse::<i64>().is_err()) {
            return Err(numbered_columns(Place::file(name).line(line)));
        }
        more = records.advance()?;
    }
    Ok(Columns { features: Some(rows.header.features()), note: rows.header.note })
}

/// Whole numbers in order that may well be the names of columns: taken for an example, they would be a class.
fn numbered_columns(place: Place) -> Error {
    let message = "the fields count the columns: are they names, or an example? If names, write them as words ('f0', \
                   'f1', 'label'); if an example, put a line with the names of the columns above";
    Error::new(place, message)
}

/// The line and the fields of the first record: names or values.
fn first_record(records: &mut Records) -> Result<(u64, Vec<String>)> {
    records.advance()?;
    let count = records.record().len();
    if !(2..=MAX_FEATURES + 1).contains(&count) {
        let message = format!(
            "found {count} column(s), expected 2 to {} (features and a label), separated by commas, semicolons or tabs",
            MAX_FEATURES + 1
        );
        return Err(records.wrong(message));
    }
    Ok((records.line(), records.record().iter().map(String::from).collect()))
}

/// Turns fields into examples.
struct Rows<'a> {
    name: &'a str,
    header: Header,
    columns: usize,
    /// The features of the current one.
    row: Vec<f64>,
}

/// What is wrong with a row.
struct Bad {
    error: Error,
    column: usize,
    /// Does text stand where a number should?
    is_text: bool,
}

impl Rows<'_> {
    /// Adds the example of that line.
    fn push<'f>(
        &mut self,
        line: u64,
        fields: impl Iterator<Item = &'f str>,
        builder: &mut ExamplesBuilder,
    ) -> std::result::Result<(), Bad> {
        self.row.clear();
        let mut label = "";
        for (column, field) in fields.enumerate() {
            if column == self.header.label {
                label = field;
                continue;
            }
            match value(field) {
                Ok(x) => self.row.push(x),
                Err(message) => return Err(self.bad(line, column, is_text(field), message)),
            }
        }
        if let Some(message) = missing_label(label) {
            return Err(self.bad(line, self.header.label, false, message));
        }
        let pushed = builder.push(&self.row, label);
        pushed.map_err(|error| {
            let error = error.at(Place::file(self.name).line(line));
            Bad { error, column: self.header.label, is_text: false }
        })
    }

    fn bad(&self, line: u64, column: usize, is_text: bool, message: String) -> Bad {
        Bad { error: Error::new(self.header.place(self.name, line, column), message), column, is_text }
    }
}

/// Text where a number should be: is it the whole column?
fn text_found(records: &mut Records, bad: Bad) -> Error {
    let (mut looked, mut texts) = (1, 1);
    // Whatever is wrong further down: this was wrong first.
    while looked < LOOK_AHEAD && records.advance().unwrap_or(false) {
        let record = records.record();
        if bad.column >= record.len() {
            break;
        }
        looked += 1;
        texts += usize::from(is_text(record.field(bad.column)));
    }
    if texts < 2 || 2 * texts < looked {
        return bad.error;
    }
    let message = format!(
        "{}; {texts} of the {looked} lines from here on hold text: one-hot encode the column (a column of 0 and 1 per \
         value) or remove it",
        bad.error.kind()
    );
    Error::new(bad.error.place().clone(), message)
}
