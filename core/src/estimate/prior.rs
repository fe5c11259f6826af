//! How long a job's tasks took in its earlier runs: what t_new rests on while a phase has shown too little itself.

use super::by_kind::ByKind;
use super::input::{Typical, Whole};
use super::phase::PhaseTimes;
use super::runs::Runs;
use super::stats::sum_up;
use crate::model::{Bytes, JobKind, TaskKind};
use serde::{Deserialize, Serialize};

/// As many equally likely times as the runs of one kind of tasks are summed up in.
const TIMES: usize = 20;

/// Beyond so many times a run's data, and below as small a part of it, its times say nothing: what does not go with data is most of them there, or was.
const FAR: f64 = 10.0;

/// Fewer tasks of a phase than that are no distribution, so that earlier runs speak beside them: of two the slow one is half of all.
pub const ENOUGH: usize = 3;

/// What earlier runs showed of a job's tasks of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Equally likely times at work, or whole ones where start-up is not told from work, seconds, as they were.
    times: Vec<f64>,
    /// What the tasks of each of these typically had, over `data`; none where all are of such as the newest run's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<f64>,
    /// What the newest run's tasks typically had.
    #[serde(flatten)]
    data: Typical,
    /// From launch to work, seconds.
    start_up: f64,
    /// Tasks that it rests on, those of a run counting half with each later one.
    tasks: usize,
    /// Runs that it rests on.
    #[serde(default)]
    runs: u32,
    /// How long each phase took in the newest run that showed it.
    #[serde(default)]
    phases: PhaseTimes,
}

impl Prior {
    /// From the times of a run's tasks, seconds, each for its typical split; `None` without any.
    pub fn new(times: Vec<f64>, split: Bytes, start_up: f64) -> Option<Prior> {
        let (tasks, phases) = (times.len(), PhaseTimes::default());
        let data = split.into();
        let times = || stand_for(times, TIMES);
        (tasks > 0).then(|| Prior { times: times(), shares: Vec::new(), data, start_up, tasks, runs: 1, phases })
    }

    /// The same of a run whose phases took so long.
    pub fn with_phases(self, phases: PhaseTimes) -> Prior {
        Prior { phases, ..self }
    }

    /// The same of a run of which counters tell what its tasks read or shuffled: of reduces nothing else does.
    pub fn with_input(self, input: Option<Whole>) -> Prior {
        Prior { data: Typical { input, ..self.data }, ..self }
    }

    /// What its tasks typically read or shuffled, by their counters; `None` where these were not read.
    pub fn input(&self) -> Option<Whole> {
        self.data.input
    }

    /// How long each phase took, whatever the splits were.
    pub fn phases(&self) -> PhaseTimes {
        self.phases
    }

    /// Equally likely times at work, seconds, of a task whose phase typically has that; those of runs with other data by far are left out, for of these they say nothing.
    /// By counters it is no shorter with less, as what of it is not spent on data is not told.
    pub fn times(&self, data: impl Into<Typical>) -> impl Iterator<Item = f64> {
        let data = data.into();
        let (share, least) = (data.share_of(self.data), if data.split.0 == 0 { 1.0 } else { 0.0 });
        self.own().filter_map(move |(time, own)| {
            let ratio = share / own;
            (FAR.recip()..=FAR).contains(&ratio).then_some(time * ratio.max(least))
        })
    }

    /// Each time as it was, with what its run's tasks had, over the newest's.
    fn own(&self) -> impl Iterator<Item = (f64, f64)> {
        self.times.iter().enumerate().map(|(n, time)| (*time, self.shares.get(n).copied().unwrap_or(1.0)))
    }

    /// From launch to work, seconds.
    pub fn start_up(&self) -> f64 {
        self.start_up
    }

