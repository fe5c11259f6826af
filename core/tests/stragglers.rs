//! Whole passes over scripted jobs.

mod common;

use common::*;
use drover_core::engine::{EngineParams, EstimateError};
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Point;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{LateParams, PolicyName, TailParams};

#[test]
fn every_task_of_a_slow_node_is_advised_on_and_no_other_before_half_its_time() {
    let mut script = Script::new(EngineParams::default());
    let decisions = play(&mut script, 16, 4.0, &one_node_in_four, 40);
    let mut tasks: Vec<u32> = decisions.iter().map(|(_, d)| d.task.index).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [1, 5, 9, 13]);
    assert!(decisions.iter().all(|(second, d)| *second < 20 && d.host.as_deref() == Some("nm2")), "{decisions:?}");
}

#[test]
fn two_slow_nodes_of_four_are_found_though_half_of_the_tasks_are_slow() {
    let mut script = Script::new(EngineParams::default());
    let slow = |index: u32| if index % 4 < 2 { 8.0 } else { 1.0 };
    let decisions = play(&mut script, 16, 4.0, &slow, 32);
    let mut tasks: Vec<u32> = decisions.iter().map(|(_, d)| d.task.index).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [0, 1, 4, 5, 8, 9, 12, 13]);
}

#[test]
fn nothing_slow_means_no_advice() {
    let mut script = Script::new(EngineParams::default());
    let jitter = |index: u32| 1.0 + 0.04 * f64::from(index % 8);
    assert_eq!(play(&mut script, 32, 20.0, &jitter, 30), vec![]);
}

#[test]
fn a_service_clock_that_is_off_by_ten_minutes_decides_the_same() {
    let plain = play(&mut Script::new(EngineParams::default()), 16, 4.0, &one_node_in_four, 40);
    for skew_ms in [600_000, -600_000] {
        let mut script = Script::new(EngineParams::default());
        script.skew_ms = skew_ms;
        let skewed = play(&mut script, 16, 4.0, &one_node_in_four, 40);
        let of = |all: &[(u32, Decision)]| all.iter().map(|(s, d)| (*s, d.task, d.numbers)).collect::<Vec<_>>();
        assert_eq!(of(&plain), of(&skewed));
    }
}

#[test]
fn a_task_with_five_times_the_data_is_told_from_a_slow_one() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    let more = |index: u32| if index == 3 { 5.0 } else { 1.0 };
    for second in 0..20 {
        let (mut tasks, attempts) = equal_maps(id, 16, 4.0, &more, second.into(), 0);
        for task in &mut tasks {
            task.input = Some(Bytes(if task.index == 3 { 500 } else { 100 }));
        }
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        assert_eq!(script.decide(at(second.into())).decisions, vec![]);
    }
    let verdicts: Vec<_> = script.engine.candidates(id).iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Verdict::MoreData]);
}

/// The verdicts on the slow tasks of a job of alice's, in a queue of which any user may have so much at most, and each is sure of such a share.
fn with_a_user_limit(most: Option<f32>, share: Option<f32>, users: &[QueueUser]) -> (usize, Vec<Verdict>) {
    let mut script = Script::new(EngineParams::default());
    let queue = QueueFact {
        name: "root.default".into(),
        max_capacity: 1.0,
        used_capacity: 0.2,
        containers_pending: 0,
        user_capacity: most,
        user_share: share,
        users: users.to_vec(),
    };
    script.say(at(0.0), Fact::Queues(vec![queue]));
    let decided = play(&mut script, 16, 4.0, &one_node_in_four, 20).len();
    (decided, script.engine.candidates(job_id(1)).iter().map(|c| c.verdict).collect())
}

fn user(user: &str, used_mb: u64, limit_mb: u64) -> QueueUser {
    QueueUser { user: user.into(), used_mb, limit_mb }
}

