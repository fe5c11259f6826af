use crate::fake::*;
use drover::yarn::http::HttpParams;
use drover::yarn::limit::{Ceiling, Ceilings};
use drover::yarn::poll::Poller;
use drover::yarn::poll::once::{Looker, Once};
use drover::yarn::schedule::{ScheduleParams, Wants};
use drover_core::model::*;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

#[derive(Default)]
pub struct Suspicious {
    has_shim: AtomicBool,
    may_kill: Option<bool>,
}

impl Wants for Suspicious {
    fn known(&self) -> Vec<JobId> {
        Vec::new()
    }
    fn suspects(&self, job: JobId, _: usize) -> Vec<TaskId> {
        vec![job.task(TaskKind::Map, 0)]
    }
    fn counters(&self, job: JobId, _: usize) -> Vec<AttemptId> {
        vec![job.task(TaskKind::Map, 0).attempt(0)]
    }
    fn has_shim(&self, _: JobId) -> bool {
        self.has_shim.load(Ordering::Relaxed)
    }
    fn may_kill(&self, _: JobId) -> Option<bool> {
        self.may_kill
    }
    fn settings_known(&self, _: JobId) -> bool {
        self.has_shim.load(Ordering::Relaxed)
    }
}

pub fn fast() -> ScheduleParams {
    ScheduleParams {
        apps: Millis(50),
        totals: Millis(50),
        nodes: Millis(50),
        queues: Millis(50),
        tasks_soon: Millis(50),
        settings_after: Millis(1),
        // However long a busy machine takes for an answer, the next is asked for soon.
        busy_share: 1.0,
        ..ScheduleParams::default()
    }
}

/// Polls until `enough`, for at most twenty seconds.
pub async fn poll(
    fixture: &Fixture,
    wants: Arc<Suspicious>,
    enough: impl FnMut(&[Observation]) -> bool,
) -> Vec<Observation> {
    poll_as(fast(), fixture, wants, enough).await
}

/// The same, as those parameters say.
pub async fn poll_as(
    params: ScheduleParams,
    fixture: &Fixture,
    wants: Arc<Suspicious>,
    mut enough: impl FnMut(&[Observation]) -> bool,
) -> Vec<Observation> {
    let (out, mut taken) = mpsc::channel(64);
    let stop = CancellationToken::new();
    let poller = tokio::spawn(Poller::new(fixture.clients.clone(), params, wants, out).run(stop.clone()));
    let mut seen = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        while !enough(&seen) {
            seen.push(taken.recv().await.unwrap());
        }
    });
    let ended = ended.await;
    stop.cancel();
    poller.await.unwrap();
    let kinds: std::collections::BTreeSet<_> = seen.iter().map(kind).collect();
    assert!(ended.is_ok(), "not seen in time; seen: {kinds:?}");
    seen
}

pub fn kind(o: &Observation) -> &'static str {
    match &o.fact {
        Fact::Cluster(_) => "cluster",
        Fact::Nodes(_) => "nodes",
        Fact::Queues(_) => "queues",
        Fact::Apps(_) => "apps",
        Fact::Job(_) => "job",
        Fact::Settings(..) => "settings",
        Fact::Tasks { .. } => "tasks",
        Fact::Attempts { .. } => "attempts",
        Fact::Needs { .. } => "needs",
        Fact::ShimSession(..) => "shim",
        Fact::Hidden(_) => "hidden",
        Fact::Can(..) => "can",
        Fact::Ended(_) => "ended",
        Fact::Ending(_) => "ending",
        _ => "own",
    }
}

pub fn has(seen: &[Observation], kinds: &[&str]) -> bool {
    kinds.iter().all(|k| seen.iter().any(|o| kind(o) == *k))
}

