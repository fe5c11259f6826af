//! What rows mean, and what becomes of values that cannot be.

use super::super::params::ActParams;
use super::{Am, Room, ShimParams, one_look};
use drover_core::model::{
    AttemptFact, AttemptState, Bytes, Fact, JobPhase, Millis, Miss, Mode, Phase, TaskFact, TaskKind, TaskState, Time,
};
use serde_json::{Value, json};

const T: u64 = 1_795_182_436_000;

async fn seated() -> (Room, Am) {
    let (mut room, mut am) = (Room::new(), Am::new(21, 1, 1));
    room.seat(&mut am).await;
    (room, am)
}

fn attempts(facts: &[Fact]) -> Vec<AttemptFact> {
    facts
        .iter()
        .filter_map(|f| if let Fact::Attempts { attempts, .. } = f { Some(attempts.clone()) } else { None })
        .flatten()
        .collect()
}

fn tasks(facts: &[Fact]) -> Vec<TaskFact> {
    facts
        .iter()
        .filter_map(|f| if let Fact::Tasks { tasks, .. } = f { Some(tasks.clone()) } else { None })
        .flatten()
        .collect()
}

/// Sends one attempt row and returns what is told of it.
async fn one(row: Value) -> (Room, Vec<AttemptFact>) {
    let (mut room, mut am) = seated().await;
    let mut full = json!({"k": "m", "i": 0, "n": 0});
    for (name, value) in row.as_object().unwrap() {
        full[name] = value.clone();
    }
    let reply = room.send(&am.key.clone(), &am.with(json!({"upto": 1, "attempts": [full]}))).unwrap();
    assert_eq!(reply.ack, 1, "a value that cannot be never stops the rest");
    let told = attempts(&room.told());
    (room, told)
}

#[tokio::test]
async fn every_value_of_a_row_reaches_its_fact() {
    let (mut room, mut am) = seated().await;
    let request = am.with(json!({
        "upto": 9, "hosts": [[0, "nm1", "/rack1"], [1, "nm2", "/rack2"]],
        "tasks": [{"k": "m", "i": 1, "s": "SCHEDULED", "bytes": 134_217_728, "hosts": [0, 1]}],
        "attempts": [
            {"k": "r", "i": 0, "n": 3, "s": "COMMIT_PENDING", "node": 1, "at": T, "fin": T + 9, "spec": true, "p": 0.25, "u": T + 5, "c": 7,
             "ph": "SHUFFLE", "shuf": T + 1, "sort": T + 2,
             "ctr": {"in": 1, "rec": 2, "out": 3, "cpu": 4, "gc": 5, "shuf": 6, "mem": 7}},
        ],
        "needs": {"m": 4, "r": 5}, "native": {"launched": 6},
    }));
    room.send(&am.key, &request).unwrap();
    let told = room.told();
    let mut task = TaskFact::of(am.job().task(TaskKind::Map, 1));
    (task.state, task.input) = (Some(TaskState::Scheduled), Some(Bytes(134_217_728)));
    task.hosts = vec!["nm1".into(), "nm2".into()];
    assert_eq!(tasks(&told), [task]);
    let mut attempt = AttemptFact::of(am.job().task(TaskKind::Reduce, 0).attempt(3));
    (attempt.state, attempt.phase) = (Some(AttemptState::CommitPending), Some(Phase::Copy));
    (attempt.host, attempt.speculative) = (Some("nm2".into()), Some(true));
    (attempt.started, attempt.finished) = (Some(Time(T)), Some(Time(T + 9)));
    (attempt.score, attempt.scored_at, attempt.reports) = (Some(0.25), Some(Time(T + 5)), Some(7));
    (attempt.copied, attempt.sorted) = (Some(Time(T + 1)), Some(Time(T + 2)));
    let c = &mut attempt.counters;
    (c.read, c.records, c.written) = (Some(Bytes(1)), Some(2), Some(Bytes(3)));
    (c.cpu, c.gc, c.shuffled, c.memory) = (Some(Millis(4)), Some(Millis(5)), Some(Bytes(6)), Some(Bytes(7)));
    assert_eq!(attempts(&told), [attempt]);
    assert_eq!(told.last(), Some(&Fact::Needs { job: am.job(), maps: 4, reduces: 5, native_copies: 6 }));
    assert_eq!(room.desk.views(room.now)[0].native_copies, 6);
}

