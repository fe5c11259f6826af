//! Turns what was read into observations: who says so, in which order, at what time of the source's own clock.

use super::end::Ended;
use super::reading::Reading;
use crate::yarn::facts::cluster::AppSeen;
use crate::yarn::facts::job::{JobSeen, TasksSeen};
use crate::yarn::http::Frame;
use crate::yarn::metrics::Metrics;
use crate::yarn::schedule::Call;
use crate::yarn::told::Told;
use drover_core::model::*;
use std::collections::BTreeMap;

/// Makes observations of readings; remembers how each source's clock stands against the service's.
#[derive(Debug)]
pub struct Emitter {
    metrics: Metrics,
    seq: u64,
    rm_offset: i64,
    jobs: BTreeMap<JobId, JobClock>,
    /// Jobs last said to be ending.
    ending: Vec<JobId>,
}

/// What is remembered of a job.
#[derive(Debug, Default, Clone, Copy)]
struct JobClock {
    attempt: u32,
    /// Its AM's clock less the service's, milliseconds.
    offset: Option<i64>,
    /// The least and the most of that by the last answer that told the AM's clock, which it may have looked at whenever it worked on it.
    within: Option<Within>,
    slow_start: Option<f32>,
    /// Most copies seen under way at once.
    copies: u32,
}

/// How an AM's clock stood against the service's.
#[derive(Debug, Clone, Copy)]
struct Within {
    /// When that was, the service's clock.
    at: Time,
    /// How the ResourceManager's stood then.
    rm_offset: i64,
    /// The least and the most, milliseconds.
    offset: [i64; 2],
}

/// Which lives of the sources speak.
#[derive(Debug, Clone, Copy)]
pub struct Lives {
    /// Number of the active ResourceManager's life.
    pub rm: u64,
    /// Run of the job's AM.
    pub attempt: u32,
}

impl Emitter {
    /// An emitter that has said nothing yet.
    pub fn new(metrics: Metrics) -> Emitter {
        Emitter { metrics, seq: 0, rm_offset: 0, jobs: BTreeMap::new(), ending: Vec::new() }
    }

    /// The observations a reading gives, in their order.
    pub fn observations(&mut self, call: Call, lives: Lives, reading: Reading) -> Vec<Observation> {
        match reading {
            Reading::Apps(told) => self.apps(lives, told),
            Reading::Totals(told) => self.rm(lives, told, Fact::Cluster),
            Reading::Nodes(told) => self.rm(lives, told, Fact::Nodes),
            Reading::Queues(told) => self.rm(lives, told, Fact::Queues),
            Reading::Master(told) => {
                self.metrics.refused(Channel::Am, &told.refused);
                Vec::new()
            }
            Reading::End(ended) => self.end(lives, ended),
            reading => match call.job() {
                Some(job) => self.job(job, lives, reading),
                None => Vec::new(),
            },
        }
    }

    /// That the job's tasks may not be viewed.
    pub fn hidden(&mut self, job: JobId, lives: Lives) -> Observation {
        self.of_master(job, lives, Fact::Hidden(job))
    }

    /// What can be done to the job over REST.
    pub fn can(&mut self, job: JobId, lives: Lives, can: Capabilities) -> Observation {
        self.of_master(job, lives, Fact::Can(job, can))
    }

