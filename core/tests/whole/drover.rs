//! Drover's own policy: Dolly for small jobs, Mantri with LATE's guards for the rest.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{DollyParams, LateParams, PolicyName};

fn drover(dolly: DollyParams, late: LateParams) -> Script {
    Script::new(EngineParams { policy: PolicyName::Drover, dolly, late, ..EngineParams::default() })
}

#[test]
fn a_job_whose_clones_have_room_is_cloned_and_a_larger_one_has_its_stragglers_copied() {
    let mut small = drover(DollyParams { beta: 0.2, prior: 0.1, ..DollyParams::default() }, LateParams::default());
    let clones = play(&mut small, 4, 8.0, &|_| 1.0, 3);
    assert_eq!(clones.len(), 4);
    assert!(clones.iter().all(|(second, one)| *second <= 1 && one.rule.contains("Dolly")), "{clones:?}");
    let mut large = drover(DollyParams::default(), LateParams::default());
    let copies = play(&mut large, 16, 4.0, &one_node_in_four, 20);
    let mut tasks: Vec<u32> = copies.iter().map(|(_, one)| one.task.index).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [1, 5, 9, 13]);
    assert!(copies.iter().all(|(_, one)| one.rule.contains("Mantri")), "{copies:?}");
}

#[test]
fn what_late_finds_too_young_mantri_does_not_copy() {
    // Counters that nobody reads are waited for until twice the age.
    let patient = LateParams { min_age: Millis(8_000), ..LateParams::default() };
    let mut script = drover(DollyParams::default(), patient);
    let copies = play(&mut script, 16, 4.0, &one_node_in_four, 39);
    assert!(!copies.is_empty() && copies.iter().all(|(second, _)| *second >= 16), "{copies:?}");
}

#[test]
fn of_two_tasks_the_slow_one_is_copied_as_late_would_though_mantri_has_seen_too_few() {
    let mut script = drover(DollyParams { beta: 0.0, ..DollyParams::default() }, LateParams::default());
    let copies = play(&mut script, 2, 4.0, &|index| if index == 1 { 10.0 } else { 1.0 }, 20);
    let told: Vec<_> = copies.iter().map(|(_, one)| (one.task.index, one.rule.contains("LATE"))).collect();
    assert_eq!(told, [(1, true)], "{copies:?}");
}

#[test]
fn nothing_slow_means_nothing_done() {
    let mut script = drover(DollyParams::default(), LateParams::default());
    let jitter = |index: u32| 1.0 + 0.04 * f64::from(index % 8);
    assert_eq!(play(&mut script, 32, 20.0, &jitter, 30), vec![]);
}

/// The jobs that get copies in the first second in which a job of sixteen maps has any, where one may be in flight; beside it may begin a job of one map, which is to have
/// one clone.
fn first_copies(beside: bool) -> Vec<(JobId, u32)> {
    let govern = GovernParams { cluster_cap: 0.0, cluster_floor: 1, ..GovernParams::default() };
    let dolly = DollyParams { beta: 0.2, prior: 0.1, ..DollyParams::default() };
    let params = EngineParams { policy: PolicyName::Drover, dolly, govern, ..EngineParams::default() };
    let first = play(&mut Script::new(params.clone()), 16, 4.0, &one_node_in_four, 20)[0].0;
    let mut script = Script::new(params);
    assert_eq!(play(&mut script, 16, 4.0, &one_node_in_four, first), []);
    let (now, small) = (at(first.into()), job_id(2));
    let (tasks, attempts) = equal_maps(job_id(1), 16, 4.0, &one_node_in_four, first.into(), 0);
    script.tasks(job_id(1), now, tasks);
    script.attempts(job_id(1), now, attempts);
    if beside {
        script.open_job(small, 1, 0, now);
        let (task, attempts) =
            runs_of(small.task(TaskKind::Map, 0), &[Run { launched: first.into(), takes: 8.0 }], first.into());
        script.tasks(small, now, vec![task]);
        script.attempts(small, now, attempts);
    }
    script.decide(now).decisions.into_iter().map(|one| (one.job, one.copies)).collect()
}

#[test]
fn clones_go_before_copies_whatever_these_would_gain() {
    assert_eq!(first_copies(false), [(job_id(1), 1)]);
    assert_eq!(first_copies(true), [(job_id(2), 1)]);
}
