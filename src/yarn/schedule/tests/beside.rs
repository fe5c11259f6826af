//! What is read beside tasks: configurations and counters.

use super::*;

#[test]
fn a_job_with_a_shim_is_asked_for_nothing_but_settings_nobody_told() {
    let mut sim = Sim::new(2);
    sim.wants.shims.insert(job(1));
    sim.wants.suspects = 3;
    sim.run(30, fine);
    let calls: Vec<_> = sim.log.iter().map(|(_, call)| *call).filter(|c| c.job() == Some(job(1))).collect();
    assert_eq!(calls, [Call::Settings(job(1))]);
    sim.wants.shims.clear();
    sim.run(30, fine);
    assert!(sim.count(|c| *c == Call::Tasks(job(1))) >= 4, "a job whose shim has gone is watched over REST again");
}

#[test]
fn the_time_for_which_a_shim_tells_of_a_job_is_no_interval_between_two_readings_of_its_tasks() {
    let mut sim = Sim::new(1);
    sim.run(20, fine);
    assert!(sim.schedule.listed(job(1)).is_some());
    sim.wants.shims.insert(job(1));
    sim.run(60, fine);
    assert_eq!(sim.schedule.listed(job(1)), None);
    sim.wants.shims.clear();
    let alone = sim.now;
    sim.run(20, fine);
    assert!(sim.schedule.listed(job(1)).is_some_and(|at| at > alone));
}

#[test]
fn counters_are_read_after_each_listing_within_the_share_of_what_is_beside_tasks() {
    let mut one = Sim::new(1);
    one.wants.counters = 3;
    one.run(20, fine);
    let (listed, read) = (one.count(|c| matches!(c, Call::Tasks(_))), one.count(|c| matches!(c, Call::Counters(_))));
    assert!(read > 2 * listed && read <= 3 * listed, "{read} {listed}");
    let mut many = Sim::new(200);
    (many.wants.suspects, many.wants.counters) = (8, 8);
    many.run(300, fine);
    let of = |is: fn(&Call) -> bool| many.count(is);
    let read = [
        of(|c| matches!(c, Call::Summary(_))),
        of(|c| matches!(c, Call::Attempts(_))),
        of(|c| matches!(c, Call::Counters(_))),
    ];
    assert!(read.iter().all(|n| *n > 100), "none waits for ever behind another: {read:?}");
    let (tasks, side) = (many.count(|c| matches!(c, Call::Tasks(_))), many.count(is_side));
    assert!((0.18..=0.22).contains(&(side as f64 / (tasks + side) as f64)), "{side} {tasks}");
}

#[test]
fn counters_that_cannot_be_had_are_asked_for_once_a_minute_and_put_nothing_in_doubt() {
    let mut sim = Sim::new(1);
    sim.wants.counters = 3;
    sim.run(100, |call| if matches!(call, Call::Counters(_)) { Outcome::Failed } else { Outcome::Told(10) });
    assert_eq!(sim.count(|c| matches!(c, Call::Counters(_))), 2);
    assert_eq!(sim.count(|c| matches!(c, Call::Master(_))), 0);
    assert!(sim.count(|c| matches!(c, Call::Tasks(_))) >= 45);
}

#[test]
fn large_configurations_are_read_two_at_a_time_at_most() {
    let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
    schedule.apps(&apps(20), &Knows::default(), Time(0));
    let wants = Knows::default();
    let mut settings = 0;
    for step in 0..2_000 {
        let now = Time(step * 10);
        if let Some(call) = schedule.pick(Class::Proxy, now, &wants) {
            schedule.start(call, now);
            match call {
                // Never answered.
                Call::Settings(_) => settings += 1,
                call => schedule.done(call, Outcome::Told(1), Millis(5), now),
            }
        }
    }
    assert_eq!(settings, 2);
}

#[test]
fn a_master_that_hangs_does_not_keep_other_jobs_configurations_from_being_read() {
    let mut sim = Sim::new(2);
    sim.run(3, |call| if matches!(call, Call::Settings(_)) { Outcome::Failed } else { fine(call) });
    let hangs = (0..10_000).find_map(|_| {
        sim.now = sim.now + Millis(10);
        let call = sim.schedule.pick(Class::Proxy, sim.now, &sim.wants)?;
        sim.schedule.start(call, sim.now);
        match call {
            Call::Settings(_) => return Some(call),
            call => sim.schedule.done(call, fine(call), Millis(5), sim.now),
        }
        None
    });
    assert!(hangs.is_some(), "it is asked again");
    sim.log.clear();
    sim.schedule.apps(&apps(3), &Knows::default(), sim.now);
    sim.run(5, fine);
    let asked: Vec<_> =
        sim.log.iter().map(|(_, call)| *call).filter(|call| matches!(call, Call::Settings(_))).collect();
    assert_eq!(asked, [Call::Settings(job(3))]);
}

#[test]
fn a_configuration_that_cannot_be_had_does_not_keep_attempts_and_tasks_from_being_read() {
    for outcome in [Outcome::Refused, Outcome::Failed] {
        let mut sim = Sim::new(1);
        sim.wants.suspects = 2;
        sim.run(120, |call| match call {
            Call::Settings(_) => outcome,
            Call::Master(_) => Outcome::Told(1),
            _ => Outcome::Told(10),
        });
        assert!(sim.count(|c| matches!(c, Call::Settings(_))) < 60);
        assert!(sim.count(|c| matches!(c, Call::Attempts(_))) > 30, "{outcome:?}");
        assert!(sim.count(|c| matches!(c, Call::Tasks(_))) > 30, "{outcome:?}");
    }
}