#[tokio::test]
async fn reduces_that_missed_an_output_are_told_with_it_and_no_others() {
    let miss = |reduce: u32, at: u64| json!([reduce, at]);
    let (room, told) = one(json!({"miss": [miss(0, T), miss(1, T), miss(0, 0)]})).await;
    assert_eq!(told[0].missed, [Miss { reduce: 0, at: Time(T) }]);
    assert_eq!(room.refused("unknown_task"), 1, "the job has one reduce");
    let (_, many) = one(json!({"miss": (0..99).map(|more| miss(0, T + more)).collect::<Vec<_>>()})).await;
    assert_eq!(many[0].missed.len(), 8);
    let (room, told) = one(json!({"k": "r", "miss": [miss(0, T)]})).await;
    assert_eq!((told[0].missed.len(), room.refused("unknown_kind")), (0, 1), "nobody fetches from a reduce");
}

#[tokio::test]
async fn fetch_failures_are_asked_for_where_something_would_come_of_it() {
    for rerun in [false, true] {
        let act = ActParams { rerun, ..ActParams::default() };
        let (mut room, mut am) = (Room::with(ShimParams { act, ..one_look() }, 1_000), Am::new(21, 1, 1));
        room.seat(&mut am).await;
        let reply = room.send(&am.key.clone(), &am.next()).unwrap();
        assert_eq!(json!(reply).get("fetch_failures"), rerun.then_some(&json!(true)));
    }
}

#[tokio::test]
async fn what_is_absent_is_not_told() {
    let (_, told) = one(json!({})).await;
    assert_eq!(told, [AttemptFact::of(Am::new(21, 1, 1).job().task(TaskKind::Map, 0).attempt(0))]);
}

#[tokio::test]
async fn an_exchange_without_changes_still_shows_that_the_job_is_watched() {
    let (mut room, mut am) = seated().await;
    room.send(&am.key.clone(), &am.next()).unwrap();
    assert_eq!(room.told(), [Fact::Needs { job: am.job(), maps: 0, reduces: 0, native_copies: 0 }]);
}

#[tokio::test]
async fn the_jobs_summary_and_settings_are_told_once_and_when_they_change() {
    let (mut room, mut am) = (Room::new(), Am::new(21, 1, 1));
    room.cluster.runs(&am);
    let mut request = am.next();
    request["hello"]["mode"] = json!("off");
    request["hello"]["uber"] = json!(true);
    request["hello"]["settings"] = json!({"mapreduce.map.speculative": "false", "mapreduce.task.timeout": "soon"});
    let hello = request["hello"].clone();
    room.settled(&mut am, json!({"hello": hello, "job_state": "INITED", "maps": 0})).await.unwrap();
    let told = room.told();
    let Fact::Job(job) = &told[2] else { panic!("{told:?}") };
    assert_eq!((job.state, job.maps, job.reduces, job.uber), (Some(JobPhase::Preparing), 0, 1, true));
    assert_eq!(job.started, Time(1_795_182_435_000 - 12), "the start of the shim, on the AM's clock");
    let Fact::Settings(_, settings) = &told[3] else { panic!("{told:?}") };
    assert_eq!(
        (settings.mode, settings.map_speculation, settings.map_container.memory_mb),
        (Some(Mode::Off), false, 1024)
    );
    assert_eq!(room.refused("bad_property"), 1);
    am.hello = false;
    let mut summaries = |fields: Value| {
        room.send(&am.key.clone(), &am.with(fields)).unwrap();
        room.told().into_iter().filter(|f| matches!(f, Fact::Job(_) | Fact::Settings(..))).count()
    };
    assert_eq!(summaries(json!({"job_state": "INITED", "maps": 0})), 0);
    assert_eq!(summaries(json!({"job_state": "RUNNING", "maps": 0})), 1);
    assert_eq!(summaries(json!({"job_state": "RUNNING", "maps": 7})), 1);
    assert_eq!(summaries(json!({"job_state": "DREAMING", "maps": 7})), 1, "told with a state that is not known");
    assert_eq!(room.refused("unknown_job_state"), 1);
}

