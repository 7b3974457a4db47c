//! The one printer: results go to stdout, as text or as one JSON document, and into files; everything else to stderr.

use crate::failure::{Failure, Result};
use crate::interrupt;
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use gradband::{Error, abridged};
use gradband_files::{Edition, Lock, io};
use serde::{Serialize, Serializer};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints the result of a command.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// JSON instead of text.
    pub json: bool,
}

impl Printer {
    /// The result, in the form that was asked for.
    pub fn result(self, document: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        let out = if self.json { harmless_json(&to_json(document)?) } else { harmless(&text()) };
        print(&out)
    }
}

/// Text to stdout, with a line end.
pub fn print(out: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(out.as_bytes()).and_then(|()| match out.ends_with('\n') {
        true => Ok(()),
        false => stdout.write_all(b"\n"),
    });
    written.and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::NoReader,
        _ => Failure::Other(format!("cannot write to stdout: {error}")),
    })
}

/// Names come from users' files, and a terminal obeys control characters: they are shown, not sent.
fn harmless(text: &str) -> String {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if is_command(c) { '\u{fffd}' } else { c }).collect()
}

/// The same for JSON, which says what they are: only those above ASCII are not escaped yet, and all are within strings.
pub fn harmless_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

/// A path in JSON, as messages show it: a name need not be UTF-8.
pub fn path<S: Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// The same if there is one.
pub fn optional_path<S: Serializer>(
    path: &Option<impl AsRef<Path>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.as_ref().display().to_string()).serialize(serializer)
}

/// Pretty JSON.
pub fn to_json(document: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(document)
        .map_err(|error| Failure::Other(format!("cannot write JSON: {error}")))
}

/// A CSV file as text.
pub fn to_csv<'a>(
    header: impl Iterator<Item = &'a str>,
    records: impl Iterator<Item = Vec<String>>,
) -> Result<String> {
    let failed = |error: csv::Error| Failure::Other(format!("cannot write CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(failed)?;
    for record in records {
        writer.write_record(record).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Other(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes sure that a directory is there, can be written to by this process alone, and holds no earlier result, unless that may
/// go: what is in it belongs together, and hours may have gone into it. Results come with what is said of them.
pub fn claim_dir(dir: &Path, earlier: &[(&str, &str)], force: bool) -> Result<Lock> {
    create_dir(dir)?;
    let lock = enter(dir)?;
    let found = earlier.iter().find(|(name, _)| dir.join(name).exists());
    if let Some((name, what)) = found.filter(|_| !force) {
        return Err(Error::new("output", format!("{} {what}", dir.join(name).display())).into());
    }
    Ok(lock)
}

/// Takes a directory for this process alone.
pub fn enter(dir: &Path) -> Result<Lock> {
    gradband_files::enter(dir).map_err(|error| Failure::unwritable_dir(dir, &error))
}

/// Writes files that belong together: all of them, or none. Ctrl-C waits.
pub fn publish(dir: &Path, add: impl FnOnce(&mut Edition) -> Result<()>) -> Result<()> {
    let _writing = interrupt::writing();
    let failed = |error: std::io::Error| Failure::unwritable_dir(dir, &error);
    let mut edition = Edition::new(dir).map_err(failed)?;
    add(&mut edition)?;
    edition.publish().map_err(failed)
}

/// Makes sure that a directory is there and can be written to.
pub fn create_dir(dir: &Path) -> Result<()> {
    io::create_dir(dir).map_err(|error| Failure::unwritable_dir(dir, &error))
}

/// Writes a file whole or not at all, in the place of an older one. Ctrl-C waits until no half of a file is left.
pub fn write_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let _writing = interrupt::writing();
    io::write(path, content).map_err(|error| Failure::unwritable(path, &error))
}

/// What was typed is not repeated whole if it is longer than any name.
pub fn cut(message: &str) -> String {
    const LONGEST: usize = 1000;
    let words = message.split_inclusive([' ', '\n']);
    words.map(|word| if word.len() > LONGEST { abridged(word) + " " } else { word.into() }).collect()
}

/// A remark that is not a result. A closed stderr is no reason to fail.
pub fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", harmless(&cut(message)));
}

/// Why the command failed.
pub fn complain(message: &str) {
    note(&format!("error: {message}"));
}

/// A line under the header, and no other.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table with a header; columns after the first `left` hold numbers and stand to the right.
pub fn table(header: &[&str], left: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().enumerate().map(|(i, &text)| aligned(text, i >= left)));
    for row in rows {
        table.add_row(row.iter().enumerate().map(|(i, text)| aligned(text, i >= left)));
    }
    table.trim_fmt()
}

fn aligned(text: &str, right: bool) -> Cell {
    let side = if right { CellAlignment::Right } else { CellAlignment::Left };
    Cell::new(text).set_alignment(side)
}
