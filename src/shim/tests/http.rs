//! The listener: what a hostile or broken connection can do to it.

use super::super::batch::Batch;
use super::super::fixture::decision;
use super::super::params::{Identity, ShimParams};
use super::super::reply::Why;
use super::super::server::Shim;
use super::{Am, Cluster, mac, metrics, one_look};
use crate::{clock, heavy};
use drover_core::model::{Action, Fact, TaskKind};
use prometheus::Registry;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct Running {
    address: String,
    cluster: Arc<Cluster>,
    shim: Shim,
    stop: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
    facts: mpsc::Receiver<Batch>,
}

struct Answered {
    status: u16,
    mac: Option<String>,
    body: Vec<u8>,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    /// It is the refusal of that name.
    fn refuses(&self, why: Why) {
        assert_eq!((self.status, self.json()["error"].as_str()), (why.status(), Some(why.label())));
        assert!(self.mac.is_none());
    }
}

async fn start(params: ShimParams) -> Running {
    let (cluster, (out, facts)) = (Arc::new(Cluster::default()), mpsc::channel(100));
    let identity = Identity { epoch: 3, incarnation: "a".into() };
    let shim = Shim::new(params, identity, cluster.clone(), out, metrics(&Registry::new()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let stop = CancellationToken::new();
    let task = tokio::spawn(shim.clone().serve(listener, stop.clone()));
    Running { address, cluster, shim, stop, task, facts }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).await.unwrap()
    }

    fn head(&self, length: usize, code: &str) -> String {
        head(&self.address, length, code)
    }

    async fn post(&self, body: &[u8], code: &str) -> Answered {
        post(&self.address, body, code).await
    }

    async fn send(&self, am: &mut Am, fields: Value) -> Answered {
        send(&self.address, am, fields).await
    }

    async fn seat(&self, am: &mut Am) {
        self.cluster.runs(am);
        while self.send(am, json!({})).await.status == 202 {}
        am.hello = false;
        assert_eq!(self.send(am, json!({})).await.status, 200);
    }
}

impl Running {
    /// Seats a session, and has an engine's pass, in which something may be done, follow what it says first; the answer to that.
    async fn seated_by_the_engine(&mut self, mut am: Am, pass: impl FnOnce(&Shim)) -> (Am, Value) {
        self.cluster.runs(&am);
        let address = self.address.clone();
        let asking = tokio::spawn(async move {
            let mut answered = send(&address, &mut am, json!({})).await;
            while answered.status == 202 {
                answered = send(&address, &mut am, json!({})).await;
            }
            am.hello = false;
            (am, answered.json())
        });
        let batch = self.facts.recv().await.unwrap();
        pass(&self.shim);
        batch.decided.unwrap().send(()).unwrap();
        asking.await.unwrap()
    }
}

fn head(address: &str, length: usize, code: &str) -> String {
    format!(
        "POST /shim/v1/exchange HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nX-Drover-Mac: {code}\r\n\r\n"
    )
}

async fn post(address: &str, body: &[u8], code: &str) -> Answered {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // In one piece, so that no deadline falls between head and body. A refusal may come before all of it was read.
    let _ = stream.write_all(&[head(address, body.len(), code).as_bytes(), body].concat()).await;
    answer(&mut stream).await
}

async fn send(address: &str, am: &mut Am, fields: Value) -> Answered {
    let body = serde_json::to_vec(&am.with(fields)).unwrap();
    let code = mac::sign(&am.key, &body);
    post(address, &body, &code).await
}

/// One answer: head, and as much body as it announces.
async fn answer(stream: &mut TcpStream) -> Answered {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let field =
                |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(|v| v.trim().to_string());
            let length: usize = field("content-length:").unwrap().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                return Answered {
                    status,
                    mac: field("x-drover-mac:"),
                    body: bytes[end + 4..end + 4 + length].to_vec(),
                };
            }
        }
        let mut part = [0; 4096];
        let n = stream.read(&mut part).await.unwrap();
        assert!(n > 0, "closed after {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&part[..n]);
    }
}

/// The server has closed the connection.
async fn closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.is_err() || rest.is_empty()
}

#[tokio::test]
async fn answers_to_exchanges_that_are_not_refused_carry_their_code() {
    let (running, mut am) = (start(one_look()).await, Am::new(1, 1, 1));
    running.cluster.runs(&am);
    let mut statuses = Vec::new();
    while statuses.last() != Some(&200) {
        let answered = running.send(&mut am, json!({})).await;
        assert!(mac::verify(&am.key, &answered.body, &answered.mac.clone().unwrap()));
        assert_eq!(answered.json()["seq"], json!(am.seq));
        statuses.push(answered.status);
    }
    assert!(statuses.len() > 1 && statuses[..statuses.len() - 1].iter().all(|status| *status == 202));
    assert!(running.shim.has_live_session(am.job()));
    assert_eq!(running.shim.sessions().len(), 1);
    let mut stream = running.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut stream).await.body, b"ok\n");
}

