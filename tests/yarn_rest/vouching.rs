use crate::fake::*;
use drover::yarn::vouch::{Vouch, Vouched};
use serde_json::json;

#[tokio::test]
async fn owner_state_and_run_come_from_the_resource_manager_and_diagnostics_from_the_master() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    let app = apps()["apps"]["app"][0].clone();
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), json!({"app": app.clone()})).await;
    let vouch = Vouch::new(&fixture.clients);
    let vouched = vouch.application(job().0).await.unwrap();
    let (owner, queue) = ("ada".into(), app["queue"].as_str().map(str::to_owned));
    assert!(queue.is_some());
    assert_eq!(vouched, Vouched { owner, queue, state: "RUNNING".into(), attempt: Some(1) });
    assert!(vouched.is_running());
    assert_eq!(vouch.job_diagnostics(job()).await.unwrap(), "drover 00ff");
}

#[tokio::test]
async fn the_run_is_asked_for_where_the_application_does_not_show_it() {
    let (server, fixture) = rm().await;
    let mut app = apps()["apps"]["app"][0].clone();
    app["amContainerLogs"] = json!(null);
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), json!({"app": app})).await;
    let attempts = json!({"appAttempts": {"appAttempt": [{"id": 1}, {"id": 2}]}});
    get(&server, &format!("/ws/v1/cluster/apps/{APP}/appattempts"), attempts).await;
    let vouched = Vouch::new(&fixture.clients).application(job().0).await.unwrap();
    assert_eq!(vouched.attempt, Some(2));
}

#[tokio::test]
async fn another_application_or_job_in_the_answer_vouches_for_nothing() {
    let (server, fixture) = rm().await;
    let other = json!({"app": {"id": "application_1795000000000_0008", "user": "eve", "state": "RUNNING"}});
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), other).await;
    get(&server, &am(""), json!({"job": {"id": "job_1795000000000_0008", "diagnostics": "drover 00ff"}})).await;
    let vouch = Vouch::new(&fixture.clients);
    assert_eq!(vouch.application(job().0).await.unwrap_err().label(), "unexpected");
    assert_eq!(vouch.job_diagnostics(job()).await.unwrap_err().label(), "unexpected");
}
