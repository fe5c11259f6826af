//! Whose turn it is.

use super::*;

#[test]
fn two_hundred_jobs_at_twenty_a_second_are_each_listed_within_fifteen_seconds() {
    let mut sim = Sim::new(200);
    sim.wants.suspects = 8;
    sim.run(300, fine);
    let gaps = sim.gaps(Time(60_000), |_| true);
    assert!(gaps.len() > 2_000);
    assert!(*gaps.iter().max().unwrap() <= 15_000, "{:?}", gaps.iter().max());
    let (tasks, side) = (sim.count(|c| matches!(c, Call::Tasks(_))), sim.count(is_side));
    let share = tasks as f64 / (tasks + side) as f64;
    assert!((0.78..=0.82).contains(&share), "{share}");
}

#[test]
fn a_lane_with_nothing_due_leaves_its_share_to_the_other() {
    let mut sim = Sim::new(200);
    sim.wants.settings = true;
    sim.run(300, fine);
    let used = sim.count(|c| matches!(c, Call::Tasks(_)) || is_side(c));
    assert!(used >= 300 * 20 - 20, "no turn is wasted while tasks wait: {used}");
    let mut one = Sim::new(1);
    one.wants.suspects = 8;
    one.run(60, |_| Outcome::Told(10));
    assert!(one.count(is_side) > one.count(|c| matches!(c, Call::Tasks(_))) * 4, "attempts may go beyond 20 % then");
}

#[test]
fn small_and_new_jobs_are_listed_sooner_than_large_old_ones() {
    let mut sim = Sim::new(4);
    let tasks = |call: Call| Outcome::Told(if call.job() == Some(job(1)) { 10 } else { 5_000 });
    sim.run(200, tasks);
    let mean = |gaps: Vec<u64>| gaps.iter().sum::<u64>() / gaps.len() as u64;
    let small = mean(sim.gaps(Time(100_000), |id| id == job(1)));
    let large = mean(sim.gaps(Time(100_000), |id| id == job(2)));
    assert!(small < 2_500 && large > 4_500, "{small} {large}");
    assert!(mean(sim.gaps(Time(0), |id| id == job(2))) < large, "a large job was sooner while it was new");
}

#[test]
fn a_job_that_fails_is_asked_less_and_less_and_takes_no_turn_from_others() {
    let mut sim = Sim::new(3);
    sim.run(120, |call| if call.job() == Some(job(2)) { Outcome::Failed } else { Outcome::Told(10) });
    let of = |id: JobId| sim.count(|c| c.job() == Some(id) && matches!(c, Call::Tasks(_) | Call::Master(_)));
    assert!(of(job(2)) <= 9, "{}", of(job(2)));
    assert!(of(job(1)) >= 50, "{}", of(job(1)));
}

#[test]
fn a_pause_asked_for_by_the_server_is_not_held_against_the_job() {
    let mut sim = Sim::new(1);
    sim.run(2, |call| if call.job().is_some() { Outcome::Paused(Millis(1_000)) } else { Outcome::Done });
    sim.log.clear();
    sim.run(2, fine);
    assert!(sim.count(|c| matches!(c, Call::Tasks(_))) >= 1);
    assert_eq!(sim.count(|c| matches!(c, Call::Master(_))), 0);
}

#[test]
fn a_master_that_asks_for_a_pause_is_left_alone_for_it_and_the_other_jobs_are_not() {
    let mut sim = Sim::new(2);
    (sim.wants.suspects, sim.wants.counters) = (2, 2);
    sim.run(20, fine);
    sim.log.clear();
    let pause = |call: Call| if call.job() == Some(job(1)) { Outcome::Paused(Millis(100_000)) } else { fine(call) };
    sim.run(90, pause);
    assert!(sim.count(|c| c.job() == Some(job(1))) <= 1, "neither its tasks nor anything else is asked for");
    assert!(sim.count(|c| *c == Call::Tasks(job(2))) >= 15);
    sim.run(30, fine);
    assert!(sim.count(|c| *c == Call::Tasks(job(1))) >= 1, "the pause ends");
}

#[test]
fn an_answer_that_takes_long_is_asked_for_less_often() {
    let mut schedule = Schedule::new(ScheduleParams { busy_share: 0.05, ..ScheduleParams::default() }, Time(0));
    schedule.apps(&apps(1), &Knows::default(), Time(0));
    schedule.start(Call::Tasks(job(1)), Time(0));
    schedule.done(Call::Tasks(job(1)), Outcome::Told(10), Millis(1_500), Time(0));
    assert!(schedule.tasks.next().unwrap() >= Time(27_000), "1.5 s under way is 5 % of 30 s");
}

#[test]
fn no_more_jobs_are_watched_than_the_limit() {
    let params = ScheduleParams { max_jobs: 10, ..ScheduleParams::default() };
    let mut schedule = Schedule::new(params, Time(0));
    assert_eq!(schedule.apps(&apps(25), &Knows::default(), Time(0)), 15);
    assert_eq!(schedule.counts().0, 10);
}

#[test]
fn jobs_of_which_a_shim_tells_take_no_place_of_those_that_are_watched() {
    let params = ScheduleParams { max_jobs: 10, ..ScheduleParams::default() };
    let mut schedule = Schedule::new(params, Time(0));
    let wants = Knows { shims: (1..=20).map(job).collect(), ..Knows::default() };
    assert_eq!(schedule.apps(&apps(35), &wants, Time(0)), 5);
    assert_eq!(schedule.counts().0, 30);
    assert_eq!(schedule.apps(&apps(35), &wants, Time(3_000)), 5);
}

#[test]
fn the_jobs_of_a_user_who_has_few_do_not_wait_behind_those_of_one_who_has_hundreds() {
    let mut sim = Sim::new(0);
    let of = |seq| if seq > 500 { "ben" } else { "ann" };
    let mut all = apps(505);
    all.iter_mut().for_each(|seen| seen.fact.user = of(seen.fact.app.seq).to_owned());
    sim.schedule.apps(&all, &Knows::default(), Time(0));
    sim.wants.settings = true;
    sim.run(180, fine);
    let longest = |is: fn(u32) -> bool| *sim.gaps(Time(60_000), |id| is(id.0.seq)).iter().max().unwrap();
    assert!(longest(|seq| seq > 500) <= 8_000, "{}", longest(|seq| seq > 500));
    assert!(longest(|seq| seq <= 500) <= 50_000, "{}", longest(|seq| seq <= 500));
    sim.schedule.apps(&all[..500], &Knows::default(), sim.now);
    sim.run(30, fine);
    assert_eq!(sim.schedule.counts().0, 500);
}
