//! Wide form: a row for each past problem, a column for each arm.

use super::numbers::{Numbers, Of};
use super::{Parsed, check_arm_names, check_cells, number};
use crate::records::{Record, Records, counts_columns, may_be_names};
use gradband::problem::{Cell, Row};
use gradband::{Error, Place, Result, abridged};

pub(super) fn read(records: &mut Records, id: Option<usize>, ragged: bool) -> Result<Parsed> {
    let mut numbers = Numbers::new(records.has_commas());
    let first = First::of(records, &numbers);
    let columns: Vec<usize> = (0..first.width).filter(|&column| Some(column) != id).collect();
    let arm_names = if first.is_data { numbered(&columns) } else { named(records.record(), &columns) };
    check_arm_names(records.name(), records.line(), &arm_names)?;
    if let Some(column) = columns.iter().zip(&arm_names).find(|(_, name)| name.is_empty()) {
        let message = "has no name: if the column is an index, remove it or call it 'problem'; if it is an arm, name it";
        return Err(Error::new(records.place().column(column.0 + 1, ""), message));
    }
    let mut rows = Vec::new();
    // Asked only where the first line may be names: it takes as long as reading the numbers.
    let mut all_whole = true;
    let mut more = first.is_data || records.advance()?;
    while more {
        records.check_len(first.width)?;
        rows.push(row(records, &mut numbers, id, (&columns, &arm_names), ragged)?);
        check_cells(records, rows.len() * columns.len())?;
        all_whole = all_whole && first.may_be_names && records.record().iter().all(is_whole);
        more = records.advance()?;
    }
    if rows.is_empty() {
        return Err(Error::new(Place::file(records.name()), "has a header but no instance"));
    }
    first.check(all_whole)?;
    let arm_names = if ragged { Vec::new() } else { arm_names };
    Ok(Parsed { arm_names, rows, notes: Vec::new() })
}

/// The first line of a table in wide form: names, or a row without names above it.
struct First {
    place: Place,
    width: usize,
    /// Are all its fields numbers, or missing ones between numbers?
    is_data: bool,
    may_be_names: bool,
    counts_columns: bool,
}

impl First {
    fn of(records: &Records, numbers: &Numbers) -> Self {
        let first = records.record();
        let is_number = |field: &str| numbers.is_number(field);
        Self {
            place: records.place(),
            width: first.len(),
            is_data: first.iter().any(is_number)
                && first.iter().all(|field| field.is_empty() || is_number(field)),
            may_be_names: may_be_names(first.iter()),
            counts_columns: counts_columns(first.iter()),
        }
    }

    /// Refuses whole numbers that may well be the names of arms: taken for an instance, they would be simulated.
    fn check(self, all_whole: bool) -> Result<()> {
        if !self.counts_columns && (all_whole || !self.may_be_names) {
            return Ok(());
        }
        let message = "all fields are whole numbers: are they the names of the arms, or means? If names, write them as \
                       words ('arm 0', 'arm 1'); if means, put a line with the names of the arms above";
        Err(Error::new(self.place, message))
    }
}

fn is_whole(field: &str) -> bool {
    field.parse::<i64>().is_ok()
}

fn numbered(columns: &[usize]) -> Vec<String> {
    (1..=columns.len()).map(|arm| arm.to_string()).collect()
}

fn named(first: Record, columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&column| first.field(column).to_string()).collect()
}

/// If arms are exchangeable, an empty field is an arm that the past problem does not have.
fn row(
    records: &Records,
    numbers: &mut Numbers,
    id: Option<usize>,
    (columns, arm_names): (&[usize], &[String]),
    ragged: bool,
) -> Result<Row> {
    let mut arms = Vec::with_capacity(columns.len());
    for (&column, arm) in columns.iter().zip(arm_names) {
        match records.record().field(column) {
            "" if ragged => {}
            "" => {
                let message = "is empty, expected a number; if not every past problem has every arm, set arms = K, the number \
                               of arms to simulate";
                return Err(Error::new(records.place().column(column + 1, arm), message));
            }
            field if looks_long(field, columns.len()) => {
                let message = format!(
                    "found '{}', expected a number; if this is a row per problem and arm, say which columns are which: columns \
                     = {{ problem = \"{}\", arm = \"…\", successes = \"…\", trials = \"…\" }}",
                    abridged(field),
                    abridged(arm)
                );
                return Err(Error::new(records.place().column(column + 1, arm), message));
            }
            _ => arms.push(Cell::Mean(number(records, numbers, column, arm, Of::Rewards)?)),
        }
    }
    if arms.is_empty() {
        return Err(records.wrong("has no arm; remove the row"));
    }
    let id = id.map(|column| records.record().field(column).to_string());
    Ok(Row { id, line: Some(records.line()), arms })
}

/// Whether a field is a word, in a table that has columns enough for long form.
fn looks_long(field: &str, columns: usize) -> bool {
    let not_a_number = |word: &str| !["nan", "inf", "infinity"].contains(&word.to_ascii_lowercase().as_str());
    columns >= 3 && field.starts_with(char::is_alphabetic) && not_a_number(field)
}
