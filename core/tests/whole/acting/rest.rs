//! Copies that come to nothing: what is asked for again, and who rests.

use super::*;
use drover_core::policy::{DollyParams, PolicyName};

#[test]
fn a_refused_copy_is_asked_for_again_later_unless_it_was_refused_for_good() {
    for (answer, again) in [(Answer::NoHeadroom, true), (Answer::SpeculationOff, false)] {
        let mut play = Play::new(acting());
        let decision = play.decided()[0].clone();
        play.answer(6.0, decision.id, answer, &[]);
        let pass = play.look(7.0, &[]);
        assert_eq!(pass.copies[0].end, CopyEnd::Refused);
        assert_eq!(play.verdict(decision.task.index), Some(Verdict::CoolDown));
        let later = (8..30).flat_map(|second| play.look(second.into(), &[]).decisions);
        assert_eq!(later.filter(|d| d.task == decision.task).count() > 0, again, "{answer:?}");
    }
}

#[test]
fn a_task_whose_copies_keep_dying_gets_no_third() {
    let mut play = Play::new(acting());
    let mut copies = Vec::new();
    let mut seen: Vec<(u32, u32, AttemptState, Option<f64>)> = Vec::new();
    for second in 0..39 {
        let pass = play.look(second.into(), &seen);
        // A copy of task 1 dies as soon as it is seen to run.
        seen.iter_mut().for_each(|copy| copy.2 = AttemptState::Failed);
        for decision in pass.decisions.iter().filter(|decision| decision.task.index == 1) {
            copies.push(decision.id);
            let number = copies.len() as u32;
            play.answer(second.into(), decision.id, Answer::Applied, &[number]);
            seen.push((1, number, AttemptState::Running, Some(second.into())));
        }
    }
    assert_eq!(copies.len(), GovernParams::default().copies_per_task as usize);
}

#[test]
fn a_job_whose_copies_keep_losing_rests() {
    let mut play = Play::new(acting());
    let decisions = play.decided();
    for (nth, decision) in decisions.iter().enumerate() {
        play.answer(6.0, decision.id, Answer::Applied, &[1]);
        let (task, id) = (decision.task, play.id);
        let copy =
            |state| AttemptFact { state: Some(state), started: Some(at(6.5)), ..AttemptFact::of(task.attempt(1)) };
        play.script.attempts(id, at(7.0), vec![copy(AttemptState::Running)]);
        if nth < 3 {
            let won = TaskFact {
                state: Some(TaskState::Succeeded),
                winner: Some(0),
                finished: Some(at(8.0)),
                ..TaskFact::of(task)
            };
            play.script.say(at(8.0), Fact::Tasks { job: id, complete: false, tasks: vec![won] });
            let first = AttemptFact {
                state: Some(AttemptState::Succeeded),
                finished: Some(at(8.0)),
                ..AttemptFact::of(task.attempt(0))
            };
            play.script.attempts(id, at(8.0), vec![first]);
        } else {
            play.script.attempts(id, at(8.0), vec![copy(AttemptState::Failed)]);
        }
    }
    let ends: Vec<_> = play.script.decide(at(8.0)).copies.iter().map(|end| end.end).collect();
    assert_eq!(ends, [CopyEnd::Lost, CopyEnd::Lost, CopyEnd::Lost, CopyEnd::Died]);
    play.script.decide(at(9.0));
    assert_eq!(play.verdict(13), Some(Verdict::CoolDown));
}

#[test]
fn copies_are_kept_off_a_host_on_which_they_came_to_nothing_until_it_has_rested() {
    let rest = Millis(8_000);
    let govern = GovernParams { node_futile_copies: 2, node_cool_down: rest, futile_copies: 100, ..acting().govern };
    let mut play = Play::new(EngineParams { govern, ..acting() });
    let decisions = play.decided();
    assert!(decisions.iter().all(|decision| decision.avoid == ["nm2"]), "{decisions:?}");
    let (ran, refused) = decisions.split_at(2);
    ran.iter().for_each(|decision| play.answer(6.0, decision.id, Answer::Applied, &[1]));
    refused.iter().for_each(|decision| play.answer(6.0, decision.id, Answer::NoHeadroom, &[]));
    let copies = |state| ran.iter().map(move |one| (one.task.index, 1, state, Some(6.5))).collect::<Vec<_>>();
    play.look(7.0, &copies(AttemptState::Running));
    let mut avoided = Vec::new();
    for second in 8..20 {
        let pass = play.look(second.into(), &copies(AttemptState::Failed));
        for decision in pass.decisions.iter().filter(|decision| refused.iter().any(|one| one.task == decision.task)) {
            play.answer(second.into(), decision.id, Answer::NoHeadroom, &[]);
            avoided.push((second, decision.avoid.join(" ")));
        }
    }
    let resting = |second: u32| if second < 16 { "nm2 nm3" } else { "nm2" };
    assert!(avoided.iter().all(|(second, avoid)| avoid == resting(*second)), "{avoided:?}");
    assert!(avoided.first().unwrap().0 < 16 && avoided.last().unwrap().0 >= 16, "{avoided:?}");
}

