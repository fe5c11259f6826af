//! Servers that answer what a test tells them to.

use drover::yarn::discover::{Cluster, Overrides};
use drover::yarn::http::HttpParams;
use drover::yarn::limit::{Ceiling, Ceilings};
use drover::yarn::metrics::Metrics;
use drover::yarn::poll::Clients;
use drover_core::model::JobId;
use prometheus::Registry;
use serde_json::{Value, json};
use std::time::Duration;
use wiremock::matchers::{any, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

pub const APP: &str = "application_1795000000000_0007";
pub const JOB: &str = "job_1795000000000_0007";

pub fn job() -> JobId {
    JOB.parse().unwrap()
}

pub fn am(rest: &str) -> String {
    format!("/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}{rest}")
}

pub fn jhs(rest: &str) -> String {
    format!("/ws/v1/history/mapreduce/jobs/{JOB}{rest}")
}

/// Generous ceilings, short waits.
pub fn params() -> HttpParams {
    let open = Ceiling { per_second: 5_000.0, burst: 500, in_flight: 16, body_bytes: 1 << 20 };
    HttpParams {
        connect_timeout: Duration::from_secs(30),
        timeout: Duration::from_secs(60),
        aside_timeout: Duration::from_secs(60),
        ceilings: Ceilings { rm: open, proxy: open, history: open },
        ..HttpParams::default()
    }
}

pub struct Fixture {
    pub clients: Clients,
    pub registry: Registry,
}

impl Fixture {
    /// The value of a counter with these label values in any order of labels; 0 where there is none.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let families = self.registry.gather();
        let metrics = families.iter().filter(|f| f.name() == name).flat_map(|f| f.get_metric());
        let has = |m: &prometheus::proto::Metric| {
            labels.iter().all(|(k, v)| m.get_label().iter().any(|l| l.name() == *k && l.value() == *v))
        };
        metrics.filter(|m| has(m)).map(|m| m.get_counter().get_value() as u64).sum()
    }

    pub fn outcome(&self, endpoint: &str, outcome: &str) -> u64 {
        self.count("drover_rest_requests_total", &[("endpoint", endpoint), ("outcome", outcome)])
    }
}

pub fn fixture(rms: &[String], history: Option<String>, params: HttpParams) -> Fixture {
    fixture_of(Overrides { rms: rms.to_vec(), history, proxy: None }, params)
}

/// Clients of a cluster of which all is given.
pub fn fixture_of(overrides: Overrides, params: HttpParams) -> Fixture {
    let registry = Registry::new();
    let cluster = Cluster::discover(None, &overrides).unwrap();
    let clients = Clients::new(&cluster, params, Metrics::new(&registry).unwrap()).unwrap();
    Fixture { clients, registry }
}

/// One of its own: of wiremock's pool a server may be handed on with a request that the test before left to it.
pub async fn mock_server() -> MockServer {
    let server = MockServer::builder().start().await;
    Mock::given(any()).respond_with(not_found()).with_priority(u8::MAX).mount(&server).await;
    server
}

/// Hadoop's word on what it does not have.
pub fn not_found() -> ResponseTemplate {
    ResponseTemplate::new(404).set_body_json(json!({"RemoteException": {"exception": "NotFoundException"}}))
}

pub async fn rm() -> (MockServer, Fixture) {
    let server = mock_server().await;
    info(&server, "ACTIVE", 1_795_000_000_000).await;
    let fixture = fixture(&[server.uri()], Some(server.uri()), params());
    (server, fixture)
}

pub async fn info(server: &MockServer, state: &str, started: u64) {
    let body = json!({"clusterInfo": {"startedOn": started, "haState": state, "hadoopVersion": "3.4.3"}});
    get(server, "/ws/v1/cluster/info", body).await;
}

pub async fn get(server: &MockServer, at: &str, body: Value) {
    answer(server, at, ResponseTemplate::new(200).set_body_json(body)).await;
}

pub async fn answer(server: &MockServer, at: &str, response: ResponseTemplate) {
    Mock::given(method("GET")).and(path(at)).respond_with(response).mount(server).await;
}

pub async fn answer_put(server: &MockServer, at: &str, response: ResponseTemplate) {
    Mock::given(method("PUT")).and(path(at)).respond_with(response).mount(server).await;
}

