//! Holds of jobs that have ended, which hold nothing any more.

use super::Holds;
use crate::clock;
use drover_core::model::{JobId, Scope, Time};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often holds are compared with what has ended.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// Ended jobs that are remembered, as one of them may be held late: the newest.
const REMEMBERED: usize = 10_000;
/// Who lifts such a hold, in the log.
const BY: &str = "drover, as the job has ended";

/// Jobs whose ends have been told, the newest last. One that is not listed any more is none of them: it may only not be seen.
#[derive(Default)]
pub(super) struct Ended(Mutex<VecDeque<JobId>>);

impl Ended {
    fn add(&self, job: JobId) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.len() == REMEMBERED {
            jobs.pop_front();
        }
        jobs.push_back(job);
    }

    fn has(&self, job: JobId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&job)
    }
}

impl Holds {
    /// The job's end has been told. Waits for nothing.
    pub fn job_ended(&self, job: JobId) {
        self.ended.add(job);
    }

    /// Lifts the holds of jobs that have ended, again and again.
    pub async fn lift_ended(&self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.lift_ended_now(clock::now()).await;
        }
    }

    async fn lift_ended_now(&self, now: Time) {
        for hold in self.all(now).await {
            if !matches!(hold.scope, Scope::Job(job) if self.ended.has(job)) {
                continue;
            }
            // An engine that has stopped needs no word of it.
            let _ = self.lift(&hold.scope, BY, now).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{job, seen};
    use crate::service::holds::{Book, kept};
    use crate::service::notes::Notes;
    use crate::service::own::Own;
    use drover_core::model::{EndFact, Fact, Hold, JobPhase, Mode};
    use std::sync::Arc;
    use tokio::sync::mpsc;

    const NOW: Time = Time(1_000_000);

    fn hold(scope: Scope) -> Hold {
        Hold { scope, reason: "incident 4711".into(), by: "local".into(), since: NOW, until: None }
    }

    #[tokio::test]
    async fn the_hold_of_a_job_that_has_ended_goes_for_good_and_no_others_nor_that_of_one_whose_end_nobody_told() {
        let dir = tempfile::tempdir().unwrap();
        let (out, mut facts) = mpsc::channel(10);
        let all = Arc::new(Holds::new(Own::new(7, 1, out), Book::open(Some(dir.path()), Mode::Act, NOW).unwrap()));
        let stays = [Scope::Cluster, Scope::Queue("etl".into()), Scope::User("ann".into()), Scope::Job(job(2))];
        for scope in stays.iter().cloned().chain([Scope::Job(job(1))]) {
            all.hold(hold(scope), NOW).await.unwrap();
            facts.recv().await.unwrap();
        }
        let notes = Notes::default();
        assert!(notes.holds.set(Arc::clone(&all)).is_ok());
        let ends = [(1, Some(JobPhase::Succeeded)), (2, None), (3, Some(JobPhase::Killed))];
        for (ended, state) in ends.map(|(n, state)| (job(n), state)) {
            let end = EndFact { job: ended, state, started: None, finished: None, attempts: vec![] };
            notes.note(&seen(ended, 1, NOW.0, Fact::Ended(end)));
        }
        all.lift_ended_now(NOW).await;
        assert_eq!(facts.try_recv().unwrap().fact, Fact::Lifted(Scope::Job(job(1))));
        assert!(facts.try_recv().is_err(), "the engine hears of no other");
        let scopes = |holds: Vec<Hold>| holds.into_iter().map(|hold| hold.scope).collect::<Vec<_>>();
        assert_eq!(scopes(all.all(NOW).await), stays);
        assert_eq!(scopes(kept(dir.path()).unwrap()), stays, "nor does it come back with the next start");
    }

    #[tokio::test]
    async fn a_job_that_is_held_after_its_end_is_held_until_the_next_look_while_its_end_is_remembered() {
        let (out, _facts) = mpsc::channel(10);
        let all = Holds::new(Own::new(7, 1, out), Book::open(None, Mode::Act, NOW).unwrap());
        (0..=u32::try_from(REMEMBERED).unwrap()).for_each(|n| all.job_ended(job(n)));
        for n in [0, 1] {
            all.hold(hold(Scope::Job(job(n))), NOW).await.unwrap();
        }
        all.lift_ended_now(NOW).await;
        assert_eq!(all.all(NOW).await, [hold(Scope::Job(job(0)))], "the oldest is forgotten");
    }
}
