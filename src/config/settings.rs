//! Every setting, declared once. File, environment, flags, documentation and sample follow from here.

use super::setting::{Field, Group, Setting, Values, key, settings};
use super::value::Kind;
use drover_core::model::{Bytes, Decision, Millis, Mode};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use url::Url;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const SHARE: Kind = Kind::Real(0.0, 1.0);

/// Policies that can be chosen.
pub const POLICIES: &[&str] = &[
    "late",
    "late-early",
    "hadoop",
    "hadoop-tuned",
    "hadoop-0.20",
    "mapreduce",
    "dryad",
    "mantri",
    "dolly",
    "drover",
    "blacklist",
    "none",
];
/// Estimators that can be chosen.
pub const ESTIMATORS: &[&str] =
    &["late", "phase-aware", "hadoop-legacy", "hadoop-smoothed", "hadoop-simple-exponential", "mantri"];
/// Ways to admit clones.
pub const ADMISSIONS: &[&str] = &["all-or-nothing", "partial", "preempt", "first-come"];
/// What clones are of.
pub const CLONE_SCHEMES: &[&str] = &["task", "job"];
/// Which output of the maps' clones each clone of a reduce reads.
pub const CLONE_READS: &[&str] = &["delay", "cac", "cc"];
/// Sets of constants that can be chosen.
pub const PRESETS: &[&str] = &["adapted", "paper", "paper-hotcloud"];

