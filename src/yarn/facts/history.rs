//! A finished job's history as one fact: its end.

use super::job::{attempts, tasks};
use super::{Reason, Refused, name};
use crate::yarn::wire::job::{Job, TaskAttempts, Tasks};
use drover_core::model::{AttemptFact, AttemptState, EndFact, JobId, JobPhase, TaskId, TaskState};
use std::collections::BTreeMap;

/// A job's end from its history; `None` where it is another job's, or of another user than the job is known to be of, or has not ended there. A history is a file that the job's own user
/// has written.
pub fn end(wire: &Job, job: JobId, user: Option<&str>, refused: &mut Refused) -> Option<EndFact> {
    let named = wire.id.as_deref().and_then(|text| text.parse::<JobId>().ok());
    if named != Some(job) {
        refused.add(if named.is_some() { Reason::Foreign } else { Reason::BadId });
        return None;
    }
    let told = name(&wire.user);
    if user.is_some_and(|user| !told.is_empty() && told != user) {
        refused.add(Reason::Foreign);
        return None;
    }
    let state = refused.word(wire.state.as_deref(), JobPhase::parse);
    if state.is_some_and(|state| !state.is_final()) {
        return None;
    }
    let started = refused.instant(wire.startTime);
    let finished = refused.end(started, wire.finishTime);
    Some(EndFact { job, state, started, finished, attempts: Vec::new() })
}

/// Adds the attempt that won each task. Its start is known only where it was the task's first.
pub fn add_winners(end: &mut EndFact, wire: &Tasks, refused: &mut Refused) {
    let listed = tasks(wire, end.job, refused);
    end.attempts.extend(listed.tasks.iter().filter(|t| t.state == Some(TaskState::Succeeded)).filter_map(|task| {
        let id = end.job.task(task.kind, task.index).attempt(task.winner?);
        Some(AttemptFact {
            state: Some(AttemptState::Succeeded),
            started: task.started.filter(|_| task.winner == Some(0)),
            finished: task.finished,
            ..AttemptFact::of(id)
        })
    }));
}

/// Adds all attempts of one task; they replace what the listing of tasks told of them.
pub fn add_attempts(end: &mut EndFact, wire: &TaskAttempts, task: TaskId, refused: &mut Refused) {
    let (told, _) = attempts(wire, task, refused);
    let mut all: BTreeMap<_, _> = std::mem::take(&mut end.attempts).into_iter().map(|a| (a.id(end.job), a)).collect();
    all.extend(told.into_iter().map(|a| (a.id(end.job), a)));
    end.attempts = all.into_values().collect();
}
