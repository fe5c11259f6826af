//! Properties of whole sequences of jobs: the same at any pace, and within the budget at any time.

use super::plans::plan;
use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What is decided of jobs that come one after the other, with all times and all constants that are times so many times as long.
fn decided(jobs: &[(u32, u32)], scale: u64) -> Vec<(u64, TaskId, Action, u32, Verdict)> {
    let params = dolly(Admission::AllOrNothing).engine.params().clone();
    let longer = |of: Millis| Millis(of.0 * scale);
    let govern = GovernParams { stale_after: longer(params.govern.stale_after), ..params.govern };
    let mut script = Script::new(EngineParams { govern, start_lag: longer(params.start_lag), ..params });
    let numbered: Vec<(u32, u32, f64)> =
        (1..).zip(jobs).map(|(number, (maps, began))| (number, *maps, f64::from(*began))).collect();
    let mut all = Vec::new();
    for second in 0..30_u64 {
        let now = Time(at(0.0).0 + second * scale * 1_000);
        for (number, maps, began) in numbered.iter().filter(|(_, _, began)| *began <= second as f64) {
            let id = job_id(*number);
            if *began == second as f64 {
                script.open_job(id, *maps, 0, now);
            }
            let begun = now - Millis((second - *began as u64) * scale * 1_000);
            let over = second as f64 - began >= 8.0;
            let state = Some(if over { TaskState::Succeeded } else { TaskState::Running });
            let finished = over.then(|| begun + Millis(8_000 * scale));
            let of = |index| TaskFact {
                state,
                started: Some(begun),
                finished,
                ..TaskFact::of(id.task(TaskKind::Map, index))
            };
            script.tasks(id, now, (0..*maps).map(of).collect());
        }
        for one in script.decide(now).decisions {
            all.push((second, one.task, one.action, one.copies, Verdict::Decided));
        }
        for (number, ..) in &numbered {
            let refused = plan(&script, *number, TaskKind::Map).and_then(|plan| plan.refused);
            all.extend(refused.map(|why| (second, job_id(*number).task(TaskKind::Map, 0), Action::default(), 0, why)));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn with_all_times_scaled_alike_the_same_is_cloned(
        jobs in prop::collection::vec((1u32..14, 0u32..20), 1..6), scale in 2u64..9,
    ) {
        prop_assert_eq!(decided(&jobs, 1), decided(&jobs, scale));
    }
}

/// What a job is told to have come to: maps that run and have ended, reduces likewise.
type Come = [[u32; 2]; 2];

/// Slots that the clones of jobs which have not ended hold or are promised.
fn promised(script: &Script, numbers: impl Iterator<Item = u32>) -> u32 {
    let phases = numbers.flat_map(|number| TaskKind::ALL.map(|kind| (number, kind)));
    let held = |(number, kind)| {
        let plan = plan(script, number, kind).filter(|plan| plan.refused.is_none())?;
        let tasks = script.engine.cluster().job(job_id(number))?.tasks(kind);
        let ended = tasks.filter(|(id, task)| id.index < plan.tasks && task.state.is_final()).count() as u32;
        Some(plan.clones * (plan.tasks - ended))
    };
    phases.filter_map(held).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn whatever_phases_come_and_end_and_whenever_their_tasks_are_told_the_budget_holds(
        steps in prop::collection::vec((1u32..7, 0usize..6, 1u32..12), 1..60),
        beta in 0.05f64..1.0,
        prior in 0.05f64..0.4,
        admission in prop::sample::select(Admission::ALL.to_vec()),
        scheme in prop::sample::select(CloneScheme::ALL.to_vec()),
    ) {
        let dolly = DollyParams { beta, prior, admission, scheme, ..DollyParams::default() };
        let mut script = Script::new(EngineParams { policy: PolicyName::Dolly, dolly, ..EngineParams::default() });
        let can = Capabilities { copy_waiting: true, job_clones: true, ..Capabilities::NONE };
        let mut known: BTreeMap<u32, ([u32; 2], Come)> = Default::default();
        let mut ended = BTreeSet::new();
        for (step, (number, what, amount)) in steps.into_iter().enumerate() {
            let (now, id) = (at(0.2 * step as f64 + 0.1), job_id(number));
            if ended.contains(&number) {
                continue;
            }
            let (totals, come) = known.entry(number).or_insert_with(|| {
                let totals = [amount, what as u32];
                script.open_job(id, totals[0], totals[1], now);
                script.say(now, Fact::Can(id, can));
                (totals, Come::default())
            });
            if what == 5 {
                let (state, finished) = (Some(JobPhase::Succeeded), Some(now));
                script.say(now, Fact::Ended(EndFact { job: id, state, started: Some(at(0.0)), finished, attempts: Vec::new() }));
                ended.insert(number);
            } else if what > 0 {
                // One step is for a job of which nothing is told yet.
                let kind = TaskKind::ALL[(what - 1) / 2];
                let reached = &mut come[kind as usize];
                reached[(what - 1) % 2] = reached[(what - 1) % 2].max(amount.min(totals[kind as usize]));
                let state = |index| match index {
                    _ if index < reached[1] => TaskState::Succeeded,
                    _ if index < reached[0] => TaskState::Running,
                    _ => TaskState::Scheduled,
                };
                let of = |index| {
                    let state = state(index);
                    let started = (state >= TaskState::Running).then_some(at(0.05));
                    let finished = state.is_final().then_some(now);
                    TaskFact { state: Some(state), started, finished, ..TaskFact::of(id.task(kind, index)) }
                };
                script.tasks(id, now, (0..totals[kind as usize]).map(of).collect());
            }
            let _ = script.decide(now + Millis(50));
            let slots = promised(&script, known.keys().copied().filter(|number| !ended.contains(number)));
            prop_assert!(f64::from(slots) <= beta * 64.0, "{} slots after step {}", slots, step);
        }
    }
}