#[tokio::test]
async fn progress_out_of_range_is_left_out_and_counted() {
    for p in [json!(1.0001), json!(-0.1), json!(100), json!(1e300)] {
        let (room, told) = one(json!({"p": p, "u": T, "c": 1})).await;
        assert_eq!((told[0].score, told[0].scored_at), (None, Some(Time(T))));
        assert_eq!(room.refused("progress_range"), 1, "{p}");
    }
    for p in [json!(0), json!(1), json!(1.0)] {
        let (_, told) = one(json!({"p": p})).await;
        assert!(told[0].score.is_some(), "{p}");
    }
}

#[tokio::test]
async fn a_finish_before_the_start_is_left_out_and_counted() {
    let (room, told) = one(json!({"s": "SUCCEEDED", "at": T, "fin": T - 1})).await;
    assert_eq!(
        (told[0].state, told[0].started, told[0].finished),
        (Some(AttemptState::Succeeded), Some(Time(T)), None)
    );
    assert_eq!(room.refused("finish_before_start"), 1);
}

#[tokio::test]
async fn numbers_out_of_range_are_left_out_and_counted() {
    for bad in [json!(-1), json!(9_007_199_254_740_992u64), json!(u64::MAX), json!(0.5), json!(1e300)] {
        let row = json!({"at": bad, "c": bad, "ctr": {"in": bad, "mem": 7}});
        let (room, told) = one(row).await;
        assert_eq!((told[0].started, told[0].reports, told[0].counters.read), (None, None, None), "{bad}");
        assert_eq!(told[0].counters.memory, Some(Bytes(7)));
        assert_eq!(room.refused("number_range"), 3, "{bad}");
    }
    let (room, told) = one(json!({"at": 0, "fin": 0})).await;
    assert_eq!((told[0].started, told[0].finished), (None, None), "Hadoop's 0 is a time that has not come");
    assert_eq!(room.refused("number_range"), 0);
}

#[tokio::test]
async fn words_that_hadoop_does_not_know_are_left_out_and_counted() {
    let (room, told) = one(json!({"s": "LEVITATING", "ph": "DANCE", "p": 0.5})).await;
    assert_eq!((told[0].state, told[0].phase, told[0].score), (None, None, Some(0.5)));
    assert_eq!((room.refused("unknown_state"), room.refused("unknown_phase")), (1, 1));
}

#[tokio::test]
async fn rows_of_tasks_and_attempts_that_cannot_exist_are_left_out_and_counted() {
    let (mut room, mut am) = seated().await;
    let rows = json!({"upto": 5,
        "tasks": [{"k": "m", "i": 2}, {"k": "r", "i": 1}, {"k": "m", "i": -1}, {"k": "m", "i": 4_294_967_296u64}, {"k": "x", "i": 0},
                  {"k": "m", "i": 0}],
        "attempts": [{"k": "m", "i": 2, "n": 0}, {"k": "m", "i": 0, "n": 1_000}, {"k": "m", "i": 0, "n": -1}, {"k": "m", "i": 0, "n": 999}],
    });
    assert_eq!(room.send(&am.key.clone(), &am.with(rows)).unwrap().ack, 5);
    let told = room.told();
    assert_eq!((tasks(&told).len(), attempts(&told).len()), (1, 1));
    assert_eq!(room.refused("unknown_task"), 5);
    assert_eq!(room.refused("unknown_kind"), 1);
    assert_eq!(room.refused("bad_attempt_number"), 2, "the first AM numbers below 1000");
    assert_eq!(room.desk.views(room.now)[0].rows, 2);
}

