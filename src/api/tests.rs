use super::*;
use crate::guard::Peer;
use crate::ledger;
use crate::service::fixture::watched;
use crate::service::holds::Book;
use crate::service::{Notes, Outside, Own, channels, run};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use drover_core::model::{Millis, Mode};
use futures::FutureExt;
use serde_json::Value;
use std::net::IpAddr;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;

const NOW: Time = Time(121_000);

/// A service without a cluster: one job, watched for 20 s.
fn service(readiness: Option<&'static str>) -> (Router, (DropGuard, Outside, tempfile::TempDir)) {
    let (kept, ledger) = ledger();
    let (router, (stop, outside)) = service_with(readiness, ledger);
    (router, (stop, outside, kept))
}

/// The same with that ledger.
fn service_with(readiness: Option<&'static str>, ledger: Access) -> (Router, (DropGuard, Outside)) {
    let metrics = Arc::new(Metrics::new(&Registry::new()).unwrap());
    let desk = watched();
    let (outside, inbox) = channels();
    let clock: Arc<dyn Fn() -> Time + Send + Sync> = Arc::new(|| NOW);
    let (stop, runtime) = (CancellationToken::new(), tokio::runtime::Handle::current());
    let stopped = stop.clone();
    std::thread::spawn(move || run(desk, inbox, &Notes::default(), Millis(60_000), &|| NOW, &runtime, &stopped));
    let state = ApiState {
        asker: outside.asker.clone(),
        doorman: Doorman::new(Role::Operate, IpAddr::from([127, 0, 0, 1]), ["drover.example.com".to_owned()]),
        process: Process::new("ab12".into(), Time(1)),
        readiness: Arc::new(move || readiness.map(str::to_owned)),
        shims: Arc::new(Shims::default),
        rm: Arc::new(|| RmView { answers: true, told_ms: Some(NOW.0 - 1_200) }),
        config: Arc::new(ConfigView::default),
        holds: Arc::new(Holds::new(Own::new(1, 1, outside.facts.clone()), Book::open(None, Mode::Act, NOW).unwrap())),
        clock,
        ledger,
        metrics,
    };
    (router(state), (stop.drop_guard(), outside))
}

/// One that has just been begun.
fn ledger() -> (tempfile::TempDir, Access) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    let bounds = ledger::Bounds { max_age: Millis(1), max_bytes: drover_core::model::Bytes(1) };
    let metrics = ledger::Metrics::new(&Registry::new()).unwrap();
    let mut kept = ledger::Ledger::start(&path, bounds, ledger::Pace::default(), || NOW, metrics).unwrap();
    let access = Access::new(&path, kept.watch());
    kept.finish();
    (dir, access)
}

