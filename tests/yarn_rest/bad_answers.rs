use crate::fake::*;
use drover::yarn::discover::Overrides;
use drover::yarn::endpoint::Class;
use drover::yarn::error::{Error, Kind};
use drover::yarn::http::HttpParams;
use drover::yarn::limit::{Ceiling, Ceilings, Wait};
use drover_core::model::*;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

/// What the client makes of this answer to a listing of tasks.
async fn tasks_answered(response: ResponseTemplate) -> (Error, Fixture) {
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks"), response).await;
    let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(fixture.outcome("am_tasks", error.label()), 1, "the outcome is counted by its name");
    (error, fixture)
}

/// A server that says these bytes to every connection and closes it.
async fn says(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(bytes).await;
        }
    });
    at
}

async fn metrics_of(at: String) -> Error {
    fixture(&[at], None, params()).clients.rm.metrics(None).await.unwrap_err()
}

#[tokio::test]
async fn no_resource_manager_at_the_address_is_told_with_what_to_check() {
    // A port just given back may be another test's by now.
    let at = "http://127.0.0.1:1".to_owned();
    let error = metrics_of(at.clone()).await;
    assert_eq!(error.label(), "unreachable");
    assert!(error.to_string().starts_with(&at) && error.to_string().contains("daemon up"), "{error}");
}

#[tokio::test]
async fn something_else_at_the_address_is_not_taken_for_a_resource_manager() {
    assert_eq!(metrics_of(says(b"SSH-2.0-OpenSSH_9.2\r\n").await).await.label(), "protocol");
    for (body, label) in [
        ("{\"status\":\"up\"}", "unexpected"),
        ("{}", "unexpected"),
        ("[1,2]", "unexpected"),
        ("<historyInfo><startedOn>1</startedOn></historyInfo>", "unexpected"),
        ("hello", "plain_text"),
        ("", "empty"),
        ("{\"clusterInfo\":", "truncated"),
        ("{clusterInfo}", "malformed"),
    ] {
        let server = mock_server().await;
        answer(&server, "/ws/v1/cluster/info", ResponseTemplate::new(200).set_body_string(body)).await;
        let error = metrics_of(server.uri()).await;
        assert_eq!(error.label(), label, "{body}: {error}");
    }
}

#[tokio::test]
async fn a_login_page_with_status_200_is_named_and_quoted() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>…</body></html>";
    let (error, _) = tasks_answered(ResponseTemplate::new(200).set_body_raw(page, "text/html")).await;
    assert_eq!(error.label(), "html");
    assert!(error.to_string().contains("Sign in"), "{error}");
}

#[tokio::test]
async fn statuses_of_failure_each_have_their_name_and_repeat_what_hadoop_said() {
    for (status, label) in [
        (401, "unauthorized"),
        (403, "forbidden"),
        (404, "not_found"),
        (500, "server_error"),
        (503, "server_error"),
        (418, "status"),
    ] {
        let said = json!({"RemoteException": {"exception": "X", "message": "so it is"}});
        let (error, _) = tasks_answered(ResponseTemplate::new(status).set_body_json(said)).await;
        assert_eq!(error.label(), label);
        assert!(error.to_string().contains("so it is"), "{error}");
    }
}

fn too_many() -> ResponseTemplate {
    ResponseTemplate::new(429).insert_header("Retry-After", "30")
}

#[tokio::test]
async fn too_many_requests_stops_all_requests_to_that_server_for_the_time_asked() {
    let (server, fixture) = rm().await;
    let limits = fixture.clients.http.limits();
    answer(&server, &jhs(""), too_many()).await;
    let began = std::time::Instant::now();
    let error = fixture.clients.history.as_ref().unwrap().end(job(), None).await.unwrap_err();
    assert_eq!(error.kind, Kind::TooManyRequests(Some(Duration::from_secs(30))));
    let wait = limits.try_acquire(Class::History).unwrap_err();
    assert!(matches!(wait, Wait::For(left) if left + began.elapsed() >= Duration::from_secs(30)), "{wait:?}");
    assert_eq!(fixture.count("drover_rest_pauses_total", &[("class", "history")]), 1);
    assert!(limits.try_acquire(Class::Rm).is_ok());
}

