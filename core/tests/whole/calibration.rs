//! Estimators are put to the test by what happens, whichever of them is in force.

use crate::common::*;
use drover_core::engine::{Engine, EngineParams, Pass};
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::{Accuracy, INTERVAL, INTERVAL_SPREADS, Point};
use drover_core::estimate::stats::uniform_draw;
use drover_core::model::*;
use drover_core::policy::PolicyName;

const MAPS: u32 = 24;
const START_UP: f64 = 10.0;
const WORK: f64 = 12.0;

/// What is to be seen of a map that works evenly after a long start: by its average rate it is far from done when it nearly is.
fn seen(task: TaskId, now: f64) -> (TaskFact, AttemptFact) {
    if now >= START_UP + WORK {
        return succeeded(task, at(0.0), at(START_UP + WORK));
    }
    let score = ((now - START_UP).max(0.0) / WORK) as f32;
    let running_task = TaskFact { state: Some(TaskState::Running), started: Some(at(0.0)), ..TaskFact::of(task) };
    (running_task, running(task, at(0.0), score, "nm1"))
}

/// Looks at the job each second until it ends; what the passes had to say. `cut` serialises the engine before each.
fn run(script: &mut Script, cut: bool) -> Vec<Pass> {
    let id = job_id(1);
    script.open_job(id, MAPS, 0, at(0.0));
    let mut passes = Vec::new();
    for second in 0..=23 {
        let (tasks, attempts) =
            (0..MAPS).map(|index| seen(id.task(TaskKind::Map, index), second.into())).collect::<(Vec<_>, Vec<_>)>();
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        if cut {
            let json = serde_json::to_string(&script.engine).unwrap();
            script.engine = serde_json::from_str(&json).unwrap();
        }
        passes.push(script.decide(at(second.into())));
    }
    passes
}

fn accuracy(engine: &Engine, point: Point, estimator: Estimator) -> &Accuracy {
    engine.calibration().overall().of(TaskKind::Map, point, estimator).unwrap()
}

fn late() -> EngineParams {
    EngineParams { estimator: Estimator::Late, choose_estimator: true, ..EngineParams::default() }
}

#[test]
fn each_estimator_is_put_to_the_test_at_each_point_by_each_task() {
    let mut script = Script::new(EngineParams::default());
    run(&mut script, false);
    for point in Point::ALL {
        let late = accuracy(&script.engine, point, Estimator::Late);
        let phases = accuracy(&script.engine, point, Estimator::PhaseAware);
        assert_eq!((late.evidence(), phases.evidence()), (MAPS, MAPS), "{point:?}");
        assert!(phases.mean_error().unwrap() < 0.1 && phases.coverage() == Some(1.0), "{phases:?}");
        assert!(late.bias().unwrap() > 0.5 && late.coverage() == Some(0.0), "{late:?}");
    }
    assert_eq!(script.engine.calibration().watched(), 0, "nothing more is to be learnt of the job");
}

#[test]
fn a_job_that_is_gone_leaves_no_notes_behind() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, MAPS, 0, at(0.0));
    let attempts = (0..MAPS).map(|index| seen(id.task(TaskKind::Map, index), 17.0).1).collect();
    script.attempts(id, at(17.0), attempts);
    script.decide(at(17.0));
    assert_eq!(script.engine.calibration().watched(), MAPS as usize);
    let end = EndFact { job: id, state: Some(JobPhase::Killed), started: None, finished: None, attempts: vec![] };
    script.say(at(18.0), Fact::Ended(end));
    assert_eq!(script.decide(at(18.0)).errors, []);
    let calibration = script.engine.calibration();
    assert_eq!((calibration.watched(), calibration.overall().censored), (0, [u64::from(MAPS), 0]));
}

#[test]
fn an_engine_that_is_cut_and_carried_on_learns_the_same() {
    let (mut whole, mut cut) = (Script::new(late()), Script::new(late()));
    assert_eq!(run(&mut whole, false), run(&mut cut, true));
    let summary = |script: &Script| serde_json::to_string(script.engine.calibration()).unwrap();
    assert_eq!(summary(&whole), summary(&cut));
}

#[test]
fn the_estimator_that_proved_better_is_taken_for_that_kind_of_job_alone_and_only_if_asked() {
    let mut script = Script::new(late());
    run(&mut script, false);
    let known = script.engine.cluster().job(job_id(1)).unwrap().clone();
    let taken = |script: &Script, job: &Job| script.engine.estimator_for(job, TaskKind::Map);
    assert_eq!(taken(&script, &known), Estimator::PhaseAware);
    assert_eq!(script.engine.estimator_for(&known, TaskKind::Reduce), Estimator::Late, "nothing is known of reduces");
    let mut others = known.clone();
    others.user = "bob".into();
    assert_eq!(taken(&script, &others), Estimator::Late, "what one user's jobs show is not taken for another's");
    for params in
        [EngineParams { choose_estimator: false, ..late() }, EngineParams { policy: PolicyName::Hadoop, ..late() }]
    {
        script.engine.set_params(params);
        assert_eq!(taken(&script, &known), Estimator::Late);
    }
}

