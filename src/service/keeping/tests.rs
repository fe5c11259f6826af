//! A service that begins with what an earlier one left open, before a cluster that answers as a real one did.

use super::super::notes::Asks;
use super::super::{Desk, world};
use super::*;
use crate::config::{Sources, load};
use crate::ledger::fixture::{decision, enrolment, kept};
use crate::ledger::tables::{AnswerRow, DecisionRow, EnrolmentRow, JobRow, OutcomeRow, SentRow};
use crate::ledger::{Record, left, read};
use crate::yarn::poll::Poller;
use crate::yarn::schedule::ScheduleParams;
use drover_core::engine::EngineParams;
use drover_core::model::{Fact, Millis, Time};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const APP: &str = "application_1795230592604_0001";
const JOB: &str = "job_1795230592604_0001";
/// Of which nobody knows anything any more.
const GONE: &str = "job_1795230592604_0002";

fn file(name: &str) -> ResponseTemplate {
    let path = format!("{}/tests/recorded/3.4.3/{name}.json", env!("CARGO_MANIFEST_DIR"));
    ResponseTemplate::new(200).set_body_raw(std::fs::read(path).unwrap(), "application/json")
}

/// A cluster in which nothing runs any more; what it is not listed to tell it does not find.
async fn cluster() -> MockServer {
    let server = MockServer::builder().start().await;
    let unknown = json!({"RemoteException": {"exception": "NotFoundException"}});
    let unknown = ResponseTemplate::new(404).set_body_json(unknown);
    Mock::given(method("GET")).respond_with(unknown).with_priority(u8::MAX).mount(&server).await;
    let history = format!("/ws/v1/history/mapreduce/jobs/{JOB}");
    for (at, name) in [
        ("/ws/v1/cluster/info", "rm/info"),
        ("/ws/v1/cluster/metrics", "rm/metrics"),
        ("/ws/v1/cluster/nodes", "rm/nodes"),
        ("/ws/v1/cluster/scheduler", "rm/scheduler"),
        ("/ws/v1/cluster/apps", "rm/apps_none"),
        (&format!("/ws/v1/cluster/apps/{APP}"), "rm/app_finished"),
        (&history, "jhs/job"),
        (&format!("{history}/tasks"), "jhs/tasks"),
        (&format!("{history}/tasks/task_1795230592604_0001_m_000005/attempts"), "jhs/attempts_copied"),
    ] {
        Mock::given(method("GET")).and(path(at)).respond_with(file(name)).mount(&server).await;
    }
    server
}

/// What a process wrote that enrolled both jobs, and had a copy started of one task of each: when it decided on it, a task was to end twenty seconds later.
fn left_open() -> (tempfile::TempDir, std::path::PathBuf) {
    let at = clock::now();
    let rows = [(1, JOB), (2, GONE)].map(|(id, job)| {
        let task = format!("{}_m_000005", job.replace("job", "task"));
        let of = |row| EnrolmentRow { at_ms: at, job: job.into(), name: "lab job".into(), maps: 12, ..row };
        let decided = DecisionRow {
            at_ms: at,
            am_at_ms: Time(1_795_230_613_000),
            job: job.into(),
            attempt: format!("{}_0", task.replace("task", "attempt")),
            task,
            time_left_ms: Some(Millis(20_000)),
            deadline_ms: at,
            ..decision(id, "act")
        };
        let (incarnation, answer) = (decided.incarnation.clone(), "applied".to_owned());
        let sent = SentRow { at_ms: at, incarnation: incarnation.clone(), decision: id };
        let answer = AnswerRow { at_ms: at, incarnation, decision: id, answer, attempts: "1".into() };
        [of(enrolment(1, false)).row(), decided.row(), sent.row(), answer.row()]
    });
    kept(&rows.concat())
}

/// The next process, until so many ends are told; and of how many the engine, or the ledger, took notice.
async fn next(ledger: &Path, server: &MockServer, ends: usize) -> u64 {
    let (file, at) = (ledger.display(), server.uri());
    let set = [format!("ledger.path={file}"), format!("cluster.rm_urls={at}"), format!("cluster.history_url={at}")];
    let loaded = load(&Sources { file: None, set: set.to_vec() }, std::iter::empty()).unwrap();
    let registry = Registry::new();
    let metrics = Arc::new(crate::telemetry::Metrics::new(&registry).unwrap());
    let notes = Arc::new(Notes::default());
    let mut desk = Desk::new(EngineParams::default(), 100, None, metrics.clone());
    desk.ledger = begin(&loaded, "next", &notes, &registry).unwrap().0;
    let clients = world::clients(&loaded.config, crate::yarn::metrics::Metrics::new(&registry).unwrap()).unwrap();
    let (out, mut facts) = mpsc::channel(64);
    let patient = ScheduleParams { apps: Millis(50), history_patience: Millis(500), ..ScheduleParams::default() };
    let stop = CancellationToken::new();
    let poller = Poller::new(clients, patient, Arc::new(Asks(notes.clone())), out);
    let poller = tokio::spawn(poller.run(stop.clone()));
    let mut told = 0;
    while told < ends {
        let seen = tokio::time::timeout(Duration::from_secs(60), facts.recv()).await.unwrap().unwrap();
        told += usize::from(matches!(seen.fact, Fact::Ended(_)));
        notes.note(&seen);
        desk.observe(seen);
    }
    stop.cancel();
    poller.await.unwrap();
    desk.decide(clock::now());
    desk.finish(clock::now());
    assert_eq!(notes.left.jobs(), [], "nothing more is asked for");
    metrics.applied.with_label_values(&["history"]).get()
}

fn all<T: Record>(ledger: &Path) -> Vec<T> {
    let open = read(ledger).unwrap();
    let mut all = open.prepare(&format!("SELECT * FROM {}", T::TABLE.name)).unwrap();
    all.query_map([], T::read).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn jobs_that_ended_between_two_processes_are_settled_by_history_and_as_unknown_where_it_is_gone() {
    let (_dir, ledger) = left_open();
    let server = cluster().await;
    assert_eq!(next(&ledger, &server, 2).await, 1);

    let jobs: Vec<JobRow> = all(&ledger);
    let of = |id: &str| jobs.iter().find(|job| job.job == id).unwrap();
    let (done, gone) = (of(JOB), of(GONE));
    assert_eq!((done.state.as_deref(), done.took_ms, done.won), (Some("succeeded"), Some(Millis(38_098)), 1));
    assert_eq!((done.name.as_str(), done.maps, done.held_out), ("lab job", 12, Some(false)));
    assert_eq!((&gone.state, gone.took_ms, gone.decided, gone.won), (&None, None, 1, 0));

    let outcomes: Vec<OutcomeRow> = all(&ledger);
    let of = |id| outcomes.iter().find(|outcome| outcome.decision == id).unwrap();
    let (won, unknown) = (of(1), of(2));
    assert_eq!((won.outcome.as_str(), won.winner, won.gained_ms), ("won", Some(1), Some(11_879)));
    assert_eq!((won.host.as_deref(), won.hosts.as_str(), won.container_ms), (Some("nm4"), "nm4", Millis(7_664)));
    assert_eq!((unknown.outcome.as_str(), unknown.hosts.as_str()), ("unknown", ""));
    assert!(left(&ledger, clock::now()).unwrap().is_settled());
}
