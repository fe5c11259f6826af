//! The policies that Drover's are compared with: Hadoop's own speculator with its faults, and LATE that acts early.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::PolicyName;

fn params(policy: PolicyName) -> EngineParams {
    let govern = GovernParams { job_cap: 1.0, cluster_cap: 1.0, ..GovernParams::default() };
    EngineParams { policy, govern, ..EngineParams::default() }
}

/// Which map was decided on at which second.
fn named(decisions: &[(u32, Decision)]) -> Vec<(u32, u32)> {
    decisions.iter().map(|(second, decision)| (decision.task.index, *second)).collect()
}

/// A job of eight maps of 4 s and one that reports as told: (second, score). Its verdict and decision at each second.
fn one_that_reports(policy: PolicyName, reports: &[(u32, f32)], until: u32) -> Vec<(Verdict, Option<Numbers>)> {
    let id = job_id(1);
    let mut script = Script::new(params(policy));
    script.open_job(id, 9, 0, at(0.0));
    let watched = id.task(TaskKind::Map, 8);
    (0..until)
        .map(|second| {
            let now = at(second.into());
            let (mut tasks, mut attempts) = equal_maps(id, 8, 4.0, &|_| 1.0, second.into(), 0);
            tasks.push(TaskFact { state: Some(TaskState::Running), started: Some(at(0.0)), ..TaskFact::of(watched) });
            let score = reports.iter().rev().find(|(told, _)| *told <= second).map(|(_, score)| *score);
            attempts.push(AttemptFact { score, ..running(watched, at(0.0), 0.0, "nm1") });
            script.tasks(id, now, tasks);
            script.attempts(id, now, attempts);
            let decided = script.decide(now).decisions.into_iter().find(|decision| decision.task == watched);
            let verdict = script.engine.cluster().job(id).unwrap().task(watched).unwrap().verdict.unwrap();
            (decided.as_ref().map_or(verdict, |_| Verdict::Decided), decided.map(|decision| decision.numbers))
        })
        .collect()
}

#[test]
fn hadoop_copies_one_straggler_in_fifteen_seconds_and_tuned_one_in_each() {
    let hadoop = play(&mut Script::new(params(PolicyName::Hadoop)), 16, 4.0, &one_node_in_four, 40);
    assert_eq!(named(&hadoop), [(1, 4), (5, 19), (9, 34)]);
    let tuned = play(&mut Script::new(params(PolicyName::HadoopTuned)), 16, 4.0, &one_node_in_four, 40);
    assert_eq!(named(&tuned), [(1, 4), (5, 5), (9, 6), (13, 7)]);
    // LegacyTaskRuntimeEstimator at 19 s: 19 s / 0.475 = 40 s in all; the mean of the finished is 4 s.
    let numbers = &hadoop[1].1.numbers;
    assert!(numbers.time_left.unwrap().0.abs_diff(21_000) <= 1, "{numbers:?}");
    assert_eq!((numbers.fresh_copy, numbers.win_probability), (Some(Millis(4_000)), None));
}

#[test]
fn of_a_task_whose_copy_would_gain_nothing_by_hadoops_estimate_nothing_more_is_asked() {
    let suspects = |slow: f64| {
        let mut script = Script::new(params(PolicyName::Hadoop));
        play(&mut script, 16, 4.0, &|index| if index == 3 { slow } else { 1.0 }, 5);
        script.engine.suspects(job_id(1), 16)
    };
    assert_eq!(suspects(1.5), []);
    assert_eq!(suspects(10.0), [job_id(1).task(TaskKind::Map, 3)]);
}

#[test]
fn what_hadoop_does_not_copy_now_has_the_name_of_its_reason() {
    let verdicts = |until: u32| {
        let mut script = Script::new(params(PolicyName::Hadoop));
        play(&mut script, 16, 4.0, &one_node_in_four, until);
        let job = script.engine.cluster().job(job_id(1)).unwrap();
        [1, 5].map(|index| job.task(job_id(1).task(TaskKind::Map, index)).unwrap().verdict)
    };
    assert_eq!(verdicts(4), [Some(Verdict::TooFewFinished); 2]);
    assert_eq!(verdicts(5)[1], Some(Verdict::Outranked));
    assert_eq!(verdicts(6), [Some(Verdict::CopyInFlight), Some(Verdict::BetweenScans)]);
}

