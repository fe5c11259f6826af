//! Whether Drover acts at all: shims that can, holds, a service of higher epoch, news too old.

use super::*;

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
    for second in [0.2, 0.4, 0.6] {
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
fn a_job_stays_on_the_side_it_was_drawn_to_when_it_was_first_seen_whatever_is_set_later() {
    let with = |holdout| EngineParams { govern: GovernParams { holdout, ..acting().govern }, ..acting() };
    for (first, then) in [(0.0, 1.0), (1.0, 0.0)] {
        let mut play = Play::new(with(first));
        play.script.engine.set_params(with(then));
        play.script.engine = serde_json::from_str(&serde_json::to_string(&play.script.engine).unwrap()).unwrap();
        let younger = job_id(2);
        play.script.open_job(younger, MAPS, 0, at(1.0));
        play.script.say(at(1.0), Fact::Can(younger, Capabilities { duplicate: true, ..Capabilities::default() }));
        play.script.tasks(younger, at(1.0), equal_maps(younger, MAPS, 4.0, &one_node_in_four, 1.0, 0).0);
        play.look(1.0, &[]);
        assert_eq!(play.script.engine.owned(), [if first > then { younger } else { play.id }]);
    }
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