#[tokio::test]
async fn nonsense_and_a_missing_code_are_refused_by_name() {
    let (running, mut am) = (start(one_look()).await, Am::new(1, 1, 1));
    for body in [&b""[..], b"{", b"\xff\xfe", b"<html>", &[b'['; 100_000]] {
        running.post(body, "").await.refuses(Why::Malformed);
    }
    let body = serde_json::to_vec(&am.next()).unwrap();
    running.post(&body, "").await.refuses(Why::WrongMac);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_announced_or_not() {
    let running = start(ShimParams { body_bytes: 1_000, ..one_look() }).await;
    running.post(&[b' '; 1_001], "").await.refuses(Why::TooLarge);
    let mut stream = running.connect().await;
    stream.write_all(running.head(10_000_000_000, "").as_bytes()).await.unwrap();
    answer(&mut stream).await.refuses(Why::TooLarge);
    let mut stream = running.connect().await;
    let head = "POST /shim/v1/exchange HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..3 {
        let _ = stream.write_all(format!("190\r\n{}\r\n", " ".repeat(0x190)).as_bytes()).await;
    }
    answer(&mut stream).await.refuses(Why::TooLarge);
}

#[tokio::test]
async fn what_a_request_gives_rise_to_is_ordered_in_the_answer_to_it() {
    let (mut running, mut am) = (start(ShimParams { decided_ms: 60_000, ..one_look() }).await, Am::new(1, 1, 1));
    am = running.seated_by_the_engine(am, |_| {}).await.0;
    running.shim.own([(am.job(), true)].into());
    while running.facts.try_recv().is_ok() {}
    let task = am.job().task(TaskKind::Map, 3);
    let (address, shim) = (running.address.clone(), running.shim.clone());
    let request = json!({"upto": 1, "maps": 4, "attempts": [{"k": "m", "i": 3, "n": 0, "s": "RUNNING", "p": 0.5}]});
    let asking = tokio::spawn(async move { send(&address, &mut am, request).await });
    let batch = running.facts.recv().await.unwrap();
    shim.carry_out(&decision(task, Action::Duplicate, clock::now()));
    batch.decided.unwrap().send(()).unwrap();
    let answered = asking.await.unwrap().json();
    assert_eq!((answered["actions"][0]["i"].as_u64(), answered["launcher"].as_str()), (Some(3), Some("drover")));
    assert_eq!((&answered["news_exchange_ms"], &answered["next_exchange_ms"]), (&json!(250), &json!(250)));
    assert_eq!(answered["news_of_starts"], json!(true));
    let sent = running.facts.recv().await.unwrap();
    assert!(matches!(sent.facts[0].fact, Fact::Sent { decision: 1, .. }), "{:?}", sent.facts);
}

#[tokio::test]
async fn a_session_that_is_heard_for_the_first_time_has_its_lease_and_its_orders_with_that_answer() {
    let (mut running, am) = (start(ShimParams { decided_ms: 60_000, ..one_look() }).await, Am::new(1, 1, 1));
    let job = am.job();
    let (_, answered) = running
        .seated_by_the_engine(am, |shim| {
            shim.own([(job, true)].into());
            shim.carry_out(&decision(job.task(TaskKind::Map, 1), Action::Duplicate, clock::now()));
        })
        .await;
    assert_eq!((&answered["launcher"], &answered["actions"][0]["i"]), (&json!("drover"), &json!(1)));
    assert_eq!((&answered["news_exchange_ms"], &answered["news_of_starts"]), (&json!(250), &json!(true)));
}

#[tokio::test]
async fn one_whose_job_is_not_drovers_is_answered_as_ever_once_that_is_known() {
    let (mut running, am) = (start(ShimParams { decided_ms: 60_000, ..one_look() }).await, Am::new(1, 1, 1));
    let (_, answered) = running.seated_by_the_engine(am, |_| {}).await;
    assert_eq!((&answered["launcher"], &answered["next_exchange_ms"]), (&json!("native"), &json!(1_000)));
    assert!(answered["news_exchange_ms"].is_null() && answered["news_of_starts"].is_null());
}

#[tokio::test]
async fn a_large_body_is_taken() {
    let (mut running, mut am) = (start(one_look()).await, Am::new(1, 1, 1));
    running.seat(&mut am).await;
    let rows: Vec<_> = (0..20_000).map(|i| json!({"k": "m", "i": i, "n": 0, "s": "RUNNING", "p": 0.5})).collect();
    let answered = running.send(&mut am, json!({"upto": 20_000, "maps": 20_000, "attempts": rows})).await;
    assert_eq!((answered.status, answered.json()["ack"].as_u64()), (200, Some(20_000)));
    let batches = std::iter::from_fn(|| running.facts.try_recv().ok());
    assert!(
        batches
            .flatten()
            .any(|o| matches!(o.fact, drover_core::model::Fact::Attempts { attempts, .. } if attempts.len() == 20_000))
    );
}