#[tokio::test]
async fn hosts_that_are_not_in_the_table_or_are_no_names_are_left_out_and_counted() {
    let (mut room, mut am) = seated().await;
    let rows = json!({"upto": 5,
        "hosts": [[0, "", ""], [1, "a b", ""], [2, "n".repeat(256), ""], [3, "good", ""], [20_000, "far", ""], [-1, "x", ""], [4, "a\u{0}b", ""]],
        "tasks": [{"k": "m", "i": 0, "hosts": [0, 3, 20_000, 7]}],
        "attempts": [{"k": "m", "i": 0, "n": 0, "node": 1, "p": 0.5}],
    });
    room.send(&am.key.clone(), &am.with(rows)).unwrap();
    let told = room.told();
    assert_eq!(tasks(&told)[0].hosts, ["good".into()]);
    assert_eq!((attempts(&told)[0].host.clone(), attempts(&told)[0].score), (None, Some(0.5)));
    assert_eq!((room.refused("bad_host"), room.refused("too_many_hosts"), room.refused("unknown_host")), (4, 2, 4));
}

#[tokio::test]
async fn a_host_keeps_its_name_so_that_one_session_cannot_name_hosts_without_end() {
    let (mut room, mut am) = seated().await;
    for (upto, name) in [(1, "first"), (2, "first"), (3, "second"), (4, "third")] {
        let attempt = json!([{"k": "m", "i": 0, "n": 0, "node": 0, "p": 0.1 * f64::from(upto)}]);
        room.send(&am.key.clone(), &am.with(json!({"upto": upto, "hosts": [[0, name, ""]], "attempts": attempt})))
            .unwrap();
        assert_eq!(attempts(&room.told())[0].host.as_deref(), Some("first"));
    }
    assert_eq!(room.refused("host_renamed"), 2);
}

#[tokio::test]
async fn a_snapshot_that_names_every_task_says_so_and_a_page_of_it_does_not() {
    let all = json!([{"k": "m", "i": 0}, {"k": "m", "i": 1}, {"k": "r", "i": 0}]);
    let twice = json!([{"k": "m", "i": 0}, {"k": "m", "i": 0}, {"k": "r", "i": 0}]);
    for (tasks, more, complete) in [(&all, false, true), (&all, true, false), (&twice, false, false)] {
        let (mut room, mut am) = seated().await;
        room.send(&am.key.clone(), &am.with(json!({"upto": 3, "tasks": tasks, "more": more}))).unwrap();
        let told = room.told();
        assert!(told.iter().any(|f| matches!(f, Fact::Tasks { complete: c, .. } if *c == complete)), "{told:?}");
    }
}

#[tokio::test]
async fn a_job_that_claims_tasks_without_end_may_not_invent_attempts_without_end() {
    let mut room = Room::with(ShimParams { tasks: 1, ..one_look() }, 1_000);
    let mut am = Am::new(21, 1, 1);
    room.seat(&mut am).await;
    let rows = json!([{"k": "m", "i": 0, "n": 999}, {"k": "r", "i": 0, "n": 7}, {"k": "r", "i": 0, "n": 8}]);
    let claims = json!({"upto": 1, "maps": u32::MAX, "reduces": u32::MAX, "attempts": rows});
    room.send(&am.key.clone(), &am.with(claims)).unwrap();
    let numbers: Vec<u32> = attempts(&room.told()).iter().map(|fact| fact.number).collect();
    assert_eq!((numbers, room.refused("too_many_attempts")), (vec![999, 7], 1), "four each, and a thousand");
}

#[tokio::test]
async fn facts_that_a_shim_had_to_drop_are_counted_once_and_never_under_its_own_words() {
    let (room, mut am) = seated().await;
    for total in [3, 3, 5] {
        room.send(&am.key.clone(), &am.with(json!({"dropped": {"queue_full": total, "x{}\"": 0}}))).unwrap();
    }
    assert_eq!(room.refused("dropped_by_shim"), 5);
    assert_eq!(room.refused("queue_full"), 0);
}

