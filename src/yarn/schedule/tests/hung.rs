//! Masters that do not answer in time.

use super::*;

/// How long a call to such a one takes, and how many places there are for calls.
const TIMEOUT: Millis = Millis(10_000);
const PLACES: usize = 16;

/// Some calls are answered at once and some never; in simulated time, with places as the poller has them.
struct Slow {
    schedule: Schedule,
    wants: Knows,
    now: Time,
    under_way: Vec<(Time, Call)>,
    log: Vec<(Time, Call)>,
}

impl Slow {
    fn new(jobs: u32) -> Slow {
        let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
        schedule.apps(&apps(jobs), &Knows::default(), Time(0));
        Slow { schedule, wants: Knows::default(), now: Time(0), under_way: Vec::new(), log: Vec::new() }
    }

    fn run(&mut self, seconds: u64, hangs: impl Fn(JobId) -> bool) {
        self.run_where(seconds, |call| call.job().is_some_and(&hangs));
    }

    fn run_where(&mut self, seconds: u64, hangs: impl Fn(Call) -> bool) {
        let end = self.now + Millis(seconds * 1_000);
        while self.now < end {
            let now = self.now;
            for (_, call) in self.under_way.extract_if(.., |(until, _)| *until <= now) {
                let is_silent = hangs(call);
                let outcome = if is_silent { Outcome::Silent } else { fine(call) };
                self.schedule.done(call, outcome, if is_silent { TIMEOUT } else { Millis(5) }, now);
            }
            if self.under_way.len() == PLACES
                && let Some(call) = self.schedule.outrun(now)
            {
                self.under_way.retain(|(_, other)| *other != call);
                self.schedule.done(call, Outcome::Silent, Millis(0), now);
            }
            if self.under_way.len() < PLACES
                && let Some(call) = self.schedule.pick(Class::Proxy, now, &self.wants)
            {
                self.schedule.start(call, now);
                self.log.push((now, call));
                let takes = if hangs(call) { TIMEOUT } else { Millis(5) };
                self.under_way.push((now + takes, call));
            }
            self.now = self.now + Millis(50);
        }
    }

    fn listed(&self, seq: u32, since: Time) -> usize {
        self.log.iter().filter(|(at, call)| *at >= since && *call == Call::Tasks(job(seq))).count()
    }
}

#[test]
fn forty_masters_that_hang_leave_three_quarters_of_the_places_to_those_that_answer() {
    let mut slow = Slow::new(60);
    slow.run(120, |id| id.0.seq <= 40);
    let settled = slow.now;
    slow.run(120, |id| id.0.seq <= 40);
    for seq in 41..=60 {
        assert!(slow.listed(seq, settled) >= 20, "job {seq}: {}", slow.listed(seq, settled));
    }
    let hung = |call: &Call| call.job().is_some_and(|id| id.0.seq <= 40);
    assert!(slow.under_way.iter().filter(|(_, call)| hung(call)).count() <= 4);
    let beside = slow.log.iter().filter(|(at, call)| *at >= settled && hung(call) && is_side(call));
    assert_eq!(beside.count(), 0, "nothing but their tasks or their run is asked for");
}

#[test]
fn a_master_that_answers_again_is_asked_for_all_as_before() {
    let mut slow = Slow::new(10);
    slow.wants.suspects = 2;
    slow.run(120, |id| id.0.seq <= 5);
    slow.run(120, |_| false);
    let settled = slow.now;
    slow.run(60, |_| false);
    for seq in 1..=10 {
        assert!(slow.listed(seq, settled) >= 10, "job {seq}: {}", slow.listed(seq, settled));
        let beside =
            slow.log.iter().filter(|(at, call)| *at >= settled && call.job() == Some(job(seq)) && is_side(call));
        assert!(beside.count() >= 10, "job {seq}");
    }
}

#[test]
fn a_hung_master_whose_shim_speaks_is_left_to_it() {
    let mut slow = Slow::new(2);
    slow.wants.settings = true;
    slow.run(60, |id| id == job(1));
    slow.wants.shims.insert(job(1));
    slow.run(60, |id| id == job(1));
    slow.log.clear();
    slow.run(60, |id| id == job(1));
    assert_eq!(slow.log.iter().filter(|(_, call)| call.job() == Some(job(1))).count(), 0);
}

