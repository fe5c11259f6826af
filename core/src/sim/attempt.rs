//! Attempts: stages one after the other, each at the pace of its node.

mod reading;
mod report;
mod table;

use super::draw::Draw;
use super::shuffle::Lying;
use crate::model::{Bytes, Millis, Phase, TaskKind, Time};
pub use reading::Read;
pub use report::{Report, Reporting, Scoring, Told};
pub use table::{AttemptKey, Attempts};

/// What an attempt is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Its container is on its way.
    Waiting,
    /// Its JVM starts.
    StartUp,
    /// A reduce reads what maps have written.
    Copy,
    /// A reduce sorts.
    Sort,
    /// A map's or a reduce's own work.
    Work,
    /// What it wrote is made final.
    Commit,
}

/// An attempt that has not ended.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Number of its job.
    pub job: u32,
    /// Its task's kind.
    pub kind: TaskKind,
    /// Its task's index.
    pub index: u32,
    /// Its own number.
    pub number: u32,
    /// It was asked for beside another.
    pub is_copy: bool,
    /// Which copy of its job it is of; 0 but where the whole job is cloned.
    pub copy: u32,
    /// Its task's input: at each exchange all that run are gone through, and their tasks need not be.
    pub input: Bytes,
    /// Its node.
    pub node: u32,
    /// When its container was found.
    pub held_since: Time,
    /// Launch.
    pub launched: Time,
    /// What its start takes longer, as files are fetched, on a healthy node.
    pub fetches: Millis,
    /// What it is at.
    pub stage: Stage,
    /// How many times longer it takes by itself: its luck, and where its input lies.
    pub factor: f64,
    /// Milliseconds that a healthy node would still need for the stage, at `since`.
    left: f64,
    /// The same when the stage began.
    whole: f64,
    since: Time,
    /// Healthy milliseconds per millisecond from `since` on; 0 while it stands still.
    rate: f64,
    /// Of a reduce that waits for maps: share of its reading, 0–1, beyond which it cannot get.
    limit: f64,
    /// Healthy milliseconds of work done in earlier stages, start-up and commit apart.
    worked: f64,
    /// Grows with each change of plan: events with an older one are void.
    pub version: u32,
    /// Its reports fall on this instant and every interval from it on; `None` for one that never reports.
    reports_from: Option<Time>,
    /// By what it is drawn how much later each of them comes.
    jitter: Draw,
    /// The newest report.
    pub report: Option<Report>,
    /// It has been told of since its last change of state.
    pub told: Told,
    /// Of a clone of a reduce: which clone's output of each map it reads, by the map's index.
    pub reads: Vec<Option<Read>>,
    /// Of a reduce, where links are shared: how much of what it reads lies in each rack.
    pub lying: Vec<Lying>,
    /// Healthy milliseconds that contention has added to its reading.
    extra: f64,
    /// When it was killed, while its container is still held.
    pub stopped: Option<Time>,
    /// What is left of its stage when it fails in it, healthy milliseconds; `None` where it does not.
    fails: Option<f64>,
}

impl Attempt {
    /// One whose container has been found.
    pub fn new(job: u32, kind: TaskKind, index: u32, number: u32, is_copy: bool, node: u32, now: Time) -> Attempt {
        Attempt {
            job,
            kind,
            index,
            number,
            is_copy,
            copy: 0,
            input: Bytes(0),
            node,
            held_since: now,
            launched: now,
            fetches: Millis(0),
            stage: Stage::Waiting,
            factor: 1.0,
            left: 0.0,
            whole: 0.0,
            since: now,
            rate: 0.0,
            limit: 1.0,
            worked: 0.0,
            version: 0,
            reports_from: None,
            jitter: Draw::default(),
            report: None,
            told: Told::default(),
            reads: Vec::new(),
            lying: Vec::new(),
            extra: 0.0,
            stopped: None,
            fails: None,
        }
    }

    /// It is killed: nothing more comes of it.
    pub fn stop(&mut self, now: Time) {
        self.stopped = Some(now);
        self.version += 1;
    }

