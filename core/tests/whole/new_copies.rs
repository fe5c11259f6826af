//! What a new copy's time rests on beside its own phase, in whole passes: the job's earlier runs, and the machines with room.

use crate::common::*;
use drover_core::engine::{Candidate, EngineParams};
use drover_core::model::*;
use drover_core::policy::PolicyName;

/// The eighth second of Alice's next job, of two maps that take a minute each, on nodes that have so much in use: what is decided of them, and their verdicts.
fn next_job(user: &str, used_mb: [u64; 4]) -> (Vec<Decision>, Vec<Candidate>) {
    next_job_under(PolicyName::Mantri, user, used_mb)
}

fn next_job_under(policy: PolicyName, user: &str, used_mb: [u64; 4]) -> (Vec<Decision>, Vec<Candidate>) {
    let mut script = with_a_slow_second_node(EngineParams { policy, ..EngineParams::default() });
    let id = job_id(2);
    script.open_job_of(user, "root.default", id, 2, 0, at(42.0));
    script.say(at(42.0), Fact::ShimSession(id, true));
    let total = Resources { memory_mb: 2048, vcores: 8 };
    let nodes = (1..).zip(used_mb);
    let nodes =
        nodes.map(|(n, memory_mb)| NodeFact::usable(&format!("nm{n}"), total, Resources { memory_mb, vcores: 0 }));
    script.say(at(42.0), Fact::Nodes(nodes.collect()));
    let mut decided = Vec::new();
    for second in 43..51 {
        let now = f64::from(second);
        let runs =
            (0..2).map(|index| runs_of(id.task(TaskKind::Map, index), &[Run { launched: 42.0, takes: 60.0 }], now));
        let (tasks, attempts): (Vec<_>, Vec<_>) = runs.unzip();
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts.concat());
        decided.extend(script.decide(at(now)).decisions);
    }
    (decided, script.engine.candidates(id))
}

fn fresh(numbers: &Numbers) -> f64 {
    numbers.fresh_copy.unwrap().as_secs_f64()
}

#[test]
fn a_phase_that_has_shown_too_little_is_judged_by_the_jobs_earlier_runs() {
    let (decided, _) = next_job("alice", [0; 4]);
    assert!(!decided.is_empty(), "a quarter of its tasks took 40 s, the others 4");
    assert!(decided.iter().all(|one| one.action == Action::Duplicate && fresh(&one.numbers) > 10.0), "{decided:?}");
    assert!(decided.iter().all(|one| one.rule.ends_with("t_new with the job's earlier runs")), "{decided:?}");
}

#[test]
fn lates_fresh_copy_rests_on_earlier_runs_and_on_the_machines_with_room_as_mantris_does() {
    let of = |user, used| next_job_under(PolicyName::Late, user, used).1[0].numbers.fresh_copy;
    assert_eq!(of("bob", [0; 4]), None, "no task of this run has finished");
    let [any, slow] = [[0; 4], [2048, 0, 2048, 2048]].map(|used| of("alice", used).unwrap().as_secs_f64());
    assert!(slow / any > 2.0, "the second node is ten times as slow: {any} {slow}");
    assert_eq!(next_job_under(PolicyName::Dryad, "alice", [0; 4]).1[0].numbers.fresh_copy, None);
}

#[test]
fn one_users_runs_say_nothing_of_anothers() {
    let (decided, candidates) = next_job("bob", [0; 4]);
    assert_eq!(decided, vec![]);
    assert!(candidates.iter().all(|one| one.verdict == Verdict::TooFewFinished), "{candidates:?}");
}

#[test]
fn a_copy_that_can_only_go_to_a_fast_machine_takes_less_and_to_a_slow_one_more() {
    let [any, fast, slow] =
        [[0; 4], [0, 2048, 0, 0], [2048, 0, 2048, 2048]].map(|used| fresh(&next_job("alice", used).1[0].numbers));
    // Each has shown sixteen tasks, those of the second ten typical ones long, to which ten of any machine's are added. The second it takes to start one is not the machine's.
    let (second, other) = ((10.0 * 16.0 + 10.0) / 26.0, 1.0);
    let mean = (second + 3.0 * other) / 4.0;
    for (there, factor) in [(fast, other / mean), (slow, second / mean)] {
        assert!(((there - 1.0) / (any - 1.0) - factor).abs() < 0.001, "{there} {any} {factor}");
    }
}
