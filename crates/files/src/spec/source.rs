//! Where a key stands in the text of a spec, so that a message can name file, line and key.

use gradband::{Error, ErrorKind, Place};
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

    fn line(&self, offset: usize) -> u64 {
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count() as u64
    }

    /// File and line of a place such as `problem.prior.weights[1]`. A key that is not in the text is placed where its
    /// table starts.
    pub(super) fn place(&self, path: &Place) -> Place {
        let file = Place::file(&self.name);
        let found = DeTable::parse(&self.text).ok().and_then(|table| deepest(table.get_ref(), &path.to_string()));
        match found {
            Some(offset) => file.line(self.line(offset)).then(path.clone()),
            None => file.then(path.clone()),
        }
    }

    /// What toml found wrong, in our words.
    pub(super) fn explain(&self, error: &toml::de::Error) -> Error {
        let span = error.span().unwrap_or(0..0);
        let key = DeTable::parse(&self.text).ok().and_then(|table| key_at(table.get_ref(), &span));
        let place = Place::file(&self.name).line(self.line(span.start));
        reworded(key.map_or(place.clone(), |key| place.then(key)), error.message())
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
fn reworded(place: Place, message: &str) -> Error {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field") {
        let found = quoted.next().unwrap_or_default();
        return Error::unknown(place, found, quoted);
    }
    if message.starts_with("missing field") {
        let missing = quoted.next().unwrap_or_default();
        let why = format!("a spec needs it: add [{missing}], or the key '{missing}'");
        return Error::of(place.then(missing), ErrorKind::Missing(why));
    }
    let words = message
        .replace("expected usize", "expected a whole number that is not negative")
        .replace("expected f64", "expected a number")
        .replace("data did not match any variant of untagged enum Value", "expected a number, text, a list or a table")
        .replace("a sequence", "a list");
    Error::new(place, words.lines().collect::<Vec<_>>().join(" "))
}
