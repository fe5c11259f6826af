//! What is known of the copies of a task that run, and of one that would be new (Mantri §5.5).

use super::super::{Contender, View};
use super::MantriParams;
use crate::estimate::new_copy::NewCopy;
use crate::estimate::remaining::{Basis, t_rem};
use crate::estimate::runs::work_began;
use crate::estimate::stats::median;
use crate::estimate::{Estimator, Sample};
use crate::model::{Attempt, Millis, NameId, TaskKind, TaskState};

/// A copy that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveCopy {
    /// Its attempt's number; 0 where only the task is known.
    pub number: u32,
    /// How long it has run.
    pub age: Millis,
    /// t_rem, seconds: without end for one that should have moved and never has; `None` before its first report is due.
    pub t_rem: Option<f64>,
    /// What that rests on.
    pub basis: Basis,
    /// Where it runs, where that is known.
    host: Option<NameId>,
    /// How long it has been at work, or where start-up is not told from work has run, seconds. `None` before a tenth is done.
    so_far: Option<f64>,
}

/// The copies of every task that runs, one task after the other, of each the fastest first.
pub struct Copies {
    all: Vec<LiveCopy>,
    /// Where in these each contender's end.
    ends: Vec<usize>,
}

impl Copies {
    /// All of a phase.
    pub fn of(view: &View<'_>) -> Copies {
        let (tasks, told) = (view.contenders.len(), start_up_is_told(view));
        let mut copies = Copies { all: Vec::with_capacity(tasks), ends: Vec::with_capacity(tasks) };
        view.contenders.iter().for_each(|contender| copies.add(view, contender, told));
        copies
    }

    fn add(&mut self, view: &View<'_>, contender: &Contender<'_>, told: bool) {
        let (task, begin) = (contender.task, self.all.len());
        if task.live().count() > 1 {
            let sample = |live| Some((live, view.sample(contender.id, task, Some(live), live.track)?));
            let sampled = task.live().filter_map(sample);
            self.all.extend(sampled.map(|(live, sample)| one(view, contender, Some(live), &sample, told)));
        } else {
            self.all.push(one(view, contender, task.original(), &contender.sample, told));
        }
        // One that need not have reported yet may still turn out fast, unlike one that should have and has not.
        let left = |copy: &LiveCopy| copy.t_rem.unwrap_or(f64::MAX);
        self.all[begin..].sort_by(|a, b| left(a).total_cmp(&left(b)).then(a.number.cmp(&b.number)));
        self.ends.push(self.all.len());
    }

    /// Those of one of the view's contenders.
    pub fn of_task(&self, contender: usize) -> &[LiveCopy] {
        let begin = contender.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin..self.ends[contender]]
    }

    /// The fastest of each contender, in their order.
    fn fastest(&self) -> impl Iterator<Item = Option<&LiveCopy>> {
        (0..self.ends.len()).map(|contender| self.of_task(contender).first())
    }
}

fn one(view: &View<'_>, contender: &Contender<'_>, live: Option<&Attempt>, sample: &Sample, told: bool) -> LiveCopy {
    let number = live.map_or(0, |attempt| attempt.number);
    // Of a reduce both may have begun with the end of the maps.
    let oldest = contender.task.original().is_none_or(|original| original.number == number);
    let by_score = matches!(view.estimator, Estimator::PhaseAware | Estimator::Mantri) && sample.reading.is_none();
    let left = match contender.left.filter(|_| oldest && by_score) {
        // By the score that has been reckoned already.
        Some(left) => Some((left.mean.as_secs_f64(), Basis::Score)),
        None => t_rem(sample, view.shape, &view.peers.times, view.now),
    };
    let overdue = sample.is_silent() || (oldest && contender.outlasts(view));
    let (t_rem, basis) = match left {
        Some((left, basis)) => (Some(left), basis),
        None => (overdue.then_some(f64::INFINITY), Basis::Score),
    };
    let (age, host) = (view.now.since(sample.started), live.and_then(|attempt| attempt.host));
    LiveCopy { number, age, t_rem, basis, host, so_far: so_far(view, sample, told) }
}

