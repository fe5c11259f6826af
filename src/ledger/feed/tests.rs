use super::Feed;
use crate::ledger::tables::{
    AnswerRow, CalibrationRow, ClonePlanRow, DecisionRow, EnrolmentRow, JobRow, MeasureRow, NodeRow, OutcomeRow,
    SentRow, StragglerRow,
};
use crate::ledger::{Bounds, Ledger, Left, Metrics, Pace, Record, Under, left, read};
use crate::service::Desk;
use crate::service::fixture::{PUT_OFF, facts, job, seen};
use crate::shim::Late;
use drover_core::engine::{EngineParams, Pass};
use drover_core::model::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The map that falls behind.
const SLOW: u32 = 3;

struct World {
    desk: Desk,
    path: PathBuf,
    said: u64,
    counted: Metrics,
}

/// How many jobs have ended on each side of the hold-out, and on none.
fn sides(world: &World) -> [u64; 3] {
    ["acted_on", "held_out", "undrawn"].map(|side| world.counted.jobs.with_label_values(&[side]).get())
}

fn counted() -> Metrics {
    Metrics::new(&prometheus::Registry::new()).unwrap()
}

fn feed(path: &Path, incarnation: &str) -> Feed {
    feed_counted(path, incarnation, counted())
}

fn feed_counted(path: &Path, incarnation: &str, metrics: Metrics) -> Feed {
    let bounds = Bounds { max_age: Millis(u64::MAX), max_bytes: Bytes(u64::MAX) };
    let ledger = Ledger::start(path, bounds, Pace::default(), || Time(0), metrics).unwrap();
    ledger.catch_up();
    let left = left(path, Time(200_000)).unwrap();
    Feed::new(ledger, incarnation, Under::default(), Time(0), left)
}

/// A service that has just begun, in that mode, with every job left alone or none.
fn world(path: &Path, mode: Mode, holdout: f64) -> World {
    let metrics = Arc::new(crate::telemetry::Metrics::new(&prometheus::Registry::new()).unwrap());
    let mut params = EngineParams::default();
    (params.govern.mode, params.govern.holdout, params.govern.debounce) = (mode, holdout, PUT_OFF);
    let mut desk = Desk::new(params, 100, None, metrics);
    let counted = counted();
    desk.ledger = Some(feed_counted(path, "p1", counted.clone()));
    let mut world = World { desk, path: path.to_owned(), said: 0, counted };
    if mode == Mode::Act {
        let total = Resources { memory_mb: 65_536, vcores: 64 };
        let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
        let room = ClusterFact { total, active_nodes: 4, ..ClusterFact::default() };
        for second in 0..80 {
            // Told ahead: what is known of free room is never old.
            let (at, received, fact) = (Time(100_000), Time(100_000 + second * 1_000), Fact::Cluster(room));
            world.desk.observe(Observation { source: source.clone(), seq: second + 1, at, received, fact });
        }
        facts(job(1), 0).into_iter().for_each(|fact| world.desk.observe(fact));
        world.own(Fact::ShimSession(job(1), true));
        world.own(Fact::Can(job(1), Capabilities { duplicate: true, ..Capabilities::default() }));
    }
    world
}

/// The slow map's attempts when it has ended by that one; the copy, where there is one, has run for nine seconds.
fn attempts(at: u64, winner: u32, copied: bool) -> Vec<AttemptFact> {
    let of = |number: u32, state, started: u64| AttemptFact {
        state: Some(state),
        host: Some("nm1".into()),
        started: Some(Time(started)),
        finished: Some(Time(at)),
        ..AttemptFact::of(job(1).task(TaskKind::Map, SLOW).attempt(number))
    };
    let state = |number| if number == winner { AttemptState::Succeeded } else { AttemptState::Killed };
    let copy = copied.then(|| of(1, state(1), at - 9_000));
    [of(0, state(0), 100_000)].into_iter().chain(copy).collect()
}

impl World {
    fn own(&mut self, fact: Fact) {
        self.said += 1;
        let app = fact.job().map(|job| job.0);
        let source = Source { channel: Channel::Own, app, principal: None, incarnation: 1 };
        let (seq, at) = (self.said, Time(100_000));
        self.desk.observe(Observation { source, seq, at, received: at, fact });
    }

