//! Pseudocode 1, line by line.

use super::*;

#[test]
fn line_5_a_task_that_waits_makes_a_restart_of_what_is_a_copy_when_none_does() {
    // E(t_new) = 5 + 1 s: its own 40 s are no copy's; t_rem = 32 s.
    let slow = || beside_four_of_5_s(alone(40.0));
    let waiting = Phase::new(6, slow()).last();
    assert_eq!(of(&waiting), (Verdict::Decided, Action::Restart, "6"));
    let near = |told: Option<Millis>, seconds: f64| (told.unwrap().as_secs_f64() - seconds).abs() < 0.01;
    assert!(near(waiting.numbers.time_left, 32.0) && near(waiting.numbers.fresh_copy, 6.0), "{:?}", waiting.numbers);
    assert!((waiting.rank - 26.0).abs() < 0.01, "what would benefit the most comes first");
    assert_eq!(of(&Phase::new(5, slow()).last()), (Verdict::Decided, Action::Duplicate, "10"));
}

#[test]
fn line_5_reduces_whose_containers_are_asked_for_wait_for_slots_too() {
    let mut phase = Phase::new(5, beside_four_of_5_s(alone(40.0)));
    let needs = Fact::Needs { job: phase.id, maps: 0, reduces: 1, native_copies: 0 };
    phase.script.say(at(1.0), needs);
    assert_eq!(of(&phase.last()), (Verdict::Decided, Action::Restart, "6"));
}

#[test]
fn line_6_a_task_that_a_new_copy_would_only_just_beat_is_left() {
    // At 8 s of 15.5 it needs 7.5 s; E(t_new) = 6 s, and Delta is a second.
    let left = |takes, waiting: u32| Phase::new(5 + waiting, beside_four_of_5_s(alone(takes))).last();
    assert_eq!(of(&left(15.5, 1)).0, Verdict::Decided);
    assert_eq!(of(&left(14.5, 1)), (Verdict::GainTooSmall, Action::Duplicate, ""), "6.5 s to 6");
    assert_eq!(of(&left(12.0, 1)).0, Verdict::NoGain);
    assert_eq!(of(&left(15.5, 0)).0, Verdict::GainTooSmall, "line 10 asks for three periods");
}

#[test]
fn line_6_stops_at_three_restarts() {
    let killed = |times: u32| {
        let mut phase = Phase::new(6, beside_four_of_5_s(vec![run(2.0, 40.0)]));
        let task = phase.id.task(TaskKind::Map, 4);
        let before = (0..times).map(|n| AttemptFact {
            state: Some(AttemptState::Killed),
            started: Some(at(0.5 * f64::from(n))),
            finished: Some(at(0.5 * f64::from(n) + 0.4)),
            ..AttemptFact::of(task.attempt(10 + n))
        });
        let before = before.collect();
        phase.script.attempts(phase.id, at(0.5), before);
        phase.last()
    };
    assert_eq!(of(&killed(2)), (Verdict::Decided, Action::Restart, "6"));
    assert_eq!(of(&killed(3)), (Verdict::Decided, Action::Duplicate, "7"), "a copy saves resources all the same");
}

#[test]
fn line_7_copies_where_one_is_likely_to_save_resources_though_no_restart_pays() {
    // t_new is 3 s for three of five tasks, and its mean 18.2 s; t_rem = 12 s.
    let saves = Phase::new(7, bimodal(alone(20.0))).last();
    assert_eq!(of(&saves), (Verdict::Decided, Action::Duplicate, "7"));
    assert_eq!(saves.numbers.saves_probability, Some(0.6));
    assert_eq!(of(&Phase::new(6, bimodal(alone(20.0))).last()).0, Verdict::NoGain, "on free slots the mean counts");
    let mut cautious = Phase::new(7, bimodal(alone(20.0)));
    cautious.mantri.delta = 0.6;
    assert_eq!(of(&cautious.last()).0, Verdict::NoGain, "not more probable than delta");
}

#[test]
fn line_7_asks_more_of_a_second_copy_than_of_a_first() {
    // t_new = 6 s. A first copy must be twice as fast, a second one and a half times.
    let with = |copies: Vec<Run>| Phase::new(6, beside_four_of_5_s(copies)).last().numbers.saves_probability;
    assert_eq!(with(alone(19.0)), Some(0.0), "11 s are left, and 12 asked for");
    assert_eq!(with(vec![run(0.0, 19.0), run(4.0, 40.0)]), Some(1.0), "9 asked for");
}

#[test]
fn line_10_wants_a_gain_of_more_than_rho_periods() {
    // E(t_new) = 6 s, t_rem = takes − 8 s.
    let left = |takes| of(&Phase::new(5, beside_four_of_5_s(alone(takes))).last()).0;
    assert_eq!((left(16.9), left(17.1)), (Verdict::GainTooSmall, Verdict::Decided));
    let mut bold = Phase::new(5, beside_four_of_5_s(alone(16.9)));
    bold.mantri.rho = 2.0;
    assert_eq!(of(&bold.last()).0, Verdict::Decided);
}

#[test]
fn line_3_withdraws_the_slowest_of_three_once_it_has_run_for_a_period() {
    let pruned = Phase::new(5, three(3.0)).last();
    assert_eq!((of(&pruned), pruned.attempt.number), ((Verdict::Decided, Action::Withdraw, "3"), 2));
    let young = Phase::new(5, three(7.5)).last();
    assert_eq!(of(&young).0, Verdict::AlreadyCopied, "it has only begun");
    let two = beside_four_of_5_s(vec![run(0.0, 60.0), run(1.0, 20.0)]);
    assert_ne!(of(&Phase::new(5, two).last()).1, Action::Withdraw);
}

#[test]
fn a_copy_launched_within_the_period_is_given_time() {
    let copied = |second| of(&Phase::new(5, beside_four_of_5_s(vec![run(0.0, 80.0), run(second, 80.0)])).last()).0;
    assert_eq!((copied(7.5), copied(6.5)), (Verdict::AlreadyCopied, Verdict::Decided));
}

#[test]
fn of_two_copies_the_slower_is_the_one_to_restart() {
    let both_slow = beside_four_of_5_s(vec![run(0.0, 60.0), run(1.0, 90.0)]);
    let restart = Phase::new(6, both_slow).last();
    assert_eq!((restart.action, restart.attempt.number), (Action::Restart, 1));
}

#[test]
fn no_copy_of_a_task_that_commits_is_withdrawn_or_killed() {
    for maps in [three(3.0), beside_four_of_5_s(alone(40.0))] {
        let mut phase = Phase::new(6, maps);
        let attempt = phase.id.task(TaskKind::Map, 4).attempt(0);
        let commits = AttemptFact { state: Some(AttemptState::CommitPending), ..AttemptFact::of(attempt) };
        phase.script.attempts(phase.id, at(7.0), vec![commits]);
        assert_eq!(phase.last().verdict, Verdict::Committing);
    }
}
