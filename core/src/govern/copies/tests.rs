use super::*;
use crate::govern::flight::tests::{JOB, attempt, cluster, decision, flights, job, map, succeed};
use crate::govern::fortune::Fortune;
use crate::govern::in_flight::InFlight;
use crate::policy::Budget;
use AttemptState::{Killed, Running, Succeeded};

/// When an answer may no longer be on its way.
const LATE: Time = Time(18_000 + 5_000);

fn params() -> GovernParams {
    GovernParams { answer_grace: Millis(5_000), ..GovernParams::default() }
}

/// A job whose first map has run since the first second, and was last heard of then.
fn running(heard: Time) -> Job {
    let mut job = job();
    attempt(&mut job, map(0).attempt(0), Running, 1_000, 0);
    job.heard = heard;
    job
}

fn asked() -> Flights {
    flights_of(&running(Time(10_000)))
}

/// A copy of the first map, asked for in a job that knows of those attempts.
fn flights_of(job: &Job) -> Flights {
    let mut flights = Flights::default();
    flights.add(&decision(1, map(0), Mode::Act), Budget::Copies, job, 0);
    flights
}

fn answer(flights: &mut Flights, answer: Answer, attempts: &[u32]) {
    flights.answered(&AckFact { job: JOB, decision: 1, answer, attempts: attempts.to_vec() });
}

fn ends(flights: &mut Flights, job: &Job, now: Time) -> Vec<CopyEnd> {
    flights.follow(job, &params(), now).0.into_iter().map(|outcome| outcome.end).collect()
}

#[test]
fn a_copy_has_no_container_before_each_of_its_attempts_was_launched_or_ended() {
    let mut flights = asked();
    flights.sent(JOB, 1);
    let copy = flights.newest(map(0)).unwrap().asked.as_ref().unwrap();
    let mut job = running(Time(10_000));
    let is_unplaced = |job: &Job| copy.is_unplaced(job.task(map(0)));
    assert!(copy.is_unplaced(None) && is_unplaced(&job), "the original is no copy");
    attempt(&mut job, map(0).attempt(1), AttemptState::Starting, 0, 0);
    assert!(is_unplaced(&job));
    let mut ended = job.clone();
    attempt(&mut ended, map(0).attempt(1), Killed, 0, 0);
    assert!(!is_unplaced(&ended));
    attempt(&mut job, map(0).attempt(1), Running, 12_000, 0);
    assert!(!is_unplaced(&job));
    attempt(&mut job, map(0).attempt(2), AttemptState::Starting, 0, 0);
    assert!(is_unplaced(&job), "one of two");
    let mut named = asked();
    answer(&mut named, Answer::Applied, &[1, 2]);
    let mut seen = running(Time(10_000));
    attempt(&mut seen, map(0).attempt(1), Running, 12_000, 0);
    let copies = named.newest(map(0)).unwrap().asked.as_ref().unwrap();
    assert!(copies.is_unplaced(seen.task(map(0))), "the other is not seen yet");
    attempt(&mut seen, map(0).attempt(2), Running, 13_000, 0);
    assert!(!copies.is_unplaced(seen.task(map(0))));
}

#[test]
fn a_copy_that_nobody_saw_is_settled_once_its_answer_cannot_be_on_its_way_any_more() {
    let mut flights = asked();
    flights.sent(JOB, 1);
    assert_eq!(ends(&mut flights, &running(LATE), LATE), []);
    assert_eq!(ends(&mut flights, &running(LATE + Millis(1)), LATE), [CopyEnd::Unanswered]);
}

#[test]
fn a_copy_that_was_never_sent_is_settled_at_the_instant_that_was_named_though_nothing_is_heard() {
    let (mut flights, silent) = (asked(), running(Time(10_000)));
    let (before, named) = flights.follow(&silent, &params(), LATE - Millis(1));
    assert_eq!((before, named), (vec![], Some(LATE)));
    assert_eq!(ends(&mut flights, &silent, LATE), [CopyEnd::Unsent]);
    assert!(!flights.newest(map(0)).unwrap().counted, "its budget is given back");
}

#[test]
fn of_a_copy_that_was_sent_silence_tells_nothing_and_no_instant_is_named() {
    let (mut flights, silent) = (asked(), running(Time(10_000)));
    flights.sent(JOB, 1);
    for now in [Time(10_000), LATE, Time(900_000)] {
        assert_eq!(flights.follow(&silent, &params(), now), (vec![], None), "at {now:?}");
    }
}

#[test]
fn a_copy_that_was_applied_lasts_until_it_is_seen_to_end_however_late_that_is() {
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[]);
    let much_later = Time(900_000);
    assert_eq!(ends(&mut flights, &running(much_later), much_later), []);
    let mut job = running(much_later);
    attempt(&mut job, map(0).attempt(1), Killed, 20_000, 40_000);
    assert_eq!(ends(&mut flights, &job, much_later), [CopyEnd::Died]);
}

#[test]
fn a_copy_that_succeeded_is_not_taken_for_dead_while_its_task_is_still_told_to_run_and_wins_with_it() {
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    let much_later = Time(900_000);
    let mut job = running(much_later);
    attempt(&mut job, map(0).attempt(0), Killed, 1_000, 12_000);
    attempt(&mut job, map(0).attempt(1), Succeeded, 20_000, 40_000);
    assert_eq!(ends(&mut flights, &job, much_later), []);
    let mut taken_back = flights.clone();
    succeed(&mut job, map(0), Some(1), 40_000);
    assert_eq!(ends(&mut flights, &job, much_later), [CopyEnd::Won]);
    let mut job = running(much_later);
    attempt(&mut job, map(0).attempt(1), Killed, 20_000, 40_000);
    assert_eq!(ends(&mut taken_back, &job, much_later), [CopyEnd::Died], "its output was lost");
}

