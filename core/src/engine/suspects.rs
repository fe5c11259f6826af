//! Which tasks are worth a request of their own over REST.

use super::Engine;
use crate::model::*;

/// Finished tasks of a kind that suspects are set against.
const PEERS: usize = 4;

impl Engine {
    /// Tasks of a job whose attempts should be read: running ones of which no attempt is known that runs, the slowest first, then finished ones whose host is not known.
    pub fn suspects(&self, id: JobId, limit: usize) -> Vec<TaskId> {
        let Some(job) = self.cluster.job(id) else { return Vec::new() };
        let mut wanted: Vec<(u8, f64, TaskId)> = Vec::new();
        for kind in TaskKind::ALL {
            for (task_id, task) in job.tasks(kind) {
                let known = task.attempts.iter().any(|attempt| attempt.host.is_some());
                // All that is known of it has ended: what runs in their place has to be seen before it can be judged.
                let is_over = !task.attempts.is_empty() && task.original().is_none();
                let urgency = match task.state {
                    TaskState::Running if is_over => 1,
                    TaskState::Running if self.is_suspect(task) => 2 * u8::from(known),
                    TaskState::Succeeded if !known => 3,
                    _ => continue,
                };
                wanted.push((urgency, task.progress().score(), task_id));
            }
        }
        wanted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        wanted.into_iter().take(limit).map(|(_, _, task)| task).collect()
    }

    /// Attempts of a job whose counters should be read, for kinds whose splits' lengths nobody tells: the slowest running suspects, and a few finished
    /// peers to compare them with. A suspect is read again whenever its score has doubled.
    pub fn readings(&self, id: JobId, limit: usize) -> Vec<AttemptId> {
        const SUSPECTS: usize = 4;
        let Some(job) = self.cluster.job(id) else { return Vec::new() };
        let mut wanted = Vec::new();
        for kind in TaskKind::ALL.into_iter().filter(|kind| job.tasks(*kind).all(|(_, task)| task.input.0 == 0)) {
            let suspects = self.running_suspects(job, kind, SUSPECTS);
            if suspects.is_empty() {
                continue;
            }
            let is_new = |(id, track): &(AttemptId, Track)| {
                let then = job.intakes.of(*id).and_then(|intake| track.score_at(intake.at.get()?));
                then.is_none_or(|then| track.score() >= 2.0 * then)
            };
            wanted.extend(suspects.into_iter().filter(is_new).map(|(id, _)| id));
            let finished = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded);
            let peers = finished.filter_map(|(id, task)| Some((id.attempt(task.winner()?), task.ended()?)));
            let (known, unknown): (Vec<_>, Vec<_>) =
                peers.partition(|(id, end)| job.intakes.whole(*id, *end).is_some());
            wanted.extend(unknown.into_iter().map(|(id, _)| id).take(PEERS.saturating_sub(known.len())));
        }
        wanted.truncate(limit);
        wanted
    }

    /// Suspects with progress of whom the running attempt is known, the furthest behind first.
    fn running_suspects(&self, job: &Job, kind: TaskKind, limit: usize) -> Vec<(AttemptId, Track)> {
        // Before there is a finished peer there is nothing to set them against.
        let comparable = |task: &Task| self.is_suspect(task) && task.verdict != Some(Verdict::TooFewFinished);
        let suspects = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Running && comparable(task));
        let mut known: Vec<_> = suspects
            .filter_map(|(id, task)| Some((id.attempt(task.original()?.number), task.progress())))
            .filter(|(_, track)| track.score() > 0.0)
            .collect();
        known.sort_by(|a, b| a.1.score().total_cmp(&b.1.score()).then(a.0.cmp(&b.0)));
        known.truncate(limit);
        known
    }

    /// Keeps what a shim tells of the counters of a few attempts, for it tells them of very many.
    pub(super) fn follow_counters(&mut self, seen: &Observation) {
        let (Channel::Shim, Fact::Attempts { job: id, attempts }) = (seen.source.channel, &seen.fact) else { return };
        let Some(job) = self.cluster.job_mut(*id) else { return };
        for fact in attempts {
            let attempt = fact.id(*id);
            if let Some(task) = job.task(attempt.task) {
                job.intakes.follow(attempt, fact, begins(task, attempt.task), seen.at);
            }
        }
    }

    /// Did the last pass see anything in it beyond an ordinary task?
    fn is_suspect(&self, task: &Task) -> bool {
        task.verdict.is_some_and(|verdict| !self.params.policy.is_ordinary(verdict))
    }
}

/// Of attempts whose counters a shim may tell: are they kept from now on? Of those that lag, which is before a copy is decided on, where a map's split is told; and of a job's first
/// reduces ([`Intakes::SAMPLE`]), from which ω is learned, too. What is followed stays so: by its bytes an attempt may be ordinary.
fn begins(task: &Task, id: TaskId) -> bool {
    match id.kind {
        TaskKind::Map => task.marks.lags() && task.input.0 > 0,
        TaskKind::Reduce => task.marks.lags() || id.index < Intakes::SAMPLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_followed_where_it_lags_and_its_split_is_told() {
        let followed = |lags, input| {
            let mut job = Job::new("job_1_0001".parse().unwrap());
            let task = job.id.task(TaskKind::Map, 0);
            assert!(job.learn_task(&TaskFact { input: Some(Bytes(input)), ..TaskFact::of(task) }, Time(1), 10));
            job.task_mut(task).unwrap().marks = Marks::default().lagging(lags);
            begins(job.task(task).unwrap(), task)
        };
        assert_eq!([followed(true, 1), followed(true, 0), followed(false, 1)], [true, false, false]);
    }
}