    /// What it adds to a phase that has shown too little: the time from launch to work, seconds, on how many tasks it rests, and equally likely times of a task with what is typical of it, seconds. Where start-up is not
    /// `told` from work these hold both, as the phase's own do then. `None` where no run had such data.
    pub fn beside(&self, runs: &Runs, told: bool, data: Typical) -> Option<(f64, usize, impl Iterator<Item = f64>)> {
        let start_up = if told && !runs.knows_start_up() { self.start_up } else { runs.before_own().0 };
        let both = if told { 0.0 } else { self.start_up };
        let mut times = self.times(data).map(move |time| time + both).peekable();
        times.peek()?;
        Some((start_up, self.tasks, times))
    }

    /// Has it seen enough tasks for a distribution, be it one in each run?
    pub fn is_enough(&self) -> bool {
        self.tasks.max(self.runs as usize) >= ENOUGH
    }

    /// May it judge a task that has no other beside it? Where it has seen enough, and its times agree but for their ends: jobs that have nothing in common may go by one name.
    pub fn speaks_alone(&self) -> bool {
        const APART: f64 = 3.0;
        let mut times: Vec<f64> = self.times(self.data).collect();
        times.sort_unstable_by(f64::total_cmp);
        let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 4).copied();
        self.is_enough() && at(3).zip(at(1)).is_some_and(|(long, short)| long <= APART * short)
    }

    /// With those of the runs before: a run counts as much as all before it.
    fn after(self, before: &Prior) -> Prior {
        let grown = self.data.share_of(before.data);
        let mut all: Vec<(f64, f64)> = stand_for(self.times, TIMES / 2).into_iter().map(|time| (time, 1.0)).collect();
        let mut earlier: Vec<(f64, f64)> = before.own().map(|(time, share)| (time, share / grown)).collect();
        earlier.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        for run in earlier.chunk_by(|a, b| a.1 == b.1) {
            let half = stand_for(run.iter().map(|(time, _)| *time).collect(), run.len() / 2);
            all.extend(half.into_iter().map(|time| (time, run[0].1)));
        }
        let (times, shares): (Vec<f64>, Vec<f64>) = all.into_iter().unzip();
        let shares = if shares.iter().all(|share| *share == 1.0) { Vec::new() } else { shares };
        let start_up = (self.start_up + before.start_up) / 2.0;
        let (tasks, runs) = (self.tasks + before.tasks / 2, self.runs.saturating_add(before.runs));
        Prior { times, shares, data: self.data, start_up, tasks, runs, phases: self.phases.or(before.phases) }
    }
}

/// Just so many values that stand for all, ascending; of fewer each is repeated.
fn stand_for(values: Vec<f64>, count: usize) -> Vec<f64> {
    let few = sum_up(values, count);
    (0..count).map(|n| few[(2 * n + 1) * few.len() / (2 * count)]).collect()
}

/// Those of every kind of job that is remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Priors(ByKind<[Option<Prior>; 2]>);

impl Priors {
    /// What earlier runs of a kind of jobs showed of its tasks of one kind.
    pub fn of(&self, job: &JobKind, tasks: TaskKind) -> Option<&Prior> {
        self.0.get(job)?[tasks as usize].as_ref()
    }

    /// Goes on from those.
    pub fn resume(&mut self, Priors(told): Priors) {
        self.0 = told.bounded();
    }

    /// Kinds of jobs that are remembered.
    pub fn kinds(&self) -> usize {
        self.0.count()
    }