#[test]
fn a_policy_whose_copies_keep_losing_is_left_to_advice_and_acts_again_after_its_rest_or_an_operators_word() {
    let (least, rest) = (1, Millis(6_000));
    let govern = GovernParams { breaker_least: least, breaker_below: 0.9, breaker_rest: rest, ..acting().govern };
    for resumes in [false, true] {
        let mut play = Play::new(EngineParams { govern: govern.clone(), ..acting() });
        let decision = play.decided()[0].clone();
        play.answer(6.0, decision.id, Answer::Applied, &[1]);
        play.look(7.0, &[(decision.task.index, 1, AttemptState::Running, Some(6.5))]);
        assert!(play.script.engine.owns(play.id));
        let dead = [(decision.task.index, 1, AttemptState::Failed, Some(6.5))];
        let pass = play.look(8.0, &dead);
        let told = BreakerTurn { policy: "drover".into(), user: "alice".into(), open: true, won: 0, copies: 1 };
        assert_eq!((pass.copies[0].end, &pass.breakers), (CopyEnd::Died, &vec![told.clone()]));
        assert_eq!(play.script.engine.open_breakers(), [OpenBreaker { since: at(8.0), told: told.clone() }]);
        assert!(!play.script.engine.owns(play.id), "Hadoop's own speculator has the job");
        assert!(play.look(13.9, &dead).decisions.iter().all(|decision| decision.mode == Mode::Advise));
        if resumes {
            play.own(13.9, Fact::Lifted(Scope::Cluster));
        }
        let later = play.look(if resumes { 13.9 } else { 14.0 }, &dead);
        assert_eq!(later.breakers, [BreakerTurn { open: false, ..told }]);
        assert!(play.script.engine.owns(play.id) && play.script.engine.open_breakers().is_empty());
    }
}

#[test]
fn a_proposal_of_the_pass_in_which_its_policys_breaker_opens_is_only_advice() {
    let govern = GovernParams { breaker_least: 1, breaker_below: 0.9, node_copies: 1, ..acting().govern };
    let mut play = Play::new(EngineParams { govern, ..acting() });
    let decision = play.decided().remove(0);
    play.answer(6.0, decision.id, Answer::Applied, &[1]);
    play.look(7.0, &[(decision.task.index, 1, AttemptState::Running, Some(6.5))]);
    // An earlier job, which is looked at first, waits for the node's budget.
    let (own, other) = (play.id, "job_1795000000000_0000".parse().unwrap());
    play.script.open_job(other, MAPS, 0, at(7.0));
    play.script.say(at(7.0), Fact::ShimSession(other, true));
    play.script.say(at(7.0), Fact::Can(other, Capabilities { duplicate: true, ..Capabilities::default() }));
    for second in 7..10 {
        let (tasks, attempts) = equal_maps(other, MAPS, 4.0, &one_node_in_four, second.into(), 0);
        play.script.tasks(other, at(second.into()), tasks);
        play.script.attempts(other, at(second.into()), attempts);
        assert_eq!(play.script.decide(at(second.into())).decisions, []);
    }
    let seen = play.script.engine.candidates(other).iter().filter(|seen| seen.verdict == Verdict::NodeCap).count();
    assert_eq!(seen, 4);
    let needs = Fact::Needs { job: other, maps: 0, reduces: 0, native_copies: 0 };
    play.script.say(at(10.0), needs);
    play.id = own;
    let pass = play.look(10.0, &[(decision.task.index, 1, AttemptState::Failed, Some(6.5))]);
    assert!(pass.breakers.iter().any(|turn| turn.open));
    assert!(pass.decisions.iter().any(|decision| decision.job == other), "{:?}", pass.decisions);
    assert!(pass.decisions.iter().all(|decision| decision.mode == Mode::Advise));
}

