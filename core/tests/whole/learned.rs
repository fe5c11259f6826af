//! What is learned over jobs outlasts the process: whoever resumes it knows, and decides, what one does that never stopped.

use crate::common::*;
use drover_core::engine::{Engine, EngineParams, Learned, Pass, Room};
use drover_core::model::*;
use drover_core::policy::PolicyName;
use proptest::prelude::*;

const MINUTE: u64 = 60_000;

/// A job that has run: when it began, whose it was, and how many seconds each of its maps took on which of eight hosts.
#[derive(Debug, Clone)]
struct Ran {
    minute: u64,
    user: usize,
    name: usize,
    maps: Vec<(u64, usize)>,
}

/// Tells of the job, from its first map to its end, and has the engine decide each two seconds; what came of it.
fn run(script: &mut Script, number: u32, ran: &Ran) -> Vec<Pass> {
    let (id, users) = (job_id(number), ["ann", "bob"]);
    let begun = Time(T0 + ran.minute * MINUTE);
    let second = |second: u64| begun + Millis(second * 1_000);
    let maps = ran.maps.len() as u32;
    script.open_job_of(users[ran.user], "root.default", id, maps, 0, begun);
    let name = format!("etl-{}", ["a", "b"][ran.name]);
    let job = JobFact { name, user: users[ran.user].into(), started: begun, ..job_fact(id, maps, 0) };
    script.say(begun, Fact::Job(job));
    let last = ran.maps.iter().map(|(seconds, _)| *seconds).max().unwrap_or(1);
    let mut passes = Vec::new();
    for now in (0..=last + 1).step_by(2).chain([last + 2]) {
        let told = ran.maps.iter().enumerate().map(|(index, (seconds, host))| {
            let (task, host) = (id.task(TaskKind::Map, index as u32), format!("nm{host}"));
            if now >= *seconds {
                let (task, attempt) = succeeded(task, begun, second(*seconds));
                return (task, AttemptFact { host: Some(host.as_str().into()), ..attempt });
            }
            let runs = TaskFact { state: Some(TaskState::Running), started: Some(begun), ..TaskFact::of(task) };
            (runs, running(task, begun, now as f32 / *seconds as f32, &host))
        });
        let (tasks, attempts) = told.collect::<(Vec<_>, Vec<_>)>();
        script.tasks(id, second(now), tasks);
        script.attempts(id, second(now), attempts);
        passes.push(script.decide(second(now)));
    }
    let (started, finished) = (Some(begun), Some(second(last)));
    let end = EndFact { job: id, state: Some(JobPhase::Succeeded), started, finished, attempts: Vec::new() };
    script.say(second(last + 2), Fact::Ended(end));
    passes.push(script.decide(second(last + 3)));
    passes
}

/// All that it has learned, as it is kept.
fn kept(engine: &Engine) -> Vec<String> {
    Room::ALL.map(|room| serde_json::to_string(&engine.learned(room)).unwrap()).to_vec()
}

/// Another process that goes on, then, from what was kept, and has heard of its hosts in another order.
fn resumed(from: &Script, params: EngineParams, now: Time) -> Script {
    let mut engine = Engine::new(params);
    for text in kept(&from.engine).iter().rev() {
        let learned: Learned = serde_json::from_str(text).unwrap();
        engine.resume(learned, now);
    }
    Script { engine, seq: from.seq, ..*from }
}

/// Decisions without their numbers, which are counted anew.
fn decided(passes: &[Pass]) -> Vec<Decision> {
    let all = passes.iter().flat_map(|pass| &pass.decisions);
    all.map(|decision| Decision { id: 0, ..decision.clone() }).collect()
}

fn params(policy: PolicyName) -> EngineParams {
    EngineParams { policy, ..EngineParams::default() }
}

