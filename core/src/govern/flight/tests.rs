use super::*;
use crate::estimate::stats::normal_draw;
use crate::govern::in_flight::InFlight;
use crate::model::{
    AppId, AttemptFact, AttemptId, AttemptState, Channel, ClusterState, Fact, Numbers, Observation, Source, TaskFact,
    TaskKind, TaskState,
};

pub const JOB: JobId = JobId(AppId { cluster: 1, seq: 1 });

/// Alice's, in the queue etl, with twenty tasks of each kind none of which is known yet; its AM is the first.
pub fn job() -> Job {
    let mut job = Job::new(JOB);
    (job.user, job.queue, job.incarnation) = ("alice".into(), "etl".into(), 1);
    job.totals = Some([20, 20]);
    job
}

pub fn map(index: u32) -> TaskId {
    JOB.task(TaskKind::Map, index)
}

/// Has a job learn of an attempt; zero is no instant.
pub fn attempt(job: &mut Job, id: AttemptId, state: AttemptState, started: u64, finished: u64) {
    let known = |at: u64| Some(Time(at)).filter(|_| at > 0);
    let fact =
        AttemptFact { state: Some(state), started: known(started), finished: known(finished), ..AttemptFact::of(id) };
    assert!(job.learn_attempt(&fact, None, Time(1), 1_000));
}

/// Has a job learn that a task has succeeded.
pub fn succeed(job: &mut Job, task: TaskId, winner: Option<u32>, finished: u64) {
    let state = Some(TaskState::Succeeded);
    let fact = TaskFact { state, winner, finished: Some(Time(finished)), ..TaskFact::of(task) };
    assert!(job.learn_task(&fact, Time(finished), 1_000));
}

/// A cluster that knows of those jobs alone.
pub fn cluster(jobs: impl IntoIterator<Item = Job>) -> ClusterState {
    let mut cluster = ClusterState::default();
    for job in jobs {
        let source = Source { channel: Channel::Shim, app: Some(job.id.0), principal: None, incarnation: 1 };
        let fact = Fact::Can(job.id, job.can);
        cluster.apply(&Observation { source, seq: 1, at: Time(0), received: Time(0), fact }).unwrap();
        let known = cluster.job_mut(job.id).unwrap();
        *known = job;
    }
    cluster
}

/// To duplicate a task's first attempt, at ten seconds; a fresh copy takes twenty, and is to be started by the eighteenth.
pub fn decision(id: u64, task: TaskId, mode: Mode) -> Decision {
    let numbers =
        Numbers { fresh_copy: Some(Millis(20_000)), fresh_copy_spread: Some(Millis(0)), ..Numbers::default() };
    Decision {
        id,
        at: Time(10_000),
        am_at: Time(10_000),
        job: task.job,
        task,
        attempt: task.attempt(0),
        host: None,
        action: Action::Duplicate,
        policy: "late".into(),
        rule: String::new(),
        mode,
        natively_copied: false,
        copies: 1,
        clones: false,
        live: 1,
        restarts: 0,
        avoid: Vec::new(),
        prefer: Vec::new(),
        deadline: Time(18_000),
        numbers,
        cause: None,
    }
}

/// The copies that those decisions bring about in a job that knows of no attempt.
pub fn flights(decisions: &[Decision]) -> Flights {
    let mut flights = Flights::default();
    decisions.iter().for_each(|decision| flights.add(decision, Budget::Copies, &job(), 0));
    flights
}

pub fn changed(flights: &mut Flights, task: TaskId, change: impl FnOnce(&mut Flight)) {
    change(flights.task_mut(task).next_back().unwrap());
}

#[test]
fn a_recording_from_before_clones_tells_of_one_copy_at_a_time() {
    let flights = flights(&[decision(1, map(0), Mode::Advise)]);
    let mut told = serde_json::to_value(flights.newest(map(0)).unwrap()).unwrap();
    told.as_object_mut().unwrap().remove("copies");
    assert_eq!(serde_json::from_value::<Flight>(told).unwrap().copies, 1);
}

#[test]
fn an_advised_copy_lasts_its_expected_time_and_as_many_spreads_as_its_own_number_draws() {
    const SEED: u64 = 3;
    for id in [1, 2, 4, 8] {
        let mut decision = decision(id, map(0), Mode::Advise);
        decision.numbers.fresh_copy_spread = Some(Millis(2_000));
        let mut flights = Flights::default();
        flights.add(&decision, Budget::Copies, &job(), SEED);
        let lasts = flights.newest(map(0)).unwrap().until.since(decision.am_at).0 as f64;
        let draw = normal_draw(SEED ^ id);
        assert!((lasts - 20_000.0 - 2_000.0 * draw).abs() < 1.0, "{id}: {lasts} with {draw}");
    }
}