#[test]
fn a_copy_that_was_killed_before_its_launch_is_being_moved_until_that_word_is_late() {
    let mut job = running(LATE);
    attempt(&mut job, map(0).attempt(1), Killed, 0, 12_000);
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    assert_eq!(ends(&mut flights, &job, LATE), []);
    job.heard = LATE + Millis(1);
    assert_eq!(ends(&mut flights, &job, LATE), [CopyEnd::Died]);
}

#[test]
fn a_copy_whose_launch_crossed_the_kill_that_moves_it_is_not_taken_for_dead_before_its_new_number_can_be_told() {
    let (launched, killed) = (Time(30_000), Time(31_500));
    let mut job = running(killed + Millis(5_000));
    attempt(&mut job, map(0).attempt(1), Killed, launched.0, killed.0);
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    assert_eq!(ends(&mut flights, &job, job.heard), []);
    let mut unmoved = flights.clone();
    job.heard = job.heard + Millis(1);
    assert_eq!(ends(&mut unmoved, &job, job.heard), [CopyEnd::Died], "it was killed for good");
    answer(&mut flights, Answer::Moved, &[2]);
    attempt(&mut job, map(0).attempt(2), Running, 33_000, 0);
    assert_eq!(ends(&mut flights, &job, job.heard), []);
    succeed(&mut job, map(0), Some(2), 40_000);
    assert_eq!(ends(&mut flights, &job, job.heard), [CopyEnd::Won]);
}

#[test]
fn a_copy_that_ran_and_is_told_killed_without_a_time_may_be_moved_until_its_end_or_the_word_of_that_is_late() {
    let (launched, long) = (Time(30_000), Time(90_000));
    let mut job = running(launched + Millis(1_000));
    attempt(&mut job, map(0).attempt(1), Running, launched.0, 0);
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    assert_eq!(ends(&mut flights, &job, job.heard), []);
    attempt(&mut job, map(0).attempt(1), Killed, launched.0, 0);
    assert!(job.task(map(0)).unwrap().attempts.last().unwrap().was_launched());
    assert_eq!(ends(&mut flights, &job, job.heard), [], "its launch and the kill that moves it may have crossed");
    attempt(&mut job, map(0).attempt(1), Killed, launched.0, long.0);
    assert_eq!(ends(&mut flights, &job, job.heard), [CopyEnd::Died], "it had run for a minute");
}

#[test]
fn a_copy_that_was_moved_long_after_its_order_is_not_taken_for_dead_before_its_new_number_can_be_told() {
    let killed = LATE + Millis(9_000);
    let mut job = running(killed + Millis(5_000));
    attempt(&mut job, map(0).attempt(1), Killed, 0, killed.0);
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    assert_eq!(ends(&mut flights, &job, job.heard), []);
    job.heard = job.heard + Millis(1);
    assert_eq!(ends(&mut flights, &job, job.heard), [CopyEnd::Died]);
}

#[test]
fn an_earlier_word_on_a_copy_that_was_moved_changes_nothing_however_late_it_is_repeated() {
    let mut job = running(LATE);
    attempt(&mut job, map(0).attempt(1), Killed, 0, 12_000);
    attempt(&mut job, map(0).attempt(2), Running, 13_000, 0);
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    answer(&mut flights, Answer::Moved, &[2]);
    for (said, attempts) in [(Answer::Applied, &[1][..]), (Answer::NoHeadroom, &[]), (Answer::Moved, &[2])] {
        answer(&mut flights, said, attempts);
        let copy = flights.newest(map(0)).unwrap().asked.as_ref().unwrap();
        assert_eq!((copy.answer, &copy.attempts[..]), (Some(Answer::Moved), &[2][..]), "{said:?}");
        assert_eq!(ends(&mut flights, &job, LATE + Millis(1)), []);
    }
}

#[test]
fn what_the_next_am_was_not_asked_for_is_over_with_the_one_that_was() {
    for answered in [false, true] {
        let mut flights = asked();
        if answered {
            answer(&mut flights, Answer::Applied, &[1]);
        }
        let mut job = running(Time(12_000));
        assert_eq!(ends(&mut flights, &job, Time(12_000)), []);
        job.incarnation = 2;
        let end = if answered { CopyEnd::Died } else { CopyEnd::Unsent };
        assert_eq!(ends(&mut flights, &job, Time(12_000)), [end]);
    }
}

#[test]
fn copies_that_die_with_their_am_say_nothing_of_their_task_or_job() {
    let mut job = running(Time(12_000));
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    flights.task_mut(map(0)).for_each(|flight| flight.asked.as_mut().unwrap().tries = 2);
    job.incarnation = 2;
    let strict = GovernParams { futile_copies: 1, copies_per_task: 2, ..params() };
    let (outcomes, _) = flights.follow(&job, &strict, Time(12_000));
    assert_eq!(outcomes.iter().map(|one| one.end).collect::<Vec<_>>(), [CopyEnd::Died]);
    let asked = flights.newest(map(0)).unwrap().asked.as_ref().unwrap();
    assert_eq!((asked.tries, asked.again), (1, Some(Time(15_000))));
    assert_eq!(flights.bar_of_task(map(9), Mode::Act, Time(12_000)), None, "the job need not rest");
}