#[tokio::test]
async fn an_am_whose_clock_is_ten_years_off_is_followed_on_its_own_clock_and_its_skew_is_shown() {
    let (mut room, mut am) = seated().await;
    let years = 10 * 365 * 86_400_000u64;
    let row = json!([{"k": "m", "i": 0, "n": 0, "s": "RUNNING", "at": T - years, "p": 0.5, "u": T - years + 900}]);
    let clock = json!({"am_ms": T - years + 1_000, "mono_ms": 5});
    room.send(&am.key.clone(), &am.with(json!({"upto": 1, "clock": clock, "attempts": row}))).unwrap();
    let told = room.drain();
    assert!(told.iter().all(|o| o.at == Time(T - years + 1_000) && o.received == room.now.wall));
    assert!(told.iter().any(
        |seen| matches!(&seen.fact, Fact::Attempts { attempts, .. } if attempts[0].scored_at == Some(Time(T - years + 900)))
    ));
    let skew = (T + 1_000 - room.now.wall.0) as i64 - years as i64;
    assert_eq!(room.desk.views(room.now)[0].skew_ms, skew);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.metric("drover_shim_clock_skew_seconds", "max"), skew.unsigned_abs() as f64 / 1000.0);
    assert!(room.desk.has_live_session(am.job(), room.now));
}

#[tokio::test]
async fn an_ams_clock_that_was_set_forward_is_told_once_and_not_lost_with_an_exchange_that_asks_for_a_snapshot() {
    let (mut room, mut am) = seated().await;
    let clock = |set: u64, ran: u64| json!({"am_ms": T + set + ran, "mono_ms": 12 + ran});
    let mut tell = |clock: Value, more: Value| {
        let mut with = json!({ "clock": clock });
        with.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        room.send(&am.key.clone(), &am.with(with)).unwrap();
        room.told().contains(&Fact::ClockSet(am.job()))
    };
    assert!(!tell(clock(0, 1_000), json!({})) && !tell(clock(4_000, 2_000), json!({})), "four seconds are no step");
    assert!(!tell(clock(3_604_000, 3_000), json!({"base": 99, "upto": 99})), "nothing of it is applied");
    assert!(tell(clock(3_604_000, 4_000), json!({"base": 0, "upto": 0})));
    assert!(!tell(clock(3_604_000, 5_000), json!({})));
}

#[tokio::test]
async fn a_session_that_begins_after_its_ams_clock_was_set_forward_tells_so_by_an_attempt_older_than_the_am() {
    let told = |launched: u64, number: u32| async move {
        let (mut room, mut am) = seated().await;
        let row = json!({"k": "m", "i": 0, "n": number, "s": "RUNNING", "at": launched});
        // It has run for a minute, so that it began at T.
        let with = am.with(json!({"clock": {"am_ms": T + 60_000, "mono_ms": 60_000}, "attempts": [row]}));
        room.send(&am.key.clone(), &with).unwrap();
        room.told().contains(&Fact::ClockSet(am.job()))
    };
    assert!(!told(T + 1_000, 0).await && !told(T - 5_000, 0).await, "no more than two readings may differ");
    assert!(told(T - 3_600_000, 0).await);
}

#[tokio::test]
async fn a_session_that_falls_silent_is_told_as_lost_and_as_open_again_when_it_calls() {
    let (mut room, mut am) = seated().await;
    room.later(10_000);
    room.desk.sweep(room.now, 1.0);
    assert!(room.desk.has_live_session(am.job(), room.now) && room.drain().is_empty());
    room.later(1);
    assert!(!room.desk.has_live_session(am.job(), room.now));
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.told(), [Fact::ShimSession(am.job(), false)]);
    room.desk.sweep(room.now, 1.0);
    assert!(room.drain().is_empty(), "told once");
    assert!(!room.send(&am.key.clone(), &am.next()).unwrap().snapshot, "what is held stays held");
    assert_eq!(room.told()[0], Fact::ShimSession(am.job(), true));
    room.later(300_001);
    room.desk.sweep(room.now, 1.0);
    assert!(room.desk.views(room.now).is_empty(), "and in the end it is forgotten");
}

#[tokio::test]
async fn a_service_clock_that_is_set_back_or_forward_ends_no_session() {
    let (mut room, mut am) = seated().await;
    for wall in [0, T + 86_400_000_000] {
        room.now.wall = Time(wall);
        room.desk.sweep(room.now, 1.0);
        assert!(room.desk.has_live_session(am.job(), room.now));
        assert!(room.send(&am.key.clone(), &am.next()).unwrap().accepted);
    }
}
