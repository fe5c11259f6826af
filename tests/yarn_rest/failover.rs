use crate::fake::*;
use drover::yarn::error::Kind;
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

pub async fn standby(active: &MockServer) -> MockServer {
    let server = mock_server().await;
    info(&server, "STANDBY", 2_000).await;
    let to = format!("{}/ws/v1/cluster/apps", active.uri());
    answer(&server, "/ws/v1/cluster/apps", ResponseTemplate::new(307).insert_header("Location", to.as_str())).await;
    server
}

pub async fn active(started: u64) -> MockServer {
    let server = mock_server().await;
    info(&server, "ACTIVE", started).await;
    running_job(&server).await;
    server
}

#[tokio::test]
async fn the_active_one_of_a_pair_is_found_and_the_standby_left_alone() {
    let active = active(1_000).await;
    let standby = standby(&active).await;
    let fixture = fixture(&[standby.uri(), active.uri()], None, params());
    assert_eq!(fixture.clients.rm.apps(None).await.unwrap().what.len(), 1);
    assert_eq!(fixture.clients.rm.active().to_string(), active.uri());
    assert!(fixture.clients.am.tasks(None, job()).await.is_ok(), "the proxy is the active one's");
    let asked = standby.received_requests().await.unwrap();
    assert!(asked.iter().all(|r| r.url.path() == "/ws/v1/cluster/info"));
}

#[tokio::test]
async fn a_failover_in_mid_poll_is_followed_and_counts_as_a_new_life_even_of_a_daemon_as_old_or_older() {
    for started in [1_000, 9_000] {
        let second = active(started).await;
        let first = active(9_000).await;
        let fixture = fixture(&[first.uri(), second.uri()], None, params());
        fixture.clients.rm.apps(None).await.unwrap();
        let before = fixture.clients.rm.incarnation();
        // The first becomes a standby: it says so itself, and sends us to the other.
        first.reset().await;
        info(&first, "STANDBY", 9_000).await;
        let to = format!("{}/ws/v1/cluster/apps", second.uri());
        answer(&first, "/ws/v1/cluster/apps", ResponseTemplate::new(307).insert_header("Location", to.as_str())).await;
        assert_eq!(fixture.clients.rm.apps(None).await.unwrap().what.len(), 1);
        assert_eq!(fixture.clients.rm.active().to_string(), second.uri());
        assert!(fixture.clients.rm.incarnation() > before, "{started}");
        assert_eq!(fixture.outcome("rm_apps", "standby"), 1);
    }
}

#[tokio::test]
async fn a_dead_resource_manager_gives_way_to_the_one_that_took_over() {
    let second = active(2_000).await;
    // Made by hand, so that dropping it closes its port.
    let first = mock_server().await;
    info(&first, "ACTIVE", 1_000).await;
    running_job(&first).await;
    let fixture = fixture(&[first.uri(), second.uri()], None, params());
    fixture.clients.rm.apps(None).await.unwrap();
    let died = first.uri();
    drop(first);
    // Connections that were open are reset, new ones refused; either way the other one answers.
    for _ in 0..3 {
        if fixture.clients.rm.apps(None).await.is_ok() && fixture.clients.rm.active().to_string() != died {
            return;
        }
    }
    panic!("still at {}", fixture.clients.rm.active());
}

#[tokio::test]
async fn a_gateway_that_speaks_for_a_dead_one_does_not_keep_the_other_from_being_asked() {
    let (first, second) = (active(1).await, active(2).await);
    let fixture = fixture(&[first.uri(), second.uri()], None, params());
    fixture.clients.rm.apps(None).await.unwrap();
    assert_eq!(fixture.clients.rm.active().to_string(), first.uri());
    first.reset().await;
    for path in ["/ws/v1/cluster/info", "/ws/v1/cluster/apps"] {
        answer(&first, path, ResponseTemplate::new(503).set_body_string("upstream connect error")).await;
    }
    fixture.clients.rm.apps(None).await.unwrap();
    assert_eq!(fixture.clients.rm.active().to_string(), second.uri());
}

#[tokio::test]
async fn what_the_active_one_cannot_answer_is_told_as_it_is_and_not_asked_for_again_at_once() {
    let (first, second) = (mock_server().await, mock_server().await);
    info(&first, "ACTIVE", 1).await;
    info(&second, "STANDBY", 1).await;
    answer(&first, "/ws/v1/cluster/apps", ResponseTemplate::new(500)).await;
    let fixture = fixture(&[first.uri(), second.uri()], None, params());
    assert_eq!(fixture.clients.rm.apps(None).await.unwrap_err().label(), "server_error");
    let asked = first.received_requests().await.unwrap();
    assert_eq!(asked.iter().filter(|request| request.url.path() == "/ws/v1/cluster/apps").count(), 1);
    assert_eq!(fixture.clients.rm.active().to_string(), first.uri());
}

#[tokio::test]
async fn a_pair_without_an_active_one_is_told_with_what_each_said() {
    let a = mock_server().await;
    info(&a, "STANDBY", 1).await;
    let b = mock_server().await;
    answer(&b, "/ws/v1/cluster/info", ResponseTemplate::new(500)).await;
    let fixture = fixture(&[a.uri(), b.uri()], None, params());
    let error = fixture.clients.rm.apps(None).await.unwrap_err();
    assert_eq!(error.label(), "no_active_rm");
    assert!(error.to_string().contains("is standby") && error.to_string().contains("500"), "{error}");
}