    /// Watches until a decision is taken: that, and its second.
    fn decided(&mut self) -> (Decision, u64) {
        for second in 0..60 {
            let at = Time(100_000 + second * 1_000);
            facts(job(1), second).into_iter().for_each(|fact| self.desk.observe(fact));
            if let Some(decision) = self.desk.decide(at).decisions.into_iter().next() {
                return (decision, second);
            }
        }
        panic!("no decision")
    }

    /// The slow map ends at that second by its attempt of that number, and the job with it; of a job that is only advised on there is one attempt.
    fn end(&mut self, second: u64, winner: u32, copied: bool) {
        let at = 100_000 + second * 1_000;
        let attempts = attempts(at, winner, copied);
        let task = TaskFact {
            state: Some(TaskState::Succeeded),
            finished: Some(Time(at)),
            winner: Some(winner),
            ..TaskFact::of(job(1).task(TaskKind::Map, SLOW))
        };
        let attempts = Fact::Attempts { job: job(1), attempts };
        let tasks = Fact::Tasks { job: job(1), complete: false, tasks: vec![task] };
        let (state, started) = (Some(JobPhase::Succeeded), Some(Time(100_000)));
        let end = EndFact { job: job(1), state, started, finished: Some(Time(at)), attempts: Vec::new() };
        for (seq, fact) in (900_000..).zip([attempts, tasks, Fact::Ended(end)]) {
            self.desk.observe(seen(job(1), seq, at, fact));
        }
        self.desk.decide(Time(at));
    }

    fn all<T: Record>(&self) -> Vec<T> {
        self.desk.ledger.as_ref().unwrap().catch_up();
        let open = read(&self.path).unwrap();
        let mut all = open.prepare(&format!("SELECT * FROM {} ORDER BY rowid", T::TABLE.name)).unwrap();
        all.query_map([], T::read).unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn a_copy_that_won_is_kept_from_its_decision_to_what_it_gained_and_so_is_its_job() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Act, 0.0);
    let (decision, second) = world.decided();
    world.own(Fact::Sent { job: job(1), decision: decision.id });
    let ack = AckFact { job: job(1), decision: decision.id, answer: Answer::Applied, attempts: vec![1] };
    world.own(Fact::Acked(ack));
    world.end(second + 10, 1, true);

    let kept: Vec<DecisionRow> = world.all();
    assert_eq!((kept[0].user.as_str(), kept[0].queue.as_str(), kept[0].mode.as_str()), ("ann", "root.default", "act"));
    assert_eq!(
        (kept[0].decision, kept[0].time_left_ms, kept[0].task.as_str()),
        (decision.id, decision.numbers.time_left, "task_1_0001_m_000003")
    );
    let (sent, answers): (Vec<SentRow>, Vec<AnswerRow>) = (world.all(), world.all());
    assert_eq!((sent.len(), answers[0].answer.as_str(), answers[0].attempts.as_str()), (1, "applied", "1"));

    let outcomes: Vec<OutcomeRow> = world.all();
    let (ended, predicted) =
        (100_000 + (second + 10) * 1_000, (decision.am_at + decision.numbers.time_left.unwrap()).0);
    assert_eq!((outcomes.len(), outcomes[0].outcome.as_str(), outcomes[0].ended_ms.0), (1, "won", ended));
    assert_eq!(outcomes[0].gained_ms, Some(predicted as i64 - ended as i64));
    assert_eq!(
        (outcomes[0].predicted_spread_ms, outcomes[0].container_ms, outcomes[0].winner_container_ms),
        (decision.numbers.time_left_spread, Millis(9_000), Some(Millis(9_000)))
    );
    assert_eq!((outcomes[0].hosts.as_str(), kept[0].clones, kept[0].avoid.as_str()), ("nm1", false, ""));

    let jobs: Vec<JobRow> = world.all();
    assert_eq!((jobs.len(), jobs[0].decided, jobs[0].won, jobs[0].state.as_deref()), (1, 1, 1, Some("succeeded")));
    assert_eq!(Some(jobs[0].map_gain_ms), outcomes[0].gained_ms, "it was the last of its phase");
    let counted = &world.counted;
    let gain = |side: &str| (1e3 * counted.job_gain.with_label_values(&[side]).get()).round() as i64;
    assert_eq!([gain("sooner"), gain("later")], [jobs[0].map_gain_ms, 0]);
    assert_eq!(sides(&world), [0, 0, 1], "none is held out");
    assert_eq!(jobs[0].took_ms, Some(Millis((second + 10) * 1_000)));
}