/// d of this task, in typical inputs of its phase; 1 where it is not known.
pub fn data(view: &View<'_>, contender: &Contender<'_>) -> f64 {
    view.split_share(contender.task.input).unwrap_or_else(|| view.input_ratio(contender))
}

/// t_new from the phase's tasks, of which a copy's own is left out later ([`own_place`]): the finished, and those far enough for a pace as they are projected; where a copy is kept off slow hosts, from those of the others. While
/// they are fewer than is enough, the job's earlier runs speak beside them.
pub fn new_copy(view: &View<'_>, copies: &Copies, params: &MantriParams, slow_from: f64) -> NewCopy {
    let told = start_up_is_told(view);
    let slow = slow_hosts_of(view, copies);
    let is_slow = |one: &Rate| one.host.is_some_and(|host| slow.contains(&host));
    let (there, elsewhere): (Vec<_>, Vec<_>) = rates(view, copies, told).partition(is_slow);
    let tells = |one: &&Rate| one.ended || one.rate <= slow_from;
    let evidence = there.iter().chain(&elsewhere).filter(tells).count();
    let rates = if elsewhere.is_empty() { there } else { elsewhere }.into_iter().map(|one| one.rate).collect();
    let prior = view.prior.filter(|_| evidence < params.min_evidence as usize);
    let own = |start_up: f64| NewCopy::new(rates, evidence, start_up + view.start_lag.as_secs_f64(), view.location);
    let Some(prior) = prior else { return own(view.runs.before_own().0) };
    let (start_up, times) = prior.beside(&view.runs, told, view.peers.typical_split);
    own(start_up).with_earlier(times, prior.tasks())
}

/// What a task of the phase shows.
struct Rate {
    /// Its time for the phase's typical input, seconds.
    rate: f64,
    /// Where that was taken.
    host: Option<NameId>,
    /// It has succeeded.
    ended: bool,
}

/// The phase's tasks, the finished ones first.
fn rates<'a>(view: &'a View<'_>, copies: &'a Copies, told: bool) -> impl Iterator<Item = Rate> + 'a {
    let finished = view.paces().filter_map(|(run, rate)| {
        let task = view.job.task(view.job.id.task(view.kind, run.index))?;
        let attempt = task.won().or_else(|| task.original());
        Some(Rate { rate, host: attempt.and_then(|attempt| attempt.host), ended: task.state == TaskState::Succeeded })
    });
    let running = view.contenders.iter().zip(copies.fastest());
    finished.chain(running.filter_map(move |(contender, fastest)| {
        let fastest = fastest?;
        Some(Rate { rate: rate(view, contender, fastest, told)?, host: fastest.host, ended: false })
    }))
}

/// Time for the typical input, seconds, beyond which a running task is slow and no evidence of how long a copy takes: of two stragglers in a small phase either would make
/// the other's copy seem slow.
pub fn slow_from(view: &View<'_>) -> f64 {
    let typical = median(&mut view.paces().map(|(_, rate)| rate).collect::<Vec<_>>());
    typical.filter(|_| view.slow_factor > 0.0).map_or(f64::INFINITY, |typical| view.slow_factor * typical)
}

/// That of a running task, as far as its fastest copy shows it.
fn rate(view: &View<'_>, contender: &Contender<'_>, fastest: &LiveCopy, told: bool) -> Option<f64> {
    let left = fastest.t_rem.filter(|left| left.is_finite() && view.tells_pace(contender.task.input, told))?;
    Some((fastest.so_far? + left) / data(view, contender))
}

/// The place that a running task's own time has in t_new, where it has one; and of how many of the evidence that leaves t_new to rest on.
pub fn own_place(
    view: &View<'_>,
    contender: &Contender<'_>,
    fastest: &LiveCopy,
    t_new: &NewCopy,
    slow_from: f64,
) -> (Option<usize>, usize) {
    let own = rate(view, contender, fastest, start_up_is_told(view));
    let place = own.and_then(|own| t_new.place(own));
    let counted = place.is_some() && own.is_some_and(|own| own <= slow_from);
    (place, t_new.evidence() - usize::from(counted))
}

/// Is start-up told from work?
fn start_up_is_told(view: &View<'_>) -> bool {
    view.kind == TaskKind::Map && view.runs.told()
}

