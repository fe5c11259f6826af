//! Which of a job's outputs were lost: what the probability of data loss is learned from (Mantri, OSDI'10, §5.3).

use crate::model::{Attempt, AttemptState, Job, NameId, Task, TaskKind};

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

/// Was another attempt launched after this one had ended?
fn ran_again(task: &Task, attempt: &Attempt) -> bool {
    let Some(ended) = attempt.finished.get() else { return false };
    task.attempts.iter().any(|other| other.started.get().is_some_and(|started| started >= ended))
}

#[cfg(test)]
mod tests {
    use super::super::odds::StragglerOdds;
    use super::*;
    use crate::model::{AttemptFact, JobId, Millis, Names, Time};

    /// An attempt of a map: its number, host, launch and end, and the states that were told of it.
    type Told<'a> = (u32, u32, u64, u64, &'a [AttemptState]);

    fn job(reduces: u32, told: &[Told<'_>]) -> (Job, impl Fn(u32) -> NameId) {
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
    fn a_machines_losses_weigh_by_the_day() {
        use AttemptState::*;
        const HOUR: u64 = 3_600_000;
        let lossy: [Told<'_>; 2] = [(0, 1, 1_000, 5_000, &[Succeeded, Killed]), (1, 2, 9_000, 12_000, &[Succeeded])];
        let mut odds = StragglerOdds::new(Millis(300_000));
        let (lossy, host) = job(1, &lossy);
        odds.learn_losses(&lossy, Time(HOUR));
        odds.learn_losses(&job(1, &[(0, 1, 1_000, 5_000, &[Succeeded])]).0, Time(20 * HOUR));
        let lost = |odds: &StragglerOdds, n| odds.machine(host(n)).unwrap().loses_output().probability();
        assert_eq!((lost(&odds, 1), lost(&odds, 2)), (Some(0.5), Some(0.0)));
        odds.learn_losses(&job(1, &[(0, 1, 1_000, 5_000, &[Succeeded])]).0, Time(30 * HOUR));
        odds.roll(Time(49 * HOUR));
        assert_eq!(lost(&odds, 1), Some(0.25), "(.5 + 0) / 2");
    }
}