#[tokio::test]
async fn a_running_job_gives_every_kind_of_fact_with_the_right_source_and_the_ams_clock() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    let all = ["cluster", "nodes", "queues", "apps", "job", "needs", "settings", "tasks", "attempts"];
    let seen = poll(&fixture, Arc::default(), |seen| has(seen, &all)).await;
    assert!(seen.windows(2).all(|two| two[0].seq < two[1].seq), "sequences rise");
    let of = |k: &str| seen.iter().find(|o| kind(o) == k).unwrap();
    let (apps, tasks) = (of("apps"), of("tasks"));
    assert_eq!((apps.source.channel, apps.source.incarnation), (Channel::Rm, 1_795_000_000_000));
    assert_eq!((tasks.source.channel, tasks.source.app, tasks.source.incarnation), (Channel::Am, Some(job().0), 1));
    assert_eq!(apps.at, Time(1_795_000_120_000));
    assert_eq!(tasks.at, Time(1_795_000_120_000));
    let Fact::Tasks { tasks, complete, .. } = &tasks.fact else { unreachable!() };
    assert!(complete);
    assert_eq!((tasks[0].score, tasks[0].state), (Some(0.4), Some(TaskState::Running)));
    assert_eq!(tasks[1].started, None, "a scheduled task has not started");
    let Fact::Attempts { attempts, .. } = &of("attempts").fact else { unreachable!() };
    assert_eq!(attempts[0].host.as_deref(), Some("n2"));
    assert_eq!((attempts[0].score, attempts[0].scored_at), (Some(0.4), None));
    assert_eq!(attempts[1].score, None, "the progress of a killed attempt says nothing");
    let Fact::Settings(_, settings) = &of("settings").fact else { unreachable!() };
    assert!(!settings.map_speculation);
    assert_eq!(settings.report_interval, Millis(3_000));
    let summary = seen.iter().position(|o| kind(o) == "job").unwrap();
    let Fact::Needs { maps, reduces, native_copies, .. } = seen[summary + 1].fact else { unreachable!() };
    assert_eq!((maps, reduces, native_copies), (1, 0, 1));
}

#[tokio::test]
async fn counters_that_are_wanted_come_as_facts_that_tell_nothing_else() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    let told = |o: &Observation| match &o.fact {
        Fact::Attempts { job, attempts } => attempts.iter().find(|a| a.is_counters_only(*job)).cloned(),
        _ => None,
    };
    let seen = poll(&fixture, Arc::default(), |seen| seen.iter().any(|o| told(o).is_some())).await;
    assert_eq!(seen.iter().find_map(told).unwrap().counters.read, Some(Bytes(4_000_000)));
}

#[tokio::test]
async fn a_job_whose_tasks_may_not_be_viewed_is_told_of_and_one_look_tells_it_too() {
    for (status, body) in
        [(401, json!({})), (503, json!({"RemoteException": {"exception": "WebApplicationException"}}))]
    {
        let (server, fixture) = rm().await;
        answer(&server, &am("/tasks"), ResponseTemplate::new(status).set_body_json(body)).await;
        running_job(&server).await;
        let seen = poll(&fixture, Arc::default(), |seen| has(seen, &["hidden"])).await;
        let hidden = seen.iter().find(|o| kind(o) == "hidden").unwrap();
        assert_eq!((&hidden.fact, hidden.source.incarnation), (&Fact::Hidden(job()), 1));
        let mut collect = Collect(Vec::new());
        let round = Once::new(&fixture.clients).round(None, 5, &mut collect).await.unwrap();
        assert_eq!(round.failed.len(), 1);
        assert!(has(&collect.0, &["hidden"]));
    }
}

#[tokio::test]
async fn a_job_of_which_one_attempt_cannot_be_read_is_read_all_the_same() {
    let (server, fixture) = rm().await;
    answer(&server, &am("/tasks/task_1795000000000_0007_m_000000/attempts"), not_found()).await;
    running_job(&server).await;
    let mut collect = Collect(Vec::new());
    let round = Once::new(&fixture.clients).round(None, 5, &mut collect).await.unwrap();
    assert_eq!((round.jobs, round.failed.len()), (1, 0));
    assert_eq!(fixture.outcome("am_attempts", "not_found"), 1);
    assert!(has(&collect.0, &["tasks"]));
}

