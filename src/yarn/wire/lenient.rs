//! Values as Hadoop writes them: a number may be missing, `null`, text or out of range, a list `null`, absent, or a single object.
//!
//! What cannot be read is as if it were not there; only a body that is no document at all is an error.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Int(pub Option<i64>);

/// A number that may be NaN or infinite.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Float(pub Option<f64>);

/// Text; empty is as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Option<String>);

/// Text where any is written, an empty one included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written(pub Option<String>);

/// Text, or the first of a list of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct First(pub Text);

/// True or false.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flag(pub Option<bool>);

/// A list of objects.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T> {
    /// The objects.
    pub items: Vec<T>,
    /// Members that were no objects, dropped.
    pub odd: u64,
}

/// An object, or nothing where there is anything else.
#[derive(Debug, Clone, PartialEq)]
pub struct Maybe<T>(pub Option<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        List { items: Vec::new(), odd: 0 }
    }
}

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Maybe(None)
    }
}

impl Text {
    /// The text, where there is any.
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Int {
    /// The number, where it is there and not negative.
    pub fn natural(self) -> Option<u64> {
        self.0.and_then(|n| u64::try_from(n).ok())
    }
}

/// Whatever a simple value may be.
#[derive(Debug)]
enum Scalar {
    Nothing,
    Flag(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// Of a list the first, or nothing.
struct ScalarVisitor<const FIRST: bool>;

impl<'de, const FIRST: bool> Visitor<'de> for ScalarVisitor<FIRST> {
    type Value = Scalar;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a simple value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Scalar, E> {
        Ok(Scalar::Flag(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Scalar, E> {
        Ok(Scalar::Int(v))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Scalar, E> {
        Ok(i64::try_from(v).map_or(Scalar::Float(v as f64), Scalar::Int))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(v))
    }
    fn visit_str<E>(self, v: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(v.to_owned()))
    }
    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Nothing)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        let first = if FIRST { seq.next_element::<Text>()? } else { None };
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first.and_then(|first| first.0).map_or(Scalar::Nothing, Scalar::Text))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let whole = |f: f64| (f.fract() == 0.0 && f.abs() < 9.0e15).then_some(f as i64);
        Ok(Int(match d.deserialize_any(ScalarVisitor::<false>)? {
            Scalar::Int(n) => Some(n),
            Scalar::Float(f) => whole(f),
            Scalar::Text(text) => {
                let text = text.trim();
                text.parse().ok().or_else(|| text.parse().ok().and_then(whole))
            }
            Scalar::Flag(_) | Scalar::Nothing => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Float(match d.deserialize_any(ScalarVisitor::<false>)? {
            Scalar::Int(n) => Some(n as f64),
            Scalar::Float(f) => Some(f),
            Scalar::Text(text) => text.trim().parse().ok(),
            Scalar::Flag(_) | Scalar::Nothing => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(d.deserialize_any(ScalarVisitor::<false>)?.into())
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Written(match d.deserialize_any(ScalarVisitor::<false>)? {
            Scalar::Nothing => None,
            scalar => Some(Text::from(scalar).0.unwrap_or_default()),
        }))
    }
}

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(First(d.deserialize_any(ScalarVisitor::<true>)?.into()))
    }
}

impl From<Scalar> for Text {
    fn from(scalar: Scalar) -> Text {
        let text = match scalar {
            Scalar::Text(text) => text,
            Scalar::Int(n) => n.to_string(),
            Scalar::Float(f) => f.to_string(),
            Scalar::Flag(b) => b.to_string(),
            Scalar::Nothing => String::new(),
        };
        Text(Some(text).filter(|t| !t.is_empty()))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Flag(match d.deserialize_any(ScalarVisitor::<false>)? {
            Scalar::Flag(b) => Some(b),
            Scalar::Text(text) => text.trim().parse().ok(),
            _ => None,
        }))
    }
}

/// Items of a list that are kept; those beyond are odd ones. An empty one takes three bytes of an answer, and a hundred or two of memory.
pub const MAX_ITEMS: usize = 500_000;

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut list = List::default();
        while let Some(Maybe(item)) = seq.next_element::<Maybe<T>>()? {
            match item {
                Some(item) if list.items.len() < MAX_ITEMS => list.items.push(item),
                _ => list.odd += 1,
            }
        }
        Ok(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<List<T>, A::Error> {
        Ok(List { items: vec![T::deserialize(MapAccessDeserializer::new(map))?], odd: 0 })
    }
    fn visit_bool<E>(self, _: bool) -> Result<List<T>, E> {
        Ok(List { items: Vec::new(), odd: 1 })
    }
    fn visit_i64<E>(self, _: i64) -> Result<List<T>, E> {
        Ok(List { items: Vec::new(), odd: 1 })
    }
    fn visit_u64<E>(self, _: u64) -> Result<List<T>, E> {
        Ok(List { items: Vec::new(), odd: 1 })
    }
    fn visit_f64<E>(self, _: f64) -> Result<List<T>, E> {
        Ok(List { items: Vec::new(), odd: 1 })
    }
    fn visit_str<E>(self, text: &str) -> Result<List<T>, E> {
        Ok(List { items: Vec::new(), odd: u64::from(!text.trim().is_empty()) })
    }
    fn visit_unit<E>(self) -> Result<List<T>, E> {
        Ok(List::default())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ListVisitor(PhantomData))
    }
}

struct MaybeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MaybeVisitor<T> {
    type Value = Maybe<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Maybe<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|t| Maybe(Some(t)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Maybe<T>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Maybe(None))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }
    fn visit_u64<E>(self, _: u64) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }
    fn visit_str<E>(self, _: &str) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }
    fn visit_unit<E>(self) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(MaybeVisitor(PhantomData))
    }
}
