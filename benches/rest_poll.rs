//! How old is what the poller knows of tasks, and what does it cost?
//!
//! Serves 200 running jobs of 500 tasks on loopback, in a process of its own, and lets the real poller watch them at
//! 20 requests a second. Prints the age of task progress, requests and bytes a second, and the poller's CPU and memory.
//!
//!     cargo bench --bench rest_poll [-- --seconds 60 --jobs 200 --tasks 500 --per-second 20]
//!
//! Ends with status 1 when the 95th percentile of the age is over 15 s at 20 requests a second or fewer jobs than given were seen.

#[path = "rest_poll/cluster.rs"]
mod cluster;

use drover::clock;
use drover::yarn::discover::{Cluster, Overrides};
use drover::yarn::http::HttpParams;
use drover::yarn::metrics::Metrics;
use drover::yarn::poll::{Clients, Poller};
use drover::yarn::schedule::{ScheduleParams, Wants};
use drover_core::model::{AttemptId, Fact, JobId, Observation, TaskId, TaskKind, Time};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const TARGET: Duration = Duration::from_secs(15);

struct Args {
    seconds: u64,
    jobs: u32,
    tasks: u32,
    per_second: f64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let value =
        |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).and_then(|v| v.parse().ok());
    let number = |name: &str, default: u32| value(name).map_or(default, |v: f64| v as u32);
    let args = Args {
        seconds: u64::from(number("--seconds", 60)),
        jobs: number("--jobs", 200),
        tasks: number("--tasks", 500),
        per_second: value("--per-second").unwrap_or(20.0),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if std::env::args().any(|a| a == "serve") {
        runtime.block_on(cluster::serve(args.jobs, args.tasks));
        return ExitCode::SUCCESS;
    }
    let mut server = Server::start(&args);
    let report = runtime.block_on(watch(&args, &server.address, |_| {}));
    server.stop();
    report.print(&args);
    if report.is_good(&args) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The generated cluster, in a child process so that its CPU is not counted as the poller's.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(args: &Args) -> Server {
        let me = std::env::current_exe().expect("the path of this program");
        let mut child = Command::new(me)
            .args(["serve", "--jobs", &args.jobs.to_string(), "--tasks", &args.tasks.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a second process of this program");
        let mut address = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut address).expect("its address");
        Server { child, address: address.trim().to_owned() }
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Always some attempts worth a call, so that the poller never has spare requests.
struct ThreeSuspects;

impl Wants for ThreeSuspects {
    fn known(&self) -> Vec<JobId> {
        Vec::new()
    }
    fn suspects(&self, job: JobId, limit: usize) -> Vec<TaskId> {
        (0..3).take(limit).map(|index| job.task(TaskKind::Map, index)).collect()
    }
    fn counters(&self, _: JobId, _: usize) -> Vec<AttemptId> {
        Vec::new()
    }
    fn has_shim(&self, _: JobId) -> bool {
        false
    }
    fn settings_known(&self, _: JobId) -> bool {
        false
    }
}

#[derive(Default)]
struct Report {
    jobs_seen: usize,
    first_round: Duration,
    ages: Vec<u64>,
    requests: u64,
    bytes: u64,
    tasks: u64,
    window: Duration,
    cpu: Duration,
    resident_kb: u64,
}

/// Watches for the given time, and gives every observation to `engine`: the place to measure an engine's passes.
async fn watch(args: &Args, address: &str, mut engine: impl FnMut(&Observation)) -> Report {
    let overrides = Overrides { rms: vec![address.to_owned()], ..Overrides::default() };
    let found = Cluster::discover(None, &overrides).expect("an address");
    let mut params = HttpParams::default();
    params.ceilings.proxy.per_second = args.per_second;
    let metrics = Metrics::unregistered().expect("metrics");
    let clients = Clients::new(&found, params, metrics.clone()).expect("a client");
    let (out, mut taken) = mpsc::channel(1024);
    let stop = CancellationToken::new();
    let poller =
        tokio::spawn(Poller::new(clients, ScheduleParams::default(), Arc::new(ThreeSuspects), out).run(stop.clone()));

    let mut newest: HashMap<JobId, Time> = HashMap::new();
    let mut report = Report::default();
    let (began, mut measured_from) = (Instant::now(), None::<(Instant, (u64, u64), Duration)>);
    let mut sample = tokio::time::interval(Duration::from_millis(500));
    loop {
        tokio::select! {
            Some(observation) = taken.recv() => {
                engine(&observation);
                if let Fact::Tasks { job, tasks, .. } = &observation.fact {
                    newest.insert(*job, observation.at);
                    report.tasks += measured_from.map_or(0, |_| tasks.len() as u64);
                }
            }
            _ = sample.tick() => {
                let all = newest.len() >= args.jobs as usize;
                if all && measured_from.is_none() {
                    report.first_round = began.elapsed();
                    measured_from = Some((Instant::now(), metrics.totals(), cpu_time()));
                }
                if let Some((from, ..)) = measured_from {
                    let now = clock::now();
                    report.ages.extend(newest.values().map(|at| now.since(*at).0));
                    if from.elapsed() >= Duration::from_secs(args.seconds) {
                        break;
                    }
                }
                if began.elapsed() > Duration::from_secs(args.seconds + 60) {
                    break;
                }
            }
        }
    }
    if let Some((from, (requests, bytes), cpu)) = measured_from {
        let now = metrics.totals();
        report.window = from.elapsed();
        report.cpu = cpu_time().saturating_sub(cpu);
        (report.requests, report.bytes) = (now.0 - requests, now.1 - bytes);
    }
    report.jobs_seen = newest.len();
    report.resident_kb = resident_kb();
    stop.cancel();
    let _ = poller.await;
    report.ages.sort_unstable();
    report
}

impl Report {
    fn age(&self, share: f64) -> Duration {
        let index = ((self.ages.len().max(1) - 1) as f64 * share).round() as usize;
        Duration::from_millis(self.ages.get(index).copied().unwrap_or(u64::MAX))
    }

    fn is_good(&self, args: &Args) -> bool {
        self.jobs_seen == args.jobs as usize && (args.per_second < 20.0 || self.age(0.95) <= TARGET)
    }

    fn print(&self, args: &Args) {
        let seconds = self.window.as_secs_f64().max(0.001);
        println!(
            "{} of {} jobs x {} tasks watched over REST for {seconds:.0} s",
            self.jobs_seen, args.jobs, args.tasks
        );
        println!("all jobs read once after      {:8.1} s", self.first_round.as_secs_f64());
        for (name, share) in [("p50", 0.5), ("p95", 0.95), ("max", 1.0)] {
            println!("age of task progress, {name}     {:8.1} s", self.age(share).as_secs_f64());
        }
        println!(
            "requests                      {:8.1} /s (ceiling {} /s through the proxy)",
            self.requests as f64 / seconds,
            args.per_second
        );
        println!("bytes                         {:8.2} MB/s", self.bytes as f64 / seconds / 1e6);
        println!("task facts                    {:8.0} /s", self.tasks as f64 / seconds);
        println!("CPU of the poller             {:8.1} % of a core", 100.0 * self.cpu.as_secs_f64() / seconds);
        println!("resident memory               {:8.1} MB", self.resident_kb as f64 / 1024.0);
    }
}

/// User and system time of this process so far.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    // Fields 14 and 15 of the line, in ticks of 10 ms.
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
