//! Attempts: stages one after the other, each at the pace of its node, and the score that each reports.

use super::dist::Dist;
use super::draw::Draw;
use super::scenario::Scores;
use super::shuffle::Lying;
use crate::model::{Millis, Phase, TaskKind, Time};

/// Where an attempt stands in [`Attempts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptKey(pub u32);

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

/// What a clone of a reduce reads of one map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Read {
    /// How many others were given to it before.
    pub nth: u32,
    /// Which of the map's clones' outputs, in the order in which they ended.
    pub output: u32,
    /// How long that takes on a healthy node, contention included, milliseconds.
    pub millis: f64,
}

/// What an attempt said last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// When.
    pub at: Time,
    /// Progress score, 0–1.
    pub score: f32,
    /// What it was at.
    pub stage: Stage,
    /// How many reports there were up to it.
    pub count: u32,
}

/// When attempts report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reporting<'a> {
    /// Every so often.
    pub every: Millis,
    /// How much later than that each comes, seconds; never after the next. `None` where none does.
    pub jitter: Option<&'a Dist>,
}

impl Reporting<'_> {
    /// The newest report by now of those that would come from `first` on: how many came before it, and when it came.
    fn newest(self, first: Time, jitter: &Draw, now: Time) -> Option<(u64, Time)> {
        let passed = now.since(first).0 / self.every.0;
        let at = |nth: u64| first + Millis(nth * self.every.0);
        let Some(law) = self.jitter else { return Some((passed, at(passed))) };
        let late = |nth: u64| at(nth) + Millis::from_secs_f64(law.sample(&mut jitter.part(nth)));
        let newest = [Some(passed), passed.checked_sub(1)].into_iter().flatten();
        newest.map(|nth| (nth, late(nth))).find(|(_, at)| *at <= now)
    }
}

/// What a job's scores are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scoring {
    /// The job has reduces: a map sorts for them.
    pub has_reduces: bool,
    /// Of reduces.
    pub of: Scores,
}

