use super::*;
use crate::shim::fixture::decision;
use crate::yarn::discover::{Cluster, Overrides};
use crate::yarn::http::HttpParams;
use crate::yarn::metrics::Metrics;
use crate::yarn::poll::Clients;
use drover_core::model::Millis;
use drover_core::model::{Action, Numbers, Observation, TaskId, TaskKind};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use wiremock::matchers::{body_json, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const JOB: &str = "job_1795000000000_0007";
const BASE: &str = "/proxy/application_1795000000000_0007/ws/v1/mapreduce/jobs/job_1795000000000_0007/tasks/task_1795000000000_0007_m_000003/attempts";

fn task() -> TaskId {
    JOB.parse::<JobId>().unwrap().task(TaskKind::Map, 3)
}

/// A restart of the task's first attempt, decided on at a fifth of its way, and worth it until half of it.
fn order(id: u64) -> Decision {
    let (time_left, fresh_copy) = (Some(Millis(80_000)), Some(Millis(50_000)));
    let numbers = Numbers { score: 0.2, time_left, fresh_copy, ..Numbers::default() };
    Decision { id, numbers, ..decision(task(), Action::Restart, clock::now()) }
}

fn attempt(number: u32, state: &str, percent: f64) -> Value {
    json!({"id": task().attempt(number).to_string(), "state": state, "progress": percent, "status": "map",
        "startTime": 1_795_000_105_000_u64, "finishTime": 0, "elapsedTime": 15_000, "type": "MAP", "nodeHttpAddress": "n2:8042"})
}

#[test]
fn where_nothing_was_asked_of_a_job_its_attempt_may_be_killed_later() {
    assert_eq!(counts_for(&Kind::Unreachable("refused".into())), Some(0));
    assert_eq!(counts_for(&Kind::Standby { active: None }), Some(0));
    assert_eq!(counts_for(&Kind::Timeout(Duration::ZERO)), None, "it may have been");
}

/// Restarts through the ResourceManager there, and what they tell the engine.
pub fn restarts_at(rm: String) -> (Restarts, mpsc::Receiver<Observation>) {
    let cluster = Cluster::discover(None, &Overrides { rms: vec![rm], ..Overrides::default() }).unwrap();
    let clients = Clients::new(&cluster, HttpParams::default(), Metrics::unregistered().unwrap()).unwrap();
    let (out, facts) = mpsc::channel(16);
    (Restarts::new(clients.am, Arc::new(Own::new(7, 1, out))), facts)
}

impl Restarts {
    /// Orders that have been taken and not carried out.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// The job's kills have been turned down as often as it takes.
    pub fn not_permitted(&self, job: JobId) {
        self.lock().turn_down(job, TURNED_DOWN_MAX);
    }
}

/// A master whose task has these attempts, and what becomes of orders there.
struct Master {
    server: MockServer,
    restarts: Arc<Restarts>,
    facts: mpsc::Receiver<Observation>,
    stop: CancellationToken,
}

impl Master {
    async fn with(attempts: &[Value]) -> Master {
        let server = MockServer::start().await;
        let told = json!({"taskAttempts": {"taskAttempt": attempts}});
        let listing = ResponseTemplate::new(200).set_body_json(told);
        Mock::given(method("GET")).and(path(BASE)).respond_with(listing).mount(&server).await;
        let info = json!({"clusterInfo": {"startedOn": 1, "haState": "ACTIVE", "hadoopVersion": "3.4.3"}});
        let info = ResponseTemplate::new(200).set_body_json(info);
        Mock::given(method("GET")).and(path("/ws/v1/cluster/info")).respond_with(info).mount(&server).await;
        let (restarts, facts) = restarts_at(server.uri());
        // However slow the machine is, no answer is too old.
        let (apart, patient) = (Duration::from_millis(1), Duration::from_secs(60));
        let restarts = Arc::new(Restarts { apart, fresh: patient, killing: patient, ..restarts });
        Master { server, restarts, facts, stop: CancellationToken::new() }
    }

    /// The same where restarts are carried out otherwise.
    fn but(mut self, change: impl FnOnce(&mut Restarts)) -> Master {
        change(Arc::get_mut(&mut self.restarts).unwrap());
        self
    }

    /// The same where what was read is ground for a kill no longer than it is in service.
    fn impatient(self) -> Master {
        self.but(|restarts| restarts.fresh = Restarts::new(restarts.am.clone(), restarts.own.clone()).fresh)
    }

    /// It tells of its task's attempts that late.
    async fn tells_after(&self, attempts: &[Value], delay: Duration) {
        let late = ResponseTemplate::new(200).set_body_json(json!({"taskAttempts": {"taskAttempt": attempts}}));
        let late = Mock::given(method("GET")).and(path(BASE)).respond_with(late.set_delay(delay));
        late.with_priority(1).mount(&self.server).await;
    }

    async fn answering(attempts: &[Value], answer: ResponseTemplate) -> Master {
        let master = Master::with(attempts).await;
        let kill = format!("{BASE}/{}/state", task().attempt(0));
        let wish = body_json(json!({"state": "KILLED"}));
        Mock::given(method("PUT")).and(path(kill)).and(wish).respond_with(answer).mount(&master.server).await;
        master
    }

    /// Carries out what waits until so many facts have been told, or, where none is to be, nothing waits any more; and answers all that was told.
    async fn told(&mut self, count: usize) -> Vec<Fact> {
        let (restarts, stop) = (self.restarts.clone(), self.stop.clone());
        let running = tokio::spawn(async move { restarts.run(stop).await });
        while count == 0 && !self.restarts.lock().waiting.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut told = Vec::new();
        loop {
            let patience = Duration::from_millis(if told.len() < count { 30_000 } else { 200 });
            match tokio::time::timeout(patience, self.facts.recv()).await {
                Ok(Some(seen)) => told.push(seen.fact),
                _ => break,
            }
        }
        running.abort();
        told
    }

    async fn kills(&self) -> usize {
        let requests = self.server.received_requests().await.unwrap();
        requests.iter().filter(|request| request.method == "PUT").count()
    }
}

/// A pause that no test sees the end of.
const HOUR: Duration = Duration::from_secs(3_600);

fn killed() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({"state": "KILLED"}))
}