/// What is told of a decision and of its end, apart from all that the service hears.
fn told(world: &mut World, decision: Decision, outcome: CopyOutcome) {
    let Desk { ledger, engine, .. } = &mut world.desk;
    let feed = ledger.as_mut().unwrap();
    feed.passed(&Pass { decisions: vec![decision], ..Pass::default() }, engine, Time(120_000));
    feed.passed(&Pass { copies: vec![outcome], ..Pass::default() }, engine, Time(150_000));
}

/// What came of a decision: its copy won at that time.
fn won(of: &Decision, at: u64) -> CopyOutcome {
    CopyOutcome {
        decision: of.id,
        policy: of.policy.clone(),
        action: of.action,
        clones: of.clones,
        telling: false,
        task: of.task,
        end: CopyEnd::Won,
        answer: Some(Answer::Moved),
        attempts: vec![1],
        winner: Some(1),
        host: Some("nm3".into()),
        hosts: vec!["nm3".into()],
        named: Default::default(),
        landed: Landed { near: 1, ..Landed::default() },
        restart: of.restart(),
        at: Time(at),
        cost: Millis(20_000),
        winner_cost: Millis(20_000),
        outran: None,
    }
}

#[test]
fn a_restart_gained_what_its_new_attempt_ended_before_the_predicted_end_of_the_one_that_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    for (id, (ended, gained)) in (1_001..).zip([(140_000, 45_000), (190_000, -5_000)]) {
        let mut world = world(&dir.path().join(format!("{id}.db")), Mode::Act, 0.0);
        let (like, _) = world.decided();
        let numbers = Numbers { time_left: Some(Millis(70_000)), ..like.numbers };
        let restart = Decision { id, action: Action::Restart, restarts: 1, am_at: Time(115_000), numbers, ..like };
        let outcome = won(&restart, ended);
        told(&mut world, restart, outcome);
        let rows: Vec<OutcomeRow> = world.all();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let decided = world.all::<DecisionRow>().into_iter().find(|row| row.decision == id);
        assert_eq!((row.near_preferred, decided.unwrap().restart), (Some(1), Some(2)));
        assert_eq!((row.decision, row.outcome.as_str(), row.predicted_end_ms), (id, "won", Some(Time(185_000))));
        assert_eq!(
            (row.gained_ms, row.prediction_error_ms),
            (Some(gained), None),
            "nobody saw the killed one's own end"
        );
    }
}

#[test]
fn a_clone_that_won_gained_what_its_original_had_still_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let outran = PredictedEnd { at: Time(175_000), spread: Millis(9_000) };
    for (id, (outran, gained)) in (1_001..).zip([(Some(outran), Some(35_000)), (None, None)]) {
        let mut world = world(&dir.path().join(format!("{id}.db")), Mode::Act, 0.0);
        let (like, second) = world.decided();
        let numbers = Numbers { time_left: None, time_left_spread: None, ..like.numbers };
        let clone = Decision { id, clones: true, numbers, ..like };
        let outcome = CopyOutcome { outran, ..won(&clone, 140_000) };
        told(&mut world, clone, outcome);
        let rows: Vec<OutcomeRow> = world.all();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.predicted_end_ms, row.predicted_spread_ms), outran.map(|end| (end.at, end.spread)).unzip());
        assert_eq!((row.outcome.as_str(), row.gained_ms), ("won", gained));
        world.end(second + 10, 1, true);
        let won: u32 = world.all::<JobRow>().iter().map(|job| job.won).sum();
        assert_eq!(won, 1, "its job's row counts it");
    }
}

