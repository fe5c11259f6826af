//! The contract of `docs/protocol`, from the service's side.

mod bounds;
mod chance;

use super::super::reply::{Action, Launcher, On, Refusal, Reply, What, Why};
use super::super::wire::{PROTOCOL, parse};
use super::{Am, Room, why};
use drover_core::model::{Answer, AttemptState, Fact, Mode, Phase, TaskKind};
use serde_json::{Value, json};

fn read(name: &str) -> String {
    let path = format!("{}/docs/protocol/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(&read("exchange.schema.json")).unwrap()).unwrap()
}

fn conforms(document: &Value) {
    if let Err(error) = schema().validate(document) {
        panic!("{document} breaks the schema: {error}");
    }
}

#[test]
fn every_example_conforms_to_the_schema_and_requests_are_read() {
    let mut requests = 0;
    for entry in std::fs::read_dir(format!("{}/docs/protocol/examples", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = read(&format!("examples/{name}"));
        conforms(&serde_json::from_str(&text).unwrap());
        if name.ends_with(".request.json") {
            parse(text.as_bytes()).unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
            requests += 1;
        }
    }
    assert!(requests >= 2);
}

#[test]
fn the_example_of_a_delta_is_read_value_by_value() {
    let text = read("examples/delta.request.json");
    let request = parse(text.as_bytes()).unwrap();
    assert_eq!((request.seq, request.base, request.upto), (9, 17, 23));
    let row = &request.attempts[1];
    assert_eq!((row.k.0, row.s.unwrap().0), (Some(TaskKind::Reduce), Some(AttemptState::Succeeded)));
    assert_eq!(row.ph.unwrap().0, Some(Phase::Reduce));
    assert_eq!(row.shuf.unwrap().get(), Some(1_795_182_441_000));
    assert_eq!(request.attempts[2].miss[0].1.get(), Some(1_795_182_444_800));
    assert_eq!(request.attempts[0].ctr.as_ref().unwrap().rec.unwrap().get(), Some(1_000));
}

#[test]
fn every_refusal_and_reply_conforms_to_the_schema() {
    for case in Why::ALL {
        conforms(&serde_json::to_value(Refusal::new(case, "words").holding(3)).unwrap());
        conforms(&serde_json::to_value(Refusal::new(case, "words")).unwrap());
        assert!((400..600).contains(&case.status()));
    }
    let mut reply = Reply {
        protocol: PROTOCOL,
        seq: 9,
        epoch: 3,
        incarnation: "9f86d081884c7d65".into(),
        accepted: true,
        reason: None,
        ack: 23,
        snapshot: false,
        next_exchange_ms: 1000,
        news_exchange_ms: None,
        news_of_starts: false,
        launcher: Launcher::Native,
        fetch_failures: false,
        lease_ms: 0,
        actions: Vec::new(),
    };
    assert_eq!(json!(reply), serde_json::from_str::<Value>(&read("examples/accepted.reply.json")).unwrap());
    let pending = Reply {
        seq: 1,
        accepted: false,
        reason: Some("proof_pending"),
        ack: 0,
        next_exchange_ms: 253,
        ..reply.clone()
    };
    assert_eq!(json!(pending), serde_json::from_str::<Value>(&read("examples/pending.reply.json")).unwrap());
    reply.snapshot = true;
    conforms(&json!(reply));
    let on = On { k: 'm', i: 1, live: 1, avoid: vec!["nm2".into()], moves: 2 };
    let action = Action {
        id: "9f86d081884c7d65-17".into(),
        what: What::Duplicate { on: on.clone(), copies: 1, prefer: vec!["nm3".into()] },
        deadline_ms: 8_000,
    };
    let restart = Action {
        id: "9f86d081884c7d65-18".into(),
        what: What::Restart { on: On { i: 0, moves: 6, ..on }, n: 0, below: 0.75, restarts: 0 },
        ..action.clone()
    };
    let avoid = Action {
        id: "9f86d081884c7d65-19".into(),
        what: What::Avoid { avoid: vec!["nm2".into()], for_ms: 300_000 },
        ..action.clone()
    };
    let rerun = Action {
        id: "9f86d081884c7d65-20".into(),
        what: What::Rerun { outputs: vec![(0, 0), (3, 1)] },
        ..action.clone()
    };
    let leased = Reply {
        seq: 10,
        epoch: 1_795_182_400_000,
        ack: 29,
        snapshot: false,
        news_exchange_ms: Some(250),
        news_of_starts: true,
        launcher: Launcher::Drover,
        fetch_failures: true,
        lease_ms: 10_000,
        actions: vec![action, restart, avoid, rerun],
        ..reply
    };
    assert_eq!(json!(leased), serde_json::from_str::<Value>(&read("examples/lease.reply.json")).unwrap());
}

#[test]
fn every_label_and_status_stands_in_the_protocols_documentation() {
    let text = read("README.md");
    for case in Why::ALL {
        let label = format!("`{}`", case.label());
        let mut rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
        let row = rows.find(|(statuses, rest)| statuses.starts_with(['4', '5']) && rest.contains(&label));
        let (statuses, _) = row.unwrap_or_else(|| panic!("{label} is not documented"));
        assert!(statuses.contains(&case.status().to_string()), "{label} is documented with another status");
    }
}

#[test]
fn every_answer_to_an_action_stands_in_the_protocols_documentation() {
    let text = read("README.md");
    for answer in Answer::ALL {
        assert!(text.contains(&format!("\n| `{}` | ", answer.label())), "{} is not documented", answer.label());
    }
}

#[tokio::test]
async fn another_protocol_version_is_told_apart_from_nonsense_whatever_its_shape() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    for request in [am.with(json!({"protocol": 2})), json!({"protocol": 2}), json!({"protocol": -1, "news": {}})] {
        let refusal = room.send(&am.key, &request).unwrap_err();
        assert_eq!(refusal.why, Why::ProtocolVersion);
        assert!(refusal.message.contains("speaks protocol 1"), "{}", refusal.message);
        let names = refusal.message.contains("the shim of job_1795181650543_0001 2:");
        assert_eq!(names, request.get("job").is_some(), "{}", refusal.message);
    }
    for request in [json!({}), json!(null), json!([1]), json!({"protocol": "1"}), json!({"protocol": 1})] {
        assert_eq!(why(room.send(&am.key, &request)), Why::Malformed, "{request}");
    }
}

#[test]
fn a_request_outside_the_schema_is_refused_with_words_that_name_what_is_wrong() {
    let too_big = 9_007_199_254_740_992u64;
    let cases = [
        (json!({"seq": 0}), "seq"),
        (json!({"seq": -1}), "-1"),
        (json!({"seq": too_big}), "seq"),
        (json!({"seq": "1"}), "string"),
        (json!({"base": 5, "upto": 4}), "upto"),
        (json!({"upto": too_big}), "upto"),
        (json!({"clock": {"am_ms": too_big, "mono_ms": 0}}), "clock.am_ms"),
        (json!({"clock": {"am_ms": 0}}), "mono_ms"),
        (json!({"maps": 4_294_967_296u64}), "4294967296"),
        (json!({"needs": {"m": -1, "r": 0}}), "-1"),
        (json!({"session": "00112233445566778899AABBCCDDEEFF"}), "session"),
        (json!({"session": "0011"}), "session"),
        (json!({"job": "job_1"}), "job"),
        (json!({"job": "job_1_99999999999"}), "job"),
        (json!({"attempt": "appattempt_1_2"}), "attempt"),
        (json!({"attempts": [{"k": "m", "i": 0}]}), "missing field `n`"),
        (json!({"attempts": [{"k": "m", "i": 0, "n": 0, "p": "NaN"}]}), "NaN"),
        (json!({"attempts": null}), "null"),
        (json!({"hosts": [[0, "a"]]}), "hosts"),
        (json!({"shim": "s".repeat(65)}), "shim"),
        (json!({"job_state": "S".repeat(33)}), "job_state"),
        (json!({"dropped": (0..33).map(|n| (n.to_string(), json!(1))).collect::<serde_json::Map<_, _>>()}), "dropped"),
        (json!({"acks": vec![json!({"id": "a", "outcome": "b"}); 1_001]}), "acks"),
    ];
    all_malformed(&cases);
}

/// Neither the schema nor the service takes such fields, and the service says what is wrong in such words.
fn all_malformed(cases: &[(Value, &str)]) {
    let schema = schema();
    for (fields, words) in cases {
        let request = Am::new(1, 1, 1).with(fields.clone());
        // A schema cannot compare two fields.
        assert!(!schema.is_valid(&request) || fields.get("base").is_some(), "{fields} conforms to the schema");
        let refusal =
            parse(&serde_json::to_vec(&request).unwrap()).err().unwrap_or_else(|| panic!("{fields} is taken"));
        assert_eq!(refusal.why, Why::Malformed);
        let named = refusal.message.contains(words);
        assert!(named && refusal.message.len() < 400, "{fields}: {}", refusal.message);
    }
}

/// What a shim of the first release of protocol 1 says at least. It stays as it is: jobs that began with an old jar still run beside a service of any later release.
const FIRST_RELEASE: &str = r#"{
    "protocol": 1, "shim": "0.1.0", "session": "00112233445566778899aabbccddeeff",
    "attempt": "appattempt_1795181650543_0021_000001", "job": "job_1795181650543_0021", "seq": 1,
    "clock": {"am_ms": 1795182435000, "mono_ms": 12}, "epoch": 0, "lease_ms": 0,
    "hello": {"key": "0101010101010101010101010101010101010101010101010101010101010101", "user": "alice", "queue": "root.etl", "name": "word count",
        "hadoop": "3.4.3", "java": "17.0.15", "mode": "act", "uber": false, "settings": {}},
    "base": 0, "upto": 2, "more": false, "job_state": "RUNNING", "maps": 2, "reduces": 1, "hosts": [[0, "nm1", "/r"]],
    "tasks": [{"k": "m", "i": 0}], "attempts": [{"k": "m", "i": 0, "n": 0, "ctr": {}}],
    "needs": {"m": 0, "r": 0}, "native": {"launched": 0}, "dropped": {}, "acks": [{"id": "ab-1", "outcome": "applied"}]
}"#;

