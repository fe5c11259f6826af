//! t_rem and t_new.

use super::*;

#[test]
fn a_task_ends_with_its_fastest_copy() {
    let copied = Phase::new(5, beside_four_of_5_s(vec![run(0.0, 80.0), run(3.0, 8.0)])).last();
    assert_eq!((of(&copied).0, copied.numbers.time_left), (Verdict::NoGain, Some(Millis(3_000))));
}

#[test]
fn a_task_with_more_data_is_set_against_a_copy_with_as_much() {
    let mut phase = Phase::new(5, beside_four_of_5_s(alone(25.0)));
    let inputs = |index| TaskFact {
        input: Some(Bytes(if index == 4 { 500 } else { 100 })),
        ..TaskFact::of(phase.id.task(TaskKind::Map, index))
    };
    let inputs = (0..5).map(inputs).collect();
    phase.script.tasks(phase.id, at(0.0), inputs);
    let judged = phase.last();
    assert_eq!(of(&judged).0, Verdict::NoGain);
    assert!(judged.numbers.fresh_copy.unwrap().0.abs_diff(26_000) <= 25, "{:?}", judged.numbers);
}

#[test]
fn where_bytes_are_counted_t_rem_goes_by_them_and_the_rule_says_so() {
    let judged = |bytes: Option<fn(u64) -> u64>| {
        let mut phase = Phase::new(5, beside_four_of_5_s(alone(40.0)));
        let task = phase.id.task(TaskKind::Map, 4);
        let split = TaskFact { input: Some(Bytes(1_000)), ..TaskFact::of(task) };
        phase.script.tasks(phase.id, at(0.0), vec![split]);
        for second in 1..=8 {
            let mut row = AttemptFact::of(task.attempt(0));
            row.counters.read = bytes.map(|bytes| Bytes(bytes(second)));
            // A shim's counters that tell of this, too, are kept of any attempt, whether it lags or not.
            row.counters.crossed = bytes.map(|_| Bytes(0));
            phase.script.attempts(phase.id, at(second as f64), vec![row]);
        }
        phase.last()
    };
    let by_score = judged(None);
    assert!(by_score.rule.as_deref().unwrap().ends_with("t_rem by progress score, where bytes do not tell"));
    let by_bytes = judged(Some(|second| 10 * second));
    assert_eq!(by_bytes.numbers.time_left, Some(Millis(92_000)), "10 of 1000 bytes a second");
    assert!(by_bytes.rule.as_deref().unwrap().ends_with("line 10: t_rem - E(t_new) > rho Delta; t_rem by bytes read"));
}

#[test]
fn a_task_that_never_moves_is_let_be_while_it_need_not_have_reported_and_has_no_end_after() {
    let at = |now| {
        let mut still = Phase::new(5, beside_four_of_5_s(alone(f64::INFINITY)));
        still.now = now;
        still.last()
    };
    assert_eq!(at(8).verdict, Verdict::Silent);
    let judged = at(20);
    assert_eq!((of(&judged), judged.numbers.time_left), ((Verdict::Decided, Action::Duplicate, "10"), None));
    assert_eq!(judged.rank, f64::INFINITY);
}

#[test]
fn a_phase_is_judged_before_any_of_its_tasks_has_finished() {
    let early = |now| {
        let mut phase = Phase::new(5, beside_four_of_5_s(alone(40.0)));
        phase.now = now;
        phase.last().verdict
    };
    assert_eq!((early(1), early(2)), (Verdict::TooFewFinished, Verdict::Decided), "two reports make a pace");
    let mut few = Phase::new(3, vec![alone(5.0), alone(40.0)]);
    few.now = 4;
    assert_eq!(few.last().verdict, Verdict::TooFewFinished, "one pace is no distribution");
}

#[test]
fn a_first_report_is_no_pace_where_more_are_asked_for() {
    let young = || Phase::new(5, beside_four_of_5_s(vec![run(7.5, 40.0)]));
    let mut paper = young();
    paper.mantri = MantriParams::paper();
    assert_eq!((young().last().verdict, paper.last().verdict), (Verdict::TooFewReports, Verdict::Decided));
}
