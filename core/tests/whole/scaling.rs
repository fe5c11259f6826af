//! No unit of time is special: where a run and all time constants are k times as long, the same is decided at k times the instants.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{LateParams, MantriParams, PolicyName};
use proptest::prelude::*;

/// Those whose constants are settings. Hadoop's own have theirs from its source.
const POLICIES: [PolicyName; 6] = [
    PolicyName::Late,
    PolicyName::LateEarly,
    PolicyName::MapReduce,
    PolicyName::Dryad,
    PolicyName::Mantri,
    PolicyName::Drover,
];

/// All time constants k times as long.
fn scaled(policy: PolicyName, mode: Mode, k: u64) -> EngineParams {
    let by = |time: &mut Millis| time.0 *= k;
    // How many copies a minute sees depends on the minute.
    let mut govern = GovernParams { mode, copies_per_minute: Some(0), ..GovernParams::default() };
    [&mut govern.debounce, &mut govern.breaker_rest, &mut govern.stale_after, &mut govern.deadline]
        .into_iter()
        .for_each(by);
    [&mut govern.answer_grace, &mut govern.try_again, &mut govern.cool_down, &mut govern.node_cool_down]
        .into_iter()
        .for_each(by);
    // Longer than it takes to see that a task is slow.
    let mut late = LateParams { min_age: Millis(6_000), ..LateParams::default() };
    let mut mantri = MantriParams::default();
    [&mut late.min_age, &mut late.node_half_life, &mut mantri.period, &mut mantri.period_min].into_iter().for_each(by);
    let mut params = EngineParams { policy, govern, late, mantri, ..EngineParams::default() };
    let patience = &mut params.patience;
    [&mut params.start_lag, &mut params.look_again, &mut patience.way, &mut patience.start_up, &mut patience.jitter]
        .into_iter()
        .for_each(by);
    params
}

/// What is decided in a job of maps of so many seconds, each so many times about half slower, of which every so manyth never reports: in which step, of which task, and what.
fn decided(
    params: EngineParams,
    maps: u32,
    secs: f64,
    slow: &[u32],
    mute: Option<u32>,
    k: u64,
) -> Vec<(u32, TaskId, Action, Mode, String)> {
    let (mut script, id, scale) = (Script::new(params), job_id(1), k as f64);
    script.open_job(id, maps, 0, at(0.0));
    let settings = script.engine.cluster().job(id).unwrap().settings.clone().unwrap();
    script.say(at(0.0), Fact::Settings(id, JobSettings { report_interval: Millis(1_000 * k), ..settings }));
    script.say(at(0.0), Fact::ShimSession(id, true));
    script.say(at(0.0), Fact::Can(id, Capabilities { duplicate: true, ..Capabilities::NONE }));
    // No round numbers: where a bound is met exactly, milliseconds decide.
    let (secs, half) = (secs * 1.0137, 0.4937);
    let factor = |index: u32| 1.0 + f64::from(slow[index as usize % slow.len()]) * half;
    let mut all = Vec::new();
    for step in 0..60 {
        let second = f64::from(step) * scale;
        let (tasks, attempts) = equal_maps(id, maps, secs * scale, &factor, second, 0);
        let quiet = |index: u32| mute.is_some_and(|each| index.is_multiple_of(each));
        let attempts =
            attempts.into_iter().map(|one| AttemptFact { score: one.score.filter(|_| !quiet(one.index)), ..one });
        script.tasks(id, at(second), tasks);
        script.attempts(id, at(second), attempts.collect());
        let decisions = script.decide(at(second)).decisions;
        all.extend(decisions.into_iter().map(|one| (step, one.task, one.action, one.mode, one.rule)));
    }
    // Of two that gain the same but for a millisecond either comes first in a pass.
    all.sort_by_key(|(step, task, ..)| (*step, *task));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn whatever_unit_time_is_told_in_the_same_is_decided(
        policy in prop::sample::select(POLICIES.to_vec()),
        mode in prop::sample::select(vec![Mode::Advise, Mode::Act]),
        maps in 4u32..24,
        secs in 4u32..12,
        slow in prop::collection::vec(0u32..10, 1..8),
        mute in prop::option::of(2u32..6),
        k in 2u64..8,
    ) {
        let of = |k| decided(scaled(policy, mode, k), maps, secs.into(), &slow, mute, k);
        prop_assert_eq!(of(k), of(1));
    }
}

#[test]
fn a_run_with_stragglers_has_something_to_decide_at_each_scale() {
    for policy in POLICIES {
        let of = |k| decided(scaled(policy, Mode::Advise, k), 16, 4.0, &[0, 18, 0, 0], None, k);
        assert!(!of(1).is_empty() && of(5) == of(1), "{policy:?}");
    }
    let late =
        |constants, k| decided(scaled(PolicyName::Late, Mode::Advise, constants), 16, 4.0, &[0, 18, 0, 0], None, k);
    assert_ne!(late(1, 5), late(1, 1), "what is not scaled along is noticed");
    let mute = |k| decided(scaled(PolicyName::Late, Mode::Advise, k), 16, 4.0, &[0, 18, 0, 0], Some(5), k);
    let silent = |(_, task, ..): &(u32, TaskId, Action, Mode, String)| task.index == 5;
    assert!(mute(1).iter().any(silent) && mute(3) == mute(1), "one that never reports has its copy");
}