#[test]
fn one_scan_may_copy_a_map_and_a_reduce_and_either_puts_off_both() {
    let id = job_id(1);
    let mut script = Script::new(params(PolicyName::Hadoop));
    script.open_job(id, 4, 4, at(0.0));
    let mut decided = Vec::new();
    for second in 0..20 {
        let now = at(second.into());
        let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
        for task in TaskKind::ALL.into_iter().flat_map(|kind| (0..4).map(move |index| id.task(kind, index))) {
            // The last map, and of the reduces the last two, are ten times slower.
            if second >= 4 && task.index < if task.kind == TaskKind::Map { 3 } else { 2 } {
                let (done, won) = succeeded(task, at(0.0), at(4.0));
                tasks.push(done);
                attempts.push(won);
            } else {
                tasks.push(TaskFact { state: Some(TaskState::Running), ..TaskFact::of(task) });
                attempts.push(running(task, at(0.0), second as f32 / 40.0, "nm1"));
            }
        }
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        decided.extend(script.decide(now).decisions.iter().map(|d| (second, d.task.kind, d.task.index)));
    }
    decided.sort_unstable_by_key(|(second, kind, index)| (*second, *kind as usize, *index));
    assert_eq!(decided, [(4, TaskKind::Map, 3), (4, TaskKind::Reduce, 2), (19, TaskKind::Reduce, 3)]);
}

#[test]
fn to_hadoop_any_gain_is_worth_a_copy_and_to_late_it_is_not() {
    let slower = |index: u32| if index == 3 { 2.1 } else { 1.0 };
    let decisions = |policy| named(&play(&mut Script::new(params(policy)), 16, 20.0, &slower, 42));
    assert_eq!(decisions(PolicyName::Hadoop), [(3, 20)], "42 s in all against 40: two seconds gained");
    assert_eq!(decisions(PolicyName::Late), []);
}

#[test]
fn a_task_that_never_reports_seems_to_need_ten_thousand_times_its_age() {
    let seen = one_that_reports(PolicyName::Hadoop, &[], 15);
    assert_eq!(seen[13].0, Verdict::Silent, "nine seconds since the first had finished, and no scan since then");
    let (verdict, numbers) = seen[14];
    assert_eq!(verdict, Verdict::Decided);
    // 13 s / 0.0001 from the launch, 14 s ago. DefaultSpeculator itself, run under Java 17, launched at 14.0 s.
    assert_eq!(numbers.unwrap().time_left, Some(Millis(130_000_000 - 14_000)));
}

#[test]
fn an_overdue_task_passes_for_good_progress_until_an_update_is_made_up_for_it() {
    // At three quarters after 3 s, and stuck there: 4 s in all. Counted from 4 s on, when the first had finished.
    let seen = one_that_reports(PolicyName::Hadoop, &[(1, 0.25), (2, 0.5), (3, 0.75)], 25);
    let verdicts = [6, 13, 14, 18, 23, 24].map(|second: usize| seen[second].0);
    let good = Verdict::ProgressIsGood;
    // Made up at 13 s: 17.3 s in all, against 14 + 4; and at 23 s: 30.7 s, against 24 + 4. DefaultSpeculator itself, run under Java 17, launched at 24.1 s.
    assert_eq!(verdicts, [good, good, Verdict::NoGain, good, good, Verdict::Decided]);
}

