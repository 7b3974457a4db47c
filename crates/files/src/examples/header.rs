//! The columns of a CSV file: is there a header, and which column is the label?

use super::values::{is_text, number};
use crate::records::Record;
use gradband::{Error, Place, Result, abridged, hint};
use std::collections::HashSet;

/// Columns that are taken for the label, the first of them first.
const LABELS: [&str; 4] = ["label", "class", "target", "y"];
/// Names in a message.
const SHOWN: usize = 12;

pub(super) struct Header {
    names: Vec<String>,
    /// Did the first line hold names?
    pub named: bool,
    /// The column of the label.
    pub label: usize,
    /// What the user should know about the choice.
    pub note: Option<String>,
}

impl Header {
    /// `place` is where the first line stands.
    pub fn new(first: &[String], second: Option<Record>, label: Option<&str>, place: &Place) -> Result<Self> {
        let by_number = label.and_then(|label| label.parse::<usize>().ok());
        let assumed =
            by_number.filter(|column| (1..=first.len()).contains(column)).unwrap_or(first.len()) - 1;
        let named = is_header(first, second, label, assumed);
        let names = if named { given_names(first) } else { made_names(first.len(), assumed) };
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::new(
                place.clone(),
                format!("the column '{}' stands there twice", abridged(twice)),
            ));
        }
        let mut header = Self { names, named, label: assumed, note: None };
        match label {
            Some(label) => header.label = header.find(label, place)?,
            None if named => header.choose(),
            None => {}
        }
        Ok(header)
    }

    /// The column that the user means, by name or by number.
    fn find(&self, label: &str, place: &Place) -> Result<usize> {
        if let Some(column) = self.named.then(|| self.names.iter().position(|name| name == label)).flatten() {
            return Ok(column);
        }
        let count = self.names.len();
        if let Ok(column) = label.parse::<usize>() {
            if (1..=count).contains(&column) {
                return Ok(column - 1);
            }
            let message = format!("found no column {column} for the label, expected a name or 1 to {count}");
            return Err(Error::new(place.clone(), message));
        }
        Err(Error::new(place.clone(), self.no_such_label(label)))
    }

    fn no_such_label(&self, label: &str) -> String {
        let (found, count) = (abridged(label), self.names.len());
        if !self.named {
            return format!(
                "found no header with the label column '{found}', expected a number from 1 to {count}"
            );
        }
        let known = self.names.iter().map(String::as_str);
        let shown: Vec<_> = known.clone().take(SHOWN).map(abridged).collect();
        let rest = if count > SHOWN { ", ..." } else { "" };
        format!("found no label column '{found}'{} (columns: {}{rest})", hint(label, known), shown.join(", "))
    }

    /// The column with a usual name; the last one if there is none.
    fn choose(&mut self) {
        let usual = |wanted: &&str| self.names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let found: Vec<usize> = LABELS.iter().filter_map(usual).collect();
        if let [first, others @ ..] = &found[..] {
            self.label = *first;
            if let [other, ..] = others {
                self.note = Some(format!(
                    "column '{}' is taken for the label and '{}' for a feature; set `label` if that is wrong",
                    self.names[*first], self.names[*other]
                ));
            }
        }
    }

    /// The names of all columns but the label.
    pub fn features(&self) -> Vec<String> {
        let features = self.names.iter().enumerate().filter(|&(column, _)| column != self.label);
        features.map(|(_, name)| name.clone()).collect()
    }

    /// Where a field stands.
    pub fn place(&self, file: &str, line: u64, column: usize) -> Place {
        Place::file(file).line(line).column(column + 1, &self.names[column])
    }
}

/// The names in the first line; those left out are made up.
fn given_names(first: &[String]) -> Vec<String> {
    let name = |(name, column): (&String, usize)| match name.is_empty() {
        true => format!("column {column}"),
        false => name.clone(),
    };
    first.iter().zip(1..).map(name).collect()
}

/// Features are f1, f2, ... as in LIBSVM, wherever the label stands.
fn made_names(count: usize, label: usize) -> Vec<String> {
    let mut names: Vec<String> = (1..count).map(|feature| format!("f{feature}")).collect();
    names.insert(label, "label".into());
    names
}

/// Does the first line hold names? Data may have a label of text, and names may be numbers.
fn is_header(first: &[String], second: Option<Record>, label: Option<&str>, assumed: usize) -> bool {
    let by_name = label.filter(|label| number(label).is_none());
    if first
        .iter()
        .any(|field| by_name == Some(field) || LABELS.iter().any(|name| field.eq_ignore_ascii_case(name)))
    {
        return true;
    }
    let texts = first.iter().filter(|field| is_text(field)).count();
    let numbers = first.iter().filter(|field| number(field).is_some()).count();
    if texts > 0 && numbers == 0 || texts > 1 && 2 * texts >= first.len() {
        return true;
    }
    let second = second.filter(|second| second.len() == first.len());
    is_text(&first[assumed]) && second.is_some_and(|second| number(second.field(assumed)).is_some())
}
