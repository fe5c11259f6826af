//! What few or late reports show, over REST and from a shim, in whole passes.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;

/// A job of sixteen equal maps whose fourth takes five times as long, its splits' lengths told by nobody, as over REST. Asks each second for the
/// counters the engine wants, read as `whole` says: the bytes and records of a task's whole input.
fn by_counters(whole: impl Fn(u32) -> Option<(u64, u64)>) -> (Vec<Decision>, Vec<Verdict>, usize) {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    let (mut decisions, mut verdicts, mut asked) = (Vec::new(), Vec::new(), 0);
    for second in 0..20 {
        let now = at(second.into());
        let (tasks, attempts) = equal_maps(id, 16, 4.0, &|i| if i == 3 { 5.0 } else { 1.0 }, second.into(), 0);
        let scores: Vec<f32> = attempts.iter().map(|a| a.score.unwrap_or(1.0)).collect();
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        decisions.extend(script.decide(now).decisions);
        verdicts.extend(script.engine.candidates(id).iter().filter(|c| c.attempt.task.index == 3).map(|c| c.verdict));
        for attempt in script.engine.readings(id, 8) {
            asked += 1;
            let Some((bytes, records)) = whole(attempt.task.index) else { continue };
            let part = |all: u64| (all as f64 * f64::from(scores[attempt.task.index as usize])) as u64;
            let mut fact = AttemptFact::of(attempt);
            (fact.counters.read, fact.counters.records) = (Some(Bytes(part(bytes))), Some(part(records)));
            script.attempts(id, now, vec![fact]);
        }
    }
    (decisions, verdicts, asked)
}

#[test]
fn over_rest_a_task_with_five_times_the_data_is_told_by_its_bytes_from_a_slow_one() {
    let (decisions, verdicts, asked) = by_counters(|index| Some((if index == 3 { 500_000 } else { 100_000 }, 0)));
    assert_eq!(decisions, vec![]);
    assert_eq!(verdicts.last(), Some(&Verdict::MoreData), "{verdicts:?}");
    assert!(asked <= 12, "a few attempts, not all again and again: {asked}");
}

#[test]
fn where_bytes_are_not_counted_records_tell_more_data() {
    let (decisions, verdicts, _) = by_counters(|index| Some((0, if index == 3 { 500 } else { 100 })));
    assert_eq!((decisions, verdicts.last()), (vec![], Some(&Verdict::MoreData)));
}

#[test]
fn over_rest_a_slow_task_with_the_same_data_is_advised_on_as_soon_as_its_data_is_known() {
    let (decisions, verdicts, _) = by_counters(|_| Some((100_000, 100)));
    assert_eq!(decisions.iter().map(|d| d.task.index).collect::<Vec<_>>(), [3]);
    assert!(decisions[0].at < at(7.0), "{verdicts:?}");
}

#[test]
fn counters_that_never_come_hold_a_slow_task_back_no_longer_than_to_twice_the_age() {
    let (decisions, verdicts, _) = by_counters(|_| None);
    assert!(verdicts.contains(&Verdict::InputUnknown), "{verdicts:?}");
    assert_eq!(decisions.iter().map(|d| (d.task.index, d.at)).collect::<Vec<_>>(), [(3, at(8.0))]);
}

#[test]
fn a_finished_peer_known_by_its_counters_alone_keeps_its_run_time() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 2, 0, at(0.0));
    let (done, _) = succeeded(id.task(TaskKind::Map, 0), at(0.0), at(4.0));
    script.tasks(id, at(4.0), vec![done]);
    let mut fact = AttemptFact::of(id.task(TaskKind::Map, 0).attempt(0));
    fact.counters.read = Some(Bytes(7));
    script.attempts(id, at(5.0), vec![fact]);
    let task = script.engine.cluster().job(id).unwrap().task(id.task(TaskKind::Map, 0)).unwrap();
    assert_eq!(task.run_time(), Some(Millis(4_000)));
}

#[test]
fn silence_at_the_default_reporting_interval_is_not_slowness() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 8, 0, at(0.0));
    script.say(at(0.0), Fact::Settings(id, JobSettings::default()));
    let (mut tasks, mut attempts) = equal_maps(id, 8, 4.0, &|i| if i == 0 { 3.0 } else { 1.0 }, 9.5, 0);
    attempts[0].score = Some(0.0);
    tasks[0].score = Some(0.0);
    script.tasks(id, at(9.5), tasks);
    script.attempts(id, at(9.5), attempts);
    assert_eq!(script.decide(at(9.5)).decisions, vec![]);
    assert_eq!(script.engine.candidates(id)[0].verdict, Verdict::Silent);
}

#[test]
fn a_task_that_never_reports_is_found_once_its_rhythm_is_broken() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 8, 0, at(0.0));
    for second in [11.0, 40.0] {
        let (tasks, mut attempts) = equal_maps(id, 8, 4.0, &|i| if i == 0 { 1e6 } else { 1.0 }, second, 0);
        attempts[0].score = Some(0.0);
        script.tasks(id, at(second), tasks);
        script.attempts(id, at(second), attempts);
    }
    let decisions = script.decide(at(40.0)).decisions;
    assert_eq!(decisions.iter().map(|d| d.task.index).collect::<Vec<_>>(), [0]);
}

