//! Masters that run anew, an RM that is silent, jobs that end.

use super::*;

#[test]
fn after_an_error_the_run_of_the_master_is_made_sure_of_before_anything_is_believed() {
    let mut sim = Sim::new(1);
    let mut failed = false;
    sim.run(20, |call| match call {
        Call::Tasks(_) if !std::mem::replace(&mut failed, true) => Outcome::Failed,
        Call::Master(_) => Outcome::Told(2),
        _ => Outcome::Told(10),
    });
    let calls: Vec<_> = sim.log.iter().map(|(_, call)| *call).collect();
    let first = calls.iter().position(|c| matches!(c, Call::Tasks(_))).unwrap();
    let next = calls[first + 1..].iter().find(|c| c.job().is_some()).unwrap();
    assert!(matches!(next, Call::Master(_)), "{next:?}");
    assert_eq!(sim.schedule.attempt(job(1)), Some(2));
}

#[test]
fn a_listing_that_tells_a_new_run_of_the_master_has_its_summary_read_again() {
    let mut sim = Sim::new(1);
    sim.run(10, fine);
    assert_eq!(sim.count(|c| matches!(c, Call::Summary(_))), 1);
    sim.schedule.apps(&[app(1, Some(2))], &Knows::default(), sim.now);
    sim.run(10, fine);
    assert_eq!(sim.schedule.attempt(job(1)), Some(2));
    assert_eq!(sim.count(|c| matches!(c, Call::Summary(_))), 2);
    sim.schedule.apps(&[app(1, Some(1))], &Knows::default(), sim.now);
    assert_eq!(sim.schedule.attempt(job(1)), Some(2), "a stale listing does not bring back an old run");
}

#[test]
fn with_no_resource_manager_only_the_listing_is_asked_for_with_growing_pauses_until_it_answers() {
    let mut sim = Sim::new(50);
    sim.run(5, fine);
    sim.log.clear();
    let down = |_| Outcome::RmDown;
    sim.run(4, down);
    sim.log.clear();
    sim.run(300, down);
    let after = &sim.log;
    assert!(after.iter().all(|(_, call)| *call == Call::Apps), "{after:?}");
    assert!(after.len() < 14, "{}", after.len());
    sim.log.clear();
    sim.run(90, fine);
    let back = sim.log.iter().position(|(_, call)| *call == Call::Apps).unwrap();
    assert_eq!(back, 0, "the listing comes first");
    assert!(sim.count(|c| matches!(c, Call::Tasks(_))) > 50);
}

#[test]
fn one_connection_that_fails_stops_no_other_call_and_the_listing_tells_soon_whether_it_is_the_resource_manager() {
    let mut sim = Sim::new(50);
    // Its listing takes so long that it is asked for every 24 seconds.
    sim.took = |call| if *call == Call::Apps { Millis(6_000) } else { Millis(20) };
    sim.run(5, fine);
    sim.log.clear();
    let mut fails = 1;
    sim.run(4, |call| match call {
        Call::Tasks(_) if std::mem::take(&mut fails) > 0 => Outcome::RmDown,
        _ => Outcome::Told(10),
    });
    assert!(!sim.schedule.is_rm_down());
    assert!(sim.count(|call| matches!(call, Call::Tasks(_))) > 20);
    assert_eq!(sim.count(|call| *call == Call::Apps), 1);
    sim.run(8, |call| if call == Call::Apps { Outcome::RmDown } else { Outcome::Told(10) });
    assert!(!sim.schedule.is_rm_down(), "it was not asked again, as nothing failed");
    sim.run(8, |_| Outcome::RmDown);
    assert!(sim.schedule.is_rm_down());
}

#[test]
fn a_master_that_asks_for_pauses_of_no_length_is_asked_no_more_often_than_one_that_answers() {
    let calls = |outcome| {
        let mut sim = Sim::new(1);
        sim.run(60, |call| if matches!(call, Call::Tasks(_)) { outcome } else { fine(call) });
        sim.count(|call| matches!(call, Call::Tasks(_)))
    };
    let (answers, pauses) = (calls(Outcome::Told(10)), calls(Outcome::Paused(Millis(0))));
    assert!((1..=answers + 2).contains(&pauses), "{pauses} and {answers}");
}