#[test]
fn a_user_above_its_limit_has_no_headroom_though_queue_and_cluster_have() {
    let (decided, verdicts) = with_a_user_limit(None, None, &[user("bob", 0, 2048), user("alice", 2049, 2048)]);
    assert_eq!((decided, verdicts), (0, vec![Verdict::NoHeadroom; 4]));
    let (decided, _) = with_a_user_limit(None, None, &[user("bob", 2048, 2048), user("alice", 1024, 2048)]);
    assert_eq!(decided, 4);
    let (decided, _) = with_a_user_limit(Some(0.0), None, &[user("bob", 0, 2048)]);
    assert_eq!(decided, 0, "a user that is not listed has what any one may use");
}

#[test]
fn a_limit_that_moves_along_with_what_is_used_leaves_room() {
    // As recorded of Hadoop 3.4.3: a queue beyond its promised share tells of what is used and the smallest container.
    let moving = [user("alice", 2048, 2048 + 64)];
    assert_eq!(with_a_user_limit(Some(1.0), Some(1.0), &moving).0, 4, "each user may have the whole queue");
    let (decided, _) = with_a_user_limit(Some(1.0), Some(0.25), &moving);
    assert!(decided > 0, "the scheduler gives a container to whoever is not above the limit");
    assert_eq!(with_a_user_limit(Some(0.25), Some(1.0), &moving).0, 0, "but never more than a user may have in all");
}

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

#[test]
fn reduces_that_wait_for_maps_are_not_called_slow() {
    for policy in [PolicyName::Late, PolicyName::Mantri] {
        reduces_that_wait_are_told_apart(policy);
    }
}

fn reduces_that_wait_are_told_apart(policy: PolicyName) {
    let id = job_id(1);
    let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
    script.open_job(id, 2, 4, at(0.0));
    let (maps, map_attempts) = equal_maps(id, 2, 4.0, &|i| if i == 0 { 20.0 } else { 1.0 }, 60.0, 0);
    script.tasks(id, at(60.0), maps);
    script.attempts(id, at(60.0), map_attempts);
    for index in 0..4 {
        let task = id.task(TaskKind::Reduce, index);
        let fact = TaskFact { state: Some(TaskState::Running), started: Some(at(5.0)), ..TaskFact::of(task) };
        script.tasks(id, at(60.0), vec![fact]);
        script.attempts(id, at(60.0), vec![running(task, at(5.0), 0.16, "nm1")]);
    }
    script.decide(at(60.0));
    let reduces = script.engine.candidates(id).into_iter().filter(|c| c.attempt.task.kind == TaskKind::Reduce);
    assert!(reduces.map(|c| c.verdict).all(|v| v == Verdict::WaitsForMaps));
}

#[test]
fn late_section_4_1_picks_b_and_not_the_nearly_finished_a() {
    // A is 5 times slower than the mean with 90 % progress, B 2 times slower with 10 %.
    let params = EngineParams { late: LateParams::paper(), ..EngineParams::default() };
    let mut script = Script::new(params);
    let id = job_id(1);
    script.open_job(id, 12, 0, at(0.0));
    let mean = 1.0 / 100.0;
    let mut attempts = vec![
        running(id.task(TaskKind::Map, 0), at(500.0 - 0.9 / (mean / 5.0)), 0.9, "nm1"),
        running(id.task(TaskKind::Map, 1), at(500.0 - 0.1 / (mean / 2.0) - 60.0), 0.1 + 60.0 * 0.005, "nm2"),
    ];
    for index in 2..12 {
        attempts.push(running(id.task(TaskKind::Map, index), at(500.0 - 70.0), 0.7, "nm3"));
    }
    let tasks = attempts.iter().map(|a| TaskFact { state: Some(TaskState::Running), ..TaskFact::of(a.id(id).task) });
    script.tasks(id, at(500.0), tasks.collect());
    script.attempts(id, at(500.0), attempts);
    let first = &script.decide(at(500.0)).decisions[0];
    assert_eq!(first.task.index, 1);
}

