use super::*;
use crate::govern::flight::tests::{JOB, attempt, changed, decision, flights, job, map};
use crate::govern::fortune::Fortune;
use crate::model::{AckFact, Answer, AttemptState, Decision, Millis, Numbers};
use AttemptState::{CommitPending, Killed, Running, Starting};

#[test]
fn a_job_that_rests_gets_no_copy_before_it_has_and_may_be_advised_on() {
    let mut flights = flights(&[]);
    flights.fortunes.insert(JOB, Fortune { rests_until: Time(50_000), ..Fortune::default() });
    let bar = |mode, now| flights.bar_of_task(map(0), mode, Time(now));
    assert_eq!(bar(Mode::Act, 49_999), Some(Verdict::CoolDown));
    assert_eq!(bar(Mode::Act, 50_000), None);
    assert_eq!(bar(Mode::Advise, 49_999), None);
}

#[test]
fn a_task_gets_no_other_copy_before_it_may_try_again_nor_ever_where_it_may_not() {
    let mut flights = flights(&[decision(1, map(0), Mode::Act)]);
    assert_eq!(flights.bar_of_task(map(0), Mode::Act, Time(90_000)), Some(Verdict::CopyInFlight));
    let mut over = |again, now| {
        changed(&mut flights, map(0), |flight| {
            flight.counted = false;
            flight.asked.as_mut().unwrap().again = again;
        });
        flights.bar_of_task(map(0), Mode::Act, Time(now))
    };
    assert_eq!(over(Some(Time(50_000)), 49_999), Some(Verdict::CoolDown));
    assert_eq!(over(Some(Time(50_000)), 50_000), None);
    assert_eq!(over(None, u64::MAX), Some(Verdict::CoolDown));
}

#[test]
fn what_was_only_advised_says_nothing_against_doing_it_and_is_not_advised_twice() {
    let mut flights = flights(&[decision(1, map(0), Mode::Advise)]);
    let bars = |flights: &Flights| [Mode::Act, Mode::Advise].map(|mode| flights.bar_of_task(map(0), mode, Time(0)));
    assert_eq!(bars(&flights), [None, Some(Verdict::CopyInFlight)]);
    changed(&mut flights, map(0), |flight| flight.counted = false);
    assert_eq!(bars(&flights), [None, Some(Verdict::AlreadyAdvised)]);
}

const GRACE: Millis = Millis(5_000);
/// Nothing that was asked for by the first decision can start any more, and no answer to it is on its way.
const LATE: Time = Time(18_000 + 5_000 + 1);

fn unlimited() -> GovernParams {
    GovernParams { answer_grace: GRACE, copies_per_task: 0, ..GovernParams::default() }
}

/// One more copy of the first map, weighed against so many attempts.
pub fn proposed(weighed: u32) -> Judged {
    let task = map(0);
    Judged {
        task,
        verdict: Verdict::Decided,
        action: Action::Duplicate,
        copies: 1,
        budget: Budget::Copies,
        attempt: task.attempt(0),
        rule: None,
        numbers: Numbers::default(),
        rank: 0.0,
        recheck: None,
        early: false,
        weighed,
    }
}

/// The first map, last heard of then, with these attempts.
fn seen(heard: Time, states: &[AttemptState]) -> Job {
    let mut job = job();
    (0..).zip(states).for_each(|(number, state)| attempt(&mut job, map(0).attempt(number), *state, 1_000, 0));
    job.heard = heard;
    job
}

/// A copy of the first map was asked for beside its first attempt, sent, and answered with these numbers, if at all.
fn copied(answer: Option<&[u32]>) -> Flights {
    let mut flights = Flights::default();
    flights.add(&decision(1, map(0), Mode::Act), Budget::Copies, &seen(Time(10_000), &[Running]), 0);
    flights.sent(JOB, 1);
    if let Some(attempts) = answer {
        let ack = AckFact { job: JOB, decision: 1, answer: Answer::Applied, attempts: attempts.to_vec() };
        flights.answered(&ack);
    }
    flights
}

fn joins(flights: &Flights, job: &Job, judged: &Judged) -> bool {
    flights.may_join(judged, job, &unlimited(), Mode::Act, Time(50_000))
}

