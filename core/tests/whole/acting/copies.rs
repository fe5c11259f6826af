//! A copy from its decision to its end, whatever words are lost.

use super::*;
use drover_core::policy::PolicyName;

#[test]
fn a_decision_in_act_says_all_that_the_shim_must_check() {
    let decisions = Play::new(acting()).decided();
    let first = &decisions[0];
    assert_eq!((first.mode, first.copies, first.live), (Mode::Act, 1, 1));
    assert_eq!(first.deadline, first.at + GovernParams::default().deadline);
    assert_eq!(first.avoid, ["nm2"], "the slow node, and no other");
    assert_eq!(decisions.iter().map(|d| d.task.index).collect::<Vec<_>>(), [1, 5, 9, 13]);
}

#[test]
fn a_copy_that_is_asked_for_is_not_asked_for_twice_and_its_win_is_told() {
    let mut play = Play::new(acting());
    let decisions = play.decided();
    let (one, begun) = (&decisions[0], 8.0);
    play.own(begun, Fact::Sent { job: play.id, decision: one.id });
    play.answer(begun, one.id, Answer::Applied, &[1]);
    for second in [9.0, 10.0] {
        let pass = play.look(second, &[(1, 1, AttemptState::Running, Some(8.5))]);
        assert!(pass.decisions.is_empty(), "{:?}", pass.decisions);
        assert_eq!(play.verdict(1), Some(Verdict::CopyInFlight));
    }
    let (task, id) = (play.id.task(TaskKind::Map, 1), play.id);
    let won =
        TaskFact { state: Some(TaskState::Succeeded), winner: Some(1), finished: Some(at(12.5)), ..TaskFact::of(task) };
    let copy = AttemptFact {
        state: Some(AttemptState::Succeeded),
        finished: Some(at(12.5)),
        ..AttemptFact::of(task.attempt(1))
    };
    play.script.say(at(13.0), Fact::Tasks { job: id, complete: false, tasks: vec![won] });
    play.script.attempts(id, at(13.0), vec![copy]);
    let pass = play.script.decide(at(13.0));
    let [end] = pass.copies.as_slice() else { panic!("{:?}", pass.copies) };
    assert_eq!(
        (end.end, end.winner, end.host.as_deref(), end.cost),
        (CopyEnd::Won, Some(1), Some("nm3"), Millis(4_000))
    );
    assert_eq!((end.landed.kept_off, end.landed.avoided), (1, 0), "it was to keep off nm2");
    assert!(pass.outcomes.is_empty(), "what was asked for is not also advice");
}

#[test]
fn a_lost_answer_is_made_good_by_the_attempts_that_are_seen() {
    let mut play = Play::new(acting());
    let decision = play.decided()[0].id;
    play.own(6.0, Fact::Sent { job: play.id, decision });
    for second in 7..30 {
        let pass = play.look(second.into(), &[(1, 1, AttemptState::Running, Some(7.0))]);
        assert!(pass.copies.iter().all(|end| end.decision != decision), "{:?}", pass.copies);
        assert!(pass.decisions.iter().all(|d| d.task.index != 1));
    }
    assert_eq!(play.verdict(1), Some(Verdict::CopyInFlight));
}

#[test]
fn what_never_was_sent_or_answered_gives_its_budget_back_after_the_deadline() {
    let mut play = Play::new(acting());
    let decisions = play.decided();
    play.own(6.0, Fact::Sent { job: play.id, decision: decisions[0].id });
    let ends: Vec<_> = (7..30).flat_map(|second| play.look(second.into(), &[]).copies).collect();
    let end_of = |decision: u64| ends.iter().find(|end| end.decision == decision).unwrap().end;
    assert_eq!(end_of(decisions[0].id), CopyEnd::Unanswered);
    assert_eq!(end_of(decisions[1].id), CopyEnd::Unsent);
}

#[test]
fn a_copy_killed_to_be_moved_has_not_died_until_its_new_number_is_overdue() {
    for told in [true, false] {
        let mut play = Play::new(acting());
        let decision = play.decided().iter().find(|decision| decision.task.index == 1).unwrap().id;
        play.answer(6.0, decision, Answer::Applied, &[1]);
        let killed = (1, 1, AttemptState::Killed, told.then_some(7.0));
        assert_eq!(play.look(7.0, &[killed]).copies, []);
        let end = |pass: Pass| pass.copies.iter().find(|end| end.decision == decision).map(|end| end.end);
        if told {
            play.answer(8.0, decision, Answer::Moved, &[2]);
            assert_eq!(play.look(9.0, &[killed, (1, 2, AttemptState::Running, Some(8.5))]).copies, []);
            let again = play.look(30.0, &[killed, (1, 2, AttemptState::Running, Some(8.5))]);
            assert_eq!((end(again), play.verdict(1)), (None, Some(Verdict::CopyInFlight)));
        } else {
            assert_eq!(end(play.look(30.0, &[killed])), Some(CopyEnd::Died));
        }
    }
}