#[test]
fn copies_of_a_job_count_by_kind_while_they_hold_budget_and_wait_until_they_are_placed() {
    let reduce = JOB.task(TaskKind::Reduce, 0);
    let two = Decision { copies: 2, ..decision(3, map(2), Mode::Act) };
    let mut flights = flights(&[
        decision(1, map(0), Mode::Advise),
        decision(2, map(1), Mode::Act),
        two,
        decision(4, map(3), Mode::Act),
        decision(5, reduce, Mode::Act),
    ]);
    changed(&mut flights, map(1), |flight| flight.counted = false);
    flights.sent(JOB, 4);
    assert_eq!(flights.in_cluster(), 5);
    let mut job = job();
    attempt(&mut job, map(3).attempt(1), AttemptState::Running, 12_000, 0);
    let counted = InFlight::count(&flights, &cluster([job]));
    let of = TaskKind::ALL.map(|kind| counted.of_job(JOB, kind));
    assert_eq!(of.map(|copies| copies.all), [4, 1]);
    assert_eq!(of.map(|copies| copies.unplaced), [2, 1], "of the maps only the clones");
    let tasks = flights.tasks_of(JOB).map(|(task, _)| task).collect::<Vec<_>>();
    assert_eq!(tasks, [map(0), map(1), map(2), map(3), reduce]);
    assert!(flights.all().map(|(task, flight)| (task, flight.decision)).eq(tasks.into_iter().zip(1..)));
}

#[test]
fn an_advised_copy_gives_its_budget_back_at_its_end_and_not_before() {
    let mut flights = flights(&[decision(1, map(0), Mode::Advise), decision(2, map(1), Mode::Act)]);
    let later = Decision { am_at: Time(15_000), ..decision(3, map(2), Mode::Advise) };
    flights.add(&later, Budget::Copies, &job(), 0);
    assert_eq!((flights.expire(JOB, Time(29_999)), flights.in_cluster()), (Some(Time(30_000)), 3));
    assert_eq!((flights.expire(JOB, Time(30_000)), flights.in_cluster()), (Some(Time(35_000)), 2));
    assert_eq!((flights.expire(JOB, Time(35_000)), flights.in_cluster()), (None, 1), "one asked for lasts");
}

#[test]
fn an_advised_copy_would_have_won_and_gained_what_the_task_took_beyond_a_copys_time() {
    let land = |ended| flights(&[decision(1, map(0), Mode::Advise)]).land(map(0), Time(ended), None);
    let numbers = |ended| land(ended).map(|outcome| (outcome.would_have_won, outcome.gain));
    assert_eq!(numbers(70_000), Some((1.0, Millis(40_000))));
    assert_eq!(numbers(30_000), Some((0.5, Millis(0))));
    assert_eq!(numbers(29_000), Some((0.0, Millis(0))));
}

/// The job, run by its second AM.
fn later() -> Job {
    let mut job = job();
    job.incarnation = 2;
    job
}

#[test]
fn what_was_advised_under_an_am_that_died_bars_nothing_and_has_no_outcome_and_what_was_asked_for_is_followed_on() {
    let other = JobId(AppId { seq: 2, ..JOB.0 });
    let mut all = flights(&[
        decision(1, map(0), Mode::Advise),
        decision(2, map(1), Mode::Act),
        decision(3, other.task(TaskKind::Map, 0), Mode::Advise),
    ]);
    let before = all.clone();
    all.outlive(&job());
    assert_eq!(all, before, "its AM is the same");
    all.outlive(&later());
    assert_eq!(all.all().map(|(_, flight)| flight.decision).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(all.bar_of_task(map(0), Mode::Advise, Time(11_000)), None);
    assert_eq!(all.land(map(0), Time(70_000), None), None);
    all.add(&decision(4, map(0), Mode::Advise), Budget::Copies, &later(), 0);
    all.outlive(&later());
    assert!(all.land(map(0), Time(70_000), None).is_some(), "it was advised under the second");
}

#[test]
fn advice_in_a_recording_that_does_not_tell_under_which_am_it_was_given_is_kept() {
    let mut flights = flights(&[decision(1, map(0), Mode::Advise)]);
    let mut told = serde_json::to_value(&flights).unwrap();
    told["by_task"][0][1].as_object_mut().unwrap().remove("incarnation").unwrap();
    let mut kept: Flights = serde_json::from_value(told).unwrap();
    [&mut flights, &mut kept].into_iter().for_each(|all| all.outlive(&later()));
    assert_eq!([flights, kept].map(|all| all.in_cluster()), [0, 1]);
}

#[test]
fn nothing_is_kept_of_a_job_that_is_forgotten_and_all_of_another() {
    let other = JobId(AppId { seq: 2, ..JOB.0 });
    let withdrawal =
        |id, job: JobId| Decision { action: Action::Withdraw, ..decision(id, job.task(TaskKind::Map, 1), Mode::Act) };
    let of = |job: JobId| {
        let mut flights = flights(&[decision(1, job.task(TaskKind::Map, 0), Mode::Act), withdrawal(2, job)]);
        flights.fortunes.insert(job, Fortune::default());
        flights
    };
    let (own, mut both) = (of(other), of(JOB));
    both.add(&decision(1, other.task(TaskKind::Map, 0), Mode::Act), Budget::Copies, &job(), 0);
    both.add(&withdrawal(2, other), Budget::Copies, &job(), 0);
    both.fortunes.insert(other, Fortune::default());
    both.forget(JOB);
    // What was decided on within the last minute was, whatever has become of its job.
    both.minute = own.minute.clone();
    assert_eq!(both, own);
}