#[test]
fn a_copy_joins_another_only_where_each_attempt_was_weighed() {
    let job = seen(Time(12_000), &[Running, Running]);
    let flights = copied(Some(&[1]));
    assert_eq!([0, 1, 2].map(|weighed| joins(&flights, &job, &proposed(weighed))), [false, false, true]);
    assert!(
        joins(&flights, &job, &Judged { action: Action::Restart, ..proposed(2) }),
        "line 6 asks how often, not whether it was before"
    );
    for other in [
        Judged { action: Action::Withdraw, ..proposed(2) },
        Judged { budget: Budget::Clones, ..proposed(2) },
        Judged { verdict: Verdict::NoGain, ..proposed(2) },
    ] {
        assert!(!joins(&flights, &job, &other), "{other:?}");
    }
    let waits = seen(Time(12_000), &[Running, Running, Starting]);
    assert!(!joins(&flights, &waits, &proposed(2)), "one waits for its container");
    assert!(joins(&copied(Some(&[1])), &seen(Time(12_000), &[Killed, Running]), &proposed(1)), "it runs alone");
}

#[test]
fn a_copy_joins_none_where_copies_come_one_after_the_other_nor_in_advice() {
    let (flights, job) = (copied(Some(&[1])), seen(Time(12_000), &[Running, Running]));
    let may = |params: &GovernParams, mode| flights.may_join(&proposed(2), &job, params, mode, Time(50_000));
    assert_eq!([Mode::Act, Mode::Advise].map(|mode| may(&unlimited(), mode)), [true, false]);
    assert!(!may(&GovernParams::default(), Mode::Act), "unless it is said, more copies than before");
    assert!(!may(&GovernParams { copies_per_task: 8, ..unlimited() }, Mode::Act));
    assert!(may(&GovernParams::paper(), Mode::Act));
}

#[test]
fn a_copy_joins_another_once_that_runs_and_its_attempt_is_named_or_no_other_can_come() {
    let two = |heard| seen(heard, &[Running, Running]);
    let may = |flights: &Flights, job: &Job| joins(flights, job, &proposed(2));
    let early = Time(12_000);
    assert!(may(&copied(Some(&[1])), &two(early)));
    assert!(!may(&copied(Some(&[2])), &two(early)), "the answer names one that is not seen");
    assert!(!may(&copied(Some(&[])), &two(early)) && may(&copied(Some(&[])), &two(LATE)), "it names none");
    assert!(!may(&copied(None), &two(LATE - Millis(1))) && may(&copied(None), &two(LATE)));
    let moving = seen(early, &[Running, Killed, Running]);
    assert!(!may(&copied(Some(&[1])), &moving), "it is being moved");
    assert!(may(&copied(Some(&[2])), &moving));
    assert!(may(&copied(Some(&[1])), &seen(early, &[Running, CommitPending])), "that is the policy's to say");
}

#[test]
fn a_copy_joins_no_clone_and_what_was_only_advised_says_nothing() {
    let job = seen(Time(12_000), &[Running, Running]);
    let mut clone = copied(Some(&[1]));
    changed(&mut clone, map(0), |flight| flight.clones = true);
    assert!(!joins(&clone, &job, &proposed(2)));
    assert!(joins(&flights(&[decision(1, map(0), Mode::Advise)]), &job, &proposed(2)));
}

#[test]
fn a_copy_joins_another_when_the_task_may_try_again_after_one_that_came_to_nothing_and_its_job_does_not_rest() {
    let job = seen(Time(12_000), &[Running, Running]);
    let mut both = copied(Some(&[1]));
    both.add(&Decision { live: 2, ..decision(2, map(0), Mode::Act) }, Budget::Copies, &job, 0);
    assert!(!joins(&both, &job, &proposed(2)), "the second may be on its way");
    let mut refused = |again| {
        changed(&mut both, map(0), |flight| {
            flight.counted = false;
            flight.asked.as_mut().unwrap().again = again;
        });
        joins(&both, &job, &proposed(2))
    };
    assert_eq!([None, Some(Time(50_001)), Some(Time(50_000))].map(&mut refused), [false, false, true]);
    both.fortunes.insert(JOB, Fortune { rests_until: Time(50_001), ..Fortune::default() });
    assert!(!joins(&both, &job, &proposed(2)));
}
