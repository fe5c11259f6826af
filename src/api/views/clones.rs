//! What was settled about a job's clones.

use crate::api::health::StragglingView;
use drover_core::engine::Engine;
use drover_core::model::{Assignment, ClonePlan, JobId, Reading, TaskKind, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What was settled about the clones of a job's maps or reduces before the first of them ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClonePlanView {
    /// `map` or `reduce`.
    pub kind: String,
    /// What is run several times over: each `task`, or the whole `job`.
    pub scheme: String,
    /// Copies of each, the first attempt included; one where nothing is cloned.
    pub clones: u32,
    /// How many of the tasks have them.
    pub tasks: u32,
    /// The clones are to give way to others.
    pub gives_way: bool,
    /// Why nothing is cloned: a verdict's label; `null` where something is.
    pub refused: Option<String>,
    /// The same in words.
    pub reason: Option<String>,
    /// What clones of reduces read; `null` where they read no clones' outputs.
    pub reading: Option<ReadingView>,
}

/// Which output of each map's clones a clone of a reduce reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadingView {
    /// What the policy would have them do: `cac` (each one of its own), `cc` (all the first), `delay` (one of its own or, after `omega_ms`, any).
    pub wanted: String,
    /// How long a clone is to wait for an output of its own, milliseconds; `null` but for `delay`.
    pub omega_ms: Option<u64>,
    /// What they do.
    pub done: String,
    /// Why that is not what was asked for: a verdict's label; `null` where it is.
    pub instead: Option<String>,
    /// The same in words.
    pub reason: Option<String>,
}

impl ClonePlanView {
    /// Those of a job, as far as they are settled.
    pub fn of_job(engine: &Engine, job: JobId) -> Vec<ClonePlanView> {
        let plans = TaskKind::ALL.into_iter().filter_map(|kind| Some((kind, engine.clone_plan(job, kind)?)));
        let lacks = |plan: &ClonePlan| match plan.refused {
            Some(Verdict::OddsUnknown) => StragglingView::of(engine).lacks(),
            _ => None,
        };
        let view = |(kind, plan): (TaskKind, ClonePlan)| {
            let mut view = ClonePlanView::of(kind, &plan);
            if let Some((reason, lacks)) = view.reason.as_mut().zip(lacks(&plan)) {
                *reason += &format!(" ({lacks})");
            }
            view
        };
        plans.map(view).collect()
    }

    fn of(kind: TaskKind, plan: &ClonePlan) -> ClonePlanView {
        let (refused, reason) = said(plan.refused);
        ClonePlanView {
            kind: kind.label().into(),
            scheme: plan.scheme.label().into(),
            clones: plan.clones,
            tasks: plan.tasks,
            gives_way: plan.gives_way,
            refused,
            reason,
            reading: plan.reading.as_ref().map(ReadingView::of),
        }
    }
}

impl ReadingView {
    fn of(reading: &Reading) -> ReadingView {
        let (instead, reason) = said(reading.instead);
        let omega = |wanted| if let Assignment::Delay { omega } = wanted { Some(omega.0) } else { None };
        ReadingView {
            wanted: reading.wanted.label().into(),
            omega_ms: omega(reading.wanted),
            done: reading.done.label().into(),
            instead,
            reason,
        }
    }
}

/// A verdict's label and words.
fn said(verdict: Option<Verdict>) -> (Option<String>, Option<String>) {
    (verdict.map(|why| why.label().into()), verdict.map(|why| why.words().into()))
}

#[cfg(test)]
mod tests {
    use crate::service::Desk;
    use crate::service::fixture::{facts, job, seen};
    use crate::telemetry::Metrics;
    use drover_core::engine::EngineParams;
    use drover_core::model::{ClusterFact, Fact, Resources, Time};
    use std::sync::Arc;

    #[test]
    fn where_too_few_tasks_have_shown_how_often_tasks_straggle_the_refusal_says_how_many_have_and_must() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, metrics);
        let total = Resources { memory_mb: 1 << 20, vcores: 1_000 };
        desk.observe(seen(job(0), 1, 100_000, Fact::Cluster(ClusterFact { total, ..ClusterFact::default() })));
        facts(job(1), 0).into_iter().for_each(|fact| desk.observe(fact));
        desk.decide(Time(100_000));
        let plan = &desk.job(job(1), Time(100_000)).unwrap().clones[0];
        assert_eq!(plan.refused.as_deref(), Some("odds_unknown"));
        assert!(plan.reason.as_ref().unwrap().ends_with("so none is cloned (0 of 100 tasks so far)"), "{plan:?}");
    }
}
