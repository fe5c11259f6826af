//! What has ended is set against what was said of it.

use super::{Engine, Pass};
use crate::model::*;
use crate::policy::View;
use std::collections::BTreeSet;

/// A job that the RM no longer lists, and of which nothing is heard for this long, is forgotten though its end was never read, unless that is about to be.
const FORGET_AFTER: Millis = Millis(600_000);

/// The hosts that the end of copies says something of: the winner's, or those on which they were launched in vain.
fn hosts_of(job: &Job, end: &CopyOutcome) -> Vec<NameId> {
    let counts = |copy: &&Attempt| match end.end {
        CopyEnd::Won => Some(copy.number) == end.winner,
        _ => end.attempts.contains(&copy.number) && copy.was_launched(),
    };
    let attempts = job.task(end.task).into_iter().flat_map(|task| &task.attempts).filter(counts);
    let hosts: BTreeSet<NameId> = attempts.filter_map(|copy| copy.host).collect();
    hosts.into_iter().collect()
}

impl Engine {
    /// Settles the ended tasks of a job: errors of estimates, outcomes of advised copies.
    pub(super) fn settle_tasks(&mut self, id: JobId, pass: &mut Pass) {
        let Some(job) = self.cluster.job_mut(id) else { return };
        pass.errors.extend(self.calibration.settle(job));
        self.flights.outlive(job);
        // A task that still runs is judged anew in this pass; one that cannot be, has none.
        job.forget_verdicts();
        let flown: BTreeSet<TaskId> = self.flights.tasks_of(id).map(|(task, _)| task).collect();
        let ended = flown.into_iter().filter_map(|id| job.task(id).and_then(|task| Some((id, task, task.ended()?))));
        for (id, task, finished) in ended {
            // Of a task that failed or was killed nobody can say what a copy would have gained.
            let outcome = self.flights.land(id, finished, Some(task));
            pass.outcomes.extend(outcome.filter(|_| task.state == TaskState::Succeeded));
        }
    }

    /// Brings the job's copies that were asked for up to date. When the next answer is due, the service's clock.
    pub(super) fn follow_copies(&mut self, id: JobId, now: Time, pass: &mut Pass) -> Option<Time> {
        let job = self.cluster.job(id)?;
        let (ends, next) = self.flights.follow(job, &self.params.govern, now);
        self.tell_ends(id, ends, now, pass);
        next
    }

    /// Counts the ends of copies, and adds the hosts' names to them.
    fn tell_ends(&mut self, id: JobId, ends: Vec<CopyOutcome>, now: Time, pass: &mut Pass) {
        if let Some(job) = self.cluster.job(id) {
            for end in &ends {
                self.breakers.count(end, &job.user, &self.params.govern, now);
                self.node_rests.count(end, &job.user, &hosts_of(job, end), now);
            }
        }
        let outran = self.outran(id, &ends);
        let name = |host| self.cluster.hosts.name(host).to_owned();
        pass.copies.extend(ends.into_iter().zip(outran).map(|(end, outran)| {
            let attempts = || {
                let task = self.cluster.job(id).and_then(|job| job.task(end.task));
                task.into_iter().flat_map(|task| &task.attempts)
            };
            let winner = attempts().find(|attempt| Some(attempt.number) == end.winner);
            let launched = attempts().filter(|copy| end.attempts.contains(&copy.number) && copy.was_launched());
            let launched: Vec<NameId> = launched.filter_map(|copy| copy.host).collect();
            let landed = self.landed(&launched, &end.named);
            let hosts = launched.into_iter().map(name).collect();
            CopyOutcome {
                host: winner.and_then(|winner| winner.host).map(name),
                hosts,
                landed,
                outran,
                named: Default::default(),
                ..end
            }
        }));
    }

    /// Where copies ran, by the racks of which the RM tells now.
    fn landed(&self, hosts: &[NameId], [avoid, prefer]: &[Vec<NameId>; 2]) -> Landed {
        let rack = |host: NameId| self.cluster.rack_of(host);
        let near = |host: &NameId| rack(*host).is_some_and(|own| prefer.iter().any(|one| rack(*one) == Some(own)));
        Landed::of(hosts.iter().copied(), avoid, prefer, near)
    }