#[test]
fn late_section_3_2_picks_the_ten_times_slower_task_that_hadoop_may_miss() {
    // A 2x slow task at 35 % and a 10x slow one at 7 %: both behind the mean by more than 0.2.
    let play = |policy: PolicyName| {
        let params = EngineParams { policy, late: LateParams::paper(), ..EngineParams::default() };
        let mut script = Script::new(params);
        let id = job_id(1);
        script.open_job(id, 10, 0, at(0.0));
        let mut attempts = vec![
            running(id.task(TaskKind::Map, 0), at(0.0), 0.35, "nm1"),
            running(id.task(TaskKind::Map, 1), at(0.0), 0.07, "nm2"),
        ];
        for index in 2..10 {
            attempts.push(running(id.task(TaskKind::Map, index), at(0.0), 0.7, "nm3"));
        }
        let tasks =
            attempts.iter().map(|a| TaskFact { state: Some(TaskState::Running), ..TaskFact::of(a.id(id).task) });
        script.tasks(id, at(70.0), tasks.collect());
        script.attempts(id, at(70.0), attempts);
        script.decide(at(70.0)).decisions[0].task.index
    };
    assert_eq!(play(PolicyName::Late), 1);
    assert_eq!(play(PolicyName::Hadoop020), 0, "all stragglers are equally slow to Hadoop 0.20");
}

#[test]
fn near_the_end_mapreduce_copies_all_that_remains_and_dryad_what_outlasts_three_quarters() {
    assert_eq!(named_by(PolicyName::MapReduce), [(1, 4), (5, 4), (9, 4), (13, 4)]);
    assert_eq!(named_by(PolicyName::Dryad), [(1, 5), (5, 5), (9, 5), (13, 5)]);
    let share = |near_end: f64| {
        let tail = TailParams { near_end, ..TailParams::default() };
        let mut script = Script::new(EngineParams { policy: PolicyName::MapReduce, tail, ..EngineParams::default() });
        play(&mut script, 16, 4.0, &one_node_in_four, 20).len()
    };
    assert_eq!(share(0.76), 0, "twelve of sixteen are not enough");
}

#[test]
fn advice_is_charged_until_the_copy_would_have_ended_and_then_judged() {
    let mut script = Script::new(EngineParams::default());
    let decisions = play(&mut script, 4, 4.0, &one_node_in_four, 30);
    assert_eq!(decisions.len(), 1);
    assert_eq!(script.engine.copies_in_flight(), 0, "its sampled end has passed");
    let id = job_id(1);
    assert_eq!(script.engine.candidates(id)[0].verdict, Verdict::AlreadyAdvised);
    let (tasks, attempts) = equal_maps(id, 4, 4.0, &one_node_in_four, 40.0, 0);
    script.tasks(id, at(40.0), tasks);
    script.attempts(id, at(40.0), attempts);
    let pass = script.decide(at(40.0));
    let [outcome] = &pass.outcomes[..] else { panic!("{pass:?}") };
    assert!(outcome.would_have_won > 0.99 && outcome.gain > Millis(20_000), "{outcome:?}");
    let halves: Vec<_> = pass.errors.iter().filter(|e| e.point == Point::Half).collect();
    assert_eq!(
        halves.iter().map(|e| e.estimator).collect::<Vec<_>>(),
        Estimator::ALL,
        "each estimator is put to the test"
    );
    let worked = |e: &&&EstimateError| [Estimator::Late, Estimator::PhaseAware].contains(&e.estimator);
    assert!(
        halves.iter().filter(worked).all(|e| e.actual.as_secs_f64() > 15.0 && e.predicted.mean.as_secs_f64() > 15.0)
    );
}

#[test]
fn asking_again_before_the_named_instant_adds_nothing() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, 16, 0, at(0.0));
    let (tasks, attempts) = equal_maps(id, 16, 4.0, &one_node_in_four, 12.0, 0);
    script.tasks(id, at(12.0), tasks);
    script.attempts(id, at(12.0), attempts);
    let pass = script.decide(at(12.0));
    assert!(!pass.decisions.is_empty());
    let next = pass.next.unwrap();
    let again = script.decide(next - Millis(1));
    assert_eq!((again.decisions.len(), again.jobs_evaluated, again.next), (0, 0, Some(next)));
    assert_eq!(script.decide(next).jobs_evaluated, 1);
}

