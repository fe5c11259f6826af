//! Budgets by node and by minute.

use super::*;
use drover_core::policy::{DollyParams, PolicyName};

#[test]
fn a_node_whose_copy_has_ended_may_cause_another() {
    let govern = GovernParams { node_copies: 1, ..acting().govern };
    let mut play = Play::new(EngineParams { govern, ..acting() });
    let [first] = play.decided().try_into().unwrap();
    play.answer(6.0, first.id, Answer::NoHeadroom, &[]);
    let [second] = play.look(7.0, &[]).decisions.try_into().unwrap();
    assert_ne!(first.task, second.task);
    play.look(8.0, &[]);
    assert_eq!(play.verdict(first.task.index), Some(Verdict::CoolDown));
    let capped = [1, 5, 9, 13].into_iter().filter(|index| play.verdict(*index) == Some(Verdict::NodeCap)).count();
    assert_eq!(capped, 2);
}

#[test]
fn unless_it_is_set_ten_copies_may_be_decided_on_in_a_minute_for_each_that_may_be_in_flight() {
    let govern = GovernParams { cluster_cap: 0.0, cluster_floor: 0, try_again: Millis(0), ..acting().govern };
    let mut play = Play::new(EngineParams { govern, ..acting() });
    let mut decided = Vec::new();
    for half in 0..80 {
        // Whatever is asked for is refused at once.
        let second = f64::from(half) / 2.0;
        for decision in play.look(second, &[]).decisions {
            play.answer(second, decision.id, Answer::NoHeadroom, &[]);
            decided.push(decision.id);
        }
    }
    assert_eq!(decided.len(), 10);
}

#[test]
fn it_wishes_to_be_asked_when_the_minutes_first_copy_counts_no_more() {
    let long = Millis(200_000);
    let govern = GovernParams { copies_per_minute: Some(1), deadline: long, stale_after: long, ..acting().govern };
    let mut play = Play::new(EngineParams { govern, look_again: long, ..acting() });
    let decided = play.decided();
    assert_eq!(decided.len(), 1);
    let next = play.look(9.0, &[]).next;
    assert_eq!(next, Some(decided[0].at + Millis(61_000)), "{decided:?}");
}

#[test]
fn clones_need_not_stand_a_while_and_are_no_matter_of_a_nodes_budget_but_of_the_minutes() {
    let asked = |minute| {
        let govern = GovernParams {
            cluster_cap: 1.0,
            waiting_copies: 6,
            node_copies: 1,
            debounce: Millis(10_000),
            copies_per_minute: minute,
            ..acting().govern
        };
        let dolly = DollyParams { beta: 1.0, prior: 0.1, ..DollyParams::default() };
        let mut play = Play::new(EngineParams { policy: PolicyName::Dolly, dolly, govern, ..Default::default() });
        let decisions = play.look(1.0, &[]).decisions;
        decisions.iter().map(|decision| (decision.task.index, decision.copies)).collect::<Vec<_>>()
    };
    assert_eq!(asked(None), [(0, 2), (1, 2), (2, 2)]);
    assert_eq!(asked(Some(5)), [(0, 2), (1, 2)], "all of a task's or none");
}
