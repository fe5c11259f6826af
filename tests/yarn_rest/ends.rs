//! How a job's end is read, of whom, and what becomes of it where not all can be.

use crate::fake::*;
use crate::polling::{fast, has, kind, poll, poll_as};
use drover::yarn::http::HttpParams;
use drover::yarn::limit::{Ceiling, Ceilings};
use drover::yarn::schedule::ScheduleParams;
use drover_core::model::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

/// The job is listed once, and then no more.
async fn listed_once(server: &MockServer) {
    let first = wiremock::Mock::given(wiremock::matchers::path("/ws/v1/cluster/apps"));
    first.respond_with(ResponseTemplate::new(200).set_body_json(apps())).up_to_n_times(1).mount(server).await;
    get(server, "/ws/v1/cluster/apps", json!({"apps": null})).await;
}

#[tokio::test]
async fn a_job_that_a_gateway_does_not_find_for_a_while_has_not_ended() {
    let (server, _) = rm().await;
    let fixture = fixture(&[server.uri()], None, params());
    listed_once(&server).await;
    running_job(&server).await;
    let page = "<html><head><title>404 Not Found</title></head></html>";
    let app = wiremock::Mock::given(wiremock::matchers::path(format!("/ws/v1/cluster/apps/{APP}")));
    app.respond_with(ResponseTemplate::new(404).set_body_string(page)).up_to_n_times(1).mount(&server).await;
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), json!({"app": {"id": APP, "state": "KILLED"}})).await;
    let seen = poll(&fixture, Arc::default(), |seen| has(seen, &["ended"])).await;
    let ended = seen.iter().find(|o| kind(o) == "ended").unwrap();
    let Fact::Ended(end) = &ended.fact else { unreachable!() };
    assert_eq!(end.state, Some(JobPhase::Killed), "the page was taken for its end");
}

#[tokio::test]
async fn a_job_that_the_proxy_redirects_to_its_history_is_read_there_once_it_has_arrived() {
    let (server, fixture) = rm().await;
    get(&server, "/ws/v1/cluster/apps", apps()).await;
    let to =
        ResponseTemplate::new(302).insert_header("Location", format!("http://h:19888/jobhistory/job/{JOB}").as_str());
    answer(&server, &am("/tasks"), to).await;
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), json!({"app": {"id": APP, "state": "FINISHED"}})).await;
    // The first answer of the history server is that it does not know the job yet.
    let job = wiremock::matchers::path(jhs(""));
    let not_yet = wiremock::Mock::given(job).respond_with(not_found()).up_to_n_times(1);
    not_yet.mount(&server).await;
    history(&server, "SUCCEEDED").await;
    let seen = poll(&fixture, Arc::default(), |seen| has(seen, &["ended"])).await;
    let ended = seen.iter().find(|o| kind(o) == "ended").unwrap();
    assert_eq!(ended.source.channel, Channel::History);
    let Fact::Ended(end) = &ended.fact else { unreachable!() };
    assert_eq!(end.state, Some(JobPhase::Succeeded));
    let states: Vec<_> = end.attempts.iter().map(|a| (a.index, a.number, a.state.unwrap())).collect();
    let (won, lost) = (AttemptState::Succeeded, AttemptState::Killed);
    assert_eq!(states, [(0, 0, lost), (0, 1, won), (1, 0, won)]);
    assert_eq!(fixture.outcome("history_job", "not_found"), 1);
}

#[tokio::test]
async fn a_job_without_history_ends_by_what_the_resource_manager_says() {
    let server = mock_server().await;
    info(&server, "ACTIVE", 5).await;
    let fixture = fixture(&[server.uri()], None, params());
    listed_once(&server).await;
    let app =
        json!({"app": {"id": APP, "state": "KILLED", "finalStatus": "KILLED", "finishedTime": 1_795_000_200_000u64}});
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), app).await;
    let seen = poll(&fixture, Arc::default(), |seen| has(seen, &["ended"])).await;
    let Fact::Ended(end) = &seen.last().unwrap().fact else { unreachable!() };
    assert_eq!((end.state, end.finished), (Some(JobPhase::Killed), Some(Time(1_795_000_200_000))));
}

#[tokio::test]
async fn a_job_is_told_to_be_ending_from_the_listing_that_lacks_it_until_its_end_is_read() {
    let server = mock_server().await;
    info(&server, "ACTIVE", 5).await;
    let fixture = fixture(&[server.uri()], Some(server.uri()), params());
    listed_once(&server).await;
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), json!({"app": {"id": APP, "state": "FINISHED"}})).await;
    let early = wiremock::Mock::given(wiremock::matchers::path(jhs(""))).respond_with(not_found());
    early.up_to_n_times(1).mount(&server).await;
    history(&server, "SUCCEEDED").await;
    let all = |seen: &[Observation]| seen.iter().filter(|o| kind(o) == "ending").count() == 2;
    let seen = poll(&fixture, Arc::default(), all).await;
    let told = |o: &Observation| match &o.fact {
        Fact::Ending(jobs) => Some(("ending", jobs.clone())),
        Fact::Ended(end) => Some(("ended", vec![end.job])),
        _ => None,
    };
    let told: Vec<_> = seen.iter().filter_map(told).collect();
    assert_eq!(told, [("ending", vec![job()]), ("ended", vec![job()]), ("ending", vec![])]);
    let listed_without = seen.iter().position(|o| matches!(&o.fact, Fact::Apps(apps) if apps.is_empty()));
    assert!(seen.iter().position(|o| kind(o) == "ending") < listed_without, "it is never neither listed nor ending");
}