#[test]
fn a_job_gone_from_the_listing_is_read_from_history_and_one_that_comes_back_is_watched_again() {
    let mut sim = Sim::new(2);
    sim.run(5, fine);
    sim.schedule.apps(&[app(1, Some(1))], &Knows::default(), sim.now);
    sim.log.clear();
    sim.run(2, |call| if matches!(call, Call::End { .. }) { Outcome::Failed } else { Outcome::Told(10) });
    assert!(sim.count(|c| matches!(c, Call::End { job: id, of: EndTry::History } if *id == job(2))) >= 1);
    assert_eq!(sim.count(|c| matches!(c, Call::Tasks(id) if *id == job(2))), 0);
    sim.schedule.apps(&apps(2), &Knows::default(), sim.now);
    sim.log.clear();
    sim.run(20, fine);
    assert!(sim.count(|c| matches!(c, Call::Tasks(id) if *id == job(2))) > 3);
    assert_eq!(sim.count(|c| matches!(c, Call::End { .. })), 0);
}

#[test]
fn a_job_that_only_its_shim_told_of_has_its_end_read_and_one_that_runs_is_watched() {
    let mut sim = Sim::new(1);
    sim.run(1, fine);
    let end_of = |number| move |call: &Call| matches!(call, Call::End { job: id, .. } if *id == job(number));
    sim.wants.known = vec![job(1), job(2), job(3)];
    sim.schedule.apps(&apps(1), &sim.wants, sim.now);
    sim.run(2, |call| if end_of(3)(&call) { Outcome::StillRuns } else { Outcome::Told(10) });
    assert_eq!((sim.count(end_of(1)), sim.count(end_of(2)), sim.count(end_of(3))), (0, 1, 1));
    sim.schedule.apps(&[app(1, Some(1)), app(3, Some(1))], &sim.wants, sim.now);
    sim.run(10, fine);
    assert_eq!(sim.count(end_of(2)), 1, "what has ended is not read again");
    assert!(sim.count(|call| matches!(call, Call::Tasks(id) if *id == job(3))) > 0);
    assert_eq!(sim.schedule.counts(), (2, 0));
}

#[test]
fn an_end_once_read_is_not_undone_by_a_listing_from_before() {
    let mut sim = Sim::new(1);
    sim.run(2, |call| if matches!(call, Call::Tasks(_)) { Outcome::Finished } else { Outcome::Done });
    sim.schedule.apps(&apps(1), &Knows::default(), sim.now);
    sim.run(3, |_| Outcome::Done);
    assert_eq!(sim.count(|c| matches!(c, Call::End { .. })), 1);
    sim.schedule.apps(&apps(1), &Knows::default(), sim.now);
    sim.run(20, fine);
    assert_eq!(sim.count(|c| matches!(c, Call::End { .. })), 1);
    assert_eq!(sim.schedule.counts(), (0, 0));
}

#[test]
fn an_end_that_waited_for_its_turn_beyond_all_patience_is_tried_twice_all_the_same() {
    let mut sim = Sim::new(1);
    sim.schedule.apps(&[], &Knows::default(), sim.now);
    sim.now = Time(700_000);
    sim.run(10, without_history);
    let ends = sim.log.iter().filter_map(|(_, call)| if let Call::End { of, .. } = call { Some(*of) } else { None });
    assert_eq!(ends.collect::<Vec<_>>(), [EndTry::History, EndTry::Last]);
}