    /// Which jobs' ends are to be read, where that has changed.
    pub fn ending(&mut self, lives: Lives, jobs: Vec<JobId>) -> Option<Observation> {
        if jobs == self.ending {
            return None;
        }
        self.ending.clone_from(&jobs);
        let received = crate::clock::now();
        let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: lives.rm };
        Some(self.stamp(source, received.shifted(self.rm_offset), received, Fact::Ending(jobs)))
    }

    /// Forgets jobs but those: of a job that has ended, an answer can still come.
    pub fn keep(&mut self, is_watched: impl Fn(JobId) -> bool) {
        self.jobs.retain(|job, _| is_watched(*job));
    }

    fn of_master(&mut self, job: JobId, lives: Lives, fact: Fact) -> Observation {
        let received = crate::clock::now();
        let offset = self.jobs.get(&job).and_then(|clock| clock.offset).unwrap_or(self.rm_offset);
        let app = Some(job.0);
        let source = Source { channel: Channel::Am, app, principal: None, incarnation: u64::from(lives.attempt) };
        self.stamp(source, received.shifted(offset), received, fact)
    }

    fn apps(&mut self, lives: Lives, told: Told<Vec<AppSeen>>) -> Vec<Observation> {
        let received = told.frame.received;
        let now = told.what.iter().filter_map(|seen| seen.rm_now).max().or(told.frame.date);
        if let Some(now) = now {
            self.rm_offset = offset(now, received);
        }
        self.rm(lives, told, |seen| Fact::Apps(seen.into_iter().map(|app| app.fact).collect()))
    }

    fn rm<T>(&mut self, lives: Lives, told: Told<T>, fact: impl FnOnce(T) -> Fact) -> Vec<Observation> {
        self.metrics.refused(Channel::Rm, &told.refused);
        let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: lives.rm };
        let received = told.frame.received;
        vec![self.stamp(source, received.shifted(self.rm_offset), received, fact(told.what))]
    }

    fn job(&mut self, job: JobId, lives: Lives, reading: Reading) -> Vec<Observation> {
        let (refused, frame) = match &reading {
            Reading::Summary(told) => (&told.refused, told.frame),
            Reading::Settings(told) => (&told.refused, told.frame),
            Reading::Tasks(told) => (&told.refused, told.frame),
            Reading::Attempts(told) => (&told.refused, told.frame),
            Reading::Counters(told) => (&told.refused, told.frame),
            _ => return Vec::new(),
        };
        let received = frame.received;
        self.metrics.refused(Channel::Am, refused);
        let clock = self.jobs.entry(job).or_default();
        if clock.attempt != lives.attempt {
            *clock = JobClock { attempt: lives.attempt, slow_start: clock.slow_start, ..JobClock::default() };
        }
        let am_now = match &reading {
            Reading::Summary(told) => told.what.as_ref().and_then(|seen| seen.am_now),
            Reading::Tasks(told) => told.what.am_now,
            Reading::Attempts(told) => told.what.1,
            _ => None,
        };
        let set = am_now.is_some_and(|now| clock.was_set(now, frame, self.rm_offset));
        // A job that has not started tells no time, and a service whose clock is ahead would take what its shim says next for old news. The answer's date is cut
        // to the second, so it is never ahead.
        let dated = || frame.date.filter(|_| clock.offset.is_none());
        if let Some(now) = am_now.or_else(dated) {
            clock.offset = Some(offset(now, received));
        }
        let at = received.shifted(clock.offset.unwrap_or(self.rm_offset));
        let mut facts = job_facts(job, clock, reading);
        if set {
            facts.insert(0, Fact::ClockSet(job));
        }
        let app = Some(job.0);
        let source = Source { channel: Channel::Am, app, principal: None, incarnation: u64::from(lives.attempt) };
        facts.into_iter().map(|fact| self.stamp(source.clone(), at, received, fact)).collect()
    }

    fn end(&mut self, lives: Lives, ended: Ended) -> Vec<Observation> {
        let (channel, app, incarnation, fact, received) = match ended {
            Ended::Told(told) => {
                self.metrics.refused(Channel::History, &told.refused);
                (Channel::History, Some(told.what.job.0), 0, told.what, told.frame.received)
            }
            Ended::ByRm { end, .. } => (Channel::Rm, None, lives.rm, end, crate::clock::now()),
            Ended::NotYet | Ended::NoHistory | Ended::StillRuns => return Vec::new(),
        };
        let at = match channel {
            Channel::Rm => received.shifted(self.rm_offset),
            _ => fact.finished.unwrap_or(received.shifted(self.rm_offset)),
        };
        self.jobs.remove(&fact.job);
        let source = Source { channel, app, principal: None, incarnation };
        vec![self.stamp(source, at, received, Fact::Ended(fact))]
    }

    /// Sequences begin at the time of day, so that they also rise over restarts of the service.
    fn stamp(&mut self, source: Source, at: Time, received: Time, fact: Fact) -> Observation {
        self.seq = self.seq.saturating_add(1).max(received.0);
        Observation { source, seq: self.seq, at, received, fact }
    }
}

