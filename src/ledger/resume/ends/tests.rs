use crate::ledger::fixture::{decision, kept};
use crate::ledger::schema::Record;
use crate::ledger::tables::{AnswerRow, DecisionRow, OutcomeRow, SentRow};
use crate::ledger::{Left, left};
use AttemptState::{Failed, Killed, Succeeded};
use drover_core::model::{AttemptFact, AttemptState, EndFact, JobPhase, Millis, TaskId, Time};

/// An attempt's state, launch and end, seconds of the ApplicationMaster's clock; their numbers count from 0, which is the slow one. It was decided on at 110, for 118 at the latest, and was
/// predicted to end at 170.
type Seen = (AttemptState, f64, f64);

/// An action as its rows tell of it.
struct Action {
    word: &'static str,
    sent: bool,
    /// The answer, and the attempts that it names.
    answer: Option<(&'static str, &'static str)>,
}

const fn restart(sent: bool, answer: Option<(&'static str, &'static str)>) -> Action {
    Action { word: "restart", sent, answer }
}

const fn copy(sent: bool, answer: Option<(&'static str, &'static str)>) -> Action {
    Action { word: "duplicate", sent, answer }
}

/// Acknowledged over REST.
const RESTARTED: Action = restart(true, Some(("applied", "")));

/// What is told of it when its job is known to have ended in that state, with these attempts of its task.
fn told(action: &Action, state: JobPhase, seen: &[Seen]) -> OutcomeRow {
    // The ApplicationMaster's clock is 100 s ahead.
    let (at_ms, am_at_ms, deadline_ms) = (Time(10_000), Time(110_000), Time(18_000));
    let like = DecisionRow { at_ms, am_at_ms, deadline_ms, action: action.word.into(), ..decision(7, "act") };
    let like = DecisionRow { time_left_ms: Some(Millis(60_000)), ..like };
    let task: TaskId = like.task.parse().unwrap();
    let mut rows = vec![like.row()];
    rows.extend(action.sent.then(|| SentRow { at_ms, incarnation: "p".into(), decision: 7 }.row()));
    rows.extend(action.answer.map(|(answer, attempts)| {
        let (answer, attempts) = (answer.into(), attempts.into());
        AnswerRow { at_ms, incarnation: "p".into(), decision: 7, answer, attempts }.row()
    }));
    let time = |second: f64| Some(Time((second * 1_000.0) as u64));
    let fact = |(number, (state, started, finished)): (u32, &Seen)| AttemptFact {
        state: Some(*state),
        host: Some(format!("nm{number}").into()),
        started: time(*started),
        finished: time(*finished),
        ..AttemptFact::of(task.attempt(number))
    };
    let attempts = (0..).zip(seen).map(fact).collect();
    let end = EndFact { job: task.job, state: Some(state), started: time(50.0), finished: time(150.0), attempts };
    let (_dir, path) = kept(&rows);
    let Left { actions, jobs, .. } = left(&path, Time(200_000)).unwrap();
    let (job, hosts) = jobs[0].ended(&end);
    actions[0].outcome(&job, &hosts, Time(60_000))
}

/// Of a job that succeeded the end, and the attempts that stood for the action.
fn end(action: &Action, seen: &[Seen]) -> (String, String) {
    let row = told(action, JobPhase::Succeeded, seen);
    (row.end, row.attempts)
}

fn told_as(end: &str, attempts: &str) -> (String, String) {
    (end.into(), attempts.into())
}

const WON: Seen = (Succeeded, 113.0, 140.0);
const ORIGINAL_WON: Seen = (Succeeded, 100.0, 140.0);
const RESTARTED_AT_112: Seen = (Killed, 100.0, 112.0);

#[test]
fn a_restart_over_rest_that_won_is_told_so_though_its_answer_names_no_attempt() {
    let row = told(&RESTARTED, JobPhase::Succeeded, &[RESTARTED_AT_112, WON]);
    assert_eq!((row.outcome.as_str(), row.attempts.as_str(), row.hosts.as_str()), ("won", "1", "nm1"));
    assert_eq!((row.gained_ms, row.winner_container_ms), (Some(30_000), Some(Millis(27_000))));
}

#[test]
fn what_stands_for_a_restart_is_what_came_in_the_killed_attempts_place_and_no_other_attempt() {
    let of = |seen: &[Seen]| end(&RESTARTED, &[&[RESTARTED_AT_112], seen].concat());
    assert_eq!(of(&[(Failed, 101.0, 105.0), WON]), told_as("won", "2"), "a copy had failed before");
    assert_eq!(of(&[(Killed, 112.5, 112.5), WON]), told_as("won", "2"), "one was moved before it ran");
    assert_eq!(of(&[(Killed, 113.0, 140.0), (Succeeded, 120.0, 140.0)]), told_as("won", "1 2"), "a copy of it won");
    let again = [(Killed, 113.0, 120.0), (Succeeded, 121.0, 140.0)];
    assert_eq!(of(&again), told_as("died", "1"), "the next restart is another's");
    assert_eq!(of(&[(Failed, 113.0, 120.0), (Succeeded, 121.0, 140.0)]), told_as("died", "1"));
}

#[test]
fn a_restart_whose_kill_came_too_late_is_moot_and_of_a_job_that_was_killed_nobody_can_tell() {
    assert_eq!(end(&RESTARTED, &[ORIGINAL_WON]), told_as("unanswered", ""));
    assert_eq!(end(&RESTARTED, &[(Failed, 100.0, 112.0), WON]), told_as("unknown", ""), "nobody killed it");
    assert_eq!(told(&RESTARTED, JobPhase::Killed, &[RESTARTED_AT_112]).end, "unknown");
    assert_eq!(told(&RESTARTED, JobPhase::Killed, &[RESTARTED_AT_112, (Killed, 113.0, 140.0)]).end, "unknown");
}