settings! {
    /// What Drover may do and how it decides.
    top: Top = "" {
        /// How far Drover may go anywhere in the cluster: `off` looks and says nothing, `advise` says what it would do,
        /// `act` does it. Queues, users and jobs may only be more cautious.
        mode: Mode = "advise", Kind::Mode, reloadable;
        /// The policy that proposes copies, clones and restarts: `drover` puts those of the papers together, and the others are there to compare with
        /// ([what each does](configuration.md#policies)).
        policy: String = "drover", Kind::Choice(POLICIES), reloadable;
        /// How time left is estimated ([what each does](configuration.md#estimators)). The policies `mantri` and `drover` go by `mantri`'s where they weigh copies, and `hadoop` and
        /// `hadoop-tuned` by one of Hadoop's.
        estimator: Option<String> = "", Kind::Choice(ESTIMATORS), reloadable;
        /// For a job of a kind (the same user, the same name but for its numbers) for which another estimator has proved better than `estimator`, that one is
        /// taken: where its median error at half of the progress is less than nine tenths, over 20 tasks or more. `/api/v1/calibration` shows the errors. The
        /// policies `hadoop` and `hadoop-tuned` keep theirs.
        choose_estimator: bool = "false", Kind::Flag, reloadable;
        /// What holds where a setting below is not set: `adapted` suits short tasks too, `paper` takes the papers' own constants, and of the budgets only the one
        /// that the policy's paper has. `paper-hotcloud` is `paper` but for Dolly's constants: those of its first paper (HotCloud 2012). What keeps jobs from harm is the same under each.
        preset: String = "adapted", Kind::Choice(PRESETS), reloadable;
    }

    /// Where the cluster is.
    cluster: Cluster = "cluster" {
        /// Directory of the cluster's client configuration (core-site.xml, yarn-site.xml, mapred-site.xml). The variable
        /// HADOOP_CONF_DIR is read too.
        conf_dir: Option<PathBuf> = "", Kind::Path;
        /// Addresses of the ResourceManagers' web servers, when they are not to be taken from the configuration. Each by a name of its own: one name that moves from the one to the other
        /// is asked for anew only when connections end.
        rm_urls: Vec<Url> = "", Kind::Urls;
        /// Address of the JobHistoryServer's web server, when it is not to be taken from the configuration.
        history_url: Option<Url> = "", Kind::Url;
        /// Address of the WebAppProxy, where it is a server of its own (`yarn.web-proxy.address`) and is not to be taken from the
        /// configuration. Without one the ResourceManagers lead to ApplicationMasters.
        proxy_url: Option<Url> = "", Kind::Url;
        /// User name sent to a cluster with simple authentication; without it the cluster sees its static web user.
        user: Option<String> = "", Kind::Text;
    }

    /// How hard Drover may lean on the cluster's web servers. Intervals are the shortest; load and errors stretch them.
    rest: Rest = "rest" {
        /// Requests a second to the ResourceManager's proxy, all jobs together.
        proxy_requests_per_second: f64 = "20", Kind::Real(0.1, 10_000.0);
        /// Requests a second to the ResourceManager itself.
        rm_requests_per_second: f64 = "5", Kind::Real(0.1, 1_000.0);
        /// Requests a second to the JobHistoryServer, eight of them at once at most. The end of a job is two or more, so more than half as many
        /// jobs that end each second would wait longer and longer.
        history_requests_per_second: f64 = "20", Kind::Real(0.1, 1_000.0);
        /// Requests through the proxy under way at once: enough that a few ApplicationMasters that hang do not hold up the others.
        in_flight: u64 = "16", Kind::Whole(1, 256);
        /// How long a connection may take.
        connect_timeout: Millis = "3s", Kind::Span(100, MINUTE);
        /// How long one request may take.
        timeout: Millis = "15s", Kind::Span(100, 5 * MINUTE);
        /// Largest answer of the ResourceManager that is read; a listing of 10,000 nodes has some 20 MB.
        body_limit: Bytes = "64MiB", Kind::Size(64 * KIB, GIB);
        /// Largest answer of an ApplicationMaster that is read; a listing of 70,000 tasks has some 16 MB.
        job_body_limit: Bytes = "16MiB", Kind::Size(64 * KIB, GIB);
        /// File of certificates (PEM) to trust beside the system's.
        ca_file: Option<PathBuf> = "", Kind::Path;
        /// Between two listings of running applications.
        apps_interval: Millis = "3s", Kind::Span(200, 10 * MINUTE);
        /// Between two readings of the cluster's totals.
        totals_interval: Millis = "2s", Kind::Span(200, 10 * MINUTE);
        /// Between two listings of nodes.
        nodes_interval: Millis = "3s", Kind::Span(500, HOUR);
        /// Between two readings of the scheduler's queues.
        queues_interval: Millis = "5s", Kind::Span(500, HOUR);
        /// Between two listings of a job's tasks.
        tasks_interval: Millis = "5s", Kind::Span(200, 10 * MINUTE);
        /// The same for a job that is new or small.
        tasks_interval_soon: Millis = "2s", Kind::Span(200, 10 * MINUTE);
        /// Tasks whose attempts are read after each listing, at most.
        suspects: u64 = "8", Kind::Whole(0, 1_000);
        /// Share of the time that one poll may be under way: a slow answer stretches its interval. At 0.25 the one slow answer of an
        /// ApplicationMaster that has just started costs seconds; at 0.05 it blinds Drover for twenty.
        busy_share: f64 = "0.25", Kind::Real(0.01, 1.0);
        /// Jobs watched over REST, at most; those whose shim tells of them do not count, and the engine keeps no more than 20,000 in all.
        max_jobs: u64 = "10000", Kind::Whole(1, 100_000);
    }

    /// The sessions of the shims inside the ApplicationMasters.
    shim: ShimSettings = "shim" {
        /// Shortest time between two exchanges of a session.
        min_exchange_interval: Millis = "1s", Kind::Span(100, MINUTE);
        /// Exchanges a second, all sessions together, beyond which the pace stretches.
        exchanges_per_second: u64 = "1000", Kind::Whole(1, 100_000);
        /// Changed rows a second, all sessions together, beyond which the pace stretches.
        rows_per_second: u64 = "150000", Kind::Whole(100, 100_000_000);
        /// Sessions believed at once.
        sessions: u64 = "6000", Kind::Whole(1, 100_000);
        /// Connections open at once. From one address, unless it is a loopback one, no more than half of them.
        connections: u64 = "16384", Kind::Whole(16, 1_000_000);
        /// Largest exchange that is read.
        body_limit: Bytes = "4MiB", Kind::Size(64 * KIB, GIB);
        /// Refuse what comes over plain HTTP from another machine.
        require_tls: bool = "false", Kind::Flag;
    }

    /// How far Drover goes where the mode is `act`.
    act: Act = "act" {
        /// How long a job's speculation stays Drover's after its newest exchange; longer where four exchanges take longer. When the service
        /// is gone, Hadoop's own speculator has the job back after this time.
        lease: Millis = "10s", Kind::Span(2 * SECOND, MINUTE);
        /// Act through shims that come over plain HTTP from the network, too. Whoever can read or change that traffic could then have
        /// copies started and attempts killed in Drover's name. The jobs have to insist, too: `drover.act.plain-http` ([shim](shim.md#properties-of-a-job)). Without both they are only advised on.
        plain_http: bool = "false", Kind::Flag;
        /// Have attempts killed so that their tasks start anew on another node (Mantri §5.1), where the policy finds that better than a copy. It gives up what the attempt
        /// has done for what is only an estimate, so it is not done unless it is asked for ([acting](acting.md#restarts)).
        restart: bool = "false", Kind::Flag;
        /// Have attempts of jobs that do not load the shim killed so that their tasks start anew, through the ResourceManager's proxy (Hadoop 2.8 and later); nothing else can be done to such jobs. Over REST an
        /// attempt that succeeds in that instant may lose its output, and its map runs again ([acting](acting.md#restarts-over-rest)).
        rest_restart: bool = "false", Kind::Flag;
        /// Keep all new containers of a job, not only copies, off the machines that `blacklist.beside` lists and off those on which its own tasks straggle, by the ApplicationMaster's own blacklist; each is let in
        /// again once it is listed no more ([acting](acting.md#machines-to-avoid)). It does nothing without `blacklist.beside = true`.
        avoid: bool = "false", Kind::Flag;
        /// Have maps that have succeeded run again, all of a node's at once, where several reduces could not fetch outputs from it. Their attempts are killed for it, so what can still be fetched
        /// of them is lost ([acting](acting.md#outputs-out-of-reach)).
        rerun: bool = "false", Kind::Flag;
        /// A copy that has not been started so long after the decision is not started any more.
        deadline: Millis = "8s", Kind::Span(SECOND, MINUTE), reloadable;
        /// After that, how long an answer may still be on its way before the attempts that are seen settle what became of a copy.
        answer_grace: Millis = "5s", Kind::Span(SECOND, 10 * MINUTE), reloadable;
        /// Copies of one job's tasks of one kind that may wait for a container at once. The shim takes no more than 8 of a job, maps and reduces together, and refuses the rest as `no_headroom`.
        waiting_copies: u64 = "8", Kind::Whole(1, 10_000), reloadable;
        /// How many extra attempts, copies and restarts together, one task may get, one after another; where several are allowed, the last is always a copy. What was refused does not count, and an order of several clones counts as one.
        /// 0: no limit, and several at once, up to `mantri.copies_max`.
        copies_per_task: Option<u64> = "", Kind::Whole(0, 8), reloadable;
        /// Before a task whose copy was refused, lost on the way or died may have another; twice as long after each further refusal, up to `cool_down`, while the task's attempts stay as they are.
        try_again: Millis = "3s", Kind::Span(0, HOUR), reloadable;
        /// Copies of one job that may be lost in a row before it gets none for the time of `cool_down`; 0: however many.
        futile_copies: Option<u64> = "", Kind::Whole(0, 10_000), reloadable;
        /// How long a job gets no more copies once so many were lost, and how long at most what was refused is not asked for again.
        cool_down: Millis = "1m", Kind::Span(0, HOUR), reloadable;
        /// Copies of one user's jobs that may lose or die in a row on one host before that user's copies are kept off it for the time of `node_cool_down`.
        node_futile_copies: u64 = "4", Kind::Whole(1, 10_000), reloadable;
        /// How long copies are kept off a host once so many came to nothing there, from the last of them on; 0: not at all.
        node_cool_down: Option<Millis> = "", Kind::Span(0, 24 * HOUR), reloadable;
    }

    /// Addresses to listen on. The port 0 takes a free one.
    listen: Listen = "listen" {
        /// The operators' API. Anyone who reaches it may look; keep it on loopback or behind a proxy that authenticates.
        api: SocketAddr = "127.0.0.1:7070", Kind::Address;
        /// Where the shims inside the ApplicationMasters report.
        shim: SocketAddr = "127.0.0.1:7071", Kind::Address;
        /// Prometheus metrics.
        metrics: SocketAddr = "127.0.0.1:7072", Kind::Address;
        /// What those may do who ask from this machine, at a loopback address or at that of `listen.api`: `view`, `operate` or `administer`, which allows no more than `operate` so far. Others may view.
        loopback_role: String = "operate", Kind::Choice(&["view", "operate", "administer"]);
        /// Names under which this machine's own requests may come to the API, beside `localhost` and its host name: those that a proxy on it passes on as `Host`. A web page's name that was made to lead here is none of them.
        api_names: Vec<String> = "", Kind::Words;
        /// Connections at once for each listener but the shims'. From one address, unless it is a loopback one, no more than half of them.
        connections: u64 = "256", Kind::Whole(4, 65_536);
        /// Decisions kept in memory for the API.
        decisions: u64 = "10000", Kind::Whole(100, 1_000_000);
    }

    /// The recording of everything that is observed, for `drover replay`.
    record: Record = "record" {
        /// Directory of the recording; nothing is recorded without it.
        dir: Option<PathBuf> = "", Kind::Path;
        /// Space the recording may take, at least two segments' (`record.segment_bytes`); the oldest segments go first.
        max_bytes: Bytes = "1GiB", Kind::Size(MIB, 1 << 50);
        /// Size at which a new segment is begun, at most half of `record.max_bytes`. Each starts with the state of the engine.
        segment_bytes: Bytes = "64MiB", Kind::Size(64 * KIB, 16 * GIB);
    }

    /// The ledger: what was decided, done and measured, in one SQLite file that outlasts the service (`drover report`).
    ledger: LedgerSettings = "ledger" {
        /// The file; nothing is kept without it. Its directory is made where there is none, and must be on a local disk: SQLite's log does not work over NFS.
        path: Option<PathBuf> = "", Kind::Path;
        /// Rows older than this go.
        max_age: Millis = "90d", Kind::Span(HOUR, 3_650 * 24 * HOUR);
        /// Space that rows may take; the oldest go first. The log beside the file may take 16 MiB more, as much as the largest room of what is learned (a sixteenth of this, 64 MiB at most), or as much as is written while a report is read.
        max_bytes: Bytes = "1GiB", Kind::Size(MIB, 1 << 50);
        /// Go on from what the last process had learned over jobs: how often tasks straggle, how good estimates were, how long tasks took, which policies' copies kept losing, where copies came to nothing. Without it a service begins with nothing, and what it learns takes the place of that.
        resume_learned: bool = "true", Kind::Flag;
    }

    /// What Drover keeps from one start to the next.
    state: State = "state" {
        /// Directory for it: operators' holds (`drover pause`, `drover stop`), which without it are forgotten when the service starts again, and its epoch, by which it outranks its earlier starts.
        dir: Option<PathBuf> = "", Kind::Path;
    }

    /// Logs, on standard error.
    log: Log = "log" {
        /// What is logged: `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,drover::yarn=debug`.
        level: String = "info", Kind::Text, reloadable;
        /// `text` for people, `json` for machines.
        format: String = "text", Kind::Choice(&["text", "json"]);
    }

    /// More caution for some: the most cautious mode that applies wins.
    modes: Modes = "modes" {
        /// Mode of a queue, by its path or the last part of it: `queue.root.etl = "off"` below `[modes]`. A parent stands for none of its queues. Where the ResourceManager tells only the last part of a job's queue, as the capacity scheduler may, every path that ends so is meant.
        queue: BTreeMap<String, Mode> = "", Kind::Modes(&[]), reloadable;
        /// Mode of a user's jobs.
        user: BTreeMap<String, Mode> = "", Kind::Modes(&[]), reloadable;
        /// Mode while a policy is in force.
        policy: BTreeMap<String, Mode> = "", Kind::Modes(POLICIES), reloadable;
    }

    /// Thresholds of the policies `late` and `late-early` (LATE, OSDI 2008, §4). What is not set here is taken from the preset.
    late: Late = "late" {
        /// SlowTaskThreshold: percentile of the progress rates below which a task is slow. Not used where `slow_factor` is above 0.
        slow_task_percentile: Option<f64> = "", SHARE, reloadable;
        /// SlowNodeThreshold: percentile of the nodes' work for a user's running jobs below which a node gets no copy of theirs.
        slow_node_percentile: Option<f64> = "", SHARE, reloadable;
        /// After so long the work that a node has done counts half; 0: in full, for as long as its job runs.
        node_half_life: Option<Millis> = "", Kind::Span(0, 24 * HOUR), reloadable;
        /// A task is slow when its projected run is longer than this many typical runs; 0 leaves it to the percentile.
        slow_factor: Option<f64> = "", Kind::Real(0.0, 100.0), reloadable;
        /// Age before a task is judged.
        min_age: Option<Millis> = "", Kind::Span(0, HOUR), reloadable;
        /// Age before a task is judged, in typical runs of finished tasks of its kind.
        min_age_of_typical: Option<f64> = "", Kind::Real(0.0, 100.0), reloadable;
        /// Progress reports before a task is judged; one is enough at twice the age.
        min_reports: Option<u64> = "", Kind::Whole(0, 1_000), reloadable;
        /// Share of the kind's tasks that has finished before any of them is judged.
        min_finished: Option<f64> = "", SHARE, reloadable;
        /// Gain that is worth a copy, in fresh copies' times.
        min_gain: Option<f64> = "", Kind::Real(0.0, 100.0), reloadable;
        /// Probability of finishing first that is worth a copy.
        min_win_probability: Option<f64> = "", SHARE, reloadable;
        /// Tells a reduce that waits for maps from one that is slow itself.
        tell_waiting_apart: Option<bool> = "", Kind::Flag, reloadable;
    }

    /// Thresholds of the policies `mapreduce` and `dryad`, which act near the end of a phase. What is not set here is taken from the preset.
    tail: Tail = "tail" {
        /// Share of the kind's tasks that has finished before any of the rest gets a copy.
        near_end: Option<f64> = "", SHARE, reloadable;
        /// `dryad`: percentile of the finished tasks' run times beyond which a task has run long.
        percentile: Option<f64> = "", SHARE, reloadable;
    }

    /// Constants of the policy `mantri` (Mantri, OSDI 2010, §5.1), and of what `drover` takes from it. What is not set here is taken from the preset. A restart is advised, and carried out
    /// only where `act.restart` allows it, or `act.rest_restart` for jobs that do not load the shim. A copy too many is not even withdrawn: Hadoop starts another attempt for each one that is killed.
    mantri: Mantri = "mantri" {
        /// Delta: period of progress reports, at most.
        period: Option<Millis> = "", Kind::Span(0, HOUR), reloadable;
        /// Delta is no more than this share of the kind's typical run.
        period_of_typical: Option<f64> = "", SHARE, reloadable;
        /// Delta is no less than this, however short the tasks.
        period_min: Option<Millis> = "", Kind::Span(0, HOUR), reloadable;
        /// rho: while no task waits for a container, a copy must gain more than this many periods.
        rho: Option<f64> = "", Kind::Real(0.0, 1_000.0), reloadable;
        /// delta: probability of saving resources above which a task is copied while others wait for containers.
        delta: Option<f64> = "", SHARE, reloadable;
        /// alpha: copies of a task that are kept once they have run for a period, the fastest.
        alpha: Option<u64> = "", Kind::Whole(1, 3), reloadable;
        /// Copies of a task that may run at once, the first one included.
        copies_max: Option<u64> = "", Kind::Whole(1, 3), reloadable;
        /// gamma: how often a task may be killed to be started anew.
        restarts_max: Option<u64> = "", Kind::Whole(0, Decision::RESTARTS_MAX as u64), reloadable;
        /// Progress reports before a task is judged, over as long as the paper's take for so many (Delta, ten seconds or a tenth of a typical task, between two), and before a kill over an eighth of its age at least, up to the longest Delta; one is enough at twice the typical run.
        min_reports: Option<u64> = "", Kind::Whole(0, 1_000), reloadable;
        /// Tasks, finished or well under way, before a new copy's time is taken from them.
        min_evidence: Option<u64> = "", Kind::Whole(1, 1_000), reloadable;
    }

    /// Constants of the policy `dolly` (Dolly, NSDI 2013, §3), and of what `drover` takes from it. What is not set here is taken from the preset. Clones that are to give way are not withdrawn: Hadoop starts another attempt for each one that is killed.
    dolly: Dolly = "dolly" {
        /// epsilon: acceptable probability that a phase straggles; the number of clones follows from it.
        epsilon: Option<f64> = "", Kind::Real(1e-9, 0.999_999), reloadable;
        /// beta: share of the cluster's memory that cloned phases may take in all, the first attempts of their tasks included.
        beta: Option<f64> = "", SHARE, reloadable;
        /// tau: share of the cluster's memory in use above which nothing is cloned, and clones give way.
        tau: Option<f64> = "", SHARE, reloadable;
        /// Where not all of a phase's clones fit: `all-or-nothing` gives it none, `partial` as many for each task as fit, `preempt` has clones of larger jobs give
        /// way, `first-come` clones until the budget is spent.
        admission: Option<String> = "", Kind::Choice(ADMISSIONS), reloadable;
        /// Each task's clones are counted by the odds of the machines that could take them (HotCloud 2012, Pseudocode 1): fewer where those are reliable, and only
        /// where copies can be put on named hosts, which Hadoop cannot be made to do.
        by_machine: Option<bool> = "", Kind::Flag, reloadable;
        /// p, the probability that a task straggles, while too few tasks have shown it; 0: nothing is cloned until they have.
        prior: Option<f64> = "", SHARE, reloadable;
        /// Tasks that p is to rest on before the prior gives way; older hours count less, and one with fewer than half as many tasks for as much less.
        min_evidence: Option<f64> = "", Kind::Real(1.0, 1e9), reloadable;
        /// What is run several times over: each `task`, or the whole `job` (HotCloud 2012, §3), which Hadoop cannot do: its jobs are then not cloned, as
        /// `cannot_clone_jobs`.
        scheme: Option<String> = "", Kind::Choice(CLONE_SCHEMES), reloadable;
        /// Which output of the maps' clones each clone of a reduce reads (§4): `delay` one of its own or, after omega, any; `cac` one of its own; `cc` the first. On
        /// Hadoop all read the first, whatever is set here: `cannot_choose_output`.
        reads: Option<String> = "", Kind::Choice(CLONE_READS), reloadable;
        /// alpha, on which omega rests: share of its bandwidth that a read gets beside another of the same output (§4.3: .76). Unset: as
        /// earlier runs have shown, and half before any has.
        contention: Option<f64> = "", Kind::Real(0.01, 1.0), reloadable;
        /// 1 − p_c, on which omega rests: probability that a clone finds an output of its own within the time of one read. Unset: as
        /// earlier runs have shown.
        exclusive: Option<f64> = "", SHARE, reloadable;
    }

    /// Which machines are blacklisted (Dolly, NSDI 2013, §2.1.2): those predicted to make tasks straggle, anew in each window of five minutes. What is not
    /// set here is taken from the preset.
    blacklist: Blacklist = "blacklist" {
        /// p_b: predicted share of a machine's tasks that straggle above which it is listed.
        above: Option<f64> = "", SHARE, reloadable;
        /// Less than this share of the cluster's machines is listed, the worst first: Hadoop drops a job's whole blacklist from a third on.
        share: Option<f64> = "", SHARE, reloadable;
        /// Tasks that a prediction is to rest on; older windows count half as much each.
        min_evidence: Option<f64> = "", Kind::Real(0.0, 1e9), reloadable;
        /// Copies keep off the listed machines under every policy.
        beside: Option<bool> = "", Kind::Flag, reloadable;
    }

    /// How much may be done, and what never.
    govern: Govern = "govern" {
        /// SpeculativeCap: copies in flight in the whole cluster, as a share of its slots (LATE §4: a tenth); at least one. 1 is every slot.
        cluster_cap: Option<f64> = "", SHARE, reloadable;
        /// Copies that may be in flight in the cluster however small it is.
        cluster_floor: Option<u64> = "", Kind::Whole(0, 1_000_000), reloadable;
        /// Copies in flight in one job, as a share of its tasks of the kind; at least one.
        job_cap: Option<f64> = "", SHARE, reloadable;
        /// Copies that may be in flight in one job however small it is, for up to half of its tasks of the kind.
        job_floor: Option<u64> = "", Kind::Whole(0, 1_000_000), reloadable;
        /// Copies in flight of one user's jobs, as a share of what the cluster may have; at least one.
        user_cap: f64 = "1", SHARE, reloadable;
        /// Copies in flight of one queue's jobs, as a share of what the cluster may have; at least one.
        queue_cap: f64 = "1", SHARE, reloadable;
        /// Copies in flight for attempts that run on one node: one that fails or stalls slows all of its tasks at once. Clones are not counted; 0 is no such
        /// limit.
        node_copies: Option<u64> = "", Kind::Whole(0, 1_000_000), reloadable;
        /// Copies decided on in the whole cluster within any minute; ten for each that may be in flight there where it is not set and
        /// `preset` is `adapted`; 0 is no such limit.
        copies_per_minute: Option<u64> = "", Kind::Whole(0, 10_000_000), reloadable;
        /// A task must have been worth a copy for so long, without a break, before one is decided on: what looks slow for one instant gets none. Each second of it is one lost on
        /// every straggler. Clones do not wait.
        debounce: Millis = "0s", Kind::Span(0, HOUR), reloadable;
        /// A policy whose copies win a smaller share than this in a user's jobs, by Wilson's 95 % bound at each look, only advises on these for the time of `breaker_rest`, and Hadoop's
        /// own speculator has them back; 0 switches that off. Hadoop's own copies have been seen to win a tenth of the time. Clones are not counted.
        breaker_below: Option<f64> = "", SHARE, reloadable;
        /// Copies that must have ended before that is said; the newest 200 count, and of one job no more than half of this.
        breaker_least: u64 = "20", Kind::Whole(4, 200), reloadable;
        /// How long such a policy only advises. A hold of the whole cluster that is lifted ends it at once.
        breaker_rest: Millis = "10m", Kind::Span(SECOND, 24 * HOUR), reloadable;
        /// Share of the cluster's memory in use above which no copy is decided on.
        busy_above: f64 = "1", SHARE, reloadable;
        /// Share of the jobs that Drover might act on that is left to Hadoop's own speculator, to compare with. Which ones follows from their ids; a job stays on the side
        /// it was on when this service first saw it, and a service that starts with another share or salt draws anew.
        holdout: f64 = "0", SHARE, reloadable;
        /// Another salt holds out other jobs, of those that are first seen from then on.
        holdout_salt: u64 = "1", Kind::Whole(0, u64::MAX), reloadable;
        /// Facts about a job, or about free room in the cluster, older than this decide nothing.
        stale_after: Millis = "30s", Kind::Span(SECOND, HOUR), reloadable;
        /// Output committers and formats, besides [the known ones](#safe-outputs), that cope with two attempts of a task; a name that ends in `.` or
        /// `*` stands for all it begins.
        safe_outputs: Vec<String> = "", Kind::Words, reloadable;
        /// Output committers and formats that do not, whatever else says so.
        unsafe_outputs: Vec<String> = "", Kind::Words, reloadable;
    }

    /// The engine itself.
    engine: EngineSettings = "engine" {
        /// From a decision to the copy's launch: container and JVM.
        start_lag: Millis = "1s", Kind::Span(0, 10 * MINUTE), reloadable;
        /// A running job is looked at again after this long though nothing was heard of it.
        look_again: Millis = "1s", Kind::Span(100, MINUTE), reloadable;
        /// Shortest time between two passes.
        pace: Millis = "250ms", Kind::Span(10, MINUTE);
        /// Seed of everything that is drawn at random.
        seed: u64 = "1", Kind::Whole(0, u64::MAX), reloadable;
    }
}
