//! Attempts that fail by themselves, tasks of which too many do, and jobs that fail with these.

use super::attempt::{Attempt, AttemptKey, Stage};
use super::draw::Purpose;
use super::job::Job;
use super::task::task_key;
use super::watch::End;
use super::world::World;
use crate::model::{JobPhase, TaskKind, TaskState, Time};

impl World<'_> {
    /// After which share of a stage, 0–1, an attempt that begins it fails; `None` where it does not.
    pub(super) fn fails_at(&self, job: &Job, attempt: &Attempt, stage: Stage) -> Option<f64> {
        let spec = &self.scenario.hadoop.fails;
        if stage != Stage::Work || spec.share <= 0.0 {
            return None;
        }
        let subject = [job.of.key(), task_key(attempt.kind, attempt.index), attempt.number.into()];
        let mut draw = self.draws.of(Purpose::Failure, subject);
        (draw.uniform() < spec.share).then(|| spec.at.sample(&mut draw))
    }

    /// An attempt fails. Another is asked for where its task has none left with a container (TaskImpl, AttemptFailedTransition), and the job fails with the last that may.
    pub(super) fn fails(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key).clone();
        self.ends(key, End::Failed, now);
        if let Some(failures) = &mut self.outcome.failures {
            failures.attempts += 1;
        }
        let Some(job) = self.jobs.get_mut(&attempt.job) else { return };
        job.tally.failed += 1;
        let task = job.task_mut(attempt.kind, attempt.index);
        // One beside which another has succeeded is missed by nobody.
        if task.state == TaskState::Succeeded {
            return;
        }
        (task.failed, task.hurries) = (task.failed + 1, true);
        if task.failed >= self.scenario.hadoop.attempts_max {
            task.state = TaskState::Failed;
            self.job_fails(attempt.job, now);
        } else if task.live.is_empty() {
            self.replace(&attempt, End::Failed, now);
        }
    }

    /// A job of which a task has failed fails: what it has goes, and jobs that wait for it never begin.
    fn job_fails(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        for kind in TaskKind::ALL {
            let asked: Vec<u32> = job.of(kind).asks.iter().map(|ask| ask.index).collect();
            asked.into_iter().for_each(|index| job.unask(kind, index));
        }
        let live = job.live.clone();
        live.into_iter().for_each(|key| self.ends(key, End::JobFailed, now));
        if let Some(job) = self.jobs.get_mut(&number) {
            // What succeeded in it was of no use, either.
            job.tally.wasted_ms += std::mem::take(&mut job.tally.useful_ms);
        }
        self.end_job(number, JobPhase::Failed, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::am::ended_fact;
    use super::super::draw::Draws;
    use super::super::ideal::{Actor, Ideal};
    use super::super::job::{Origin, START};
    use super::super::scenario::Scenario;
    use super::*;
    use crate::model::{AttemptState, Millis};

    #[test]
    fn an_attempt_that_failed_is_told_as_failed_and_one_that_went_with_its_job_as_killed() {
        let scenario: Scenario = serde_json::from_str(r#"{"jobs": [{"name": "a", "maps": {"tasks": 1}}]}"#).unwrap();
        let job = Job::new(&scenario, &Draws::new(1), 0, Origin::Group(0, 0), 0, START);
        let attempt = Attempt::new(0, TaskKind::Map, 0, 0, false, 0, START);
        let state = |end| ended_fact(&job, &attempt, end, &"n0".into(), START).state;
        assert_eq!([state(End::Failed), state(End::JobFailed)], [AttemptState::Failed, AttemptState::Killed].map(Some));
    }

    /// How a task is told of whose only attempt is lost after so many of its stages.
    fn told_without_attempts(can: &str, stages: usize) -> TaskState {
        let json = format!(r#"{{"hadoop": {{"can": {{{can}}}}}, "jobs": [{{"name": "a", "maps": {{"tasks": 1}}}}]}}"#);
        let scenario: Scenario = serde_json::from_str(&json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
        world.begin_phases(0, START);
        world.serve(START);
        let key = *world.jobs[&0].live.first().unwrap();
        [500, 2_000].into_iter().take(stages).for_each(|at| world.stage_ends(key, START + Millis(at)));
        world.ends(key, End::Lost, START + Millis(3_000));
        world.jobs[&0].task(TaskKind::Map, 0).state
    }

    #[test]
    fn a_task_that_has_run_and_lost_its_only_attempt_is_scheduled_again_only_where_waiting_tasks_can_be_acted_on() {
        let told = |can| [0, 1, 2].map(|stages| told_without_attempts(can, stages));
        let [scheduled, running] = [TaskState::Scheduled, TaskState::Running];
        assert_eq!(told(r#""duplicate": true"#), [scheduled, running, running], "TaskImpl");
        assert_eq!(told(r#""duplicate": true, "order": true"#), [scheduled; 3]);
    }

    #[test]
    fn a_failure_comes_later_on_a_slower_node_and_where_its_pace_changes() {
        let mut attempt = Attempt::new(0, TaskKind::Map, 0, 0, false, 0, START);
        attempt.begin(Stage::Work, 1_000.0, 0.5, Time(0));
        assert_eq!(attempt.will_fail(0.25, Time(0)), Time(500));
        assert_eq!(attempt.turn(0.1, Time(100)), Time(2_100), "50 of 250 are done by then");
        assert_eq!(attempt.begin(Stage::Commit, 10.0, 1.0, Time(3_000)), Time(3_010));
    }
}
