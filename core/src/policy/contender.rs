//! A task that a policy judges.

use super::{Budget, Judged, View};
use crate::estimate::input::Whole;
use crate::estimate::time_left::late_rate;
use crate::estimate::{Left, Sample};
use crate::model::{
    Action, Attempt, AttemptState, Intakes, Millis, NameId, Numbers, Task, TaskId, TaskKind, TaskState, Time, Verdict,
};

/// A task that runs, judged by the oldest of its attempts.
#[derive(Debug)]
pub struct Contender<'a> {
    /// Its id.
    pub id: TaskId,
    /// The task.
    pub task: &'a Task,
    /// What its estimate is made from.
    pub sample: Sample,
    /// How long it has run.
    pub elapsed: Millis,
    /// Estimated time left; `None` while there is no progress.
    pub left: Option<Left>,
    /// Its whole input as its counters let expect it; `None` before they were read.
    pub input: Option<Whole>,
    /// A reduce that can only wait: it copies, and maps are still running.
    pub waits_for_maps: bool,
}

impl<'a> Contender<'a> {
    /// The attempt by which a running task is judged, where any is known of it; `None` where there is nothing to judge.
    pub(super) fn attempt_of(task: &'a Task) -> Option<Option<&'a Attempt>> {
        let original = task.original();
        // Where every known attempt has ended, none has taken over yet.
        let runs = task.state == TaskState::Running && (original.is_some() || task.attempts.is_empty());
        runs.then_some(original)
    }

    pub(super) fn new(view: &View<'a>, id: TaskId, task: &'a Task) -> Option<Contender<'a>> {
        let original = Contender::attempt_of(task)?;
        let (shape, track) = (view.shape, task.progress());
        let sample = view.sample(id, task, original, track)?;
        let copying = shape.current(sample.phase, track.score()) == 0;
        Some(Contender {
            id,
            task,
            sample,
            elapsed: view.now.since(sample.started),
            left: view.estimator.time_left(&sample, shape, &view.peers.times, view.spreads, view.now),
            input: original
                .and_then(|attempt| view.job.intakes.of(id.attempt(attempt.number)))
                .and_then(|intake| Whole::projected(intake, id.kind, shape, &track)),
            waits_for_maps: id.kind == TaskKind::Reduce && copying && view.peers.maps_done.at.is_none(),
        })
    }