#[test]
fn recovered_tasks_count_as_finished_and_leave_a_fresh_attempt_no_time() {
    let id = job_id(1);
    let mut script = Script::new(params(PolicyName::Hadoop));
    script.open_job(id, 4, 0, at(0.0));
    let (mut tasks, attempts): (Vec<_>, Vec<_>) =
        (0..3).map(|index| succeeded(id.task(TaskKind::Map, index), at(0.0), at(4.0))).unzip();
    let slow = id.task(TaskKind::Map, 3);
    tasks.push(TaskFact { state: Some(TaskState::Running), ..TaskFact::of(slow) });
    script.tasks(id, at(9.0), tasks);
    script.attempts(id, at(9.0), attempts);
    let again = AttemptFact { number: 1_000, ..running(slow, at(10.0), 0.5, "nm1") };
    let mut seen =
        script.observation(Channel::Am, Some(id.0), at(14.0), Fact::Attempts { job: id, attempts: vec![again] });
    seen.source.incarnation = 2;
    script.engine.observe(&seen).unwrap();
    let decisions = script.decide(at(14.0)).decisions;
    // It has 4 s left, as long as a fresh attempt really takes.
    assert_eq!(decisions.iter().map(|d| d.numbers.fresh_copy).collect::<Vec<_>>(), [Some(Millis(0))]);
}

#[test]
fn hadoops_cap_is_ten_copies_however_small_its_shares_are() {
    let one_in_four = |index: u32| if index % 4 == 1 { 10.0 } else { 1.0 };
    let mut script = Script::new(params(PolicyName::HadoopTuned));
    let decisions = play(&mut script, 64, 40.0, &one_in_four, 52);
    assert_eq!(decisions.iter().map(|(second, _)| *second).collect::<Vec<_>>(), (40..50).collect::<Vec<_>>());
    let verdicts: Vec<_> = script.engine.candidates(job_id(1)).iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::JobCap).count(), 6, "{verdicts:?}");
}

#[test]
fn a_copied_task_that_would_not_qualify_any_more_gives_its_place_under_the_cap_back() {
    let id = job_id(1);
    let mut script = Script::new(params(PolicyName::HadoopTuned));
    script.open_job(id, 64, 0, at(0.0));
    let slow = |index: u32| if index % 4 == 1 { 10.0 } else { 1.0 };
    let mut decided = Vec::new();
    for second in 0..53 {
        let (tasks, mut attempts) = equal_maps(id, 64, 40.0, &slow, second.into(), 0);
        if second >= 51 {
            // The one that was copied first turns fast: its copy, which still runs, is no longer worth it.
            attempts.iter_mut().filter(|attempt| attempt.index == 1).for_each(|attempt| attempt.score = Some(0.9));
        }
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        decided.extend(script.decide(at(second.into())).decisions.iter().map(|d| (d.task.index, second)));
    }
    assert_eq!(decided[..2], [(1, 40), (5, 41)]);
    assert_eq!(decided[9..], [(37, 49), (41, 51)]);
}

#[test]
fn hadoop_goes_by_the_estimator_that_is_set_if_it_is_one_of_its_own() {
    let jitter = |index: u32| 1.0 + 0.04 * f64::from(index % 8);
    let decided = |estimator| {
        let mut script = Script::new(EngineParams { estimator, ..params(PolicyName::Hadoop) });
        play(&mut script, 32, 20.0, &jitter, 30).len()
    };
    assert_eq!((decided(Estimator::PhaseAware), decided(Estimator::HadoopLegacy)), (0, 0));
    assert_eq!(decided(Estimator::HadoopSimpleExponential), 1, "to its first 24 reads every task takes months");
}

/// What `hadoop-tuned` copies, and at which second, of 16 maps of 15 to 23 s each, of which four are done as told: by how far an even one would be.
fn tuned_copies(estimator: Estimator, slow: impl Fn(f64) -> f64) -> Vec<(u32, u32)> {
    let id = job_id(1);
    let mut script = Script::new(EngineParams { estimator, ..params(PolicyName::HadoopTuned) });
    script.open_job(id, 16, 0, at(0.0));
    let mut named = Vec::new();
    for second in 0..40_u32 {
        let of = |index: u32| {
            let (task, whole) = (id.task(TaskKind::Map, index), 15.0 + f64::from(index % 5) * 2.0);
            let even = f64::from(second) / whole;
            let done = if index % 4 == 1 { slow(even) } else { even };
            if done >= 1.0 {
                return succeeded(task, at(0.0), at(whole));
            }
            let running_task = TaskFact { state: Some(TaskState::Running), ..TaskFact::of(task) };
            (running_task, running(task, at(0.0), done as f32, "nm1"))
        };
        let (tasks, attempts) = (0..16).map(of).unzip();
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        let decisions = script.decide(at(second.into())).decisions;
        named.extend(decisions.iter().map(|decision| (decision.task.index, second)));
    }
    named
}

