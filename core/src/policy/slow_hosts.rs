//! Which hosts a job's own attempts show to be slow.

use super::View;
use crate::estimate::pace::STRAGGLES_BELOW;
use crate::estimate::prior::ENOUGH;
use crate::estimate::stats::median;
use crate::model::{AttemptState, Millis, NameId};
use std::collections::BTreeSet;

/// The hosts, ascending: those where the median run of the job's attempts, as far as it is known or projected, is longer than [`View::slow_factor`] typical
/// runs, the measure by which a task is slow. None where that is 0. While none has finished the typical run is the median of all that are projected, where these are
/// enough to tell. A task with more input than typical counts for less time, and an attempt that was killed for at least the time it ran.
pub fn of(view: &View<'_>) -> Vec<NameId> {
    slower(view, view.slow_factor, 1.0, ENOUGH as f64)
}

/// The hosts, ascending, on which the job's tasks straggle by its own runs, `evidence` of them there or more: those where the median run is twice a typical one, at which a task straggles (Dolly, NSDI'13, §2.1.2).
/// While none has finished the typical one is the median of all that are projected, where these are twice as many.
pub fn straggling(view: &View<'_>, evidence: f64) -> Vec<NameId> {
    slower(view, 1.0 / STRAGGLES_BELOW, evidence, 2.0 * evidence)
}

/// The hosts whose median run, of so many or more, is longer than `factor` typical ones; of what is projected so many tell what is typical.
fn slower(view: &View<'_>, factor: f64, evidence: f64, projected: f64) -> Vec<NameId> {
    if factor <= 0.0 {
        return Vec::new();
    }
    let of_projected = || {
        let mut all: Vec<f64> = runs(view, f64::INFINITY).map(|(_, run)| run).collect();
        median(&mut all).filter(|_| all.len() as f64 >= projected)
    };
    let typical = view.peers.typical.map(Millis::as_secs_f64).or_else(of_projected);
    typical.map_or_else(Vec::new, |typical| longer(view, factor * typical.max(0.001), evidence))
}

