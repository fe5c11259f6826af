//! Jobs that an earlier process left open.

use super::*;

fn end_of(seq: u32) -> impl Fn(&Call) -> bool {
    move |call| matches!(call, Call::End { job: id, .. } if *id == job(seq))
}

fn is_end(call: &Call) -> bool {
    matches!(call, Call::End { .. })
}

/// Lists what runs so many times, every three seconds, and beside that what is left open, until its end is told.
fn watch(sim: &mut Sim, times: u32, running: &[AppSeen], left: &mut Vec<JobId>, answer: impl Fn(Call) -> Outcome) {
    for _ in 0..times {
        sim.schedule.apps(running, &Knows::default(), sim.now);
        sim.schedule.left(left, running, sim.now);
        sim.run(3, |call| {
            let outcome = answer(call);
            let is_told = matches!(outcome, Outcome::Done | Outcome::DoneByRm | Outcome::Told(_));
            // A last try is told by whoever answers.
            if let Call::End { job, of } = call
                && (is_told || of != EndTry::History && outcome != Outcome::StillRuns)
            {
                left.retain(|id| *id != job);
            }
            outcome
        });
    }
}

#[test]
fn of_jobs_left_open_the_ends_of_those_that_run_no_more_are_read_once_and_the_others_watched_to_their_end() {
    let (mut sim, mut left) = (Sim::new(0), vec![job(3), job(2), job(1)]);
    watch(&mut sim, 3, &apps(1), &mut left, fine);
    assert_eq!([1, 2, 3].map(|seq| sim.count(end_of(seq))), [0, 1, 1]);
    assert!(sim.count(|call| *call == Call::Tasks(job(1))) > 2);
    assert_eq!((sim.schedule.counts(), left.len()), ((1, 0), 1));
    watch(&mut sim, 3, &[], &mut left, |_| Outcome::Done);
    assert_eq!([1, 2, 3].map(|seq| sim.count(end_of(seq))), [1, 1, 1]);
    assert!(left.is_empty());
}

#[test]
fn a_job_left_open_that_turns_out_to_run_is_watched() {
    let (mut sim, mut left) = (Sim::new(0), vec![job(1)]);
    watch(&mut sim, 1, &[], &mut left, |call| if is_end(&call) { Outcome::StillRuns } else { Outcome::Told(10) });
    watch(&mut sim, 3, &apps(1), &mut left, fine);
    assert_eq!((sim.count(is_end), sim.schedule.counts()), (1, (1, 0)));
    assert!(sim.count(|call| *call == Call::Tasks(job(1))) > 2);
}

/// A schedule in which the ends of so many jobs wait, which were watched, and then of hundreds that were left open.
fn beside(watched: u32) -> (Schedule, Vec<JobId>) {
    let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
    let left: Vec<_> = (1_000..1_500).rev().map(job).collect();
    schedule.apps(&apps(watched), &Knows::default(), Time(0));
    schedule.apps(&[], &Knows::default(), Time(0));
    (0..3).for_each(|_| schedule.left(&left, &[], Time(0)));
    (schedule, left)
}

#[test]
fn hundreds_left_open_take_few_places_and_each_is_read_with_the_attempts_of_its_tasks() {
    let (schedule, left) = beside(1);
    assert_eq!(schedule.counts(), (5, 5));
    let newest = &left[..4];
    assert!(newest.iter().all(|id| schedule.ending().contains(id)));
    let most = ScheduleParams::default().history_tasks;
    assert_eq!((schedule.end_tasks(newest[0]), schedule.end_tasks(job(1))), (most / 4, most / 2));
    let (mut sim, mut left) = (Sim::new(0), left);
    watch(&mut sim, 150, &[], &mut left, |_| Outcome::Done);
    assert_eq!((left.len(), sim.count(is_end)), (0, 500));
}

#[test]
fn while_ends_of_jobs_that_were_watched_wait_none_is_begun_of_those_left_open() {
    let (schedule, _) = beside(100);
    assert_eq!(schedule.counts(), (100, 100));
}

/// History is silent about all jobs but one.
fn silent_but_of(seq: u32) -> impl Fn(Call) -> Outcome {
    move |call| match call {
        Call::End { job: id, of: EndTry::History } if id != job(seq) => Outcome::NoHistory,
        Call::End { of: EndTry::Last, .. } => Outcome::DoneByRm,
        _ => Outcome::Done,
    }
}

#[test]
fn jobs_left_open_that_history_is_silent_about_do_not_keep_the_end_of_one_that_was_watched_from_being_read() {
    let (mut sim, mut left) = (Sim::new(0), vec![job(2), job(1)]);
    watch(&mut sim, 40, &[app(5, Some(1))], &mut left, silent_but_of(5));
    assert_eq!(left.len(), 2);
    watch(&mut sim, 60, &[], &mut left, silent_but_of(5));
    let of = |(_, call): &(Time, Call)| matches!(call, Call::End { job: id, of: EndTry::History } if *id == job(5));
    assert_eq!((sim.count(end_of(5)), sim.log.iter().filter(|one| of(one)).count()), (1, 1));
}

#[test]
fn a_job_left_open_has_its_three_minutes_from_when_history_is_back() {
    let (mut sim, mut left) = (Sim::new(0), vec![job(1)]);
    watch(&mut sim, 200, &[], &mut left, silent_but_of(5));
    watch(&mut sim, 40, &[], &mut left, without_history);
    assert_eq!(sim.count(|call| matches!(call, Call::End { of: EndTry::Last, .. })), 0);
    watch(&mut sim, 200, &[], &mut left, without_history);
    assert!(left.is_empty());
}

#[test]
fn history_that_never_comes_of_a_job_left_open_is_given_up_after_a_last_try_as_any_other() {
    let (mut sim, mut left) = (Sim::new(0), vec![job(1)]);
    watch(&mut sim, 130, &[], &mut left, without_history);
    let ends: Vec<_> = sim.log.iter().filter(|(_, call)| is_end(call)).collect();
    assert!((5..=12).contains(&ends.len()), "{}", ends.len());
    assert!(matches!(ends.last(), Some((at, Call::End { of: EndTry::Last, .. })) if *at >= Time(180_000)));
    assert_eq!((left.len(), sim.schedule.counts()), (0, (0, 0)));
}

#[test]
fn jobs_left_open_wait_an_hour_for_a_history_server_that_is_down_and_all_are_read_once_it_is_back() {
    let down = |call: Call| match call {
        Call::End { of: EndTry::Rm, .. } => Outcome::Done,
        Call::End { of: EndTry::Last, .. } => Outcome::DoneByRm,
        Call::End { .. } => Outcome::NoHistory,
        _ => Outcome::Done,
    };
    let (mut sim, mut left) = (Sim::new(0), (1..=20).map(job).collect());
    watch(&mut sim, 1_100, &[], &mut left, down);
    let asked = sim.count(is_end);
    assert!((50..=90).contains(&asked), "{asked} times in 55 minutes");
    assert_eq!((left.len(), sim.schedule.counts()), (20, (4, 4)));
    watch(&mut sim, 200, &[], &mut left, down);
    assert_eq!(left.len(), 16, "the ResourceManager's word has to do");
    watch(&mut sim, 50, &[], &mut left, |_| Outcome::Done);
    assert!(left.is_empty());
}
