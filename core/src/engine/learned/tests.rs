//! Breakers, and hosts at rest, outlast the engine that learned of them; and what was kept in this form is still read.

use super::super::EngineParams;
use super::*;
use crate::estimate::Estimator;
use crate::estimate::calibration::Point;
use crate::estimate::odds::Idle;
use crate::govern::breaker::tests::outcome;
use crate::model::*;
use crate::policy::PolicyName;

const HOUR: u64 = 3_600_000;

fn lost(job: u32) -> CopyOutcome {
    CopyOutcome { policy: "drover".into(), ..outcome(job, CopyEnd::Lost) }
}

/// An engine that has heard of these hosts in this order.
fn engine(hosts: &[&str]) -> Engine {
    let mut params = EngineParams { policy: PolicyName::Drover, ..EngineParams::default() };
    params.govern.mode = Mode::Act;
    let mut engine = Engine::new(params);
    hosts.iter().for_each(|host| _ = engine.cluster.hosts.intern(host));
    engine
}

/// Twenty-five copies of ada's have been lost on the second host.
fn loser() -> Engine {
    let mut engine = engine(&["n1", "n2"]);
    let host = engine.cluster.hosts.find("n2").unwrap();
    for job in 0..25 {
        let params = engine.params.govern.clone();
        engine.breakers.count(&lost(job), "ada", &params, Time(HOUR));
        engine.node_rests.count(&lost(job), "ada", &[host], Time(HOUR));
    }
    engine
}

/// Another engine that goes on from it then, through what is kept.
fn resumed(from: &Engine, now: Time) -> Engine {
    let mut engine = engine(&["n9", "n2", "n3"]);
    for room in Room::ALL {
        let kept = serde_json::to_string(&from.learned(room)).unwrap();
        engine.resume(serde_json::from_str(&kept).unwrap(), now);
    }
    engine
}

fn mode_of(engine: &Engine, user: &str) -> Mode {
    let mut job = Job::new(JobId(AppId { cluster: 2, seq: 1 }));
    job.user = user.to_owned();
    job.can.duplicate = true;
    engine.mode_of(&job)
}

#[test]
fn a_policy_whose_copies_kept_losing_still_only_advises_for_that_user_until_it_has_rested() {
    let before = loser();
    assert_eq!([mode_of(&before, "ada"), mode_of(&before, "bob")], [Mode::Advise, Mode::Act]);
    let rest = before.params.govern.breaker_rest.0;
    let mut after = resumed(&before, Time(HOUR + rest - 1));
    assert_eq!([mode_of(&after, "ada"), mode_of(&after, "bob")], [Mode::Advise, Mode::Act]);
    assert_eq!(after.open_breakers(), before.open_breakers());
    assert_eq!(after.known().breakers, 1);
    let pass = after.decide(Time(HOUR + rest - 1));
    assert_eq!((pass.breakers, pass.next), (vec![], Some(Time(HOUR + rest))), "that it opened was told before");
    let closed = after.decide(Time(HOUR + rest)).breakers;
    assert!(matches!(&closed[..], [turn] if !turn.open && turn.user == "ada"), "{closed:?}");
    assert_eq!(mode_of(&after, "ada"), Mode::Act);
}

#[test]
fn one_that_has_rested_meanwhile_acts_and_is_said_to() {
    let rest = loser().params.govern.breaker_rest.0;
    let mut after = resumed(&loser(), Time(HOUR + rest));
    assert_eq!((mode_of(&after, "ada"), after.known().breakers), (Mode::Act, 0));
    assert_eq!(after.decide(Time(HOUR + rest)).breakers.len(), 1);
}

#[test]
fn hosts_rest_on_under_their_names_for_what_is_left_of_their_time() {
    let before = loser();
    let cool_down = before.params.govern.node_cool_down.0;
    let resting = |engine: &Engine, user: &str| {
        let hosts = engine.node_rests.resting(user, &engine.params.govern);
        hosts.map(|host| engine.cluster.hosts.name(host).to_owned()).collect::<Vec<_>>()
    };
    let after = resumed(&before, Time(HOUR + cool_down - 1));
    assert_eq!([resting(&after, "ada"), resting(&after, "bob")], [vec!["n2".to_owned()], vec![]]);
    assert_eq!(after.known().rests, 1);
    assert_eq!(resting(&resumed(&before, Time(HOUR + cool_down)), "ada"), Vec::<String>::new());
}

#[test]
fn a_clock_that_was_set_back_a_little_makes_no_rest_longer() {
    let before = loser();
    let (breaker, host) = (before.params.govern.breaker_rest, before.params.govern.node_cool_down);
    let mut after = resumed(&before, Time(HOUR - 60_000));
    assert_eq!((after.known().breakers, after.known().rests), (1, 1));
    after.decide(Time(HOUR - 60_000) + breaker.max(host));
    assert_eq!((after.known().breakers, after.known().rests), (0, 0));
}

#[test]
fn what_is_kept_names_its_room() {
    for room in Room::ALL {
        assert_eq!(loser().learned(room).room(), room);
        let kept = serde_json::to_value(loser().learned(room)).unwrap();
        assert_eq!(kept.as_object().unwrap().keys().collect::<Vec<_>>(), [room.label()]);
    }
}

/// A change that reads these no more, or otherwise, is another format: [`LEARNED_FORMAT`].
#[test]
fn what_was_kept_in_this_form_is_read_and_kept_as_it_was() {
    let mut fresh = engine(&[]);
    let forms = include_str!("forms.jsonl");
    for (room, form) in Room::ALL.into_iter().zip(forms.lines()) {
        let learned: Learned = serde_json::from_str(form).unwrap();
        assert_eq!(learned.room(), room);
        fresh.resume(learned, Time(2 * HOUR));
        assert_eq!(serde_json::to_string(&fresh.learned(room)).unwrap(), form);
    }
    let known = fresh.known();
    assert_eq!((forms.lines().count(), LEARNED_FORMAT), (Room::ALL.len(), 1));
    assert!(
        [known.tasks, known.machines, known.predictions, known.kinds, known.breakers, known.rests]
            .iter()
            .all(|one| *one > 0),
        "{known:?}"
    );
}

#[test]
fn words_that_stand_in_what_is_kept_are_the_same_as_when_its_form_was_numbered() {
    assert_eq!(
        [
            serde_json::to_string(&Estimator::ALL).unwrap(),
            serde_json::to_string(&Point::ALL).unwrap(),
            serde_json::to_string(&TaskKind::ALL).unwrap(),
            serde_json::to_string(&[Idle::Nothing, Idle::Zero]).unwrap(),
        ],
        [
            r#"["late","phase-aware","hadoop-legacy","hadoop-smoothed","hadoop-simple-exponential","mantri"]"#,
            r#"["quarter","half","three_quarters"]"#,
            r#"["map","reduce"]"#,
            r#"["nothing","zero"]"#,
        ],
        "another word, or one fewer, is another LEARNED_FORMAT"
    );
}
