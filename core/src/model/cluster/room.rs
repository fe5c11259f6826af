//! How many tasks the jobs of one user may have: each costs memory and time of every pass, and the number is what the job claims.

use super::ClusterState;
use crate::model::id::{JobId, TaskKind};

/// How many there may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// Of any job.
    always: usize,
    /// Of those jobs of a user together that have more than that.
    of_user: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { always: 10_000, of_user: 2_000_000 }
    }
}

impl ClusterState {
    /// How many places for tasks the job may have once it has been told of these. Other jobs are looked at only where a large one grows.
    pub(super) fn room(&self, id: JobId, told: impl Iterator<Item = (TaskKind, u32)>) -> usize {
        let Some(job) = self.jobs.get(&id) else { return 0 };
        let Bounds { always, of_user } = self.bounds;
        let places = job.places();
        let mut grown = places;
        for (kind, index) in told {
            let needed = &mut grown[kind as usize];
            *needed = (*needed).max(index as usize + 1);
        }
        let [before, after] = [places, grown].map(|places| places.iter().sum::<usize>());
        if after <= always.max(before) {
            return always.max(before);
        }
        let others = self.jobs.values().filter(|other| other.id != id && other.user == job.user);
        let large: usize = others.map(|other| other.places().iter().sum::<usize>()).filter(|all| *all > always).sum();
        always.max(of_user.saturating_sub(large))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::Job;
    use crate::model::observation::{Channel, EndFact, Fact, Observation, Source, TaskFact};
    use crate::model::units::Time;

    struct Told(ClusterState, u64);

    impl Told {
        fn of_users(users: &[&str]) -> Told {
            let mut state = ClusterState { bounds: Bounds { always: 10, of_user: 100 }, ..ClusterState::default() };
            for (n, user) in users.iter().enumerate() {
                let mut job = Job::new(id(n));
                job.user = (*user).to_owned();
                state.jobs.insert(job.id, job);
            }
            Told(state, 0)
        }

        fn observe(&mut self, fact: Fact) {
            self.1 += 1;
            let source = Source { channel: Channel::Own, app: None, principal: None, incarnation: 1 };
            let seen = Observation { source, seq: self.1, at: Time(1), received: Time(1), fact };
            self.0.apply(&seen).unwrap();
        }

        fn tasks(&mut self, job: usize, kind: TaskKind, tasks: u32, complete: bool) -> [usize; 2] {
            let tasks = (0..tasks).map(|index| TaskFact::of(id(job).task(kind, index))).collect();
            self.observe(Fact::Tasks { job: id(job), complete, tasks });
            self.0.jobs[&id(job)].places()
        }
    }

    fn id(job: usize) -> JobId {
        format!("job_1_{job:04}").parse().unwrap()
    }

    #[test]
    fn one_users_large_jobs_have_room_for_so_many_tasks_together_and_small_jobs_always_have_theirs() {
        let mut told = Told::of_users(&["eve", "eve", "eve", "ada"]);
        assert_eq!(told.tasks(0, TaskKind::Map, 80, false), [80, 0]);
        assert_eq!(told.tasks(0, TaskKind::Reduce, 80, false), [80, 20], "of both kinds together");
        assert_eq!(told.tasks(1, TaskKind::Map, 50, true), [10, 0]);
        assert!(!told.0.jobs[&id(1)].is_complete(), "a listing for which there was no room is none");
        assert_eq!(told.tasks(2, TaskKind::Map, 10, true), [10, 0]);
        assert!(told.0.jobs[&id(2)].is_complete());
        assert_eq!(told.tasks(3, TaskKind::Map, 100, true), [100, 0], "another user's");
        assert_eq!(told.tasks(0, TaskKind::Map, 80, false), [80, 20], "what is known is told of as before");
    }

    #[test]
    fn what_is_told_of_attempts_makes_no_room_beyond_it_either_and_a_far_index_counts_for_all_before_it() {
        use crate::model::observation::AttemptFact;
        let mut told = Told::of_users(&["eve", "eve"]);
        let attempt = |job: usize, index| AttemptFact::of(id(job).task(TaskKind::Map, index).attempt(0));
        told.observe(Fact::Attempts { job: id(0), attempts: vec![attempt(0, 94)] });
        told.observe(Fact::Attempts { job: id(1), attempts: vec![attempt(1, 9), attempt(1, 10)] });
        assert_eq!([0, 1].map(|job| told.0.jobs[&id(job)].places()), [[95, 0], [10, 0]]);
    }

    #[test]
    fn a_job_that_has_ended_leaves_its_room_to_the_others() {
        let mut told = Told::of_users(&["eve", "eve"]);
        told.tasks(0, TaskKind::Map, 100, false);
        assert_eq!(told.tasks(1, TaskKind::Map, 60, true), [10, 0]);
        told.observe(Fact::Ended(EndFact {
            job: id(0),
            state: None,
            started: None,
            finished: None,
            attempts: Vec::new(),
        }));
        told.0.forget(id(0));
        assert_eq!(told.tasks(1, TaskKind::Map, 60, true), [60, 0]);
        assert!(told.0.jobs[&id(1)].is_complete());
    }
}
