//! Which hosts a job's own attempts show to be slow.

use super::View;
use crate::estimate::stats::median;
use crate::model::{AttemptState, NameId};
use std::collections::BTreeMap;

/// The hosts, in no particular order: those where the median run of the job's attempts, as far as it is known or projected, is longer than `slow_factor` typical
/// runs, the measure by which a task is slow. None where that is 0, and while nothing has finished to compare with. A task with more input than typical counts for
/// less time, and an attempt that was killed for at least the time it ran.
pub fn of(view: &View<'_>, slow_factor: f64) -> Vec<NameId> {
    if slow_factor <= 0.0 {
        return Vec::new();
    }
    let Some(typical) = view.typical.map(|typical| typical.as_secs_f64().max(0.001)) else { return Vec::new() };
    let mut runs: BTreeMap<NameId, Vec<f64>> = BTreeMap::new();
    for contender in &view.contenders {
        if let (Some(host), Some(left)) = (contender.task.original().and_then(|attempt| attempt.host), contender.left) {
            let run = (contender.elapsed + left.mean).as_secs_f64();
            runs.entry(host).or_default().push(run / view.input_ratio(contender));
        }
    }
    for (_, task) in view.job.tasks(view.kind) {
        for attempt in &task.attempts {
            let (Some(host), Some(started)) = (attempt.host, attempt.started.get()) else { continue };
            let Some(finished) = attempt.finished.get() else { continue };
            let run = finished.since(started).as_secs_f64() / view.split_ratio(task);
            let outran = attempt.state == AttemptState::Killed && run > slow_factor * typical;
            if attempt.state == AttemptState::Succeeded || outran {
                runs.entry(host).or_default().push(run);
            }
        }
    }
    let slow = |runs: &mut Vec<f64>| median(runs).is_some_and(|run| run > slow_factor * typical);
    runs.into_iter().filter_map(|(host, mut runs)| slow(&mut runs).then_some(host)).collect()
}