    /// Learns from a run that has ended well.
    pub fn learn(&mut self, job: JobKind, run: [Option<Prior>; 2]) {
        let known = self.0.entry(job);
        for (known, new) in known.iter_mut().zip(run) {
            *known = match (known.take(), new) {
                (Some(before), Some(new)) => Some(new.after(&before)),
                (before, new) => new.or(before),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Millis;

    fn kind(user: &str) -> JobKind {
        JobKind { user: user.into(), name: "etl-#".into() }
    }

    #[test]
    fn a_phase_is_as_long_as_in_the_newest_run_that_showed_it() {
        let run = |typical: [Option<u64>; 3]| {
            let phases = PhaseTimes { typical: typical.map(|length| length.map(Millis)) };
            [Prior::new(vec![10.0], Bytes(0), 0.0).map(|prior| prior.with_phases(phases)), None]
        };
        let mut priors = Priors::default();
        priors.learn(kind("ann"), run([Some(5), Some(2), Some(9)]));
        priors.learn(kind("ann"), run([Some(7), None, Some(4)]));
        let known = priors.of(&kind("ann"), TaskKind::Map).unwrap().phases();
        assert_eq!(known.typical, [Some(Millis(7)), Some(Millis(2)), Some(Millis(4))]);
    }

    fn mean(times: impl Iterator<Item = f64>) -> f64 {
        let times: Vec<f64> = times.collect();
        times.iter().sum::<f64>() / times.len() as f64
    }

    #[test]
    fn a_run_counts_as_much_as_all_before_it() {
        let mut priors = Priors::default();
        for seconds in [10.0, 20.0, 40.0] {
            let maps = Prior::new(vec![seconds; 3], Bytes(0), seconds / 10.0);
            priors.learn(kind("ann"), [maps, None]);
        }
        let maps = priors.of(&kind("ann"), TaskKind::Map).unwrap();
        assert_eq!(mean(maps.times(Bytes(0))), 27.5, "((10 + 20) / 2 + 40) / 2");
        assert_eq!((maps.start_up(), maps.tasks), (2.75, 5));
        assert_eq!(priors.of(&kind("ann"), TaskKind::Reduce), None);
        assert_eq!(priors.of(&kind("bob"), TaskKind::Map), None, "a user's runs speak for that user's jobs alone");
    }

    #[test]
    fn runs_of_one_task_each_are_enough_once_there_are_as_many_as_tasks_are_needed() {
        let mut priors = Priors::default();
        let enough = [10.0, 20.0, 40.0].map(|seconds| {
            priors.learn(kind("ann"), [None, Prior::new(vec![seconds], Bytes(0), 0.0)]);
            priors.of(&kind("ann"), TaskKind::Reduce).unwrap().is_enough()
        });
        assert_eq!(enough, [false, false, true]);
        assert!(Prior::new(vec![10.0; ENOUGH], Bytes(0), 0.0).unwrap().is_enough());
    }

    #[test]
    fn runs_that_have_nothing_in_common_judge_no_task_alone_and_a_straggler_among_runs_that_have_is_none_of_their_difference()
     {
        let alone = |times: &[f64]| Prior::new(times.to_vec(), Bytes(0), 0.0).unwrap().speaks_alone();
        assert_eq!(
            [alone(&[10.0, 12.0]), alone(&[10.0, 12.0, 11.0]), alone(&[10.0, 11.0, 12.0, 80.0, 9.0])],
            [false, true, true]
        );
        assert!(!alone(&[10.0, 1_800.0, 12.0, 1_700.0]));
    }

    #[test]
    fn times_go_with_the_splits_where_those_are_told() {
        let prior = Prior::new(vec![4.0, 8.0], Bytes(100), 1.0).unwrap();
        assert_eq!(mean(prior.times(Bytes(300))), 18.0);
        assert_eq!(mean(prior.times(Bytes(0))), 6.0);
        let larger = Prior::new(vec![30.0], Bytes(300), 1.0).unwrap().after(&prior);
        assert_eq!(mean(larger.times(Bytes(300))), 24.0);
        assert_eq!(Prior::new(Vec::new(), Bytes(1), 1.0), None);
    }

    #[test]
    fn times_go_with_what_reduces_shuffled_where_that_is_told_of_both_runs_and_not_below_what_they_were() {
        let shuffled = |bytes: f64| Some(Whole { bytes, records: 0.0 });
        let prior = |seconds, input| Prior::new(vec![seconds], Bytes(0), 1.0).unwrap().with_input(input);
        let takes = |input| mean(prior(10.0, shuffled(100.0)).times(Typical { split: Bytes(0), input }));
        assert_eq!([shuffled(500.0), shuffled(20.0), None].map(takes), [50.0, 10.0, 10.0]);
        assert_eq!(mean(prior(10.0, None).times(Typical { split: Bytes(0), input: shuffled(500.0) })), 10.0);
        let grown = prior(60.0, shuffled(500.0)).after(&prior(10.0, shuffled(100.0)));
        assert_eq!((mean(grown.times(grown.data)), grown.input()), (55.0, shuffled(500.0)));
        let split = Prior::new(vec![10.0], Bytes(100), 1.0).unwrap().with_input(shuffled(100.0));
        assert_eq!(mean(split.times(Typical { split: Bytes(100), input: shuffled(500.0) })), 10.0, "splits go before");
    }

    #[test]
    fn runs_whose_data_go_up_and_down_leave_times_as_they_were_and_each_kind_of_them_speaks_for_its_own() {
        let run = |(seconds, bytes): (f64, f64)| {
            let input = Some(Whole { bytes, records: 0.0 });
            [None, Prior::new(vec![seconds; 3], Bytes(0), 0.0).map(|run| run.with_input(input))]
        };
        let of = |runs: &[(f64, f64)], bytes: f64| {
            let mut priors = Priors::default();
            runs.iter().for_each(|one| priors.learn(kind("ann"), run(*one)));
            let data = Typical { split: Bytes(0), input: Some(Whole { bytes, records: 0.0 }) };
            let mut times: Vec<f64> = priors.of(&kind("ann"), TaskKind::Reduce).unwrap().times(data).collect();
            times.sort_unstable_by(f64::total_cmp);
            (times.first().copied(), times.last().copied())
        };
        let (small, large) = ((10.0, 100.0), (30.0, 300.0));
        let threefold: Vec<_> = [small, large].into_iter().cycle().take(40).collect();
        assert_eq!(of(&threefold, 300.0), (Some(30.0), Some(30.0)));
        assert_eq!(of(&threefold, 100.0), (Some(10.0), Some(30.0)), "no shorter with less");
        let apart: Vec<_> = [(2.0, 64.0), (200.0, 8e7)].into_iter().cycle().take(41).collect();
        assert_eq!([of(&apart, 8e7), of(&apart, 64.0)], [(Some(200.0), Some(200.0)), (Some(2.0), Some(2.0))]);
        assert_eq!(of(&apart, 1e5), (None, None), "neither says anything of it");
    }

    #[test]
    fn what_was_serialised_with_a_split_alone_is_still_read() {
        let old = r#"{"times":[1.0,2.0],"split":7,"start_up":0.5,"tasks":2}"#;
        let prior: Prior = serde_json::from_str(old).unwrap();
        assert_eq!((prior.data, prior.times(Bytes(14)).sum::<f64>()), (Bytes(7).into(), 6.0));
        let again: Prior = serde_json::from_str(&serde_json::to_string(&prior).unwrap()).unwrap();
        assert_eq!(again, prior);
    }

    #[test]
    fn many_tasks_are_summed_up_with_their_tail() {
        let prior = Prior::new((1..=1_000).map(f64::from).collect(), Bytes(0), 0.0).unwrap();
        let times: Vec<f64> = prior.times(Bytes(0)).collect();
        assert_eq!((times.len(), times[0], times[TIMES - 1]), (TIMES, 25.5, 975.5));
    }

    #[test]
    fn a_run_whose_splits_are_not_told_is_taken_as_it_was() {
        let prior = Prior::new(vec![4.0, 8.0], Bytes(0), 1.0).unwrap();
        assert_eq!(mean(prior.times(Bytes(300))), 6.0);
    }

    #[test]
    fn few_tasks_stand_for_many_without_a_slant_to_either_end() {
        assert_eq!(stand_for(vec![3.0, 1.0, 2.0], 4), [1.0, 2.0, 2.0, 3.0]);
        assert_eq!(mean(stand_for(vec![1.0, 2.0, 3.0], TIMES).into_iter()), 2.0);
    }
}
