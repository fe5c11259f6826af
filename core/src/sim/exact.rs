//! Lists as long as they are to be: the deserializers of tuples leave what is beyond them unread.

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// One of them.
struct Exact<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Exact<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Whole<T> {
            type Value = T;

            fn expecting(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
                words.write_str("a list of fixed length")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<T, A::Error> {
                let value = T::deserialize(SeqAccessDeserializer::new(&mut all))?;
                match all.next_element::<IgnoredAny>()? {
                    None => Ok(value),
                    Some(_) => Err(A::Error::custom("one of its lists has too many elements")),
                }
            }
        }
        deserializer.deserialize_seq(Whole(PhantomData)).map(Exact)
    }
}

/// A list of such lists.
pub(super) fn each<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Vec::<Exact<T>>::deserialize(deserializer)?.into_iter().map(|Exact(one)| one).collect())
}