#[tokio::test]
async fn too_many_requests_from_a_jobs_master_stops_no_request_to_another_jobs() {
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks"), too_many()).await;
    let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(error.kind, Kind::TooManyRequests(Some(Duration::from_secs(30))));
    assert_eq!(fixture.count("drover_rest_pauses_total", &[("class", "proxy")]), 1);
    get(&server, &am("/tasks").replace("_0007", "_0008"), tasks(&[])).await;
    let other = JOB.replace("_0007", "_0008").parse().unwrap();
    let told = tokio::time::timeout(Duration::from_secs(20), fixture.clients.am.tasks(None, other)).await;
    assert!(told.unwrap().is_ok());
}

#[tokio::test]
async fn a_slow_answer_ends_at_the_timeout() {
    let server = mock_server().await;
    info(&server, "ACTIVE", 1).await;
    answer(&server, &am("/tasks"), ResponseTemplate::new(200).set_delay(Duration::from_secs(60))).await;
    let params = HttpParams { timeout: Duration::from_millis(200), ..params() };
    let fixture = fixture(&[server.uri()], None, params);
    let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(error.label(), "timeout");
}

#[tokio::test]
async fn a_body_that_trickles_without_end_ends_at_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{";
            let _ = stream.write_all(head).await;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    let params = HttpParams { timeout: Duration::from_millis(300), ..params() };
    let error = fixture(&[at], None, params).clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(error.label(), "timeout");
}

#[tokio::test]
async fn a_body_cut_off_is_truncated_and_not_an_empty_listing() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"tasks\":{\"task\":[";
    let error = fixture(&[says(cut).await], None, params()).clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(error.label(), "truncated");
    let (error, _) = tasks_answered(ResponseTemplate::new(200).set_body_string("{\"tasks\":{\"task\":[{\"id\":")).await;
    assert_eq!(error.label(), "truncated");
    let (error, _) = tasks_answered(ResponseTemplate::new(200).set_body_string("<tasks><task><id>")).await;
    assert_eq!(error.label(), "truncated");
}

#[tokio::test]
async fn a_body_over_the_limit_is_dropped_while_it_is_read() {
    let server = mock_server().await;
    answer(&server, &am("/tasks"), ResponseTemplate::new(200).set_body_string("[".repeat(100_000))).await;
    let mut ceilings: Ceilings = params().ceilings;
    ceilings.proxy.body_bytes = 1_000;
    let fixture = fixture(&[server.uri()], None, HttpParams { ceilings, ..params() });
    let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(error.kind, Kind::TooLarge(1_000));
    assert_eq!(fixture.count("drover_rest_limits_total", &[("limit", "body")]), 1);
}

#[tokio::test]
async fn a_long_error_page_is_no_answer_that_is_too_large_and_is_told_by_its_head() {
    let page = format!("<html><head><title>Bad day</title></head><body>{}</body></html>", "x".repeat(1_000_000));
    let (error, fixture) = tasks_answered(ResponseTemplate::new(500).set_body_raw(page, "text/html")).await;
    assert_eq!((error.label(), fixture.count("drover_rest_limits_total", &[("limit", "body")])), ("server_error", 0));
    assert!(error.to_string().contains("Bad day"), "{error}");
}