#[test]
fn what_was_settled_about_clones_is_kept_with_the_jobs_end_and_so_is_a_measure_when_it_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Act, 0.0);
    let (_, second) = world.decided();
    let order = Some(MeasureOrder { decision: 77, deadline: Time(130_000) });
    let plan = Some(MeasurePlan::Avoid { hosts: vec!["nm2".into()], lasts: Millis(300_000) });
    let avoid = Measure { order, ..Measure::new(job(1), MeasureKind::Avoid, Verdict::Decided, Mode::Act, plan) };
    let Desk { ledger, engine, .. } = &mut world.desk;
    ledger.as_mut().unwrap().passed(&Pass { measures: vec![avoid], ..Pass::default() }, engine, Time(120_000));
    let settled = engine.clone_plan(job(1), TaskKind::Map).unwrap();
    world.end(second + 10, 0, false);

    let measures: Vec<MeasureRow> = world.all();
    let [row] = &measures[..] else { panic!("{measures:?}") };
    let words = [&row.measure, &row.verdict, &row.mode, &row.user, &row.policy].map(String::as_str);
    assert_eq!((words, row.decision), (["avoid", "decided", "act", "ann", "drover"], Some(77)));
    assert!(row.plan.contains("nm2"), "{}", row.plan);
    let plans: Vec<ClonePlanRow> = world.all();
    let [row] = &plans[..] else { panic!("{plans:?}") };
    assert_eq!((row.kind.as_str(), row.clones, row.tasks, row.gave_way), ("map", settled.clones, settled.tasks, false));
    assert_eq!(row.refused.as_deref(), settled.refused.map(Verdict::label));
}

#[test]
fn a_copy_that_lost_gained_nothing_and_shows_how_far_the_prediction_was_off() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Act, 0.0);
    let (decision, second) = world.decided();
    world.own(Fact::Acked(AckFact { job: job(1), decision: decision.id, answer: Answer::Applied, attempts: vec![1] }));
    world.end(second + 20, 0, true);
    let outcomes: Vec<OutcomeRow> = world.all();
    let error = (decision.am_at + decision.numbers.time_left.unwrap()).0 as i64 - outcomes[0].ended_ms.0 as i64;
    assert_eq!((outcomes[0].outcome.as_str(), outcomes[0].gained_ms), ("lost", None));
    assert_eq!(outcomes[0].prediction_error_ms, Some(error));
    assert_eq!(world.all::<JobRow>()[0].map_gain_ms, 0);
}

#[test]
fn advice_is_kept_with_what_it_would_have_come_to() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Advise, 0.0);
    world.decided();
    world.end(77, 0, false);
    assert_eq!(sides(&world), [0, 0, 1], "nothing acts");
    let outcomes: Vec<OutcomeRow> = world.all();
    assert_eq!((outcomes.len(), outcomes[0].outcome.as_str()), (1, "would_have_won"));
    assert!(
        outcomes[0].would_have_won > Some(0.5) && outcomes[0].gained_ms > Some(0) && outcomes[0].container_ms.0 == 0
    );
    assert_eq!((outcomes[0].winner, outcomes[0].prediction_error_ms.is_some()), (Some(0), true));
    assert_eq!(world.all::<JobRow>()[0].decided, 0, "nothing was to be done");
    assert_eq!(world.all::<EnrolmentRow>(), [], "in no mode to act there is nothing to compare");
}

#[test]
fn advice_on_an_attempt_that_another_followed_says_nothing_of_the_predictions_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Advise, 0.0);
    let (_, second) = world.decided();
    // The slow one failed, and the next attempt succeeded.
    world.end(second + 20, 1, true);
    let outcomes: Vec<OutcomeRow> = world.all();
    assert_eq!((outcomes.len(), outcomes[0].winner, outcomes[0].prediction_error_ms), (1, Some(1), None));
}

#[test]
fn a_job_is_enrolled_once_on_the_side_it_was_drawn_to_whether_it_is_acted_on_or_not() {
    for (holdout, held_out) in [(0.0, false), (1.0, true)] {
        let dir = tempfile::tempdir().unwrap();
        let mut world = world(&dir.path().join("l.db"), Mode::Act, holdout);
        for second in 0..5 {
            facts(job(1), second).into_iter().for_each(|fact| world.desk.observe(fact));
            world.desk.decide(Time(100_000 + second * 1_000));
        }
        let rows: Vec<EnrolmentRow> = world.all();
        assert_eq!((rows.len(), rows[0].held_out, rows[0].maps, rows[0].stratum.as_str()), (1, held_out, 10, "slow"));
        assert_eq!((rows[0].share, rows[0].salt.as_deref()), (Some(holdout), Some("1")));
    }
}

