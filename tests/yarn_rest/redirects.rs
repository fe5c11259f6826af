use crate::fake::*;
use drover::yarn::error::Kind;
use wiremock::ResponseTemplate;

fn to(status: u16, location: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).insert_header("Location", location)
}

#[tokio::test]
async fn a_redirect_to_a_foreign_host_is_never_followed() {
    let stranger = mock_server().await;
    for status in [301, 302, 303, 307, 308] {
        let (server, fixture) = rm().await;
        answer(&server, &am("/tasks"), to(status, &format!("{}/steal", stranger.uri()))).await;
        answer(&server, "/ws/v1/cluster/apps", to(status, &format!("{}/steal", stranger.uri()))).await;
        let error = fixture.clients.am.tasks(None, job()).await.unwrap_err();
        assert_eq!(error.label(), "foreign_redirect");
        assert!(error.to_string().contains(&stranger.uri()), "{error}");
        assert_eq!(fixture.clients.rm.apps(None).await.unwrap_err().label(), "foreign_redirect");
    }
    assert!(stranger.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_finished_job_is_told_by_the_proxys_redirect_which_is_not_followed_either() {
    let jhs = mock_server().await;
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks"), to(302, &format!("{}/jobhistory/job/{JOB}/ws/v1/mapreduce", jhs.uri()))).await;
    assert_eq!(fixture.clients.am.tasks(None, job()).await.unwrap_err().kind, Kind::AppFinished);
    assert!(jhs.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_master_that_is_not_up_yet_is_told_apart_from_one_that_has_finished() {
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks"), to(302, &format!("{}/cluster/app/{APP}", server.uri()))).await;
    assert_eq!(fixture.clients.am.tasks(None, job()).await.unwrap_err().kind, Kind::AppNotServed);
}

#[tokio::test]
async fn a_redirect_without_a_location_is_named() {
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks"), ResponseTemplate::new(307)).await;
    assert_eq!(fixture.clients.am.tasks(None, job()).await.unwrap_err().label(), "redirect_without_location");
}