/// What became of a copy once its task has succeeded, as the task tells of a winner, or does not.
fn fate(winner: Option<u32>, copies: &[AttemptState], say: impl FnOnce(&mut Flights)) -> CopyEnd {
    let mut flights = asked();
    say(&mut flights);
    let mut job = running(Time(30_000));
    for (number, state) in (1..).zip(copies) {
        attempt(&mut job, map(0).attempt(number), *state, 12_000, 30_000);
    }
    succeed(&mut job, map(0), winner, 30_000);
    // Its end is told, too, where the job's comes first.
    let closed = flights.close_job(&job).pop().unwrap();
    let followed = flights.follow(&job, &params(), Time(30_000)).0.pop().unwrap();
    assert_eq!(closed.end, followed.end);
    followed.end
}

#[test]
fn a_copy_that_no_attempt_stands_for_was_refused_or_not_sent_or_not_answered_whoever_won() {
    for winner in [None, Some(0)] {
        let fate = |say: fn(&mut Flights)| fate(winner, &[], say);
        assert_eq!(fate(|_| ()), CopyEnd::Unsent);
        assert_eq!(fate(|flights| flights.sent(JOB, 1)), CopyEnd::Unanswered);
        assert_eq!(fate(|flights| answer(flights, Answer::Applied, &[1])), CopyEnd::Unanswered);
        assert_eq!(fate(|flights| answer(flights, Answer::TaskEnded, &[])), CopyEnd::Refused);
    }
}

#[test]
fn a_copy_won_where_it_is_the_winner_and_lost_where_another_is() {
    let sent = |winner, copies: &[AttemptState]| fate(winner, copies, |flights| flights.sent(JOB, 1));
    assert_eq!(sent(Some(1), &[Succeeded]), CopyEnd::Won);
    assert_eq!(sent(Some(0), &[Killed]), CopyEnd::Lost);
    assert_eq!(sent(None, &[Killed]), CopyEnd::Unknown);
    let one_of_two = |flights: &mut Flights| answer(flights, Answer::Applied, &[1]);
    assert_eq!(fate(Some(2), &[Killed, Succeeded], one_of_two), CopyEnd::Lost, "Hadoop's own is not ours");
}

#[test]
fn a_restart_whose_task_alone_names_its_attempt_as_the_winner_is_not_taken_for_unanswered() {
    for named in [vec![], vec![1]] {
        let mut flights = asked();
        answer(&mut flights, Answer::Applied, &named);
        let mut job = running(Time(30_000));
        attempt(&mut job, map(0).attempt(0), Killed, 1_000, 12_000);
        succeed(&mut job, map(0), Some(1), 30_000);
        for outcome in [flights.close_job(&job).remove(0), flights.follow(&job, &params(), Time(30_000)).0.remove(0)] {
            assert_eq!((outcome.end, &outcome.attempts[..], outcome.winner), (CopyEnd::Won, &[1][..], Some(1)));
        }
    }
    let mut job = running(Time(30_000));
    succeed(&mut job, map(0), Some(1), 30_000);
    let never_sent = asked().follow(&job, &params(), Time(30_000)).0.remove(0);
    assert_eq!((never_sent.end, never_sent.attempts), (CopyEnd::Unsent, vec![]), "it is Hadoop's own");
}

/// A copy was decided on, and before its order was sent the first attempt failed, and Hadoop began a second.
fn replaced_before_it_was_sent() -> (Flights, Job) {
    let mut job = running(Time(14_000));
    attempt(&mut job, map(0).attempt(0), AttemptState::Failed, 1_000, 11_000);
    attempt(&mut job, map(0).attempt(1), Running, 12_000, 0);
    (asked(), job)
}

#[test]
fn an_attempt_that_hadoop_began_anew_is_no_copy_of_an_order_that_was_never_sent_and_wins_nothing_for_it() {
    let (flights, mut job) = replaced_before_it_was_sent();
    let in_task = |flights: &Flights| flights.newest(map(0)).unwrap().asked.clone().unwrap();
    assert!(in_task(&flights).is_unplaced(job.task(map(0))));
    let mut goes_on = flights.clone();
    let (ends, next) = goes_on.follow(&job, &params(), Time(14_000));
    assert_eq!((ends, next), (vec![], Some(LATE)));
    assert!(!in_task(&goes_on).replaced, "it is the task's own, but not by that order");
    let (ends, _) = goes_on.follow(&job, &params(), LATE);
    assert_eq!(told(ends), [(1, CopyEnd::Unsent, vec![])]);
    assert_eq!(in_task(&goes_on).tries, 0, "the try is given back");
    attempt(&mut job, map(0).attempt(1), Succeeded, 12_000, 30_000);
    succeed(&mut job, map(0), Some(1), 30_000);
    for mut flights in [flights, goes_on] {
        let open = flights.in_cluster() > 0;
        let expected = Vec::from_iter(open.then_some((1, CopyEnd::Unsent, vec![])));
        assert_eq!(told(flights.close_job(&job)), expected);
        let (ends, _) = flights.follow(&job, &params(), Time(30_000));
        assert!(ends.iter().all(|end| end.cost == Millis(0)), "{ends:?}");
        assert_eq!(told(ends), expected);
    }
}