#[tokio::test]
async fn of_a_listing_with_more_than_any_job_has_no_more_is_held_and_it_counts_as_not_whole() {
    let (server, fixture) = rm().await;
    let empty = "{},".repeat(600_000);
    let body = format!(r#"{{"tasks":{{"task":[{empty}{}]}}}}"#, task(0, json!(40.0), "RUNNING"));
    answer(&server, &am("/tasks"), ResponseTemplate::new(200).set_body_string(body)).await;
    let ceilings = Ceilings { proxy: Ceiling { body_bytes: 16 << 20, ..params().ceilings.proxy }, ..params().ceilings };
    let roomy =
        fixture_of(Overrides { rms: vec![server.uri()], ..Overrides::default() }, HttpParams { ceilings, ..params() });
    drop(fixture);
    let told = roomy.clients.am.tasks(None, job()).await.unwrap();
    assert!(!told.what.complete && told.what.tasks.is_empty());
    assert_eq!(told.refused.count(drover::yarn::facts::Reason::NoObject), 100_001);
}

/// On a runtime with one thread for that, which is taken.
#[test]
fn a_large_answer_is_decoded_beside_the_requests_of_others() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let (server, fixture) = rm().await;
        let listing: Vec<_> = (0..2_000).map(|index| task(index, json!(40.0), "RUNNING")).collect();
        get(&server, &am("/tasks"), tasks(&listing)).await;
        get(&server, &am(""), summary("RUNNING")).await;
        let (release, released) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || released.recv());
        let large = fixture.clients.am.tasks(None, job());
        tokio::pin!(large);
        let early = tokio::time::timeout(Duration::from_millis(500), &mut large).await;
        assert!(early.is_err(), "it was decoded on the thread that all requests share");
        assert!(fixture.clients.am.diagnostics(job()).await.is_ok());
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        assert_eq!(large.await.unwrap().what.tasks.len(), 2_000);
    });
}

#[tokio::test]
async fn json_nested_without_end_does_not_exhaust_the_stack() {
    let (error, _) = tasks_answered(ResponseTemplate::new(200).set_body_string("{\"tasks\":".repeat(50_000))).await;
    assert_eq!(error.label(), "truncated");
    let (server, fixture) = rm().await;
    let queues = "{\"queues\":".repeat(20_000) + &"}".repeat(20_000);
    let body = format!("{{\"scheduler\":{{\"schedulerInfo\":{queues}}}}}");
    answer(&server, "/ws/v1/cluster/scheduler", ResponseTemplate::new(200).set_body_string(body)).await;
    assert_eq!(fixture.clients.rm.queues(None).await.unwrap_err().label(), "malformed");
}

#[tokio::test]
async fn wrong_values_are_refused_one_by_one_and_the_rest_of_the_listing_stands() {
    let (server, fixture) = rm().await;
    let mut late = task(5, json!(100.0), "SUCCEEDED");
    late["finishTime"] = json!(1_795_000_000_001u64);
    let mut foreign = task(6, json!(1.0), "RUNNING");
    foreign["id"] = json!("task_1795000000000_0008_m_000000");
    let mut unknown_fields = task(7, json!(70.0), "RUNNING");
    unknown_fields["newInHadoop4"] = json!({"a": [1, 2]});
    let listing = tasks(&[
        task(0, json!("NaN"), "RUNNING"),
        task(1, json!(-3.0), "RUNNING"),
        task(2, json!(101), "RUNNING"),
        task(3, json!(30.0), "LEVITATING"),
        json!({"id": "task_1795000000000_0007_m_000004"}),
        late,
        foreign,
        unknown_fields,
        json!("no object"),
        json!({}),
    ]);
    get(&server, &am("/tasks"), listing).await;
    let told = fixture.clients.am.tasks(None, job()).await.unwrap();
    let facts = &told.what.tasks;
    assert_eq!(facts.iter().map(|t| t.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 7]);
    assert!(facts[..5].iter().all(|t| t.score.is_none()), "no refused progress is passed on");
    assert_eq!((facts[3].state, facts[5].finished, facts[6].score), (None, None, Some(0.7)));
    assert!(!told.what.complete, "a listing of which something was refused is not complete");
    use drover::yarn::facts::Reason::*;
    for reason in [ProgressNan, UnknownState, FinishBeforeStart, Foreign, NoObject, BadId] {
        assert_eq!(told.refused.count(reason), 1, "{reason:?}");
    }
    assert_eq!(told.refused.count(ProgressRange), 2);
}

#[tokio::test]
async fn bare_nan_in_json_costs_one_value_and_not_the_listing() {
    let body = tasks(&[task(0, json!(40.0), "RUNNING"), task(1, json!("swap"), "RUNNING")]).to_string();
    let body = body.replace("\"swap\"", "NaN").replace("\"status\":\"map\"", "\"status\":\"map > \\\"NaN\\\"\"");
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks"), ResponseTemplate::new(200).set_body_string(body)).await;
    let told = fixture.clients.am.tasks(None, job()).await.unwrap();
    assert_eq!(told.what.tasks.iter().map(|t| t.score).collect::<Vec<_>>(), [Some(0.4), None]);
}

