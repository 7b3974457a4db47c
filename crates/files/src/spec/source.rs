//! Where a key stands in the text of a spec, so that a message can name file, line and key.

use gradband::{Error, Place, Step};
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

    /// File and line of a key such as `problem.prior.weights[1]`. A key that is not in the text is placed where its
    /// table starts.
    pub(super) fn place(&self, key: &Place) -> Place {
        let file = Place::file(&self.name);
        let table = DeTable::parse(&self.text).ok();
        let file = match table.and_then(|table| deepest(table.get_ref(), key.steps())) {
            Some(offset) => file.line(self.line(offset)),
            None => file,
        };
        file.then(key.clone())
    }

    /// The same error, its key now with file and line.
    pub(super) fn blame(&self, error: Error) -> Error {
        let place = self.place(error.place());
        error.at(place)
    }

    /// What is wrong with the text itself.
    pub(super) fn malformed(&self, error: &toml::de::Error) -> Error {
        let file = Place::file(&self.name);
        let place = match error.span() {
            Some(span) => file.line(self.line(span.start)),
            None => file,
        };
        Error::new(place, error.message().lines().collect::<Vec<_>>().join(" "))
    }
}

/// Where the deepest known step of the path starts.
fn deepest(table: &DeTable, path: &[Step]) -> Option<usize> {
    let [Step::Key(key), rest @ ..] = path else { return None };
    let (found, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    let inner = match (value.get_ref(), rest) {
        (DeValue::Table(inner), _) => deepest(inner, rest),
        (DeValue::Array(items), [Step::Index(index), ..]) => items.get(*index).map(|item| item.span().start),
        _ => None,
    };
    Some(inner.unwrap_or(found.span().start))
}