/// The hosts that a copy is kept off for being slow. Sought only where a task is as slow as that.
fn slow_hosts_of<'a>(view: &'a View<'_>, copies: &Copies) -> &'a [NameId] {
    let Some(long) = view.peers.typical.map(|typical| view.slow_factor * typical.as_secs_f64()) else {
        return &[];
    };
    let run = |copy: &LiveCopy| copy.age.as_secs_f64() + copy.t_rem.unwrap_or(0.0);
    let slow = copies.fastest().flatten().any(|copy| run(copy) > long);
    if slow { view.slow_hosts() } else { &[] }
}

/// See [`LiveCopy`].
fn so_far(view: &View<'_>, sample: &Sample, told: bool) -> Option<f64> {
    const LEAST: f64 = 0.1;
    if told {
        let began = work_began(sample.started, &sample.track, None)?;
        return Some(view.now.since(began).as_secs_f64());
    }
    (sample.track.score() >= LEAST).then(|| view.now.since(sample.started).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::prior::Prior;
    use crate::model::{Bytes, TaskFact};
    use crate::policy::tests::{Phase, at, secs};

    fn fresh(view: &View<'_>) -> NewCopy {
        new_copy(view, &Copies::of(view), &MantriParams::default(), slow_from(view))
    }

    fn close(times: &[f64], expected: &[f64]) -> bool {
        times.len() == expected.len() && times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.05)
    }

    /// Earlier runs took 30 s after 5 s of start-up.
    fn earlier() -> Prior {
        Prior::new(vec![30.0; 4], Bytes(0), 5.0).unwrap()
    }

    #[test]
    fn what_is_told_of_a_task_is_told_of_its_only_attempt() {
        let mut phase = Phase::maps(1).runs((0, 0), 0, 0.0, &[]);
        let of = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
        let told = TaskFact { state: Some(TaskState::Running), score: Some(0.25), ..of };
        assert!(phase.job.learn_task(&told, at(4.0), 1_000));
        assert_eq!(Copies::of(&phase.view(6.0)).of_task(0)[0].t_rem, Some(10.0));
    }

    #[test]
    fn that_a_task_had_done_nothing_while_it_waited_is_no_silence_of_its_attempt() {
        let mut phase = Phase::maps(2);
        let waits = TaskFact {
            state: Some(TaskState::Scheduled),
            score: Some(0.0),
            ..TaskFact::of(phase.job.id.task(TaskKind::Map, 0))
        };
        assert!(phase.job.learn_task(&waits, at(1.0), 1_000));
        let mut phase = phase.runs((0, 0), 0, 60.0, &[]);
        let mut left = |now| Copies::of(&phase.view(now)).of_task(0)[0].t_rem;
        assert_eq!([left(61.0), left(90.0)], [None, Some(f64::INFINITY)]);
    }

    #[test]
    fn the_oldest_copy_has_no_end_once_it_outlasts_its_peers_and_a_younger_one_is_given_time() {
        let mut phase = Phase::maps(2).took(&[3.0]).runs((1, 0), 0, 0.0, &[]).runs((1, 1), 0, 7.0, &[]);
        let at_second = |phase: &mut Phase, now| {
            Copies::of(&phase.view(now)).of_task(0).iter().map(|copy| (copy.number, copy.t_rem)).collect::<Vec<_>>()
        };
        assert_eq!(at_second(&mut phase, 8.0), [(0, None), (1, None)], "twice three seconds, and two");
        assert_eq!(at_second(&mut phase, 8.1), [(1, None), (0, Some(f64::INFINITY))]);
    }

    #[test]
    fn a_copy_whose_report_is_not_due_yet_stands_between_those_that_report_and_one_that_should_have() {
        let mut phase = Phase::maps(2).took(&[3.0]).runs((1, 0), 0, 0.0, &[]).runs((1, 1), 0, 7.0, &[]);
        phase = phase.runs((1, 2), 0, 2.0, &[(5.0, 0.5), (8.0, 0.75)]);
        let numbers = Copies::of(&phase.view(8.1)).of_task(0).iter().map(|copy| copy.number).collect::<Vec<_>>();
        assert_eq!(numbers, [2, 1, 0], "the first never reported");
    }

    #[test]
    fn a_copys_time_holds_what_passes_from_the_decision_to_its_launch() {
        let mut phase = Phase::maps(4).took(&[10.0; 3]);
        let view = View { start_lag: secs(2.0), ..phase.view(20.0) };
        assert!(close(&fresh(&view).times(1.0, None), &[12.0; 3]), "{:?}", fresh(&view));
    }

    #[test]
    fn finished_and_running_tasks_count_with_their_whole_time_for_the_typical_input() {
        let peers = Phase::maps(4).took(&[10.0, 10.0, 40.0]).split(0, 8).split(1, 8).split(2, 32);
        let mut phase = peers.split(3, 16).runs((3, 0), 0, 0.0, &[(4.0, 0.125)]);
        // The median of the splits is 12.
        let new = fresh(&View { slow_factor: 0.0, ..phase.view(6.0) });
        assert!(close(&new.times(1.0, None), &[15.0, 15.0, 15.0, 24.0]), "{new:?}");
        let mut early = Phase::maps(2).took(&[10.0]).runs((1, 0), 0, 0.0, &[(2.0, 0.0625)]);
        assert_eq!(fresh(&early.view(3.0)).evidence(), 1, "a tenth of it is not done");
    }

    #[test]
    fn a_run_that_is_mostly_the_start_of_its_jvm_tells_no_pace_unless_it_is_all_there_is_or_the_start_is_told() {
        let times = |mut phase: Phase| fresh(&phase.view(20.0)).times(1.0, None);
        let splits = |phase: Phase| phase.split(0, 1_024).split(1, 1_024).split(2, 1);
        let untold = Phase::maps(3).took(&[8.0, 8.0, 3.0]);
        assert!(close(&times(splits(untold)), &[8.0, 8.0]), "3 s for a thousandth are no 3,000 s for the whole");
        let alone = Phase::maps(3).done(2, 0, [0.0, 3.0]);
        assert_eq!(times(splits(alone)).len(), 1);
        let told = [(0, 8.0), (1, 8.0), (2, 2.5)].into_iter().fold(Phase::maps(3), |phase, (index, end)| {
            let reports = [(2.0 + (end - 2.0) / 4.0, 0.25), (2.0 + (end - 2.0) / 2.0, 0.5)];
            phase.runs((index, 0), index, 0.0, &reports).done(index, index, [0.0, end])
        });
        assert_eq!(times(splits(told)).len(), 3);
    }

    #[test]
    fn of_a_reduce_whose_attempts_both_began_with_the_end_of_the_maps_only_the_first_has_the_tasks_time_left() {
        let mut phase = Phase::reduces(2).runs((0, 0), 0, 0.0, &[(20.0, 0.4)]).runs((0, 1), 1, 5.0, &[(20.0, 0.8)]);
        let map = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
        let (state, finished) = (Some(TaskState::Succeeded), Some(at(10.0)));
        phase.task(TaskFact { state, started: Some(at(0.0)), finished, ..map });
        let view = View { judge_native_copies: true, ..phase.view(20.0) };
        let copies = Copies::of(&view);
        let left: Vec<_> = copies.of_task(0).iter().map(|copy| (copy.number, copy.t_rem)).collect();
        assert_eq!(left.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 0], "{left:?}");
        assert!(left[0].1 < left[1].1, "{left:?}");
    }

    #[test]
    fn a_running_tasks_time_is_its_fastest_copys_own_and_not_also_what_the_slow_one_has_run() {
        let slow = Phase::maps(4).took(&[10.0; 3]).runs((3, 0), 0, 0.0, &[(40.0, 0.125), (50.0, 0.15625)]);
        let mut phase = slow.runs((3, 1), 1, 50.0, &[(52.5, 0.25), (55.0, 0.5)]);
        let new = fresh(&View { slow_factor: 0.0, ..phase.view(55.0) });
        assert!(close(&new.times(1.0, None), &[10.0; 4]), "{new:?}");
    }

    #[test]
    fn of_a_reduce_start_up_is_not_told_from_work_so_one_report_gives_its_time() {
        let mut phase = Phase::reduces(2).runs((0, 0), 0, 0.0, &[(10.0, 0.5)]);
        let map = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
        let (state, finished) = (Some(TaskState::Succeeded), Some(at(0.0)));
        phase.task(TaskFact { state, started: finished, finished, ..map });
        assert!(close(&fresh(&phase.view(10.0)).times(1.0, None), &[20.0]));
    }

    #[test]
    fn earlier_runs_speak_while_the_phase_has_shown_fewer_tasks_than_are_enough() {
        let earlier = earlier();
        let words = |finished: usize| {
            let mut phase = Phase::maps(9).took(&vec![10.0; finished]);
            fresh(&View { prior: Some(&earlier), ..phase.view(20.0) }).words()
        };
        assert_eq!((words(2).contains("earlier runs"), words(3).as_str()), (true, ""));
    }

    #[test]
    fn the_start_up_of_earlier_runs_counts_once_and_gives_way_to_what_the_phase_shows_itself() {
        let earlier = earlier();
        let times = |mut phase: Phase| {
            let new = fresh(&View { prior: Some(&earlier), ..phase.view(60.0) });
            let mut times = new.times(1.0, None);
            times.dedup();
            times
        };
        assert!(close(&times(Phase::maps(9)), &[35.0]), "{:?}", times(Phase::maps(9)));
        let untold = || Phase::maps(9).took(&[10.0; 2]);
        assert!(close(&times(untold()), &[10.0, 35.0]), "its 10 s hold the start-up: {:?}", times(untold()));
        let told = || {
            let phase = Phase::maps(9).runs((0, 0), 0, 0.0, &[(3.0, 0.1), (11.0, 0.9)]);
            let phase = phase.runs((1, 0), 0, 20.0, &[(23.0, 0.1), (31.0, 0.9)]);
            phase.done(0, 0, [0.0, 12.0]).done(1, 0, [20.0, 32.0])
        };
        let seen = times(told());
        assert!(close(&[seen[0], seen[seen.len() - 1]], &[12.0, 32.0]), "two seconds each: {seen:?}");
    }

    #[test]
    fn of_two_stragglers_in_a_small_phase_neither_is_evidence_of_how_long_the_others_copy_takes() {
        let evidence = |factor| {
            let one = |phase: Phase, index| phase.runs((index, 0), index, 50.0, &[(60.0, 0.25)]);
            let mut phase = (2..4).fold(Phase::maps(4).took(&[10.0; 2]), one);
            let view = View { slow_factor: factor, ..phase.view(60.0) };
            let (copies, new) = (Copies::of(&view), fresh(&view));
            (new.evidence(), own_place(&view, &view.contenders[0], &copies.of_task(0)[0], &new, slow_from(&view)).1)
        };
        assert_eq!(evidence(1.5), (2, 2), "they would take 40 s each");
        assert_eq!(evidence(0.0), (4, 3), "the paper has no such distinction");
    }

    #[test]
    fn once_a_task_is_slow_what_ran_on_slow_hosts_says_nothing_of_a_copy_that_is_kept_off_them() {
        let times = |on, reported, factor| {
            let fine = Phase::maps(6).took(&[10.0; 3]).done(3, 1, [0.0, 40.0]).done(4, 1, [0.0, 40.0]);
            let mut phase = fine.runs((5, 0), on, 50.0, &[(50.0 + reported, 0.125)]);
            let new = fresh(&View { slow_factor: factor, ..phase.view(50.0 + reported) });
            (new.times(1.0, None), new.evidence())
        };
        let all = |run| (vec![10.0, 10.0, 10.0, run, 40.0, 40.0], 6);
        assert_eq!(times(2, 1.875, 1.5), all(15.0), "none runs for longer than 1.5 times 10 s");
        assert_eq!(times(0, 2.0, 1.5), (vec![10.0, 10.0, 10.0, 16.0], 5), "slow as it is it is no evidence");
        assert_eq!(times(1, 2.0, 1.5), (vec![10.0; 3], 5), "it is on the slow host itself");
        assert_eq!(times(1, 2.0, 0.0), all(16.0));
    }
}
