//! What must hold whatever is observed, in whatever order.

use crate::common::*;
use drover_core::engine::{Engine, EngineParams};
use drover_core::estimate::Estimator;
use drover_core::model::*;
use drover_core::policy::PolicyName;
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
