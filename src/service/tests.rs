//! The whole service but the cluster: a scripted shim over HTTP on one side, the engine's thread on the other.

use super::holds::{Book, Holds};
use super::{DecisionFilter, Desk, Notes, Outside, Own, channels, run};
use crate::api::copy::CopyView;
use crate::api::views::DecisionView;
use crate::clock;
use crate::history::{Options, Recorder, files, replay};
use crate::ledger::report::{Filter, Report};
use crate::ledger::{self, Bounds, Feed, Ledger, Left, Pace, Under};
use crate::shim::{self, AppLife, AppVouch, Identity, Key, Shim, ShimParams, Vouch, VouchError, mac};
use crate::telemetry::Metrics;
use crate::yarn::http::install_tls;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::{
    AppId, Bytes, Channel, ClusterFact, Fact, Hold, JobId, Millis, Mode, Observation, QueueFact, Resources, Scope,
    Source, Time,
};
use drover_core::policy::PolicyName;
use futures::future::BoxFuture;
use prometheus::{IntCounterVec, Opts, Registry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const SESSION: &str = "00112233445566778899aabbccddeeff";
const INCARNATION: &str = "9f86d081884c7d65";
const MAPS: u32 = 10;
/// The map that is slow.
const SLOW: u32 = 3;

fn job() -> JobId {
    JobId(AppId { cluster: 1, seq: 1 })
}

fn key() -> Key {
    Key::from([7; 32])
}

/// A ResourceManager that vouches for the one job there is.
struct Rm;

impl Vouch for Rm {
    fn application(&self, _: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>> {
        let (user, queue) = ("ann".to_owned(), Some("root.default".to_owned()));
        Box::pin(async { Ok(AppVouch { user, queue, life: AppLife::Running, attempt: 1 }) })
    }

    fn job_diagnostics(&self, _: JobId) -> BoxFuture<'_, Result<String, VouchError>> {
        Box::pin(async { Ok(format!("drover-proof v1 {SESSION} {}", hex::encode(mac::hash(&key())))) })
    }
}

/// A service in mode `act`.
struct Service {
    outside: Outside,
    holds: Holds,
    address: String,
    stop: CancellationToken,
    engine: std::thread::JoinHandle<()>,
}

/// What the ResourceManager tells of a cluster with room.
fn room() -> Observation {
    let total = Resources { memory_mb: 1 << 20, vcores: 1 << 10 };
    let fact = Fact::Cluster(ClusterFact { total, active_nodes: 4, ..ClusterFact::default() });
    let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
    Observation { source, seq: 1, at: clock::now(), received: clock::now(), fact }
}

const LEDGER: &str = "ledger.db";

fn kept(path: &Path, registry: &Registry) -> Ledger {
    let bounds = Bounds { max_age: Millis(u64::MAX), max_bytes: Bytes(u64::MAX) };
    Ledger::start(path, bounds, Pace::default(), clock::now, ledger::Metrics::new(registry).unwrap()).unwrap()
}

async fn start(recording: &Path) -> Service {
    let (registry, runtime) = (Registry::new(), tokio::runtime::Handle::current());
    let metrics = Arc::new(Metrics::new(&registry).unwrap());
    let refused = IntCounterVec::new(Opts::new("refused", "Refused."), &["channel", "reason"]).unwrap();
    let shim_metrics = shim::Metrics::new(&registry, refused).unwrap();
    let govern = GovernParams { mode: Mode::Act, deadline: Millis(60_000), ..GovernParams::default() };
    let recorder = Recorder::start(recording, 1 << 30, 1 << 20, INCARNATION, metrics.clone()).unwrap();
    // A job as small as these would be cloned at its start.
    let params = EngineParams { policy: PolicyName::Late, govern, ..EngineParams::default() };
    let mut desk = Desk::new(params, 100, Some(recorder), metrics);
    desk.incarnation = INCARNATION.into();
    desk.ledger = Some(Feed::new(
        kept(&recording.join(LEDGER), &registry),
        INCARNATION,
        Under::default(),
        Time(0),
        Left::default(),
    ));
    let (outside, inbox) = channels();
    let identity = Identity { epoch: 9, incarnation: INCARNATION.into() };
    let shim = Shim::new(ShimParams::default(), identity, Arc::new(Rm), outside.batches.clone(), shim_metrics);
    let notes = Notes::default();
    let _ = notes.shim.set(shim.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/shim/v1/exchange", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    tokio::spawn(shim.serve(listener, stop.clone()));
    let stopped = stop.clone();
    let engine = std::thread::spawn(move || run(desk, inbox, &notes, Millis(10), &clock::now, &runtime, &stopped));
    outside.facts.send(room()).await.unwrap();
    let own = Own::new(9, 1, outside.facts.clone());
    Service { outside, holds: Holds::new(own, Book::open(None, Mode::Act, Time(0)).unwrap()), address, stop, engine }
}

impl Service {
    async fn decisions(&self) -> Vec<DecisionView> {
        let all = DecisionFilter { limit: 10, ..DecisionFilter::default() };
        self.outside.asker.ask(move |desk| desk.decisions(all)).await.unwrap()
    }

    /// The only copy, once the engine has heard so much of it.
    async fn copy(&self, state: &str) -> CopyView {
        for _ in 0..1_000 {
            let copy = self.decisions().await[0].copy.clone().unwrap();
            if copy.state == state {
                return copy;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the copy is never {state}")
    }

    /// Ends it, and decides again on what was recorded.
    async fn replayed(self, recording: &Path) -> Vec<String> {
        self.stop.cancel();
        tokio::task::spawn_blocking(move || self.engine.join().unwrap()).await.unwrap();
        let options = Options { check: true, ..Options::default() };
        let report = replay(&files(&[recording.to_owned()]).unwrap(), options, &mut |_, _| Ok(())).unwrap();
        report.differences
    }
}

/// A shim whose ApplicationMaster runs ten equal maps of four seconds, one of them ten times slower. Its clock moves a second with every exchange.
struct Script {
    http: reqwest::Client,
    address: String,
    began: u64,
    seq: u64,
    ack: u64,
    hello: bool,
    /// Rows besides the originals'.
    attempts: Vec<Value>,
    /// What it holds of the slow map's original.
    original: &'static str,
    acks: Vec<Value>,
}

impl Script {
    fn new(service: &Service) -> Script {
        install_tls();
        Script {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            address: service.address.clone(),
            began: clock::now().0,
            seq: 0,
            ack: 0,
            hello: true,
            attempts: Vec::new(),
            original: "RUNNING",
            acks: Vec::new(),
        }
    }

    fn now(&self) -> u64 {
        self.began + self.seq * 1_000
    }

    fn rows(&self) -> (Vec<Value>, Vec<Value>) {
        let (mut tasks, mut attempts) = (Vec::new(), self.attempts.clone());
        for i in 0..MAPS {
            let length: u32 = if i == SLOW { 40_000 } else { 4_000 };
            let p = (self.seq as f64 * 1_000.0 / f64::from(length)).min(1.0);
            let done = p >= 1.0 || (i == SLOW && self.original == "KILLED");
            let state = match (i == SLOW, done) {
                (true, _) => self.original,
                (false, true) => "SUCCEEDED",
                (false, false) => "RUNNING",
            };
            tasks.push(json!({"k": "m", "i": i, "s": if done { "SUCCEEDED" } else { "RUNNING" }}));
            let mut row = json!({"k": "m", "i": i, "n": 0, "s": state, "node": i % 4, "at": self.began, "p": p, "u": self.now(), "c": self.seq});
            if done {
                row["fin"] = if i == SLOW { self.now() } else { self.began + u64::from(length) }.into();
            }
            attempts.push(row);
        }
        (tasks, attempts)
    }

    /// One exchange.
    async fn exchange(&mut self) -> Value {
        self.seq += 1;
        let (tasks, attempts) = self.rows();
        let hosts: Vec<Value> = (0..4).map(|n| json!([n, format!("nm{}", n + 1), "/rack1"])).collect();
        let mut request = json!({
            "protocol": 1, "shim": "0.1.0", "session": SESSION, "attempt": "appattempt_1_0001_000001", "job": job(), "seq": self.seq,
            "clock": {"am_ms": self.now(), "mono_ms": self.seq * 1_000}, "epoch": 0, "lease_ms": 0, "base": self.ack, "upto": self.seq,
            "more": false, "job_state": "RUNNING", "maps": MAPS, "reduces": 0, "hosts": hosts, "tasks": tasks, "attempts": attempts,
            "needs": {"m": 0, "r": 0}, "native": {"launched": 0, "held": 0}, "dropped": {}, "acks": self.acks,
        });
        if self.hello {
            request["hello"] = json!({
                "key": hex::encode(key().bytes()), "user": "ann", "queue": "default", "name": "slow", "hadoop": "3.4.3", "java": "17", "mode": "act",
                "uber": false, "settings": {}, "can": ["duplicate"],
            });
        }
        let body = serde_json::to_vec(&request).unwrap();
        let request = self.http.post(&self.address).header(mac::HEADER, mac::sign(&key(), &body)).body(body);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let reply: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert!(status == 200 || status == 202, "{reply}");
        if status == 200 {
            (self.hello, self.ack) = (false, reply["ack"].as_u64().unwrap());
        }
        // The engine's thread is given time to decide.
        tokio::time::sleep(Duration::from_millis(100)).await;
        reply
    }

    /// Exchanges until an answer is as wanted.
    async fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..300 {
            let reply = self.exchange().await;
            if wanted(&reply) {
                return reply;
            }
        }
        panic!("{what} never comes");
    }
}

fn leased(reply: &Value) -> bool {
    reply["launcher"] == "drover" && reply["lease_ms"].as_u64() > Some(0)
}

fn hold() -> Hold {
    Hold { scope: Scope::Cluster, reason: "look".into(), by: "local".into(), since: clock::now(), until: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_map_gets_a_copy_that_wins_and_the_recording_replays_to_the_byte() {
    let recording = tempfile::tempdir().unwrap();
    let service = start(recording.path()).await;
    let mut shim = Script::new(&service);
    shim.until("the lease", leased).await;
    let asked = shim.until("the action", |reply| reply["actions"][0]["i"] == SLOW).await;
    let action = asked["actions"][0].clone();
    assert_eq!((&action["type"], &action["copies"], &action["live"]), (&json!("duplicate"), &json!(1), &json!(1)));
    assert!(action["id"].as_str().unwrap().starts_with(INCARNATION) && action["deadline_ms"].as_u64() > Some(0));
    // That answer is lost: the next one says the same.
    let again = shim.exchange().await;
    assert_eq!((&again["actions"][0]["id"], again["actions"].as_array().unwrap().len()), (&action["id"], 1));
    service.copy("sent").await;

    shim.acks = vec![json!({"id": action["id"], "outcome": "applied", "attempts": [1]})];
    shim.attempts = vec![json!({"k": "m", "i": SLOW, "n": 1, "s": "STARTING", "spec": true})];
    let answered = shim.exchange().await;
    assert_eq!(answered["actions"], json!([]));
    shim.acks.clear();
    let launched = shim.now();
    shim.attempts[0] =
        json!({"k": "m", "i": SLOW, "n": 1, "s": "RUNNING", "spec": true, "node": 2, "at": launched, "p": 0.5});
    shim.exchange().await;
    assert_eq!(service.copy("applied").await.attempts, ["attempt_1_0001_m_000003_1"]);
    shim.attempts[0]["s"] = json!("SUCCEEDED");
    shim.attempts[0]["fin"] = json!(launched + 2_000);
    shim.original = "KILLED";
    while service.decisions().await[0].copy.as_ref().unwrap().ended_ms.is_none() {
        shim.exchange().await;
    }
    let decisions = service.decisions().await;
    assert_eq!(decisions.len(), 1, "one slow map, one copy");
    let copy = decisions[0].copy.clone().unwrap();
    assert_eq!((copy.state.as_str(), copy.answer.as_deref()), ("won", Some("applied")));
    assert_eq!((copy.winner_node.as_deref(), copy.container_seconds), (Some("nm3"), Some(2.0)));

    service.holds.hold(hold(), clock::now()).await.unwrap();
    shim.until("the hand-back", |reply| reply["launcher"] == "native").await;
    service.holds.lift(&Scope::Cluster, "local", clock::now()).await.unwrap();
    shim.until("the lease after it", leased).await;
    service.holds.rival(Some(10), clock::now()).await;
    shim.until("the hand-over to the other service", |reply| reply["launcher"] == "native").await;
    assert_eq!(service.replayed(recording.path()).await, Vec::<String>::new());

    let report = Report::of(&recording.path().join(LEDGER), &Filter::default(), clock::now()).unwrap();
    let copies = &report.copies[0];
    assert_eq!((copies.decided, copies.won, copies.gained_of, copies.container_seconds), (1, 1, 1, 2.0));
    assert!(copies.gained_seconds > 0.0, "the original had long to go: {copies:?}");
    let sides = (report.holdout.not_drawn, report.holdout.acted.jobs, report.holdout.held_out.jobs);
    assert_eq!(sides, (1, 0, 0), "nothing is held out");
}

#[test]
fn a_queue_is_known_by_either_name_once_the_cluster_has_told_of_any() {
    let mut desk = Desk::new(EngineParams::default(), 1, None, Arc::new(Metrics::new(&Registry::new()).unwrap()));
    assert_eq!(desk.has_queue("etl"), None);
    let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
    let fact = Fact::Queues(vec![QueueFact::open("root.etl")]);
    desk.observe(Observation { source, seq: 1, at: Time(1), received: Time(1), fact });
    assert_eq!(["etl", "root.etl", "elt"].map(|name| desk.has_queue(name)), [Some(true), Some(true), Some(false)]);
}
