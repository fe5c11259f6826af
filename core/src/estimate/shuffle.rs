//! What reduces show of reading and computing: the samples that ω rests on (Dolly, NSDI'13, §4.4, step 3).

use super::by_kind::ByKind;
use super::omega::{Downstream, Transfer, contention};
use super::spares::{Missed, Waits};
use super::stats::sum_up;
use crate::model::{Assignment, Job, JobKind, Millis, Task, TaskId, TaskKind, TaskState};
use serde::{Deserialize, Serialize};

/// As many equally likely values as a run's bandwidths, and its times, are summed up in: looking for ω takes a thousand steps over each pair.
const VALUES: usize = 8;
/// α before any read beside another was seen: two that share a source have half of it each.
const HALF: f64 = 0.5;

/// What the reduces of a kind of jobs have shown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Shuffle {
    /// What one of them read in all, bytes: the mean.
    size: f64,
    /// B: bytes a second, ascending.
    bandwidths: Vec<f64>,
    /// From the end of its reading to its own, seconds, ascending.
    compute: Vec<f64>,
    /// α, where clones have shared outputs.
    #[serde(default)]
    contention: Option<f64>,
    /// p_c, where clones have waited for outputs of their own.
    #[serde(default)]
    waits: Waits,
}

/// What is set, and need not be learned.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Network {
    /// α: the share (above 0, to 1) of B that a read gets under contention.
    pub contention: Option<f64>,
    /// 1 − p_c: probability (0–1) of getting an exclusive copy within the time of a read.
    pub exclusive: Option<f64>,
}

/// How a reduce that has finished read.
struct Read {
    /// No clone read beside it.
    alone: bool,
    bytes: f64,
    seconds: f64,
    compute: f64,
}

impl Shuffle {
    /// Learns from a job's run, whose clones of reduces read as `reading` says. §5.3: how often ω is updated matters little, so the newest run that tells of B, of times or of α
    /// speaks alone.
    fn learn(&mut self, job: &Job, reading: Option<Assignment>) {
        let reads = reads(job);
        // Of clones that share no output the first to begin reads as if it were alone.
        let own = reading == Some(Assignment::Avoidance);
        let lone: Vec<&Read> = reads.iter().filter(|read| read.alone || own).collect();
        if !lone.is_empty() {
            let of = |value: fn(&Read) -> f64| sum_up(lone.iter().map(|read| value(read)).collect(), VALUES);
            self.size = lone.iter().map(|read| read.bytes).sum::<f64>() / lone.len() as f64;
            (self.bandwidths, self.compute) = (of(|read| read.bytes / read.seconds), of(|read| read.compute));
        }
        if let (Some(reading), Some([maps, _]), false) = (reading, job.totals, self.bandwidths.is_empty()) {
            self.learn_sharing(job, &reads, (reading, f64::from(maps)));
        }
    }

    /// p_c and α, of clones each of which read the outputs of so many maps.
    fn learn_sharing(&mut self, job: &Job, reads: &[Read], (reading, maps): (Assignment, f64)) {
        let bandwidth = self.bandwidths.iter().sum::<f64>() / self.bandwidths.len() as f64;
        let (waited, shares) = match reading {
            Assignment::Contention => (0.0, true),
            Assignment::Delay { omega } => (omega.as_secs_f64(), true),
            Assignment::Avoidance => (self.size / maps / bandwidth, false),
        };
        let missed = Missed::after(waited, job);
        if let Some(missed) = missed {
            self.waits.learn(missed, waited);
        }
        // Where nobody waits, all share.
        let share = if waited > 0.0 { missed.map_or(0.0, Missed::share) } else { 1.0 };
        let shown = reads.iter().filter(|read| shares && !read.alone);
        let shown = shown.filter_map(|read| contention(read.bytes / bandwidth, read.seconds, share, waited * maps));
        let shown: Vec<f64> = shown.collect();
        if !shown.is_empty() {
            self.contention = Some(shown.iter().sum::<f64>() / shown.len() as f64);
        }
    }

    /// ω for a reduce that reads the outputs of so many maps; `None` without any, and where no bandwidth and no odds of an output of its own are known.
    pub fn omega(&self, maps: u32, set: Network) -> Option<Millis> {
        let contention = set.contention.or(self.contention).unwrap_or(HALF);
        let (exclusive, waited) = match set.exclusive {
            Some(exclusive) => (exclusive, None),
            None => self.waits.exclusive().map(|(exclusive, waited)| (exclusive, Some(waited)))?,
        };
        let transfers: Vec<_> =
            self.bandwidths.iter().map(|b| Transfer { bandwidth: *b, contention, exclusive, waited }).collect();
        let size = self.size / f64::from(maps);
        let task = Downstream { size, outputs: maps, transfers: &transfers, compute: &self.compute };
        let delay = if maps > 0 { task.delay() } else { None };
        delay.map(|delay| Millis::from_secs_f64(delay.omega))
    }
}

