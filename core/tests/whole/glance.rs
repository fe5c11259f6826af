//! Passes over jobs of which nothing but progress was told.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{LateParams, PolicyName};
use proptest::prelude::*;

/// Tasks of a minute, of which so many of the first have ended; those at work began at 0.
const WHOLE: f64 = 60.0;
const ENDED: u32 = 5;

/// No budget stands in the way: what is decided is what is slow.
fn unbounded() -> EngineParams {
    let govern =
        GovernParams { cluster_cap: 1.0, user_cap: 1.0, queue_cap: 1.0, job_cap: 1.0, ..GovernParams::default() };
    EngineParams { govern, ..EngineParams::default() }
}

/// An instant, with time before it.
fn then(seconds: f64) -> Time {
    at(1_000.0 + seconds)
}

/// A job whose shim speaks for it, with `running` maps at work.
fn open(params: EngineParams, running: u32) -> Script {
    let mut script = Script::new(params);
    let id = job_id(1);
    script.open_job(id, ENDED + running, 0, then(-90.0));
    script.say(then(-90.0), Fact::ShimSession(id, true));
    let ended = (0..ENDED).map(|index| succeeded(map(index), then(-80.0), then(-80.0 + WHOLE)));
    let (mut tasks, winners): (Vec<_>, Vec<_>) = ended.unzip();
    tasks.extend((ENDED..ENDED + running).map(|index| TaskFact {
        state: Some(TaskState::Running),
        started: Some(then(0.0)),
        ..TaskFact::of(map(index))
    }));
    script.tasks(id, then(0.0), tasks);
    script.attempts(id, then(0.0), winners);
    let first = (0..running).map(|index| report(index, 0.0)).collect();
    script.attempts(id, then(0.0), first);
    script
}

fn map(index: u32) -> TaskId {
    job_id(1).task(TaskKind::Map, index)
}

/// Of the `index`th of those at work.
fn report(index: u32, score: f64) -> AttemptFact {
    running(map(ENDED + index), then(0.0), score as f32, &format!("nm{}", index % 4 + 1))
}

fn verdict(script: &Script, index: u32) -> Option<Verdict> {
    script.engine.cluster().job(job_id(1)).and_then(|job| job.task(map(ENDED + index))?.verdict)
}

/// At 80 s, with three tasks at work, of which each would take 89.6 s: slow is what takes more than 90.
fn at_80_s() -> Script {
    let mut script = open(unbounded(), 3);
    for second in [30.0, 59.0, 80.0] {
        script.attempts(job_id(1), then(second), (0..3).map(|index| report(index, 0.67 * second / WHOLE)).collect());
    }
    script.decide(then(80.0));
    assert_eq!([0, 1, 2].map(|index| verdict(&script, index)), [Some(Verdict::NotSlow); 3]);
    script
}

#[test]
fn progress_of_one_ordinary_task_leaves_the_others_as_they_were_found_until_the_job_is_due() {
    let mut script = at_80_s();
    let before = script.engine.cluster().job(job_id(1)).unwrap().clone();
    script.attempts(job_id(1), then(80.3), vec![report(0, 0.937)]);
    assert!(!script.engine.cluster().job(job_id(1)).unwrap().stirred, "nothing but progress was told");
    assert_eq!(script.decide(then(80.4)).jobs_evaluated, 1);
    let after = script.engine.cluster().job(job_id(1)).unwrap();
    assert_eq!([1, 2].map(|index| after.task(map(ENDED + index))), [1, 2].map(|index| before.task(map(ENDED + index))));
    assert!(!after.task(map(ENDED)).unwrap().marks.told(), "it has been looked at");
    assert_eq!(script.decide(then(80.9)).jobs_evaluated, 0, "it is not due before a second is over");
    assert_eq!(script.decide(then(81.0)).jobs_evaluated, 1, "a glance does not put that off");
}

#[test]
fn a_task_that_its_own_report_shows_to_be_slow_is_found_at_that_report_and_the_whole_job_looked_at() {
    let mut script = at_80_s();
    script.attempts(job_id(1), then(80.3), vec![report(0, 0.937)]);
    script.decide(then(80.4));
    // It has hardly moved since, and a copy would take longer than what is left of it.
    script.attempts(job_id(1), then(80.9), vec![report(1, 0.8934)]);
    script.decide(then(80.9));
    assert_eq!([0, 1].map(|index| verdict(&script, index)), [Some(Verdict::NotSlow), Some(Verdict::NoGain)]);
    assert_eq!(script.decide(then(81.0)).jobs_evaluated, 0, "its second begins anew");
}