/// What REST shows of a map of `whole` seconds that was launched at `launch` and reports every `interval` seconds, the first time `warm_up` after its launch.
fn seen_over_rest(task: TaskId, launch: f64, whole: f64, warm_up: f64, interval: f64, now: f64) -> TaskFact {
    let mut fact = TaskFact { started: Some(at(launch)), ..TaskFact::of(task) };
    let age = now - launch;
    if age >= warm_up + whole {
        fact.state = Some(TaskState::Succeeded);
        fact.finished = Some(at(launch + warm_up + whole));
        fact.winner = Some(0);
    } else {
        let reports = ((age - warm_up) / interval).floor();
        fact.state = Some(TaskState::Running);
        fact.score = Some((reports * interval / whole).clamp(0.0, 1.0) as f32);
    }
    fact
}

#[test]
fn over_rest_alone_the_slow_node_is_found_in_time_at_any_reporting_interval() {
    for interval in [0.5, 3.0, 6.0] {
        let id = job_id(1);
        let mut script = Script::new(EngineParams::default());
        script.open_job(id, 16, 0, at(0.0));
        let report_interval = Millis((interval * 1000.0) as u64);
        let container = Resources { memory_mb: 128, vcores: 1 };
        let settings = JobSettings { report_interval, map_container: container, ..JobSettings::default() };
        script.say(at(0.0), Fact::Settings(id, settings));
        let mut advised = std::collections::BTreeMap::new();
        for tick in 1..25 {
            let now = f64::from(tick) * 2.0;
            // Twelve slots: four tasks wait for the first wave to end. Launches spread, and JVMs take from one to four seconds to start.
            let facts = (0..16).map(|index| {
                let launch = if index < 12 { 0.2 * f64::from(index % 5) } else { 8.0 + 0.3 * f64::from(index - 12) };
                let slow = index % 4 == 1 && index < 12;
                let warm_up = 1.0 + f64::from(index % 4);
                seen_over_rest(
                    id.task(TaskKind::Map, index),
                    launch,
                    if slow { 40.0 } else { 4.0 },
                    warm_up,
                    interval,
                    now,
                )
            });
            let facts = facts.filter(|fact| fact.started.is_some_and(|started| started <= at(now))).collect();
            script.tasks(id, at(now), facts);
            for decision in script.decide(at(now)).decisions {
                advised.insert(decision.task.index, now);
            }
        }
        assert_eq!(advised.keys().copied().collect::<Vec<_>>(), [1, 5, 9], "at {interval} s");
        assert!(advised.values().all(|when| *when < 20.0), "at {interval} s: {advised:?}");
    }
}

#[test]
fn a_shim_that_tells_of_attempts_and_not_of_winners_is_enough_to_learn_run_times() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    let mut advised = Vec::new();
    for second in 0..20 {
        let now = at(second.into());
        let (mut tasks, attempts) = equal_maps(id, 16, 4.0, &one_node_in_four, second.into(), 0);
        for task in &mut tasks {
            (task.winner, task.finished, task.started) = (None, None, None);
        }
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        advised.extend(script.decide(now).decisions.into_iter().map(|decision| decision.task.index));
    }
    advised.sort_unstable();
    assert_eq!(advised, [1, 5, 9, 13]);
}

#[test]
fn over_rest_a_second_application_master_starts_its_tasks_anew() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 4, 0, at(0.0));
    let task = id.task(TaskKind::Map, 0);
    let listed = |started: f64, score: f32| {
        let state = Some(TaskState::Running);
        TaskFact { state, started: Some(at(started)), score: Some(score), ..TaskFact::of(task) }
    };
    script.tasks(id, at(10.0), vec![listed(0.0, 0.8)]);
    let fact = Fact::Tasks { job: id, complete: true, tasks: vec![listed(50.0, 0.1)] };
    let mut seen = script.observation(Channel::Am, Some(id.0), at(55.0), fact);
    seen.source.incarnation = 2;
    script.engine.observe(&seen).unwrap();
    let known = script.engine.cluster().job(id).unwrap().task(task).unwrap();
    assert!((known.progress().score() - 0.1).abs() < 1e-6, "{known:?}");
    assert_eq!(known.started.get(), Some(at(50.0)));
}

/// At Hadoop's default interval: 15 maps of 4 s that end before their first report, and one that has not been heard of.
fn unheard_of(until: u32) -> Vec<(u32, Decision)> {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    script.say(at(0.0), Fact::Settings(id, JobSettings::default()));
    let mut decisions = Vec::new();
    for second in 0..until {
        let now = at(second.into());
        let (tasks, mut attempts) =
            equal_maps(id, 16, 4.0, &|index| if index == 3 { 10.0 } else { 1.0 }, second.into(), 0);
        attempts.iter_mut().for_each(|attempt| attempt.score = None);
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        decisions.extend(script.decide(now).decisions.into_iter().map(|decision| (second, decision)));
    }
    decisions
}

#[test]
fn a_task_that_runs_for_twice_as_long_as_any_finished_peer_needs_no_report_to_be_slow() {
    assert!(unheard_of(9).is_empty(), "its first report may still be on its way");
    let decisions = unheard_of(14);
    assert_eq!(decisions.iter().map(|(_, d)| d.task.index).collect::<Vec<_>>(), [3]);
}