    /// Settles jobs that have ended, and forgets them; and those that got lost.
    pub(super) fn settle_ended(&mut self, now: Time, pass: &mut Pass) {
        let mut gone = std::mem::take(&mut self.ended);
        for id in &gone {
            self.settle_tasks(*id, pass);
            self.follow_copies(*id, now, pass);
            let Some(job) = self.cluster.job(*id) else { continue };
            pass.errors.extend(self.calibration.close(job));
            let ends = self.flights.close_job(job);
            self.tell_ends(*id, ends, now, pass);
            let Some(job) = self.cluster.job(*id) else { continue };
            self.odds.learn_losses(job, now);
            if job.state != Some(JobPhase::Succeeded) {
                continue;
            }
            self.odds.learn(job, now);
            if let Some(kind) = JobKind::of(job) {
                // Nothing is estimated of what has ended.
                let params = self.view_params(None, TaskKind::Map, Mode::Advise);
                let run = TaskKind::ALL.map(|tasks| View::of_tasks(job, tasks, job.am_time(now), &params).as_prior());
                let plan = self.clones.of(*id, TaskKind::Reduce).filter(|plan| plan.clones > 1);
                self.shuffles.learn(&kind, job, plan.and_then(|plan| plan.reading).map(|reading| reading.done));
                self.priors.learn(kind, run);
            }
            // Tasks whose own end was never told ended with their job at the latest.
            let ended = job.ended.get().unwrap_or_else(|| job.am_time(job.heard));
            let open: Vec<TaskId> = self.flights.tasks_of(*id).map(|(task, _)| task).collect();
            for task in open {
                pass.outcomes.extend(self.flights.land(task, ended, job.task(task)));
            }
        }
        for id in self.cluster.lost_jobs(now - FORGET_AFTER) {
            let new = gone.insert(id).then(|| self.cluster.job(id)).flatten();
            let ends = new.map_or_else(Vec::new, |job| self.flights.close_job(job));
            self.tell_ends(id, ends, now, pass);
        }
        for id in gone {
            self.flights.forget(id);
            self.clones.forget(id);
            self.measures.forget(id);
            self.debounce.forget_job(id);
            self.calibration.forget(id);
            self.cluster.forget(id);
            self.due.remove(&id);
            self.roomless.remove(&id);
            self.keep(id, None);
            self.changed.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineParams;

    #[test]
    fn a_win_says_something_of_the_winners_host_alone_and_a_loss_of_those_where_copies_were_launched() {
        let (mut job, mut names) = (Job::new("job_1_0001".parse().unwrap()), Names::default());
        let task = job.id.task(TaskKind::Map, 0);
        // The first is no copy, and the last was killed before it was launched.
        for (number, host, ended) in [(0, "a", 9_000), (1, "b", 9_000), (2, "c", 9_000), (3, "d", 1_050)] {
            let (state, started, finished) = (Some(AttemptState::Killed), Some(Time(1_000)), Some(Time(ended)));
            let fact = AttemptFact { state, started, finished, ..AttemptFact::of(task.attempt(number)) };
            assert!(job.learn_attempt(&fact, names.intern(host), Time(9_000), 10));
        }
        let hosts = |end, winner| {
            let outcome = CopyOutcome {
                decision: 1,
                policy: String::new(),
                action: Action::Duplicate,
                clones: false,
                telling: true,
                task,
                end,
                answer: None,
                attempts: vec![1, 2, 3],
                winner,
                host: None,
                hosts: Vec::new(),
                named: Default::default(),
                landed: Landed::default(),
                restart: None,
                at: Time(9_000),
                cost: Millis(0),
                winner_cost: Millis(0),
                outran: None,
            };
            hosts_of(&job, &outcome).into_iter().map(|host| names.name(host)).collect::<Vec<_>>()
        };
        assert_eq!(hosts(CopyEnd::Won, Some(2)), ["c"]);
        assert_eq!(hosts(CopyEnd::Lost, Some(0)), ["b", "c"]);
    }

    #[test]
    fn a_copy_beside_a_preferred_host_is_near_it_where_both_racks_are_known() {
        let mut engine = Engine::new(EngineParams::default());
        let none = Resources::default();
        let nodes = [("a", "/r1"), ("b", "/r1"), ("c", "/r2")];
        let nodes = nodes.map(|(host, rack)| NodeFact { rack: rack.into(), ..NodeFact::usable(host, none, none) });
        let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
        let fact = Fact::Nodes(nodes.into());
        engine.observe(&Observation { source, seq: 1, at: Time(1), received: Time(1), fact }).unwrap();
        let mut id = |host| engine.cluster.hosts.intern(host).unwrap();
        let [a, b, c, unlisted, other] = ["a", "b", "c", "unlisted", "other"].map(&mut id);
        let landed = |prefer: NameId| {
            let Landed { preferred, near, elsewhere, avoided, kept_off } =
                engine.landed(&[a, b, c, unlisted], &[vec![c], vec![prefer]]);
            assert_eq!((avoided, kept_off), (1, 3));
            [preferred, near, elsewhere]
        };
        assert_eq!([landed(a), landed(unlisted), landed(other)], [[1, 1, 2], [1, 0, 3], [0, 0, 4]]);
    }
}
