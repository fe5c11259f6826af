//! A row for each job, each phase and each workflow of every run, as CSV.

use crate::simulation::Played;
use crate::stats::bins::bin;
use drover_core::model::TaskKind;
use drover_core::sim::{JobRow, WorkflowRow};
use serde::Serialize;

#[derive(Serialize)]
struct Job<'a> {
    policy: &'a str,
    seed: u64,
    job: &'a str,
    nth: u32,
    tasks: u32,
    bin: String,
    arrived_ms: u64,
    took_ms: u64,
    useful_container_ms: u64,
    wasted_container_ms: u64,
    copies: u32,
    copies_won: u32,
    restarts: u32,
    withdrawn: u32,
    recomputed: u32,
    /// There where jobs can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
}

#[derive(Serialize)]
struct Phase<'a> {
    policy: &'a str,
    seed: u64,
    job: &'a str,
    nth: u32,
    phase: &'static str,
    tasks: u32,
    /// Its job's.
    bin: String,
    took_ms: u64,
    median_task_ms: u64,
    slowest_task_ms: u64,
}

#[derive(Serialize)]
struct Workflow<'a> {
    policy: &'a str,
    seed: u64,
    workflow: &'a str,
    nth: u32,
    jobs: u32,
    phases: u32,
    arrived_ms: u64,
    took_ms: u64,
    /// There where jobs can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
}

/// Runs in order of policy and seed, the jobs of each in order of their names and numbers.
fn each<'a>(policies: &'a [String], played: &'a [Played]) -> impl Iterator<Item = (&'a str, u64, &'a JobRow)> {
    played.iter().flat_map(|one| {
        let mut jobs: Vec<&JobRow> = one.outcome.jobs.iter().collect();
        jobs.sort_by_key(|job| (&job.name, job.nth));
        jobs.into_iter().map(|job| (policies[one.policy].as_str(), one.seed, job))
    })
}

fn can_fail(played: &[Played]) -> bool {
    played.iter().any(|one| one.outcome.failures.is_some())
}

/// `jobs.csv`.
pub fn jobs(policies: &[String], played: &[Played]) -> csv::Result<Vec<u8>> {
    let fail = can_fail(played);
    written(each(policies, played).map(|(policy, seed, row)| Job {
        policy,
        seed,
        job: &row.name,
        nth: row.nth,
        tasks: row.tasks,
        bin: bin(row.tasks).unwrap_or_default(),
        arrived_ms: row.arrived.0,
        took_ms: row.took.0,
        useful_container_ms: row.useful_ms,
        wasted_container_ms: row.wasted_ms,
        copies: row.copies,
        copies_won: row.copies_won,
        restarts: row.restarts,
        withdrawn: row.withdrawn,
        recomputed: row.recomputed,
        failed: fail.then_some(row.failed),
    }))
}

/// `phases.csv`.
pub fn phases(policies: &[String], played: &[Played]) -> csv::Result<Vec<u8>> {
    written(each(policies, played).flat_map(|(policy, seed, row)| {
        row.phases.iter().map(move |phase| Phase {
            policy,
            seed,
            job: &row.name,
            nth: row.nth,
            phase: if phase.kind == TaskKind::Map { "map" } else { "reduce" },
            tasks: phase.tasks,
            bin: bin(row.tasks).unwrap_or_default(),
            took_ms: phase.took.0,
            median_task_ms: phase.median.0,
            slowest_task_ms: phase.slowest.0,
        })
    }))
}

/// `workflows.csv`: runs in the same order, the workflows of each in order of their names and numbers.
pub fn workflows(policies: &[String], played: &[Played]) -> csv::Result<Vec<u8>> {
    let fail = can_fail(played);
    written(played.iter().flat_map(|one| {
        let mut all: Vec<&WorkflowRow> = one.outcome.workflows.iter().collect();
        all.sort_by_key(|row| (&row.name, row.nth));
        all.into_iter().map(move |row| Workflow {
            policy: &policies[one.policy],
            seed: one.seed,
            workflow: &row.name,
            nth: row.nth,
            jobs: row.jobs,
            phases: row.phases,
            arrived_ms: row.arrived.0,
            took_ms: row.took.0,
            failed: fail.then_some(row.failed),
        })
    }))
}

fn written(rows: impl Iterator<Item = impl Serialize>) -> csv::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.into_iter().try_for_each(|row| writer.serialize(row))?;
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}
