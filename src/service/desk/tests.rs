use super::super::fixture::{job, seen};
use super::*;
use crate::shim::fixture::decision;
use drover_core::model::{EndFact, TaskKind};

fn desk() -> Desk {
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    Desk::new(EngineParams::default(), 100, None, metrics)
}

fn told(n: u32, seq: u64) -> Observation {
    seen(job(n), seq, seq, Fact::Needs { job: job(n), maps: 0, reduces: 0, native_copies: 0 })
}

fn end(n: u32) -> Observation {
    let end = EndFact { job: job(n), state: None, started: None, finished: None, attempts: Vec::new() };
    seen(job(n), 2, 2, Fact::Ended(end))
}

/// One whose engine has taken as many jobs as it may, and then met one more: the last of so many.
fn full() -> (Desk, u32) {
    let (mut desk, mut jobs) = (desk(), 0);
    while desk.engine.cluster().job_count() == jobs as usize {
        jobs += 1;
        desk.observe(told(jobs, 1));
    }
    (desk, jobs)
}

#[test]
fn a_job_that_was_lost_for_want_of_room_is_asked_for_again_once_it_has_room() {
    let (mut desk, _) = full();
    desk.observe(told(0, 1));
    assert!(desk.engine.cluster().job(job(0)).is_none() && desk.take_regained().is_empty());
    desk.observe(end(1));
    desk.decide(Time(2));
    desk.observe(told(0, 2));
    assert_eq!(desk.take_regained(), [job(0)]);
    desk.observe(told(0, 3));
    assert!(desk.take_regained().is_empty());
}

#[test]
fn a_job_that_was_lost_for_want_of_room_and_has_ended_is_remembered_no_more() {
    let (mut desk, last) = full();
    assert_eq!(desk.missed, [job(last)].into());
    desk.observe(end(last));
    assert_eq!(desk.missed, BTreeSet::new());
}

#[test]
fn of_decisions_whose_end_never_comes_the_oldest_are_forgotten() {
    let mut desk = desk();
    let one = decision(job(1).task(TaskKind::Map, 0), Action::Duplicate, Time(1));
    (0..=OPEN_MAX as u64).for_each(|id| desk.keep(&Decision { id, ..one.clone() }));
    assert_eq!((desk.open.len(), desk.open.contains_key(&0)), (OPEN_MAX, false));
}