fn sent(decision: u64) -> Fact {
    Fact::Sent { job: task().job, decision }
}

fn acked(decision: u64, answer: Answer) -> Fact {
    Fact::Acked(AckFact { job: task().job, decision, answer, attempts: Vec::new() })
}

#[tokio::test]
async fn a_slow_attempt_is_killed_through_the_proxy_and_never_a_second_time() {
    let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], killed()).await;
    master.restarts.take(&order(1));
    master.restarts.take(&order(2));
    let told = [sent(1), acked(1, Answer::Applied), sent(2), acked(2, Answer::AttemptEnded)];
    assert_eq!((master.told(4).await, master.kills().await), (told.to_vec(), 1));
}

#[tokio::test]
async fn a_master_that_never_answers_a_kill_keeps_no_other_order_waiting_and_is_asked_no_more_than_three_times() {
    let slow = [attempt(0, "RUNNING", 30.0)];
    let master = Master::answering(&slow, killed().set_delay(HOUR)).await;
    let mut master = master.but(|restarts| restarts.killing = Duration::from_millis(50));
    for decision in 1..=TURNED_DOWN_MAX {
        assert!(master.restarts.may(task().job), "{decision}");
        let order = order(decision.into());
        master.restarts.take(&order);
        assert_eq!(master.restarts.carry_out(&order).await, Ok(true));
        assert_eq!(master.facts.try_recv().unwrap().fact, sent(decision.into()));
        assert!(master.facts.try_recv().is_err(), "whether it was killed its attempts will show");
        master.restarts.lock().killed.clear();
    }
    assert!(!master.restarts.may(task().job));
}

#[tokio::test]
async fn the_engine_hears_of_a_kill_before_it_is_asked_for_and_of_none_that_was_not() {
    let slow = [attempt(0, "RUNNING", 30.0)];
    let mut master = Master::answering(&slow, killed().set_delay(Duration::from_secs(10))).await;
    master.restarts.take(&order(1));
    assert_eq!(master.told(1).await, [sent(1)], "its answer is still to come");
    let mut master = Master::answering(&slow, killed()).await.impatient();
    for _ in 0..master.facts.max_capacity() {
        master.restarts.own.say(clock::now(), Fact::Rival(None)).await.unwrap();
    }
    master.restarts.take(&order(1));
    let restarts = master.restarts.clone();
    let carried_out = tokio::time::timeout(Duration::from_secs(20), restarts.carry_out(&order(1))).await;
    assert_eq!((carried_out.unwrap(), master.kills().await), (Ok(false), 0), "it cannot be told of");
    while let Ok(told) = master.facts.try_recv() {
        assert_eq!(told.fact, Fact::Rival(None));
    }
}

#[tokio::test]
async fn an_answer_whose_question_is_a_second_old_is_no_ground_for_a_kill() {
    let slow = [attempt(0, "RUNNING", 30.0)];
    let mut master = Master::answering(&slow, killed()).await.impatient();
    master.tells_after(&slow, FRESH + Duration::from_millis(500)).await;
    master.restarts.take(&order(1));
    assert_eq!((master.told(0).await, master.kills().await), (vec![], 0));
}

