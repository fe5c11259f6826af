//! Proposals that have to stand for a while before they are decided on.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use proptest::prelude::*;

fn waiting(debounce: Millis) -> EngineParams {
    EngineParams { govern: GovernParams { debounce, ..GovernParams::default() }, ..EngineParams::default() }
}

fn first(debounce: Millis) -> (u32, Vec<u32>) {
    let decisions = play(&mut Script::new(waiting(debounce)), 16, 4.0, &one_node_in_four, 20);
    let second = decisions[0].0;
    let together = decisions.iter().filter(|(at, _)| *at == second).map(|(_, decision)| decision.task.index);
    (second, together.collect())
}

#[test]
fn what_stays_slow_is_decided_on_as_much_later_as_it_must_stand() {
    let (without, tasks) = first(Millis(0));
    for seconds in [1, 3] {
        assert_eq!(first(Millis(u64::from(seconds) * 1_000)), (without + seconds, tasks.clone()));
    }
}

#[test]
fn what_looks_slow_at_one_instant_only_gets_no_copy() {
    let (id, straggler) = (job_id(1), |index: u32| if index == 1 { 10.0 } else { 1.0 });
    let (suspected, _) = first(Millis(0));
    let decided = |debounce| {
        let mut script = Script::new(waiting(debounce));
        script.open_job(id, 16, 0, at(0.0));
        let pass = |second: u32| {
            let (tasks, mut attempts) = equal_maps(id, 16, 4.0, &straggler, second.into(), 0);
            // A report that was late: it is nearly done.
            attempts[1].score = attempts[1].score.map(|score| if second > suspected { 0.97 } else { score });
            script.tasks(id, at(second.into()), tasks);
            script.attempts(id, at(second.into()), attempts);
            script.decide(at(second.into())).decisions.len()
        };
        (0..suspected + 4).map(pass).sum::<usize>()
    };
    assert_eq!((decided(Millis(0)), decided(Millis(2_000))), (1, 0));
}

#[test]
fn a_task_that_has_to_wait_says_so() {
    let mut script = Script::new(waiting(Millis(5_000)));
    assert_eq!(play(&mut script, 16, 4.0, &one_node_in_four, first(Millis(0)).0 + 2), []);
    let verdicts: Vec<_> = script.engine.candidates(job_id(1)).iter().map(|seen| seen.verdict).collect();
    assert_eq!(verdicts, [Verdict::Debouncing; 4]);
}

#[test]
fn the_instant_to_ask_again_is_one_of_the_services_clock_wherever_the_ams_stands() {
    let rarely = EngineParams { look_again: Millis(10_000_000), ..waiting(Millis(100)) };
    for skew_ms in [-3_600_000, 0, 3_600_000] {
        let mut script = Script::new(rarely.clone());
        script.skew_ms = skew_ms;
        let second = first(Millis(0)).0;
        assert_eq!(play(&mut script, 16, 4.0, &one_node_in_four, second), []);
        let now = at(second.into());
        let (tasks, attempts) = equal_maps(job_id(1), 16, 4.0, &one_node_in_four, second.into(), skew_ms);
        script.tasks(job_id(1), now, tasks);
        script.attempts(job_id(1), now, attempts);
        assert_eq!(script.decide(now).next, Some(now + Millis(100)), "{skew_ms}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn asked_again_before_the_instant_it_named_it_has_nothing_to_add(
        debounce in 0u64..4_000,
        look_again in 100u64..5_000,
        minute in 1u32..6,
        node in 1u32..6,
        asks in prop::collection::vec(0.0f64..1.0, 1..6),
        speeds in prop::collection::vec(1u8..20, 8..17),
    ) {
        let mut params = waiting(Millis(debounce));
        params.look_again = Millis(look_again);
        params.govern.copies_per_minute = Some(minute);
        params.govern.node_copies = node;
        let run = |asks: &[f64]| {
            let mut script = Script::new(params.clone());
            let (id, maps) = (job_id(1), speeds.len() as u32);
            script.open_job(id, maps, 0, at(0.0));
            let mut said = Vec::new();
            for second in 0..30u32 {
                let slow = |index: u32| f64::from(speeds[index as usize]);
                let (tasks, attempts) = equal_maps(id, maps, 4.0, &slow, second.into(), 0);
                script.tasks(id, at(second.into()), tasks);
                script.attempts(id, at(second.into()), attempts);
                let (mut pass, mut from) = (script.decide(at(second.into())), at(second.into()));
                // Until more is heard it is asked whenever it wishes to be, and in between.
                while let Some(next) = pass.next.filter(|next| *next < at(f64::from(second) + 1.0)) {
                    let left = next.since(from);
                    for share in asks {
                        let early = from + left.scaled(*share);
                        if early < next {
                            let extra = script.decide_alone(early);
                            assert_eq!((extra.decisions.len(), extra.next), (0, Some(next)), "at {early:?}");
                            assert_eq!(extra.breakers, []);
                        }
                    }
                    (pass, from) = (script.decide_alone(next), next);
                    said.extend(pass.decisions.iter().map(|decision| (next, decision.task)));
                }
            }
            said
        };
        prop_assert_eq!(run(&[]), run(&asks));
    }
}