#[test]
fn clones_that_lose_do_not_make_their_job_rest() {
    let govern =
        GovernParams { mode: Mode::Act, cluster_cap: 1.0, waiting_copies: 6, futile_copies: 2, ..Default::default() };
    let dolly = DollyParams { beta: 1.0, prior: 0.1, ..DollyParams::default() };
    let mut play = Play::new(EngineParams { policy: PolicyName::Dolly, dolly, govern, ..Default::default() });
    let asked = play.look(1.0, &[]).decisions;
    let of: Vec<_> = asked.iter().map(|decision| (decision.task.index, decision.copies)).collect();
    assert_eq!(of, [(0, 2), (1, 2), (2, 2)], "six copies may wait for a container");
    for decision in &asked {
        play.answer(1.2, decision.id, Answer::Applied, &[1, 2]);
    }
    let clones = |state| (0..3).flat_map(move |index| [(index, 1, state, Some(1.5)), (index, 2, state, Some(1.5))]);
    let running: Vec<_> = clones(AttemptState::Running).collect();
    let _ = play.look(2.0, &running);
    let killed = clones(AttemptState::Killed).filter(|clone| clone.0 != 1);
    let ended: Vec<_> = killed.chain(running.iter().copied().filter(|clone| clone.0 == 1)).collect();
    let pass = play.look(4.5, &ended);
    let lost: Vec<_> =
        pass.copies.iter().map(|end| (end.task.index, end.end)).filter(|(index, _)| *index < 3).collect();
    assert_eq!(lost, [(0, CopyEnd::Lost), (2, CopyEnd::Lost)]);
    assert!(pass.copies.iter().all(|end| !end.telling));
    assert!(pass.decisions.iter().any(|decision| decision.task.index == 9), "{:?}", play.verdict(9));
}

/// The end of the clones of the slow map, one of which has won at six seconds, its original having been killed then; both are told later.
fn slow_map_outrun(killed: f64, told: f64) -> CopyOutcome {
    let govern = GovernParams { mode: Mode::Act, cluster_cap: 1.0, waiting_copies: 6, ..Default::default() };
    let dolly = DollyParams { beta: 1.0, prior: 0.1, ..DollyParams::default() };
    let mut play = Play::new(EngineParams { policy: PolicyName::Dolly, dolly, govern, ..Default::default() });
    let asked = play.look(1.0, &[]).decisions.into_iter().find(|one| one.task.index == 1).unwrap();
    play.answer(1.2, asked.id, Answer::Applied, &[1, 2]);
    let _ = play.look(4.5, &[1, 2].map(|number| (1, number, AttemptState::Running, Some(1.5))));
    let (state, finished) = (Some(TaskState::Succeeded), Some(at(6.0)));
    let task = TaskFact { state, finished, winner: Some(1), ..TaskFact::of(asked.task) };
    let ended = |(number, state, second)| {
        let (state, finished) = (Some(state), Some(at(second)));
        AttemptFact { state, finished, ..AttemptFact::of(asked.task.attempt(number)) }
    };
    use AttemptState::{Killed, Succeeded};
    let attempts = [(0, Killed, killed), (1, Succeeded, 6.0), (2, Killed, 6.1)].map(ended);
    play.script.tasks(play.id, at(told), vec![task]);
    play.script.attempts(play.id, at(told), attempts.to_vec());
    let pass = play.script.decide(at(told));
    pass.copies.into_iter().find(|end| end.decision == asked.id).unwrap()
}

#[test]
fn of_a_clone_that_won_it_is_told_when_its_original_would_have_ended() {
    // Of forty seconds' work it had done six.
    for told in [6.2, 60.0] {
        let end = slow_map_outrun(6.1, told);
        assert_eq!((end.end, end.winner, end.at), (CopyEnd::Won, Some(1), at(6.0)));
        let outran = end.outran.unwrap();
        assert!((at(38.0)..=at(42.0)).contains(&outran.at), "told at {told}: {outran:?}");
        assert!(outran.spread > Millis(0), "{outran:?}");
    }
    let lost_before = slow_map_outrun(4.6, 6.2);
    assert_eq!((lost_before.end, lost_before.outran), (CopyEnd::Won, None), "no clone has outrun what was gone");
}
