//! Lists of a request, read no further than they may be long: what a body of tiny entries would take is many times its bytes, and nobody has vouched for it yet.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A list of which one more is kept than there may be, so that one that is too long shows. The others are read over.
pub fn at_most<'de, const MAX: usize, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Reader<const MAX: usize, T>(PhantomData<T>);
    impl<'de, const MAX: usize, T: Deserialize<'de>> Visitor<'de> for Reader<MAX, T> {
        type Value = Vec<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut rest: A) -> Result<Vec<T>, A::Error> {
            let mut kept = Vec::new();
            while kept.len() <= MAX {
                let Some(entry) = rest.next_element()? else { return Ok(kept) };
                kept.push(entry);
            }
            while rest.next_element::<IgnoredAny>()?.is_some() {}
            Ok(kept)
        }
    }
    from.deserialize_seq(Reader::<MAX, T>(PhantomData))
}

/// The same of an object.
pub fn map_at_most<'de, const MAX: usize, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    struct Reader<const MAX: usize, T>(PhantomData<T>);
    impl<'de, const MAX: usize, T: Deserialize<'de>> Visitor<'de> for Reader<MAX, T> {
        type Value = BTreeMap<String, T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<BTreeMap<String, T>, A::Error> {
            let mut kept = BTreeMap::new();
            while kept.len() <= MAX {
                let Some((name, value)) = rest.next_entry()? else { return Ok(kept) };
                kept.insert(name, value);
            }
            while rest.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(kept)
        }
    }
    from.deserialize_map(Reader::<MAX, T>(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Both {
        #[serde(deserialize_with = "at_most::<2, _, _>")]
        list: Vec<u8>,
        #[serde(deserialize_with = "map_at_most::<1, _, _>")]
        map: BTreeMap<String, u8>,
    }

    #[test]
    fn of_a_list_without_end_no_more_is_kept_than_shows_that_it_is_too_long() {
        let text = |list: &str| format!(r#"{{"list": {list}, "map": {{"a": 1, "b": 2, "c": {{"d": []}}}}}}"#);
        let both: Both = serde_json::from_str(&text(r#"[1, 2, 3, 4, "five"]"#)).unwrap();
        assert_eq!((both.list, both.map.len()), (vec![1, 2, 3], 2));
        assert!(serde_json::from_str::<Both>(&text("[]")).unwrap().list.is_empty());
        assert!(serde_json::from_str::<Both>(&text(r#"[1, "two"]"#)).is_err());
    }
}