#[tokio::test]
async fn lists_that_are_null_absent_empty_or_a_single_object_are_all_understood() {
    for (body, expected) in [
        (json!({"tasks": null}), 0),
        (json!({}), 0),
        (json!({"tasks": {}}), 0),
        (json!({"tasks": ""}), 0),
        (json!({"tasks": {"task": null}}), 0),
        (json!({"tasks": {"task": []}}), 0),
        (json!({"tasks": {"task": task(0, json!("40.0"), "RUNNING")}}), 1),
    ] {
        let (server, fixture) = rm().await;
        get(&server, &am("/tasks"), body.clone()).await;
        let told = fixture.clients.am.tasks(None, job()).await.unwrap();
        assert_eq!(told.what.tasks.len(), expected, "{body}");
        assert!(told.refused.is_empty(), "{body}");
    }
}

#[tokio::test]
async fn xml_says_the_same_as_json_where_a_server_answers_it() {
    let (server, fixture) = rm().await;
    let xml = |id: u32| {
        format!(
            "<task><startTime>1795000105000</startTime><finishTime>0</finishTime><elapsedTime>15000</elapsedTime>\
             <progress>40.0</progress><id>task_1795000000000_0007_m_{id:06}</id><state>RUNNING</state><type>MAP</type>\
             <successfulAttempt></successfulAttempt><status>map</status></task>"
        )
    };
    let body = format!("<?xml version=\"1.0\"?><tasks>{}{}</tasks>", xml(0), xml(1));
    answer(&server, &am("/tasks"), ResponseTemplate::new(200).set_body_raw(body, "application/xml")).await;
    let by_xml = fixture.clients.am.tasks(None, job()).await.unwrap();
    server.reset().await;
    let listing = tasks(&[task(0, json!(40.0), "RUNNING"), task(1, json!(40.0), "RUNNING")]);
    get(&server, &am("/tasks"), listing).await;
    assert_eq!(by_xml.what, fixture.clients.am.tasks(None, job()).await.unwrap().what);
}

#[tokio::test]
async fn a_job_that_vanishes_between_two_calls_is_an_error_of_that_call_alone() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    assert!(fixture.clients.am.tasks(None, job()).await.is_ok());
    server.reset().await;
    info(&server, "ACTIVE", 1_795_000_000_000).await;
    answer(&server, &am("/tasks"), not_found()).await;
    let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
    assert_eq!(error.label(), "not_found");
    get(&server, "/ws/v1/cluster/apps", json!({"apps": null})).await;
    assert!(fixture.clients.rm.apps(None).await.unwrap().what.is_empty());
}

#[tokio::test]
async fn clock_skew_of_minutes_shows_in_the_sources_time_and_not_in_the_time_of_receipt() {
    let (server, fixture) = rm().await;
    let before = drover::clock::now();
    let ahead = before.0 + 600_000;
    let mut one = task(0, json!(10.0), "RUNNING");
    one["startTime"] = json!(ahead - 15_000);
    get(&server, &am("/tasks"), tasks(&[one])).await;
    let told = fixture.clients.am.tasks(None, job()).await.unwrap();
    assert_eq!(told.what.am_now, Some(Time(ahead)));
    assert!(told.frame.received.0 < before.0 + 300_000);
}

#[tokio::test]
async fn attempt_ids_of_a_restarted_master_are_taken_as_they_are() {
    let (server, fixture) = rm().await;
    let listing =
        json!({"taskAttempts": {"taskAttempt": [attempt(0, "KILLED", 100.0), attempt(1000, "RUNNING", 12.0)]}});
    get(&server, &am("/tasks/task_1795000000000_0007_m_000000/attempts"), listing).await;
    let told = fixture.clients.am.attempts(None, job().task(TaskKind::Map, 0)).await.unwrap();
    assert_eq!(told.what.0.iter().map(|a| a.number).collect::<Vec<_>>(), [0, 1000]);
    get(&server, &am("/jobattempts"), json!({"jobAttempts": {"jobAttempt": [{"id": 1}, {"id": 2}]}})).await;
    assert_eq!(fixture.clients.am.newest_attempt(None, job()).await.unwrap().what, Some(2));
}
