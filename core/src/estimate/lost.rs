//! Which of a job's outputs were lost: what the probability of data loss is learned from (Mantri, OSDI'10, §5.3).

use crate::model::{Attempt, AttemptId, AttemptState, Job, NameId, Task, TaskKind};

/// Each output of a map that reduces were to read, with its host, where that is known: was it lost? Once an attempt's success was taken back another ran in its place; without
/// that, two attempts succeeded at once, and one was let go.
pub fn outputs(job: &Job) -> Vec<(NameId, bool)> {
    if job.totals.is_none_or(|[_, reduces]| reduces == 0) {
        return Vec::new();
    }
    let attempts = job.tasks(TaskKind::Map).flat_map(|(id, task)| task.attempts.iter().map(move |one| (id, task, one)));
    let outputs = attempts.filter_map(|(id, task, attempt)| {
        let lost = job.lost.contains(id.attempt(attempt.number)) && ran_again(task, attempt);
        (lost || attempt.state == AttemptState::Succeeded).then_some((attempt.host?, lost))
    });
    outputs.collect()
}

/// Was it the output of that attempt which had to be made again?
pub fn was_made_again(job: &Job, id: AttemptId) -> bool {
    let attempt = |task: &Task| task.attempts.iter().any(|one| one.number == id.number && ran_again(task, one));
    job.lost.contains(id) && job.task(id.task).is_some_and(attempt)
}

/// Was another attempt launched after this one had ended?
fn ran_again(task: &Task, attempt: &Attempt) -> bool {
    let Some(ended) = attempt.finished.get() else { return false };
    task.attempts.iter().any(|other| other.started.get().is_some_and(|started| started >= ended))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{AttemptFact, JobId, Names, Time};

    /// An attempt of a map: its number, host, launch and end, and the states that were told of it.
    pub type Told<'a> = (u32, u32, u64, u64, &'a [AttemptState]);

    /// A job of Alice's with such attempts, and its hosts.
    pub fn job(reduces: u32, told: &[Told<'_>]) -> (Job, impl Fn(u32) -> NameId) {
        let mut names = Names::default();
        let hosts: Vec<NameId> = (0..9).filter_map(|n| names.intern(&n.to_string())).collect();
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        (job.user, job.totals) = ("alice".into(), Some([9, reduces]));
        for (number, host, started, finished, states) in told {
            for state in *states {
                let attempt = id.task(TaskKind::Map, 0).attempt(*number);
                let (started, finished) = (Some(Time(*started)), Some(Time(*finished)));
                let fact = AttemptFact { state: Some(*state), started, finished, ..AttemptFact::of(attempt) };
                assert!(job.learn_attempt(&fact, Some(hosts[*host as usize]), Time(99_000), 9));
            }
        }
        (job, move |n| hosts[n as usize])
    }

    #[test]
    fn an_output_that_had_to_be_made_again_was_lost_and_one_that_no_reduce_reads_cannot_be() {
        use AttemptState::*;
        let told: [Told<'_>; 2] = [(0, 1, 1_000, 5_000, &[Succeeded, Failed]), (1, 2, 9_000, 12_000, &[Succeeded])];
        let (lossy, host) = job(1, &told);
        assert_eq!(outputs(&lossy), [(host(1), true), (host(2), false)]);
        assert_eq!(outputs(&job(0, &told).0), []);
    }

    #[test]
    fn of_two_attempts_that_succeeded_at_once_the_one_let_go_has_lost_nothing() {
        use AttemptState::*;
        let told: [Told<'_>; 2] = [(0, 1, 1_000, 9_000, &[Succeeded]), (1, 2, 4_000, 8_900, &[Succeeded, Killed])];
        let (raced, host) = job(1, &told);
        assert_eq!(outputs(&raced), [(host(1), false)]);
    }

    #[test]
    fn an_output_was_made_again_once_another_attempt_was_launched_after_it() {
        use AttemptState::*;
        let first: Told<'_> = (0, 1, 1_000, 5_000, &[Succeeded, Failed]);
        let made_again = |told: &[Told<'_>]| {
            let (job, _) = job(1, told);
            was_made_again(&job, job.id.task(TaskKind::Map, 0).attempt(0))
        };
        assert!(!made_again(&[first]) && made_again(&[first, (1, 2, 9_000, 12_000, &[Running])]));
        assert!(!made_again(&[(0, 1, 1_000, 5_000, &[Succeeded]), (1, 2, 9_000, 12_000, &[Running])]));
    }
}
