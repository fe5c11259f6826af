//! Tests of the room as a whole. A fake cluster stands in for the ResourceManager, and `Am` for a shim.

mod acting;
mod facts;
mod http;
mod interleave;
mod mechanisms;
mod proofs;
mod refusals;
mod trust;
mod wire;

use super::batch::Batch;
use super::desk::{Answer, Desk, Origin};
use super::mac;
use super::metrics::Metrics;
use super::params::{Identity, ProofParams, ShimParams};
use super::reply::{Refusal, Reply, Why};
use super::session::Now;
use super::trust::{AppLife, AppVouch, Vouch, VouchError};
use super::values::Key;
use drover_core::model::{AppId, Fact, JobId, Millis, Observation, Time};
use futures::future::BoxFuture;
use prometheus::{IntCounterVec, Opts, Registry};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// What the cluster says.
#[derive(Default)]
pub struct Cluster {
    pub apps: Mutex<BTreeMap<AppId, AppVouch>>,
    pub diagnostics: Mutex<BTreeMap<JobId, Result<String, VouchError>>>,
    pub asked: AtomicUsize,
    /// Pages of jobs that were read.
    pub read: AtomicUsize,
    /// Applications that the ResourceManager has listed.
    pub listed: Mutex<BTreeMap<AppId, AppVouch>>,
    /// Applications of which the ResourceManager does not tell enough.
    pub unsure: Mutex<BTreeSet<AppId>>,
    /// Jobs whose page never answers.
    pub hangs: Mutex<BTreeSet<JobId>>,
}

impl Vouch for Cluster {
    fn application(&self, app: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let told = if self.unsure.lock().unwrap().contains(&app) {
            Err(VouchError::Unavailable("the application's owner is not told".into()))
        } else {
            self.apps.lock().unwrap().get(&app).cloned().ok_or(VouchError::NotFound)
        };
        Box::pin(async { told })
    }

    fn listed(&self, app: AppId) -> Option<AppVouch> {
        self.listed.lock().unwrap().get(&app).cloned()
    }

    fn job_diagnostics(&self, job: JobId) -> BoxFuture<'_, Result<String, VouchError>> {
        self.read.fetch_add(1, Ordering::Relaxed);
        let told = self.diagnostics.lock().unwrap().get(&job).cloned().unwrap_or(Err(VouchError::NotFound));
        let hangs = self.hangs.lock().unwrap().contains(&job);
        Box::pin(async move { if hangs { std::future::pending().await } else { told } })
    }
}

impl Cluster {
    /// The application runs, as the ResourceManager sees it, and its diagnostics hold the AM's proof.
    pub fn runs(&self, am: &Am) {
        self.runs_without_proof(am);
        self.publishes(am);
    }

    pub fn runs_without_proof(&self, am: &Am) {
        let (user, queue) = (am.user.clone(), Some("root.vouched".to_string()));
        let told = AppVouch { user, queue, life: AppLife::Running, attempt: am.number };
        self.apps.lock().unwrap().insert(am.job().0, told);
        self.diagnostics.lock().unwrap().insert(am.job(), Ok("Job initialised".into()));
    }

    /// It is in the last listing as well.
    pub fn lists(&self, am: &Am) {
        let told = self.apps.lock().unwrap()[&am.job().0].clone();
        self.listed.lock().unwrap().insert(am.job().0, told);
    }

    pub fn publishes(&self, am: &Am) {
        let hash = hex::encode(mac::hash(&am.key));
        let mut all = self.diagnostics.lock().unwrap();
        let before = all.get(&am.job()).cloned().and_then(Result::ok).unwrap_or_default();
        all.insert(am.job(), Ok(format!("{before}drover-proof v1 {} {hash}", am.session)));
    }
}

/// A shim, as far as the service sees it.
#[derive(Clone)]
pub struct Am {
    pub job: u32,
    pub number: u32,
    pub session: String,
    pub key: Key,
    pub user: String,
    pub seq: u64,
    pub hello: bool,
}

impl Am {
    pub fn new(job: u32, number: u32, nonce: u8) -> Am {
        let session = format!("{job:08x}{number:08x}{nonce:016x}");
        Am { job, number, session, key: Key::from([nonce; 32]), user: "alice".into(), seq: 0, hello: true }
    }

    pub fn job(&self) -> JobId {
        JobId(AppId { cluster: 1_795_181_650_543, seq: self.job })
    }

    /// The next request: two maps and a reduce, no rows.
    pub fn next(&mut self) -> Value {
        self.seq += 1;
        let mut request = json!({
            "protocol": 1, "shim": "0.1.0", "session": self.session, "job": self.job(),
            "attempt": format!("appattempt_1795181650543_{:04}_{:06}", self.job, self.number),
            "seq": self.seq, "clock": {"am_ms": 1_795_182_435_000u64, "mono_ms": 12}, "epoch": 0, "lease_ms": 0,
            "base": 0, "upto": 0, "more": false, "job_state": "RUNNING", "maps": 2, "reduces": 1,
            "hosts": [], "tasks": [], "attempts": [], "needs": {"m": 0, "r": 0}, "native": {"launched": 0},
            "dropped": {}, "acks": [],
        });
        if self.hello {
            request["hello"] = json!({
                "key": hex::encode(self.key.bytes()), "user": self.user, "queue": "root.claimed", "name": "word count",
                "hadoop": "3.4.3", "java": "17.0.15", "mode": "advise", "uber": false, "settings": {},
                "can": ["duplicate"],
            });
        }
        request
    }