    /// What a phase's reduces typically have that run, by those whose counters are kept whatever their pace: those that lag may do so for their data. Of two halves the one
    /// with less, and `None` where they tell of one at most, which may be the one with more.
    pub(super) fn typical_input(all: &[Contender<'_>]) -> Option<Whole> {
        let sample = all
            .iter()
            .filter(|contender| contender.id.kind == TaskKind::Reduce && contender.id.index < Intakes::SAMPLE);
        let mut told: Vec<Whole> = sample.filter_map(|contender| contender.input).collect();
        told.sort_unstable_by(|a, b| a.bytes.total_cmp(&b.bytes).then(a.records.total_cmp(&b.records)));
        told.get(told.len().saturating_sub(1) / 2).copied().filter(|_| told.len() > 1)
    }

    /// LATE §4: its progress rate, score per second.
    pub fn rate(&self) -> f64 {
        late_rate(self.sample.track.score(), self.elapsed)
    }

    /// A verdict with all numbers that are known.
    pub fn judged(&self, view: &View<'_>, verdict: Verdict) -> Judged {
        let fresh = view.fresh.map(|fresh| fresh.scaled(view.input_ratio(self)));
        let ahead = self.left.zip(fresh).map(|(left, fresh)| fresh.ahead_of(left));
        let numbers = Numbers {
            score: self.sample.track.score(),
            elapsed: self.elapsed,
            silent: view.now.since(self.sample.last_word()),
            rate: self.rate(),
            slow_below: None,
            time_left: self.left.map(|left| left.mean),
            time_left_spread: self.left.map(|left| left.spread),
            fresh_copy: fresh.map(|fresh| fresh.mean),
            fresh_copy_spread: fresh.map(|fresh| fresh.spread),
            win_probability: ahead.map(|(_, probability)| probability),
            gain: ahead.map(|(gain, _)| gain),
            saves_probability: None,
            cost_container_seconds: fresh.map(|fresh| fresh.mean.as_secs_f64()),
            budget: None,
        };
        let attempt = view.job.judged_attempt(self.id);
        let (action, rule) = (Action::default(), None);
        let (copies, budget) = (1, Budget::default());
        let (task, rank, recheck, early, weighed) = (self.id, 0.0, None, false, 0);
        Judged { task, verdict, action, copies, budget, attempt, rule, numbers, rank, recheck, early, weighed }
    }

    /// Has it run for so long, with nothing said, that its age alone tells? See [`Contender::patience`].
    pub fn outlasts(&self, view: &View<'_>) -> bool {
        self.patience(view).is_some_and(|patience| self.elapsed > patience)
    }

    /// Where most finished tasks of its kind were too short to report at all, no report needs waiting for beyond twice as long as the longest run of any, each against its data. A quarter
    /// longer is enough where it is not alone: where others wait on its host, too, and none has finished there; and as long as the longest where such hosts
    /// are few, or where others' reports show its host to be slow.
    fn patience(&self, view: &View<'_>) -> Option<Millis> {
        const ALONE: f64 = 2.0;
        const WITH_ITS_HOST: f64 = 1.25;
        const ON_A_SLOW_HOST: f64 = 1.0;
        let longest = view.peers.longest.filter(|_| view.peers.ends_unreported)?;
        let host = self.task.original().and_then(|attempt| attempt.host);
        let on_one_of = |hosts: &[NameId]| host.is_some_and(|host| hosts.binary_search(&host).is_ok());
        let times = if on_one_of(&view.peers.slow_hosts) {
            ON_A_SLOW_HOST
        } else if on_one_of(&view.peers.silent_hosts) {
            WITH_ITS_HOST
        } else {
            ALONE
        };
        Some(longest.scaled(times * view.input_ratio(self)) + view.patience.jitter)
    }

    /// When its silence will tell, if it goes on, the AM's clock: by its age, or by its own rhythm of reports.
    pub fn silence_tells_at(&self, view: &View<'_>) -> Option<Time> {
        let by_age = self.patience(view).map(|patience| self.sample.started + patience);
        [by_age, Some(self.sample.silent_at(view.now))]
            .into_iter()
            .flatten()
            .filter(|at| *at >= view.now)
            .min()
            .map(|at| at + Millis(1))
    }

    /// Had its peers by their first report done a third of their work more than it by its own? That comes two intervals after the start of an attempt's reporter, which is that of its
    /// work, for at the first of them Hadoop tells of the progress before it (Task.TaskReporter); so what ended without one did all of it in less. A late start cannot
    /// explain so much, and no second report needs waiting for.
    pub fn begins_behind(&self, view: &View<'_>) -> bool {
        // What all of an attempt 1.5 times slower than its peers is behind them (Mantri §4.1's outlier), as these end.
        const BEHIND: f64 = 1.0 / 3.0;
        let first = self.sample.track.first().map(|(score, _)| score);
        first.zip(view.peers.typical_first).is_some_and(|(first, typical)| typical - first >= BEHIND)
    }

    /// One of its attempts has done its work, and waits for leave to commit, or commits.
    pub fn is_committing(&self) -> bool {
        self.task.live().any(|attempt| attempt.state == AttemptState::CommitPending)
    }

    /// Why it cannot have a copy at all, whatever its progress.
    pub fn barred(&self, view: &View<'_>) -> Option<Verdict> {
        if self.is_committing() {
            return Some(Verdict::Committing);
        }
        if !view.judge_native_copies && self.task.unended().count() > 1 {
            return Some(Verdict::AlreadyCopied);
        }
        self.task.marks.skewed().then_some(Verdict::ClockSet)
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::tests::{Phase, secs};

    #[test]
    fn a_task_outlasts_its_peers_beyond_twice_the_longest_run_against_its_data_and_two_seconds() {
        let of = |split, elapsed| {
            let peers = Phase::maps(3).took(&[5.0, 10.0]).split(0, 10).split(1, 10);
            let mut phase = peers.split(2, split).runs((2, 0), 0, 0.0, &[]);
            let mut view = phase.view(1.0);
            view.contenders[0].elapsed = secs(elapsed);
            view.contenders[0].outlasts(&view)
        };
        assert_eq!([of(10, 21.9), of(10, 22.0), of(10, 22.1), of(10, 90.0)], [false, false, true, true]);
        assert_eq!([of(20, 42.0), of(20, 42.1)], [false, true], "twice the data");
    }

    #[test]
    fn a_peer_that_has_reported_before_it_ended_makes_no_silence_ordinary_until_half_have() {
        let of = |reported: u32| {
            let tells = |phase: Phase, index| phase.runs((index, 0), 0, 0.0, &[(4.0, 0.5)]);
            let phase = (0..reported).fold(Phase::maps(5).took(&[5.0; 4]), tells);
            let phase = (0..reported).fold(phase, |phase, index| phase.done(index, 0, [0.0, 5.0]));
            let mut phase = phase.runs((4, 0), 0, 0.0, &[]);
            let mut view = phase.view(1.0);
            view.contenders[0].elapsed = secs(12.1);
            (view.peers.ends_unreported, view.contenders[0].outlasts(&view))
        };
        assert_eq!([of(0), of(1), of(2)], [(true, true), (true, true), (false, false)]);
    }

    #[test]
    fn as_long_as_the_longest_is_enough_where_another_ones_report_shows_its_host_to_be_slow() {
        let of = |on, score, elapsed| {
            let phase = Phase::maps(5).took(&[5.0, 10.0]).done(2, 2, [0.0, 4.0]);
            let mut phase = phase.runs((3, 0), 1, 0.0, &[(4.0, score)]).runs((4, 0), on, 0.0, &[]);
            let mut view = phase.view_by(4.0, 1.5);
            view.contenders[1].elapsed = secs(elapsed);
            view.contenders[1].outlasts(&view)
        };
        assert_eq!([of(1, 0.1, 12.0), of(1, 0.1, 12.1)], [false, true]);
        assert!(!of(1, 0.9, 20.0), "the other one there is no slower than any");
        assert!(!of(3, 0.1, 20.0), "on another host");
    }

    #[test]
    fn as_long_as_the_longest_is_enough_where_three_hosts_have_finished_some_for_one_that_is_silent() {
        let of = |hosts: u32, elapsed| {
            let done = |phase: Phase, index| phase.done(index, 10 + index % hosts, [0.0, 10.0]);
            let phase = (0..3).fold(Phase::maps(5), done);
            let mut phase = (3..5).fold(phase, |phase, index| phase.runs((index, 0), 1, 0.0, &[]));
            let mut view = phase.view_by(4.0, 1.5);
            view.contenders[1].elapsed = secs(elapsed);
            view.contenders[1].outlasts(&view)
        };
        assert_eq!([of(3, 12.0), of(3, 12.1), of(2, 12.1), of(2, 14.6)], [false, true, false, true]);
    }

    #[test]
    fn a_quarter_longer_is_enough_where_others_wait_on_its_host_and_none_has_finished_there() {
        let of = |on: u32, reports: &[(f64, f32)], elapsed| {
            let phase = Phase::maps(5).took(&[5.0, 10.0]).done(2, 2, [0.0, 4.0]);
            let mut phase = phase.runs((3, 0), 1, 0.0, reports).runs((4, 0), on, 0.0, &[]);
            let mut view = phase.view(1.0);
            view.contenders[1].elapsed = secs(elapsed);
            view.contenders[1].outlasts(&view)
        };
        assert_eq!([of(1, &[], 14.5), of(1, &[], 14.6)], [false, true]);
        assert!(!of(3, &[], 20.0), "it is alone there");
        assert!(!of(1, &[(0.5, 0.5)], 20.0), "the other one there moves, and not slowly");
        let beside_done = |elapsed| {
            let phase = Phase::maps(5).took(&[5.0, 10.0]).done(2, 1, [0.0, 4.0]);
            let mut phase = phase.runs((3, 0), 1, 0.0, &[]).runs((4, 0), 1, 0.0, &[]);
            let mut view = phase.view(1.0);
            view.contenders[1].elapsed = secs(elapsed);
            view.contenders[1].outlasts(&view)
        };
        assert!(!beside_done(20.0), "another has finished there");
        let both = |phase: Phase, index| phase.runs((index, 0), 1, 0.0, &[]);
        let mut phase = (3..5).fold(Phase::maps(5).took(&[5.0, 10.0]), both);
        assert_eq!(
            [1.5, 0.0].map(|factor| phase.view_by(1.0, factor).peers.silent_hosts.len()),
            [1, 0],
            "no paper has it"
        );
    }
}
