//! Hadoop's REST answers as they come: JSON first, XML of the same shapes where a server answers it.

/// Says which types are answers, and the name of each one's outermost element.
macro_rules! documents {
    ($($answer:ty => $root:literal),+ $(,)?) => {
        $(impl $crate::yarn::wire::Document for $answer {
            const ROOT: &'static str = $root;
        })+
    };
}

pub mod cluster;
pub mod job;
pub mod lenient;
pub mod scheduler;

#[cfg(test)]
mod tests;

use super::answer;
use super::error::Kind;
use super::xml::{self, Element};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value};
use std::fmt;
use std::marker::PhantomData;

/// An answer's type, with the name of its outermost element.
pub trait Document: Default + for<'de> Deserialize<'de> + Send + 'static {
    /// Outermost element in XML, only key of the object in JSON.
    const ROOT: &'static str;
    /// Of an answer that some Hadoops write in JSON without its outermost element: the keys of which one is then the only one.
    const BARE: &'static [&'static str] = &[];
}

/// Reads a body.
///
/// An empty container (`{}`, `{"apps":null}`, `<apps/>`) is an empty answer. Unknown fields are passed over.
///
/// # Errors
/// A body that is cut off, that is no document, or that is another one than asked for.
pub fn decode<T: Document>(body: &[u8]) -> Result<T, Kind> {
    if !answer::is_json(body) {
        let text = std::str::from_utf8(body).map_err(|e| Kind::Malformed(e.to_string()))?;
        let root = xml::parse(text.trim_start_matches('\u{feff}')).map_err(|e| match e.truncated {
            true => Kind::Truncated(e.why),
            false => Kind::Malformed(e.why),
        })?;
        if root.name != T::ROOT {
            return Err(Kind::Unexpected { expected: T::ROOT, found: format!("<{}>", answer::words(&root.name)) });
        }
        let read = lenient::Maybe::<T>::deserialize(value(&root)).map_err(|e| Kind::Malformed(e.to_string()))?;
        return Ok(read.0.unwrap_or_default());
    }
    match json::<T>(body) {
        Err(Kind::Malformed(why)) => match without_nan(body) {
            // Old servers write NaN as a bare word, which no JSON reader takes.
            Some(mended) => json(&mended),
            None => Err(Kind::Malformed(why)),
        },
        read => read,
    }
}

fn json<T: Document>(body: &[u8]) -> Result<T, Kind> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let read = Root::<T>(PhantomData).deserialize(&mut deserializer).and_then(|r| deserializer.end().map(|()| r));
    match read {
        Ok(Ok(document)) => Ok(document),
        Ok(Err(found)) => Err(Kind::Unexpected { expected: T::ROOT, found }),
        Err(e) if e.is_eof() => Err(Kind::Truncated(e.to_string())),
        Err(e) => Err(Kind::Malformed(answer::words(&e.to_string()))),
    }
}

/// Takes the value of the key `T::ROOT`; else tells what was there instead.
struct Root<T>(PhantomData<T>);

impl<'de, T: Document> DeserializeSeed<'de> for Root<T> {
    type Value = Result<T, String>;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de, T: Document> Visitor<'de> for Root<T> {
    type Value = Result<T, String>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {}", T::ROOT)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut other) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            if key == T::ROOT {
                found = Some(map.next_value::<lenient::Maybe<T>>()?.0.unwrap_or_default());
            } else if T::BARE.contains(&key.as_str()) {
                let inside = Map::from_iter([(key, map.next_value::<Value>()?)]);
                found = Some(T::deserialize(Value::Object(inside)).map_err(de::Error::custom)?);
            } else if key == "RemoteException" {
                let exception: Value = map.next_value()?;
                other = Some(format!("an exception ({})", answer::remote(&exception).unwrap_or_default()));
            } else {
                map.next_value::<IgnoredAny>()?;
                other.get_or_insert(format!("\"{}\"", answer::words(&key)));
            }
        }
        Ok(match (found, other) {
            (Some(found), _) => Ok(found),
            (None, None) => Ok(T::default()),
            (None, Some(other)) => Err(other),
        })
    }
    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Err("a list".to_owned()))
    }
}

/// An XML element as JSON: text where it holds text only, else an object; elements of one name become a list.
fn value(element: &Element) -> Value {
    if element.children.is_empty() && element.attributes.is_empty() {
        return Value::String(element.text.clone());
    }
    let mut map = Map::new();
    for (name, text) in &element.attributes {
        map.insert(name.clone(), Value::String(text.clone()));
    }
    for child in &element.children {
        let next = value(child);
        match map.get_mut(&child.name) {
            None => {
                map.insert(child.name.clone(), next);
            }
            Some(Value::Array(list)) => list.push(next),
            Some(one) => {
                let first = one.take();
                *one = Value::Array(vec![first, next]);
            }
        }
    }
    Value::Object(map)
}

/// The body with bare `NaN`, `Infinity` and `-Infinity` outside strings as `null`; `None` where there are none.
fn without_nan(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len());
    let (mut i, mut in_string, mut changed) = (0, false, false);
    while i < body.len() {
        let rest = &body[i..];
        let word = [&b"-Infinity"[..], b"Infinity", b"NaN"].into_iter().find(|w| !in_string && rest.starts_with(w));
        if let Some(word) = word {
            out.extend_from_slice(b"null");
            i += word.len();
            changed = true;
            continue;
        }
        match body[i] {
            b'\\' if in_string => {
                out.extend_from_slice(&rest[..rest.len().min(2)]);
                i += 2;
                continue;
            }
            b'"' => in_string = !in_string,
            _ => {}
        }
        out.push(body[i]);
        i += 1;
    }
    changed.then_some(out)
}