#[test]
fn a_job_is_enrolled_with_the_share_its_side_was_drawn_at_and_not_with_one_set_since() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Act, 0.25);
    let mut params = EngineParams::default();
    (params.govern.mode, params.govern.holdout, params.govern.holdout_salt) = (Mode::Act, 0.75, 9);
    world.desk.set_params(Time(100_000), params);
    // The first was seen before.
    for n in [1, 2] {
        facts(job(n), 0).into_iter().for_each(|fact| world.desk.observe(fact));
        world.own(Fact::Can(job(n), Capabilities { duplicate: true, ..Capabilities::default() }));
    }
    world.desk.decide(Time(100_000));
    let rows: Vec<EnrolmentRow> = world.all();
    let drawn: Vec<_> = rows.iter().map(|row| (row.job.clone(), row.share, row.salt.as_deref())).collect();
    assert_eq!(drawn, [(job(1).to_string(), Some(0.25), Some("1")), (job(2).to_string(), Some(0.75), Some("9"))]);
    world.end(20, 0, false);
    assert_eq!(sides(&world), [u64::from(!rows[0].held_out), u64::from(rows[0].held_out), 0]);
}

/// A process that had a copy started and ended before it: its decision, and its second.
fn left_open(path: &Path) -> (Decision, u64) {
    let mut first = world(path, Mode::Act, 0.0);
    let (decision, second) = first.decided();
    first.own(Fact::Sent { job: job(1), decision: decision.id });
    first.own(Fact::Acked(AckFact { job: job(1), decision: decision.id, answer: Answer::Applied, attempts: vec![1] }));
    first.desk.finish(Time(0));
    (decision, second)
}

/// The next one, which sees that attempt win at that second: what it tells of the copy, and of its job.
fn settled(path: &Path, second: u64, winner: u32) -> (OutcomeRow, JobRow) {
    let mut next = world(path, Mode::Advise, 0.0);
    next.desk.ledger = Some(feed(path, "p2"));
    facts(job(1), 1).into_iter().for_each(|fact| next.desk.observe(fact));
    next.end(second, winner, true);
    (next.all().remove(0), next.all().remove(0))
}

#[test]
fn what_an_earlier_process_left_open_is_known_to_the_next_and_settled_by_the_attempts_it_sees() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let (decision, second) = left_open(&path);
    let left = open(&path).actions;
    assert_eq!((left.len(), left[0].task, left[0].sent, left[0].deadline), (1, decision.task, true, decision.deadline));
    assert_eq!(left[0].answer, Some((Answer::Applied, vec![1])));
    let (outcome, job) = settled(&path, second + 10, 1);
    assert_eq!((outcome.incarnation.as_str(), outcome.decision), ("p1", decision.id));
    assert_eq!((outcome.outcome.as_str(), outcome.container_ms), ("won", Millis(9_000)));
    assert_eq!((outcome.host.as_deref(), outcome.hosts.as_str()), (Some("nm1"), "nm1"));
    assert_eq!((job.decided, job.won, Some(job.map_gain_ms)), (1, 1, outcome.gained_ms));
    assert!(open(&path).is_settled());
}

#[test]
fn an_answer_that_comes_to_the_next_process_is_kept_for_the_one_that_asked_and_tells_which_attempt_was_its_copy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let (decision, second) = left_open(&path);
    let mut next = world(&path, Mode::Advise, 0.0);
    next.desk.ledger = Some(feed(&path, "p2"));
    facts(job(1), 1).into_iter().for_each(|fact| next.desk.observe(fact));
    let mut answer = |incarnation: &str, answer, attempts: &[u32]| {
        let ack = AckFact { job: job(1), decision: decision.id, answer, attempts: attempts.to_vec() };
        next.desk.answered_late(Time(300_000), &Late { incarnation: incarnation.into(), ack });
    };
    answer("p1", Answer::Moved, &[2]);
    // What says nothing new, what a late repetition says, and another's.
    answer("p1", Answer::Moved, &[2]);
    answer("p1", Answer::Applied, &[1]);
    answer("p0", Answer::Moved, &[3]);
    next.end(second + 10, 2, true);
    let outcome: OutcomeRow = next.all().remove(0);
    assert_eq!((outcome.outcome.as_str(), outcome.attempts.as_str()), ("won", "2"));
    assert_eq!(outcome.answer.as_deref(), Some("moved"));
    let answers: Vec<AnswerRow> = next.all();
    let told: Vec<_> = answers.iter().map(|row| (row.incarnation.as_str(), row.attempts.as_str())).collect();
    assert_eq!(told, [("p1", "1"), ("p1", "2")]);
}