/// The listing of one running application.
pub fn apps() -> Value {
    json!({"apps": {"app": [{
        "id": APP, "user": "ada", "name": "words", "queue": "root.default", "state": "RUNNING",
        "finalStatus": "UNDEFINED", "applicationType": "MAPREDUCE", "startedTime": 1_795_000_100_000u64,
        "finishedTime": 0, "elapsedTime": 20_000, "allocatedMB": 512, "allocatedVCores": 4, "runningContainers": 4,
        "amContainerLogs": format!("http://n1:8042/node/containerlogs/container_1795000000000_0007_01_000001/ada")
    }]}})
}

pub fn task(index: u32, progress: Value, state: &str) -> Value {
    json!({"startTime": 1_795_000_105_000u64, "finishTime": 0, "elapsedTime": 15_000, "progress": progress,
        "id": format!("task_1795000000000_0007_m_{index:06}"), "state": state, "type": "MAP",
        "successfulAttempt": "", "status": "map"})
}

pub fn tasks(tasks: &[Value]) -> Value {
    json!({"tasks": {"task": tasks}})
}

pub fn attempt(number: u32, state: &str, progress: f64) -> Value {
    json!({"startTime": 1_795_000_105_000u64, "finishTime": 0, "elapsedTime": 15_000, "progress": progress,
        "id": format!("attempt_1795000000000_0007_m_000000_{number}"), "rack": "/r1", "state": state, "status": "map",
        "nodeHttpAddress": "n2:8042", "type": "MAP"})
}

pub fn summary(state: &str) -> Value {
    json!({"job": {"startTime": 1_795_000_104_000u64, "finishTime": 0, "elapsedTime": 16_000, "id": JOB, "name": "words",
        "user": "ada", "queue": "root.default", "state": state, "mapsTotal": 2, "mapsCompleted": 0, "reducesTotal": 1,
        "reducesCompleted": 0, "mapsPending": 1, "mapsRunning": 1, "reducesPending": 1, "reducesRunning": 0,
        "uberized": false, "diagnostics": "drover 00ff", "runningMapAttempts": 2, "runningReduceAttempts": 0}})
}

pub fn conf() -> Value {
    let property = |name: &str, value: &str| json!({"name": name, "value": value, "source": ["job.xml"]});
    json!({"conf": {"path": "x", "property": [
        property("mapreduce.map.speculative", "false"), property("mapreduce.task.timeout", "300000"),
        property("secret.password", "hush")]}})
}

/// A whole cluster with one running job.
pub async fn running_job(server: &MockServer) {
    get(server, "/ws/v1/cluster/apps", apps()).await;
    get(server, "/ws/v1/cluster/metrics", json!({"clusterMetrics": {"totalMB": 8192, "activeNodes": 4}})).await;
    get(server, "/ws/v1/cluster/nodes", json!({"nodes": {"node": [{"id": "n1:1", "state": "RUNNING"}]}})).await;
    let queue = json!({"queueName": "default", "queuePath": "root.default", "absoluteMaxCapacity": 50.0});
    let info = json!({"type": "capacityScheduler", "queues": {"queue": [queue]}});
    get(server, "/ws/v1/cluster/scheduler", json!({"scheduler": {"schedulerInfo": info}})).await;
    get(server, &am(""), summary("RUNNING")).await;
    get(server, &am("/conf"), conf()).await;
    get(server, &am("/tasks"), tasks(&[task(0, json!(40.0), "RUNNING"), task(1, json!(0.0), "SCHEDULED")])).await;
    let attempts = json!({"taskAttempts": {"taskAttempt": [attempt(0, "RUNNING", 40.0), attempt(1, "KILLED", 100.0)]}});
    get(server, &am("/tasks/task_1795000000000_0007_m_000000/attempts"), attempts).await;
    let of_attempt = "attempt_1795000000000_0007_m_000000_0";
    let counter = json!({"name": "BYTES_READ", "value": 4_000_000});
    let group = json!({"counterGroupName": "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter", "counter": [counter]});
    let counters = json!({"jobTaskAttemptCounters": {"id": of_attempt, "taskAttemptCounterGroup": [group]}});
    let at = format!("/tasks/task_1795000000000_0007_m_000000/attempts/{of_attempt}/counters");
    get(server, &am(&at), counters).await;
}
