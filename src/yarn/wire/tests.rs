use super::cluster::{App, AppAttempts, Apps, ClusterInfo, ClusterMetrics, Nodes};
use super::job::{AttemptCounters, Conf, Job, JobAttempts, Property, TaskAttempts, Tasks};
use super::lenient::{List, MAX_ITEMS};
use super::scheduler::Scheduler;
use super::*;
use crate::yarn::facts::{self, Refused};
use drover_core::model::{AppAttemptId, JobId, TaskKind};
use proptest::prelude::*;

/// Any JSON, with the names and words that the readers look for more often than chance would have it.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("job_1_0001".to_owned()),
        Just("task_1_0001_m_000000".to_owned()),
        Just("attempt_1_0001_m_000000_0".to_owned()),
        Just("RUNNING".to_owned()),
        Just("NaN".to_owned()),
        ".{0,8}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let names = proptest::sample::select(vec![
        "id",
        "state",
        "progress",
        "startTime",
        "finishTime",
        "elapsedTime",
        "task",
        "taskAttempt",
        "app",
        "node",
        "nodeHostName",
        "successfulAttempt",
        "status",
        "property",
        "name",
        "value",
        "queue",
        "queues",
        "schedulerInfo",
        "rootQueue",
        "childQueues",
        "queueName",
        "absoluteMaxCapacity",
        "type",
        "usedCapacity",
        "resourceUtilization",
        "nodeCPUUsage",
        "nodePhysicalMemoryMB",
        "taskAttemptCounterGroup",
        "counter",
        "shuffleFinishTime",
        "totalMB",
        "amContainerLogs",
        "mapsTotal",
        "jobAttempt",
        "other",
    ]);
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((names.clone(), inner), 0..8).prop_map(|pairs| pairs
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

/// Reads a value as every kind of answer and checks it, as the clients do.
fn read_all(inner: &Value) {
    fn of<T: Document>(inner: &Value) -> Option<T> {
        decode(serde_json::json!({ T::ROOT: inner }).to_string().as_bytes()).ok()
    }
    let mut refused = Refused::default();
    let job: JobId = "job_1_0001".parse().unwrap();
    let (task, r) = (job.task(TaskKind::Map, 0), &mut refused);
    of::<ClusterInfo>(inner);
    of::<JobAttempts>(inner);
    of::<AppAttempts>(inner);
    of::<App>(inner);
    of::<ClusterMetrics>(inner).map(|w| facts::cluster::totals(&w, r));
    of::<Nodes>(inner).map(|w| facts::cluster::nodes(&w, r));
    of::<Apps>(inner).map(|w| facts::cluster::apps(&w, r));
    of::<Scheduler>(inner).map(|w| facts::queues::queues(&w, r));
    of::<Job>(inner).map(|w| facts::job::job(&w, job, AppAttemptId { app: job.0, number: 1 }, r));
    of::<Job>(inner).map(|w| facts::history::end(&w, job, None, r));
    of::<Conf>(inner).map(|w| facts::settings::settings(&w, None, r));
    of::<AttemptCounters>(inner).map(|w| facts::job::counters(&w, task.attempt(0), r));
    if let Some(wire) = of::<Tasks>(inner) {
        let seen = facts::job::tasks(&wire, job, r);
        assert!(seen.tasks.iter().all(|t| t.score.is_none_or(|s| (0.0..=1.0).contains(&s))));
        assert!(seen.tasks.iter().all(|t| t.finished.is_none() || t.started.is_none() || t.finished >= t.started));
    }
    if let Some(wire) = of::<TaskAttempts>(inner) {
        let (seen, _) = facts::job::attempts(&wire, task, r);
        assert!(seen.iter().all(|a| a.score.is_none_or(|s| (0.0..=1.0).contains(&s))));
    }
}

proptest! {
    #[test]
    fn no_json_makes_a_reader_panic_or_lets_a_wrong_score_through(inner in any_json()) {
        read_all(&inner);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode::<Tasks>(&body);
        let _ = without_nan(&body);
    }

    #[test]
    fn json_and_xml_of_one_shape_read_the_same(
        tasks in proptest::collection::vec((0..99_999u32, 0..=100u32, "[A-Z]{0,9}", 0..u32::MAX), 0..5)
    ) {
        let items: Vec<Value> = tasks.iter().map(|(index, progress, state, start)| serde_json::json!({
            "id": format!("task_1_0001_m_{index:06}"), "progress": progress, "state": state, "startTime": start,
        })).collect();
        let xml: String = tasks.iter().map(|(index, progress, state, start)| format!(
            "<task><id>task_1_0001_m_{index:06}</id><progress>{progress}</progress><state>{state}</state><startTime>{start}</startTime></task>"
        )).collect();
        let json: Tasks = decode(serde_json::json!({"tasks": {"task": items}}).to_string().as_bytes()).unwrap();
        prop_assert_eq!(json, decode::<Tasks>(format!("<tasks>{xml}</tasks>").as_bytes()).unwrap());
    }
}

#[test]
fn of_a_list_without_end_the_items_beyond_a_bound_take_no_memory_and_are_counted() {
    let all = format!("[{}{{}}]", "{},".repeat(MAX_ITEMS));
    let list: List<Property> = serde_json::from_str(&all).unwrap();
    assert_eq!((list.items.len(), list.odd), (MAX_ITEMS, 1));
}

#[test]
fn words_that_look_like_nan_inside_text_are_left_alone() {
    assert_eq!(without_nan(br#"{"a":"NaN \" NaN","b":1}"#), None);
    let mended = without_nan(br#"{"a":"NaN","b":NaN,"c":-Infinity}"#).unwrap();
    assert_eq!(mended, br#"{"a":"NaN","b":null,"c":null}"#);
}