#[test]
fn whatever_is_more_than_progress_has_the_whole_job_looked_at() {
    let needs = |maps| Fact::Needs { job: job_id(1), maps, reduces: 0, native_copies: 0 };
    let known = |script: &Script| script.engine.cluster().job(job_id(1)).unwrap().stirred;
    let summary = || JobFact { started: then(-90.0), ..job_fact(job_id(1), ENDED + 3, 0) };
    let app = |user: &str, queue: &str| {
        Fact::Apps(vec![AppFact {
            app: job_id(1).0,
            user: user.into(),
            queue: queue.into(),
            name: "job".into(),
            started: then(-90.0),
            containers: 1,
            allocated: Resources::default(),
            label: None,
        }])
    };
    let settings = open(unbounded(), 3).engine.cluster().job(job_id(1)).unwrap().settings.clone().unwrap();
    let told = |fact: Fact| {
        let mut script = open(unbounded(), 3);
        script.say(then(1.0), needs(0));
        script.decide(then(60.0));
        assert!(!known(&script));
        script.say(then(60.1), fact);
        known(&script)
    };
    let one = |fact| Fact::Attempts { job: job_id(1), attempts: vec![fact] };
    let ended = AttemptFact { state: Some(AttemptState::Succeeded), finished: Some(then(60.0)), ..report(0, 1.0) };
    let copy = AttemptFact { number: 1, ..report(0, 0.0) };
    let committing = AttemptFact { state: Some(AttemptState::CommitPending), ..report(0, 1.0) };
    let can = Capabilities { withdraw: true, ..Capabilities::default() };
    for (what, fact, stirs) in [
        ("progress", one(report(0, 0.9)), false),
        ("the same again", one(report(0, 0.0)), false),
        ("as many waiting as before", needs(0), false),
        ("the same session", Fact::ShimSession(job_id(1), true), false),
        ("the same settings", Fact::Settings(job_id(1), settings), false),
        ("its summary", Fact::Job(summary()), false),
        ("its summary, its state untold", Fact::Job(JobFact { state: None, ..summary() }), false),
        ("another name", Fact::Job(JobFact { name: "other".into(), ..summary() }), true),
        ("another user", Fact::Job(JobFact { user: "bob".into(), ..summary() }), true),
        ("another state", Fact::Job(JobFact { state: Some(JobPhase::Preparing), ..summary() }), true),
        ("that it runs inside its master", Fact::Job(JobFact { uber: true, ..summary() }), true),
        ("more maps", Fact::Job(JobFact { maps: ENDED + 4, ..summary() }), true),
        ("its owner and queue", app("alice", "root.default"), false),
        ("another owner", app("bob", "root.default"), true),
        ("another queue", app("alice", "root.etl"), true),
        ("as little that can be done", Fact::Can(job_id(1), Capabilities::default()), false),
        ("that these are all tasks", Fact::Tasks { job: job_id(1), complete: true, tasks: vec![] }, false),
        ("an end", one(ended), true),
        ("a copy", one(copy), true),
        ("a commit", one(committing), true),
        ("others waiting", needs(2), true),
        ("the end of a session", Fact::ShimSession(job_id(1), false), true),
        ("what can be done", Fact::Can(job_id(1), can), true),
        ("its configuration", Fact::Settings(job_id(1), JobSettings::default()), true),
    ] {
        assert_eq!(told(fact), stirs, "{what}");
    }
}

/// The verdict on a task of which nothing was told, once a second's worth of progress was told of its peers.
fn passed_over(params: EngineParams) -> Option<Verdict> {
    let mut script = open(params, 5);
    script.attempts(job_id(1), then(80.0), (0..5).map(|index| report(index, 0.6)).collect());
    script.decide(then(80.0));
    assert_ne!(verdict(&script, 0), Some(Verdict::Decided));
    script.attempts(job_id(1), then(80.3), (1..5).map(|index| report(index, 0.9)).collect());
    script.decide(then(80.4));
    verdict(&script, 0)
}

#[test]
fn where_slow_is_what_is_slower_than_others_that_run_their_progress_alone_may_make_a_task_slow() {
    let by_rank =
        EngineParams { policy: PolicyName::Late, late: LateParams::paper(), estimator: Estimator::Late, ..unbounded() };
    assert_eq!(passed_over(by_rank), Some(Verdict::Decided));
    assert_eq!(passed_over(EngineParams { policy: PolicyName::Hadoop020, ..unbounded() }), Some(Verdict::Decided));
}