#[test]
fn an_order_that_was_sent_is_stood_for_by_what_is_seen_whether_it_was_answered_or_not() {
    let (mut flights, mut job) = replaced_before_it_was_sent();
    flights.sent(JOB, 1);
    attempt(&mut job, map(0).attempt(1), Succeeded, 12_000, 30_000);
    succeed(&mut job, map(0), Some(1), 30_000);
    assert_eq!(told(flights.close_job(&job)), [(1, CopyEnd::Won, vec![1])]);
}

#[test]
fn what_anothers_answer_has_named_is_no_copy_of_an_order_that_is_sent_only_afterwards() {
    let mut flights = asked();
    flights.sent(JOB, 1);
    let mut job = running(Time(24_000));
    attempt(&mut job, map(0).attempt(1), Running, 12_000, 0);
    flights.add(&Decision { live: 2, ..decision(2, map(0), Mode::Act) }, Budget::Copies, &job, 0);
    // What was seen was Hadoop's own.
    answer(&mut flights, Answer::Applied, &[2]);
    flights.sent(JOB, 2);
    attempt(&mut job, map(0).attempt(2), Succeeded, 25_000, 30_000);
    succeed(&mut job, map(0), Some(2), 30_000);
    assert_eq!(told(flights.close_job(&job)), [(1, CopyEnd::Won, vec![2]), (2, CopyEnd::Unanswered, vec![])]);
}

#[test]
fn it_is_looked_at_again_when_the_first_answer_is_late_and_for_none_that_already_is() {
    let mut both = asked();
    let later = Decision { deadline: Time(19_000), ..decision(2, map(1), Mode::Act) };
    both.add(&later, Budget::Copies, &job(), 0);
    let mut job = running(Time(10_000));
    attempt(&mut job, map(1).attempt(0), Running, 1_000, 0);
    let next = |now| both.clone().follow(&job, &params(), now).1;
    assert_eq!(next(Time(10_000)), Some(LATE));
    assert_eq!(next(LATE - Millis(1)), Some(LATE));
    assert_eq!(next(LATE), Some(LATE + Millis(1_000)));
    assert_eq!(next(LATE + Millis(1_000)), None);
}

/// Until when a job rests whose copies have ended so, one after the other, at forty seconds.
fn rests_until(ends: &[CopyEnd], futile_copies: u32) -> Option<Time> {
    let params = GovernParams { futile_copies, cool_down: Millis(60_000), ..params() };
    let mut flights = Flights::default();
    ends.iter().for_each(|end| flights.remember(&job(), [*end], &params, Time(40_000)));
    flights.fortunes.get(&JOB).map(|fortune| fortune.rests_until).filter(|until| *until > Time(0))
}

#[test]
fn a_job_rests_when_as_many_of_its_copies_in_a_row_as_are_futile_have_lost_or_died() {
    use CopyEnd::{Died, Lost, Refused, Unknown, Won};
    let rested = Some(Time(100_000));
    assert_eq!(rests_until(&[Lost, Died], 3), None);
    assert_eq!(rests_until(&[Lost, Died, Lost], 3), rested);
    assert_eq!(rests_until(&[Lost, Refused, Died, Unknown, Lost], 3), rested, "what never ran breaks no row");
    assert_eq!(rests_until(&[Refused; 9], 3), None);
    assert_eq!(rests_until(&[Lost, Lost, Won, Lost, Lost], 3), None);
    assert_eq!(rests_until(&[Lost, Lost, Lost, Lost], 4), rested);
    assert_eq!(rests_until(&[Lost; 99], 0), None, "no number is futile");
}

#[test]
fn a_job_whose_copies_lost_under_an_am_that_died_does_not_rest_under_the_next_nor_is_nearer_to_it() {
    let params = GovernParams { futile_copies: 2, ..params() };
    let mut flights = Flights::default();
    let under = |incarnation| {
        let mut job = job();
        job.incarnation = incarnation;
        job
    };
    let lose = |incarnation| {
        flights.outlive(&under(incarnation));
        flights.remember(&under(incarnation), [CopyEnd::Lost], &params, Time(40_000));
        flights.bar_of_job(JOB, Mode::Act, Time(40_000)).is_some()
    };
    assert_eq!([1, 2, 2, 3].map(lose), [false, false, true, false]);
}

#[test]
fn copies_that_die_make_a_job_rest_and_clones_that_do_not() {
    for (budget, rests) in [(Budget::Copies, true), (Budget::Clones, false)] {
        for ends_with_its_task in [false, true] {
            let mut job = running(Time(40_000));
            let mut flights = Flights::default();
            flights.add(&decision(1, map(0), Mode::Act), budget, &job, 0);
            flights.sent(JOB, 1);
            attempt(&mut job, map(0).attempt(1), Killed, 20_000, 40_000);
            if ends_with_its_task {
                succeed(&mut job, map(0), Some(0), 40_000);
            }
            flights.follow(&job, &GovernParams { futile_copies: 1, ..params() }, Time(40_000));
            let bar = flights.bar_of_task(map(9), Mode::Act, Time(40_000));
            assert_eq!(bar.is_some(), rests, "{budget:?} {ends_with_its_task}");
        }
    }
}

/// When a task whose copy took twenty seconds and has ended so, with that answer, at forty seconds may have another.
fn again(end: CopyEnd, answer: Option<Answer>, tries: u32, try_again: u64) -> Option<Time> {
    again_of(end, answer, tries, try_again, 2)
}