#[tokio::test]
async fn an_order_that_becomes_too_late_while_its_attempts_are_being_read_is_never_sent() {
    let slow = [attempt(0, "RUNNING", 30.0)];
    let mut master = Master::answering(&slow, killed()).await;
    let lasts = Duration::from_millis(400);
    master.tells_after(&slow, lasts + Duration::from_millis(100)).await;
    master.restarts.take(&Decision { deadline: clock::now() + Millis(lasts.as_millis() as u64), ..order(1) });
    assert_eq!((master.told(0).await, master.kills().await), (vec![], 0));
}

#[tokio::test]
async fn no_more_orders_wait_than_can_be_carried_out_before_their_deadlines() {
    let (restarts, _facts) = restarts_at("http://127.0.0.1:1".into());
    (0..=WAITING_MAX as u64).for_each(|id| restarts.take(&order(id)));
    assert_eq!(restarts.waiting(), WAITING_MAX);
}

#[tokio::test]
async fn what_has_changed_since_the_decision_is_seen_before_anything_is_killed() {
    let slow = || attempt(0, "RUNNING", 30.0);
    let mut of_unknown_progress = slow();
    of_unknown_progress.as_object_mut().unwrap().remove("progress");
    for (attempts, why) in [
        (vec![slow(), attempt(1, "SUCCEEDED", 100.0)], Answer::TaskEnded),
        (vec![attempt(0, "SUCCEEDED", 100.0)], Answer::TaskEnded),
        (vec![attempt(0, "COMMIT_PENDING", 30.0)], Answer::Committing),
        (vec![slow(), attempt(1, "COMMIT_PENDING", 30.0)], Answer::Committing),
        (vec![slow(), attempt(1, "RUNNING", 10.0)], Answer::TooManyAttempts),
        (vec![slow(), attempt(1, "STARTING", 0.0)], Answer::TooManyAttempts),
        (vec![slow(), attempt(1, "A_NEW_WORD", 0.0)], Answer::TooManyAttempts),
        (vec![attempt(0, "FAILED", 100.0), attempt(1, "RUNNING", 1.0)], Answer::AttemptEnded),
        (vec![attempt(1, "RUNNING", 1.0)], Answer::AttemptEnded),
        (vec![attempt(0, "STARTING", 0.0)], Answer::NotRunning),
        (vec![slow(), attempt(1, "KILLED", 100.0)], Answer::RestartsSpent),
        (vec![attempt(0, "RUNNING", 50.1)], Answer::TooFar),
        (vec![of_unknown_progress], Answer::TooFar),
    ] {
        let mut master = Master::answering(&attempts, killed()).await;
        master.restarts.take(&order(1));
        assert_eq!(master.told(2).await, [sent(1), acked(1, why)], "{attempts:?}");
        assert_eq!(master.kills().await, 0, "{why:?}");
    }
}

#[tokio::test]
async fn a_second_restart_that_was_decided_on_knows_of_the_first() {
    let attempts = [attempt(0, "RUNNING", 30.0), attempt(1, "KILLED", 100.0)];
    let mut master = Master::answering(&attempts, killed()).await;
    master.restarts.take(&Decision { restarts: 1, ..order(1) });
    assert_eq!(master.told(2).await, [sent(1), acked(1, Answer::Applied)]);
}

#[tokio::test]
async fn a_job_whose_kills_are_not_permitted_is_asked_no_more() {
    for answer in [ResponseTemplate::new(401), ResponseTemplate::new(403)] {
        let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], answer).await;
        assert!(master.restarts.may(task().job));
        master.restarts.take(&order(1));
        assert_eq!(master.told(2).await, [sent(1), acked(1, Answer::Failed)]);
        assert!(!master.restarts.may(task().job));
        master.restarts.take(&order(2));
        assert_eq!((master.told(0).await, master.kills().await), (vec![], 1));
        master.restarts.forget(task().job);
        assert!(master.restarts.may(task().job), "it is another job's turn");
    }
}

#[tokio::test]
async fn one_answer_of_a_gateway_or_a_race_ends_no_jobs_restarts_and_the_third_in_a_row_does() {
    let page = ResponseTemplate::new(200).set_body_raw("<html><title>Warning</title></html>", "text/html");
    for answer in [ResponseTemplate::new(404), ResponseTemplate::new(405), page] {
        let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], answer).await;
        for decision in 1..=2 {
            master.restarts.take(&order(decision));
            assert_eq!(master.told(1).await, [sent(decision)], "the engine may ask again");
            assert!(master.restarts.may(task().job));
        }
        master.restarts.take(&order(3));
        assert_eq!(master.told(2).await, [sent(3), acked(3, Answer::Failed)]);
        assert_eq!((master.restarts.may(task().job), master.kills().await), (false, 3), "none of them killed anything");
    }
}

