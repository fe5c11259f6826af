//! What a real cluster answered, read by the same clients.

use crate::fake::{answer, answer_put, fixture, mock_server, params};
use drover::yarn::error::Kind;
use drover_core::model::*;
use wiremock::{MockServer, ResponseTemplate};

const APP: &str = "application_1795230592604_0001";
const JOB: &str = "job_1795230592604_0001";

fn file(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/recorded/3.4.3/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A whole recorded answer: status, headers, body.
fn whole(name: &str) -> ResponseTemplate {
    let text = String::from_utf8(file(name)).unwrap().replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let status: u16 = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let passed_on = headers.filter(|(name, _)| !matches!(*name, "Content-Length" | "Transfer-Encoding" | "Connection"));
    let mut answer = ResponseTemplate::new(status).set_body_string(body.trim_start());
    for (name, value) in passed_on {
        answer = answer.append_header(name, value);
    }
    answer
}

async fn serve(server: &MockServer, format: &str) {
    let body = |name: &str| {
        let mime = if format == "json" { "application/json" } else { "application/xml" };
        ResponseTemplate::new(200).set_body_raw(file(&format!("{name}.{format}")), mime)
    };
    for (at, name) in [
        ("/ws/v1/cluster/info", "rm/info"),
        ("/ws/v1/cluster/metrics", "rm/metrics"),
        ("/ws/v1/cluster/nodes", "rm/nodes"),
        ("/ws/v1/cluster/scheduler", "rm/scheduler"),
        ("/ws/v1/cluster/apps", "rm/apps"),
        ("/ws/v1/history/info", "jhs/info"),
    ] {
        answer(server, at, body(name)).await;
    }
    answer(server, &format!("/ws/v1/cluster/apps/{APP}"), body("rm/app")).await;
    let proxy = format!("/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}");
    let history = format!("/ws/v1/history/mapreduce/jobs/{JOB}");
    let copied = "/tasks/task_1795230592604_0001_m_000002/attempts";
    for (rest, name) in [("", "job"), ("/jobattempts", "jobattempts"), ("/conf", "conf"), ("/tasks", "tasks")] {
        answer(server, &format!("{proxy}{rest}"), body(&format!("am/{name}"))).await;
        answer(server, &format!("{history}{rest}"), body(&format!("jhs/{name}"))).await;
    }
    answer(server, &format!("{proxy}{copied}"), body("am/attempts_copied")).await;
    answer(server, &format!("{proxy}/tasks/task_1795230592604_0001_r_000000/attempts"), body("am/attempts_r")).await;
    answer(server, &format!("{history}/tasks/task_1795230592604_0001_m_000005/attempts"), body("jhs/attempts_copied"))
        .await;
}

async fn cluster(format: &str) -> (MockServer, crate::fake::Fixture) {
    let server = mock_server().await;
    serve(&server, format).await;
    let fixture = fixture(&[server.uri()], Some(server.uri()), params());
    (server, fixture)
}

fn job() -> JobId {
    JOB.parse().unwrap()
}

#[tokio::test]
async fn the_resource_managers_answers_are_understood_whole() {
    for format in ["json", "xml"] {
        let (_server, fixture) = cluster(format).await;
        let rm = &fixture.clients.rm;
        let apps = rm.apps(None).await.unwrap();
        let app = &apps.what[0];
        assert_eq!((app.fact.app.to_string().as_str(), app.fact.user.as_str()), (APP, "alice"));
        assert_eq!((app.fact.containers, app.fact.allocated.memory_mb, app.attempt), (11, 1536, Some(1)));
        assert_eq!((app.fact.queue.as_str(), &app.fact.label), ("root.default", &None));
        assert!(app.rm_now.unwrap() > app.fact.started);
        assert_eq!((rm.incarnation(), rm.version().as_deref()), (1_795_230_592_604, Some("3.4.3")));
        let totals = rm.metrics(None).await.unwrap().what;
        assert_eq!((totals.total, totals.active_nodes), (Resources { memory_mb: 1536, vcores: 11 }, 4));
        assert_eq!(totals.containers, 11);
        let nodes = rm.nodes(None).await.unwrap();
        assert_eq!(nodes.what.len(), 4);
        assert!(nodes.what.iter().all(|n| n.usable && n.rack.starts_with("/rack") && n.total.memory_mb > 0));
        assert!(nodes.what.iter().all(|n| n.cpu_used_vcores.is_some() && n.memory_used_mb.is_some()));
        let queues = rm.queues(None).await.unwrap();
        assert!(queues.what.iter().any(|q| q.name == "root.default" && q.max_capacity > 0.0), "{:?}", queues.what);
        assert_eq!(queues.what.len(), 2);
        assert!(queues.what.iter().all(|queue| !queue.counts_vcores), "{format}: a calculator of memory alone");
        let default = queues.what.iter().find(|q| q.name == "root.default").unwrap();
        let alice = QueueUser { user: "alice".into(), used_mb: 1536, limit_mb: 1600 };
        assert_eq!((default.user_capacity, &default.users), (Some(1.0), &vec![alice]), "{format}");
        for refused in [apps.refused, nodes.refused, queues.refused] {
            assert!(refused.is_empty(), "{format}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn what_is_told_of_nodes_with_labels_is_understood() {
    for format in ["json", "xml"] {
        let server = mock_server().await;
        let mime = format!("application/{format}");
        let body = |name: &str| ResponseTemplate::new(200).set_body_raw(file(&format!("{name}.{format}")), &mime);
        answer(&server, "/ws/v1/cluster/info", body("rm/info")).await;
        for name in ["apps", "metrics", "nodes", "scheduler", "get-node-labels"] {
            answer(&server, &format!("/ws/v1/cluster/{name}"), body(&format!("labels/{name}"))).await;
        }
        let rm = fixture(&[server.uri()], Some(server.uri()), params()).clients.rm;
        let totals = rm.metrics(None).await.unwrap().what;
        assert_eq!((totals.total.memory_mb, totals.containers_pending), (1_024, 0), "of the one without a label");
        let nodes = rm.nodes(None).await.unwrap();
        let mut labels: Vec<_> =
            nodes.what.iter().map(|n| (&*n.host, n.label.as_deref().unwrap_or("none"), n.exclusive)).collect();
        labels.sort_unstable();
        let [lent, own] = [|host| (host, "core", false), |host| (host, "gpu", true)];
        assert_eq!(labels, [("nm1", "none", false), lent("nm2"), lent("nm3"), own("nm4"), own("nm5")], "{format}");
        let apps = rm.apps(None).await.unwrap();
        let asked: Vec<_> = apps.what.iter().map(|app| (app.fact.user.as_str(), app.fact.label.as_deref())).collect();
        assert_eq!(
            asked,
            [("alice", None), ("bob", Some(""))],
            "{format}: the one names none, the other the empty one"
        );
        let queues = rm.queues(None).await.unwrap();
        let batch = queues.what.iter().find(|queue| queue.name == "root.batch").unwrap();
        let gpu = &batch.by_label["gpu"];
        assert_eq!((batch.partition.as_deref(), batch.containers_pending), (Some("gpu"), 0));
        assert_eq!((gpu.used_mb, gpu.pending_mb, gpu.users_mb["alice"]), (1_984, 2_112, 1_984), "{format}");
        for refused in [apps.refused, nodes.refused, queues.refused] {
            assert!(refused.is_empty(), "{format}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn a_running_jobs_answers_are_understood_whole() {
    for format in ["json", "xml"] {
        let (_server, fixture) = cluster(format).await;
        let am = &fixture.clients.am;
        let attempt = AppAttemptId { app: job().0, number: 1 };
        let summary = am.job(None, job(), attempt).await.unwrap();
        let seen = summary.what.unwrap();
        assert_eq!((seen.fact.maps, seen.fact.reduces, seen.fact.state), (12, 2, Some(JobPhase::Running)));
        assert_eq!((seen.copies, seen.maps_waiting, seen.maps_completed), (3, 1, 7));
        assert_eq!(am.newest_attempt(None, job()).await.unwrap().what, Some(1));
        let listed = am.tasks(None, job()).await.unwrap();
        assert!(listed.what.complete);
        assert_eq!(listed.what.tasks.len(), 14);
        let done = listed.what.tasks.iter().filter(|t| t.state == Some(TaskState::Succeeded));
        assert!(done.clone().count() > 0 && done.clone().all(|t| t.winner.is_some() && t.finished > t.started));
        let reduce = listed.what.tasks.iter().find(|t| t.kind == TaskKind::Reduce).unwrap();
        assert_eq!(reduce.phase, Some(Phase::Copy));
        assert!(listed.what.am_now.unwrap() > seen.fact.started);
        let copied = am.attempts(None, job().task(TaskKind::Map, 2)).await.unwrap();
        let hosts: Vec<_> = copied.what.0.iter().map(|a| a.host.clone().unwrap()).collect();
        assert_eq!(hosts, ["nm2".into(), "nm4".into()]);
        assert!(copied.what.0.iter().all(|a| a.score.is_some() && a.finished.is_none() && a.phase == Some(Phase::Map)));
        let reduce = am.attempts(None, job().task(TaskKind::Reduce, 0)).await.unwrap();
        assert_eq!((reduce.what.0[0].copied, reduce.what.0[0].phase), (None, Some(Phase::Copy)));
        let settings = am.settings(None, job()).await.unwrap();
        assert_eq!(settings.what.report_interval, Millis(500));
        for refused in [summary.refused, listed.refused, copied.refused, reduce.refused, settings.refused] {
            assert!(refused.is_empty(), "{format}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn a_finished_jobs_history_tells_every_winner_and_who_lost_to_a_copy() {
    for format in ["json", "xml"] {
        let (_server, fixture) = cluster(format).await;
        let history = fixture.clients.history.as_ref().unwrap();
        assert_eq!(history.info().await.unwrap().what.0.hadoop_version.as_deref(), Some("3.4.3"));
        let told = history.end(job(), Some("alice")).await.unwrap();
        let (refused, frame) = (told.refused, told.frame);
        let mut told = drover::yarn::told::Told { what: told.what.unwrap(), refused, frame };
        history.add_winners(&mut told).await.unwrap();
        assert_eq!((told.what.state, told.what.attempts.len()), (Some(JobPhase::Succeeded), 14));
        history.add_attempts(&mut told, job().task(TaskKind::Map, 5)).await.unwrap();
        assert_eq!(told.what.attempts.len(), 15);
        let lost = told.what.attempts.iter().find(|a| a.state == Some(AttemptState::Killed)).unwrap();
        assert_eq!((lost.index, lost.number, lost.score, lost.host.as_deref()), (5, 0, None, Some("nm2")));
        assert!(lost.finished > lost.started);
        assert!(told.refused.is_empty(), "{format}: {:?}", told.refused);
    }
}

#[tokio::test]
async fn counters_of_a_map_and_of_a_reduce_are_understood() {
    let (server, fixture) = cluster("json").await;
    let proxy = format!("/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}");
    for (kind, index, name) in [(TaskKind::Map, 2, "attempt_m_counters"), (TaskKind::Reduce, 1, "attempt_r_counters")] {
        let id = job().task(kind, index).attempt(0);
        let body = file(&format!("am/{name}.json"));
        let id = match String::from_utf8_lossy(&body) {
            text if text.contains(&id.to_string()) => id,
            _ => job().task(kind, 0).attempt(0),
        };
        let at = format!("{proxy}/tasks/{}/attempts/{id}/counters", id.task);
        answer(&server, &at, ResponseTemplate::new(200).set_body_raw(body, "application/json")).await;
        let fact = fixture.clients.am.counters(None, id).await.unwrap().what.unwrap();
        assert!(fact.counters.memory.unwrap().0 > 100_000_000 && fact.counters.cpu.is_some());
        assert!(fact.counters.records.is_some());
        assert_eq!(fact.counters.shuffled.is_some(), kind == TaskKind::Reduce);
        assert_eq!((fact.score, fact.state), (None, None), "counters say nothing else");
    }
}

#[tokio::test]
async fn a_cluster_without_applications_is_no_error() {
    for name in ["rm/apps_none.json", "rm/apps_none.xml"] {
        let server = mock_server().await;
        answer(&server, "/ws/v1/cluster/info", ResponseTemplate::new(200).set_body_bytes(file("rm/info.json"))).await;
        answer(&server, "/ws/v1/cluster/apps", ResponseTemplate::new(200).set_body_bytes(file(name))).await;
        let fixture = fixture(&[server.uri()], None, params());
        assert!(fixture.clients.rm.apps(None).await.unwrap().what.is_empty());
    }
}

#[tokio::test]
async fn hadoops_own_refusals_are_told_apart() {
    let tasks = format!("/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}/tasks");
    for (name, label) in [
        ("rm/proxy_before_am.http", "app_not_served"),
        ("rm/proxy_finished.http", "app_finished"),
        ("rm/proxy_unknown.http", "status"),
        ("am/job_unknown.http", "not_found"),
        ("am/task_unknown.http", "not_found"),
        ("am/blacklistednodes.http", "server_error"),
        ("rm/app_malformed.http", "status"),
        ("rm/app_unknown_xml.http", "server_error"),
    ] {
        let server = mock_server().await;
        answer(&server, &tasks, whole(name)).await;
        let fixture = fixture(&[server.uri()], None, params());
        let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
        assert_eq!(error.label(), label, "{name}: {error}");
        if name == "am/job_unknown.http" {
            assert!(matches!(&error.kind, Kind::NotFound(said) if said.contains("is not found")), "{error}");
        }
    }
}

#[tokio::test]
async fn a_kill_is_heeded_refused_or_comes_too_late_and_a_redirect_turns_it_into_nothing_else() {
    let attempt = job().task(TaskKind::Reduce, 0).attempt(0);
    let at = format!("/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}/tasks/{}/attempts/{attempt}/state", attempt.task);
    for (name, label) in
        [("am/kill.http", "ok"), ("am/kill_unknown.http", "not_found"), ("rm/proxy_finished_kill.http", "app_finished")]
    {
        let server = mock_server().await;
        answer_put(&server, &at, whole(name)).await;
        let fixture = fixture(&[server.uri()], None, params());
        let am = &fixture.clients.am;
        let said = am.kill(am.leave().await, attempt).await;
        assert_eq!(said.err().map_or("ok", |error| error.label()), label, "{name}");
        assert_eq!(fixture.outcome("am_kill", label), 1, "{name}");
        let asked = server.received_requests().await.unwrap();
        let puts = asked.iter().filter(|request| request.url.path() == at);
        assert_eq!(puts.map(|request| request.method.as_str().to_owned()).collect::<Vec<_>>(), ["PUT"], "{name}");
    }
}