#[tokio::test]
async fn many_calls_without_an_active_resource_manager_do_not_storm_those_in_standby() {
    let standby = mock_server().await;
    info(&standby, "STANDBY", 1).await;
    let fixture = fixture(&[standby.uri(), "http://127.0.0.1:1".into()], None, params());
    let calls = (0..40).map(|_| fixture.clients.rm.metrics(None));
    let answers = futures::future::join_all(calls).await;
    assert!(answers.iter().all(|a| a.as_ref().is_err_and(|e| e.label() == "no_active_rm")));
    assert!(standby.received_requests().await.unwrap().len() < 10);
}

#[tokio::test]
async fn a_standby_that_knows_no_active_one_is_no_answer_whichever_way_it_says_so() {
    let text = "There is no active RM right now. Will retry in next 5 seconds\n";
    for response in [
        ResponseTemplate::new(307).insert_header("Refresh", "5; url=http://rm/").set_body_string(text),
        ResponseTemplate::new(200).insert_header("Refresh", "5; url=http://rm/").set_body_string(text),
    ] {
        let (server, fixture) = rm().await;
        answer(&server, "/ws/v1/cluster/apps", response).await;
        assert_eq!(fixture.clients.rm.apps(None).await.unwrap_err().kind, Kind::Standby { active: None });
    }
}

#[tokio::test]
async fn a_standby_that_names_a_stranger_as_active_is_not_believed() {
    let stranger = active(1).await;
    let lying = mock_server().await;
    info(&lying, "ACTIVE", 1).await;
    let to = format!("{}/ws/v1/cluster/apps", stranger.uri());
    answer(&lying, "/ws/v1/cluster/apps", ResponseTemplate::new(307).insert_header("Location", to.as_str())).await;
    let fixture = fixture(&[lying.uri()], None, params());
    assert_eq!(fixture.clients.rm.apps(None).await.unwrap_err().label(), "foreign_redirect");
    assert!(stranger.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn of_several_one_that_sends_to_a_stranger_is_left_for_the_one_that_is_active() {
    let (first, second) = (active(1).await, active(2).await);
    let fixture = fixture(&[first.uri(), second.uri()], None, params());
    fixture.clients.rm.apps(None).await.unwrap();
    assert_eq!(fixture.clients.rm.active().to_string(), first.uri());
    first.reset().await;
    info(&first, "STANDBY", 1).await;
    let to = ResponseTemplate::new(307).insert_header("Location", "http://an-alias:8088/ws/v1/cluster/apps");
    answer(&first, "/ws/v1/cluster/apps", to).await;
    fixture.clients.rm.apps(None).await.unwrap();
    assert_eq!(fixture.clients.rm.active().to_string(), second.uri());
}

#[tokio::test]
async fn of_several_one_whose_address_shows_something_else_is_left_for_the_one_that_is_active() {
    let pages =
        [(200, "<html><title>Log in</title></html>"), (200, ""), (404, "default backend - 404"), (403, ""), (401, "")];
    for (status, page) in pages {
        let (first, second) = (active(1).await, active(2).await);
        let fixture = fixture(&[first.uri(), second.uri()], None, params());
        fixture.clients.rm.apps(None).await.unwrap();
        first.reset().await;
        for path in ["/ws/v1/cluster/info", "/ws/v1/cluster/apps"] {
            answer(&first, path, ResponseTemplate::new(status).set_body_string(page)).await;
        }
        fixture.clients.rm.apps(None).await.unwrap();
        assert_eq!(fixture.clients.rm.active().to_string(), second.uri(), "{status} {page}");
    }
}

#[tokio::test]
async fn what_the_active_one_of_several_refuses_is_asked_for_once_and_told_as_it_was_told() {
    let (first, second) = (active(1).await, standby(&active(2).await).await);
    let fixture = fixture(&[first.uri(), second.uri()], None, params());
    fixture.clients.rm.apps(None).await.unwrap();
    first.reset().await;
    info(&first, "ACTIVE", 1).await;
    answer(&first, "/ws/v1/cluster/nodes", ResponseTemplate::new(403)).await;
    assert_eq!(fixture.clients.rm.nodes(None).await.unwrap_err().label(), "forbidden");
    let asked = first.received_requests().await.unwrap();
    assert_eq!(asked.iter().filter(|asked| asked.url.path() == "/ws/v1/cluster/nodes").count(), 1);
}

#[tokio::test]
async fn every_resource_manager_presents_itself_to_the_doctor() {
    let active = active(1).await;
    let standby = standby(&active).await;
    let fixture = fixture(&[standby.uri(), active.uri(), "http://127.0.0.1:1".into()], None, params());
    let all = fixture.clients.rm.present().await;
    let states: Vec<_> = all
        .iter()
        .map(|p| p.info.as_ref().map_or_else(|e| e.label().to_owned(), |t| t.what.ha_state.0.clone().unwrap()))
        .collect();
    assert_eq!(states, ["STANDBY", "ACTIVE", "unreachable"]);
    get(&active, "/ws/v1/history/info", json!({"historyInfo": {"startedOn": 1, "hadoopVersion": "3.4.3"}})).await;
}
