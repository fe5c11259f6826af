//! What must hold whatever is observed, in whatever order.

use crate::common::*;
use drover_core::engine::{Engine, EngineParams};
use drover_core::estimate::Estimator;
use drover_core::model::*;
use drover_core::policy::view::ViewParams;
use drover_core::policy::{Judged, LateParams, MantriParams, PolicyName, TailParams, Thresholds, View};
use proptest::prelude::*;

/// Facts of one job as two sources tell them, REST and a shim, each with its own sequence.
fn facts(samples: &[(u32, u8, u64)]) -> [Vec<Observation>; 2] {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    let (mut rest, mut shim) = (Vec::new(), Vec::new());
    for (index, tenths, second) in samples {
        let task = id.task(TaskKind::Map, *index);
        let now = at(*second as f64);
        let score = f32::from(*tenths) / 10.0;
        if *tenths >= 10 {
            let (done, won) = succeeded(task, at(0.0), now);
            rest.push(script.observation(
                Channel::Am,
                Some(id.0),
                now,
                Fact::Tasks { job: id, complete: true, tasks: vec![done] },
            ));
            shim.push(script.observation(
                Channel::Shim,
                Some(id.0),
                now,
                Fact::Attempts { job: id, attempts: vec![won] },
            ));
        } else {
            let state = Some(TaskState::Running);
            let fact = TaskFact { state, score: Some(score), started: Some(at(0.0)), ..TaskFact::of(task) };
            rest.push(script.observation(
                Channel::Am,
                Some(id.0),
                now,
                Fact::Tasks { job: id, complete: true, tasks: vec![fact] },
            ));
            let attempt = running(task, at(0.0), score, "nm1");
            shim.push(script.observation(
                Channel::Shim,
                Some(id.0),
                now,
                Fact::Attempts { job: id, attempts: vec![attempt] },
            ));
        }
    }
    [rest, shim]
}

fn tasks_of(engine: &Engine) -> Vec<Task> {
    engine
        .cluster()
        .jobs()
        .flat_map(|job| job.tasks(TaskKind::Map).map(|(_, t)| t.clone()).collect::<Vec<_>>())
        .collect()
}

fn any_policy() -> impl Strategy<Value = PolicyName> {
    prop::sample::select(PolicyName::ALL.to_vec())
}