#[test]
fn a_win_that_an_earlier_process_saw_counts_when_the_next_sees_the_job_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let (_, second) = left_open(&path);
    // What a process saw of the copy and not of its job.
    let (outcome, _) = settled(&path, second + 10, 1);
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch("DELETE FROM jobs").unwrap();
    drop(file);
    let left = open(&path);
    let [won] = left.settled[..] else { panic!("{left:?}") };
    assert_eq!((won.won, won.predicted_end, left.actions.len()), (true, outcome.predicted_end_ms, 0));
    let mut last = world(&path, Mode::Advise, 0.0);
    last.desk.ledger = Some(feed(&path, "p3"));
    facts(job(1), 1).into_iter().for_each(|fact| last.desk.observe(fact));
    last.end(second + 10, 1, true);
    let job: JobRow = last.all().remove(0);
    assert_eq!((job.decided, job.won, Some(job.map_gain_ms)), (1, 1, outcome.gained_ms));
    assert_eq!(last.all::<OutcomeRow>().len(), 1, "and it is not settled twice");
}

/// What is left open in it.
fn open(path: &Path) -> Left {
    left(path, Time(200_000)).unwrap()
}

/// A process that begins when the job has ended, and is told of that end alone.
fn told_of_end(path: &Path, end: EndFact) -> World {
    let mut next = world(path, Mode::Advise, 0.0);
    next.desk.ledger = Some(feed_counted(path, "p2", next.counted.clone()));
    let source = Source { channel: Channel::History, app: Some(end.job.0), principal: None, incarnation: 0 };
    let (at, received) = (end.finished.unwrap_or(Time(900_000)), Time(900_000));
    next.desk.observe(Observation { source, seq: 1, at, received, fact: Fact::Ended(end) });
    next.desk.decide(received);
    next.desk.ledger.as_ref().unwrap().catch_up();
    next
}

#[test]
fn a_job_that_ended_while_no_process_ran_is_settled_with_its_copies_by_its_history() {
    for (winner, word, gains) in [(1, "won", true), (0, "lost", false)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l.db");
        let (decision, second) = left_open(&path);
        let at = 100_000 + (second + 10) * 1_000;
        let (state, started, finished) = (Some(JobPhase::Succeeded), Some(Time(100_000)), Some(Time(at)));
        let next =
            told_of_end(&path, EndFact { job: job(1), state, started, finished, attempts: attempts(at, winner, true) });
        let (outcomes, jobs): (Vec<OutcomeRow>, Vec<JobRow>) = (next.all(), next.all());
        let ([outcome], [job]) = (&outcomes[..], &jobs[..]) else { panic!("{outcomes:?} {jobs:?}") };
        let of = (outcome.incarnation.as_str(), outcome.decision, outcome.outcome.as_str(), outcome.ended_ms);
        assert_eq!(of, ("p1", decision.id, word, Time(at)));
        assert_eq!(
            (outcome.hosts.as_str(), outcome.container_ms, outcome.winner),
            ("nm1", Millis(9_000), Some(winner))
        );
        assert_eq!((outcome.gained_ms.is_some(), outcome.prediction_error_ms.is_some()), (gains, !gains));
        assert_eq!((job.decided, job.won, job.map_gain_ms), (1, u32::from(gains), outcome.gained_ms.unwrap_or(0)));
        let of = (job.name.as_str(), job.user.as_str(), job.maps, job.held_out, job.state.as_deref(), job.took_ms);
        let took = Some(Millis(at - 100_000));
        assert_eq!(of, ("slow", "ann", 10, Some(false), Some("succeeded"), took));
        assert!(open(&path).is_settled());
    }
}

#[test]
fn copies_of_whose_end_nobody_can_tell_are_unknown_as_of_their_jobs_end_and_not_looked_for_by_the_next_process() {
    for (state, finished) in [(None, None), (Some(JobPhase::Killed), Some(Time(300_000)))] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l.db");
        left_open(&path);
        let next = told_of_end(&path, EndFact { job: job(1), state, started: None, finished, attempts: Vec::new() });
        let (outcomes, jobs): (Vec<OutcomeRow>, Vec<JobRow>) = (next.all(), next.all());
        let ([outcome], [job]) = (&outcomes[..], &jobs[..]) else { panic!("{outcomes:?} {jobs:?}") };
        assert_eq!((outcome.outcome.as_str(), outcome.hosts.as_str(), outcome.winner), ("unknown", "", None));
        assert_eq!(outcome.ended_ms, finished.unwrap_or(Time(900_000)));
        assert_eq!((job.state.as_deref(), job.decided, job.won), (state.map(JobPhase::label), 1, 0));
        assert!(open(&path).is_settled());
    }
}

