//! How long and how large what a request says may be.

use super::*;

#[test]
fn a_number_that_json_does_not_keep_exactly_is_refused_wherever_it_stands() {
    let too_big = 9_007_199_254_740_992u64;
    all_malformed(&[
        (json!({"epoch": too_big}), "epoch"),
        (json!({"lease_ms": too_big}), "lease_ms"),
        (json!({"base": too_big, "upto": too_big}), "base"),
        (json!({"clock": {"am_ms": 0, "mono_ms": too_big}}), "clock.mono_ms"),
        (json!({"native": {"launched": too_big}}), "native.launched"),
        (json!({"native": {"launched": 0, "held": too_big}}), "native.held"),
    ]);
}

#[test]
fn texts_and_lists_longer_than_the_schema_has_them_are_refused() {
    let ack = |name: &str, value: Value| {
        let mut ack = json!({"id": "a", "outcome": "b"});
        ack[name] = value;
        json!({"acks": [ack]})
    };
    let hello = |name: &str, value: Value| {
        let mut hello = Am::new(1, 1, 1).next()["hello"].take();
        hello[name] = value;
        json!({"hello": hello})
    };
    let text = |length: usize| json!("a".repeat(length));
    let settings: serde_json::Map<_, _> = (0..65).map(|n| (format!("a{n}"), text(1))).collect();
    all_malformed(&[
        (ack("id", text(1_025)), "acks.id has more than 1024"),
        (ack("outcome", text(65)), "acks.outcome has more than 64"),
        (ack("attempts", json!(vec![0; 17])), "acks.attempts has more than 16"),
        (hello("user", text(1_025)), "hello.user has more than 1024"),
        (hello("queue", text(1_025)), "hello.queue has more than 1024"),
        (hello("name", text(1_025)), "hello.name has more than 1024"),
        (hello("hadoop", text(1_025)), "hello.hadoop has more than 1024"),
        (hello("java", text(1_025)), "hello.java has more than 1024"),
        (hello("can", json!(vec![text(1); 17])), "hello.can has more than 16 entries"),
        (hello("can", json!([text(65)])), "hello.can has more than 64 characters"),
        (hello("settings", json!(settings)), "hello.settings has more than 64 entries"),
        (hello("settings", json!({"a": text(1_025)})), "hello.settings has more than 1024 characters"),
    ]);
}

#[test]
fn a_list_of_more_rows_than_a_shim_sends_is_too_large_and_takes_no_memory_for_the_rest() {
    let said = |list: &str, row: &Value, n: usize| {
        let request = Am::new(1, 1, 1).with(json!({list: vec![row; n]}));
        let body = serde_json::to_vec(&request).unwrap();
        parse(&body).map(|request| request.rows()).map_err(|refusal| refusal.why)
    };
    let host = json!([0, "nm1", "/r"]);
    let (task, attempt) = (json!({"k": "m", "i": 0}), json!({"k": "m", "i": 0, "n": 0}));
    for (list, row) in [("hosts", host), ("tasks", task), ("attempts", attempt)] {
        let told = [20_000, 20_001].map(|n| said(list, &row, n));
        assert_eq!(told, [Ok(20_000), Err(Why::TooLarge)], "{list}");
    }
}
