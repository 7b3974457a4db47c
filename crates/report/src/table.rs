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
    /// The table in a box that scrolls by itself.
    pub(crate) fn html(&self) -> String {
        let id = attribute(&self.id);
        let title = escape(&self.title);
        let mut out = format!(
            r#"<div class="table" id="{id}" role="region" aria-label="{title}" tabindex="0"><table><caption>{title}</caption>"#
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
                let numeric = self.columns.get(i).is_some_and(|column| column.numeric);
                let (tone, sign) = cell.tone.marks();
                let class = [if numeric { "number" } else { "" }, tone].join(" ");
                let class = match class.trim() {
                    "" => String::new(),
                    class => format!(r#" class="{class}""#),
                };
                let (tag, scope) = if i == 0 { ("th", r#" scope="row""#) } else { ("td", "") };
                let _ = write!(out, "<{tag}{scope}{class}>{sign}{}</{tag}>", escape(&cell.text));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }
}
