//! Copies that are asked for: what is decided, what holds budget, how lost words are made good.

use crate::common::*;
use drover_core::engine::{EngineParams, Pass};
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{DollyParams, PolicyName};

const MAPS: u32 = 16;

fn acting() -> EngineParams {
    EngineParams { govern: GovernParams { mode: Mode::Act, ..Default::default() }, ..Default::default() }
}

fn one_node_in_four(index: u32) -> f64 {
    if index % 4 == 1 { 10.0 } else { 1.0 }
}

/// A job of equal maps with a shim that can duplicate, one node in four slow.
struct Play {
    script: Script,
    id: JobId,
}

impl Play {
    fn new(params: EngineParams) -> Play {
        let (mut script, id) = (Script::new(params), job_id(1));
        script.open_job(id, MAPS, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
        script.say(at(0.0), Fact::Can(id, Capabilities { duplicate: true, ..Capabilities::default() }));
        Play { script, id }
    }

    fn own(&mut self, second: f64, fact: Fact) {
        let app = fact.job().map(|job| job.0);
        let seen = self.script.observation(Channel::Own, app, at(second), fact);
        self.script.engine.observe(&seen).unwrap();
    }

    /// What is to be seen of the originals, and of copies: (task, number, state, launch).
    fn look(&mut self, second: f64, copies: &[(u32, u32, AttemptState, Option<f64>)]) -> Pass {
        let (tasks, mut attempts) = equal_maps(self.id, MAPS, 4.0, &one_node_in_four, second, 0);
        for (index, number, state, started) in copies {
            let id = self.id.task(TaskKind::Map, *index).attempt(*number);
            let host = started.map(|_| "nm3".to_owned());
            let started = started.map(at);
            let finished = state.is_final().then_some(at(second));
            attempts.push(AttemptFact { state: Some(*state), started, finished, host, ..AttemptFact::of(id) });
        }
        self.script.tasks(self.id, at(second), tasks);
        self.script.attempts(self.id, at(second), attempts);
        self.script.decide(at(second))
    }

    /// Plays to the first decisions.
    fn decided(&mut self) -> Vec<Decision> {
        (0..10).map(|second| self.look(second.into(), &[]).decisions).find(|found| !found.is_empty()).unwrap()
    }

    fn answer(&mut self, second: f64, decision: u64, answer: Answer, attempts: &[u32]) {
        let ack = AckFact { job: self.id, decision, answer, attempts: attempts.to_vec() };
        self.own(second, Fact::Acked(ack));
    }

    fn verdict(&self, index: u32) -> Option<Verdict> {
        let task = self.id.task(TaskKind::Map, index);
        self.script.engine.candidates(self.id).into_iter().find(|c| c.attempt.task == task).map(|c| c.verdict)
    }
}

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
fn without_a_shim_that_can_nothing_is_done_but_said() {
    let mut play = Play::new(acting());
    let id = play.id;
    play.script.say(at(0.0), Fact::Can(id, Capabilities::default()));
    assert!(play.decided().iter().all(|decision| decision.mode == Mode::Advise));
    assert!(!play.script.engine.owns(id));
}

#[test]
fn while_the_resource_manager_is_silent_nothing_is_started_and_the_jobs_are_hadoops() {
    let params = GovernParams { stale_after: Millis(5_000), mode: Mode::Act, ..Default::default() };
    let mut play = Play::new(EngineParams { govern: params, ..Default::default() });
    let decided = |play: &mut Play, second: f64| {
        let (tasks, attempts) = equal_maps(play.id, MAPS, 4.0, &one_node_in_four, second, 0);
        play.script.tasks(play.id, at(second), tasks);
        play.script.attempts(play.id, at(second), attempts);
        play.script.decide_alone(at(second)).decisions.len()
    };
    for second in [1.0, 2.0, 3.0] {
        decided(&mut play, second);
        assert!(play.script.engine.owns(play.id));
    }
    assert_eq!(decided(&mut play, 9.0), 0);
    assert_eq!(play.verdict(1), Some(Verdict::StaleData));
    assert!(!play.script.engine.owns(play.id));
    assert!(!play.look(10.0, &[]).decisions.is_empty(), "it speaks again");
    assert!(play.script.engine.owns(play.id));
}

#[test]
fn only_jobs_that_a_copy_may_be_started_in_are_taken_from_hadoops_own_speculator() {
    let owned = |change: &dyn Fn(&mut JobSettings)| {
        let mut play = Play::new(acting());
        let mut settings = play.script.engine.cluster().job(play.id).unwrap().settings.clone().unwrap();
        change(&mut settings);
        play.script.say(at(0.0), Fact::Settings(play.id, settings));
        play.look(1.0, &[]);
        play.script.engine.owned()
    };
    assert_eq!(owned(&|_| ()), [job_id(1)]);
    assert_eq!(owned(&|settings| (settings.map_speculation, settings.reduce_speculation) = (false, false)), []);
}

#[test]
fn a_lost_session_takes_the_means_along_and_a_newer_am_must_say_anew_what_it_can() {
    let mut play = Play::new(acting());
    let id = play.id;
    play.look(1.0, &[]);
    assert!(play.script.engine.owns(id));
    play.script.say(at(2.0), Fact::ShimSession(id, false));
    assert!(!play.script.engine.owns(id));
    play.script.say(at(3.0), Fact::ShimSession(id, true));
    assert!(!play.script.engine.owns(id), "a session alone proves nothing");
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
fn a_hold_makes_it_advice_hands_the_job_back_and_ends_by_itself() {
    let mut play = Play::new(acting());
    let id = play.id;
    let hold = Hold {
        scope: Scope::User("alice".into()),
        reason: "looking into it".into(),
        by: "operator".into(),
        since: at(0.0),
        until: Some(at(12.0)),
    };
    play.own(0.0, Fact::Held(hold));
    assert!(play.decided().iter().all(|decision| decision.mode == Mode::Advise));
    assert!(!play.script.engine.owns(id));
    let after = play.look(12.0, &[]);
    assert!(play.script.engine.owns(id));
    assert!(
        !after.decisions.is_empty() && after.decisions.iter().all(|decision| decision.mode == Mode::Act),
        "{after:?}"
    );
}

#[test]
fn a_service_with_a_higher_epoch_leaves_this_one_to_advice() {
    let mut play = Play::new(acting());
    play.own(0.0, Fact::Rival(Some(7)));
    assert!(play.decided().iter().all(|decision| decision.mode == Mode::Advise));
    play.own(9.0, Fact::Rival(None));
    play.look(9.0, &[]);
    assert!(play.script.engine.owns(play.id));
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

/// An AM that answers, loses words and ends copies as the dice fall.
struct Chance<'a> {
    dice: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    /// Copies that exist: task, number, state, launch.
    copies: Vec<(u32, u32, AttemptState, Option<f64>)>,
    /// Answers on their way: when they arrive, decision, answer, attempts.
    answers: Vec<(f64, u64, Answer, Vec<u32>)>,
}

impl Chance<'_> {
    fn roll(&mut self, sides: u8) -> u8 {
        self.dice.next().map_or(0, |die| die % sides)
    }

    /// What the shim does with a decision: it may never hear of it, refuse it, or add a copy, and its answer may come late or never.
    fn ask(&mut self, second: f64, decision: &Decision) {
        let index = decision.task.index;
        let unended = 1 + self.copies.iter().filter(|copy| copy.0 == index && !copy.2.is_final()).count();
        let (answer, attempts) = match self.roll(6) {
            0 => return,
            1 => (Answer::NoHeadroom, vec![]),
            _ if unended as u32 > decision.live => (Answer::TooManyAttempts, vec![]),
            _ => {
                let number = 1 + self.copies.iter().filter(|copy| copy.0 == index).count() as u32;
                self.copies.push((index, number, AttemptState::Starting, None));
                (Answer::Applied, vec![number])
            }
        };
        if self.roll(4) > 0 {
            let late = f64::from(self.roll(5));
            self.answers.push((second + late, decision.id, answer, attempts));
        }
    }

    fn turn(&mut self, second: f64) {
        for nth in 0..self.copies.len() {
            let fate = self.roll(8);
            let copy = &mut self.copies[nth];
            match (copy.2, fate) {
                (AttemptState::Starting, 0..4) => (copy.2, copy.3) = (AttemptState::Running, Some(second)),
                (AttemptState::Running, 0) => copy.2 = AttemptState::Failed,
                _ => {}
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(proptest::prelude::ProptestConfig::default().cases / 2))]

    #[test]
    fn whatever_words_are_lost_no_task_has_more_attempts_than_were_decided_and_every_decision_has_one_end(
        dice in proptest::collection::vec(proptest::prelude::any::<u8>(), 1..200),
        node in 1u32..9,
        minute in 1u32..30,
    ) {
        let govern = GovernParams { node_copies: node, copies_per_minute: Some(minute), ..acting().govern };
        let mut play = Play::new(EngineParams { govern, ..acting() });
        let mut chance = Chance { dice: dice.iter().cycle(), copies: Vec::new(), answers: Vec::new() };
        let (mut decided, mut ended) = (std::collections::BTreeMap::new(), Vec::new());
        let mut from_node = std::collections::BTreeMap::new();
        for second in 0..44 {
            let second = f64::from(second);
            chance.turn(second);
            let (due, later) = chance.answers.drain(..).partition(|(at, ..)| *at <= second);
            chance.answers = later;
            let due: Vec<(f64, u64, Answer, Vec<u32>)> = due;
            for (_, decision, answer, attempts) in due {
                play.answer(second, decision, answer, &attempts);
            }
            let pass = play.look(second, &chance.copies);
            ended.extend(pass.copies.iter().map(|end| end.decision));
            proptest::prop_assert!(play.script.engine.copies_in_flight() <= 8, "half of 16 tasks");
            for decision in &pass.decisions {
                let unended = chance.copies.iter().filter(|c| c.0 == decision.task.index && !c.2.is_final()).count();
                proptest::prop_assert_eq!(unended, 0, "{:?} has a copy that has not ended", decision.task);
                decided.insert(decision.id, decision.task);
                from_node.insert(decision.id, decision.host.clone());
                chance.ask(second, decision);
            }
            for end in &pass.copies {
                from_node.remove(&end.decision);
            }
            for host in from_node.values() {
                let in_flight = from_node.values().filter(|other| *other == host).count();
                proptest::prop_assert!(in_flight <= node as usize, "{in_flight} for attempts on {host:?}");
            }
            proptest::prop_assert!(decided.len() <= minute as usize, "{} within 44 s", decided.len());
        }
        let end = EndFact {
            job: play.id,
            state: Some(JobPhase::Succeeded),
            started: Some(at(0.0)),
            finished: Some(at(44.0)),
            attempts: vec![],
        };
        play.script.say(at(45.0), Fact::Ended(end));
        ended.extend(play.script.decide(at(45.0)).copies.iter().map(|end| end.decision));
        ended.sort_unstable();
        proptest::prop_assert_eq!(ended, decided.into_keys().collect::<Vec<_>>());
    }
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
        let told = BreakerTurn { policy: "late".into(), user: "alice".into(), open: true, won: 0, copies: 1 };
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
        let dolly = DollyParams { beta: 1.0, ..DollyParams::default() };
        let mut play = Play::new(EngineParams { policy: PolicyName::Dolly, dolly, govern, ..Default::default() });
        let decisions = play.look(1.0, &[]).decisions;
        decisions.iter().map(|decision| (decision.task.index, decision.copies)).collect::<Vec<_>>()
    };
    assert_eq!(asked(None), [(0, 2), (1, 2), (2, 2)]);
    assert_eq!(asked(Some(5)), [(0, 2), (1, 2)], "all of a task's or none");
}

#[test]
fn clones_that_lose_do_not_make_their_job_rest() {
    let govern =
        GovernParams { mode: Mode::Act, cluster_cap: 1.0, waiting_copies: 6, futile_copies: 2, ..Default::default() };
    let dolly = DollyParams { beta: 1.0, ..DollyParams::default() };
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
