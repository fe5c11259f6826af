//! Node labels: what is told of them is kept, and what goes wrong with them spoils no listing of nodes.

use crate::fake::*;
use drover::yarn::http::HttpParams;
use drover::yarn::rm::Rm;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wiremock::{MockServer, ResponseTemplate};

const NODES: &str = "/ws/v1/cluster/nodes";
const LABELS: &str = "/ws/v1/cluster/get-node-labels";

/// A node of each label.
async fn nodes(server: &MockServer, labels: &[&str]) {
    let node = |label: &&str| json!({"nodeHostName": label, "state": "RUNNING", "nodeLabels": [label]});
    get(server, NODES, json!({"nodes": {"node": labels.iter().map(node).collect::<Vec<Value>>()}})).await;
}

fn told() -> Value {
    json!({"nodeLabelInfo": [{"name": "gpu", "exclusivity": true}, {"name": "core", "exclusivity": "false"}]})
}

/// A ResourceManager in its place, where all nodes and labels are told anew.
async fn anew(server: &MockServer, labels: &[&str], response: ResponseTemplate) {
    server.reset().await;
    info(server, "ACTIVE", 1_795_000_000_000).await;
    nodes(server, labels).await;
    answer(server, LABELS, response).await;
}

fn good() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(told())
}

/// The nodes that are for those alone who ask for their label.
async fn exclusive(rm: &Rm) -> Vec<String> {
    let told = rm.nodes(None).await.unwrap().what;
    told.iter().filter(|node| node.exclusive).map(|node| node.host.to_string()).collect()
}

async fn asked(server: &MockServer, path: &str) -> usize {
    server.received_requests().await.unwrap().iter().filter(|request| request.url.path() == path).count()
}

#[tokio::test]
async fn labels_are_not_asked_for_at_each_listing_but_when_there_is_a_new_one() {
    let (server, fixture) = rm().await;
    let rm = &fixture.clients.rm;
    anew(&server, &[""], good()).await;
    assert!(exclusive(rm).await.is_empty());
    assert_eq!(asked(&server, LABELS).await, 0, "no node has one");
    anew(&server, &["gpu", "core", "untold"], good()).await;
    for rm in [rm.clone(), rm.clone(), rm.clone()] {
        assert_eq!(exclusive(&rm).await, ["gpu"]);
    }
    assert_eq!(asked(&server, LABELS).await, 1);
    anew(&server, &["gpu", "new"], good()).await;
    assert_eq!((exclusive(rm).await, asked(&server, LABELS).await), (vec!["gpu".to_owned()], 1));
}

#[tokio::test]
async fn what_was_told_stands_where_asking_fails_then() {
    let (server, fixture) = rm().await;
    let rm = &fixture.clients.rm;
    anew(&server, &["gpu", "core"], good()).await;
    assert_eq!(exclusive(rm).await, ["gpu"]);
    for failed in 1..=2 {
        anew(&server, &["gpu", "core", "new"], ResponseTemplate::new(500)).await;
        assert_eq!(exclusive(rm).await, ["gpu"]);
        assert_eq!(fixture.outcome("rm_node_labels", "server_error"), 1, "not again at once: {failed}");
    }
}

#[tokio::test]
async fn labels_that_are_told_only_later_count_from_then_on() {
    let server = mock_server().await;
    let soon = HttpParams { aside_timeout: Duration::from_millis(500), ..params() };
    let fixture = fixture(&[server.uri()], None, soon);
    let rm = &fixture.clients.rm;
    anew(&server, &["gpu", "core"], ResponseTemplate::new(503)).await;
    assert!(exclusive(rm).await.is_empty());
    anew(&server, &["gpu", "core"], good()).await;
    let began = Instant::now();
    while exclusive(rm).await.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(exclusive(rm).await, ["gpu"]);
}