#[test]
fn attempts_of_a_dead_application_master_run_no_more() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 4, 0, at(0.0));
    let (tasks, attempts) = equal_maps(id, 4, 400.0, &|_| 1.0, 10.0, 0);
    script.tasks(id, at(10.0), tasks);
    script.attempts(id, at(10.0), attempts);
    let second = JobFact {
        job: id,
        attempt: AppAttemptId { app: id.0, number: 2 },
        name: "job".into(),
        user: "alice".into(),
        queue: "root.default".into(),
        state: Some(JobPhase::Running),
        started: at(0.0),
        maps: 4,
        reduces: 0,
        uber: false,
    };
    script.say(at(20.0), Fact::Job(second));
    assert_eq!(script.engine.cluster().job(id).unwrap().tasks(TaskKind::Map).flat_map(|(_, t)| t.live()).count(), 0);
    script.attempts(
        id,
        at(21.0),
        vec![AttemptFact {
            state: Some(AttemptState::Running),
            started: Some(at(20.5)),
            ..AttemptFact::of(id.task(TaskKind::Map, 0).attempt(1000))
        }],
    );
    let task = script.engine.cluster().job(id).unwrap().task(id.task(TaskKind::Map, 0)).unwrap();
    assert_eq!(task.original().unwrap().number, 1000);
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
fn in_advice_a_task_that_hadoop_copied_is_judged_all_the_same_and_marked() {
    for labelled in [true, false] {
        let id = job_id(1);
        let mut script = Script::new(EngineParams::default());
        script.open_job(id, 16, 0, at(0.0));
        let slow = id.task(TaskKind::Map, 1);
        let (tasks, mut attempts) = equal_maps(id, 16, 4.0, &|i| if i == 1 { 10.0 } else { 1.0 }, 10.0, 0);
        attempts.push(AttemptFact {
            number: 1,
            speculative: labelled.then_some(true),
            ..running(slow, at(9.0), 0.1, "nm3")
        });
        script.tasks(id, at(10.0), tasks);
        script.attempts(id, at(10.0), attempts);
        let decisions = script.decide(at(10.0)).decisions;
        let [decision] = &decisions[..] else { panic!("{decisions:?}") };
        assert_eq!((decision.attempt, decision.natively_copied), (slow.attempt(0), true));
    }
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

fn end(id: JobId, state: JobPhase, finished: f64, attempts: Vec<AttemptFact>) -> Fact {
    Fact::Ended(EndFact { job: id, state: Some(state), started: Some(at(0.0)), finished: Some(at(finished)), attempts })
}

#[test]
fn a_task_whose_end_only_history_tells_is_settled_at_its_own_end() {
    let mut script = Script::new(EngineParams::default());
    assert_eq!(play(&mut script, 4, 4.0, &one_node_in_four, 30).len(), 1);
    let id = job_id(1);
    let (_, winner) = succeeded(id.task(TaskKind::Map, 1), at(0.0), at(40.0));
    script.say(at(60.0), end(id, JobPhase::Succeeded, 55.0, vec![winner]));
    let pass = script.decide(at(60.0));
    assert_eq!(pass.outcomes.iter().map(|o| o.ended).collect::<Vec<_>>(), [at(40.0)]);
    assert_eq!(pass.errors.iter().filter(|e| e.point == Point::Half).count(), Estimator::ALL.len());
    assert_eq!(script.engine.cluster().job_count(), 0);
}

#[test]
fn a_job_that_was_killed_proves_nothing_about_advice() {
    let mut script = Script::new(EngineParams::default());
    assert_eq!(play(&mut script, 4, 4.0, &one_node_in_four, 30).len(), 1);
    script.say(at(9_000.0), end(job_id(1), JobPhase::Killed, 9_000.0, vec![]));
    let pass = script.decide(at(9_000.0));
    assert_eq!((pass.outcomes, script.engine.copies_in_flight()), (vec![], 0));
}

#[test]
fn a_fact_that_comes_after_a_jobs_end_does_not_bring_it_back() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, 4, 0, at(0.0));
    script.say(at(9.0), end(id, JobPhase::Succeeded, 9.0, vec![]));
    script.decide(at(9.0));
    let fact = Fact::Tasks { job: id, complete: true, tasks: vec![] };
    let late = script.observation(Channel::Am, Some(id.0), at(10.0), fact);
    assert_eq!(script.engine.observe(&late), Err(Dropped::UnknownJob));
    assert_eq!(script.engine.cluster().job_count(), 0);
}

