//! CSV: a row per example, separated by commas, semicolons or tabs.

use super::header::Header;
use super::lines::Lines;
use super::{MAX_FEATURES, Table, is_missing, number, value};
use crate::{Error, Result};

/// Lines that are looked at to tell a slip from a column of text.
const LOOK_AHEAD: usize = 1000;

/// Splits lines into fields.
pub(super) struct Splitter {
    delimiter: u8,
    bounds: Vec<(usize, usize)>,
    unquoted: String,
}

/// The fields of one line.
pub(super) struct Record<'a> {
    text: &'a str,
    bounds: &'a [(usize, usize)],
}

impl Record<'_> {
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    pub fn get(&self, column: usize) -> &str {
        let (start, end) = self.bounds[column];
        self.text[start..end].trim()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|column| self.get(column))
    }
}

impl Splitter {
    /// For the separator that the first line has most of.
    fn new(first: &str) -> Self {
        let mut quoted = false;
        let mut counts = [(b',', 0_u32), (b';', 0), (b'\t', 0)];
        for byte in first.bytes() {
            quoted ^= byte == b'"';
            for (delimiter, count) in &mut counts {
                *count += u32::from(byte == *delimiter && !quoted);
            }
        }
        let delimiter =
            counts.into_iter().max_by_key(|&(_, count)| count).map_or(b',', |(delimiter, _)| delimiter);
        let delimiter = if counts.iter().all(|&(_, count)| count == 0) { b',' } else { delimiter };
        Self { delimiter, bounds: Vec::new(), unquoted: String::new() }
    }

    /// The fields, or nothing if a quote is not closed.
    fn split<'a>(&'a mut self, line: &'a str) -> Option<Record<'a>> {
        self.bounds.clear();
        if line.contains('"') {
            return self.split_quoted(line).then_some(Record { text: &self.unquoted, bounds: &self.bounds });
        }
        let mut start = 0;
        for (end, byte) in line.bytes().enumerate() {
            if byte == self.delimiter {
                self.bounds.push((start, end));
                start = end + 1;
            }
        }
        self.bounds.push((start, line.len()));
        Some(Record { text: line, bounds: &self.bounds })
    }

    fn split_quoted(&mut self, line: &str) -> bool {
        self.unquoted.clear();
        let (mut start, mut quoted) = (0, false);
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '"' {
                // Two quotes inside quotes are one that is meant.
                if quoted && chars.next_if_eq(&'"').is_some() {
                    self.unquoted.push('"');
                } else {
                    quoted = !quoted;
                }
            } else if c == char::from(self.delimiter) && !quoted {
                self.bounds.push((start, self.unquoted.len()));
                start = self.unquoted.len();
            } else {
                self.unquoted.push(c);
            }
        }
        self.bounds.push((start, self.unquoted.len()));
        !quoted
    }
}

fn unclosed(lines: &Lines) -> Error {
    lines.wrong("a quote is not closed in this line")
}

pub(super) fn read(lines: &mut Lines, label: Option<&str>, table: &mut Table) -> Result<()> {
    if !lines.advance()? {
        return Err(Error::new(lines.name, "is empty; expected one line per example"));
    }
    let mut splitter = Splitter::new(lines.text()?);
    let line = lines.number();
    let first = splitter.split(lines.text()?).ok_or_else(|| unclosed(lines))?;
    if !(2..=MAX_FEATURES + 1).contains(&first.len()) {
        let message = format!(
            "found {} column(s), expected 2 to {} (features and a label), separated by commas, semicolons or tabs",
            first.len(),
            MAX_FEATURES + 1
        );
        return Err(lines.wrong(message));
    }
    let first: Vec<String> = first.iter().map(String::from).collect();
    let more = lines.advance()?;
    let second =
        if more { Some(splitter.split(lines.text()?).ok_or_else(|| unclosed(lines))?) } else { None };
    let header = Header::new(&first, second.as_ref(), label, &format!("{}, line {line}", lines.name))?;
    table.feature_names = header.features();
    table.notes.extend(header.note.clone().map(|note| format!("{}: {note}", lines.name)));
    let mut row = Vec::with_capacity(first.len() - 1);
    if header.named {
        if !more {
            return Err(Error::new(lines.name, "has a header but no example"));
        }
    } else {
        // The second line is the current one; the first is only wrong about its own fields.
        let place = |column| header.place(lines.name, line, column);
        for (column, text) in first.iter().enumerate().filter(|&(column, _)| column != header.label) {
            row.push(value(text).map_err(|message| Error::new(place(column), message))?);
        }
        let label =
            class(&first[header.label]).map_err(|message| Error::new(place(header.label), message))?;
        table.push(lines, &row, label)?;
    }
    let mut more = more;
    while more {
        let record = splitter.split(lines.text()?).ok_or_else(|| unclosed(lines))?;
        if record.len() != first.len() {
            let message =
                format!("found {} fields, expected {} as in the first line", record.len(), first.len());
            return Err(lines.wrong(message));
        }
        row.clear();
        let place = |column| header.place(lines.name, lines.number(), column);
        let mut wrong = None;
        for column in (0..record.len()).filter(|&column| column != header.label) {
            match value(record.get(column)) {
                Ok(x) => row.push(x),
                Err(message) => {
                    let text = number(record.get(column)).is_none() && !is_missing(record.get(column));
                    wrong = Some((column, text, Error::new(place(column), message)));
                    break;
                }
            }
        }
        match wrong {
            Some((column, true, error)) => return Err(text_found(lines, &mut splitter, column, error)),
            Some((_, false, error)) => return Err(error),
            None => {}
        }
        let label = class(record.get(header.label));
        let label = label.map_err(|message| Error::new(place(header.label), message))?;
        table.push(lines, &row, label)?;
        more = lines.advance()?;
    }
    Ok(())
}

/// A label, or what is wrong with it. `none` may well be a class.
fn class(label: &str) -> std::result::Result<&str, String> {
    if is_missing(label) && !label.eq_ignore_ascii_case("none") {
        Err(format!("found '{label}', a missing label; remove the line"))
    } else {
        Ok(label)
    }
}

/// Text where a number should be: is it the whole column?
fn text_found(lines: &mut Lines, splitter: &mut Splitter, column: usize, mut error: Error) -> Error {
    let (mut looked, mut texts) = (1, 1);
    while looked < LOOK_AHEAD && lines.advance().unwrap_or(false) {
        let Some(record) = lines.text().ok().and_then(|line| splitter.split(line)) else { break };
        if column >= record.len() {
            break;
        }
        looked += 1;
        texts += usize::from(number(record.get(column)).is_none() && !is_missing(record.get(column)));
    }
    if texts > 1 && 2 * texts >= looked {
        error.message = format!(
            "{}; {texts} of the {looked} lines from here on hold text: one-hot encode the column (a column of 0 and \
             1 per value) or remove it",
            error.message
        );
    }
    error
}
