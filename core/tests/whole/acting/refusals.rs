//! An AM that refuses whatever it is asked for.

use super::*;
use proptest::prelude::*;

/// One map in sixteen is slow, and stays so for longer than any of these tests lasts.
fn one_map(index: u32) -> f64 {
    if index == 1 { 400.0 } else { 1.0 }
}

/// Plays `seconds` in which each order is refused by an AM whose count of attempts is behind what it tells of, as for a copy on a node that was lost; one more attempt of the task comes and is
/// killed before its launch at each of the seconds in `changes`. When it was asked for a copy.
fn asked(seconds: u32, changes: &[u32]) -> Vec<u32> {
    let mut play = Play::new(acting());
    let mut asked = Vec::new();
    for second in 0..seconds {
        let come = changes.iter().filter(|change| **change <= second).count() as u32;
        let killed: Vec<_> = (1..=come).map(|number| (1, number, AttemptState::Killed, None)).collect();
        for decision in play.see(second.into(), &one_map, &killed).decisions {
            assert_eq!((decision.task.index, decision.action), (1, Action::Duplicate));
            play.answer(second.into(), decision.id, Answer::TooManyAttempts, &[]);
            asked.push(second);
        }
    }
    asked
}

#[test]
fn while_a_lost_nodes_attempt_is_still_counted_the_am_is_asked_a_few_times_and_soon_after_it_is_not() {
    let begun = asked(10, &[])[0];
    let in_vain = asked(begun + 180, &[]);
    let waits: Vec<u32> = in_vain.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A second each for the answer to be taken in.
    assert_eq!(waits, [4, 7, 13, 25, 49, 61], "of {in_vain:?}");
    let freed = begun + 120;
    let after: Vec<u32> = asked(begun + 180, &[freed]).into_iter().filter(|second| *second >= freed).collect();
    assert_eq!(after.iter().take(3).map(|second| second - freed).collect::<Vec<_>>(), [0, 4, 11]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn between_two_changes_of_a_tasks_attempts_each_order_that_is_refused_is_given_later_than_the_one_before(
        spans in prop::collection::vec(1_u32..70, 0..5),
    ) {
        let changes: Vec<u32> = spans.iter().scan(6, |at, span| { *at += span; Some(*at) }).collect();
        let asked = asked(300, &changes);
        let of = |second: u32| changes.iter().filter(|change| **change <= second).count();
        let mut last = None;
        for pair in asked.windows(2) {
            let (span, wait) = (of(pair[0]), pair[1] - pair[0]);
            if of(pair[1]) == span {
                let (before, least) = last.unwrap_or((span, 0));
                prop_assert!(before != span || wait > least || wait == 61, "{asked:?} with {changes:?}");
                last = Some((span, wait));
            }
            prop_assert!((4..=61).contains(&wait), "{asked:?}");
        }
        for change in changes {
            let next = asked.iter().find(|second| **second >= change);
            prop_assert!(next.is_none_or(|next| next - change <= 4), "{change} of {asked:?}");
        }
    }
}