#[test]
fn owner_and_queue_are_the_resource_managers_word_and_not_the_jobs() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    let app = AppFact {
        app: id.0,
        user: "mallory".into(),
        queue: "root.locked".into(),
        name: "job".into(),
        started: at(0.0),
        containers: 1,
        allocated: Resources::default(),
    };
    script.say(at(0.0), Fact::Apps(vec![app]));
    script.open_job(id, 4, 0, at(0.0));
    let job = script.engine.cluster().job(id).unwrap();
    assert_eq!((job.user.as_str(), job.queue.as_str()), ("mallory", "root.locked"));
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

/// When the slow map of a job of sixteen, ten times slower, is decided on, second. Each begins its work, four seconds of it, as long after its launch as `start_up` says.
fn decided_beside_starts(launched: f64, start_up: &dyn Fn(u32) -> f64) -> Option<u32> {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    (0..60).find(|second| {
        let (now, mut tasks, mut attempts) = (f64::from(*second), Vec::new(), Vec::new());
        for index in 0..16 {
            let task = id.task(TaskKind::Map, index);
            let (launch, work) = if index == 1 { (launched, 80.0) } else { (0.0, 4.0) };
            let (start, begun) = (launch + start_up(index), at(launch));
            if now >= start + work {
                let (task, attempt) = succeeded(task, begun, at(start + work));
                tasks.push(task);
                attempts.push(attempt);
            } else if now >= launch {
                let (state, started) = (Some(TaskState::Running), Some(begun));
                tasks.push(TaskFact { state, started, ..TaskFact::of(task) });
                let score = ((now - start) / work).max(0.0) as f32;
                attempts.push(running(task, begun, score, &format!("nm{}", index % 4 + 1)));
            }
        }
        tasks.iter_mut().for_each(|task| task.input = Some(Bytes(100)));
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
        let decisions = script.decide(at(now)).decisions;
        assert!(decisions.iter().all(|decision| decision.task.index == 1), "{decisions:?}");
        !decisions.is_empty()
    })
}

#[test]
fn a_crowd_of_starting_jvms_does_not_hide_for_how_long_a_task_of_the_next_wave_has_worked() {
    // A whole run of the first wave took 16 s, its work 4: so does that of the next before it is judged, from its first report at 22 on.
    assert_eq!(decided_beside_starts(20.0, &|index| if index == 1 { 1.0 } else { 12.0 }), Some(26));
}

#[test]
fn a_task_that_has_only_begun_to_work_when_it_is_as_old_as_its_peers_were_is_given_half_of_their_work_to_show_its_pace()
{
    // Its peers took 8 s in all, 4 of them work; its first report is seen at 9.
    assert_eq!(decided_beside_starts(0.0, &|index| if index == 1 { 8.0 } else { 4.0 }), Some(11));
}

#[test]
fn one_small_fast_peer_does_not_make_all_others_slow() {
    // The last split is short, as a file's last one is: done after 3 s, when the others are at a seventh of their 20.
    let slow = |index: u32| if index == 15 { 0.15 } else { 1.0 };
    assert_eq!(play(&mut Script::new(EngineParams::default()), 16, 20.0, &slow, 20), vec![]);
}

#[test]
fn a_small_job_may_have_copies_for_half_of_its_tasks_and_a_large_one_for_a_quarter() {
    let copied = |maps: u32, slow_of_four: u32| {
        let slow = |index: u32| if index % 4 < slow_of_four { 10.0 } else { 1.0 };
        let govern = GovernParams { cluster_cap: 1.0, ..GovernParams::default() };
        let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
        play(&mut script, maps, 4.0, &slow, 12).len()
    };
    assert_eq!((copied(16, 2), copied(48, 2)), (8, 12));
}