#[test]
fn while_many_ends_wait_each_is_read_without_the_attempts_of_its_tasks() {
    let most = ScheduleParams::default().history_tasks;
    for (jobs, expected) in [(1, most), (5, most / 5), (100, 0)] {
        let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
        schedule.apps(&apps(jobs), &Knows::default(), Time(0));
        schedule.apps(&[], &Knows::default(), Time(0));
        assert_eq!(schedule.ending().len(), jobs as usize);
        let call = schedule.pick(Class::History, Time(1_000), &Knows::default()).unwrap();
        schedule.start(call, Time(1_000));
        assert_eq!(schedule.end_tasks(call.job().unwrap()), expected);
        let more = std::iter::from_fn(|| {
            let call = schedule.pick(Class::History, Time(1_000), &Knows::default())?;
            schedule.start(call, Time(1_000));
            Some(call)
        });
        assert_eq!(
            more.count(),
            (jobs as usize).min(ends::MAX_ENDS) - 1,
            "no more at once than the server has places for"
        );
    }
}

#[test]
fn history_that_never_comes_is_given_up_after_a_last_try() {
    let mut sim = Sim::new(1);
    sim.schedule.apps(&[], &Knows::default(), sim.now);
    sim.run(400, without_history);
    let ends: Vec<_> = sim.log.iter().filter(|(_, call)| matches!(call, Call::End { .. })).collect();
    assert!(ends.len() <= 12, "{}", ends.len());
    assert!(matches!(ends.last(), Some((at, Call::End { of: EndTry::Last, .. })) if *at >= Time(180_000)));
    assert_eq!(sim.schedule.counts(), (0, 0));
}

#[test]
fn an_end_that_the_resource_manager_cannot_tell_either_is_asked_for_until_it_can_for_an_hour_at_most() {
    let mut sim = Sim::new(1);
    sim.schedule.apps(&[], &Knows::default(), sim.now);
    let nobody = |call| if matches!(call, Call::End { .. }) { Outcome::Failed } else { Outcome::Done };
    sim.run(3_700, nobody);
    assert_eq!(sim.schedule.counts(), (1, 1), "nobody has said that it ended");
    let asked = sim.count(|call| matches!(call, Call::End { .. }));
    assert!((60..=110).contains(&asked), "{asked} times in an hour");
    sim.run(200, nobody);
    assert_eq!(sim.schedule.counts(), (0, 0));
    let last = sim.log.iter().rev().find(|(_, call)| matches!(call, Call::End { .. })).unwrap().1;
    assert!(matches!(last, Call::End { of: EndTry::Nobody, .. }), "it is told as unknown: {last:?}");
}

/// A schedule for ten jobs at once; ten have ended, and then ten others.
fn crowded() -> Sim {
    let mut sim = Sim::new(0);
    sim.schedule = Schedule::new(ScheduleParams { max_jobs: 10, ..ScheduleParams::default() }, Time(0));
    sim.schedule.apps(&apps(10), &Knows::default(), sim.now);
    sim.schedule.apps(&[], &Knows::default(), sim.now);
    let others: Vec<_> = (101..=110).map(|seq| app(seq, Some(1))).collect();
    assert_eq!(sim.schedule.apps(&others, &Knows::default(), sim.now), 0, "none is left out");
    sim.schedule.apps(&[], &Knows::default(), sim.now + Millis(1_000));
    sim
}

#[test]
fn ends_that_the_resource_manager_fails_to_tell_make_way_where_more_wait_than_may_run_and_are_told_as_nothing() {
    let mut sim = crowded();
    sim.run(60, |call| if matches!(call, Call::End { .. }) { Outcome::Failed } else { Outcome::Done });
    assert_eq!(sim.schedule.make_way(Time(59_999)), 0, "each has its minute");
    assert_eq!((sim.schedule.make_way(sim.now), sim.schedule.counts()), (10, (10, 10)));
    assert!(sim.schedule.ending().iter().all(|id| id.0.seq > 100), "those that have waited longest");
    let is_unknown = |call: &Call| matches!(call, Call::End { of: EndTry::Nobody, .. });
    assert_eq!(sim.count(is_unknown), 0, "an error is no end");
    sim.schedule.apps(&[], &Knows { known: vec![job(1)], ..Knows::default() }, sim.now);
    assert_eq!(sim.schedule.counts(), (10, 10), "nor does it wait again");
}