#[tokio::test]
async fn bodies_that_come_slowly_or_never_end_and_hold_up_no_one() {
    let (running, mut am) = (start(ShimParams { body_ms: 300, ..one_look() }).await, Am::new(1, 1, 1));
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut stream = running.connect().await;
        stream.write_all(format!("{}{{", running.head(1_000, "")).as_bytes()).await.unwrap();
        slow.push(stream);
    }
    running.seat(&mut am).await;
    for stream in &mut slow {
        answer(stream).await.refuses(Why::SlowBody);
    }
    let mut stream = running.connect().await;
    stream.write_all(format!("{}{{", running.head(1_000, "")).as_bytes()).await.unwrap();
    drop(stream);
    assert_eq!(running.send(&mut am, json!({})).await.status, 200);
}

#[tokio::test]
async fn bodies_share_a_budget_which_is_given_back() {
    let (running, mut am) =
        (start(ShimParams { bytes_in_flight: 3_000, body_ms: 60_000, ..one_look() }).await, Am::new(1, 1, 1));
    let mut holder = running.connect().await;
    holder.write_all(running.head(4_000, "").as_bytes()).await.unwrap();
    holder.write_all(&[b' '; 2_900]).await.unwrap();
    // Another's, of whom is kept that it could not be seated.
    let mut other = Am::new(2, 1, 2);
    let mut answered = running.send(&mut other, json!({})).await;
    while answered.status != 503 {
        // What the holder sent may not have been read yet.
        tokio::time::sleep(Duration::from_millis(1)).await;
        answered = running.send(&mut other, json!({})).await;
    }
    answered.refuses(Why::Overloaded);
    drop(holder);
    running.seat(&mut am).await;
}

/// On a runtime with one thread for large bodies, which is taken.
#[test]
fn an_exchange_whose_peer_has_left_keeps_its_place_until_its_body_has_been_read() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let (running, mut am) = (start(ShimParams { exchanges_in_flight: 1, ..one_look() }).await, Am::new(1, 1, 1));
        let (release, released) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || released.recv());
        let mut holder = running.connect().await;
        holder.write_all(running.head(heavy::LARGE, "").as_bytes()).await.unwrap();
        holder.write_all(&vec![b' '; heavy::LARGE]).await.unwrap();
        while running.send(&mut am, json!({})).await.status != 503 {}
        drop(holder);
        for _ in 0..30 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let answered = running.send(&mut am, json!({})).await;
            answered.refuses(Why::Overloaded);
            assert!(answered.json()["retry_ms"].as_u64() >= Some(1_000));
        }
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        while running.send(&mut am, json!({})).await.status == 503 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
}

#[tokio::test]
async fn a_body_that_is_sent_slowly_holds_no_place_of_an_exchange() {
    let params = ShimParams { exchanges_in_flight: 1, body_ms: 60_000, ..one_look() };
    let (running, mut am) = (start(params).await, Am::new(1, 1, 1));
    let mut holder = running.connect().await;
    holder.write_all(running.head(4_000, "").as_bytes()).await.unwrap();
    holder.write_all(b"{").await.unwrap();
    // The head has been read once exchanges of later have been answered on the same single thread.
    for number in 1..20 {
        assert_eq!(running.send(&mut Am::new(number, 1, 2), json!({})).await.status, 202);
    }
    assert_eq!(running.send(&mut am, json!({})).await.status, 202);
}

#[tokio::test]
async fn connections_are_bounded_and_silent_ones_are_closed() {
    let (running, mut am) = (start(ShimParams { connections: 2, idle_ms: 200, ..one_look() }).await, Am::new(1, 1, 1));
    running.cluster.runs(&am);
    let mut silent = [running.connect().await, running.connect().await];
    // This one waits until a silent one was closed.
    assert_eq!(running.send(&mut am, json!({})).await.status, 202);
    for stream in &mut silent {
        assert!(closed(stream).await);
    }
}

#[tokio::test]
async fn an_exchange_in_hand_ends_before_the_service_does() {
    let (running, mut am) = (start(one_look()).await, Am::new(1, 1, 1));
    running.seat(&mut am).await;
    let body = serde_json::to_vec(&am.with(json!({"upto": 3}))).unwrap();
    let (mut stream, mut idle) = (running.connect().await, running.connect().await);
    stream.write_all(running.head(body.len(), &mac::sign(&am.key, &body)).as_bytes()).await.unwrap();
    stream.write_all(&body[..10]).await.unwrap();
    // The head has been read once another exchange of later has been answered on the same single thread.
    assert_eq!(running.send(&mut Am::new(2, 1, 2), json!({})).await.status, 202);
    running.stop.cancel();
    tokio::task::yield_now().await;
    stream.write_all(&body[10..]).await.unwrap();
    assert_eq!(answer(&mut stream).await.json()["ack"], json!(3));
    assert!(closed(&mut idle).await);
    running.task.await.unwrap().unwrap();
}
