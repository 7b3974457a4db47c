//! Where a key stands in the text of a spec, so that a message can name file, line and key.

use crate::Error;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The text of a spec, to point into.
#[derive(Clone, Debug)]
pub(super) struct Source {
    name: String,
    text: String,
}

impl Source {
    pub(super) fn new(text: &str, name: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    /// `file, line, key` of a path such as `problem.prior.weights[1]`. A key that is not in the text is placed
    /// where its table starts.
    pub(super) fn place(&self, path: &str) -> String {
        let Ok(table) = DeTable::parse(&self.text) else { return format!("{}, {path}", self.name) };
        match deepest(table.get_ref(), path) {
            Some(offset) => format!("{}, line {}, {path}", self.name, self.line(offset)),
            None => format!("{}, {path}", self.name),
        }
    }

    /// What toml found wrong, in our words.
    pub(super) fn explain(&self, error: &toml::de::Error) -> Error {
        let span = error.span().unwrap_or(0..0);
        let key = DeTable::parse(&self.text).ok().and_then(|table| key_at(table.get_ref(), &span));
        let mut place = format!("{}, line {}", self.name, self.line(span.start));
        if let Some(key) = key {
            place = format!("{place}, {key}");
        }
        reworded(place, error.message())
    }
}

/// Where the deepest known part of the path starts.
fn deepest(table: &DeTable, path: &str) -> Option<usize> {
    let (key, rest) = path.split_once(['.', '[']).unwrap_or((path, ""));
    let (found, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    let own = found.span().start;
    match value.get_ref() {
        DeValue::Table(inner) => deepest(inner, rest).or(Some(own)),
        DeValue::Array(items) => {
            let index = rest.split(']').next().and_then(|index| index.parse::<usize>().ok());
            let item = index.and_then(|index| items.get(index));
            Some(item.map_or(own, |item| item.span().start))
        }
        _ => Some(own),
    }
}

/// The key whose name or value the span lies in.
fn key_at(table: &DeTable, span: &Range<usize>) -> Option<String> {
    let holds = |range: Range<usize>| range.start <= span.start && span.end <= range.end;
    table.iter().find_map(|(key, value)| {
        let inner = value.get_ref().as_table().and_then(|inner| key_at(inner, span));
        match inner {
            Some(inner) => Some(format!("{}.{inner}", key.get_ref())),
            None => (holds(key.span()) || holds(value.span())).then(|| key.get_ref().to_string()),
        }
    })
}

/// Unknown and missing keys get a suggestion; Rust's names of types become words.
fn reworded(place: String, message: &str) -> Error {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field") {
        let found = quoted.next().unwrap_or_default();
        let error = Error::unknown(&place, found, quoted);
        return Error::new(error.place, error.message.replacen("unknown name", "unknown key", 1));
    }
    if message.starts_with("missing field") {
        let missing = quoted.next().unwrap_or_default();
        return Error::new(place, format!("the key '{missing}' is missing"));
    }
    let words = message
        .replace("expected usize", "expected a whole number that is not negative")
        .replace("expected f64", "expected a number")
        .replace("a sequence", "a list");
    Error::new(place, words.lines().collect::<Vec<_>>().join(" "))
}