fn jobs() -> impl Strategy<Value = Vec<Ran>> {
    let map = (prop_oneof![4 => 10u64..14, 1 => 30u64..60], 0usize..8);
    let job = (0usize..2, 0usize..2, prop::collection::vec(map, 4..12), 2u64..90);
    prop::collection::vec(job, 2..7).prop_map(|jobs| {
        let mut minute = 0;
        let ran = |(user, name, maps, pause)| {
            minute += pause;
            Ran { minute, user, name, maps }
        };
        jobs.into_iter().map(ran).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whoever_resumes_between_two_jobs_learns_and_decides_on_what_is_then_as_one_that_never_stopped(
        jobs in jobs(),
        at in 0usize..6,
        policy in prop_oneof![Just(PolicyName::Drover), Just(PolicyName::Mantri), Just(PolicyName::Dolly)],
    ) {
        let at = at % jobs.len();
        let mut stays = Script::new(params(policy));
        for (number, ran) in (1..).zip(&jobs[..at]) {
            run(&mut stays, number, ran);
        }
        let mut resumes = resumed(&stays, params(policy), Time(T0 + jobs[at].minute * MINUTE));
        for (number, ran) in (1 + at as u32..).zip(&jobs[at..]) {
            let [one, other] = [&mut stays, &mut resumes].map(|script| decided(&run(script, number, ran)));
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(sorted(&stays.engine), sorted(&resumes.engine));
    }
}

/// The same whatever order hosts were first heard of in.
fn sorted(engine: &Engine) -> Vec<serde_json::Value> {
    let sort = |text: String| {
        let mut all: serde_json::Value = serde_json::from_str(&text).unwrap();
        for list in ["/odds/machines", "/node_rests"] {
            if let Some(list) = all.pointer_mut(list).and_then(serde_json::Value::as_array_mut) {
                list.sort_by_key(ToString::to_string);
            }
        }
        all
    };
    kept(engine).into_iter().map(sort).collect()
}

/// Thirty jobs of ann's, in each of which every tenth of ten maps straggles on the first host.
fn learned() -> Script {
    let mut script = Script::new(params(PolicyName::Drover));
    for number in 0..30 {
        let maps = (0..10).map(|index| if index == 0 { (60, 0) } else { (10 + index % 3, index as usize % 8) });
        run(&mut script, number as u32 + 1, &Ran { minute: number * 2, user: 0, name: 0, maps: maps.collect() });
    }
    script
}

#[test]
fn p_calibration_and_the_times_of_earlier_runs_are_known_again_and_of_machines_what_time_has_left() {
    let script = learned();
    let known = script.engine.known();
    assert!(known.tasks > 100 && known.predictions > 100 && known.kinds == 1 && known.machines == 8, "{known:?}");
    let of = |engine: &Engine| (engine.known(), engine.odds().cluster().probability());
    let mut stays = script;
    for hours in [1, 2, 10, 24 * 30] {
        let now = Time(T0 + hours * 60 * MINUTE);
        let resumes = resumed(&stays, params(PolicyName::Drover), now);
        stays.decide(now);
        assert_eq!(of(&resumes.engine), of(&stays.engine), "{hours} h");
    }
    let (later, p) = of(&stays.engine);
    assert_eq!((later.predictions, later.kinds), (known.predictions, known.kinds));
    assert!(later.tasks > 100 && (p.unwrap() - 0.1).abs() < 0.02, "hours without tasks say nothing of p: {p:?}");
    assert_eq!(later.machines, 0, "what was seen of machines is long ago");
}

#[test]
fn what_one_users_jobs_have_shown_still_counts_for_that_user_alone() {
    let script = learned();
    let again = resumed(&script, params(PolicyName::Drover), Time(T0 + 60 * MINUTE));
    let odds = again.engine.odds().cluster();
    assert!(odds.holds_for("ann") && !odds.holds_for("bob"));
    let host = again.engine.cluster().hosts.find("nm0").unwrap();
    assert_eq!(again.engine.odds().machine(host).unwrap().hourly().only_principal(), Some("ann"));
    let kinds = again.engine.calibration().kinds();
    assert!(kinds.iter().all(|(kind, _)| kind.user == "ann") && kinds.len() == 1);
}