/// What Drover has been told of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Told {
    /// That it exists.
    pub exists: bool,
    /// That it was launched.
    pub launched: bool,
    /// Its newest report.
    pub report: Option<Time>,
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

    /// Of a reduce: how much of its reading can be done by now, share (0–1).
    pub fn may_read(&mut self, limit: f64, now: Time) {
        self.settle(now);
        self.limit = limit;
        self.version += 1;
    }

    /// When its stage ends, or, of a reduce that waits for maps, when it has read all that there is; `None` where it has.
    pub fn goes_on_until(&self, now: Time) -> Option<Time> {
        if self.limit >= 1.0 {
            return Some(self.ends(now));
        }
        let unread = self.left_at(now) - self.whole * (1.0 - self.limit);
        (unread > 0.0).then(|| self.does(unread, now))
    }

    /// Share (0–1) of its reading that is done.
    pub fn copied(&self, now: Time) -> f64 {
        if self.whole > 0.0 { 1.0 - self.left_at(now) / self.whole } else { 1.0 }
    }

    /// Of a clone of a reduce: it is to read a map's output.
    pub fn give(&mut self, map: usize, output: u32, millis: f64) {
        let nth = self.reads.iter().flatten().count() as u32;
        self.reads[map] = Some(Read { nth, output, millis });
    }

    /// Of a clone of a reduce that was given what it reads: the rest of its reading, where each map not given yet takes `each`.
    pub fn read_on(&mut self, each: f64, now: Time) {
        self.settle(now);
        let given = self.reads.iter().flatten();
        let (open, missing) = (given.clone().map(|read| read.millis).sum::<f64>(), self.reads.len() - given.count());
        let whole = open + missing as f64 * each;
        let more = whole - self.whole;
        (self.whole, self.left, self.extra) = (whole, (self.left + more).max(0.0), self.extra + more);
        let limit = if missing == 0 { 1.0 } else { (open / whole).min(1.0 - f64::EPSILON) };
        self.may_read(if limit.is_finite() { limit } else { 0.0 }, now);
    }

    /// How much of what it reads of a map is still to be read, 0–1; it reads in the order in which outputs were given to it.
    pub fn unread(&self, map: usize, now: Time) -> f64 {
        let Some(read) = self.reads.get(map).copied().flatten() else { return 1.0 };
        if self.stage != Stage::Copy || read.millis <= 0.0 {
            return f64::from(u8::from(self.stage < Stage::Copy));
        }
        let before = self.reads.iter().flatten().filter(|other| other.nth < read.nth).map(|other| other.millis);
        let done = self.whole - self.left_at(now) - before.sum::<f64>();
        (1.0 - done / read.millis).clamp(0.0, 1.0)
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
        Time(now.0.saturating_add(millis.ceil().min(1e15) as u64))
    }

    /// The stage has ended: all of it is done.
    pub fn finish(&mut self, now: Time) {
        (self.left, self.since) = (0.0, now);
    }

    /// Healthy milliseconds of work it has done, contention apart.
    pub fn worked(&self, now: Time) -> f64 {
        let now_at_it = matches!(self.stage, Stage::Copy | Stage::Sort | Stage::Work);
        self.worked - self.extra + if now_at_it { self.whole - self.left_at(now) } else { 0.0 }
    }

    /// From then on it reports, each time as much later as is drawn.
    pub fn will_report(&mut self, first: Time, jitter: Draw) {
        (self.reports_from, self.jitter) = (Some(first), jitter);
    }

    /// Takes note of the newest report that has fallen due. To be called before each change of its pace or stage, too: later nobody knows what it said.
    pub fn note_report(&mut self, reporting: Reporting, scoring: Scoring, now: Time) {
        let Some(first) = self.reports_from.filter(|first| *first <= now) else { return };
        let Some((passed, at)) = reporting.newest(first, &self.jitter, now) else { return };
        if self.report.is_some_and(|report| report.at >= at) || at < self.since {
            return;
        }
        let score = self.score(scoring, at);
        self.report = Some(Report { at, score, stage: self.stage, count: passed as u32 + 1 });
    }

    /// Does it ever report?
    pub fn reports(&self) -> bool {
        self.reports_from.is_some()
    }

    /// Says how far it has come, beside its reports.
    pub fn speak(&mut self, scoring: Scoring, now: Time) {
        let count = self.report.map_or(0, |report| report.count) + 1;
        self.report = Some(Report { at: now, score: self.score(scoring, now), stage: self.stage, count });
    }

    /// Hadoop's progress score at an instant of the present stage: a map's is its work's share, two thirds of it where there are reduces (MapTask); a reduce's a third for each of
    /// copy, sort and reduce (ReduceTask).
    fn score(&self, scoring: Scoring, at: Time) -> f32 {
        let share = if self.whole > 0.0 { 1.0 - self.left_at(at) / self.whole } else { 1.0 };
        let score = match (self.kind, self.stage) {
            (_, Stage::Waiting | Stage::StartUp) => 0.0,
            (_, Stage::Commit) => 1.0,
            (TaskKind::Map, _) if scoring.has_reduces => share * 2.0 / 3.0,
            (TaskKind::Map, _) => share,
            (TaskKind::Reduce, Stage::Copy | Stage::Sort) if scoring.of == Scores::Work => 0.0,
            (TaskKind::Reduce, Stage::Work) if scoring.of == Scores::Work => share,
            (TaskKind::Reduce, Stage::Copy) => share / 3.0,
            (TaskKind::Reduce, Stage::Sort) => (1.0 + share) / 3.0,
            (TaskKind::Reduce, Stage::Work) => (2.0 + share) / 3.0,
        };
        score as f32
    }

    /// Share (0–1) of its input that it had read by its newest report.
    pub fn read(&self, scoring: Scoring) -> f64 {
        let Some(report) = self.report else { return 0.0 };
        let score = f64::from(report.score);
        match (self.kind, report.stage) {
            (_, Stage::Waiting | Stage::StartUp) => 0.0,
            (TaskKind::Map, Stage::Work) => score * if scoring.has_reduces { 1.5 } else { 1.0 },
            // Where scores do not tell, none of it.
            (TaskKind::Reduce, Stage::Copy) => 3.0 * score,
            _ => 1.0,
        }
    }
}

impl Stage {
    /// What Hadoop calls it.
    pub fn phase(self, kind: TaskKind) -> Phase {
        match (kind, self) {
            (TaskKind::Map, _) => Phase::Map,
            (TaskKind::Reduce, Stage::Waiting | Stage::StartUp | Stage::Copy) => Phase::Copy,
            (TaskKind::Reduce, Stage::Sort) => Phase::Sort,
            (TaskKind::Reduce, Stage::Work | Stage::Commit) => Phase::Reduce,
        }
    }
}

/// All attempts that have not ended. Places of those that have are used again.
#[derive(Debug, Default)]
pub struct Attempts {
    all: Vec<Attempt>,
    free: Vec<AttemptKey>,
}

impl Attempts {
    /// Adds one.
    pub fn add(&mut self, mut attempt: Attempt) -> AttemptKey {
        if let Some(key) = self.free.pop() {
            // Events of the one before it must not be taken for its own.
            attempt.version = self.get(key).version + 1;
            self.all[key.0 as usize] = attempt;
            return key;
        }
        self.all.push(attempt);
        AttemptKey(self.all.len() as u32 - 1)
    }

    /// One that has not ended.
    pub fn get(&self, key: AttemptKey) -> &Attempt {
        &self.all[key.0 as usize]
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: AttemptKey) -> &mut Attempt {
        &mut self.all[key.0 as usize]
    }

    /// It has ended.
    pub fn remove(&mut self, key: AttemptKey) {
        self.get_mut(key).version += 1;
        self.free.push(key);
    }
}

#[cfg(test)]
mod tests;
