//! The shims: each a job of its own whose tasks report evenly, calling at the pace the service asks for, on a connection it keeps.

use drover::shim::{Key, mac};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Start of the ResourceManager and an AM's clock, Unix ms.
const CLOCK: u64 = 1_795_181_650_543;

/// How much load.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Shims.
    pub sessions: u32,
    /// Status updates of tasks a second, over all shims.
    pub updates: u32,
    /// How long to measure.
    pub seconds: u64,
}

/// What the shims saw while the load was steady.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    pub exchanges: u64,
    pub rows: u64,
    /// Rows acknowledged from the beginning on.
    pub all_rows: u64,
    pub bytes: u64,
    pub refused: u64,
    pub pace_ms: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}

/// The value after a flag.
pub fn value(args: &[String], flag: &str) -> Option<String> {
    args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1)).cloned()
}

impl Scenario {
    pub fn from_args(args: &[String]) -> Scenario {
        let number = |flag: &str, default: u32| {
            value(args, flag).map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{flag} {v} is no number")))
        };
        let (sessions, updates) = (number("--sessions", 5_000).max(1), number("--updates", 100_000));
        Scenario { sessions, updates, seconds: u64::from(number("--seconds", 20)) }
    }

    pub fn args(&self) -> Vec<String> {
        let pairs =
            [("--sessions", u64::from(self.sessions)), ("--updates", self.updates.into()), ("--seconds", self.seconds)];
        pairs.iter().flat_map(|(flag, n)| [flag.to_string(), n.to_string()]).collect()
    }
}

fn key(job: u32) -> Key {
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&job.to_be_bytes());
    Key::from(bytes)
}

/// What the job's diagnostics hold.
pub fn proof(job: u32) -> String {
    format!("drover-proof v1 {job:032x} {}", hex::encode(mac::hash(&key(job))))
}

/// Shared by all shims; they run on one thread.
#[derive(Default)]
struct Tally {
    totals: Totals,
    latencies: Vec<f32>,
    accepted: u32,
    steady: bool,
}

struct Shim {
    job: u32,
    key: Key,
    seq: u64,
    acked: u64,
    sent: u64,
    believed: bool,
    began: Instant,
    per_s: f64,
    tasks: u64,
    body: String,
}