/// How the reduces of a job that have finished read; of one with clones only where the first to begin won. A reduce's wait for maps is no reading. How much it read is known
/// of a few: of peers that REST was asked for beside a suspect, or of the first that a shim tells of.
fn reads(job: &Job) -> Vec<Read> {
    let maps_done = job.maps_done();
    if maps_done.at.is_none() {
        return vec![];
    }
    let read = |(id, task): (TaskId, &Task)| {
        let counts = task.state == TaskState::Succeeded && !task.marks.skewed();
        let attempt = task.won().filter(|_| counts)?;
        let (started, read, ended) = (attempt.started.get()?, attempt.copied()?, task.ended()?);
        let mut others = task.attempts.iter().filter(|other| other.number != attempt.number);
        if others.any(|other| other.started.get().is_some_and(|other| other < started)) {
            return None;
        }
        let bytes = job.intakes.whole(id.attempt(attempt.number), ended)?.bytes.0 as f64;
        let seconds = read.since(maps_done.own_start(started, Some(read))?).as_secs_f64();
        let alone = task.attempts.len() == 1;
        let told = bytes > 0.0 && seconds > 0.0;
        told.then(|| Read { alone, bytes, seconds, compute: ended.since(read).as_secs_f64() })
    };
    job.tasks(TaskKind::Reduce).filter_map(read).collect()
}

/// Those of every kind of job that is remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shuffles(ByKind<Shuffle>);

impl Shuffles {
    /// What is known of a kind of jobs.
    pub fn of(&self, kind: &JobKind) -> Option<&Shuffle> {
        self.0.get(kind)
    }

    /// Goes on from those.
    pub fn resume(&mut self, Shuffles(told): Shuffles) {
        self.0 = told.bounded();
    }