    /// Begins a stage of so many healthy milliseconds, at a pace. When it ends, unless the pace changes.
    pub fn begin(&mut self, stage: Stage, whole: f64, rate: f64, now: Time) -> Time {
        if matches!(self.stage, Stage::Copy | Stage::Sort | Stage::Work) {
            self.worked += self.whole - self.left;
        }
        (self.stage, self.whole, self.left, self.since, self.rate, self.limit) = (stage, whole, whole, now, rate, 1.0);
        self.fails = None;
        self.version += 1;
        self.ends(now)
    }

    /// It fails in the stage that it has just begun, when that share of it, 0–1, is done. When that is, unless the pace changes.
    pub fn will_fail(&mut self, at: f64, now: Time) -> Time {
        self.fails = Some(self.whole * (1.0 - at));
        self.ends(now)
    }

    /// Does it fail in its stage?
    pub fn is_to_fail(&self) -> bool {
        self.fails.is_some()
    }

    /// Takes another pace from now on. When the stage ends.
    pub fn turn(&mut self, rate: f64, now: Time) -> Time {
        self.settle(now);
        self.rate = rate;
        self.version += 1;
        self.ends(now)
    }

    /// Is that its pace already?
    pub fn goes_at(&self, rate: f64) -> bool {
        (self.rate - rate).abs() <= 1e-9 * rate
    }

    /// When its stage ends, or, of a reduce that waits for maps, when it has read all that there is; `None` where it has.
    pub fn goes_on_until(&self, now: Time) -> Option<Time> {
        if self.limit >= 1.0 {
            return Some(self.ends(now));
        }
        let unread = self.left_at(now) - self.whole * (1.0 - self.limit);
        (unread > 0.0).then(|| self.does(unread, now))
    }

    /// Does its stage end by itself? That of a reduce which waits for maps does not.
    pub fn is_free_to_go_on(&self) -> bool {
        self.limit >= 1.0
    }

    /// Milliseconds until its stage ends at its present pace; `None` of one that waits for maps.
    pub fn stage_left(&self, now: Time) -> Option<f64> {
        (self.limit >= 1.0 && self.rate > 0.0).then(|| self.left_at(now) / self.rate)
    }

    /// What is left at `now`.
    fn left_at(&self, now: Time) -> f64 {
        let least = self.whole * (1.0 - self.limit);
        (self.left - now.since(self.since).0 as f64 * self.rate).max(least.min(self.left))
    }

    fn settle(&mut self, now: Time) {
        self.left = self.left_at(now);
        self.since = now;
    }

    fn ends(&self, now: Time) -> Time {
        self.does(self.left - self.fails.unwrap_or(0.0), now)
    }

    /// When so many healthy milliseconds of its stage are done.
    fn does(&self, left: f64, now: Time) -> Time {
        let millis = if left <= 0.0 { 0.0 } else { left / self.rate };
        // A stage that never ends is one on a node that stands still.
        Time(now.0.saturating_add(millis.ceil().min(STAGE_MAX.0 as f64) as u64))
    }

    /// The stage has ended, and counts as done. By how many milliseconds that is too soon, or later than the one on which it ends.
    pub fn finish(&mut self, now: Time) -> f64 {
        let left = self.left - now.since(self.since).0 as f64 * self.rate;
        (self.left, self.since) = (0.0, now);
        if left > 0.0 || self.rate <= 0.0 { left } else { (-left / self.rate - 1.0).max(0.0) }
    }

    /// Healthy milliseconds of work it has done, contention apart.
    pub fn worked(&self, now: Time) -> f64 {
        let now_at_it = matches!(self.stage, Stage::Copy | Stage::Sort | Stage::Work);
        self.worked - self.extra + if now_at_it { self.whole - self.left_at(now) } else { 0.0 }
    }
}

/// Longest that a stage of an attempt is counted.
pub const STAGE_MAX: Millis = Millis(1_000_000_000_000_000);

impl Stage {
    /// What Hadoop calls it.
    pub fn phase(self, kind: TaskKind) -> Phase {
        match (kind, self) {
            (TaskKind::Map, Stage::Commit) => Phase::Sort,
            (TaskKind::Map, _) => Phase::Map,
            (TaskKind::Reduce, Stage::Waiting | Stage::StartUp | Stage::Copy) => Phase::Copy,
            (TaskKind::Reduce, Stage::Sort) => Phase::Sort,
            (TaskKind::Reduce, Stage::Work | Stage::Commit) => Phase::Reduce,
        }
    }
}

#[cfg(test)]
mod tests;