/// The same where a task may have so many copies in all.
fn again_of(end: CopyEnd, answer: Option<Answer>, tries: u32, try_again: u64, copies_per_task: u32) -> Option<Time> {
    let mut flight = flights(&[decision(1, map(0), Mode::Act)]).newest(map(0)).unwrap().clone();
    let asked = flight.asked.as_mut().unwrap();
    (asked.answer, asked.tries) = (answer, tries);
    let params = GovernParams { try_again: Millis(try_again), copies_per_task, ..params() };
    flight.close((end, false), None, &params, Time(40_000));
    assert!(!flight.counted);
    flight.asked.unwrap().again
}

#[test]
fn a_copy_that_died_is_followed_by_another_after_a_copys_time_and_by_no_more_than_a_task_may_have() {
    let died = |tries, try_again| again(CopyEnd::Died, Some(Answer::Applied), tries, try_again);
    assert_eq!(died(1, 3_000), Some(Time(60_000)));
    assert_eq!(died(1, 30_000), Some(Time(70_000)));
    assert_eq!(died(2, 3_000), None);
    let without_limit = |tries| again_of(CopyEnd::Died, Some(Answer::Applied), tries, 3_000, 0);
    assert_eq!([1, 99].map(without_limit), [Some(Time(43_000)); 2]);
}

#[test]
fn a_copy_that_never_ran_is_tried_again_soon_unless_the_answer_would_be_the_same() {
    assert_eq!(again(CopyEnd::Unsent, None, 1, 3_000), Some(Time(43_000)));
    assert_eq!(again(CopyEnd::Unanswered, None, 1, 3_000), Some(Time(43_000)));
    assert_eq!(again(CopyEnd::Refused, Some(Answer::NoHeadroom), 2, 3_000), Some(Time(43_000)));
    assert_eq!(again(CopyEnd::Refused, Some(Answer::UnknownTask), 1, 3_000), None);
}

/// When a map may be given something again that was asked for and refused so many times, at twenty seconds each time, in a job that becomes another after the last.
fn after_refusals(times: u64, change: impl FnOnce(&mut Job)) -> (Option<Time>, Flights) {
    let (mut flights, mut job) = (Flights::default(), running(Time(20_000)));
    for id in 1..=times {
        flights.add(&decision(id, map(0), Mode::Act), Budget::Copies, &job, 0);
        flights.answered(&AckFact { job: JOB, decision: id, answer: Answer::TooManyAttempts, attempts: vec![] });
        assert_eq!(ends(&mut flights, &job, Time(20_000)), [CopyEnd::Refused]);
    }
    change(&mut job);
    assert_eq!(flights.follow(&job, &params(), Time(21_000)), (vec![], None));
    (flights.newest(map(0)).unwrap().asked.as_ref().unwrap().again, flights)
}

#[test]
fn what_is_refused_again_and_again_waits_twice_as_long_each_time_until_the_tasks_attempts_change() {
    let waits = [1, 2, 3, 9].map(|times| after_refusals(times, |_| ()).0);
    assert_eq!(waits, [23_000, 26_000, 32_000, 80_000].map(|at| Some(Time(at))));
    let (moved, mut flights) = after_refusals(9, |job| attempt(job, map(0).attempt(1), Running, 20_500, 0));
    assert_eq!(moved, Some(Time(23_000)), "as after the first");
    flights.add(&decision(10, map(0), Mode::Act), Budget::Copies, &job(), 0);
    assert_eq!(flights.newest(map(0)).unwrap().asked.as_ref().unwrap().refusals, None, "it begins anew");
    let (progress, _) = after_refusals(9, |job| {
        let fact = AttemptFact { score: Some(0.5), ..AttemptFact::of(map(0).attempt(0)) };
        assert!(job.learn_attempt(&fact, None, Time(20_500), 1_000));
    });
    assert_eq!(progress, Some(Time(80_000)), "that it goes on says nothing");
}

#[test]
fn refusals_are_kept_while_other_orders_are_lost_and_end_with_an_attempt() {
    let (_, mut flights) = after_refusals(3, |_| ());
    let mut job = running(LATE);
    flights.add(&decision(4, map(0), Mode::Act), Budget::Copies, &job, 0);
    assert_eq!(ends(&mut flights, &job, LATE), [CopyEnd::Unsent]);
    let of = |flights: &Flights| flights.newest(map(0)).unwrap().asked.clone().unwrap();
    assert_eq!((of(&flights).refusals.is_some(), of(&flights).again), (true, Some(LATE + Millis(3_000))));
    attempt(&mut job, map(0).attempt(1), Killed, 12_000, 13_000);
    flights.follow(&job, &params(), LATE);
    assert_eq!(of(&flights).again, Some(LATE + Millis(3_000)), "it was no refusal that it waits for");
}

#[test]
fn a_restart_that_was_carried_out_counts_and_one_that_never_was_does_not() {
    let of = |died: bool| {
        let mut flights = Flights::default();
        for id in 1..=2 {
            let restart = Decision { action: Action::Restart, ..decision(id, map(0), Mode::Act) };
            flights.add(&restart, Budget::Copies, &running(Time(10_000)), 0);
            let end = if died { CopyEnd::Died } else { CopyEnd::Unsent };
            flights.close((map(0), id), (end, false), None, &params(), Time(20_000));
        }
        flights.newest(map(0)).unwrap().restarts()
    };
    assert_eq!((of(true), of(false)), (2, 0));
    let copied = flights_of(&running(Time(10_000)));
    assert_eq!(copied.newest(map(0)).unwrap().restarts(), 0, "a copy is none");
}