#[test]
fn a_copy_that_waits_for_its_container_bars_another_by_whoever_asked_for_it() {
    let mut play = Play::new(acting());
    let waiting = (1, 1, AttemptState::Starting, None);
    for second in 0..20 {
        let pass = play.look(second.into(), &[waiting]);
        assert!(pass.decisions.iter().all(|d| d.task.index != 1), "{:?}", pass.decisions);
    }
    assert_eq!(play.verdict(1), Some(Verdict::AlreadyCopied));
}

#[test]
fn a_newer_am_ends_what_was_asked_of_the_old_one() {
    let mut play = Play::new(acting());
    let decision = play.decided()[0].id;
    play.answer(6.0, decision, Answer::Applied, &[1]);
    play.look(7.0, &[(1, 1, AttemptState::Running, Some(6.5))]);
    let needs = Fact::Needs { job: play.id, maps: 0, reduces: 0, native_copies: 0 };
    let mut seen = play.script.observation(Channel::Am, Some(play.id.0), at(8.0), needs);
    seen.source.incarnation = 2;
    play.script.engine.observe(&seen).unwrap();
    let ends = play.script.decide(at(8.0)).copies;
    let end = ends.iter().find(|end| end.decision == decision).unwrap();
    assert_eq!((end.end, end.telling), (CopyEnd::Died, false), "that says nothing of the policy");
}

#[test]
fn a_job_that_ends_tells_the_end_of_every_copy() {
    let mut play = Play::new(acting());
    let decisions = play.decided();
    play.answer(6.0, decisions[0].id, Answer::Applied, &[1]);
    play.look(7.0, &[(1, 1, AttemptState::Running, Some(6.5))]);
    let copy = AttemptFact {
        state: Some(AttemptState::Succeeded),
        finished: Some(at(10.0)),
        ..AttemptFact::of(play.id.task(TaskKind::Map, 1).attempt(1))
    };
    let end = EndFact {
        job: play.id,
        state: Some(JobPhase::Succeeded),
        started: Some(at(0.0)),
        finished: Some(at(10.0)),
        attempts: vec![copy],
    };
    play.script.say(at(11.0), Fact::Ended(end));
    let ends = play.script.decide(at(11.0)).copies;
    assert_eq!(ends.len(), decisions.len());
    assert_eq!(ends.iter().find(|end| end.decision == decisions[0].id).unwrap().end, CopyEnd::Won);
}

#[test]
fn an_order_that_was_sent_may_be_sent_again_though_its_copy_is_seen_and_one_that_was_not_may_not() {
    for (sent, expected) in [(true, Ok(())), (false, Err(Verdict::AlreadyCopied))] {
        let mut play = Play::new(acting());
        let order = play.decided().remove(0);
        assert_eq!(play.script.engine.revalidate(&order), Ok(()));
        if sent {
            play.own(6.0, Fact::Sent { job: play.id, decision: order.id });
        }
        play.look(7.0, &[(order.task.index, 1, AttemptState::Running, Some(6.5))]);
        assert_eq!(play.script.engine.revalidate(&order), expected);
    }
}

#[test]
fn an_order_of_a_policy_that_is_no_longer_in_force_is_not_sent() {
    for (policy, expected) in [(acting().policy, Ok(())), (PolicyName::None, Err(Verdict::NotActing))] {
        let mut play = Play::new(acting());
        let order = play.decided().remove(0);
        play.script.engine.set_params(EngineParams { policy, ..acting() });
        assert_eq!(play.script.engine.revalidate(&order), expected, "{policy:?}");
    }
}

#[test]
fn an_order_awaits_its_answer_until_that_is_told() {
    let mut play = Play::new(acting());
    let order = play.decided().remove(0);
    assert!(play.script.engine.awaits_answer(&order));
    play.answer(6.0, order.id, Answer::Applied, &[1]);
    assert!(!play.script.engine.awaits_answer(&order));
}

#[test]
fn copies_of_a_job_that_is_lost_from_sight_are_of_unknown_end_and_not_open_for_ever() {
    let mut play = Play::new(acting());
    let decision = play.decided()[0].id;
    play.own(8.0, Fact::Sent { job: play.id, decision });
    play.answer(8.0, decision, Answer::Applied, &[1]);
    let _ = play.look(9.0, &[(1, 1, AttemptState::Running, Some(8.5))]);
    // Neither listed nor heard of again.
    play.script.say(at(10.0), Fact::Apps(Vec::new()));
    let ends: Vec<_> = (1..80).flat_map(|n| play.script.decide(at(10.0 * f64::from(n))).copies).collect();
    let of: Vec<_> = ends.iter().filter(|end| end.decision == decision).map(|end| end.end).collect();
    assert_eq!(of, [CopyEnd::Unknown]);
    assert!(play.script.engine.cluster().job(play.id).is_none());
}