/// A running job beside the one that all else is about.
async fn another_running_job(server: &MockServer) -> JobId {
    let other = |text: &str| text.replace("_0007", "_0008");
    let mut both = apps();
    let second = other(&both["apps"]["app"][0].to_string()).parse::<serde_json::Value>().unwrap();
    both["apps"]["app"].as_array_mut().unwrap().push(second);
    get(server, "/ws/v1/cluster/apps", both).await;
    let attempts = json!({"taskAttempts": {"taskAttempt": [attempt(0, "RUNNING", 40.0)]}});
    for (path, answer) in [
        ("", summary("RUNNING")),
        ("/conf", conf()),
        ("/tasks", tasks(&[task(0, json!(40.0), "RUNNING")])),
        ("/tasks/task_1795000000000_0007_m_000000/attempts", attempts),
    ] {
        get(server, &other(&am(path)), other(&answer.to_string()).parse().unwrap()).await;
    }
    other(JOB).parse().unwrap()
}

#[tokio::test]
async fn a_master_that_wants_a_pause_or_speaks_as_a_standby_keeps_no_other_job_from_being_polled() {
    let standby = "This is standby RM. The redirect url is: http://elsewhere/\n";
    let there = |server: &MockServer| format!("{}/elsewhere", server.uri());
    for kind in ["429", "text", "redirect"] {
        let (server, fixture) = rm().await;
        let response = match kind {
            "429" => ResponseTemplate::new(429).insert_header("Retry-After", "120"),
            "text" => ResponseTemplate::new(200).set_body_string(standby),
            _ => ResponseTemplate::new(307).insert_header("Location", there(&server).as_str()).set_body_string(standby),
        };
        for path in ["/tasks", "", "/conf", "/jobattempts"] {
            answer(&server, &am(path), response.clone()).await;
        }
        let other = another_running_job(&server).await;
        running_job(&server).await;
        let listed = |seen: &[Observation], job| {
            seen.iter().filter(|o| matches!(&o.fact, Fact::Tasks { job: of, .. } if *of == job)).count()
        };
        let seen = poll(&fixture, Arc::default(), |seen| listed(seen, other) >= 10).await;
        assert_eq!(listed(&seen, job()), 0);
        let requests = server.received_requests().await.unwrap();
        let of_job = requests.iter().filter(|request| request.url.path().starts_with(&am(""))).count();
        assert!(of_job <= if kind == "429" { 4 } else { 8 }, "{kind}: it is asked {of_job} times meanwhile");
    }
}

#[tokio::test]
async fn a_master_that_hangs_gives_up_its_places_to_jobs_whose_masters_answer_long_before_its_timeout() {
    let server = mock_server().await;
    info(&server, "ACTIVE", 5).await;
    for path in ["/tasks", "", "/conf"] {
        answer(&server, &am(path), ResponseTemplate::new(200).set_delay(Duration::from_secs(600))).await;
    }
    let other = another_running_job(&server).await;
    running_job(&server).await;
    let both = Ceiling { in_flight: 2, ..params().ceilings.proxy };
    let ceilings = Ceilings { proxy: both, ..params().ceilings };
    let fixture = fixture(&[server.uri()], None, HttpParams { ceilings, ..params() });
    let given_up = || fixture.count("drover_rest_limits_total", &[("limit", "outrun")]);
    let mut listed_after = 0;
    poll(&fixture, Arc::default(), |seen| {
        let is_listed = |o: &Observation| matches!(&o.fact, Fact::Tasks { job: of, .. } if *of == other);
        listed_after += usize::from(given_up() >= 2 && seen.last().is_some_and(is_listed));
        listed_after >= 3
    })
    .await;
}

#[tokio::test]
async fn what_may_be_killed_is_told_of_each_job_and_nothing_is_where_nobody_allows_it() {
    for may_kill in [Some(true), Some(false), None] {
        let (server, fixture) = rm().await;
        running_job(&server).await;
        let wants = Suspicious { may_kill, ..Suspicious::default() };
        let seen = poll(&fixture, Arc::new(wants), |seen| has(seen, &["job", "needs", "tasks", "attempts"])).await;
        let can = seen.iter().find_map(|o| if let Fact::Can(of, can) = o.fact { Some((of, can)) } else { None });
        assert_eq!(can, may_kill.map(|restart| (job(), Capabilities { restart, ..Capabilities::NONE })));
        let kills = fixture.count("drover_rest_requests_total", &[("endpoint", "am_kill")]);
        assert_eq!(kills, 0);
    }
}