#[test]
fn a_restart_that_an_am_has_no_room_for_is_asked_for_no_more_while_the_tasks_attempts_stand_so_and_a_copy_may_be() {
    let restart = Decision { action: Action::Restart, ..decision(1, map(0), Mode::Act) };
    let (mut job, mut flights) = (running(Time(10_000)), Flights::default());
    flights.add(&restart, Budget::Copies, &job, 0);
    flights.answered(&AckFact { job: JOB, decision: 1, answer: Answer::NoHeadroom, attempts: Vec::new() });
    assert_eq!(ends(&mut flights, &job, Time(20_000)), [CopyEnd::Refused]);
    let restarts = |flights: &Flights| flights.newest(map(0)).unwrap().restarts();
    assert_eq!(restarts(&flights), u32::MAX);
    let mut copied = flights.clone();
    copied.add(&Decision { id: 2, action: Action::Duplicate, ..restart.clone() }, Budget::Copies, &job, 0);
    assert_eq!(restarts(&copied), 0, "it never was restarted");
    attempt(&mut job, map(0).attempt(1), Running, 20_500, 0);
    flights.follow(&job, &params(), Time(21_000));
    assert_eq!(restarts(&flights), 0, "there is another attempt now");
}

#[test]
fn a_task_that_its_am_has_restarted_more_often_than_is_known_here_gets_no_restart_any_more() {
    let mut flights = Flights::default();
    let restart = Decision { action: Action::Restart, ..decision(1, map(0), Mode::Act) };
    let job = running(Time(10_000));
    flights.add(&restart, Budget::Copies, &job, 0);
    flights.answered(&AckFact { job: JOB, decision: 1, answer: Answer::RestartsSpent, attempts: Vec::new() });
    flights.close((map(0), 1), (CopyEnd::Refused, false), None, &params(), Time(20_000));
    flights.add(&Decision { id: 2, ..restart }, Budget::Copies, &job, 0);
    assert!(flights.newest(map(0)).unwrap().restarts() >= 1_000);
}

/// A restart of a task whose first attempt is in that state, after which the second one runs: is it in flight, and what bars another? The instant is 20 s.
fn restarted(first: AttemptState, tries: u32, copies_per_task: u32) -> (bool, Option<Verdict>) {
    beside(Action::Restart, Budget::Copies, first, tries, copies_per_task)
}

/// The same of any action.
fn beside(
    action: Action,
    budget: Budget,
    first: AttemptState,
    tries: u32,
    copies_per_task: u32,
) -> (bool, Option<Verdict>) {
    let mut job = running(Time(10_000));
    let decision = Decision { action, ..decision(1, map(0), Mode::Act) };
    let mut flights = Flights::default();
    flights.add(&decision, budget, &job, 0);
    answer(&mut flights, Answer::Applied, &[1]);
    flights.task_mut(map(0)).for_each(|flight| flight.asked.as_mut().unwrap().tries = tries);
    attempt(&mut job, map(0).attempt(0), first, 1_000, if first.is_final() { 11_000 } else { 0 });
    attempt(&mut job, map(0).attempt(1), AttemptState::Running, 12_000, 0);
    let params = GovernParams { copies_per_task, ..params() };
    assert_eq!(flights.follow(&job, &params, Time(20_000)).0, [], "it is not over");
    let in_flight = flights.newest(map(0)).unwrap().is_in_flight();
    let counted = InFlight::count(&flights, &cluster([job.clone()]));
    let seen = [flights.in_cluster(), counted.cluster, counted.of_job(JOB, TaskKind::Map).all];
    assert_eq!(seen, [u32::from(in_flight); 3]);
    let bar = flights.bar_of_task(map(0), Mode::Act, Time(20_000));
    succeed(&mut job, map(0), Some(1), 30_000);
    assert_eq!(ends(&mut flights, &job, Time(30_000)), [CopyEnd::Won], "its end is told all the same");
    (in_flight, bar)
}

#[test]
fn a_restart_is_in_flight_until_its_new_attempt_runs_in_the_place_of_the_one_that_was_killed() {
    assert_eq!(restarted(AttemptState::Killed, 1, 2), (false, None));
    assert_eq!(restarted(AttemptState::Running, 1, 2), (true, Some(Verdict::CopyInFlight)));
}

#[test]
fn a_copy_whose_original_has_failed_is_the_tasks_own_and_may_be_helped_itself_and_a_clone_is_its_phases() {
    let copied = |budget, first| beside(Action::Duplicate, budget, first, 1, 2);
    assert_eq!(copied(Budget::Copies, AttemptState::Failed), (false, None));
    assert_eq!(copied(Budget::Copies, AttemptState::Running), (true, Some(Verdict::CopyInFlight)));
    assert!(copied(Budget::Clones, AttemptState::Failed).0);
}

