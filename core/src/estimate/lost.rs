//! Which of a job's outputs were lost: what the probability of data loss is learned from (Mantri, OSDI'10, §5.3).

use super::machine::{Machine, drawn};
use super::odds::StragglerOdds;
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

/// What is known of losses on machines, for one user's jobs.
#[derive(Debug, Clone, Copy)]
pub struct Losses<'a> {
    odds: &'a StragglerOdds,
    user: &'a str,
    of_any: Option<f64>,
}

impl<'a> Losses<'a> {
    /// One pass over the machines.
    pub fn of(odds: &'a StragglerOdds, user: &'a str) -> Losses<'a> {
        let known = odds.machines().map(|(_, machine)| machine.loses_output()).filter(|lost| lost.holds_for(user));
        let (lost, outputs) = known.fold((0.0, 0.0), |(lost, outputs), odds| {
            (lost + odds.probability().unwrap_or(0.0) * odds.evidence(), outputs + odds.evidence())
        });
        Losses { odds, user, of_any: (outputs > 0.0).then(|| lost / outputs) }
    }

    /// r of any machine; `None` where nothing is known of losses.
    pub fn of_any(&self) -> Option<f64> {
        self.of_any
    }

    /// r (Mantri §5.3) of one machine, 0–1: "estimated for a machine over a long period of time". What few outputs have shown of it is drawn towards any machine's.
    pub fn on(&self, host: NameId) -> Option<f64> {
        let own = self.odds.machine(host).map(Machine::loses_output).filter(|lost| lost.holds_for(self.user));
        let shown = own.and_then(|lost| Some((lost.probability()?, lost.evidence())));
        let of_any = self.of_any?;
        Some(shown.map_or(of_any, |(lost, outputs)| drawn(lost, outputs, of_any)))
    }
}

/// Was another attempt launched after this one had ended?
fn ran_again(task: &Task, attempt: &Attempt) -> bool {
    let Some(ended) = attempt.finished.get() else { return false };
    task.attempts.iter().any(|other| other.started.get().is_some_and(|started| started >= ended))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn few_outputs_of_a_machine_tell_little_and_one_users_losses_nothing_of_anothers() {
        use AttemptState::*;
        let lossy: [Told<'_>; 2] = [(0, 1, 1_000, 5_000, &[Succeeded, Killed]), (1, 2, 9_000, 12_000, &[Succeeded])];
        let mut odds = StragglerOdds::new(Millis(300_000));
        let (lossy, host) = job(1, &lossy);
        odds.learn_losses(&lossy, Time(1));
        let of = |user, n| Losses::of(&odds, user).on(host(n));
        assert_eq!(Losses::of(&odds, "alice").of_any(), Some(0.5));
        // (1 + 10 · .5) / 11 and (0 + 10 · .5) / 11.
        assert_eq!([1, 2, 3].map(|n| of("alice", n)), [Some(6.0 / 11.0), Some(5.0 / 11.0), Some(0.5)]);
        assert_eq!((of("bob", 1), Losses::of(&odds, "bob").of_any()), (None, None));
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
