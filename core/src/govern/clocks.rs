//! What becomes of an AM's clock that is set. Set back it would make last too long what is counted on it: that lasts no longer, from what it says now, than it would from then on. Set forward
//! it has made every attempt that was launched before look as much older, and set back as much younger.

use super::GovernParams;
use super::flight::{Flight, Flights};
use crate::model::{Action, Job, JobId, Task, TaskKind, TaskState, Time, Verdict};
use crate::policy::{Budget, Judged};

/// Why what is proposed of a job's task is not done: its times say nothing. A clone is no matter of times.
pub fn bar(judged: &Judged, job: &Job) -> Option<Verdict> {
    let by_time = judged.action != Action::Withdraw && judged.budget == Budget::Copies;
    by_time.then(|| of_times(job)).flatten()
}

/// Why a job's tasks are not judged by their times: its AM's clock was set while attempts ran that run still.
pub(super) fn of_times(job: &Job) -> Option<Verdict> {
    let set = job.clock_set.get()?;
    // Over REST nobody tells of the attempt of a task that has ended that it has, too.
    let unended = |task: &Task| {
        !task.state.is_final() && task.unended().any(|attempt| attempt.started.get().is_some_and(|at| at < set))
    };
    let spans = |task: &Task| task.state == TaskState::Running && task.marks.skewed();
    let mut tasks = TaskKind::ALL.into_iter().flat_map(|kind| job.tasks(kind));
    tasks.any(|(_, task)| spans(task) || unended(task)).then_some(Verdict::ClockSet)
}

impl Flights {
    /// Brings what was noted on the clock of a job's AM back to `now` on it, where that is earlier than it was.
    pub(super) fn set_back(&mut self, job: JobId, params: &GovernParams, now: Time) {
        self.job_mut(job).for_each(|(_, flight)| flight.set_back(params, now));
        if let Some(last) = self.last.get_mut(&job) {
            *last = now.min(*last);
        }
        if let Some(fortune) = self.fortunes.get_mut(&job) {
            fortune.rests_until = fortune.rests_until.min(now + params.cool_down);
        }
    }
}

