//! Whatever is said, and however a request is damaged: properties.

use super::*;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    /// So little that most of it is still read.
    #[test]
    fn no_damage_to_a_request_breaks_the_reader(
        of in select(vec!["hello", "delta", "acks"]),
        damage in prop::collection::vec((any::<Index>(), any::<u8>(), 0..3u8), 1..4),
    ) {
        let mut bytes = read(&format!("examples/{of}.request.json")).into_bytes();
        for (at, byte, how) in damage {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => {
                    bytes.remove(at);
                }
            }
        }
        let _ = parse(&bytes);
    }

    /// Each value of a good request, at any depth, replaced by any other, or a text by another: of a session that is believed, and in what one says that is not yet.
    #[test]
    fn no_value_in_any_place_breaks_the_desk(
        is_new in any::<bool>(),
        place in any::<Index>(),
        value in any_json(),
        text in prop::option::of(".{0,8}"),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (mut room, mut am) = (Room::new(), Am::new(1, 1, 1));
        let example = |of: &str| serde_json::from_str::<Value>(&read(&format!("examples/{of}.request.json"))).unwrap();
        if is_new {
            room.cluster.runs(&am);
            room.cluster.lists(&am);
        } else {
            runtime.block_on(room.seat(&mut am));
        }
        let mut request = am.next();
        if is_new {
            request["hello"]["settings"] = example("hello")["hello"]["settings"].take();
        } else {
            let mut example = example("delta");
            for field in ["tasks", "attempts", "needs", "native", "dropped", "acks"] {
                request[field] = example[field].take();
            }
        }
        let (mut places, within) = (Vec::new(), if is_new { "/hello" } else { "" });
        collect(request.pointer(within).unwrap(), within.into(), &mut places);
        let replaced = request.pointer_mut(&places[place.index(places.len())]).unwrap();
        *replaced = text.filter(|_| replaced.is_string()).map_or(value, Value::from);
        let _ = runtime.block_on(room.looked_into(&am.key, || request.clone()));
    }
}