#[test]
fn a_restart_whose_answer_was_lost_won_only_where_the_slow_attempt_was_killed_in_time() {
    let lost = restart(true, None);
    assert_eq!(end(&lost, &[RESTARTED_AT_112, WON]), told_as("won", "1"));
    assert_eq!(end(&lost, &[(Killed, 100.0, 118.0), (Succeeded, 118.0, 140.0)]), told_as("won", "1"));
    assert_eq!(end(&lost, &[(Killed, 100.0, 118.1), (Succeeded, 119.0, 140.0)]), told_as("unknown", ""), "too late");
    assert_eq!(end(&lost, &[(Killed, 100.0, 140.0), WON]), told_as("unknown", ""), "Hadoop's own copy won");
}

#[test]
fn an_order_whose_answer_was_lost_is_moot_where_no_newer_attempt_is_seen_and_else_of_a_copy_nobody_can_tell() {
    for (action, word) in [(restart(true, None), "unanswered"), (copy(true, None), "unanswered")] {
        let row = told(&action, JobPhase::Succeeded, &[ORIGINAL_WON]);
        assert_eq!((row.outcome.as_str(), row.end.as_str(), row.prediction_error_ms), ("moot", word, None));
        assert_eq!(told(&action, JobPhase::Killed, &[(Killed, 100.0, 140.0)]).end, word);
    }
    assert_eq!(end(&copy(true, None), &[(Killed, 100.0, 140.0), WON]), told_as("unknown", ""), "it may be Hadoop's");
    let row = told(&copy(true, None), JobPhase::Succeeded, &[ORIGINAL_WON, (Killed, 113.0, 140.0)]);
    assert_eq!((row.end.as_str(), row.container_ms, row.prediction_error_ms), ("unknown", Millis(0), None));
}

#[test]
fn an_order_that_was_never_sent_is_moot_unless_a_newer_attempt_is_seen_as_the_word_of_it_may_be_lost() {
    for action in [restart(false, None), copy(false, None)] {
        let row = told(&action, JobPhase::Succeeded, &[ORIGINAL_WON]);
        assert_eq!((row.outcome.as_str(), row.end.as_str()), ("moot", "unsent"));
        assert_eq!(end(&action, &[RESTARTED_AT_112, WON]), told_as("unknown", ""));
    }
}

#[test]
fn nothing_is_said_of_an_action_whose_tasks_attempts_were_not_read_to_their_end() {
    for action in [RESTARTED, restart(true, None), copy(false, None)] {
        assert_eq!(end(&action, &[]), told_as("unknown", ""));
        assert_eq!(told(&action, JobPhase::Killed, &[(AttemptState::Running, 100.0, 0.0)]).end, "unknown");
    }
}

#[test]
fn a_copy_that_failed_or_was_killed_while_its_original_went_on_and_won_has_failed_and_tells_of_no_error() {
    let one = copy(true, Some(("applied", "1")));
    for gone in [(Failed, 113.0, 120.0), (Failed, 113.0, 139.9), (Killed, 113.0, 120.0), (Killed, 113.0, 139.0)] {
        let row = told(&one, JobPhase::Succeeded, &[ORIGINAL_WON, gone]);
        assert_eq!(
            (row.outcome.as_str(), row.end.as_str(), row.attempts.as_str()),
            ("failed", "died", "1"),
            "{gone:?}"
        );
        assert_eq!((row.prediction_error_ms, row.winner), (None, Some(0)));
    }
    for killed in [139.1, 140.0, 141.0] {
        let row = told(&one, JobPhase::Succeeded, &[ORIGINAL_WON, (Killed, 113.0, killed)]);
        assert_eq!(
            (row.outcome.as_str(), row.prediction_error_ms),
            ("lost", Some(30_000)),
            "killed for the other's sake"
        );
    }
    let two = copy(true, Some(("applied", "1 2")));
    let seen = [ORIGINAL_WON, (Failed, 113.0, 120.0), (Killed, 113.0, 140.0)];
    assert_eq!(end(&two, &seen), told_as("lost", "1 2"), "one went on to the end");
}

#[test]
fn of_a_job_that_was_killed_a_copy_has_failed_where_it_failed_and_not_where_it_was_killed_with_the_job() {
    let (one, original) = (copy(true, Some(("applied", "1"))), (Killed, 100.0, 148.0));
    for (state, word) in [(Failed, "died"), (Killed, "unknown")] {
        assert_eq!(told(&one, JobPhase::Killed, &[original, (state, 113.0, 120.0)]).end, word);
    }
}

#[test]
fn a_copy_that_was_killed_before_it_ran_may_have_won_by_what_it_was_moved_to_so_it_has_not_lost() {
    let one = copy(true, Some(("applied", "1")));
    let (slow, moved, later) = ((Killed, 100.0, 140.0), (Killed, 112.0, 112.0), (Succeeded, 114.0, 140.0));
    assert_eq!(end(&one, &[slow, moved, later]), told_as("unknown", "1"));
    let named = copy(true, Some(("moved", "2")));
    assert_eq!(end(&named, &[slow, moved, later]), told_as("won", "2"));
    assert_eq!(end(&one, &[ORIGINAL_WON, moved]), told_as("died", "1"));
}

#[test]
fn what_was_refused_is_told_so_whatever_its_tasks_attempts_show() {
    let refused = restart(true, Some(("too_far", "")));
    for seen in [&[][..], &[ORIGINAL_WON], &[RESTARTED_AT_112, WON]] {
        assert_eq!(end(&refused, seen), told_as("refused", ""));
    }
}