proptest! {
    #[test]
    fn under_every_policy_and_estimator_each_running_task_has_a_verdict(
        speeds in prop::collection::vec(1u8..20, 4..20),
        policy in any_policy(),
        estimator in prop::sample::select(Estimator::ALL.to_vec()),
        needs in 0u32..2,
    ) {
        let mut script = Script::new(EngineParams { policy, estimator, ..EngineParams::default() });
        let id = job_id(1);
        let maps = speeds.len() as u32;
        script.open_job(id, maps, 0, at(0.0));
        script.say(at(0.0), Fact::Needs { job: id, maps: needs, reduces: 0, native_copies: 0 });
        for second in 0..60 {
            let slow = |index: u32| f64::from(speeds[index as usize]);
            let (tasks, attempts) = equal_maps(id, maps, 4.0, &slow, second.into(), 0);
            script.tasks(id, at(second.into()), tasks);
            script.attempts(id, at(second.into()), attempts);
            script.decide(at(second.into()));
            for (task, known) in script.engine.cluster().job(id).unwrap().tasks(TaskKind::Map) {
                let runs = known.state == TaskState::Running;
                prop_assert_eq!(known.verdict.is_some(), runs, "{} under {} at {} s", task, policy.label(), second);
            }
        }
    }

    #[test]
    fn sources_may_interleave_in_any_order(
        mut samples in prop::collection::vec((0u32..4, 0u8..11, 1u64..60), 1..24),
        choices in prop::collection::vec(any::<bool>(), 64),
    ) {
        samples.sort_by_key(|(_, _, second)| *second);
        let [rest, shim] = facts(&samples);
        let mut straight = Engine::new(EngineParams::default());
        for seen in rest.iter().chain(&shim) {
            let _ = straight.observe(seen);
        }
        let mut mixed = Engine::new(EngineParams::default());
        let (mut a, mut b) = (rest.iter().peekable(), shim.iter().peekable());
        for choice in choices {
            let next = if choice { a.next().or_else(|| b.next()) } else { b.next().or_else(|| a.next()) };
            if let Some(seen) = next {
                let _ = mixed.observe(seen);
            }
        }
        prop_assert_eq!(tasks_of(&straight), tasks_of(&mixed));
    }

    #[test]
    fn repeating_an_observation_changes_nothing(
        mut samples in prop::collection::vec((0u32..4, 0u8..11, 1u64..60), 1..24),
    ) {
        samples.sort_by_key(|(_, _, second)| *second);
        let mut once = Engine::new(EngineParams::default());
        let mut twice = Engine::new(EngineParams::default());
        for seen in facts(&samples).iter().flatten() {
            once.observe(seen).unwrap();
            twice.observe(seen).unwrap();
            prop_assert_eq!(twice.observe(seen), Err(Dropped::StaleSequence));
        }
        prop_assert_eq!(tasks_of(&once), tasks_of(&twice));
    }

    #[test]
    fn caps_hold_and_no_task_is_decided_on_twice(
        speeds in prop::collection::vec(1u8..20, 4..40),
        cluster_cap in 0.0f64..0.3,
        job_cap in 0.0f64..0.6,
        policy in any_policy(),
    ) {
        let mut params = EngineParams { policy, ..EngineParams::default() };
        params.govern.cluster_cap = cluster_cap;
        params.govern.cluster_floor = 0;
        params.govern.job_floor = 0;
        params.govern.job_cap = job_cap;
        let mut script = Script::new(params);
        let id = job_id(1);
        let maps = speeds.len() as u32;
        script.open_job(id, maps, 0, at(0.0));
        let mut decided = std::collections::BTreeSet::new();
        for second in 0..90 {
            let slow = |index: u32| f64::from(speeds[index as usize]);
            let (tasks, attempts) = equal_maps(id, maps, 4.0, &slow, second.into(), 0);
            script.tasks(id, at(second.into()), tasks);
            script.attempts(id, at(second.into()), attempts);
            for decision in script.decide(at(second.into())).decisions {
                prop_assert!(decided.insert(decision.task));
            }
            let in_flight = script.engine.copies_in_flight();
            prop_assert!(in_flight <= ((cluster_cap * 64.0).floor() as u32).max(1));
            prop_assert!(in_flight <= ((job_cap * f64::from(maps)).ceil() as u32).max(1));
        }
    }

    #[test]
    fn a_snapshot_carries_on_as_the_engine_would_have(
        speeds in prop::collection::vec(1u8..20, 4..20),
        cut in 1u32..40,
        policy in any_policy(),
    ) {
        let play = |cut: Option<u32>| {
            let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
            let id = job_id(1);
            script.open_job(id, speeds.len() as u32, 0, at(0.0));
            let mut said = Vec::new();
            for second in 0..60u32 {
                if cut == Some(second) {
                    let json = serde_json::to_string(&script.engine).unwrap();
                    script.engine = serde_json::from_str(&json).unwrap();
                }
                let slow = |index: u32| f64::from(speeds[index as usize]);
                let (tasks, attempts) = equal_maps(id, speeds.len() as u32, 4.0, &slow, second.into(), 0);
                script.tasks(id, at(second.into()), tasks);
                script.attempts(id, at(second.into()), attempts);
                said.push(serde_json::to_string(&script.decide(at(second.into()))).unwrap());
            }
            said
        };
        prop_assert_eq!(play(None), play(Some(cut)));
    }
}

/// What Mantri's policy says of a phase of maps looked at every second, and of its copies, with all times `scale` times as long.
fn mantri(maps: &[(u32, Vec<Run>)], total: u32, seconds: u32, scale: u64) -> Vec<Judged> {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, total, 0, at(0.0));
    script.say(at(0.0), Fact::ShimSession(id, true));
    let stretched = |run: &Run| Run { launched: run.launched * scale as f64, takes: run.takes * scale as f64 };
    for second in 1..=seconds {
        let now = f64::from(second) * scale as f64;
        let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
        for (index, runs) in maps {
            let runs: Vec<Run> = runs.iter().map(stretched).collect();
            let (task, of_it) = runs_of(id.task(TaskKind::Map, *index), &runs, now);
            tasks.push(task);
            attempts.extend(of_it);
        }
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
    }
    // Fractions that no sum of the runs meets: at a tie rounding would decide.
    let [start_lag, period] = [1_013, 1_037].map(|ms| Millis(ms * scale));
    let mantri = MantriParams { period: Millis(10_000 * scale), period_min: period, ..MantriParams::default() };
    let params = ViewParams { estimator: Estimator::default(), start_lag, judge_native_copies: true };
    let view = View::new(
        script.engine.cluster().job(id).unwrap(),
        TaskKind::Map,
        at(f64::from(seconds) * scale as f64),
        &params,
    );
    let thresholds = Thresholds { late: &LateParams::default(), tail: &TailParams::default(), mantri: &mantri };
    let judged = PolicyName::Mantri.judge(&view, &thresholds);
    assert_eq!(judged, PolicyName::Mantri.judge(&view, &thresholds), "the same view, another answer");
    judged
}

