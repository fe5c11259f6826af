//! A cluster whose WebAppProxy is a server of its own.

use crate::fake::*;
use drover::yarn::discover::Overrides;
use drover_core::model::*;
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

async fn manager() -> MockServer {
    let server = mock_server().await;
    info(&server, "ACTIVE", 1_000).await;
    get(&server, "/ws/v1/cluster/apps", apps()).await;
    server
}

fn through(rm: &MockServer, proxy: String) -> Fixture {
    fixture_of(Overrides { rms: vec![rm.uri()], proxy: Some(proxy), ..Overrides::default() }, params())
}

#[tokio::test]
async fn masters_are_asked_and_their_attempts_killed_through_it_and_never_through_the_resource_manager() {
    let (rm, proxy) = (manager().await, mock_server().await);
    get(&proxy, &am("/tasks"), tasks(&[task(0, json!(40.0), "RUNNING")])).await;
    get(&proxy, &am(""), summary("RUNNING")).await;
    let attempt = job().task(TaskKind::Map, 0).attempt(0);
    let state = am(&format!("/tasks/{}/attempts/{attempt}/state", attempt.task));
    answer_put(&proxy, &state, ResponseTemplate::new(202).set_body_json(json!({"state": "KILLED"}))).await;
    let clients = through(&rm, proxy.uri()).clients;
    assert_eq!(clients.rm.apps(None).await.unwrap().what.len(), 1);
    assert_eq!(clients.am.tasks(None, job()).await.unwrap().what.tasks.len(), 1);
    assert!(clients.am.diagnostics(job()).await.is_ok());
    clients.am.kill(clients.am.leave().await, attempt).await.unwrap();
    let asked = rm.received_requests().await.unwrap();
    assert!(asked.iter().all(|request| request.url.path().starts_with("/ws/v1/cluster/")));
}

#[tokio::test]
async fn its_trouble_is_no_reason_to_look_for_another_resource_manager() {
    let rm = manager().await;
    let clients = through(&rm, "http://127.0.0.1:1".to_owned()).clients;
    clients.rm.apps(None).await.unwrap();
    let asked = || async { rm.received_requests().await.unwrap().len() };
    let before = asked().await;
    assert_eq!(clients.am.tasks(None, job()).await.unwrap_err().label(), "unreachable");
    clients.rm.apps(None).await.unwrap();
    assert_eq!(asked().await, before + 1);
}