#[test]
fn a_glance_names_the_instant_at_which_what_it_has_seen_may_be_slow() {
    let late = LateParams { min_age: Millis(80_700), ..LateParams::default() };
    let mut script = open(EngineParams { late, look_again: Millis(60_000), ..unbounded() }, 3);
    script.attempts(job_id(1), then(40.0), (0..3).map(|index| report(index, 0.3)).collect());
    script.decide(then(40.0));
    script.attempts(job_id(1), then(80.0), vec![report(0, 0.5)]);
    assert!(!script.engine.cluster().job(job_id(1)).unwrap().stirred);
    assert_eq!(script.decide(then(80.3)).next, Some(then(80.7)));
}

/// Runs an engine over tasks that have those paces and report at those fifths of a second; `heed` is told of each fifth's decisions.
fn play(
    mut script: Script,
    paces: &[f64],
    reports: &[Vec<bool>],
    whole: bool,
    mut heed: impl FnMut(&Script, Vec<u32>),
) {
    for (fifth, who) in reports.iter().enumerate() {
        let second = 20.0 + fifth as f64 / 5.0;
        let moved = (0..paces.len()).filter(|index| who[*index]);
        let told = moved.map(|index| report(index as u32, (second / WHOLE * paces[index]).min(0.99))).collect();
        script.attempts(job_id(1), then(second), told);
        if whole {
            script.say(then(second), Fact::Rival(None));
        }
        let taken = script.decide(then(second)).decisions;
        heed(&script, taken.into_iter().map(|decision| decision.task.index - ENDED).collect());
    }
}

/// In which fifth each task was decided on by an engine that glances.
fn decided(paces: &[f64], reports: &[Vec<bool>]) -> Vec<Option<usize>> {
    let (mut found, mut fifth) = (vec![None; paces.len()], 0);
    play(open(unbounded(), paces.len() as u32), paces, reports, false, |_, taken| {
        taken.into_iter().for_each(|task| found[task as usize] = Some(fifth));
        fifth += 1;
    });
    found
}

/// Which tasks one that looks at everything in every pass finds slow in each fifth, and decides on none of them.
fn slow(paces: &[f64], reports: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let never = GovernParams { debounce: Millis(600_000), ..unbounded().govern };
    let (running, mut found) = (paces.len() as u32, Vec::new());
    play(open(EngineParams { govern: never, ..unbounded() }, running), paces, reports, true, |script, taken| {
        assert!(taken.is_empty(), "{taken:?}");
        found.push((0..running).map(|index| verdict(script, index) == Some(Verdict::Debouncing)).collect());
    });
    found
}

/// That a task is decided on when it is slow, and when it has been for a second, after which a job is due. What is slow for less, as
/// the median of those under way moves with their reports, may be passed over.
fn is_found_in_time(paces: &[f64], reports: &[Vec<bool>]) -> Result<(), TestCaseError> {
    const SECOND: usize = 6;
    let (decided, slow) = (decided(paces, reports), slow(paces, reports));
    for (task, decided) in decided.into_iter().enumerate() {
        prop_assert!(
            decided.is_none_or(|fifth| slow[fifth][task]),
            "{task} is decided on at {decided:?}, and is not slow"
        );
        let last = slow.windows(SECOND).position(|second| second.iter().all(|fifth| fifth[task]));
        let last = last.map(|first| first + SECOND - 1);
        prop_assert!(
            last.is_none_or(|last| decided.is_some_and(|own| own <= last)),
            "{task}: {last:?} and {decided:?}"
        );
    }
    Ok(())
}

#[test]
fn what_is_slow_only_until_the_next_report_of_a_peer_may_be_passed_over() {
    // Of five under way three have reported when the last of these does, and their median makes the third slow; the first's report moves it.
    let (paces, told) = ([0.21, 0.95, 0.1, 0.995, 0.242], [(3, 2), (38, 4), (42, 2), (44, 3), (45, 0)]);
    let who = |fifth| (0..5).map(|task| told.contains(&(fifth, task))).collect();
    let reports: Vec<Vec<bool>> = (0..50).map(who).collect();
    let slow: Vec<bool> = slow(&paces, &reports).into_iter().map(|fifth| fifth[2]).collect();
    assert_eq!(slow.iter().position(|slow| *slow), Some(44));
    assert_eq!(slow[45..], [false; 5]);
    assert_eq!(decided(&paces, &reports), [None; 5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 3 / 16))]

    #[test]
    fn what_a_glance_passes_over_is_decided_on_within_the_second_after_which_the_job_is_due(
        (paces, reports) in (3usize..9).prop_flat_map(|tasks| {
            let pace = prop_oneof![4 => 0.95..1.05, 1 => 0.1..0.3];
            let who = prop::collection::vec(prop::bool::weighted(0.3), tasks);
            (prop::collection::vec(pace, tasks), prop::collection::vec(who, 200))
        }),
    ) {
        is_found_in_time(&paces, &reports)?;
    }
}