impl Flight {
    fn set_back(&mut self, params: &GovernParams, now: Time) {
        match &mut self.asked {
            Some(asked) => {
                let longest = params.try_again.max(params.cool_down).max(self.fresh.0);
                asked.again = asked.again.map(|again| again.min(now + longest));
            }
            None => {
                let ahead = self.since.since(now);
                (self.since, self.until) = (self.since - ahead, self.until - ahead);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{JOB, changed, decision, flights, job, map};
    use crate::govern::fortune::Fortune;
    use crate::model::{Millis, Mode};

    const HOUR: u64 = 3_600_000;

    /// The job, whose AM's clock is now that much behind where it was at 10 s.
    fn behind(by: u64) -> Job {
        let mut job = job();
        job.clock_offset_ms = -(by as i64);
        job
    }

    #[test]
    fn a_task_and_a_job_that_rest_do_so_no_longer_than_they_may_though_the_ams_clock_is_set_back_an_hour() {
        let params = GovernParams::default();
        let now = Time(2 * HOUR);
        let mut all = flights(&[decision(1, map(0), Mode::Act)]);
        changed(&mut all, map(0), |flight| {
            flight.counted = false;
            flight.asked.as_mut().unwrap().again = Some(now + params.try_again);
        });
        let rests_until = now + params.cool_down;
        all.fortunes.insert(JOB, Fortune { rests_until, ..Fortune::default() });
        let before = all.clone();
        all.follow(&behind(0), &params, now);
        assert_eq!(all, before, "it goes on");
        all.follow(&behind(HOUR), &params, now);
        let bar = |task, after: Millis| all.bar_of_task(task, Mode::Act, Time(HOUR) + after);
        let most = params.cool_down;
        assert_eq!([map(0), map(1)].map(|task| bar(task, most - Millis(1))), [Some(Verdict::CoolDown); 2]);
        assert_eq!([map(0), map(1)].map(|task| bar(task, most)), [None; 2]);
    }

    #[test]
    fn no_task_is_judged_by_its_time_while_an_attempt_runs_that_is_older_than_a_clock_set_forward_and_clones_are() {
        use crate::govern::bars::tests::proposed;
        use crate::govern::flight::tests::attempt;
        use crate::model::AttemptState::{Killed, Running};
        let clones = Judged { budget: Budget::Clones, ..proposed(1) };
        let bars = |state, started, set: u64| {
            let mut job = job();
            attempt(&mut job, map(3).attempt(0), state, started, 0);
            job.clock_set.latest(Some(Time(set)));
            [&proposed(1), &clones].map(|judged| bar(judged, &job))
        };
        assert_eq!(bars(Running, 1_000, 50_000), [Some(Verdict::ClockSet), None]);
        assert_eq!(
            [bars(Running, 50_000, 50_000), bars(Running, 1_000, 0), bars(Killed, 1_000, 50_000)],
            [[None; 2]; 3]
        );
        let mut done = job();
        attempt(&mut done, map(3).attempt(0), Running, 1_000, 0);
        done.clock_set.latest(Some(Time(50_000)));
        assert_eq!(bar(&proposed(1), &done), Some(Verdict::ClockSet));
        done.task_mut(map(3)).unwrap().state = TaskState::Succeeded;
        assert_eq!(bar(&proposed(1), &done), None, "its task has ended");
        let mut job = job();
        attempt(&mut job, map(3).attempt(0), Running, 50_000, 0);
        let task = job.task_mut(map(3)).unwrap();
        task.marks = task.marks.skewing(true);
        assert_eq!(bar(&proposed(1), &job), None);
        job.clock_set.latest(Some(Time(20_000)));
        assert_eq!(bar(&proposed(1), &job), Some(Verdict::ClockSet), "set back while it ran");
    }

    #[test]
    fn what_is_advised_holds_budget_no_longer_than_a_copy_would_though_the_ams_clock_is_set_back() {
        let mut all = flights(&[decision(1, map(0), Mode::Advise)]);
        all.follow(&behind(6_000), &GovernParams::default(), Time(10_000));
        assert_eq!(all.expire(JOB, Time(23_999)), Some(Time(24_000)), "twenty seconds from four on");
        assert_eq!((all.expire(JOB, Time(24_000)), all.in_cluster()), (None, 0));
        assert_eq!(all.last_of(JOB), Some(Time(4_000)));
        let gain = all.land(map(0), Time(64_000), None).map(|outcome| outcome.gain);
        assert_eq!(gain, Some(Millis(40_000)), "as without that");
    }

    /// The ends that are told of a copy which was killed before its launch, at 32 s on its AM's clock, as late as its move may be told, five seconds after that was, and a moment later. Its AM's clock is that much
    /// ahead when it is told, and later; it was set forward between the two, where it is said so.
    fn ends_of_killed([told, later]: [i64; 2], is_set: bool) -> [Vec<crate::model::CopyEnd>; 3] {
        use crate::govern::flight::tests::attempt;
        use crate::model::{AckFact, Answer, AttemptState::Killed};
        let params = GovernParams { answer_grace: Millis(5_000), ..GovernParams::default() };
        let mut all = flights(&[decision(1, map(0), Mode::Act)]);
        all.answered(&AckFact { job: JOB, decision: 1, answer: Answer::Applied, attempts: vec![1] });
        let mut job = job();
        attempt(&mut job, map(0).attempt(1), Killed, 0, 32_000);
        let looks = [(32_000, told), (37_000, later), (37_001, later)];
        looks.map(|(heard, offset)| {
            (job.heard, job.clock_offset_ms) = (Time(heard), offset);
            job.clock_set.latest(is_set.then(|| job.am_time(job.heard)));
            all.follow(&job, &params, job.heard).0.into_iter().map(|outcome| outcome.end).collect()
        })
    }

    #[test]
    fn a_copy_that_was_killed_before_its_launch_is_waited_for_neither_longer_nor_less_where_its_ams_clock_is_set() {
        use crate::model::CopyEnd::Died;
        let hour = HOUR as i64;
        for clocks in [[0, 0], [0, -hour], [-hour, -hour], [0, hour]] {
            assert_eq!(ends_of_killed(clocks, false), [vec![], vec![], vec![Died]], "{clocks:?}");
        }
        assert_eq!(ends_of_killed([hour, hour], true), [vec![], vec![], vec![Died]], "before it was told");
    }
}