    /// Learns from a run that has ended well, and how its clones of reduces read, where it had any.
    pub fn learn(&mut self, kind: &JobKind, job: &Job, reading: Option<Assignment>) {
        let mut known = self.of(kind).cloned().unwrap_or_default();
        known.learn(job, reading);
        if known != Shuffle::default() {
            *self.0.entry(kind.clone()) = known;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, Bytes, Counters, Phase, TaskFact, Time};

    const NETWORK: Network = Network { contention: Some(0.6), exclusive: Some(0.8) };

    /// Two maps that end at 10 s, and reduces that have so many copies each, read 400 bytes until some second, and end at another.
    fn job(reduces: &[(u32, u64, u64)]) -> Job {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([2, reduces.len() as u32]);
        let ends = |job: &mut Job, id, [started, finished]: [u64; 2]| {
            let of = TaskFact::of(id);
            let (state, started, finished) = (Some(TaskState::Succeeded), Some(Time(started)), Some(Time(finished)));
            assert!(job.learn_task(
                &TaskFact { state, started, finished, winner: Some(0), ..of },
                Time(finished.unwrap().0),
                9
            ));
        };
        for index in 0..2 {
            let id = job.id.task(TaskKind::Map, index);
            ends(&mut job, id, [1_000, 10_000]);
        }
        for (index, (copies, read, ended)) in reduces.iter().enumerate() {
            let id = job.id.task(TaskKind::Reduce, index as u32);
            for number in 0..*copies {
                let of = AttemptFact::of(id.attempt(number));
                let counters = Counters { shuffled: Some(Bytes(400)), ..Counters::default() };
                let reads = AttemptFact { phase: Some(Phase::Sort), started: Some(Time(5_000)), ..of };
                assert!(job.learn_attempt(&reads, None, Time(*read), 9));
                let of = AttemptFact::of(id.attempt(number));
                let done =
                    AttemptFact { state: Some(AttemptState::Succeeded), finished: Some(Time(*ended)), counters, ..of };
                assert!(job.learn_attempt(&done, None, Time(*ended), 9));
                job.intakes.learn(id.attempt(number), &done, Time(*ended));
            }
            ends(&mut job, id, [5_000, *ended]);
        }
        job
    }

    /// A reduce of it has begun, and tells of no reading.
    fn begun(mut job: Job) -> Job {
        job.totals = Some([2, 1]);
        let reduce = job.id.task(TaskKind::Reduce, 0).attempt(0);
        let began = AttemptFact { started: Some(Time(5_000)), ..AttemptFact::of(reduce) };
        assert!(job.learn_attempt(&began, None, Time(5_000), 9));
        job
    }

    /// What the newest of such runs have shown.
    fn known(runs: &[(&Job, Option<Assignment>)]) -> Option<Shuffle> {
        let kind = JobKind { user: "ann".into(), name: "etl-#".into() };
        let mut known = Shuffles::default();
        runs.iter().for_each(|(job, reading)| known.learn(&kind, job, *reading));
        known.of(&kind).cloned()
    }

    /// 400 bytes at 50 a second, alone.
    fn lone() -> Job {
        job(&[(1, 18_000, 19_000)])
    }

    #[test]
    fn a_reduces_reading_begins_with_the_last_maps_end_and_its_computing_with_that_of_its_reading() {
        let learnt = known(&[(&job(&[(1, 14_000, 19_000), (1, 18_000, 19_000)]), None)]).unwrap();
        let (bandwidths, compute) = (vec![50.0, 100.0], vec![1.0, 5.0]);
        assert_eq!(learnt, Shuffle { size: 400.0, bandwidths, compute, ..Shuffle::default() });
    }

    #[test]
    fn what_a_copy_read_beside_and_what_does_not_tell_its_reading_shows_no_bandwidth() {
        let learnt = |job: &Job| known(&[(job, None)]);
        assert_eq!(learnt(&job(&[(2, 14_000, 19_000)])), None);
        assert_eq!(learnt(&job(&[(1, 10_000, 19_000)])), None, "no time for it");
        assert_eq!(learnt(&job(&[])), None);
        let mut idle = job(&[(1, 14_000, 19_000)]);
        idle.intakes = Default::default();
        let reduce = idle.id.task(TaskKind::Reduce, 0).attempt(0);
        let counters = Counters { shuffled: Some(Bytes(0)), ..Counters::default() };
        idle.intakes.learn(reduce, &AttemptFact { counters, ..AttemptFact::of(reduce) }, Time(19_000));
        assert_eq!(learnt(&idle), None, "nothing to read");
        let mut untold = job(&[(1, 14_000, 19_000)]);
        untold.intakes = Default::default();
        assert_eq!(learnt(&untold), None);
    }

    #[test]
    fn clones_that_share_no_output_show_the_bandwidth_of_one_that_reads_alone() {
        let cloned = job(&[(2, 14_000, 19_000)]);
        assert_eq!(known(&[(&cloned, Some(Assignment::Avoidance))]).unwrap().bandwidths, [100.0]);
        assert_eq!(known(&[(&cloned, Some(Assignment::Contention))]), None);
    }

    #[test]
    fn clones_that_share_show_by_how_much_they_slow_each_other_once_the_bandwidth_is_known() {
        // Alone it takes 8 s, beside another from the start 10.
        let shared = job(&[(2, 20_000, 25_000)]);
        let learnt = known(&[(&lone(), None), (&shared, Some(Assignment::Contention))]).unwrap();
        assert_eq!((learnt.contention, &*learnt.bandwidths), (Some(0.8), &[50.0][..]));
        assert_eq!(known(&[(&lone(), None), (&shared, Some(Assignment::Avoidance))]).unwrap().contention, None);
        // Both of a map's clones have to be there; then none of two maps' outputs was shared.
        let delay = Some(Assignment::Delay { omega: Millis(1_000) });
        assert_eq!(known(&[(&lone(), None), (&shared, delay)]).unwrap().contention, None);
    }

    /// That job with other clones of its maps that ended at such times, at 10 s the first.
    fn beside(mut job: Job, seconds: [u64; 2]) -> Job {
        for (index, ended) in (0..).zip(seconds) {
            let other = job.id.task(TaskKind::Map, index).attempt(1);
            let of = |number, at| {
                let state = Some(AttemptState::Succeeded);
                AttemptFact { state, finished: Some(Time(at)), ..AttemptFact::of(other.task.attempt(number)) }
            };
            for fact in [of(0, 10_000), of(1, ended)] {
                assert!(job.learn_attempt(&fact, None, Time(ended), 9));
            }
        }
        job
    }

    #[test]
    fn clones_that_wait_show_how_often_in_vain_and_what_they_then_share_by_how_much_it_slows_them() {
        // 400 bytes of two maps: at 40 a second (once 32, once 48) five seconds of each.
        let lone = job(&[(1, 22_500, 23_000), (1, 10_000 + 25_000 / 3, 19_000)]);
        let learnt = known(&[(&lone, None)]).unwrap();
        assert_eq!(learnt.bandwidths.iter().map(|one| one.round()).collect::<Vec<_>>(), [32.0, 48.0]);
        // CAC: within the five seconds of a read the second clone of one map's two has an output of its own.
        let waited = beside(job(&[]), [14_900, 15_100]);
        let waited = known(&[(&lone, None), (&begun(waited), Some(Assignment::Avoidance))]).unwrap();
        let (exclusive, within) = waited.waits.exclusive().unwrap();
        assert!((exclusive - 0.5).abs() < 1e-9 && (within - 5.0).abs() < 0.01, "{exclusive} {within}");
        // ω of a second: one of the two is shared from then on, which takes its four seconds eight.
        let shared = beside(job(&[(2, 24_000, 25_000)]), [10_900, 15_100]);
        let shared = known(&[(&lone, None), (&shared, Some(Assignment::Delay { omega: Millis(1_000) }))]).unwrap();
        assert!((shared.contention.unwrap() - 0.5).abs() < 0.01, "{shared:?}");
        assert_eq!(shared.waits.exclusive(), Some((0.5, 1.0)));
        assert_eq!(shared.bandwidths, learnt.bandwidths);
    }

    #[test]
    fn contention_is_the_mean_of_what_reduces_show() {
        let shared = job(&[(2, 20_000, 25_000), (2, 26_000, 27_000), (1, 18_000, 19_000)]);
        let learnt = known(&[(&lone(), None), (&shared, Some(Assignment::Contention))]).unwrap();
        assert!((learnt.contention.unwrap() - 0.65).abs() < 1e-9, "8 s in 10 and in 16: {learnt:?}");
    }

    #[test]
    fn where_the_winner_began_after_another_its_waiting_is_not_taken_for_reading() {
        let mut late = job(&[(2, 20_000, 25_000)]);
        let other = late.id.task(TaskKind::Reduce, 0).attempt(1);
        late.learn_attempt(
            &AttemptFact { started: Some(Time(4_000)), ..AttemptFact::of(other) },
            None,
            Time(25_000),
            9,
        );
        let won = TaskFact { winner: Some(0), ..TaskFact::of(other.task) };
        late.learn_task(&won, Time(25_000), 9);
        assert_eq!(known(&[(&lone(), None), (&late, Some(Assignment::Contention))]).unwrap().contention, None);
    }

    #[test]
    fn omega_is_that_of_a_read_of_each_maps_output() {
        let learnt = Shuffle { size: 200.0, bandwidths: vec![50.0], compute: vec![5.0], ..Shuffle::default() };
        assert_eq!(learnt.omega(2, NETWORK), Some(Millis(2_000)), "clones that compute alike read one after the other");
        assert_eq!(learnt.omega(4, NETWORK), Some(Millis(1_000)));
        assert_eq!(learnt.omega(2, Network { contention: Some(1.0), ..NETWORK }), Some(Millis(0)));
        assert_eq!(learnt.omega(0, NETWORK), None);
    }

    #[test]
    fn what_is_set_comes_before_what_was_learnt_and_without_odds_there_is_no_omega() {
        let learnt = Shuffle { size: 200.0, bandwidths: vec![50.0], compute: vec![5.0], ..Shuffle::default() };
        let unset = Network::default();
        assert_eq!(learnt.omega(2, unset), None);
        let mut waits = Waits::default();
        waits.learn(Missed::of(1, 9), 2.0);
        let learnt = Shuffle { waits, ..learnt };
        assert_eq!(learnt.omega(2, unset), Some(Millis(2_000)), "half of the bandwidth beside another");
        let free = Shuffle { contention: Some(1.0), ..learnt.clone() };
        assert_eq!(free.omega(2, unset), Some(Millis(0)));
        assert_eq!(free.omega(2, Network { contention: Some(0.6), ..unset }), Some(Millis(2_000)));
        assert_eq!(learnt.omega(2, Network { exclusive: Some(1.0), ..unset }), Some(Millis(0)));
    }

    #[test]
    fn the_newest_run_of_a_job_speaks_for_its_users_next() {
        let kind = |user: &str| JobKind { user: user.into(), name: "etl-#".into() };
        let mut known = Shuffles::default();
        known.learn(&kind("ann"), &lone(), None);
        known.learn(&kind("ann"), &job(&[(1, 14_000, 19_000)]), None);
        assert_eq!(known.of(&kind("ann")).map(|run| &*run.bandwidths), Some(&[100.0][..]));
        assert_eq!(known.of(&kind("bob")), None);
    }
}