#[test]
fn a_shim_of_the_first_release_is_understood_by_every_later_service() {
    let document: Value = serde_json::from_str(FIRST_RELEASE).unwrap();
    conforms(&document);
    let request = parse(FIRST_RELEASE.as_bytes()).unwrap_or_else(|refusal| panic!("{}", refusal.message));
    assert_eq!((request.maps, request.hello.unwrap().mode.0), (2, Some(Mode::Act)));
    // None of it could be left out, so that a field which a later release adds cannot become a required one here unseen.
    let mut places = Vec::new();
    collect(&document, String::new(), &mut places);
    for place in places.iter().filter(|place| !place.is_empty() && !place.ends_with(|end: char| end.is_ascii_digit())) {
        let (parent, name) = place.rsplit_once('/').unwrap();
        let mut less = document.clone();
        less.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
        let is_optional = place == "/hello" || place == "/attempts/0/ctr";
        assert_eq!(parse(&serde_json::to_vec(&less).unwrap()).is_ok(), is_optional, "{place}");
    }
}

#[test]
fn fields_of_a_later_release_are_read_over_wherever_they_stand() {
    let document: Value = serde_json::from_str(FIRST_RELEASE).unwrap();
    let mut places = Vec::new();
    collect(&document, String::new(), &mut places);
    // These map names to values of one kind.
    let closed = ["/hello/settings", "/dropped"];
    for later in [json!(null), json!(u64::MAX), json!("word"), json!({"a": [1, {"b": null}]})] {
        let mut newer = document.clone();
        for place in places.iter().filter(|place| !closed.contains(&place.as_str())) {
            if let Some(object) = newer.pointer_mut(place).unwrap().as_object_mut() {
                object.insert("later".into(), later.clone());
            }
        }
        let text = serde_json::to_vec(&newer).unwrap();
        let request = parse(&text).unwrap_or_else(|refusal| panic!("{later}: {}", refusal.message));
        assert_eq!((request.hosts.len(), request.tasks.len(), request.attempts.len()), (1, 1, 1));
    }
}

