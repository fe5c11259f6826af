//! What reduces show of reading and computing: the samples that ω rests on (Dolly, NSDI'13, §4.4, step 3).

use super::by_kind::ByKind;
use super::omega::{Downstream, Transfer};
use super::phase::maps_done_at;
use super::stats::sum_up;
use crate::model::{Job, JobKind, Millis, TaskKind, TaskState};
use serde::{Deserialize, Serialize};

/// As many equally likely values as a run's bandwidths, and its times, are summed up in: looking for ω takes a thousand steps over each pair.
const VALUES: usize = 8;

/// What one run's reduces showed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Shuffle {
    /// What one of them read in all, bytes: the mean.
    size: f64,
    /// B: bytes a second, ascending.
    bandwidths: Vec<f64>,
    /// From the end of its reading to its own, seconds, ascending.
    compute: Vec<f64>,
}

/// What no task shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// α: the share (above 0, to 1) of B that a read gets under contention.
    pub contention: f64,
    /// 1 − p_c: probability (0–1) of getting an exclusive copy within the time of a read.
    pub exclusive: f64,
}

impl Shuffle {
    /// Learns from the finished reduces of a job, those that no copy read beside; `None` where none tells how much it read and when it had. A reduce's wait for maps is no reading.
    /// How much is known of a few: of peers that REST was asked for beside a suspect, or of the first that a shim tells of.
    pub fn learn(job: &Job) -> Option<Shuffle> {
        let maps_done = maps_done_at(job)?;
        let (mut sizes, mut bandwidths, mut compute) = (Vec::new(), Vec::new(), Vec::new());
        for (id, task) in job.tasks(TaskKind::Reduce) {
            let [attempt] = &*task.attempts else { continue };
            let times = attempt.started.get().zip(attempt.second_phase.get()).zip(task.ended());
            let Some(((started, read), ended)) = times.filter(|_| task.state == TaskState::Succeeded) else { continue };
            let Some(intake) = job.intakes.whole(id.attempt(attempt.number), ended) else { continue };
            let seconds = read.since(started.max(maps_done)).as_secs_f64();
            let bytes = intake.bytes.0 as f64;
            if bytes > 0.0 && seconds > 0.0 {
                sizes.push(bytes);
                bandwidths.push(bytes / seconds);
                compute.push(ended.since(read).as_secs_f64());
            }
        }
        let size = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let told = !sizes.is_empty();
        told.then(|| Shuffle { size, bandwidths: sum_up(bandwidths, VALUES), compute: sum_up(compute, VALUES) })
    }

    /// ω for a reduce that reads the outputs of so many maps; `None` without any.
    pub fn omega(&self, maps: u32, network: Network) -> Option<Millis> {
        let Network { contention, exclusive } = network;
        let transfers: Vec<_> =
            self.bandwidths.iter().map(|b| Transfer { bandwidth: *b, contention, exclusive, waited: None }).collect();
        let size = self.size / f64::from(maps);
        let task = Downstream { size, outputs: maps, transfers: &transfers, compute: &self.compute };
        let delay = if maps > 0 { task.delay() } else { None };
        delay.map(|delay| Millis::from_secs_f64(delay.omega))
    }
}

/// Those of every kind of job that is remembered. §5.3: how often ω is updated matters little, so the newest run that tells speaks alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shuffles(ByKind<Shuffle>);

impl Shuffles {
    /// What the last run of a kind of jobs showed.
    pub fn of(&self, kind: &JobKind) -> Option<&Shuffle> {
        self.0.get(kind)
    }

    /// Learns from a run that has ended well.
    pub fn learn(&mut self, kind: JobKind, run: Shuffle) {
        *self.0.entry(kind) = run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, Bytes, Counters, Phase, TaskFact, Time};

    const NETWORK: Network = Network { contention: 0.6, exclusive: 0.8 };

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

    #[test]
    fn a_reduces_reading_begins_with_the_last_maps_end_and_its_computing_with_that_of_its_reading() {
        let learnt = Shuffle::learn(&job(&[(1, 14_000, 19_000), (1, 18_000, 19_000)])).unwrap();
        assert_eq!(learnt, Shuffle { size: 400.0, bandwidths: vec![50.0, 100.0], compute: vec![1.0, 5.0] });
    }

    #[test]
    fn what_a_copy_read_beside_and_what_does_not_tell_its_reading_shows_no_bandwidth() {
        assert_eq!(Shuffle::learn(&job(&[(2, 14_000, 19_000)])), None);
        assert_eq!(Shuffle::learn(&job(&[(1, 10_000, 19_000)])), None, "no time for it");
        assert_eq!(Shuffle::learn(&job(&[])), None);
        let mut idle = job(&[(1, 14_000, 19_000)]);
        idle.intakes = Default::default();
        let reduce = idle.id.task(TaskKind::Reduce, 0).attempt(0);
        let counters = Counters { shuffled: Some(Bytes(0)), ..Counters::default() };
        idle.intakes.learn(reduce, &AttemptFact { counters, ..AttemptFact::of(reduce) }, Time(19_000));
        assert_eq!(Shuffle::learn(&idle), None, "nothing to read");
        let mut untold = job(&[(1, 14_000, 19_000)]);
        untold.intakes = Default::default();
        assert_eq!(Shuffle::learn(&untold), None);
    }

    #[test]
    fn omega_is_that_of_a_read_of_each_maps_output() {
        let learnt = Shuffle { size: 200.0, bandwidths: vec![50.0], compute: vec![5.0] };
        assert_eq!(learnt.omega(2, NETWORK), Some(Millis(2_000)), "clones that compute alike read one after the other");
        assert_eq!(learnt.omega(4, NETWORK), Some(Millis(1_000)));
        assert_eq!(learnt.omega(2, Network { contention: 1.0, ..NETWORK }), Some(Millis(0)));
        assert_eq!(learnt.omega(0, NETWORK), None);
    }

    #[test]
    fn the_newest_run_of_a_job_speaks_for_its_users_next() {
        let kind = |user: &str| JobKind { user: user.into(), name: "etl-#".into() };
        let mut known = Shuffles::default();
        for size in [1.0, 2.0] {
            known.learn(kind("ann"), Shuffle { size, ..Shuffle::default() });
        }
        assert_eq!(known.of(&kind("ann")).map(|run| run.size), Some(2.0));
        assert_eq!(known.of(&kind("bob")), None);
    }
}
