//! Many shims against one service on loopback: `cargo bench --bench shim_sessions [-- --sessions N --updates N --seconds N]`.
//!
//! The service runs in this process, all shims in a child, so that their CPU can be told apart. The cluster that vouches is made up; everything else is the
//! real listener. Facts are counted and dropped: what the engine makes of them is measured elsewhere.

mod load;
mod process;

use drover::shim::{AppLife, AppVouch, Batch, Identity, Metrics, Shim, ShimParams, Vouch, VouchError};
use drover_core::model::{AppId, Fact, JobId};
use futures::future::BoxFuture;
use load::{Scenario, Totals};
use process::Usage;
use prometheus::{IntCounterVec, Opts, Registry};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A cluster on which every application runs, and every job's diagnostics hold its shim's proof.
struct Cluster;

impl Vouch for Cluster {
    fn application(&self, _: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>> {
        let told = AppVouch { user: "bench".into(), queue: None, life: AppLife::Running, attempt: 1 };
        Box::pin(async { Ok(told) })
    }

    fn job_diagnostics(&self, job: JobId) -> BoxFuture<'_, Result<String, VouchError>> {
        Box::pin(async move { Ok(load::proof(job.0.seq)) })
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let scenario = Scenario::from_args(&args);
    if let Some(address) = load::value(&args, "--generator") {
        return load::run(&scenario, &address);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let failed = runtime.block_on(serve(scenario));
    std::process::exit(i32::from(failed));
}

/// Runs the service and its shims; true when anything was lost.
async fn serve(scenario: Scenario) -> bool {
    let before = Usage::of_self();
    let registry = Registry::new();
    let refused = IntCounterVec::new(Opts::new("drover_facts_refused_total", "Facts refused."), &["channel", "reason"]);
    let metrics = Metrics::new(&registry, refused.expect("a counter")).expect("metrics");
    let (out, inlet) = mpsc::channel(1024);
    let (rows, facts) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    tokio::spawn(count(inlet, Arc::clone(&rows), Arc::clone(&facts)));
    let identity = Identity { epoch: 1, incarnation: "bench".into() };
    let shim = Shim::new(ShimParams::default(), identity, Arc::new(Cluster), out, metrics);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let stop = CancellationToken::new();
    let server = tokio::spawn(shim.clone().serve(listener, stop.clone()));

    let watched = tokio::task::spawn_blocking(move || watch(&scenario, &address)).await.expect("the generator");
    let sessions = shim.sessions().iter().filter(|session| session.accepted).count();
    stop.cancel();
    server.await.expect("the server").expect("the listener");
    let told = rows.load(Ordering::Relaxed);
    report(&watched, sessions, before.rss_kib, facts.load(Ordering::Relaxed));
    let lost = watched.totals.all_rows > told;
    println!(
        "rows acknowledged {}, told to the consumer {told}: {}",
        watched.totals.all_rows,
        if lost { "LOST SOME" } else { "none lost" }
    );
    lost || watched.totals.refused > 0
}

async fn count(mut inlet: mpsc::Receiver<Batch>, rows: Arc<AtomicU64>, facts: Arc<AtomicU64>) {
    while let Some(batch) = inlet.recv().await {
        facts.fetch_add(batch.facts.len() as u64, Ordering::Relaxed);
        for observation in batch {
            if let Fact::Attempts { attempts, .. } = observation.fact {
                rows.fetch_add(attempts.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

/// What was seen of both processes while the load was steady.
struct Watched {
    scenario: Scenario,
    server: Usage,
    generator: Usage,
    wall: f64,
    ready: f64,
    totals: Totals,
}

/// Starts the shims and follows what they say: READY, START, END and their totals.
fn watch(scenario: &Scenario, address: &str) -> Watched {
    let me = std::env::current_exe().expect("this program");
    let mut command = Command::new(me);
    command.args(["--generator", address]).args(scenario.args()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the generator starts");
    let began = Instant::now();
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let (mut ready, mut start, mut steady) = (0.0, None, None);
    let mut totals = Totals::default();
    for line in lines.map_while(Result::ok) {
        let usage = || (Instant::now(), Usage::of_self(), Usage::of(child.id()));
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("READY", _) => {
                ready = began.elapsed().as_secs_f64();
                println!("{} sessions accepted after {ready:.1} s; settling", scenario.sessions);
            }
            ("START", _) => {
                start = Some(usage());
                println!("measuring for {} s", scenario.seconds);
            }
            ("END", rest) => {
                steady = start.as_ref().map(|(at, server, generator)| {
                    let (now, s, g) = usage();
                    (now.duration_since(*at).as_secs_f64(), s.since(server), g.since(generator))
                });
                totals = serde_json::from_str(rest).expect("totals");
            }
            _ => println!("{line}"),
        }
    }
    let status = child.wait().expect("the generator ends");
    assert!(status.success(), "the generator failed: {status}");
    let (wall, server, generator) = steady.expect("a steady time");
    Watched { scenario: scenario.clone(), server, generator, wall, ready, totals }
}

fn report(w: &Watched, sessions: usize, rss_before: u64, facts: u64) {
    let t = &w.totals;
    let per_s = |n: u64| n as f64 / w.wall;
    let each = |total: f64, n: u64| total / n.max(1) as f64;
    println!("\nsessions                    {sessions}, all accepted after {:.1} s", w.ready);
    println!("updates a second            {:.0} of {} offered", per_s(t.rows), w.scenario.updates);
    println!(
        "exchanges a second          {:.0}, {:.0} bytes each",
        per_s(t.exchanges),
        each(t.bytes as f64, t.exchanges)
    );
    println!("pace asked for              {} ms", t.pace_ms);
    println!("latency, ms                 p50 {:.2}, p99 {:.2}, max {:.1}", t.p50_ms, t.p99_ms, t.max_ms);
    let cpu_us = each(w.server.cpu_s * 1e6, t.exchanges);
    println!("CPU of the service          {:.2} cores, {cpu_us:.0} us an exchange", w.server.cpu_s / w.wall);
    println!("CPU of the shims            {:.2} cores", w.generator.cpu_s / w.wall);
    let mib = |kib: u64| kib as f64 / 1024.0;
    println!(
        "memory of the service       {:.0} MiB, {:.0} at its peak, {:.0} before",
        mib(w.server.rss_kib),
        mib(w.server.peak_kib),
        mib(rss_before)
    );
    println!("observations in all         {facts}");
    println!("refused                     {}", t.refused);
}