async fn history(server: &MockServer, state: &str) {
    let job = json!({"job": {"id": JOB, "state": state, "startTime": 1_795_000_104_000u64, "finishTime": 1_795_000_140_000u64}});
    get(server, &jhs(""), job).await;
    let task = |index: u32, winner: u32| {
        json!({"id": format!("task_1795000000000_0007_m_{index:06}"), "state": "SUCCEEDED", "type": "MAP", "progress": 100.0,
            "startTime": 1_795_000_105_000u64, "finishTime": 1_795_000_135_000u64, "elapsedTime": 30_000,
            "successfulAttempt": format!("attempt_1795000000000_0007_m_{index:06}_{winner}")})
    };
    get(server, &jhs("/tasks"), tasks(&[task(0, 1), task(1, 0)])).await;
    let attempts =
        json!({"taskAttempts": {"taskAttempt": [attempt(0, "KILLED", 100.0), attempt(1, "SUCCEEDED", 100.0)]}});
    get(server, &jhs("/tasks/task_1795000000000_0007_m_000000/attempts"), attempts).await;
}

#[tokio::test]
async fn a_history_of_another_user_is_not_taken_for_the_jobs_and_the_resourcemanagers_word_stands() {
    let server = mock_server().await;
    info(&server, "ACTIVE", 5).await;
    let fixture = fixture(&[server.uri()], Some(server.uri()), params());
    listed_once(&server).await;
    let killed = json!({"app": {"id": APP, "state": "KILLED", "finalStatus": "KILLED"}});
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), killed).await;
    get(&server, &jhs(""), json!({"job": {"id": JOB, "user": "eve", "state": "SUCCEEDED"}})).await;
    history(&server, "SUCCEEDED").await;
    let schedule = ScheduleParams { history_patience: Millis(1_000), ..fast() };
    let seen = poll_as(schedule, &fixture, Arc::default(), |seen| has(seen, &["ended"])).await;
    let told = seen.into_iter().find(|o| kind(o) == "ended").unwrap();
    let Fact::Ended(end) = &told.fact else { unreachable!() };
    assert_eq!((told.source.channel, end.state), (Channel::Rm, Some(JobPhase::Killed)));
    let refused = [("channel", "history"), ("reason", "foreign")];
    assert!(fixture.count("drover_facts_refused_total", &refused) > 0);
}

/// A job that is listed once and has a history whose listing of tasks is answered like that; how its end is told in time.
async fn told_without_tasks(listing: ResponseTemplate, params: HttpParams, schedule: ScheduleParams) -> Observation {
    let server = mock_server().await;
    info(&server, "ACTIVE", 5).await;
    let fixture = fixture(&[server.uri()], Some(server.uri()), params);
    listed_once(&server).await;
    get(&server, &format!("/ws/v1/cluster/apps/{APP}"), json!({"app": {"id": APP, "state": "FINISHED"}})).await;
    answer(&server, &jhs("/tasks"), listing).await;
    history(&server, "SUCCEEDED").await;
    let seen = poll_as(schedule, &fixture, Arc::default(), |seen| has(seen, &["ended"])).await;
    seen.into_iter().find(|o| kind(o) == "ended").unwrap()
}

fn is_of_history(told: &Observation) {
    let Fact::Ended(end) = &told.fact else { unreachable!() };
    assert_eq!((told.source.channel, end.state), (Channel::History, Some(JobPhase::Succeeded)));
    assert_eq!((end.finished, end.attempts.len()), (Some(Time(1_795_000_140_000)), 0));
}

#[tokio::test]
async fn an_end_is_not_lost_where_the_listing_of_its_tasks_is_too_large() {
    let small = Ceiling { body_bytes: 4_096, ..params().ceilings.history };
    let params = HttpParams { ceilings: Ceilings { history: small, ..params().ceilings }, ..params() };
    let listing = ResponseTemplate::new(200).set_body_string("[".repeat(10_000));
    is_of_history(&told_without_tasks(listing, params, fast()).await);
}

#[tokio::test]
async fn an_end_is_not_lost_where_the_listing_of_its_tasks_never_comes_in_time() {
    let params = HttpParams { timeout: Duration::from_millis(300), ..params() };
    let listing = ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    let schedule = ScheduleParams { history_patience: Millis(1_000), ..fast() };
    is_of_history(&told_without_tasks(listing, params, schedule).await);
}