#[tokio::test]
async fn a_session_of_a_later_release_is_served_as_far_as_its_words_are_known() {
    let (mut room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    let mut hello = am.clone().next()["hello"].clone();
    hello["mode"] = json!("act_by_day");
    hello["zone"] = json!({"a": 1});
    hello["can"] = json!(["duplicate", "teleport"]);
    let row = json!({"k": "m", "i": 0, "n": 0, "s": "HIBERNATED", "p": 0.5, "watts": 7});
    let later = json!({"hello": hello, "shim": "9.0.0", "upto": 1, "attempts": [row], "weather": "fine"});
    assert!(room.settled(&mut am, later).await.unwrap().accepted);
    let told = room.told();
    let mode = told.iter().find_map(|fact| if let Fact::Settings(_, set) = fact { set.mode } else { None });
    assert_eq!(mode, Some(Mode::Advise), "a mode that is not known is not taken for leave to act");
    let attempt =
        told.iter().find_map(|fact| if let Fact::Attempts { attempts, .. } = fact { attempts.first() } else { None });
    assert_eq!(attempt.map(|one| (one.state, one.score)), Some((None, Some(0.5))));
    assert_eq!(room.refused("unknown_state"), 1);
    assert_eq!(room.desk.views(room.now)[0].shim, "9.0.0");
}

#[test]
fn no_error_repeats_a_key() {
    let mut am = Am::new(1, 1, 1);
    let mut request = am.next();
    request["hello"]["key"] = json!("SECRET0203".repeat(7));
    let refusal = parse(&serde_json::to_vec(&request).unwrap()).unwrap_err();
    assert!(refusal.message.contains("hello.key") && !refusal.message.contains("SECRET"), "{}", refusal.message);
}

fn collect(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, inner)| collect(inner, format!("{at}/{name}"), places)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, inner)| collect(inner, format!("{at}/{n}"), places))
        }
        _ => {}
    }
    places.push(at);
}
