//! How much of an answer is kept: what is beyond is counted, and takes nothing further.

use super::*;
use crate::yarn::wire::Document;
use crate::yarn::wire::cluster::NodeLabels;
use crate::yarn::wire::job::{AttemptCounters, TaskAttempts};
use drover_core::model::{JobId, TaskId, TaskKind};

/// An answer of five items more than `max`, which stand between these two parts.
fn beyond<D: Document>(max: usize, [before, after]: [&str; 2], item: impl Fn(usize) -> String) -> D {
    let items: Vec<String> = (0..max + 5).map(item).collect();
    decode(format!("{before}{}{after}", items.join(",")).as_bytes()).unwrap()
}

/// How many facts are made of an answer, and how many items of it are refused.
fn kept<D: Document>(wire: &D, facts: impl Fn(&D, &mut Refused) -> usize) -> (usize, u64) {
    let mut refused = Refused::default();
    (facts(wire, &mut refused), refused.count(Reason::TooMany))
}

fn task() -> TaskId {
    "job_1_0001".parse::<JobId>().unwrap().task(TaskKind::Map, 0)
}

#[test]
fn no_more_nodes_are_kept_than_the_limit() {
    let around = [r#"{"nodes":{"node":["#, "]}}"];
    let wire: Nodes = beyond(cluster::MAX_NODES, around, |_| r#"{"nodeHostName":"n"}"#.into());
    assert_eq!(kept(&wire, |wire, refused| cluster::nodes(wire, refused).len()), (cluster::MAX_NODES, 5));
}

#[test]
fn no_more_applications_are_kept_than_the_limit() {
    let around = [r#"{"apps":{"app":["#, "]}}"];
    let wire: Apps = beyond(cluster::MAX_APPS, around, |n| format!(r#"{{"id":"application_1_{n:04}"}}"#));
    assert_eq!(kept(&wire, |wire, refused| cluster::apps(wire, refused).len()), (cluster::MAX_APPS, 5));
}

#[test]
fn no_more_node_labels_are_kept_than_the_limit() {
    let around = [r#"{"nodeLabelsInfo":{"nodeLabelInfo":["#, "]}}"];
    let label = |n| format!(r#"{{"name":"l{n}","exclusivity":true}}"#);
    let wire: NodeLabels = beyond(cluster::MAX_LABELS, around, label);
    assert_eq!(kept(&wire, |wire, refused| cluster::exclusive(wire, refused).len()), (cluster::MAX_LABELS, 5));
}

#[test]
fn no_more_queues_are_kept_than_the_limit() {
    let around = [r#"{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queues":{"queue":["#, "]}}}}"];
    let wire: Scheduler = beyond(queues::MAX_QUEUES, around, |_| r#"{"queueName":"q"}"#.into());
    assert_eq!(kept(&wire, |wire, refused| queues::queues(wire, refused).len()), (queues::MAX_QUEUES, 5));
}

#[test]
fn no_more_attempts_of_a_task_are_kept_than_the_limit() {
    let around = [r#"{"taskAttempts":{"taskAttempt":["#, "]}}"];
    let attempt = |n: usize| format!(r#"{{"id":"{}"}}"#, task().attempt(n as u32));
    let wire: TaskAttempts = beyond(job::MAX_ATTEMPTS, around, attempt);
    let attempts = kept(&wire, |wire, refused| job::attempts(wire, task(), refused).0.len());
    assert_eq!(attempts, (job::MAX_ATTEMPTS, 5));
}

#[test]
fn no_more_counters_of_an_attempt_are_looked_at_than_the_limit() {
    let id = task().attempt(0);
    let before = format!(r#"{{"jobTaskAttemptCounters":{{"id":"{id}","taskAttemptCounterGroup":{{"counter":["#);
    // The last that counts, and the first that does not.
    let counter = |n: usize| match n {
        9_999 => r#"{"name":"CPU_MILLISECONDS","value":7}"#,
        10_000 => r#"{"name":"GC_TIME_MILLIS","value":7}"#,
        _ => r#"{"name":"x","value":7}"#,
    };
    let wire: AttemptCounters = beyond(10_000, [&before, "]}}}"], |n| counter(n).into());
    let counters = job::counters(&wire, id, &mut Refused::default()).unwrap().counters;
    assert_eq!((counters.cpu, counters.gc), (Some(Millis(7)), None));
}
