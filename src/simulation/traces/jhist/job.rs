//! One job's history, from event to event.

use super::super::held::{About, Attempt};
use super::super::recorded::{Recorder, SET_UP, STARTLESS, known};
use super::events::{AttemptEnded, AttemptStarted, Event, Outcome, Submitted};
use drover_core::model::{AttemptId, JobId, Resources, TaskId, TaskKind};
use std::collections::{BTreeMap, BTreeSet};

/// A job whose history is being read.
pub(super) struct Job<'a> {
    recorder: &'a mut Recorder,
    id: Option<JobId>,
    tasks: BTreeSet<TaskId>,
    /// How many tasks it says that it has.
    has: u64,
    attempts: BTreeMap<AttemptId, Started>,
    sizes: [Option<Resources>; 2],
    ended: Option<Outcome>,
}

/// An attempt that has started.
#[derive(Debug, Clone, Copy)]
struct Started {
    at: Option<u64>,
    ended: Option<(Outcome, Option<u64>)>,
}

impl<'a> Job<'a> {
    pub(super) fn new(recorder: &'a mut Recorder) -> Job<'a> {
        let (tasks, attempts) = (BTreeSet::new(), BTreeMap::new());
        Job { recorder, id: None, tasks, has: 0, attempts, sizes: [None; 2], ended: None }
    }

    /// Its next event. What cannot be is a fault.
    pub(super) fn event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Submitted(job) => self.submitted(job)?,
            Event::Inited(job) => {
                self.is_its(job.job.as_deref())?;
                self.has = [job.total_maps, job.total_reduces].iter().filter_map(|count| known(*count)).sum()
            }
            Event::QueueChanged(queue) => {
                self.is_its(Some(&queue.job))?;
                // The queue of one that is still to be submitted is told then.
                self.id.iter().for_each(|id| self.recorder.queue(&id.to_string(), &queue.job_queue_name));
            }
            Event::TaskStarted(task) => {
                if self.is_of_use(&task.task_type)? {
                    let id: TaskId = task.task.parse().map_err(|bad| format!("{bad}"))?;
                    is_of(&task.task_type, id)?;
                    self.task(id, true)?;
                }
            }
            Event::AttemptStarted(attempt) => self.started(attempt)?,
            Event::AttemptEnded(attempt, outcome) => self.attempt_ended(attempt, outcome)?,
            Event::JobEnded(job, outcome) => {
                self.is_its(job.job.as_deref())?;
                if self.ended.replace(outcome).is_some() {
                    self.recorder.mend("jobs that end again: their last end is taken");
                }
                if let Some(counters) = job.total_counters {
                    self.sizes = ["MAPS", "REDUCES"].map(|kind| counters.size(kind));
                }
            }
            Event::Other => {}
            Event::Unknown => self.recorder.mend("events of a kind that is not known: left out"),
        }
        Ok(())
    }

    fn submitted(&mut self, job: Submitted) -> Result<(), String> {
        if let Some(first) = self.id {
            return Err(format!("{} is submitted in the history of {first}", job.job));
        }
        let id: JobId = job.job.parse().map_err(|bad| format!("{bad}"))?;
        let about = About {
            name: Some(job.job_name),
            user: Some(job.user_name),
            queue: job.job_queue_name,
            submitted: self.recorder.instant(job.submit_time),
            sizes: [None; 2],
        };
        self.id = Some(id);
        self.recorder.job(&id.to_string(), about)
    }

    /// Maps and reduces are; early versions had tasks for a job's set-up and clean-up, too.
    fn is_of_use(&mut self, kind: &str) -> Result<bool, String> {
        match kind {
            "MAP" | "REDUCE" => Ok(true),
            "JOB_SETUP" | "JOB_CLEANUP" | "TASK_CLEANUP" => {
                self.recorder.mend(SET_UP);
                Ok(false)
            }
            other => Err(format!("taskType: {other} is none of Hadoop's")),
        }
    }

    /// Is that job the one whose history this is?
    fn is_its(&self, job: Option<&str>) -> Result<(), String> {
        match (job, self.id) {
            (Some(job), Some(id)) if job != id.to_string() => Err(format!("{job} has no event in the history of {id}")),
            _ => Ok(()),
        }
    }

    fn task(&mut self, id: TaskId, is_news: bool) -> Result<(), String> {
        match self.id {
            None => return Err(format!("{id} is there before its job was submitted")),
            Some(job) if job != id.job => return Err(format!("{id} is no task of {job}")),
            Some(_) => {}
        }
        if self.tasks.insert(id) {
            self.recorder.task(&id.job.to_string(), id.kind == TaskKind::Reduce, &id.to_string())?;
        } else if is_news {
            return Err(format!("{id} was there before"));
        }
        Ok(())
    }

    fn started(&mut self, attempt: AttemptStarted) -> Result<(), String> {
        if !self.is_of_use(&attempt.task_type)? {
            return Ok(());
        }
        let id: AttemptId = attempt.id.parse().map_err(|bad| format!("{bad}"))?;
        is_of(&attempt.task_type, id.task)?;
        self.task(id.task, false)?;
        let started = Started { at: self.recorder.instant(attempt.start_time), ended: None };
        self.recorder.fits(self.attempts.len() + 1, &id.to_string())?;
        let before = self.attempts.insert(id, started);
        if before.is_some() { Err(format!("{id} was there before")) } else { Ok(()) }
    }

    fn attempt_ended(&mut self, attempt: AttemptEnded, outcome: Outcome) -> Result<(), String> {
        if !self.is_of_use(&attempt.task_type)? {
            return Ok(());
        }
        let id: AttemptId = attempt.id.parse().map_err(|bad| format!("{bad}"))?;
        is_of(&attempt.task_type, id.task)?;
        self.task(id.task, false)?;
        let Some(started) = self.attempts.get_mut(&id) else { return self.startless() };
        let finished = self.recorder.instant(attempt.finish_time);
        let before = started.ended.replace((outcome, finished));
        let Some(at) = started.at else { return self.startless() };
        if before.is_some_and(|(before, _)| before == Outcome::Succeeded) && outcome == Outcome::Lost {
            started.ended = before;
            self.recorder.mend("attempts whose output was lost after they had succeeded: their success is taken");
            return Ok(());
        }
        let is_reduce = id.task.kind == TaskKind::Reduce;
        let stages = [attempt.shuffle_finish_time, attempt.sort_finish_time].map(|at| self.recorder.instant(at));
        self.recorder.attempt(Attempt {
            finished,
            stages,
            input: attempt.counters.and_then(|counters| counters.input(is_reduce)),
            host: attempt.hostname,
            succeeded: outcome == Outcome::Succeeded,
            ..endless(id, at)
        })
    }

    fn startless(&mut self) -> Result<(), String> {
        self.recorder.mend(STARTLESS);
        Ok(())
    }

    /// Its history has no more. Its id, and the sizes of its containers, where it told them.
    pub(super) fn close(mut self, is_whole: bool) -> Result<(JobId, [Option<Resources>; 2]), String> {
        let Some(id) = self.id else { return Err("tells of no job: it has no JOB_SUBMITTED".into()) };
        let open = std::mem::take(&mut self.attempts).into_iter().filter(|(_, started)| started.ended.is_none());
        for (id, started) in open {
            match started.at {
                Some(at) => self.recorder.attempt(endless(id, at))?,
                None => self.startless()?,
            }
        }
        let recorder = self.recorder;
        if !is_whole {
            recorder.mend("histories that break off within an event: that event is left out");
        }
        let succeeded = self.ended.map(|outcome| outcome == Outcome::Succeeded);
        recorder.job_ended(succeeded, self.has, self.tasks.len() as u64);
        Ok((id, self.sizes))
    }
}

/// Is a task of the kind that its event says?
fn is_of(kind: &str, id: TaskId) -> Result<(), String> {
    let is = (kind == "REDUCE") == (id.kind == TaskKind::Reduce);
    if is { Ok(()) } else { Err(format!("taskType: {id} is no {kind}")) }
}

/// An attempt of which no more than its start is known.
fn endless(id: AttemptId, started: u64) -> Attempt {
    Attempt {
        job: id.task.job.to_string(),
        is_reduce: id.task.kind == TaskKind::Reduce,
        task: id.task.to_string(),
        id: id.to_string(),
        host: None,
        started: Some(started),
        finished: None,
        stages: [None; 2],
        input: None,
        succeeded: false,
    }
}