#[test]
fn a_reduce_that_waits_for_maps_is_not_noted() {
    let noted = |maps_done: bool| {
        let mut script = Script::new(EngineParams::default());
        let id = job_id(1);
        script.open_job(id, 1, 1, at(0.0));
        let (map, reduce) = (id.task(TaskKind::Map, 0), id.task(TaskKind::Reduce, 0));
        if maps_done {
            let (task, attempt) = succeeded(map, at(0.0), at(5.0));
            script.tasks(id, at(5.0), vec![task]);
            script.attempts(id, at(5.0), vec![attempt]);
        }
        let copying = AttemptFact { phase: Some(Phase::Copy), ..running(reduce, at(1.0), 0.26, "nm1") };
        script.attempts(id, at(10.0), vec![copying]);
        script.decide(at(10.0));
        let killed =
            EndFact { job: id, state: Some(JobPhase::Killed), started: None, finished: None, attempts: vec![] };
        script.say(at(18.0), Fact::Ended(killed));
        script.decide(at(18.0));
        script.engine.calibration().overall().censored[1]
    };
    assert_eq!((noted(false), noted(true)), (0, 1));
}

/// The nth job of 32 maps that come to half in 10 s, and take for the other half a third to three times as long, nobody knows beforehand which: LATE's predictions at half,
/// and the share of their intervals that held what happened.
fn held_by_intervals_at_half(script: &mut Script, nth: u32) -> f64 {
    let (id, began) = (job_id(nth), f64::from(nth) * 100.0);
    let half = |index: u32| 10.0 * 3.0_f64.powf(2.0 * uniform_draw(nth.into(), index.into()) - 1.0);
    script.open_job(id, 32, 0, at(began));
    let mut errors = Vec::new();
    for since in (0..=41).map(f64::from) {
        let of = |index| {
            let (task, second) = (id.task(TaskKind::Map, index), half(index));
            if since >= 10.0 + second {
                return succeeded(task, at(began), at(began + 10.0 + second));
            }
            let score = 0.05 * since.min(10.0) + 0.5 * (since - 10.0).max(0.0) / second;
            (TaskFact::of(task), running(task, at(began), score as f32, "nm1"))
        };
        let (tasks, attempts) = (0..32).map(of).unzip();
        script.tasks(id, at(began + since), tasks);
        script.attempts(id, at(began + since), attempts);
        errors.append(&mut script.decide(at(began + since)).errors);
    }
    errors.retain(|error| (error.estimator, error.point) == (Estimator::Late, Point::Half));
    let held = errors.iter().filter(|error| {
        let off = error.predicted.mean.0.abs_diff(error.actual.0) as f64;
        off <= error.predicted.spread.0 as f64 * INTERVAL_SPREADS
    });
    held.count() as f64 / errors.len() as f64
}

#[test]
fn intervals_hold_what_they_are_to_once_errors_have_been_measured() {
    let mut script = Script::new(late());
    let guessed = held_by_intervals_at_half(&mut script, 1);
    assert!(guessed < 0.5, "a quarter either way holds few of them: {guessed}");
    let measured = (2..=7).map(|nth| held_by_intervals_at_half(&mut script, nth)).sum::<f64>() / 6.0;
    assert!((INTERVAL - 0.05..INTERVAL + 0.1).contains(&measured), "{measured}");
}

#[test]
fn what_decisions_rest_on_has_the_measured_spread() {
    let spread = |jobs: u32| {
        let params = EngineParams { choose_estimator: false, ..late() };
        let mut script = Script::new(params);
        for nth in 1..=jobs {
            held_by_intervals_at_half(&mut script, nth);
        }
        let (id, began) = (job_id(99), 9_900.0);
        script.open_job(id, 1, 0, at(began));
        script.attempts(id, at(began + 10.0), vec![running(id.task(TaskKind::Map, 0), at(began), 0.5, "nm1")]);
        script.decide(at(began + 10.0));
        script.engine.candidates(id)[0].numbers.time_left_spread.unwrap()
    };
    assert_eq!(spread(0), Millis(2_500));
    assert!(spread(1) > Millis(4_000), "{:?}", spread(1));
}

#[test]
fn t_rem_by_bytes_is_put_to_the_test_like_the_others_and_taken_where_it_proved_better() {
    let params = EngineParams { choose_estimator: true, ..EngineParams::default() };
    let (mut script, id) = (Script::new(params), job_id(1));
    script.open_job(id, MAPS, 0, at(0.0));
    // Each reads evenly, and its score runs ahead of that.
    for second in (0..=40).map(f64::from) {
        let of = |index| {
            let task = id.task(TaskKind::Map, index);
            if second >= 40.0 {
                return succeeded(task, at(0.0), at(40.0));
            }
            let read = second / 40.0;
            let mut attempt = running(task, at(0.0), read.sqrt() as f32, "nm1");
            attempt.counters.read = Some(Bytes((read * 1e9) as u64));
            (TaskFact { input: Some(Bytes(1_000_000_000)), ..TaskFact::of(task) }, attempt)
        };
        let (tasks, attempts) = (0..MAPS).map(of).unzip();
        script.tasks(id, at(second), tasks);
        script.attempts(id, at(second), attempts);
        script.decide(at(second));
    }
    let error = |estimator| accuracy(&script.engine, Point::Half, estimator).median_error().unwrap();
    assert!(error(Estimator::Mantri) < 0.02 && error(Estimator::PhaseAware) > 0.2);
    let job = script.engine.cluster().job(id).unwrap();
    assert_eq!(script.engine.estimator_for(job, TaskKind::Map), Estimator::Mantri);
}