/// The hosts whose median run, of so many or more, is longer than so many seconds.
fn longer(view: &View<'_>, long: f64, evidence: f64) -> Vec<NameId> {
    // No host is slow without a slow run, and few have one.
    let mut hosts: Vec<NameId> = runs(view, long).filter(|(_, run)| *run > long).map(|(host, _)| host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut of_host: Vec<Vec<f64>> = vec![Vec::new(); hosts.len()];
    if !hosts.is_empty() {
        runs(view, long).for_each(|(host, run)| {
            if let Ok(at) = hosts.binary_search(&host) {
                of_host[at].push(run);
            }
        });
    }
    let enough = |runs: &[f64]| runs.len() as f64 >= evidence;
    let slow = |runs: &mut Vec<f64>| enough(runs) && median(runs).is_some_and(|run| run > long);
    hosts.into_iter().zip(&mut of_host).filter_map(|(host, runs)| slow(runs).then_some(host)).collect()
}

/// The hosts on which several attempts run that have shown no progress, and none has succeeded, ascending; and are they few beside those on which some have?
pub fn silent(view: &View<'_>) -> (Vec<NameId>, bool) {
    const FEW: usize = 3;
    // They may wait there.
    if view.may_be_queued() {
        return (Vec::new(), false);
    }
    let done: BTreeSet<NameId> = view.job.tasks(view.kind).filter_map(|(_, task)| task.won()?.host).collect();
    let silent = view.contenders.iter().filter(|contender| contender.sample.track.first().is_none());
    let mut hosts: Vec<NameId> = silent.filter_map(|contender| contender.task.original()?.host).collect();
    hosts.retain(|host| !done.contains(host));
    hosts.sort_unstable();
    let several: BTreeSet<NameId> = hosts.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    let few = done.len() >= FEW * several.len();
    (several.into_iter().collect(), few)
}

/// Each host with a run on it, seconds; of those that were killed the ones longer than `long`.
fn runs<'a>(view: &'a View<'_>, long: f64) -> impl Iterator<Item = (NameId, f64)> + 'a {
    let telling = view.contenders.iter().filter(|contender| view.tells(contender.task));
    let running = telling.filter_map(|contender| {
        let (host, left) = (contender.task.original()?.host?, contender.left?);
        Some((host, (contender.elapsed + left.mean).as_secs_f64() / view.input_ratio(contender)))
    });
    let tasks = view.job.tasks(view.kind).filter(|(_, task)| view.tells(task));
    let attempts = tasks.flat_map(|(_, task)| task.attempts.iter().map(move |one| (task, one)));
    let ended = attempts.filter_map(move |(task, attempt)| {
        let (host, started, finished) = (attempt.host?, attempt.started.get()?, attempt.finished.get()?);
        let run = finished.since(view.own_start_of_ended(started, attempt.copied(), finished)?).as_secs_f64()
            / view.split_ratio(task);
        let outran = attempt.state == AttemptState::Killed && run > long;
        (attempt.state == AttemptState::Succeeded || outran).then_some((host, run))
    });
    running.chain(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{TaskFact, TaskKind, TaskState};
    use crate::policy::tests::{Phase, at, host, left, secs};

    /// Eight tasks of 10 s on host 0; the ninth and those after it are the test's. Limit of a slow host's median run: 15 s.
    fn beside_eight_of_10_s() -> Phase {
        Phase::maps(20).took(&[10.0; 8])
    }

    fn slow(mut phase: Phase) -> Vec<NameId> {
        of(&phase.view(100.0))
    }

    #[test]
    fn what_reduces_waited_for_maps_makes_their_host_no_slower() {
        let mut reduces = Phase::reduces(4).done(0, 0, [38.0, 50.0]).done(1, 1, [0.0, 50.0]).done(2, 2, [0.0, 50.0]);
        let (map, state) = (TaskFact::of(reduces.job.id.task(TaskKind::Map, 0)), Some(TaskState::Succeeded));
        reduces.task(TaskFact { state, started: Some(at(0.0)), finished: Some(at(40.0)), ..map });
        assert_eq!(slow(reduces.done(3, 3, [0.0, 55.1])), [host(3)]);
    }

    #[test]
    fn a_host_is_slow_whose_median_run_is_longer_than_so_many_typical_ones_and_not_at_just_as_many() {
        let phase = beside_eight_of_10_s().done(8, 1, [0.0, 15.0]).done(9, 2, [0.0, 15.1]).done(10, 3, [0.0, 14.9]);
        assert_eq!(slow(phase), [host(2)]);
        let median = beside_eight_of_10_s().done(8, 1, [0.0, 10.0]).done(9, 1, [0.0, 90.0]).done(10, 1, [0.0, 12.0]);
        assert_eq!(slow(median), [], "one straggler does not make its host slow");
        let just = beside_eight_of_10_s().done(8, 1, [0.0, 12.0]).done(9, 1, [0.0, 15.0]).done(10, 1, [0.0, 90.0]);
        assert_eq!(slow(just), [], "its median is just as many");
    }

    #[test]
    fn without_a_factor_or_a_finished_task_no_host_is_slow() {
        let mut phase = beside_eight_of_10_s().done(8, 1, [0.0, 90.0]);
        assert_eq!(
            (of(&phase.view(100.0)), of(&View { slow_factor: 0.0, ..phase.view(100.0) })),
            (vec![host(1)], vec![])
        );
        assert_eq!(slow(Phase::maps(20).runs((0, 0), 1, 0.0, &[(90.0, 0.5)])), [], "there is nothing to compare with");
    }

    #[test]
    fn tasks_straggle_on_a_host_by_so_many_runs_of_which_the_median_is_twice_a_typical_one() {
        let host_of = |runs: &[f64]| {
            let phase = beside_eight_of_10_s();
            runs.iter().zip(8..).fold(phase, |phase, (run, index)| phase.done(index, 1, [0.0, *run]))
        };
        let shown = |runs: &[f64]| straggling(&host_of(runs).view(100.0), 4.0);
        assert_eq!(shown(&[20.1; 4]), [host(1)]);
        assert_eq!(shown(&[20.1; 3]), [], "three runs are too few");
        assert_eq!(shown(&[20.0; 4]), [], "just twice as long");
        assert_eq!(shown(&[90.0, 90.0, 10.0, 10.0, 10.0]), [], "two stragglers of five");
    }

    #[test]
    fn before_any_task_has_finished_a_typical_run_is_the_median_of_those_projected() {
        let shown = |elsewhere: u32| {
            let mut phase = Phase::maps(40);
            for index in 0..elsewhere + 4 {
                phase = phase.runs((index, 0), u32::from(index < 4), 0.0, &[(9.0, 0.5)]);
            }
            let mut view = phase.view(9.0);
            for contender in &mut view.contenders {
                contender.left = left(if contender.id.index < 4 { 90.0 } else { 9.0 }, 0.0);
            }
            (straggling(&view, 4.0), of(&view))
        };
        let (enough, few) = (shown(5), shown(3));
        assert_eq!([enough.0, few.0], [vec![host(1)], vec![]], "three others are too few");
        assert_eq!([enough.1, few.1], [vec![host(1)], vec![]], "of seven, four are what is typical");
    }

    #[test]
    fn a_running_task_counts_with_all_its_run_as_projected_set_against_its_data() {
        let mut phase = beside_eight_of_10_s().runs((8, 0), 1, 0.0, &[(9.0, 0.5)]);
        let judged = |view: &mut View<'_>, elapsed, mean| {
            (view.contenders[0].elapsed, view.contenders[0].left) = (secs(elapsed), left(mean, 0.0));
            of(view)
        };
        let mut view = phase.view(9.0);
        assert_eq!((judged(&mut view, 9.0, 7.0), judged(&mut view, 9.0, 6.0)), (vec![host(1)], vec![]));
        view.contenders[0].left = None;
        assert_eq!(of(&view), [], "of what has no end in sight no run is known");
        let large = (0..8).fold(beside_eight_of_10_s(), |phase, index| phase.split(index, 10)).split(8, 20);
        let mut large = large.runs((8, 0), 1, 0.0, &[(9.0, 0.5)]);
        let mut view = large.view(9.0);
        assert_eq!((judged(&mut view, 20.0, 12.0), judged(&mut view, 20.0, 9.0)), (vec![host(1)], vec![]));
    }

    #[test]
    fn a_finished_task_counts_with_its_run_set_against_its_data() {
        let phase = |seconds| {
            let typical = (0..8).fold(beside_eight_of_10_s(), |phase, index| phase.split(index, 10));
            slow(typical.split(8, 20).done(8, 1, [0.0, seconds]))
        };
        assert_eq!((phase(32.0), phase(29.0)), (vec![host(1)], vec![]));
    }

    #[test]
    fn a_killed_attempt_counts_where_it_ran_for_longer_than_is_slow_and_tells_nothing_where_it_did_not() {
        use AttemptState::{Failed, Killed};
        let ended = |state, seconds| {
            // Median 17 s without it.
            let host = beside_eight_of_10_s().done(8, 1, [0.0, 14.0]).done(9, 1, [0.0, 20.0]);
            slow(host.ended((10, 0), 1, state, [0.0, seconds]))
        };
        assert_eq!((ended(Killed, 12.0), ended(Killed, 15.0)), (vec![host(1)], vec![host(1)]));
        let alone = |state, seconds| slow(beside_eight_of_10_s().ended((8, 0), 1, state, [0.0, seconds]));
        assert_eq!((alone(Killed, 15.1), alone(Killed, 15.0)), (vec![host(1)], vec![]));
        assert_eq!(alone(Failed, 40.0), [], "what failed has not run to any end");
    }
}
