//! Which outputs are kept twice (Mantri, OSDI'10, §5.3): where to lose one costs more than to move it to another machine of its rack, within a budget.

use super::recompute::{Lineage, Replication};
use crate::model::{
    AttemptId, Bytes, Job, MeasurePlan, Millis, NameId, Task, TaskId, TaskKind, TaskState, Time, Verdict,
};

/// An output that others are to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Output {
    /// The attempt that wrote it.
    pub attempt: AttemptId,
    /// Where it is.
    pub host: NameId,
    /// When it was written, the AM's clock.
    pub at: Time,
    /// What the task read.
    pub read: Bytes,
    /// What it wrote; zero while that is not told.
    pub wrote: Bytes,
    /// t: how long that took.
    pub took: Millis,
}

/// Those of a phase's outputs that are wanted, in the order in which they were written. One pass over its tasks.
pub fn outputs(job: &Job, kind: TaskKind, wanted: impl Fn(AttemptId) -> bool) -> Vec<Output> {
    let of_task = |(id, task): (TaskId, &Task)| {
        let won = task.won().filter(|_| task.state == TaskState::Succeeded)?;
        let (attempt, host) = (id.attempt(won.number), won.host?);
        if !wanted(attempt) {
            return None;
        }
        Some(Output {
            attempt,
            host,
            at: task.ended()?,
            read: task.input,
            wrote: job.outputs.of(id),
            took: task.run_time()?,
        })
    };
    let mut outputs: Vec<Output> = job.tasks(kind).filter_map(of_task).collect();
    outputs.sort_unstable_by_key(|output| (output.at, output.attempt));
    outputs
}

/// Does any of the job's reduces still have maps' outputs to read?
pub fn are_read(job: &Job) -> bool {
    let ended = || job.tasks(TaskKind::Reduce).filter(|(_, task)| task.state == TaskState::Succeeded).count();
    job.totals.is_some_and(|[_, reduces]| ended() < reduces as usize)
}

/// What the cost of losing an output rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Risk {
    /// r: probability (0–1) that its machine loses it; `None` where nothing is known of losses.
    pub lost: Option<f64>,
    /// How long its task waits, on average, for what is lost of its own inputs, seconds ([`super::recompute::stalled_seconds`]); zero for a map, whose inputs a file system keeps.
    pub stalled: f64,
    /// Bandwidth between two machines of its rack, bytes per second; `None` where it is not measured.
    pub within: Option<f64>,
}

/// Is an output replicated, or why not. What its task has read brings tokens either way.
pub fn weigh(output: &Output, risk: &Risk, tokens: &mut Replication) -> Result<MeasurePlan, Verdict> {
    let known = risk.lost.zip(risk.within.filter(|within| *within > 0.0)).filter(|_| output.wrote.0 > 0);
    let Some((lost, within)) = known else {
        tokens.grant(output.read);
        return Err(Verdict::DataUnknown);
    };
    let repeat = Lineage { lost, takes: output.took.as_secs_f64() + risk.stalled, inputs: Vec::new() };
    let (redo, replicate) = (repeat.redo_seconds(), output.wrote.0 as f64 / within);
    match tokens.decide(output.read, output.wrote, redo, replicate) {
        Verdict::Decided => Ok(MeasurePlan::Replicate {
            output: output.attempt,
            bytes: output.wrote,
            lost,
            redo: Millis::from_secs_f64(redo),
            replicate: Millis::from_secs_f64(replicate),
        }),
        refused => Err(refused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Names, TaskFact};

    fn output(read: u64, wrote: u64) -> Output {
        let id = "job_1_0001".parse::<crate::model::JobId>().unwrap();
        Output {
            attempt: id.task(TaskKind::Map, 0).attempt(0),
            host: Names::default().intern("nm1").unwrap(),
            at: Time(1),
            read: Bytes(read),
            wrote: Bytes(wrote),
            took: Millis(20_000),
        }
    }

    const RISK: Risk = Risk { lost: Some(0.1), stalled: 0.0, within: Some(10.0) };

    #[test]
    fn an_output_is_replicated_where_losing_it_costs_more_than_moving_it() {
        // t_redo is 2 s.
        let of = |wrote, risk: Risk| weigh(&output(1_000, wrote), &risk, &mut Replication::new(0.1)).err();
        assert_eq!((of(19, RISK), of(20, RISK)), (None, Some(Verdict::NothingGained)));
        assert_eq!(of(29, Risk { stalled: 10.0, ..RISK }), None, "3 s");
        assert_eq!(of(9, Risk { lost: Some(0.0), ..RISK }), Some(Verdict::NothingGained));
        let plan = weigh(&output(1_000, 19), &RISK, &mut Replication::new(0.1)).unwrap();
        let MeasurePlan::Replicate { redo, replicate, bytes, .. } = plan else { panic!("replicated") };
        assert_eq!((redo, replicate, bytes), (Millis(2_000), Millis(1_900), Bytes(19)));
    }

    #[test]
    fn what_is_not_known_is_not_replicated_and_what_its_task_has_read_brings_tokens_all_the_same() {
        for unknown in [Risk { lost: None, ..RISK }, Risk { within: None, ..RISK }, Risk { within: Some(0.0), ..RISK }]
        {
            let mut tokens = Replication::new(0.1);
            assert_eq!(weigh(&output(100, 5), &unknown, &mut tokens), Err(Verdict::DataUnknown));
            assert_eq!(weigh(&output(100, 0), &RISK, &mut tokens), Err(Verdict::DataUnknown));
            assert!(weigh(&output(0, 19), &RISK, &mut tokens).is_ok(), "20 tokens");
            assert_eq!(weigh(&output(0, 2), &RISK, &mut tokens), Err(Verdict::MeasureBudget));
        }
    }

    #[test]
    fn outputs_are_read_until_every_reduce_has_succeeded() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        assert!(!are_read(&job), "of how many reduces there are nothing is told");
        job.totals = Some([1, 2]);
        let mut read = |index, state| {
            let fact = TaskFact { state: Some(state), ..TaskFact::of(job.id.task(TaskKind::Reduce, index)) };
            assert!(job.learn_task(&fact, Time(1), 9));
            are_read(&job)
        };
        assert!(read(0, TaskState::Succeeded) && read(1, TaskState::Running));
        assert!(!read(1, TaskState::Succeeded));
    }
}