#[test]
fn ends_that_no_turn_has_come_to_make_way_too() {
    let mut sim = crowded();
    assert_eq!((sim.schedule.make_way(Time(61_000)), sim.schedule.counts()), (10, (10, 10)));
}

#[test]
fn a_history_server_that_hangs_is_asked_by_one_end_at_a_time_ever_more_rarely_and_no_running_job_makes_way_for_ends() {
    let mut sim = Sim::new(0);
    let max_jobs = 100;
    sim.schedule = Schedule::new(ScheduleParams { max_jobs, ..ScheduleParams::default() }, Time(0));
    sim.schedule.apps(&apps(100), &Knows::default(), sim.now);
    sim.schedule.apps(&[], &Knows::default(), sim.now);
    let others: Vec<_> = (101..=200).map(|seq| app(seq, Some(1))).collect();
    assert_eq!(sim.schedule.apps(&others, &Knows::default(), sim.now), 0, "none is left out");
    let hangs = |call: Call| match call {
        Call::End { of: EndTry::Rm, .. } => Outcome::Done,
        Call::End { of: EndTry::Last, .. } => Outcome::DoneByRm,
        Call::End { of: EndTry::History, .. } => Outcome::NoHistory,
        _ => Outcome::Told(10),
    };
    sim.run(170, hangs);
    let asked = sim.count(|call| matches!(call, Call::End { .. }));
    assert!((5..=20).contains(&asked), "{asked} times in 170 s, by 100 jobs");
    assert_eq!(sim.schedule.counts(), (200, 100));
    sim.run(30, hangs);
    assert!(sim.schedule.counts().1 <= 1, "the ResourceManager's word has to do: {:?}", sim.schedule.counts());
}

#[test]
fn last_tries_that_the_resource_manager_settles_do_not_make_a_history_server_that_hangs_look_well() {
    let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
    schedule.apps(&apps(40), &Knows::default(), Time(0));
    schedule.apps(&[], &Knows::default(), Time(0));
    let under_way = |schedule: &mut Schedule, now| {
        let calls = std::iter::from_fn(|| {
            let call = schedule.pick(Class::History, now, &Knows::default())?;
            schedule.start(call, now);
            Some(call)
        });
        calls.collect::<Vec<_>>()
    };
    for (now, outcome, expected) in [(1_000, Outcome::Failed, 8), (400_000, Outcome::DoneByRm, 8)] {
        let calls = under_way(&mut schedule, Time(now));
        assert_eq!(calls.len(), expected);
        calls.into_iter().for_each(|call| schedule.done(call, outcome, Millis(1), Time(now)));
    }
    schedule.apps(&apps(80)[40..], &Knows::default(), Time(400_000));
    schedule.apps(&[], &Knows::default(), Time(400_000));
    let waits = under_way(&mut schedule, Time(401_000));
    assert!(waits.iter().all(|call| matches!(call, Call::End { of: EndTry::Rm, .. })) && waits.len() <= 1, "{waits:?}");
}

#[test]
fn a_history_server_that_is_back_is_asked_for_all_that_waited_for_it() {
    let mut sim = Sim::new(50);
    sim.schedule.apps(&[], &Knows::default(), sim.now);
    sim.run(20, |call| if matches!(call, Call::End { .. }) { Outcome::NoHistory } else { Outcome::Done });
    assert_eq!(sim.schedule.counts(), (50, 50));
    sim.run(70, |_| Outcome::Done);
    assert_eq!(sim.schedule.counts(), (0, 0));
    assert_eq!(sim.count(|call| matches!(call, Call::End { of, .. } if *of != EndTry::History)), 0);
}

