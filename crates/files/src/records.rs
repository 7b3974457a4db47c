//! The records of a CSV file. The csv crate splits them; it is fed line by line, so that the number of the line in
//! which a record begins is known exactly: after comments, blank lines, quoted line ends, whatever ends the lines.

use crate::lines::{Lines, MAX_LINE, NOT_UTF8, at_line};
use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Terminator};
use gradband::{Error, Place, Result};
use std::collections::HashSet;
use std::io::Read;

/// The records one by one, the current one at hand.
pub(crate) struct Records<'a> {
    reader: Reader<Feed<'a>>,
    record: StringRecord,
    delimiter: u8,
}

impl<'a> Records<'a> {
    /// Records separated by whatever the first line has most of: commas, semicolons or tabs. Nothing if no line
    /// holds anything.
    pub fn new(mut lines: Lines<'a>) -> Result<Option<Self>> {
        if !lines.advance()? {
            return Ok(None);
        }
        let delimiter = delimiter(lines.text()?);
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(Feed::new(lines));
        Ok(Some(Self { reader, record: StringRecord::new(), delimiter }))
    }

    /// What messages call the file.
    pub fn name(&self) -> &'a str {
        self.reader.get_ref().lines.name
    }

    /// Goes to the next record; false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        self.reader.get_mut().begin();
        self.reader.read_record(&mut self.record).map_err(|error| self.explain(error))
    }

    /// The current record.
    pub fn record(&self) -> Record<'_> {
        Record(&self.record)
    }

    /// Whether commas separate fields.
    pub fn has_commas(&self) -> bool {
        self.delimiter == b','
    }

    /// The line in which it begins, from 1.
    pub fn line(&self) -> u64 {
        self.reader.get_ref().start
    }

    /// Where the current record stands.
    pub fn place(&self) -> Place {
        Place::file(self.name()).line(self.line())
    }

    /// An error at the current record.
    pub fn wrong(&self, message: impl Into<String>) -> Error {
        Error::new(self.place(), message)
    }

    /// Refuses a record that has not as many fields as the first.
    pub fn check_len(&self, expected: usize) -> Result<()> {
        let found = self.record.len();
        if found == expected {
            return Ok(());
        }
        Err(self.wrong(format!("found {found} fields, expected {expected} as in the first line")))
    }

    fn explain(&self, error: csv::Error) -> Error {
        match error.into_kind() {
            ErrorKind::Io(error) => error
                .downcast::<Error>()
                .unwrap_or_else(|error| self.wrong(format!("cannot be read: {error}"))),
            ErrorKind::Utf8 { .. } => self.wrong(NOT_UTF8),
            other => self.wrong(format!("cannot be read: {other:?}")),
        }
    }
}

/// The fields of a record, without space around them.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a>(&'a StringRecord);

impl<'a> Record<'a> {
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// The field of a column, which there must be: see [`Records::check_len`].
    pub fn field(self, column: usize) -> &'a str {
        trimmed(&self.0[column])
    }

    pub fn iter(self) -> impl Iterator<Item = &'a str> + Clone {
        self.0.iter().map(trimmed)
    }
}

/// A field without space around it.
fn trimmed(field: &str) -> &str {
    let is_bare = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    // Nearly all fields are bare, and this is cheaper than to look for all that counts as space.
    if is_bare(field.as_bytes().first()) && is_bare(field.as_bytes().last()) {
        return field;
    }
    let text = field.trim();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        // Quotes after a space are not special in CSV, but they are meant to be: `1, "x"`.
        Some(quoted) if !field.starts_with('"') => quoted.trim(),
        _ => text,
    }
}

/// The separator that a line has most of; the csv crate must be told.
fn delimiter(line: &str) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0_u32), (b';', 0), (b'\t', 0)];
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += u32::from(byte == *delimiter && !quoted);
        }
    }
    let found = counts.into_iter().filter(|&(_, count)| count > 0);
    found.max_by_key(|&(_, count)| count).map_or(b',', |(delimiter, _)| delimiter)
}

/// Whether the fields of a first line are whole numbers, no two of them equal: the values of a row, or names such as
/// 0, 1, 2 that a program gave to columns?
pub(crate) fn may_be_names<'a>(fields: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = HashSet::new();
    let mut fields = fields.map(str::parse::<i64>);
    fields.all(|field| field.is_ok_and(|number| seen.insert(number)))
}

/// Whether the fields of a first line count columns: 0, 1, 2, … or 1, 2, 3, …
pub(crate) fn counts_columns<'a>(fields: impl Iterator<Item = &'a str> + Clone) -> bool {
    [0_i64, 1]
        .into_iter()
        .any(|first| fields.clone().zip(first..).all(|(field, number)| field.parse() == Ok(number)))
}

/// Hands out the lines, never more than one at a time: a record that wants another has a quoted line end.
struct Feed<'a> {
    lines: Lines<'a>,
    /// How much of the current line was handed out.
    sent: usize,
    /// Was a line of the current record handed out?
    begun: bool,
    /// The line in which the current record begins.
    start: u64,
    /// How long the current record is so far.
    length: usize,
}

impl<'a> Feed<'a> {
    /// The first record begins with the current line.
    fn new(lines: Lines<'a>) -> Self {
        let (start, length) = (lines.number(), lines.bytes().len());
        Self { lines, sent: 0, begun: false, start, length }
    }

    /// What is handed out next begins a record.
    fn begin(&mut self) {
        self.begun = false;
    }

    /// Goes to the next line; false at the end of the text.
    fn advance(&mut self) -> Result<bool> {
        let more = if self.begun { self.lines.advance_by_one()? } else { self.lines.advance()? };
        if self.begun {
            self.check_quote(more)?;
        } else {
            (self.start, self.length) = (self.lines.number(), 0);
        }
        self.sent = 0;
        self.length += self.lines.bytes().len();
        Ok(more)
    }

    /// A quote that is never closed would swallow the rest of the file.
    fn check_quote(&self, more: bool) -> Result<()> {
        let what = match more {
            false => "is not closed".into(),
            true if self.length > MAX_LINE << 20 => format!("is not closed within {MAX_LINE} MB"),
            true => return Ok(()),
        };
        Err(at_line(self.lines.name, self.start, format!("a quote in the row that begins here {what}")))
    }
}

impl Read for Feed<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.sent == self.lines.bytes().len() && !self.advance().map_err(std::io::Error::other)? {
            return Ok(0);
        }
        let rest = &self.lines.bytes()[self.sent..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.sent += count;
        self.begun = true;
        Ok(count)
    }
}