/// Maps with a copy or more: run times of a few seconds, every third up to eight times as long, and launches that all differ.
fn phases() -> impl Strategy<Value = Vec<(u32, Vec<Run>)>> {
    let copies = prop::collection::vec((2u32..10, 0u32..12), 1..5);
    prop::collection::vec((copies, 1u32..9), 3..12).prop_map(|maps| {
        let one = |(index, (copies, slow)): (usize, (Vec<(u32, u32)>, u32))| {
            let slow = if index % 3 == 1 { slow } else { 1 };
            let launch = |n: usize| 0.031 * (index * 4 + n) as f64;
            let run = |(n, (takes, later)): (usize, &(u32, u32))| Run {
                launched: launch(n) + f64::from(*later) * (n > 0) as u32 as f64,
                takes: f64::from(takes * slow),
            };
            // Most tasks have no copy.
            let kept = if index % 2 == 0 { 1 } else { copies.len() };
            (index as u32, copies.iter().take(kept).enumerate().map(run).collect())
        };
        maps.into_iter().enumerate().map(one).collect()
    })
}

fn said(judged: &Judged) -> (Verdict, Action, u32) {
    (judged.verdict, judged.action, judged.attempt.number)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn mantri_judges_tasks_by_what_they_are_and_not_by_their_order(
        maps in phases(), waiting in 0u32..2, seconds in 2u32..16,
    ) {
        let total = maps.len() as u32 + waiting;
        let turned: Vec<_> = maps.iter().map(|(index, runs)| (maps.len() as u32 - 1 - index, runs.clone())).collect();
        let straight = mantri(&maps, total, seconds, 1);
        let mut other = mantri(&turned, total, seconds, 1);
        other.reverse();
        prop_assert_eq!(straight.len(), other.len());
        for (a, b) in straight.iter().zip(&other) {
            prop_assert_eq!((said(a), a.numbers, &a.rule), (said(b), b.numbers, &b.rule));
        }
    }

    #[test]
    fn mantri_says_the_same_of_a_phase_that_is_slower_throughout(
        maps in phases(), waiting in 0u32..2, seconds in 2u32..16,
    ) {
        let total = maps.len() as u32 + waiting;
        let [once, twice] = [1, 2].map(|scale| mantri(&maps, total, seconds, scale));
        prop_assert_eq!(once.iter().map(said).collect::<Vec<_>>(), twice.iter().map(said).collect::<Vec<_>>());
        for (a, b) in once.iter().zip(&twice) {
            let times = |judged: &Judged| [judged.numbers.time_left, judged.numbers.fresh_copy];
            for (a, b) in times(a).into_iter().zip(times(b)) {
                let doubled = a.map(|a| 2 * a.0);
                prop_assert!(doubled.zip(b).is_none_or(|(a, b)| a.abs_diff(b.0) <= 20), "{:?} {:?}", doubled, b);
            }
        }
    }

    #[test]
    fn mantri_never_wants_a_fourth_copy(maps in phases(), waiting in 0u32..2, seconds in 2u32..16) {
        let running = |index: u32| maps[index as usize].1.iter().filter(|run| run.launched <= f64::from(seconds)).count();
        for judged in mantri(&maps, maps.len() as u32 + waiting, seconds, 1) {
            let copies = running(judged.task.index);
            if judged.verdict == Verdict::Decided && judged.action == Action::Duplicate {
                prop_assert!(copies < 3, "{} run", copies);
            }
        }
    }
}

#[test]
fn a_foreign_application_an_old_life_and_a_stale_sequence_are_dropped_by_name() {
    let mut script = Script::new(EngineParams::default());
    let (one, two) = (job_id(1), job_id(2));
    let fact = || Fact::Tasks { job: two, complete: true, tasks: vec![] };
    let foreign = script.observation(Channel::Shim, Some(one.0), at(1.0), fact());
    assert_eq!(script.engine.observe(&foreign), Err(Dropped::ForeignApplication));
    let mut newer = script.observation(Channel::Shim, Some(two.0), at(1.0), fact());
    newer.source.incarnation = 2;
    script.engine.observe(&newer).unwrap();
    let older = script.observation(Channel::Shim, Some(two.0), at(1.0), fact());
    assert_eq!(script.engine.observe(&older), Err(Dropped::OldIncarnation));
    assert_eq!(script.engine.observe(&newer), Err(Dropped::StaleSequence));
}

#[test]
fn rows_beyond_a_jobs_size_take_no_memory() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, 4, 0, at(0.0));
    let task = id.task(TaskKind::Map, 4_000_000_000);
    script.tasks(id, at(1.0), vec![TaskFact { state: Some(TaskState::Running), ..TaskFact::of(task) }]);
    script.attempts(id, at(1.0), vec![running(task, at(0.0), 0.5, "nm1")]);
    assert_eq!(script.engine.cluster().job(id).unwrap().known(TaskKind::Map), 0);
}
