//! What all traces of attempts have in common, attempt by attempt.

use super::super::held::{About, Attempt, Limits};
use super::super::recorded::Recorder;
use super::*;

/// An attempt of a map of job j.
fn attempt(task: &str, id: &str, started: u64, finished: Option<u64>, succeeded: bool) -> Attempt {
    Attempt {
        job: "j".into(),
        is_reduce: false,
        task: task.into(),
        id: id.into(),
        host: None,
        started: Some(started),
        finished,
        stages: [None; 2],
        input: None,
        succeeded,
    }
}

fn trace(attempts: impl IntoIterator<Item = Attempt>) -> Trace {
    let mut recorder = Recorder::default();
    attempts.into_iter().for_each(|attempt| recorder.attempt(attempt).unwrap());
    recorder.trace(Overhead::default())
}

fn wins(trace: &Trace) -> u64 {
    trace.repairs.iter().filter(|(what, _)| what.starts_with("tasks that a copy won")).map(|(_, count)| *count).sum()
}

#[test]
fn a_win_by_the_traces_own_copy_is_counted_in_whatever_order_its_attempts_stand() {
    let killed = || attempt("t", "a0", 1_000, Some(9_000), false);
    let copy = || attempt("t", "a1", 4_000, Some(8_999), true);
    for rows in [[killed(), copy()], [copy(), killed()]] {
        assert_eq!(wins(&trace(rows)), 1);
    }
    assert_eq!(wins(&trace([attempt("t", "a0", 1_000, None, false), copy()])), 1, "its end is not told");
    assert_eq!(wins(&trace([attempt("t", "a0", 1_000, Some(9_500), true), copy()])), 1, "both succeeded");
    assert_eq!(wins(&trace([attempt("t", "a0", 1_000, Some(3_999), false), copy()])), 0, "a retry");
    assert_eq!(wins(&trace([attempt("t", "a0", 5_000, Some(9_000), false), copy()])), 0, "a copy that lost");
    let of_master = |number: u32, from| attempt("t", &format!("attempt_1_0001_m_000000_{number}"), from, None, false);
    let second = Attempt { finished: Some(9_000), succeeded: true, ..of_master(1000, 4_000) };
    assert_eq!(wins(&trace([of_master(0, 1_000), second])), 0, "what an earlier master began ended with it");
}

#[test]
fn a_job_of_which_no_submission_is_told_arrives_with_its_first_attempt_whatever_came_of_it() {
    let other = Attempt { job: "k".into(), ..attempt("u", "b0", 500, Some(1_000), true) };
    let retried = [attempt("t", "a0", 2_000, Some(5_000), false), attempt("t", "a1", 6_000, Some(7_000), true)];
    let arrivals = |attempts: Vec<Attempt>| trace(attempts).jobs.iter().map(|job| job.arrives.0).collect::<Vec<_>>();
    assert_eq!(arrivals([other.clone()].into_iter().chain(retried.clone()).collect()), [0, 1_500]);
    let open = attempt("v", "a2", 1_200, None, false);
    assert_eq!(arrivals([other].into_iter().chain(retried).chain([open]).collect()), [0, 700]);
}

#[test]
fn a_job_that_is_left_out_does_not_put_off_the_others() {
    let lost = Attempt { job: "k".into(), ..attempt("u", "b0", 500, Some(1_000), false) };
    let mut recorder = Recorder::default();
    let early = About { submitted: Some(100), ..About::default() };
    recorder.job("empty", early).unwrap();
    recorder.attempt(lost).unwrap();
    recorder.attempt(attempt("t", "a0", 9_000, Some(9_500), true)).unwrap();
    let trace = recorder.trace(Overhead::default());
    assert_eq!(trace.jobs.iter().map(|job| job.arrives.0).collect::<Vec<_>>(), [0]);
    let left_out = trace.repairs.iter().filter(|(what, _)| what.starts_with("jobs without")).count();
    assert_eq!(left_out, 2, "{:?}", trace.repairs);
}

#[test]
fn an_attempt_that_began_a_hundred_days_before_its_job_ended_is_told_though_it_was_lost() {
    let day = 24 * 3_600_000;
    let mut recorder = Recorder::default();
    recorder.attempt(attempt("t", "a1", 100 * day, Some(100 * day + 5), true)).unwrap();
    let said = recorder.attempt(attempt("t", "a0", 5, Some(6), false)).unwrap_err();
    assert!(said.starts_with("j takes 100 days, from 5 to "), "{said}");
}

#[test]
fn what_has_an_empty_id_is_a_fault_and_so_is_what_there_is_no_room_for() {
    let mut recorder = Recorder::default();
    recorder.limits = Limits { jobs: 2, tasks: 2, attempts: 3 };
    assert_eq!(recorder.job(" ", About::default()).unwrap_err(), "a job has an empty id");
    assert_eq!(recorder.task("j", false, "").unwrap_err(), "a task has an empty id");
    assert_eq!(recorder.attempt(attempt("t", "", 1, None, false)).unwrap_err(), "an attempt has an empty id");
    recorder.job("k", About::default()).unwrap();
    let many = recorder.job("l", About::default()).unwrap_err();
    assert_eq!(many, "l is one too many: a trace has 2 jobs at most");
    recorder.task("j", false, "t").unwrap();
    recorder.task("j", true, "u").unwrap();
    assert_eq!(recorder.task("k", false, "v").unwrap_err(), "v is one too many: a trace has 2 tasks at most");
    ["a", "b", "c"].iter().for_each(|id| recorder.attempt(attempt("t", id, 1, None, false)).unwrap());
    let many = recorder.attempt(attempt("t", "d", 1, None, false)).unwrap_err();
    assert_eq!(many, "d is one too many: a trace has 3 attempts at most");
}

#[test]
fn an_empty_host_is_none() {
    let on = |host: &str| Attempt { host: Some(host.into()), ..attempt("t", "a", 1, Some(2), true) };
    let hosts = |host: &str| trace([on(host)]).hosts.all().len();
    assert_eq!(["", " ", "h"].map(hosts), [0, 0, 1]);
}

#[test]
fn an_input_of_a_pebibyte_is_refused_and_one_of_a_byte_less_is_read() {
    let read = |bytes| {
        let input = Some(bytes);
        Recorder::default().attempt(Attempt { input, ..attempt("t", "a", 1, Some(2), true) })
    };
    assert!(read((1 << 50) - 1).is_ok());
    assert_eq!(
        read(1 << 50).unwrap_err(),
        format!("a reads {} bytes: attempts read less than a pebibyte", 1_u64 << 50)
    );
}