#[test]
fn ends_are_given_up_on_their_second_try_once_more_wait_than_may_run() {
    let mut schedule = Schedule::new(ScheduleParams { max_jobs: 3, ..ScheduleParams::default() }, Time(0));
    for first in [1, 4] {
        let three: Vec<_> = (first..first + 3).map(|seq| app(seq, Some(1))).collect();
        schedule.apps(&three, &Knows::default(), Time(0));
        schedule.apps(&[], &Knows::default(), Time(u64::from(first)));
    }
    let mut end = |now, outcome| {
        let call = schedule.pick(Class::History, now, &Knows::default()).unwrap();
        schedule.start(call, now);
        schedule.done(call, outcome, Millis(1), now);
        call
    };
    assert_eq!(end(Time(600), Outcome::Failed), Call::End { job: job(1), of: EndTry::History });
    (0..5).for_each(|_| assert!(matches!(end(Time(700), Outcome::Failed), Call::End { of: EndTry::History, .. })));
    let last = |call| matches!(call, Call::End { of: EndTry::Last, .. });
    assert!((0..3).all(|_| last(end(Time(5_000), Outcome::Done))));
    assert!(!last(end(Time(5_000), Outcome::Failed)), "no more than three wait now");
}

/// After so many listings, one each three seconds, that lack the first of two jobs, which runs all the same.
fn unlisted(times: usize) -> Sim {
    let mut sim = Sim::new(2);
    let still_runs = |call| if matches!(call, Call::End { .. }) { Outcome::StillRuns } else { Outcome::Told(10) };
    for _ in 0..times {
        sim.run(3, still_runs);
        sim.schedule.apps(&[app(2, Some(1))], &Knows::default(), sim.now);
    }
    sim.run(3, still_runs);
    sim
}

#[test]
fn a_job_that_runs_unlisted_is_taken_for_ended_less_and_less_often() {
    let mut sim = unlisted(100);
    let asked = sim.count(|call| matches!(call, Call::End { .. }));
    assert!((5..=12).contains(&asked), "a hundred listings lack it: {asked}");
    sim.schedule.apps(&apps(2), &Knows::default(), sim.now);
    sim.log.clear();
    sim.run(70, fine);
    sim.schedule.apps(&[app(2, Some(1))], &Knows::default(), sim.now);
    sim.run(3, fine);
    assert_eq!(sim.count(|call| matches!(call, Call::End { .. })), 1, "listed anew it ends as any other");
}

#[test]
fn a_job_of_a_shim_that_tells_its_settings_and_whose_run_nobody_lists_wakes_nobody_for_nothing() {
    let mut sim = Sim::new(0);
    sim.schedule.apps(&[app(1, None)], &Knows::default(), Time(0));
    sim.wants.shims.insert(job(1));
    sim.wants.settings = true;
    sim.run(20, fine);
    assert_eq!(sim.schedule.pick(Class::Proxy, sim.now, &sim.wants), None);
    let wakes = sim.schedule.wake(Class::Proxy).unwrap();
    assert!(wakes >= sim.now + Millis(1_000), "{wakes:?}");
    assert_eq!(sim.count(|call| call.job().is_some()), 0);
}

#[test]
fn a_job_listed_again_ends_as_soon_as_it_is_missing_however_often_it_was_put_off() {
    let mut sim = unlisted(60);
    sim.schedule.apps(&apps(2), &Knows::default(), sim.now);
    sim.schedule.apps(&[app(2, Some(1))], &Knows::default(), sim.now);
    assert_eq!(sim.schedule.ending(), [job(1)]);
}

#[test]
fn a_job_of_a_shim_whose_run_nobody_lists_is_asked_for_it_and_then_for_its_settings() {
    let mut sim = Sim::new(0);
    sim.schedule.apps(&[app(1, None)], &Knows::default(), Time(0));
    sim.wants.shims.insert(job(1));
    sim.run(60, fine);
    assert_eq!(sim.count(|call| matches!(call, Call::Master(_))), 1);
    assert_eq!(sim.count(|call| matches!(call, Call::Settings(_))), 1);
    assert_eq!(sim.count(|call| matches!(call, Call::Tasks(_))), 0);
}