    /// The next request with some fields replaced.
    pub fn with(&mut self, fields: Value) -> Value {
        let mut request = self.next();
        for (name, value) in fields.as_object().unwrap() {
            request[name] = value.clone();
        }
        request
    }
}

/// The service of a `Room`.
pub const EPOCH: u64 = 3;
pub const INCARNATION: &str = "9f86d081884c7d65";

/// A desk between a fake cluster and a queue of observations, at a time the test sets.
pub struct Room {
    pub desk: Desk,
    pub cluster: Arc<Cluster>,
    pub facts: mpsc::Receiver<Batch>,
    pub registry: Registry,
    pub now: Now,
    /// Where requests come from.
    pub from: Origin,
}

pub fn metrics(registry: &Registry) -> Metrics {
    let opts = Opts::new("drover_facts_refused_total", "Facts refused, by reason.");
    let refused = IntCounterVec::new(opts, &["channel", "reason"]).unwrap();
    registry.register(Box::new(refused.clone())).unwrap();
    Metrics::new(registry, refused).unwrap()
}

/// Claims get one look only, so that no test waits for a second one.
pub fn one_look() -> ShimParams {
    ShimParams { proofs: ProofParams { patience_ms: 0, ..ProofParams::default() }, ..ShimParams::default() }
}

impl Room {
    pub fn new() -> Room {
        Room::with(one_look(), 1_000)
    }

    pub fn with(params: ShimParams, batches: usize) -> Room {
        let (cluster, registry) = (Arc::new(Cluster::default()), Registry::new());
        let (out, facts) = mpsc::channel(batches);
        let identity = Identity { epoch: EPOCH, incarnation: INCARNATION.into() };
        let desk = Desk::new(params, identity, cluster.clone(), out, metrics(&registry));
        let now = Now { wall: Time(1_795_182_435_200), mono: Millis(5_000) };
        Room { desk, cluster, facts, registry, now, from: Origin::Network }
    }

    /// Sends a request as it stands.
    pub fn send(&self, key: &Key, request: &Value) -> Result<Reply, Refusal> {
        self.exchange(key, request).map(|Answer { reply, .. }| reply)
    }

    /// The same, with what the answer may wait for.
    pub fn exchange(&self, key: &Key, request: &Value) -> Result<Answer, Refusal> {
        let body = serde_json::to_vec(request).unwrap();
        self.desk.exchange(self.now, self.from, &mac::sign(key, &body), &body)
    }

    /// Sends it until the proof has been looked into. Each time is a request of its own.
    pub async fn settled(&self, am: &mut Am, fields: Value) -> Result<Reply, Refusal> {
        let key = am.key.clone();
        self.looked_into(&key, || am.with(fields.clone())).await
    }

    /// Sends such requests until the proof has been looked into.
    pub async fn looked_into(&self, key: &Key, mut request: impl FnMut() -> Value) -> Result<Reply, Refusal> {
        for _ in 0..5_000 {
            match self.send(key, &request()) {
                Ok(reply) if !reply.accepted => tokio::time::sleep(Duration::from_millis(1)).await,
                other => return other,
            }
        }
        panic!("the proof is never looked into");
    }

    /// A session that is believed.
    pub async fn seat(&mut self, am: &mut Am) {
        self.cluster.runs(am);
        assert!(self.settled(am, json!({})).await.unwrap().accepted);
        am.hello = false;
        self.drain();
    }

    /// All observations since the last time.
    pub fn drain(&mut self) -> Vec<Observation> {
        std::iter::from_fn(|| self.facts.try_recv().ok()).flatten().collect()
    }

    pub fn told(&mut self) -> Vec<Fact> {
        self.drain().into_iter().map(|o| o.fact).collect()
    }

    pub fn later(&mut self, ms: u64) {
        self.now = Now { wall: self.now.wall + Millis(ms), mono: self.now.mono + Millis(ms) };
    }

    /// The value of a metric with one label of this value; zero for one that was never counted.
    pub fn metric(&self, name: &str, label: &str) -> f64 {
        let families = self.registry.gather();
        let metrics = families.iter().filter(|f| f.name() == name).flat_map(|f| f.get_metric());
        let mut found = metrics.filter(|m| m.get_label().iter().any(|l| l.value() == label));
        found.next().map_or(0.0, |m| m.get_counter().get_value() + m.get_gauge().get_value())
    }

    pub fn refused(&self, reason: &str) -> u64 {
        self.metric("drover_facts_refused_total", reason) as u64
    }
}

/// The name of a refusal.
pub fn why(result: Result<Reply, Refusal>) -> Why {
    result.expect_err("it should have been refused").why
}
