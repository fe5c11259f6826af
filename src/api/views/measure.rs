//! What the policy wants of a job beside copies.

use crate::api::PAGE_MAX;
use drover_core::engine::Engine;
use drover_core::model::{AttemptId, JobId, Measure, MeasurePlan, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What the policy wants of a job beside copies of its running tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MeasureView {
    /// `order`, `place`, `replicate`, `precompute`, `avoid` or `rerun`.
    pub measure: String,
    /// What was decided of it, or why not: the label.
    pub verdict: String,
    /// In words.
    pub reason: String,
    /// What is to be done, with the numbers it rests on; absent where it was refused before these were reckoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanView>,
    /// What the job's shim has answered to it, last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// What a measure would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanView {
    /// Start the waiting tasks in this order.
    Order {
        /// `map` or `reduce`.
        kind: String,
        /// Their indices, the one with the most data first; no more than 1,000.
        first: Vec<u32>,
        /// How many wait in all.
        count: usize,
    },
    /// Run the reduces that wait on these racks.
    Place {
        /// Indices of the reduces by rack; no more than about 1,000 of all racks together, and of each as many.
        racks: BTreeMap<String, Vec<u32>>,
        /// How many reduces each rack has in all.
        counts: BTreeMap<String, usize>,
        /// What they read over racks in all.
        moves_bytes: u64,
        /// The longest transfer over any rack's link; `null` where no links are measured.
        seconds: Option<f64>,
        /// No placement takes less.
        bound_seconds: Option<f64>,
    },
    /// Keep an output twice.
    Replicate {
        /// The attempt that wrote it.
        output: String,
        /// Its size.
        bytes: u64,
        /// Probability that it is lost, 0–1.
        lost: f64,
        /// What its loss would cost on average (t_redo).
        redo_ms: u64,
        /// How long the copy takes (t_rep).
        replicate_ms: u64,
    },
    /// Compute the outputs anew that lie on a machine which has begun to lose outputs.
    Precompute {
        /// The machine.
        node: String,
        /// The attempts that wrote them, the longest first; no more than 1,000.
        outputs: Vec<String>,
        /// How many these are in all.
        count: usize,
        /// How long these took in all.
        takes_ms: u64,
    },
    /// Give the job no new container on these machines.
    Avoid {
        /// The machines, the worst first; none: they may be used again.
        nodes: Vec<String>,
        /// For how long, if nothing else is said.
        lasts_ms: u64,
    },
    /// Run maps again whose outputs are out of reach of the reduces.
    Rerun {
        /// The machine they lie on.
        node: String,
        /// The attempts that wrote them, which are killed; no more than 1,000.
        outputs: Vec<String>,
        /// How many these are in all.
        count: usize,
        /// Indices of the reduces that could not fetch outputs there; no more than 1,000.
        missed_by: Vec<u32>,
        /// How many these are in all.
        missed_by_count: usize,
        /// All that lies on the machine is out of reach; else only what the reduces have named.
        whole: bool,
        /// The ResourceManager has given the machine up, too.
        unusable: bool,
    },
}

impl MeasureView {
    /// All of a job.
    pub fn all(engine: &Engine, job: JobId) -> Vec<MeasureView> {
        let view = |measure: Measure| MeasureView {
            measure: measure.kind.label().into(),
            verdict: measure.verdict.label().into(),
            reason: match measure.verdict {
                Verdict::Decided => measure.kind.words(),
                refused => refused.words(),
            }
            .into(),
            plan: measure.plan.map(PlanView::from),
            answer: measure.answer.map(|answer| answer.label().into()),
        };
        engine.measures(job).into_iter().map(view).collect()
    }
}

impl From<MeasurePlan> for PlanView {
    fn from(plan: MeasurePlan) -> PlanView {
        match plan {
            MeasurePlan::Order { kind, first } => {
                let count = first.len();
                PlanView::Order { kind: kind.label().into(), first: some(first), count }
            }
            MeasurePlan::Place { racks, moves, seconds, bound } => PlanView::Place {
                counts: racks.iter().map(|(rack, reduces)| (rack.clone(), reduces.len())).collect(),
                racks: by_rack(racks),
                moves_bytes: moves.0,
                seconds,
                bound_seconds: bound,
            },
            MeasurePlan::Replicate { output, bytes, lost, redo, replicate } => PlanView::Replicate {
                output: output.to_string(),
                bytes: bytes.0,
                lost,
                redo_ms: redo.0,
                replicate_ms: replicate.0,
            },
            MeasurePlan::Rerun { host, outputs, missed_by, whole, unusable } => {
                let (count, missed_by_count) = (outputs.len(), missed_by.len());
                let (outputs, missed_by) = (names(&outputs), some(missed_by));
                PlanView::Rerun { node: host, outputs, count, missed_by, missed_by_count, whole, unusable }
            }
            MeasurePlan::Avoid { hosts, lasts } => PlanView::Avoid { nodes: hosts, lasts_ms: lasts.0 },
            MeasurePlan::Precompute { host, outputs, takes } => {
                PlanView::Precompute { node: host, outputs: names(&outputs), count: outputs.len(), takes_ms: takes.0 }
            }
        }
    }
}

/// A job of two million tasks may have as many wait: no answer has more of them than a page has.
fn some(mut all: Vec<u32>) -> Vec<u32> {
    all.truncate(PAGE_MAX);
    all
}

fn names(outputs: &[AttemptId]) -> Vec<String> {
    outputs.iter().take(PAGE_MAX).map(ToString::to_string).collect()
}

fn by_rack(mut racks: Vec<(String, Vec<u32>)>) -> BTreeMap<String, Vec<u32>> {
    let each = PAGE_MAX.div_ceil(racks.len().max(1));
    racks.iter_mut().for_each(|(_, reduces)| reduces.truncate(each));
    racks.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::{Bytes, Millis, TaskKind};

    #[test]
    fn the_plan_of_a_measure_keeps_its_numbers_with_their_units() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let output = id.task(TaskKind::Map, 0).attempt(0);
        let told = |plan| serde_json::to_value(PlanView::from(plan)).unwrap();
        let (redo, replicate) = (Millis(900), Millis(300));
        let twice = told(MeasurePlan::Replicate { output, bytes: Bytes(7), lost: 0.25, redo, replicate });
        let expected = serde_json::json!({"output": output.to_string(), "bytes": 7, "lost": 0.25, "redo_ms": 900, "replicate_ms": 300});
        assert_eq!(twice["replicate"], expected);
        let racks = vec![("/r1".to_owned(), vec![0, 2])];
        let placed = told(MeasurePlan::Place { racks, moves: Bytes(5), seconds: Some(2.0), bound: Some(1.5) });
        let expected = serde_json::json!({"racks": {"/r1": [0, 2]}, "counts": {"/r1": 2}, "moves_bytes": 5, "seconds": 2.0, "bound_seconds": 1.5});
        assert_eq!(placed["place"], expected);
    }

    #[test]
    fn however_many_tasks_a_plan_is_of_the_answer_names_a_page_of_them_and_counts_all() {
        let (many, id): (u32, JobId) = (5_000, "job_1_0001".parse().unwrap());
        let all = || (0..many).collect::<Vec<u32>>();
        let outputs = || all().iter().map(|index| id.task(TaskKind::Map, *index).attempt(0)).collect();
        let told = |plan| serde_json::to_value(PlanView::from(plan)).unwrap();
        let listed = |list: &serde_json::Value| list.as_array().unwrap().len();
        let order = &told(MeasurePlan::Order { kind: TaskKind::Map, first: all() })["order"];
        assert_eq!((listed(&order["first"]), &order["count"]), (PAGE_MAX, &many.into()));
        let racks = vec![("/r1".to_owned(), all()), ("/r2".to_owned(), all())];
        let place = &told(MeasurePlan::Place { racks, moves: Bytes(5), seconds: None, bound: None })["place"];
        assert_eq!((listed(&place["racks"]["/r2"]), &place["counts"]["/r2"]), (PAGE_MAX / 2, &many.into()));
        let (host, takes) = ("n1".to_owned(), Millis(1));
        let again = &told(MeasurePlan::Precompute { host: host.clone(), outputs: outputs(), takes })["precompute"];
        assert_eq!((listed(&again["outputs"]), &again["count"]), (PAGE_MAX, &many.into()));
        let (missed_by, whole, unusable) = (all(), true, false);
        let rerun = &told(MeasurePlan::Rerun { host, outputs: outputs(), missed_by, whole, unusable })["rerun"];
        assert_eq!((listed(&rerun["outputs"]), &rerun["count"]), (PAGE_MAX, &many.into()));
        assert_eq!((listed(&rerun["missed_by"]), &rerun["missed_by_count"]), (PAGE_MAX, &many.into()));
    }
}