#[test]
fn a_copy_whose_original_has_just_succeeded_is_neither_the_tasks_own_nor_dead_and_loses_with_the_task() {
    let mut flights = asked();
    answer(&mut flights, Answer::Applied, &[1]);
    let mut job = running(Time(31_000));
    attempt(&mut job, map(0).attempt(1), Running, 12_000, 0);
    attempt(&mut job, map(0).attempt(0), Succeeded, 1_000, 30_000);
    for copy in [Running, Killed] {
        attempt(&mut job, map(0).attempt(1), copy, 12_000, if copy == Killed { 32_000 } else { 0 });
        assert_eq!(ends(&mut flights, &job, Time(32_000)), [], "{copy:?}");
        assert!(flights.newest(map(0)).unwrap().is_in_flight(), "{copy:?}");
    }
    let (mut restarted, mut next) = (flights.clone(), job.clone());
    next.outlive(2);
    assert_eq!(ends(&mut restarted, &next, Time(32_000)), [CopyEnd::Died], "and nobody can tell of that win any more");
    let mut taken_back = flights.clone();
    let mut lost = job.clone();
    attempt(&mut lost, map(0).attempt(0), Killed, 1_000, 30_000);
    assert_eq!(ends(&mut taken_back, &lost, Time(32_000)), [CopyEnd::Died], "the original's output was lost");
    succeed(&mut job, map(0), Some(0), 30_000);
    assert_eq!(ends(&mut flights, &job, Time(32_000)), [CopyEnd::Lost]);
}

#[test]
fn what_succeeded_under_an_am_that_died_keeps_no_copy_of_the_next_from_being_the_tasks_own_or_dead() {
    let mut job = running(Time(10_000));
    attempt(&mut job, map(0).attempt(0), Succeeded, 1_000, 9_000);
    job.outlive(2);
    attempt(&mut job, map(0).attempt(1_000), Running, 11_000, 0);
    let mut flights = flights_of(&job);
    answer(&mut flights, Answer::Applied, &[1_001]);
    attempt(&mut job, map(0).attempt(1_000), AttemptState::Failed, 11_000, 13_000);
    attempt(&mut job, map(0).attempt(1_001), Running, 12_000, 0);
    assert_eq!(ends(&mut flights, &job, Time(14_000)), []);
    assert!(!flights.newest(map(0)).unwrap().is_in_flight());
    attempt(&mut job, map(0).attempt(1_001), AttemptState::Failed, 12_000, 15_000);
    assert_eq!(ends(&mut flights, &job, Time(16_000)), [CopyEnd::Died]);
}

#[test]
fn a_task_is_restarted_and_copied_no_more_often_than_it_may_be() {
    assert_eq!(restarted(AttemptState::Killed, 2, 2), (false, Some(Verdict::CoolDown)));
    assert_eq!(restarted(AttemptState::Killed, 2, 0), (false, None));
}

#[test]
fn a_copy_was_sent_once_its_own_order_was_and_not_for_another_of_its_task_nor_when_it_is_over() {
    let own = decision(1, map(0), Mode::Act);
    let mut flights = asked();
    assert!(!flights.was_sent(&own) && flights.awaits_answer(&own));
    flights.sent(JOB, 1);
    assert!(flights.was_sent(&own));
    let other = decision(2, map(0), Mode::Act);
    assert!(!flights.was_sent(&other) && !flights.awaits_answer(&other));
    assert_eq!(ends(&mut flights, &running(LATE + Millis(1)), LATE), [CopyEnd::Unanswered]);
    assert!(!flights.was_sent(&own) && !flights.awaits_answer(&own), "it is over");
}

#[test]
fn no_instant_that_has_come_is_named_for_a_copy_of_a_task_that_is_not_known() {
    // It would be looked at again at once, and without end.
    let next = |now| asked().follow(&job(), &params(), now);
    assert_eq!([LATE - Millis(1), LATE].map(next), [(vec![], Some(LATE)), (vec![], None)]);
}

/// Two copies of the first map were asked for, the second once the first one's attempt ran.
fn two_of(first: Option<&[u32]>) -> (Flights, Job) {
    let mut flights = asked();
    flights.sent(JOB, 1);
    first.into_iter().for_each(|attempts| answer(&mut flights, Answer::Applied, attempts));
    let mut job = running(Time(24_000));
    attempt(&mut job, map(0).attempt(1), Running, 12_000, 0);
    let second = Decision { live: 2, deadline: Time(32_000), ..decision(2, map(0), Mode::Act) };
    flights.add(&second, Budget::Copies, &job, 0);
    flights.sent(JOB, 2);
    (flights, job)
}

/// What is told of ends, by decision.
fn told(outcomes: Vec<CopyOutcome>) -> Vec<(u64, CopyEnd, Vec<u32>)> {
    outcomes.into_iter().map(|outcome| (outcome.decision, outcome.end, outcome.attempts)).collect()
}

fn second_answers(flights: &mut Flights, answer: Answer, attempts: &[u32]) {
    flights.answered(&AckFact { job: JOB, decision: 2, answer, attempts: attempts.to_vec() });
}

#[test]
fn each_of_a_tasks_copies_has_its_own_attempts_and_its_own_end_whichever_answers_are_lost() {
    use CopyEnd::{Lost, Won};
    for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
        let (mut flights, mut job) = two_of(first.then_some(&[1]));
        if second {
            second_answers(&mut flights, Answer::Applied, &[2]);
        }
        attempt(&mut job, map(0).attempt(2), Running, 25_000, 0);
        assert_eq!((ends(&mut flights, &job, Time(60_000)), flights.in_cluster()), (vec![], 2));
        attempt(&mut job, map(0).attempt(2), Succeeded, 25_000, 60_000);
        attempt(&mut job, map(0).attempt(1), Killed, 12_000, 60_000);
        succeed(&mut job, map(0), Some(2), 60_000);
        let expected = [(1, Lost, vec![1]), (2, Won, vec![2])];
        assert_eq!(told(flights.close_job(&job)), expected, "{first} {second}");
        assert_eq!(told(flights.follow(&job, &params(), Time(60_000)).0), expected, "{first} {second}");
        assert!(flights.of(map(0)).next().is_none() && flights.follow(&job, &params(), Time(60_000)).0.is_empty());
    }
}

