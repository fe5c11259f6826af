//! TOML to values, where a table is a table: what serde derives takes a list for it as well, by the position of its fields, and so without a word something else than was meant.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt::{self, Display};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// What cannot be understood, and where it stands, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Bytes before it.
    pub at: Option<usize>,
    /// What is wrong.
    pub words: String,
}

impl Wrong {
    /// What is known to stand somewhere within stays there.
    fn within(self, at: usize) -> Wrong {
        Wrong { at: self.at.or(Some(at)), ..self }
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: Display>(words: T) -> Wrong {
        Wrong { at: None, words: words.to_string() }
    }
}

impl From<toml::de::Error> for Wrong {
    fn from(error: toml::de::Error) -> Wrong {
        Wrong { at: error.span().map(|span| span.start), words: error.message().to_owned() }
    }
}

/// Reads a document.
///
/// # Errors
/// It is no TOML, or not what is to be read.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Wrong> {
    let table = DeTable::parse(text)?;
    let span = table.span();
    T::deserialize(Value(Spanned::new(span, DeValue::Table(table.into_inner()))))
}

/// A value where it stands.
struct Value<'de>(Spanned<DeValue<'de>>);

impl<'de> Value<'de> {
    /// A table, whatever it holds.
    fn table<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if matches!(self.0.get_ref(), DeValue::Array(_)) {
            let words = "a list stands here: write a table, as in { name = value }".to_owned();
            return Err(Wrong { at: Some(self.0.span().start), words });
        }
        self.deserialize_any(visitor)
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let at = self.0.span().start;
        let told = match self.0.into_inner() {
            DeValue::String(text) => Key::text(text, visitor),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(de::Error::custom(format!("{number} is too large a number"))),
            },
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(real) if real.is_finite() || number.as_str().contains("inf") || real.is_nan() => {
                    visitor.visit_f64(real)
                }
                _ => Err(de::Error::custom(format!("{number} is too large a number"))),
            },
            DeValue::Boolean(value) => visitor.visit_bool(value),
            DeValue::Datetime(time) => visitor.visit_string(time.to_string()),
            DeValue::Array(all) => visitor.visit_seq(SeqDeserializer::new(all.into_iter().map(Value))),
            DeValue::Table(all) => visitor.visit_map(entries(all)),
        };
        told.map_err(|wrong| wrong.within(at))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.table(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.table(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let at = self.0.span().start;
        let told = match self.0.into_inner() {
            DeValue::Table(all) => visitor.visit_enum(MapAccessDeserializer::new(entries(all))),
            DeValue::String(text) => visitor.visit_enum(text.into_deserializer()),
            _ => Err(de::Error::custom("a name, or a table of one name, is to stand here")),
        };
        told.map_err(|wrong| wrong.within(at))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

fn entries<'de>(all: DeTable<'de>) -> MapDeserializer<'de, impl Iterator<Item = (Key<'de>, Value<'de>)>, Wrong> {
    MapDeserializer::new(all.into_iter().map(|(key, value)| (Key(key), Value(value))))
}

/// The name of a value where it stands.
struct Key<'de>(Spanned<DeString<'de>>);

impl<'de> Key<'de> {
    fn text<V: Visitor<'de>>(text: DeString<'de>, visitor: V) -> Result<V::Value, Wrong> {
        match text {
            DeString::Borrowed(text) => visitor.visit_borrowed_str(text),
            DeString::Owned(text) => visitor.visit_string(text),
        }
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for Key<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let at = self.0.span().start;
        Key::text(self.0.into_inner(), visitor).map_err(|wrong| wrong.within(at))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let at = self.0.span().start;
        visitor.visit_enum(self.0.into_inner().into_deserializer()).map_err(|wrong: Wrong| wrong.within(at))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