/// What a reading about a job says; nothing where all of it was refused.
fn job_facts(job: JobId, clock: &mut JobClock, reading: Reading) -> Vec<Fact> {
    match reading {
        Reading::Summary(told) => told.what.map(|seen| summary_facts(job, clock, seen)).unwrap_or_default(),
        Reading::Settings(told) => {
            clock.slow_start = Some(told.what.slow_start);
            vec![Fact::Settings(job, told.what)]
        }
        Reading::Tasks(told) => tasks_facts(job, clock, told.what),
        Reading::Attempts(told) => vec![Fact::Attempts { job, attempts: told.what.0 }],
        Reading::Counters(told) => {
            told.what.map(|attempt| vec![Fact::Attempts { job, attempts: vec![attempt] }]).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A complete listing also shows what waits for containers now: the job's summary, which counts it, is read far less often.
fn tasks_facts(job: JobId, clock: &JobClock, seen: TasksSeen) -> Vec<Fact> {
    let count = |kind: TaskKind, is: fn(&TaskState) -> bool| {
        let of_kind = seen.tasks.iter().filter(|task| task.kind == kind);
        u32::try_from(of_kind.filter(|task| task.state.as_ref().is_some_and(is)).count()).unwrap_or(u32::MAX)
    };
    let waits: fn(&TaskState) -> bool = |state| *state < TaskState::Running;
    let (maps, done) = (count(TaskKind::Map, |_| true), count(TaskKind::Map, |state| *state == TaskState::Succeeded));
    let reduces = if clock.asks_reduces(maps, done) { count(TaskKind::Reduce, waits) } else { 0 };
    let maps = count(TaskKind::Map, waits);
    let needs = Fact::Needs { job, maps, reduces, native_copies: u64::from(clock.copies) };
    let complete = seen.complete;
    let tasks = Fact::Tasks { job, complete, tasks: seen.tasks };
    if complete { vec![tasks, needs] } else { vec![tasks] }
}

impl JobClock {
    /// The AM's clock is told again: has it been set meanwhile? By so much that neither the way of an answer nor a clock that is slewed explains it.
    fn was_set(&mut self, now: Time, frame: Frame, rm_offset: i64) -> bool {
        const NOISE: i64 = 5_000;
        // Longer between two answers than this the one before tells nothing: a shim may have told of it since.
        const LATELY: Millis = Millis(120_000);
        let took = i64::try_from(frame.took.as_millis()).unwrap_or(i64::MAX);
        let least = offset(now, frame.received);
        let within = [least, least.saturating_add(took)];
        // Where the ResourceManager's has moved likewise it was the service's that stood still, as its machine did.
        let stands = |before: &Within| i64::abs_diff(rm_offset, before.rm_offset) <= NOISE.unsigned_abs();
        let before = self.within.filter(|before| frame.received.since(before.at) <= LATELY && stands(before));
        let [least, most] = before.map_or(within, |before| before.offset);
        let both = [within[0].max(least), within[1].min(most)];
        // Of two that agree what both say is known: one that was long under way takes nothing back.
        let offset = if both[0] <= both[1] { both } else { within };
        self.within = Some(Within { at: frame.received, rm_offset, offset });
        both[0] > both[1].saturating_add(NOISE)
    }

    /// Reduces are not asked for before so many maps have finished, though they show as pending.
    fn asks_reduces(&self, maps: u32, finished: u32) -> bool {
        let share = self.slow_start.unwrap_or(JobSettings::default().slow_start);
        finished >= maps_before_reduces(share, maps)
    }
}

fn summary_facts(job: JobId, clock: &mut JobClock, seen: JobSeen) -> Vec<Fact> {
    clock.copies = clock.copies.max(seen.copies);
    let asks_reduces = clock.asks_reduces(seen.fact.maps, seen.maps_completed);
    let needs = Fact::Needs {
        job,
        maps: seen.maps_waiting,
        reduces: if asks_reduces { seen.reduces_waiting } else { 0 },
        native_copies: u64::from(clock.copies),
    };
    vec![Fact::Job(seen.fact), needs]
}

/// How far a clock is ahead, milliseconds.
fn offset(theirs: Time, ours: Time) -> i64 {
    let theirs = i64::try_from(theirs.0).unwrap_or(i64::MAX);
    theirs.saturating_sub(i64::try_from(ours.0).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yarn::facts::Refused;

    const RECEIVED: Time = Time(1_795_000_600_400);

    #[test]
    fn an_answer_that_comes_after_its_jobs_end_is_not_remembered_for_good() {
        let mut emitter = Emitter::new(Metrics::unregistered().unwrap());
        let (job, other) = ("job_1_0001".parse().unwrap(), "job_1_0002".parse().unwrap());
        emitter.jobs.extend([(job, JobClock::default()), (other, JobClock::default())]);
        emitter.keep(|watched| watched == other);
        assert_eq!(emitter.jobs.into_keys().collect::<Vec<_>>(), [other]);
    }

    /// Is it told that the AM's clock was set, by listings each of which was under way for so long, seconds, and found the AM's clock that much ahead, ms?
    fn told_set(listings: &[(u64, i64)]) -> Vec<bool> {
        let (job, mut emitter) = ("job_1_0001".parse().unwrap(), Emitter::new(Metrics::unregistered().unwrap()));
        let told = (0..).zip(listings).map(|(nth, (took, ahead))| {
            let received = RECEIVED + Millis(5_000 * nth);
            let took = std::time::Duration::from_secs(*took);
            let frame = Frame { date: Some(received), received, took, bytes: 0 };
            let what = TasksSeen { complete: true, am_now: Some(received.shifted(*ahead)), ..TasksSeen::default() };
            let told = Told { what, refused: Refused::default(), frame };
            let said = emitter.observations(Call::Tasks(job), Lives { rm: 1, attempt: 1 }, Reading::Tasks(told));
            said.iter().any(|seen| seen.fact == Fact::ClockSet(job))
        });
        told.collect()
    }

    #[test]
    fn a_masters_clock_that_was_set_is_told_over_rest_too_and_an_answer_that_was_long_under_way_is_no_step() {
        assert_eq!(told_set(&[(0, 0), (0, 5_000), (0, 10_001), (0, 10_001)]), [false, false, true, false]);
        assert_eq!(told_set(&[(0, 0), (0, -5_001), (0, 0)]), [false, true, true]);
        // It looked at its clock at the beginning, and the other one at its end.
        assert_eq!(told_set(&[(0, 0), (30, -30_000), (0, 0), (0, 6_000)]), [false, false, false, true]);
        assert_eq!(told_set(&[(30, -30_000), (0, 6_000)]), [false, true]);
        assert_eq!(told_set(&[(0, 0), (30, -10_000), (0, 20_000)]), [false, false, true], "which took nothing back");
    }

    #[test]
    fn a_masters_clock_that_was_set_while_nobody_read_it_over_rest_is_not_told_long_after() {
        let set = |later: u64, rm: [i64; 2]| {
            let mut clock = JobClock::default();
            let at = [RECEIVED, RECEIVED + Millis(later)];
            let frame = |received| Frame { date: None, received, took: std::time::Duration::ZERO, bytes: 0 };
            let told = [(at[0], at[0], rm[0]), (at[1] + Millis(60_000), at[1], rm[1])];
            told.map(|(now, received, rm)| clock.was_set(now, frame(received), rm))
        };
        assert_eq!([120_000, 120_001].map(|later| set(later, [0, 0])), [[false, true], [false, false]]);
        let moved = [5_000, 60_000, -60_000].map(|by| set(5_000, [0, by]));
        assert_eq!(moved, [[false, true], [false; 2], [false; 2]], "the service's machine stood still");
    }

    fn listed_before_its_start(emitter: &mut Emitter, date: Option<Time>) -> Vec<Time> {
        let job: JobId = "job_1_0001".parse().unwrap();
        let frame = Frame { date, received: RECEIVED, took: std::time::Duration::ZERO, bytes: 0 };
        let what = TasksSeen { complete: true, ..TasksSeen::default() };
        let told = Told { what, refused: Refused::default(), frame };
        let said = emitter.observations(Call::Tasks(job), Lives { rm: 1, attempt: 1 }, Reading::Tasks(told));
        said.iter().map(|seen| seen.at).collect()
    }

    #[test]
    fn what_a_job_shows_before_it_starts_is_no_newer_than_what_its_shim_says_next_on_a_service_ten_minutes_ahead() {
        let mut emitter = Emitter::new(Metrics::unregistered().unwrap());
        let date = Time(1_795_000_000_000);
        assert_eq!(listed_before_its_start(&mut emitter, Some(date)), [date, date]);
        let mut emitter = Emitter { rm_offset: -600_000, ..emitter };
        emitter.jobs.clear();
        assert_eq!(listed_before_its_start(&mut emitter, None), [Time(RECEIVED.0 - 600_000); 2], "the cluster's clock");
    }
}
