//! Which tasks are worth a request of their own over REST.

use super::Engine;
use crate::model::*;

impl Engine {
    /// Tasks of a job whose attempts should be read: running ones whose attempts are not known, the slowest first, then finished ones whose host is not known.
    pub fn suspects(&self, id: JobId, limit: usize) -> Vec<TaskId> {
        let Some(job) = self.cluster.job(id) else { return Vec::new() };
        let mut wanted: Vec<(u8, f64, TaskId)> = Vec::new();
        for kind in TaskKind::ALL {
            for (task_id, task) in job.tasks(kind) {
                let known = task.attempts.iter().any(|attempt| attempt.host.is_some());
                let urgency = match task.state {
                    TaskState::Running if is_suspect(task) => u8::from(known),
                    TaskState::Succeeded if !known => 2,
                    _ => continue,
                };
                wanted.push((urgency, task.progress().score(), task_id));
            }
        }
        wanted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        wanted.into_iter().take(limit).map(|(_, _, task)| task).collect()
    }
}

/// Did the last pass see anything in it beyond an ordinary task?
fn is_suspect(task: &Task) -> bool {
    !matches!(
        task.verdict,
        None | Some(Verdict::NotSlow | Verdict::NotBehind | Verdict::TooYoung | Verdict::WaitsForMaps)
    )
}