async fn get(router: &Router, path: &str) -> (StatusCode, String) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// What one on this machine gets; without an address one is nobody in particular.
async fn ask(router: &Router, method: &str, path: &str, local: bool, body: Option<Value>) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if local {
        request = request.extension(ConnectInfo(Peer("127.0.0.1:9".parse().unwrap())));
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = Body::from(body.map_or_else(String::new, |body| body.to_string()));
    let response = router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_from_this_machine_for_another_name_is_refused_with_what_to_set() {
    let (router, _stop) = service(None);
    let said = async |host: &str, path: &str| {
        let local = ConnectInfo(Peer("127.0.0.1:9".parse().unwrap()));
        let request = Request::get(path).header("host", host).extension(local).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    };
    let (status, body) = said("evil.example.com", "/api/v1/jobs").await;
    assert!(status == 421 && body.contains("\"misdirected\"") && body.contains("listen.api_names"), "{status} {body}");
    for host in ["localhost:7070", "drover.example.com"] {
        assert_eq!(said(host, "/api/v1/jobs").await.0, 200, "{host}");
    }
    assert_eq!(said("probe.example.com", "/healthz").await.0, 200, "it tells of no job");
}

async fn json(router: &Router, path: &str) -> Value {
    let (status, body) = get(router, path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_served_with_its_numbers_and_its_reason() {
    let (router, _stop) = service(None);
    let page = json(&router, "/api/v1/decisions").await;
    let decision = &page["decisions"][0];
    for key in [
        "id", "at_ms", "job", "task", "attempt", "action", "clones", "mode", "outcome", "policy", "rule", "numbers",
        "reason",
    ] {
        assert!(!decision[key].is_null(), "{key}: {decision}");
    }
    assert_eq!(decision["task"], "task_1_0001_m_000003");
    assert_eq!((&decision["action"], &decision["outcome"]), (&"duplicate".into(), &"advised".into()));
    assert!(decision["numbers"]["time_left_ms"].as_u64() > decision["numbers"]["fresh_copy_ms"].as_u64());
    assert!(decision["reason"].as_str().unwrap().starts_with("A copy is worth starting. It has run for"));
    assert_eq!(json(&router, "/api/v1/decisions?since=1").await["decisions"], serde_json::json!([]));
    assert_eq!(json(&router, "/api/v1/decisions?before=1").await["decisions"], serde_json::json!([]));
    assert_eq!(json(&router, "/api/v1/decisions?before=2").await["decisions"][0]["id"], 1);
    assert_eq!(json(&router, "/api/v1/decisions?job=job_1_0002").await["decisions"], serde_json::json!([]));
    assert_eq!(
        json(&router, "/api/v1/decisions?job=job_1_0001&limit=1").await["decisions"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_and_tasks_tell_why_each_running_task_was_or_was_not_advised_on() {
    let (router, _stop) = service(None);
    let status = json(&router, "/api/v1/status").await;
    assert_eq!((&status["jobs"], &status["tasks"], &status["ready"]), (&1.into(), &10.into(), &true.into()));
    assert_eq!(status["decisions"], 1);
    let jobs = json(&router, "/api/v1/jobs").await;
    assert_eq!((&jobs["total"], &jobs["jobs"][0]["maps"]["succeeded"]), (&1.into(), &9.into()));
    assert_eq!(json(&router, "/api/v1/jobs?after=job_1_0001").await["jobs"], serde_json::json!([]));
    let job = json(&router, "/api/v1/jobs/job_1_0001").await;
    assert_eq!((&job["user"], &job["settings"]["report_interval_ms"]), (&"ann".into(), &500.into()));
    assert_eq!(job["recent"][0]["id"], 1);
    let running = json(&router, "/api/v1/jobs/job_1_0001/tasks?running=true").await;
    let running = running["tasks"].as_array().unwrap();
    assert_eq!((running.len(), &running[0]["task"]), (1, &"task_1_0001_m_000003".into()));
    assert_eq!(running[0]["verdict"], "copy_in_flight");
    let cause = &running[0]["cause"];
    assert_eq!(
        (&cause["cause"], &cause["explained"], &cause["evidence"]),
        (&"unknown".into(), &false.into(), &9.into())
    );
    assert!(running[0]["reason"].as_str().unwrap().contains(cause["reason"].as_str().unwrap()));
    let page = json(&router, "/api/v1/jobs/job_1_0001/tasks?after=task_1_0001_m_000007&limit=1").await;
    assert_eq!(page["tasks"][0]["task"], "task_1_0001_m_000008");
    assert_eq!((&page["tasks"][0]["verdict"], &page["tasks"][0]["cause"]), (&Value::Null, &Value::Null));
    assert_eq!(json(&router, "/api/v1/nodes").await["nodes"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn past_predictions_are_served_overall_and_by_kind_of_job() {
    let (router, _stop) = service(None);
    let all = json(&router, "/api/v1/calibration").await;
    assert_eq!((&all["estimator"], &all["choose_estimator"]), (&"phase-aware".into(), &false.into()));
    let accuracies = all["overall"]["accuracies"].as_array().unwrap();
    let labels = |row: &Value| ["kind", "point", "estimator"].map(|key| row[key].as_str().unwrap().to_owned());
    let half = accuracies.iter().find(|row| labels(row) == ["map", "half", "late"]).unwrap();
    assert_eq!(half["predictions"], 9, "the tenth still runs");
    for key in ["median_error", "mean_error", "bias", "coverage"] {
        assert!(half[key].is_f64(), "{key}: {half}");
    }
    let kind = &all["kinds"][0];
    assert_eq!((&kind["user"], &kind["accuracies"]), (&"ann".into(), &all["overall"]["accuracies"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_makes_no_sense_is_refused_by_label_with_what_to_do_next() {
    let (router, _stop) = service(None);
    let refused = [
        ("/api/v1/calibration?limit=1001", 400, "bad_request", "allowed: 1 to 1000"),
        ("/api/v1/jobs?limit=0", 400, "bad_request", "allowed: 1 to 1000"),
        ("/api/v1/decisions?since=x", 400, "bad_request", "since"),
        ("/api/v1/decisions?before=-1", 400, "bad_request", "before"),
        ("/api/v1/decisions?after=1", 400, "bad_request", "unknown field `after`"),
        ("/api/v1/decisions?user=ann", 400, "bad_request", "unknown field `user`"),
        ("/api/v1/jobs?state=running", 400, "bad_request", "unknown field `state`"),
        ("/api/v1/report?since=7d", 400, "bad_request", "unknown field `since`"),
        ("/api/v1/report?queue=&user=ann", 400, "bad_request", "queue is empty"),
        ("/api/v1/jobs/application_1_1", 400, "bad_request", "is no job id"),
        ("/api/v1/jobs/job_1_0009", 404, "unknown_job", "GET /api/v1/jobs lists"),
        ("/api/v1/jobs/job_1_0009/tasks", 404, "unknown_job", "GET /api/v1/jobs lists"),
        ("/api/v1/jobs/job_1_0001/tasks?task=task_1_0001_r_000000", 404, "unknown_task", "lists the tasks"),
        ("/nowhere", 404, "not_found", "/openapi.json"),
        ("/api/v1/jobs/%ff", 400, "bad_request", "UTF-8"),
        ("/api/v1/jobs/%ff/tasks", 400, "bad_request", "UTF-8"),
        ("/api/v1/holds/cluster", 405, "method_not_allowed", "GET does nothing"),
    ];
    for (path, status, label, words) in refused {
        let (got, body) = get(&router, path).await;
        let error: ErrorBody = serde_json::from_str(&body).unwrap();
        assert_eq!((got.as_u16(), error.error.as_str()), (status, label), "{path}");
        assert!(error.message.contains(words), "{path}: {}", error.message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_done_at_an_address_is_refused_like_all_else_and_told_what_is() {
    let (router, _stop) = service(None);
    let refused = [
        ("POST", "/api/v1/status", "GET,HEAD"),
        ("DELETE", "/api/v1/holds", "GET,HEAD,POST"),
        ("PUT", "/api/v1/holds/cluster", "DELETE"),
        ("POST", "/api/v1/report", "GET,HEAD"),
        ("POST", "/healthz", "GET,HEAD"),
    ];
    for (method, path, allowed) in refused {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(response.headers()["allow"], allowed, "{path}");
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let error: ErrorBody = serde_json::from_slice(&body).unwrap();
        assert_eq!(error.error, "method_not_allowed", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_has_stopped_is_a_busy_service_not_a_hung_one() {
    let (router, stop) = service(None);
    drop(stop);
    // The thread ends some time after it is told to; the question before its end may still be answered.
    while get(&router, "/api/v1/status").await.0 != StatusCode::SERVICE_UNAVAILABLE {}
    assert_eq!(get(&router, "/healthz").await, (StatusCode::OK, "ok\n".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_ready_only_once_the_cluster_has_been_polled() {
    let (router, _stop) = service(Some("no ResourceManager has answered"));
    let (status, why) = get(&router, "/readyz").await;
    assert_eq!(
        (status, why.as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "not ready: no ResourceManager has answered\n")
    );
    assert_eq!(get(&router, "/healthz").await.0, StatusCode::OK);
    assert_eq!(get(&service(None).0, "/readyz").await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_cluster_was_read_no_job_is_said_to_have_ended() {
    let (router, _stop) = service(Some("no ResourceManager has answered"));
    for path in ["/api/v1/jobs/job_1_0009", "/api/v1/jobs/job_1_0009/tasks"] {
        let (status, body) = get(&router, path).await;
        let said: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &said["error"]), (StatusCode::SERVICE_UNAVAILABLE, &"not_ready".into()));
        assert!(said["message"].as_str().unwrap().contains("yet: no ResourceManager has answered"), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_is_described_and_every_description_is_served() {
    let (router, _stop) = service(None);
    let document = json(&router, "/openapi.json").await;
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths.len(), 10, "{paths:?}");
    for path in paths.into_iter().filter(|path| !document["paths"][path]["get"].is_null()) {
        json(&router, &path.replace("{id}", "job_1_0001")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledgers_report_is_served_and_its_trouble_is_told_without_holding_up_readiness() {
    let (router, (_stop, _outside, kept)) = service(None);
    let report = json(&router, "/api/v1/report?since_ms=5&user=ann").await;
    assert_eq!((&report["since_ms"], &report["user"]), (&5.into(), &"ann".into()));
    assert_eq!(report["holdout"]["verdict"], "not_enough_data");
    let ledger = &json(&router, "/api/v1/status").await["ledger"];
    assert_eq!(ledger["state"], "keeping");
    assert!(ledger["size_bytes"].as_u64().unwrap() > 0, "{ledger}");
    std::fs::write(kept.path().join("ledger.db"), "what somebody else wrote").unwrap();
    let (status, body) = get(&router, "/api/v1/report").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body.contains("\"ledger\"") && body.contains("is damaged"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_ledger_that_a_starting_service_has_yet_to_take_on_whoever_asks_hears_to_ask_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.db");
    ledger::fixture::older(&path);
    for (state, expected) in [(ledger::State::Opening, "; ask again"), (ledger::State::Off, "takes it to")] {
        let access = Access::new(&path, move || (state.clone(), drover_core::model::Bytes(0)));
        let (router, _stop) = service_with(None, access);
        let (status, body) = get(&router, "/api/v1/report").await;
        let told: ErrorBody = serde_json::from_str(&body).unwrap();
        assert_eq!((status, told.error.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "ledger"));
        assert!(told.message.contains(expected), "{body}");
    }
    // One of this version is read meanwhile.
    let (_kept, known) = ledger();
    let of_known = known.path().unwrap().to_owned();
    let access = Access::new(&of_known, || (ledger::State::Opening, drover_core::model::Bytes(0)));
    let (router, _stop) = service_with(None, access);
    json(&router, "/api/v1/report").await;
}

#[test]
fn a_report_that_is_still_read_keeps_its_turn_when_whoever_asked_for_it_is_gone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (_kept, access) = ledger();
        let (router, _stop) = service_with(None, access.clone());
        // Nothing is read while the only thread for it is taken.
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let taken = tokio::task::spawn_blocking(move || wait.recv());
        let all = access.turns.available_permits();
        let asked = tokio::time::timeout(std::time::Duration::from_millis(50), get(&router, "/api/v1/report"));
        assert!(asked.await.is_err(), "nobody waits for it any more");
        assert_eq!(access.turns.available_permits(), all - 1);
        go.send(()).unwrap();
        taken.await.unwrap().unwrap();
        // Another reading comes after it.
        get(&router, "/api/v1/report").await;
        // And the turn is free again once as much time has gone by without one.
        let free = tokio::time::timeout(std::time::Duration::from_secs(60), access.turns.acquire());
        assert!(free.await.is_ok());
    });
}

#[test]
fn a_report_may_take_longer_than_other_answers_and_not_for_ever() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (_kept, access) = ledger();
        let (router, _stop) = service_with(None, access);
        // Nothing is read while the only thread for it is taken.
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let taken = tokio::task::spawn_blocking(move || wait.recv());
        let mut asked = std::pin::pin!(get(&router, "/api/v1/report"));
        assert!(asked.as_mut().now_or_never().is_none());
        tokio::time::advance(PATIENCE * 2).await;
        assert!(asked.as_mut().now_or_never().is_none());
        tokio::time::advance(report::PATIENCE).await;
        let (status, body) = asked.await;
        let error: ErrorBody = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &*error.error), (StatusCode::SERVICE_UNAVAILABLE, "timeout"));
        assert!(error.message.starts_with("no answer within 75 s"), "{}", error.message);
        assert!(report::PATIENCE < listen::IDLE);
        go.send(()).unwrap();
        taken.await.unwrap().unwrap();
    });
}

#[tokio::test]
async fn metrics_are_served_in_prometheus_format_and_requests_are_counted() {
    let registry = Registry::new();
    let metrics = Arc::new(Metrics::new(&registry).unwrap());
    let router = metrics_router(registry, metrics);
    assert_eq!(get(&router, "/other").await.0, StatusCode::NOT_FOUND);
    let (_, text) = get(&router, "/metrics").await;
    assert!(text.contains("drover_http_requests_total{listener=\"metrics\",status=\"4xx\"} 1"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_operate_can_hold_and_resume_and_everybody_sees_it() {
    let (router, _stop) = service(None);
    let asked = serde_json::json!({"scope": "user:ann", "reason": " slow disks ", "for": "30m"});
    let (status, refusal) = ask(&router, "POST", "/api/v1/holds", false, Some(asked.clone())).await;
    assert_eq!((status, &refusal["error"]), (403, &"forbidden".into()));
    let (status, answer) = ask(&router, "POST", "/api/v1/holds", true, Some(asked)).await;
    assert_eq!((status, &answer["hold"]["reason"]), (200, &"slow disks".into()), "{answer}");
    assert_eq!(answer["hold"]["until_ms"], NOW.0 + 30 * 60_000);
    assert!(answer["note"].as_str().unwrap().contains("state.dir"));
    assert_eq!(json(&router, "/api/v1/holds").await["holds"][0], answer["hold"]);
    let shorter = serde_json::json!({"scope": "user:ann", "reason": "month end", "for": "1m"});
    let (status, refusal) = ask(&router, "POST", "/api/v1/holds", true, Some(shorter)).await;
    assert_eq!((status, &refusal["error"]), (409, &"held_longer".into()), "{refusal}");
    assert_eq!(json(&router, "/api/v1/status").await["holds"][0]["by"], "local");
    // The engine hears of it a little later.
    while json(&router, "/api/v1/jobs/job_1_0001").await["hold"].is_null() {}
    assert_eq!(ask(&router, "DELETE", "/api/v1/holds/user:ann", false, None).await.0, 403);
    assert_eq!(ask(&router, "DELETE", "/api/v1/holds/user%3Aann", true, None).await.0, 200);
    let (status, refusal) = ask(&router, "DELETE", "/api/v1/holds/user:ann", true, None).await;
    assert_eq!((status, &refusal["error"]), (404, &"unknown_hold".into()));
    while !json(&router, "/api/v1/jobs/job_1_0001").await["hold"].is_null() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_stops_nothing_now_is_told_as_that() {
    let (router, _stop) = service(None);
    for (scope, said) in [
        ("user:ann", false),
        ("user:an", true),
        ("job:job_1_0001", false),
        ("job:job_1_9999", true),
        ("cluster", false),
    ] {
        let asked = serde_json::json!({"scope": scope, "reason": "slow disks"});
        let (_, answer) = ask(&router, "POST", "/api/v1/holds", true, Some(asked)).await;
        assert_eq!(answer["note"].as_str().unwrap().contains("stops nothing now"), said, "{scope}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_a_web_page_makes_may_hold_nothing_from_whatever_machine() {
    let (router, _stop) = service(None);
    let asked = r#"{"scope": "cluster", "reason": "x"}"#;
    let request = |origin: Option<&str>| {
        let here = ConnectInfo(Peer("127.0.0.1:9".parse().unwrap()));
        let request = Request::builder().method("POST").uri("/api/v1/holds").extension(here);
        let request = request.header("content-type", "application/json");
        let request = origin.into_iter().fold(request, |request, origin| request.header("origin", origin));
        router.clone().oneshot(request.body(Body::from(asked)).unwrap())
    };
    assert_eq!(request(Some("http://evil.example:7070")).await.unwrap().status(), StatusCode::FORBIDDEN);
    assert_eq!(request(None).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_makes_no_sense_is_refused_with_what_is_allowed() {
    let (router, _stop) = service(None);
    let refused = [
        (serde_json::json!({"scope": "group:x", "reason": "y"}), "is no scope"),
        (serde_json::json!({"scope": "cluster", "reason": " "}), "say why"),
        (serde_json::json!({"scope": "cluster", "reason": "a\nb"}), "say why"),
        (serde_json::json!({"scope": "cluster", "reason": "x".repeat(501)}), "say why"),
        (serde_json::json!({"scope": "cluster", "reason": "x".repeat(BODY_MAX - 100)}), "say why"),
        (serde_json::json!({"scope": "cluster", "reason": "x".repeat(BODY_MAX)}), "length limit exceeded"),
        (serde_json::json!({"scope": "cluster", "reason": "y", "for": "30"}), "has no unit"),
        (serde_json::json!({"scope": "cluster", "reason": "y", "for": "900d"}), "out of range"),
        (serde_json::json!({"scope": "cluster", "reason": "y", "for": ""}), "is empty"),
        (serde_json::json!({"scope": "cluster", "reason": "y", "until": "noon"}), "unknown field"),
    ];
    for (body, words) in refused {
        let (status, error) = ask(&router, "POST", "/api/v1/holds", true, Some(body.clone())).await;
        assert_eq!((status, &error["error"]), (400, &"bad_request".into()), "{body}");
        assert!(error["message"].as_str().unwrap().contains(words), "{body}: {error}");
    }
    assert_eq!(json(&router, "/api/v1/holds").await["holds"], serde_json::json!([]));
}
