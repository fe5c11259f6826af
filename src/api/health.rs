//! A node's health, as a view.

use drover_core::engine::Engine;
use drover_core::estimate::health::{Measure, NodeHealth};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is known of a node's health. Each number is `null` as long as nothing tells it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HealthView {
    /// How long a typical task's output takes there, in typical tasks: location factor × (1 + probability of loss). 1 where nothing is known.
    pub cost: f64,
    /// Probability that a task there straggles, 0–1, by windows of five minutes (Dolly).
    pub straggles: Option<MeasureView>,
    /// The same by windows of an hour.
    pub straggles_hourly: Option<MeasureView>,
    /// How many times longer tasks take there for their data than is typical of their phases (Mantri), by windows of an hour.
    pub location_factor: Option<MeasureView>,
    /// Probability that the output of a map there is lost, 0–1, by windows of a day (Mantri).
    pub loses_output: Option<MeasureView>,
    /// LATE's work: sum of the progress scores of succeeded and running attempts of the jobs that run now.
    pub work: Option<MeasureView>,
    /// That work is below LATE's SlowNodeThreshold.
    pub slow: bool,
}

/// A number with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MeasureView {
    /// The number: its long-term average, in which the last window weighs half.
    pub value: f64,
    /// What the last window that is over and had tasks came to alone.
    pub last_window: Option<f64>,
    /// Tasks that it rests on, halved with each window.
    pub evidence: f64,
    /// Users whose tasks these are; 8 is eight or more.
    pub principals: u64,
}

/// p (Dolly, NSDI 2013, §3.2): how often tasks straggle anywhere in the cluster. Clones are counted by it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StragglingView {
    /// Probability that a task straggles, 0–1, by windows of an hour; `null` before any task has shown it.
    pub probability: Option<MeasureView>,
    /// Tasks that it is to rest on before anything is cloned by it (`dolly.min_evidence`).
    pub tasks_needed: f64,
    /// What is taken for it until then (`dolly.prior`), 0–1; with 0 nothing is cloned.
    pub prior: f64,
}

impl StragglingView {
    /// What an engine knows.
    pub fn of(engine: &Engine) -> StragglingView {
        let dolly = &engine.params().dolly;
        let probability = Measure::of(engine.odds().cluster()).map(MeasureView::of);
        StragglingView { probability, tasks_needed: dolly.min_evidence, prior: dolly.prior }
    }

    /// Tasks that have shown it so far.
    pub fn tasks(&self) -> f64 {
        self.probability.as_ref().map_or(0.0, |shown| shown.evidence)
    }

    /// How far it is from being known, in words; `None` once enough tasks have shown it.
    pub fn lacks(&self) -> Option<String> {
        let (tasks, needed) = (self.tasks(), self.tasks_needed);
        (tasks < needed).then(|| format!("{:.0} of {:.0} tasks so far", tasks.floor(), needed.ceil()))
    }
}

impl MeasureView {
    fn of(measure: Measure) -> MeasureView {
        let Measure { value, last, evidence, principals } = measure;
        MeasureView { value, last_window: last, evidence, principals: principals as u64 }
    }
}