#[tokio::test]
async fn neither_is_the_resource_manager_doubted_for_its_labels_nor_another_taken_for_active() {
    let other = mock_server().await;
    info(&other, "STANDBY", 1).await;
    let to = format!("{}{LABELS}", other.uri());
    for (response, outcome) in [
        (ResponseTemplate::new(500), "server_error"),
        (ResponseTemplate::new(403), "forbidden"),
        (not_found(), "not_found"),
        (ResponseTemplate::new(307).insert_header("Location", to.as_str()), "standby"),
        (ResponseTemplate::new(307), "redirect_without_location"),
        (ResponseTemplate::new(200).set_body_json(json!({"else": 1})), "unexpected"),
    ] {
        let server = mock_server().await;
        let fixture = fixture(&[server.uri(), other.uri()], None, params());
        anew(&server, &["gpu"], response).await;
        for _ in 0..3 {
            assert!(exclusive(&fixture.clients.rm).await.is_empty());
        }
        assert_eq!(fixture.outcome("rm_node_labels", outcome), 1, "{outcome}");
        assert_eq!(asked(&server, "/ws/v1/cluster/info").await, 1, "{outcome}");
        assert_eq!((asked(&server, NODES).await, fixture.clients.rm.active().to_string()), (3, server.uri()));
    }
    assert!(other.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn names_alone_as_hadoop_2_7_tells_them_are_no_error_and_take_nothing_back() {
    let xml = "<nodeLabelsInfo><nodeLabels>gpu</nodeLabels><nodeLabels>core</nodeLabels></nodeLabelsInfo>";
    for body in [
        r#"{"nodeLabels":["gpu","core"]}"#,
        r#"{"nodeLabels":"gpu"}"#,
        r#"{"nodeLabelsInfo":{"nodeLabels":["gpu","core"]}}"#,
        xml,
    ] {
        let (server, fixture) = rm().await;
        let names = || ResponseTemplate::new(200).set_body_string(body);
        anew(&server, &["gpu", "core"], names()).await;
        let listing = fixture.clients.rm.nodes(None).await.unwrap();
        assert!(listing.refused.is_empty() && listing.what.iter().all(|node| !node.exclusive), "{body}");
        assert!(exclusive(&fixture.clients.rm).await.is_empty());
        assert_eq!((fixture.outcome("rm_node_labels", "ok"), asked(&server, LABELS).await), (1, 1), "{body}");
        anew(&server, &["gpu", "core", "new"], good()).await;
        assert_eq!(exclusive(&fixture.clients.rm).await, ["gpu"]);
        anew(&server, &["gpu", "core", "newer"], names()).await;
        assert_eq!(exclusive(&fixture.clients.rm).await, ["gpu"]);
        assert_eq!(fixture.outcome("rm_node_labels", "ok"), 3, "{body}");
    }
}

#[tokio::test]
async fn labels_that_hang_hold_up_one_listing_for_seconds_and_none_after_it() {
    let server = mock_server().await;
    let fixture =
        fixture(&[server.uri()], None, HttpParams { aside_timeout: HttpParams::default().aside_timeout, ..params() });
    anew(&server, &["gpu"], good().set_delay(Duration::from_secs(60))).await;
    let began = Instant::now();
    assert!(exclusive(&fixture.clients.rm).await.is_empty());
    let first = began.elapsed();
    assert!(first >= Duration::from_secs(2) && first < Duration::from_secs(30), "{first:?}");
    exclusive(&fixture.clients.rm).await;
    assert_eq!(fixture.outcome("rm_node_labels", "timeout"), 1);
    assert_eq!((asked(&server, LABELS).await, asked(&server, "/ws/v1/cluster/info").await), (1, 1));
}

#[tokio::test]
async fn what_is_refused_of_labels_counts_with_the_listing_they_were_asked_for() {
    let (server, fixture) = rm().await;
    let odd = json!({"nodeLabelInfo": [{"name": "gpu", "exclusivity": true}, "core", 7]});
    anew(&server, &["gpu"], ResponseTemplate::new(200).set_body_json(odd)).await;
    for odd in [2, 0] {
        let told = fixture.clients.rm.nodes(None).await.unwrap();
        assert_eq!(told.refused.count(drover::yarn::facts::Reason::NoObject), odd);
        assert!(told.what[0].exclusive);
    }
}
