//! Whatever happens to requests and answers on their way, the engine is told the same in the end.

use super::super::reply::{Reply, Why};
use super::super::values::Key;
use super::{Am, Room, one_look};
use drover_core::model::{AttemptFact, Fact, Observation};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a shim holds: for each attempt its fields, each with the version of its last change, and what it has been acknowledged.
#[derive(Default)]
struct Rows {
    fields: BTreeMap<(u32, u32), Fields>,
    version: u64,
    acked: u64,
}

type Fields = BTreeMap<&'static str, (u64, Value)>;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    /// A field of an attempt changes.
    Change { index: u32, number: u32, field: &'static str, value: u32 },
    /// An exchange, in pages of so many versions, and what becomes of it.
    Exchange { page: u64, fate: Fate },
    /// A request that was held up arrives after all.
    Arrive { which: prop::sample::Index },
    /// The consumer of facts takes what waits.
    Drain,
    /// The consumer loses what it held of the job, and the service asks for it again.
    Forget,
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Delivered,
    RequestLost,
    AnswerLost,
    Repeated,
    HeldUp,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let field = prop::sample::select(vec!["s", "p", "c", "u", "spec"]);
    let fate =
        prop::sample::select(vec![Fate::Delivered, Fate::RequestLost, Fate::AnswerLost, Fate::Repeated, Fate::HeldUp]);
    let step = prop_oneof![
        6 => (0..3u32, 0..2u32, field, 0..1000u32).prop_map(|(index, number, field, value)| Step::Change { index, number, field, value }),
        6 => (1..6u64, fate).prop_map(|(page, fate)| Step::Exchange { page, fate }),
        2 => any::<prop::sample::Index>().prop_map(|which| Step::Arrive { which }),
        2 => Just(Step::Drain),
        1 => Just(Step::Forget),
    ];
    prop::collection::vec(step, 1..60)
}

impl Rows {
    fn change(&mut self, index: u32, number: u32, field: &'static str, value: u32) {
        let value = match field {
            "s" => json!(["STARTING", "RUNNING", "COMMIT_PENDING", "SUCCEEDED"][value as usize % 4]),
            "p" => json!(f64::from(value) / 1000.0),
            "spec" => json!(value > 500),
            _ => json!(value + 1),
        };
        self.version += 1;
        self.fields.entry((index, number)).or_default().insert(field, (self.version, value));
    }

    /// Every change after what was acknowledged, up to a page of versions.
    fn request(&self, am: &mut Am, page: u64) -> Value {
        let (base, upto) = (self.acked, self.version.min(self.acked + page));
        let mut rows = Vec::new();
        for ((index, number), fields) in &self.fields {
            let changed = fields.iter().filter(|(_, (version, _))| (base + 1..=upto).contains(version));
            let mut row: Map<String, Value> =
                changed.map(|(name, (_, value))| (name.to_string(), value.clone())).collect();
            if !row.is_empty() {
                row.extend([("k".into(), json!("m")), ("i".into(), json!(index)), ("n".into(), json!(number))]);
                rows.push(Value::Object(row));
            }
        }
        am.with(json!({"base": base, "upto": upto, "more": upto < self.version, "maps": 3, "attempts": rows}))
    }

    /// An answer to another request than the newest is ignored.
    fn answered(&mut self, reply: &Reply, newest: u64) {
        if reply.seq == newest {
            self.acked = reply.ack;
        }
    }
}

/// The engine, as far as it matters here: the newest told value of each field.
#[derive(Debug, Default, PartialEq)]
struct Consumer {
    attempts: BTreeMap<(u32, u32), AttemptFact>,
    newest: u64,
}

impl Consumer {
    fn observe(&mut self, observations: Vec<Observation>) {
        for o in observations {
            assert!(o.seq > self.newest, "an engine would drop it as stale");
            self.newest = o.seq;
            let Fact::Attempts { attempts, .. } = o.fact else { continue };
            for new in attempts {
                let held = self.attempts.entry((new.index, new.number)).or_insert_with(|| new.clone());
                held.state = new.state.or(held.state);
                held.score = new.score.or(held.score);
                held.reports = new.reports.or(held.reports);
                held.scored_at = new.scored_at.or(held.scored_at);
                held.speculative = new.speculative.or(held.speculative);
            }
        }
    }
}

/// Plays the steps; in a clean run every exchange is delivered, whole and at once.
fn play(steps: &[Step], clean: bool) -> BTreeMap<(u32, u32), AttemptFact> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (mut room, mut am) = (Room::with(one_look(), 3), Am::new(1, 1, 1));
    runtime.block_on(room.seat(&mut am));
    let (mut rows, mut consumer, mut held_up) = (Rows::default(), Consumer::default(), Vec::<Value>::new());
    let key: Key = am.key.clone();
    for step in steps {
        // Far enough apart for the session's rate never to matter here.
        room.later(1_000);
        match step {
            Step::Change { index, number, field, value } => rows.change(*index, *number, field, *value),
            Step::Exchange { page, fate } => {
                let (page, fate) = if clean { (u64::MAX - rows.acked, Fate::Delivered) } else { (*page, *fate) };
                let request = rows.request(&mut am, page);
                exchange(&room, &mut rows, &key, request, fate, &mut held_up, am.seq);
            }
            Step::Arrive { which } if !held_up.is_empty() => {
                let late = held_up.remove(which.index(held_up.len()));
                if let Ok(reply) = room.send(&key, &late) {
                    rows.answered(&reply, am.seq);
                }
            }
            Step::Forget if !clean => {
                consumer.observe(room.drain());
                consumer.attempts.clear();
                room.desk.ask_snapshot(am.job());
            }
            _ => consumer.observe(room.drain()),
        }
        if clean {
            consumer.observe(room.drain());
        }
    }
    for late in held_up {
        consumer.observe(room.drain());
        let _ = room.send(&key, &late);
    }
    for _ in 0..1_000 {
        room.later(1_000);
        consumer.observe(room.drain());
        let request = rows.request(&mut am, 3);
        let last = request["upto"] == json!(rows.version);
        let reply = room.send(&key, &request).unwrap();
        rows.answered(&reply, am.seq);
        if last && !reply.snapshot && rows.acked == rows.version {
            consumer.observe(room.drain());
            return consumer.attempts;
        }
    }
    panic!("the session never comes to rest");
}

fn exchange(
    room: &Room,
    rows: &mut Rows,
    key: &Key,
    request: Value,
    fate: Fate,
    held_up: &mut Vec<Value>,
    newest: u64,
) {
    let mut answered = |answer: Result<Reply, super::Refusal>| match answer {
        Ok(reply) => rows.answered(&reply, newest),
        Err(refusal) => assert!(matches!(refusal.why, Why::Overloaded | Why::StaleSequence), "{refusal:?}"),
    };
    match fate {
        Fate::RequestLost => {}
        Fate::HeldUp => held_up.push(request),
        Fate::AnswerLost => drop(room.send(key, &request)),
        Fate::Delivered => answered(room.send(key, &request)),
        Fate::Repeated => {
            answered(room.send(key, &request));
            answered(room.send(key, &request));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 2))]
    #[test]
    fn losses_repeats_delays_pages_and_full_queues_change_nothing_in_the_end(steps in steps()) {
        prop_assert_eq!(play(&steps, false), play(&steps, true));
    }
}
