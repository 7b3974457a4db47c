//! Tables, whose cells carry a judgement beside their text.

use crate::text::{attribute, escape};
use serde::Serialize;
use std::fmt::Write;

/// Rows and columns of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// The anchor, unique in the page.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The header.
    pub columns: Vec<Column>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// The header of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The heading of the column.
    pub name: String,
    /// Numbers stand to the right.
    pub numeric: bool,
}

impl Column {
    /// A column of words.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), numeric: true }
    }
}

/// What stands in one place of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// What is read.
    pub text: String,
    /// How it is judged.
    pub tone: Tone,
}

impl Cell {
    /// Text with a judgement.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, tone: Tone::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A judgement, shown by a sign and a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Tone {
    /// No judgement.
    #[default]
    Plain,
    /// The result is as hoped.
    Good,
    /// The result is not as hoped.
    Bad,
    /// The result has little weight.
    Muted,
}

impl Tone {
    /// The class of a cell, and a sign before its text: nobody has to see colours.
    fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain => ("", ""),
            Self::Good => ("good", r#"<span class="sign" role="img" aria-label="good">✓</span> "#),
            Self::Bad => ("bad", r#"<span class="sign" role="img" aria-label="bad">✗</span> "#),
            Self::Muted => ("muted", ""),
        }
    }
}

impl Table {
    /// The table in a box. On a narrow screen the names of a table of few columns stand above their numbers; else
    /// (`wide`) each row becomes a list, in which every cell says what it is. Nothing has to be scrolled into view.
    pub(crate) fn html(&self) -> String {
        let id = attribute(&self.id);
        let title = escape(&self.title);
        let wide = self.columns.len() > FEW;
        let (kind, numbers) =
            (if wide { "wide" } else { "few" }, self.columns.len().saturating_sub(1).max(1));
        // Long names beside longer texts would get one word in a line.
        let is_long = |row: &Vec<Cell>| row.first().is_some_and(|cell| cell.text.chars().count() > 24);
        let long = if wide && self.rows.iter().any(is_long) { " long" } else { "" };
        let mut out = format!(
            r#"<div class="table {kind}{long}" style="--numbers:{numbers}" id="{id}" role="region" aria-label="{title}" tabindex="0"><table><caption>{title}</caption>"#
        );
        out.push_str("<thead><tr>");
        for column in &self.columns {
            let class = if column.numeric { r#" class="number""# } else { "" };
            let _ = write!(out, r#"<th scope="col"{class}>{}</th>"#, escape(&column.name));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                out.push_str(&self.cell(i, cell, wide));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    fn cell(&self, i: usize, cell: &Cell, wide: bool) -> String {
        let column = self.columns.get(i);
        let numeric = column.is_some_and(|column| column.numeric);
        let whole = i > 0 && !numeric && is_number(&cell.text);
        let (tone, sign) = cell.tone.marks();
        let classes = [if numeric { "number" } else { "" }, if whole { "whole" } else { "" }, tone];
        let classes: Vec<&str> = classes.into_iter().filter(|class| !class.is_empty()).collect();
        let class = match classes.join(" ") {
            class if class.is_empty() => class,
            class => format!(r#" class="{class}""#),
        };
        let name = column.map_or("", |column| column.name.as_str());
        let name = match wide && i > 0 && !name.is_empty() && !cell.text.is_empty() {
            true => format!(r#" data-column="{}""#, escape(name)),
            false => String::new(),
        };
        let (tag, scope) = if i == 0 { ("th", r#" scope="row""#) } else { ("td", "") };
        // In a list the cell is two columns: its name, and all the rest.
        let text = format!("{sign}{}", escape(&cell.text));
        let text = if name.is_empty() || sign.is_empty() { text } else { format!("<span>{text}</span>") };
        format!("<{tag}{scope}{class}{name}>{text}</{tag}>")
    }
}

/// Columns that a phone has room for.
const FEW: usize = 3;

/// A number with its error or its unit: short, and read as one.
fn is_number(text: &str) -> bool {
    text.chars().count() <= 20 && text.starts_with(|c: char| c.is_ascii_digit() || "+-−±".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize) -> Table {
        let row = ["Wine", "8.18 ± 0.24", "lower by a large margin than all of the others", "agrees"];
        let cells = row.map(Cell::from).to_vec();
        let names = ["Set", "Paper", "Ours", "Verdict"].map(Column::text);
        Table {
            columns: names[..columns].to_vec(),
            rows: vec![cells[..columns].to_vec()],
            ..Table::default()
        }
    }

    #[test]
    fn numbers_are_not_broken() {
        let html = table(3).html();
        assert!(html.contains(r#"<td class="whole">8.18 ± 0.24</td><td>lower"#), "{html}");
        assert!(!html.contains("wide"));
    }

    #[test]
    fn cells_of_wide_tables_say_what_they_are() {
        let html = table(4).html();
        assert!(html.contains(r#"<div class="table wide""#) && html.contains(r#"<th scope="row">Wine</th>"#));
        assert!(html.contains(r#"<td data-column="Verdict">agrees</td>"#), "{html}");
    }
}