#[test]
fn what_tuned_goes_by_finds_all_that_is_slow_and_nothing_else_and_hadoops_other_estimators_do_not() {
    let five_times = |even: f64| even / 5.0;
    let found = [(9, 15), (13, 16), (1, 17), (5, 18)];
    assert_eq!(tuned_copies(Estimator::default(), five_times), found);
    let endless = tuned_copies(Estimator::HadoopSimpleExponential, five_times);
    assert_eq!(endless[4..], [(4, 19), (14, 20)], "two that are not slow");
    let turns_slow = |even: f64| even.min(0.5) + (even - 0.5).max(0.0) / 10.0;
    let first = |estimator| tuned_copies(estimator, turns_slow)[0].1;
    assert_eq!((first(Estimator::default()), first(Estimator::HadoopSmoothed)), (18, 27));
}

/// The decisions on a job with a slow node that waits for so many containers on a cluster that has none free.
fn while_tasks_wait(policy: PolicyName, waiting: u32, copy_first: bool) -> (usize, Vec<Verdict>) {
    let id = job_id(1);
    let mut script = Script::new(params(policy));
    script.open_job(id, 20, 0, at(0.0));
    let total = Resources { memory_mb: 2048, vcores: 16 };
    let full =
        ClusterFact { total, allocated: total, containers_pending: waiting, active_nodes: 4, ..ClusterFact::default() };
    let node = |number| NodeFact::usable(&format!("nm{number}"), total, total);
    script.say(at(0.0), Fact::Can(id, Capabilities { copy_first, ..Capabilities::NONE }));
    script.say(at(0.0), Fact::Needs { job: id, maps: waiting, reduces: 0, native_copies: 0 });
    let mut decided = 0;
    for second in 0..12 {
        script.say(at(second.into()), Fact::Cluster(full));
        script.say(at(second.into()), Fact::Nodes((1..=4).map(node).collect()));
        let (mut tasks, attempts) = equal_maps(id, 16, 4.0, &one_node_in_four, second.into(), 0);
        tasks.extend((16..20).map(|index| TaskFact {
            state: Some(TaskState::Scheduled),
            ..TaskFact::of(id.task(TaskKind::Map, index))
        }));
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        decided += script.decide(at(second.into())).decisions.len();
    }
    (decided, script.engine.candidates(id).iter().map(|candidate| candidate.verdict).collect())
}

#[test]
fn late_leaves_the_next_container_to_the_tasks_that_wait_and_late_early_does_not() {
    assert_eq!(while_tasks_wait(PolicyName::Late, 4, true), (0, vec![Verdict::ContainersWaiting; 4]));
    assert_eq!(while_tasks_wait(PolicyName::Hadoop, 4, true), (0, vec![Verdict::ContainersWaiting; 4]));
    assert_eq!(while_tasks_wait(PolicyName::LateEarly, 4, true).0, 4);
    let without = (0, vec![Verdict::ContainersWaiting; 4]);
    assert_eq!(while_tasks_wait(PolicyName::LateEarly, 4, false), without, "Hadoop would have it wait behind them");
    let none_due = (0, vec![Verdict::NoHeadroom; 4]);
    assert_eq!(while_tasks_wait(PolicyName::LateEarly, 0, true), none_due, "no container is due");
}

#[test]
fn where_nothing_waits_late_early_is_late() {
    assert_eq!(named_by(PolicyName::LateEarly), named_by(PolicyName::Late));
}
