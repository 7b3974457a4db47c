//! From TOML to the types of a spec. What is wrong comes out as data: the key, what was found, what is known there.

use gradband::{Error, ErrorKind, Place, abridged};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Expected, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use std::fmt::{self, Display, Formatter};
use toml::de::{DeArray, DeTable, DeValue};

/// Reads what a table says. Errors name its keys.
pub(super) fn table<'de, T: Deserialize<'de>>(table: &DeTable) -> gradband::Result<T> {
    T::deserialize(Node::Table(table)).map_err(|wrong| wrong.0)
}

/// What serde finds wrong, in our words.
#[derive(Debug)]
struct Wrong(Error);

impl Wrong {
    fn found(found: impl Display, expected: impl Display) -> Self {
        Self(Error::new("", format!("found {found}, expected {expected}")))
    }

    fn within(self, outer: impl Into<Place>) -> Self {
        Self(self.0.within(outer))
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Wrong {}

impl serde::de::Error for Wrong {
    fn custom<T: Display>(message: T) -> Self {
        Self(Error::new("", message.to_string()))
    }
    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        Self::found(words(found), expected)
    }
    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        Self::found(words(found), expected)
    }
    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self(Error::unknown("", found, known.iter().copied()))
    }
    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        Self(Error::unknown(Place::key(found), found, known.iter().copied()))
    }
    fn missing_field(missing: &'static str) -> Self {
        Self(Error::of(Place::key(missing), ErrorKind::Missing("it must be given".into())))
    }
}

fn words(found: Unexpected) -> String {
    match found {
        Unexpected::Bool(x) => x.to_string(),
        Unexpected::Unsigned(x) => x.to_string(),
        Unexpected::Signed(x) => x.to_string(),
        Unexpected::Float(x) => x.to_string(),
        Unexpected::Str(text) => format!("'{}'", abridged(text)),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// A part of the text.
enum Node<'a, 'i> {
    Value(&'a DeValue<'i>),
    Table(&'a DeTable<'i>),
}

impl<'de> Deserializer<'de> for Node<'_, '_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let value = match self {
            Self::Table(table) => return visitor.visit_map(Entries::new(table)),
            Self::Value(value) => value,
        };
        match value {
            DeValue::Table(table) => visitor.visit_map(Entries::new(table)),
            DeValue::Array(items) => visitor.visit_seq(Items { items, next: 0 }),
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(x) => visitor.visit_bool(*x),
            DeValue::Integer(x) => {
                let (digits, radix) = (x.as_str(), x.radix());
                match (i64::from_str_radix(digits, radix), u64::from_str_radix(digits, radix)) {
                    (Ok(x), _) => visitor.visit_i64(x),
                    (_, Ok(x)) => visitor.visit_u64(x),
                    _ => Err(Wrong::found(abridged(digits), "a whole number of at most 64 bits")),
                }
            }
            DeValue::Float(x) => match x.as_str().parse() {
                Ok(x) => visitor.visit_f64(x),
                Err(_) => Err(Wrong::found(abridged(x.as_str()), "a number")),
            },
            DeValue::Datetime(date) => Err(Wrong::found(date, "a number, text, a list or a table")),
        }
    }

    /// What is not given has no node.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

/// The keys of a table, one after the other.
struct Entries<'a, 'i> {
    entries: toml::map::Iter<'a, toml::Spanned<toml::de::DeString<'i>>, toml::Spanned<DeValue<'i>>>,
    current: Option<(&'a str, &'a DeValue<'i>)>,
}

impl<'a, 'i> Entries<'a, 'i> {
    fn new(table: &'a DeTable<'i>) -> Self {
        Self { entries: table.iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        self.current = self.entries.next().map(|(key, value)| (key.get_ref().as_ref(), value.get_ref()));
        self.current.map(|(key, _)| seed.deserialize(StrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.current.take() {
            Some((key, value)) => {
                seed.deserialize(Node::Value(value)).map_err(|wrong| wrong.within(Place::key(key)))
            }
            None => Err(serde::de::Error::custom("a value was asked for before its key")),
        }
    }
}

/// The entries of a list, one after the other.
struct Items<'a, 'i> {
    items: &'a DeArray<'i>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let place = Place::default().index(self.next);
        self.next += 1;
        seed.deserialize(Node::Value(item.get_ref())).map(Some).map_err(|wrong| wrong.within(place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

/// A whole number that is not negative.
#[derive(Clone, Copy, Debug)]
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor).map(Self)
    }
}

/// A whole number that is not negative, if it is given.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    Count::deserialize(deserializer).map(|count| Some(count.0))
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }
    fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<usize, E> {
        usize::try_from(x).map_err(|_| E::invalid_value(Unexpected::Signed(x), &self))
    }
    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<usize, E> {
        usize::try_from(x).map_err(|_| E::invalid_value(Unexpected::Unsigned(x), &self))
    }
}

/// A list of whole numbers that are not negative, if it is given.
pub(super) fn counts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<usize>>, D::Error> {
    struct Counts;

    impl<'de> Visitor<'de> for Counts {
        type Value = Vec<usize>;

        fn expecting(&self, f: &mut Formatter) -> fmt::Result {
            f.write_str("a list of whole numbers")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<usize>, A::Error> {
            let mut counts = Vec::new();
            while let Some(Count(count)) = items.next_element()? {
                counts.push(count);
            }
            Ok(counts)
        }
    }
    deserializer.deserialize_any(Counts).map(Some)
}

/// A number, if it is given.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    struct Number;

    impl Visitor<'_> for Number {
        type Value = f64;

        fn expecting(&self, f: &mut Formatter) -> fmt::Result {
            f.write_str("a number")
        }
        fn visit_f64<E>(self, x: f64) -> Result<f64, E> {
            Ok(x)
        }
        fn visit_i64<E>(self, x: i64) -> Result<f64, E> {
            Ok(x as f64)
        }
        fn visit_u64<E>(self, x: u64) -> Result<f64, E> {
            Ok(x as f64)
        }
    }
    deserializer.deserialize_any(Number).map(Some)
}