#[test]
fn the_first_of_two_copies_does_not_live_on_in_the_second() {
    let (mut flights, mut job) = two_of(None);
    attempt(&mut job, map(0).attempt(2), Running, 25_000, 0);
    attempt(&mut job, map(0).attempt(1), Killed, 12_000, 30_000);
    assert_eq!(told(flights.follow(&job, &params(), Time(40_000)).0), [(1, CopyEnd::Died, vec![1])]);
    assert_eq!(flights.in_cluster(), 1);
    let bar = |flights: &Flights| flights.bar_of_task(map(0), Mode::Act, Time(40_000));
    assert_eq!(bar(&flights), Some(Verdict::CopyInFlight), "the second runs");
    attempt(&mut job, map(0).attempt(2), Killed, 25_000, 50_000);
    assert_eq!(told(flights.follow(&job, &params(), Time(50_000)).0), [(2, CopyEnd::Died, vec![2])]);
    assert_eq!((bar(&flights), flights.in_cluster()), (Some(Verdict::CoolDown), 0));
}

#[test]
fn what_the_firsts_answer_names_however_late_is_none_of_the_seconds() {
    // What was taken for the first was Hadoop's own, and the first was slow to be seen.
    let (mut flights, mut job) = two_of(None);
    attempt(&mut job, map(0).attempt(2), Running, 25_000, 0);
    attempt(&mut job, map(0).attempt(3), Running, 26_000, 0);
    answer(&mut flights, Answer::Applied, &[2]);
    attempt(&mut job, map(0).attempt(3), Killed, 26_000, 32_000);
    assert_eq!(told(flights.follow(&job, &params(), Time(40_000)).0), [(2, CopyEnd::Died, vec![3])]);
    answer(&mut flights, Answer::Applied, &[2]);
    attempt(&mut job, map(0).attempt(2), Killed, 25_000, 41_000);
    assert_eq!(told(flights.follow(&job, &params(), Time(42_000)).0), [(1, CopyEnd::Died, vec![2])]);
}

#[test]
fn a_second_copy_that_is_refused_leaves_the_first_in_flight_and_counts_for_nothing() {
    let (mut flights, job) = two_of(Some(&[1]));
    second_answers(&mut flights, Answer::TooManyAttempts, &[]);
    assert_eq!(told(flights.follow(&job, &params(), Time(24_000)).0), [(2, CopyEnd::Refused, vec![])]);
    assert_eq!(flights.in_cluster(), 1);
    assert!(flights.was_sent(&decision(1, map(0), Mode::Act)));
    let third = Decision { live: 2, ..decision(3, map(0), Mode::Act) };
    flights.add(&third, Budget::Copies, &job, 0);
    let of: Vec<_> = flights.of(map(0)).map(|flight| flight.decision).collect();
    assert_eq!(of, [1, 3], "it takes the place of the one that is over");
    assert_eq!(flights.newest(map(0)).unwrap().asked.as_ref().unwrap().tries, 2, "the refused one was none");
}

#[test]
fn a_task_of_whose_copies_one_won_has_lost_none_in_a_row() {
    for winner in [1, 2] {
        let (mut flights, mut job) = two_of(Some(&[1]));
        second_answers(&mut flights, Answer::Applied, &[2]);
        for number in [1, 2] {
            let state = if number == winner { Succeeded } else { Killed };
            attempt(&mut job, map(0).attempt(number), state, 25_000, 60_000);
        }
        succeed(&mut job, map(0), Some(winner), 60_000);
        flights.follow(&job, &GovernParams { futile_copies: 1, ..params() }, Time(60_000));
        assert_eq!(flights.fortunes.get(&JOB), Some(&Fortune { incarnation: 1, ..Fortune::default() }), "{winner}");
    }
}

#[test]
fn written_and_read_again_both_copies_of_a_task_are_there_and_one_alone_is_written_as_ever() {
    let (both, _) = two_of(None);
    let read: Flights = serde_json::from_str(&serde_json::to_string(&both).unwrap()).unwrap();
    assert_eq!((read.in_cluster(), read == both), (2, true));
    let told = serde_json::to_value(asked()).unwrap();
    let [pair] = told["by_task"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert_eq!(pair[1]["decision"], 1);
    assert!(pair[1]["asked"].get("newest_own").is_none() && pair[1]["asked"].get("others").is_none());
}

#[test]
fn the_end_of_a_restart_tells_how_many_it_made_of_its_task_and_the_hosts_that_were_named_for_it() {
    let host = Names::default().intern("nm2").unwrap();
    let told = |action, mode| {
        let mut flights = Flights::default();
        let decision = Decision { action, restarts: 1, ..decision(1, map(0), mode) };
        flights.add(&decision, Budget::Copies, &running(Time(10_000)), 0);
        flights.name_hosts(&decision, [vec![host], Vec::new()]);
        let named = flights.newest(map(0)).unwrap().named.clone();
        let end = flights.follow(&running(LATE), &params(), LATE).0.pop();
        (named[0].len(), end.map(|end| (end.restart, end.named[0].clone())))
    };
    assert_eq!(told(Action::Restart, Mode::Act), (1, Some((Some(2), vec![host]))));
    assert_eq!(told(Action::Duplicate, Mode::Act), (1, Some((None, vec![host]))));
    assert_eq!(told(Action::Restart, Mode::Advise), (0, None), "no attempt will stand for it");
}