#[tokio::test]
async fn a_kill_that_worked_forgives_those_before_that_did_not() {
    let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], killed()).await;
    master.restarts.lock().turn_down(task().job, TURNED_DOWN_MAX - 1);
    master.restarts.take(&order(1));
    assert_eq!(master.told(2).await, [sent(1), acked(1, Answer::Applied)]);
    assert!(master.restarts.lock().turned_down.is_empty());
}

#[tokio::test]
async fn what_could_not_be_sent_counts_against_nobody_and_can_be_sent_later() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (restarts, _facts) = restarts_at(format!("http://{nobody}"));
    let permit = restarts.am.leave().await;
    assert_eq!(restarts.remember(order(1).attempt), None);
    assert_eq!(restarts.kill(&order(1), permit).await, None, "the engine may ask again");
    let known = restarts.lock();
    assert!(known.killed.is_empty() && known.turned_down.is_empty());
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_what_nobody_answered_is_left_to_the_attempts_to_show() {
    let stranger = MockServer::start().await;
    let back = format!("{BASE}/elsewhere");
    let elsewhere = format!("{}/x", stranger.uri());
    let answers = [
        ResponseTemplate::new(302).insert_header("Location", back.as_str()),
        ResponseTemplate::new(302).insert_header("Location", elsewhere.as_str()),
        ResponseTemplate::new(500),
        ResponseTemplate::new(200),
        ResponseTemplate::new(200).set_body_json(json!({"state": "RUNNING"})),
    ];
    for answer in answers {
        let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], answer).await;
        master.restarts.take(&order(1));
        assert_eq!((master.told(1).await, master.kills().await), (vec![sent(1)], 1));
        assert!(master.restarts.may(task().job));
    }
    assert!(stranger.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_called_off_too_late_of_an_ended_job_or_cannot_be_read_is_never_sent() {
    let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], killed()).await;
    master.restarts.take(&order(1));
    master.restarts.call_off(1);
    master.restarts.take(&Decision { deadline: clock::now(), ..order(2) });
    assert_eq!(master.told(0).await, []);
    master.restarts.take(&order(3));
    master.restarts.forget(task().job);
    let other = task().job.task(TaskKind::Map, 4);
    master.restarts.take(&Decision { task: other, attempt: other.attempt(0), ..order(4) });
    assert_eq!((master.told(0).await, master.kills().await), (vec![], 0));
}

#[tokio::test]
async fn an_order_can_be_called_off_while_its_attempts_are_being_read() {
    let mut master = Master::answering(&[attempt(0, "RUNNING", 30.0)], killed()).await;
    let told = json!({"taskAttempts": {"taskAttempt": [attempt(0, "RUNNING", 30.0)]}});
    let restarts = master.restarts.clone();
    let meanwhile = move |_: &wiremock::Request| {
        restarts.call_off(1);
        ResponseTemplate::new(200).set_body_json(&told)
    };
    Mock::given(method("GET")).and(path(BASE)).respond_with(meanwhile).with_priority(1).mount(&master.server).await;
    master.restarts.take(&order(1));
    assert_eq!((master.told(0).await, master.kills().await), (vec![], 0));
    let requests = master.server.received_requests().await.unwrap();
    assert_eq!(requests.iter().filter(|request| request.url.path() == BASE).count(), 1);
}

#[tokio::test]
async fn kills_come_one_at_a_time_with_a_pause_between_them() {
    let mut master =
        Master::answering(&[attempt(0, "RUNNING", 30.0)], killed()).await.but(|restarts| restarts.apart = HOUR);
    master.restarts.take(&order(1));
    master.restarts.take(&order(2));
    assert_eq!(master.told(2).await, [sent(1), acked(1, Answer::Applied)], "the second waits");
}

#[tokio::test]
async fn after_an_order_that_was_not_carried_out_the_next_does_not_wait() {
    let mut master =
        Master::answering(&[attempt(0, "SUCCEEDED", 100.0)], killed()).await.but(|restarts| restarts.apart = HOUR);
    master.restarts.take(&order(1));
    master.restarts.take(&order(2));
    let ended = |decision| [sent(decision), acked(decision, Answer::TaskEnded)];
    assert_eq!(master.told(4).await, [ended(1), ended(2)].concat());
}