impl Shim {
    /// The next request, and how many rows it carries: every status update since the last one that was acknowledged, the newest of each task.
    fn request(&mut self) -> u64 {
        self.seq += 1;
        let (job, ms) = (self.job, self.began.elapsed().as_millis() as u64);
        self.sent = if self.believed { (self.began.elapsed().as_secs_f64() * self.per_s) as u64 } else { 0 };
        let body = &mut self.body;
        body.clear();
        let _ = write!(
            body,
            r#"{{"protocol":1,"shim":"0.1.0","session":"{job:032x}","attempt":"appattempt_{CLOCK}_{job:04}_000001","job":"job_{CLOCK}_{job:04}","seq":{},"clock":{{"am_ms":{},"mono_ms":{ms}}},"epoch":1,"lease_ms":0,"#,
            self.seq,
            CLOCK + ms,
        );
        if !self.believed {
            let _ = write!(
                body,
                r#""hello":{{"key":"{}","user":"bench","queue":"root.default","name":"bench","hadoop":"3.4.3","java":"17","mode":"advise","uber":false,"settings":{{}}}},"#,
                hex::encode(self.key.bytes())
            );
        }
        let _ = write!(
            body,
            r#""base":{},"upto":{},"more":false,"job_state":"RUNNING","maps":{},"reduces":0,"hosts":[],"tasks":[],"attempts":["#,
            self.acked, self.sent, self.tasks
        );
        // Updates go round the tasks; what a task reported twice since then goes up once.
        let rows = (self.sent - self.acked).min(self.tasks);
        for update in self.sent - rows..self.sent {
            let (i, c) = (update % self.tasks, update / self.tasks + 1);
            let comma = if update + 1 == self.sent { "" } else { "," };
            let _ = write!(
                body,
                r#"{{"k":"m","i":{i},"n":0,"s":"RUNNING","p":0.{:04},"u":{},"c":{c},"ctr":{{"in":{},"rec":{},"cpu":{}}}}}{comma}"#,
                update % 10_000,
                CLOCK + ms - i,
                c * 65_536,
                c * 1_000,
                c * 420
            );
        }
        body.push_str(r#"],"needs":{"m":0,"r":0},"native":{"launched":0},"dropped":{},"acks":[]}"#);
        rows
    }
}

/// Plays all shims on one thread and says on standard output when what begins.
pub fn run(scenario: &Scenario, address: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let tally = Rc::new(RefCell::new(Tally::default()));
    let all = tokio::task::LocalSet::new();
    all.block_on(&runtime, async {
        for job in 1..=scenario.sessions {
            let (address, tally, scenario) = (address.to_string(), Rc::clone(&tally), scenario.clone());
            tokio::task::spawn_local(async move { shim(job, &scenario, &address, &tally).await });
        }
        while tally.borrow().accepted < scenario.sessions {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        println!("READY");
        // Two rounds of the longest pace expected, so that the pace and the rows of each exchange have settled.
        tokio::time::sleep(Duration::from_secs(12)).await;
        println!("START");
        tally.borrow_mut().steady = true;
        tokio::time::sleep(Duration::from_secs(scenario.seconds)).await;
        tally.borrow_mut().finish();
        println!("END {}", serde_json::to_string(&tally.borrow().totals).expect("totals"));
    });
}

impl Tally {
    fn finish(&mut self) {
        self.steady = false;
        self.latencies.sort_unstable_by(f32::total_cmp);
        let share =
            |q: f64| self.latencies.get((self.latencies.len() as f64 * q) as usize).map_or(0.0, |ms| f64::from(*ms));
        (self.totals.p50_ms, self.totals.p99_ms) = (share(0.5), share(0.99));
        self.totals.max_ms = self.latencies.last().map_or(0.0, |ms| f64::from(*ms));
    }
}

async fn shim(job: u32, scenario: &Scenario, address: &str, tally: &RefCell<Tally>) {
    let per_s = f64::from(scenario.updates) / f64::from(scenario.sessions);
    // As many tasks as report within 10 s: at a pace of 5 s no report is coalesced.
    let tasks = ((per_s * 10.0) as u64).max(1);
    let mut shim = Shim {
        job,
        key: key(job),
        seq: 0,
        acked: 0,
        sent: 0,
        believed: false,
        began: Instant::now(),
        per_s,
        tasks,
        body: String::new(),
    };
    // AMs do not start in the same instant.
    tokio::time::sleep(Duration::from_micros(u64::from(job) * 400)).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let mut buffer = Vec::with_capacity(1024);
    loop {
        let rows = shim.request();
        let head = format!(
            "POST /shim/v1/exchange HTTP/1.1\r\nHost: drover\r\nContent-Type: application/json\r\nContent-Length: {}\r\nX-Drover-Mac: {}\r\n\r\n",
            shim.body.len(),
            mac::sign(&shim.key, shim.body.as_bytes())
        );
        let sent = Instant::now();
        stream.write_all(&[head.as_bytes(), shim.body.as_bytes()].concat()).await.expect("a request");
        let status = answer(&mut stream, &mut buffer).await;
        let wait = settle(&mut shim, status, &buffer, rows, sent.elapsed(), tally);
        tokio::time::sleep(wait.saturating_sub(sent.elapsed())).await;
    }
}

/// Takes an answer to heart; how long to wait for the next exchange.
fn settle(shim: &mut Shim, status: u16, body: &[u8], rows: u64, took: Duration, tally: &RefCell<Tally>) -> Duration {
    #[derive(Deserialize)]
    struct Answer {
        ack: Option<u64>,
        next_exchange_ms: Option<u64>,
        retry_ms: Option<u64>,
    }
    let said: Answer = serde_json::from_slice(body).expect("an answer");
    let mut tally = tally.borrow_mut();
    match status {
        200 => {
            if !std::mem::replace(&mut shim.believed, true) {
                tally.accepted += 1;
                shim.began = Instant::now();
            }
            shim.acked = said.ack.unwrap_or(0);
            tally.totals.all_rows += rows;
            if tally.steady {
                tally.totals.exchanges += 1;
                tally.totals.rows += rows;
                tally.totals.bytes += shim.body.len() as u64;
                tally.totals.pace_ms = said.next_exchange_ms.unwrap_or(0);
                tally.latencies.push(took.as_secs_f32() * 1000.0);
            }
        }
        202 => {}
        _ => {
            tally.totals.refused += 1;
            eprintln!("refused: {}", String::from_utf8_lossy(body));
        }
    }
    Duration::from_millis(said.next_exchange_ms.or(said.retry_ms).unwrap_or(1_000))
}

/// Reads one answer; its status, and its body in the buffer.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> u16 {
    buffer.clear();
    loop {
        let n = stream.read_buf(buffer).await.expect("an answer");
        assert!(n > 0, "the service closed the connection");
        let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&buffer[..end]).expect("a head");
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        let (status, whole) = (head[9..12].parse().expect("a status"), end + 4 + length.expect("a length"));
        if buffer.len() >= whole {
            buffer.drain(..end + 4);
            return status;
        }
    }
}