#[test]
fn a_job_that_hung_and_ends_is_read_at_once_as_any_other() {
    let mut slow = Slow::new(2);
    slow.run(60, |id| id == job(1));
    slow.schedule.apps(&[app(2, Some(1))], &Knows::default(), slow.now);
    let later = slow.now + Millis(1_000);
    let end = slow.schedule.pick(Class::History, later, &slow.wants);
    assert_eq!(end, Some(Call::End { job: job(1), of: EndTry::History }));
    slow.log.clear();
    slow.under_way.clear();
    slow.run(60, |_| false);
    assert_eq!(slow.listed(1, Time(0)), 0);
}

#[test]
fn masters_that_tell_their_run_and_never_their_tasks_leave_the_places_to_the_others_too() {
    let mut slow = Slow::new(0);
    let all: Vec<_> = (1..=60).map(|seq| app(seq, None)).collect();
    slow.schedule.apps(&all, &Knows::default(), Time(0));
    let hangs = |call: Call| matches!(call, Call::Tasks(id) if id.0.seq <= 40);
    slow.run_where(120, hangs);
    let settled = slow.now;
    slow.run_where(120, hangs);
    for seq in 41..=60 {
        assert!(slow.listed(seq, settled) >= 20, "job {seq}: {}", slow.listed(seq, settled));
    }
    assert!(slow.under_way.iter().filter(|(_, call)| hangs(*call)).count() <= 4);
}

#[test]
fn nothing_is_asked_of_a_master_twice_at_once_beside_its_tasks() {
    let mut slow = Slow::new(3);
    // What is beside its tasks takes long, and its tasks too at times.
    for turn in 0..6 {
        slow.run_where(20, |call| is_side(&call) || turn % 2 == 0);
        for seq in 1..=3 {
            let beside = slow.under_way.iter().filter(|(_, call)| call.job() == Some(job(seq)) && is_side(call));
            assert!(beside.count() <= 1, "job {seq}");
        }
    }
}

/// The longest time between two listings of one of these jobs from then on, milliseconds.
fn longest_gap(slow: &Slow, from: Time, jobs: std::ops::RangeInclusive<u32>) -> u64 {
    let gap = |seq| {
        let at = slow.log.iter().filter(|(at, call)| *at >= from && *call == Call::Tasks(job(seq))).map(|(at, _)| *at);
        let at: Vec<_> = at.chain([slow.now]).collect();
        at.windows(2).map(|two| two[1].since(two[0]).0).max().unwrap_or(u64::MAX)
    };
    jobs.map(gap).max().unwrap_or_default()
}

#[test]
fn masters_that_hang_all_at_once_hold_up_the_others_for_seconds_and_not_for_all_their_timeouts() {
    let mut slow = Slow::new(160);
    slow.wants.settings = true;
    slow.run(60, |_| false);
    let (dies, before) = (slow.now, longest_gap(&slow, Time(20_000), 61..=160));
    slow.run(120, |id| id.0.seq <= 60);
    let gap = longest_gap(&slow, dies - Millis(before), 61..=160);
    assert!(gap <= before + 12_000, "{gap} ms, {before} ms before");
}

#[test]
fn no_call_is_given_up_while_nothing_is_answered_quickly_or_sooner_than_its_master_answers() {
    let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
    schedule.apps(&apps(3), &Knows::default(), Time(0));
    let tasks = |seq| Call::Tasks(job(seq));
    let answered = |schedule: &mut Schedule, seq, from, to| {
        schedule.start(tasks(seq), Time(from));
        schedule.done(tasks(seq), Outcome::Told(10), Millis(to - from), Time(to));
    };
    answered(&mut schedule, 1, 0, 1_000);
    schedule.start(tasks(1), Time(10_000));
    schedule.start(tasks(2), Time(10_000));
    assert_eq!(schedule.outrun(Time(19_000)), None, "the proxy itself may hang");
    answered(&mut schedule, 3, 17_000, 19_000);
    assert_eq!(schedule.outrun(Time(19_000)), None, "or be slow");
    answered(&mut schedule, 3, 19_000, 19_100);
    assert_eq!(schedule.outrun(Time(19_100)), Some(tasks(2)));
    assert_eq!(schedule.next_outrun(Time(19_100)), Some(Time(20_000)));
    schedule.done(tasks(2), Outcome::Silent, Millis(0), Time(19_100));
    assert_eq!(schedule.outrun(Time(19_999)), None, "it took a second before");
    assert_eq!(schedule.outrun(Time(20_000)), Some(tasks(1)));
}