#[test]
fn a_job_that_ended_while_no_process_ran_counts_on_the_side_it_was_drawn_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let mut first = world(&path, Mode::Act, 0.5);
    for second in 0..5 {
        facts(job(1), second).into_iter().for_each(|fact| first.desk.observe(fact));
        first.desk.decide(Time(100_000 + second * 1_000));
    }
    let held_out = first.all::<EnrolmentRow>()[0].held_out;
    first.desk.finish(Time(0));
    let (state, finished) = (Some(JobPhase::Succeeded), Some(Time(300_000)));
    let next = told_of_end(&path, EndFact { job: job(1), state, started: None, finished, attempts: Vec::new() });
    assert_eq!(sides(&next), [u64::from(!held_out), u64::from(held_out), 0]);
}

#[test]
fn the_end_of_a_job_that_nobody_left_open_is_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    left_open(&path);
    let state = Some(JobPhase::Succeeded);
    let next = told_of_end(&path, EndFact { job: job(2), state, started: None, finished: None, attempts: Vec::new() });
    assert_eq!((next.all::<OutcomeRow>(), next.all::<JobRow>()), (vec![], vec![]));
    assert_eq!(open(&path).jobs.len(), 1);
}

#[test]
fn a_copy_without_a_prediction_that_an_earlier_process_left_open_counts_as_won_where_it_won() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let (_, second) = left_open(&path);
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch("UPDATE decisions SET time_left_ms = NULL, time_left_spread_ms = NULL").unwrap();
    let (outcome, job) = settled(&path, second + 10, 1);
    assert_eq!((outcome.outcome.as_str(), outcome.gained_ms, job.won), ("won", None, 1));
}

#[test]
fn a_copy_left_open_that_lost_to_its_original_shows_how_far_the_prediction_was_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let (decision, second) = left_open(&path);
    let (outcome, job) = settled(&path, second + 20, 0);
    let error = (decision.am_at + decision.numbers.time_left.unwrap()).0 as i64 - outcome.ended_ms.0 as i64;
    assert_eq!((outcome.outcome.as_str(), outcome.prediction_error_ms, job.won), ("lost", Some(error), 0));
}

#[test]
fn what_is_learned_of_estimates_and_stragglers_is_kept_by_the_hour() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Advise, 0.0);
    world.decided();
    world.end(77, 0, false);
    let mut kept = |at| {
        world.desk.decide(Time(at));
        let estimates = world.all::<CalibrationRow>().iter().any(|row| row.at_ms.0 == at && row.predictions > 0);
        (world.all::<StragglerRow>().len(), estimates)
    };
    let hour = 3_600_000;
    assert_eq!(kept(hour - 1), (0, false));
    assert_eq!(kept(hour), (1, true));
    assert_eq!(kept(hour + 1), (1, false), "once");
    assert_eq!(kept(2 * hour), (2, true));
}

#[test]
fn what_is_learned_of_nodes_is_kept_by_the_day() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = world(&dir.path().join("l.db"), Mode::Advise, 0.0);
    world.decided();
    let kept = |world: &World| world.all::<NodeRow>().iter().map(|row| row.at_ms.0).collect::<Vec<_>>();
    assert!(kept(&world).is_empty());
    // A job that runs shows the nodes that it runs on.
    let (day, task) = (86_400_000, job(1).task(TaskKind::Map, SLOW));
    let attempt = AttemptFact {
        state: Some(AttemptState::Running),
        host: Some("nm1".into()),
        started: Some(Time(100_000)),
        score: Some(0.9),
        ..AttemptFact::of(task.attempt(0))
    };
    world.desk.observe(seen(job(1), 900_000, day, Fact::Attempts { job: job(1), attempts: vec![attempt] }));
    world.desk.decide(Time(day));
    assert_eq!(kept(&world), [day]);
    world.desk.decide(Time(day + 3_600_000));
    assert_eq!(kept(&world), [day], "once");
}
