//! The one printer: results go to stdout, as text or as one JSON document; everything else to stderr.

use crate::failure::{Failure, Result};
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use gradband::registry::Choice;
use gradband::statistics::Estimate;
use serde::Serialize;
use std::io::{ErrorKind, Write};

/// Prints the result of a command.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// JSON instead of text.
    pub json: bool,
}

impl Printer {
    /// The result, in the form that was asked for.
    pub fn result(self, document: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        let out = if self.json { to_json(document)? } else { text() };
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
}

/// Pretty JSON.
pub fn to_json(document: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(document)
        .map_err(|error| Failure::Other(format!("cannot write JSON: {error}")))
}

/// A remark that is not a result. A closed stderr is no reason to fail.
pub fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Why the command failed.
pub fn complain(message: &str) {
    note(&format!("error: {message}"));
}

/// `7.2086 ± 0.0123`.
pub fn with_error(estimate: Estimate) -> String {
    format!("{:.4} ± {:.4}", estimate.mean, estimate.std_error)
}

/// 12345678 as `12,345,678`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

/// A policy's label for people: learned parameters have more digits than anyone reads.
pub fn short_label(choice: &Choice) -> String {
    let mut short = choice.clone();
    for x in &mut short.params {
        let rounded = format!("{x:.4}").parse().unwrap_or(*x);
        *x = if rounded == 0.0 { *x } else { rounded };
    }
    short.label()
}
