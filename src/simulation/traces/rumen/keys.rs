//! The names in an object that its kind does not have: what stands there is passed over, and not without a word.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Names that are kept of one object: of a job's eight million all are held at once.
const NAMES: usize = 8;

/// A kind of object.
pub(super) trait Kind {
    /// What it is called.
    const CALLED: &'static str;
    /// The names that it has.
    const KNOWN: &'static [&'static str];
}

/// An object with what is strange in it.
pub(super) struct Noted<T> {
    pub(super) of: T,
    pub(super) strange: Option<Box<Strange>>,
}

/// Names that a kind does not have: the first few, and how many there were.
#[derive(Default)]
pub(super) struct Strange {
    pub(super) names: Vec<String>,
    pub(super) count: usize,
}

impl Strange {
    fn note(&mut self, name: &str) {
        self.count += 1;
        if self.names.len() < NAMES && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

impl<'de, T: Kind + Deserialize<'de>> Deserialize<'de> for Noted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Noted<T>, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Kind + Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Noted<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object that is a {}", T::CALLED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Noted<T>, A::Error> {
        let mut strange = Strange::default();
        let of = T::deserialize(MapAccessDeserializer::new(Names { map, known: T::KNOWN, strange: &mut strange }))?;
        Ok(Noted { of, strange: (strange.count > 0).then(|| Box::new(strange)) })
    }
}

/// The same names and values, the names looked at on their way.
struct Names<'a, A> {
    map: A,
    known: &'static [&'static str],
    strange: &'a mut Strange,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Names<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.map.next_key_seed(Name { seed, known: self.known, strange: self.strange })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

struct Name<'a, K> {
    seed: K,
    known: &'static [&'static str],
    strange: &'a mut Strange,
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Name<'_, K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Name<'_, K> {
    type Value = K::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<K::Value, E> {
        if !self.known.contains(&name) {
            self.strange.note(name);
        }
        self.seed.deserialize(StrDeserializer::new(name))
    }
}