impl HealthView {
    /// A node's health.
    pub fn of(health: &NodeHealth) -> HealthView {
        HealthView {
            cost: health.cost(),
            straggles: health.straggles.map(MeasureView::of),
            straggles_hourly: health.straggles_hourly.map(MeasureView::of),
            location_factor: health.location_factor.map(MeasureView::of),
            loses_output: health.loses_output.map(MeasureView::of),
            work: health.work.map(MeasureView::of),
            slow: health.slow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StragglingView;
    use crate::service::Desk;
    use crate::service::fixture::{job, seen, watched};
    use drover_core::model::*;

    fn listed(desk: &mut Desk) {
        let node = |host: &str| NodeFact::usable(host, Resources::default(), Resources::default());
        desk.observe(seen(job(1), 1_000_000, 121_000, Fact::Nodes(vec![node("nm1"), node("nm2")])));
    }

    /// A task runs on the first of them.
    fn running(desk: &mut Desk) {
        let attempt = AttemptFact {
            state: Some(AttemptState::Running),
            host: Some("nm1".into()),
            score: Some(0.25),
            ..AttemptFact::of(job(1).task(TaskKind::Map, 3).attempt(0))
        };
        desk.observe(seen(job(1), 1_000_001, 121_000, Fact::Attempts { job: job(1), attempts: vec![attempt] }));
    }

    #[test]
    fn a_node_is_listed_with_what_runs_on_it_and_one_never_heard_of_as_ordinary() {
        let mut desk = watched();
        listed(&mut desk);
        running(&mut desk);
        let nodes = desk.nodes(None, 10);
        let work = nodes[0].health.work.as_ref().unwrap();
        assert_eq!((work.value, work.evidence, work.principals), (0.25, 1.0, 1));
        assert_eq!((nodes[0].health.cost, nodes[0].health.slow), (1.0, false));
        assert_eq!((nodes[1].node.as_str(), nodes[1].health.work.is_none(), nodes[1].health.cost), ("nm2", true, 1.0));
        assert_eq!(desk.nodes(Some("nm1"), 10).len(), 1);
    }

    /// Job 1 has ended, its ten maps seen to their ends.
    fn ended() -> Desk {
        let mut desk = watched();
        let end = |index: u32| Some(Time(if index == 3 { 177_000 } else { 110_000 }));
        let attempt = |index: u32| AttemptFact {
            state: Some(AttemptState::Succeeded),
            host: Some("nm1".into()),
            started: Some(Time(100_000)),
            finished: end(index),
            ..AttemptFact::of(job(1).task(TaskKind::Map, index).attempt(0))
        };
        let task = TaskFact {
            state: Some(TaskState::Succeeded),
            finished: end(3),
            winner: Some(0),
            ..TaskFact::of(job(1).task(TaskKind::Map, 3))
        };
        let attempts = Fact::Attempts { job: job(1), attempts: (0..10).map(attempt).collect() };
        let tasks = Fact::Tasks { job: job(1), complete: false, tasks: vec![task] };
        for (seq, fact) in (900_000..).zip([attempts, tasks]) {
            desk.observe(seen(job(1), seq, 177_000, fact));
        }
        let (state, finished) = (Some(JobPhase::Succeeded), Some(Time(177_000)));
        let end = EndFact { job: job(1), state, started: None, finished, attempts: Vec::new() };
        desk.observe(seen(job(1), 900_002, 178_000, Fact::Ended(end)));
        desk.decide(Time(178_000));
        desk
    }

    #[test]
    fn how_often_tasks_straggle_anywhere_is_told_with_what_is_lacking_to_clone_by_it() {
        let known = StragglingView::of(&watched().engine);
        assert_eq!((known.probability.as_ref(), known.lacks().unwrap()), (None, "0 of 100 tasks so far".to_owned()));
        let known = StragglingView::of(&ended().engine);
        let shown = known.probability.as_ref().unwrap();
        assert_eq!((shown.value, shown.evidence, shown.principals), (0.1, 10.0, 1));
        assert_eq!(known.lacks().unwrap(), "10 of 100 tasks so far");
        assert_eq!(StragglingView { tasks_needed: 10.0, ..known }.lacks(), None, "enough");
    }

    #[test]
    fn health_is_counted_once_a_pass_however_often_somebody_asks() {
        let mut desk = watched();
        listed(&mut desk);
        let work = |desk: &Desk| desk.nodes(None, 10)[0].health.work.as_ref().map(|work| work.value);
        assert_eq!(work(&desk), None);
        running(&mut desk);
        assert_eq!(work(&desk), None);
        desk.decide(Time(121_000));
        assert_eq!(work(&desk), Some(0.25));
    }
}