#[tokio::test]
async fn a_resourcemanager_that_does_not_tell_its_applications_is_none_that_answers() {
    for status in [401, 503] {
        let (server, fixture) = rm().await;
        running_job(&server).await;
        let answers = || fixture.clients.http.metrics().rm_answers();
        poll(&fixture, Arc::default(), |seen| has(seen, &["apps"])).await;
        assert!(answers());
        let refused = Mock::given(method("GET")).and(path("/ws/v1/cluster/apps"));
        refused.respond_with(ResponseTemplate::new(status)).with_priority(1).mount(&server).await;
        let told = |seen: &[Observation]| has(seen, &["cluster", "nodes", "queues"]) && !answers();
        poll(&fixture, Arc::default(), told).await;
    }
}

#[tokio::test]
async fn configuration_is_read_once_and_tasks_again_and_again() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    let many =
        |seen: &[Observation]| seen.iter().filter(|o| kind(o) == "tasks").count() >= 8 && has(seen, &["settings"]);
    poll(&fixture, Arc::default(), many).await;
    assert_eq!(fixture.outcome("am_conf", "ok"), 1);
    assert_eq!(fixture.outcome("am_job", "ok"), 1);
}

#[tokio::test]
async fn ceilings_of_one_at_a_time_slow_the_poller_and_do_not_stop_it() {
    let server = mock_server().await;
    info(&server, "ACTIVE", 5).await;
    running_job(&server).await;
    let one = Ceiling { per_second: 200.0, burst: 1, in_flight: 1, body_bytes: 1 << 20 };
    let ceilings = Ceilings { rm: one, proxy: one, history: one };
    let fixture = fixture(&[server.uri()], None, HttpParams { ceilings, ..params() });
    poll(&fixture, Arc::default(), |seen| has(seen, &["cluster", "nodes", "queues", "apps", "tasks", "attempts"]))
        .await;
}

#[tokio::test]
async fn a_job_with_a_live_shim_is_not_asked_for_what_the_shim_tells() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    let wants = Arc::new(Suspicious { has_shim: AtomicBool::new(true), ..Suspicious::default() });
    poll(&fixture, wants, |seen| seen.iter().filter(|o| kind(o) == "apps").count() >= 5).await;
    let to_am = server.received_requests().await.unwrap().iter().filter(|r| r.url.path().starts_with("/proxy")).count();
    assert_eq!(to_am, 0);
}

struct Collect(Vec<Observation>);

impl Looker for Collect {
    fn observe(&mut self, observation: Observation) {
        self.0.push(observation);
    }
    fn suspects(&mut self, job: JobId, _: usize) -> Vec<TaskId> {
        assert!(has(&self.0, &["tasks"]), "suspects are asked for after the tasks are known");
        vec![job.task(TaskKind::Map, 0)]
    }
    fn counters(&mut self, job: JobId, _: usize) -> Vec<AttemptId> {
        vec![job.task(TaskKind::Map, 0).attempt(0)]
    }
}

#[tokio::test]
async fn one_look_reads_everything_and_a_second_one_not_the_configuration_again() {
    let (server, fixture) = rm().await;
    running_job(&server).await;
    let mut collect = Collect(Vec::new());
    let mut once = Once::new(&fixture.clients);
    for _ in 0..2 {
        let round = once.round(None, 5, &mut collect).await.unwrap();
        assert_eq!((round.jobs, round.failed.len()), (1, 0));
    }
    let all = ["cluster", "nodes", "queues", "apps", "job", "needs", "settings", "tasks", "attempts"];
    assert!(has(&collect.0, &all));
    assert_eq!(fixture.outcome("am_conf", "ok"), 1);
    assert_eq!(fixture.outcome("am_tasks", "ok"), 2);
}
