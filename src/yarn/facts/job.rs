//! An ApplicationMaster's answers as facts.

use super::{Reason, Refused, name};
use crate::shown::is_host;
use crate::yarn::wire::job::{AttemptCounters, Job, Task, TaskAttempt, TaskAttempts, Tasks};
use crate::yarn::wire::lenient::{Int, MAX_ITEMS};
use drover_core::model::*;
use std::collections::BTreeSet;

/// Most tasks kept of one listing.
pub const MAX_TASKS: usize = MAX_ITEMS;
/// Most attempts kept of one task.
pub const MAX_ATTEMPTS: usize = 1_000;
const MAX_COUNTERS: usize = 10_000;

/// A job's summary with what it tells beside the fact.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSeen {
    /// The fact.
    pub fact: JobFact,
    /// The AM's clock when it answered, while the job runs.
    pub am_now: Option<Time>,
    /// Maps that have finished.
    pub maps_completed: u32,
    /// Attempts of maps, copies too, that have not launched.
    pub maps_waiting: u32,
    /// Attempts of reduces that have not launched, asked for or not.
    pub reduces_waiting: u32,
    /// Attempts running beyond one for each running task: copies under way.
    pub copies: u32,
}

/// A job's summary; refused where it is another job's.
pub fn job(wire: &Job, id: JobId, attempt: AppAttemptId, refused: &mut Refused) -> Option<JobSeen> {
    let named = wire.id.as_deref().and_then(|text| text.parse::<JobId>().ok());
    if named != Some(id) {
        refused.add(if named.is_some() { Reason::Foreign } else { Reason::BadId });
        return None;
    }
    let state = refused.word(wire.state.as_deref(), JobPhase::parse);
    let started = refused.instant(wire.startTime);
    let is_over = state.is_some_and(JobPhase::is_final) || wire.finishTime.0.unwrap_or(0) > 0;
    let running = [wire.mapsRunning, wire.reducesRunning].map(|n| refused.small(n)).iter().sum::<u32>();
    let attempts = [wire.runningMapAttempts, wire.runningReduceAttempts].map(|n| refused.small(n)).iter().sum::<u32>();
    let fact = JobFact {
        job: id,
        attempt,
        name: name(&wire.name),
        user: name(&wire.user),
        queue: name(&wire.queue),
        state,
        started: started.unwrap_or_default(),
        maps: refused.small(wire.mapsTotal),
        reduces: refused.small(wire.reducesTotal),
        uber: wire.uberized.0.unwrap_or(false),
    };
    Some(JobSeen {
        fact,
        am_now: now(started, wire.elapsedTime).filter(|_| !is_over),
        maps_completed: refused.small(wire.mapsCompleted),
        maps_waiting: refused.small(wire.newMapAttempts).max(refused.small(wire.mapsPending)),
        reduces_waiting: refused.small(wire.newReduceAttempts).max(refused.small(wire.reducesPending)),
        copies: attempts.saturating_sub(running),
    })
}

/// A listing of a job's tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TasksSeen {
    /// The tasks.
    pub tasks: Vec<TaskFact>,
    /// Every task of the listing is among them.
    pub complete: bool,
    /// The AM's clock when it answered: start and time elapsed of a running task.
    pub am_now: Option<Time>,
}

/// A job's tasks. Those of another job, without an id, or named twice are refused.
pub fn tasks(wire: &Tasks, job: JobId, refused: &mut Refused) -> TasksSeen {
    refused.many(Reason::NoObject, wire.task.odd);
    let mut seen = TasksSeen { complete: wire.task.odd == 0, ..TasksSeen::default() };
    let mut named = BTreeSet::new();
    for wire in &wire.task.items {
        let reason = match wire.id.as_deref().and_then(|id| id.parse::<TaskId>().ok()) {
            None => Reason::BadId,
            Some(id) if id.job != job => Reason::Foreign,
            Some(id) if id.index as usize >= MAX_TASKS => Reason::TooMany,
            Some(id) if !named.insert((id.kind, id.index)) => Reason::Repeated,
            Some(id) => {
                let fact = task(wire, id, refused);
                if fact.state == Some(TaskState::Running) && fact.finished.is_none() {
                    seen.am_now = seen.am_now.max(now(fact.started, wire.elapsed_time));
                }
                seen.tasks.push(fact);
                continue;
            }
        };
        refused.add(reason);
        seen.complete = false;
    }
    seen
}

fn task(wire: &Task, id: TaskId, refused: &mut Refused) -> TaskFact {
    let state = refused.word(wire.state.as_deref(), TaskState::parse);
    // Before its first attempt launches, Hadoop gives the time it was scheduled as its start.
    let has_begun = !matches!(state, Some(TaskState::New | TaskState::Scheduled));
    let started = refused.instant(wire.start_time).filter(|_| has_begun);
    let status = wire.status.as_deref().filter(|_| state == Some(TaskState::Running));
    TaskFact {
        state,
        score: refused.percent(wire.progress).filter(|_| state.is_some()),
        started,
        finished: refused.end(started, wire.finish_time),
        winner: winner(wire.successful_attempt.as_deref(), id, refused),
        phase: status.and_then(Phase::from_status),
        ..TaskFact::of(id)
    }
}

fn winner(text: Option<&str>, task: TaskId, refused: &mut Refused) -> Option<u32> {
    let text = text?;
    match text.parse::<AttemptId>() {
        Ok(attempt) if attempt.task == task => Some(attempt.number),
        Ok(_) => {
            refused.add(Reason::Foreign);
            None
        }
        Err(_) => {
            refused.add(Reason::BadId);
            None
        }
    }
}

/// A task's attempts, and the AM's clock by those that run.
pub fn attempts(wire: &TaskAttempts, task: TaskId, refused: &mut Refused) -> (Vec<AttemptFact>, Option<Time>) {
    refused.many(Reason::NoObject, wire.attempts.odd);
    refused.many(Reason::TooMany, wire.attempts.items.len().saturating_sub(MAX_ATTEMPTS) as u64);
    let (mut facts, mut am_now, mut named) = (Vec::new(), None, BTreeSet::new());
    for wire in wire.attempts.items.iter().take(MAX_ATTEMPTS) {
        let reason = match wire.id.as_deref().and_then(|id| id.parse::<AttemptId>().ok()) {
            None => Reason::BadId,
            Some(id) if id.task != task => Reason::Foreign,
            Some(id) if !named.insert(id.number) => Reason::Repeated,
            Some(id) => {
                let fact = attempt(wire, id, refused);
                if fact.state == Some(AttemptState::Running) {
                    am_now = am_now.max(now(fact.started, wire.elapsed_time));
                }
                facts.push(fact);
                continue;
            }
        };
        refused.add(reason);
    }
    (facts, am_now)
}

fn attempt(wire: &TaskAttempt, id: AttemptId, refused: &mut Refused) -> AttemptFact {
    let state = refused.word(wire.state.as_deref(), AttemptState::parse);
    let started = refused.instant(wire.start_time);
    let score = refused.percent(wire.progress);
    let phase = wire.status.as_deref().and_then(Phase::from_status);
    let is_running = state.is_some_and(AttemptState::is_running);
    AttemptFact {
        state,
        host: wire.node_http_address.as_deref().and_then(host),
        started,
        finished: refused.end(started, wire.finish_time),
        // Hadoop sets the progress of every ended attempt to 100, whatever its end.
        score: score.filter(|_| is_running),
        phase: phase.filter(|_| is_running),
        copied: refused.end(started, wire.shuffle_finish_time),
        sorted: refused.end(started, wire.merge_finish_time),
        ..AttemptFact::of(id)
    }
}

/// The host of `host:port`; `None` while no node is assigned, and for what is no host's name.
fn host(address: &str) -> Option<Name> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim();
    (host != "N/A" && is_host(host)).then(|| host.into())
}

/// A clock's present time, by when something began and how long it has gone on.
fn now(started: Option<Time>, elapsed: Int) -> Option<Time> {
    let elapsed = elapsed.natural().filter(|elapsed| *elapsed > 0)?;
    Some(Time(started?.0.saturating_add(elapsed)))
}

/// An attempt's counters.
pub fn counters(wire: &AttemptCounters, id: AttemptId, refused: &mut Refused) -> Option<AttemptFact> {
    let named = wire.id.as_deref().and_then(|text| text.parse::<AttemptId>().ok());
    if named != Some(id) {
        refused.add(if named.is_some() { Reason::Foreign } else { Reason::BadId });
        return None;
    }
    let mut fact = AttemptFact::of(id);
    let of = &mut fact.counters;
    let all = wire.groups.items.iter().flat_map(|group| &group.counter.items);
    for counter in all.take(MAX_COUNTERS) {
        let (Some(name), Some(value)) = (counter.name.as_deref(), counter.value.0) else { continue };
        let Ok(value) = u64::try_from(value) else {
            refused.add(Reason::NumberRange);
            continue;
        };
        match name {
            // Of FileInputFormat and FileOutputFormat; FILE_BYTES_… would count spills, too.
            "BYTES_READ" => of.read = Some(Bytes(value)),
            "BYTES_WRITTEN" => of.written = Some(Bytes(value)),
            "MAP_INPUT_RECORDS" | "REDUCE_INPUT_RECORDS" => of.records = Some(value),
            "CPU_MILLISECONDS" => of.cpu = Some(Millis(value)),
            "GC_TIME_MILLIS" => of.gc = Some(Millis(value)),
            "REDUCE_SHUFFLE_BYTES" => of.shuffled = Some(Bytes(value)),
            "PHYSICAL_MEMORY_BYTES" => of.memory = Some(Bytes(value)),
            _ => {}
        }
    }
    Some(fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_master_calls_a_host_begins_no_line_and_clears_no_screen() {
        let told = |address| host(address).map(|name| name.to_string());
        assert_eq!(
            ["nm1:8042", " nm1 ", "[::1]:8042"].map(told),
            ["nm1", "nm1", "[::1]"].map(|name| Some(name.into()))
        );
        let long = format!("{}:1", "x".repeat(256));
        let odd = ["", "N/A", ":8042", "a b:1", "\u{1b}[2Jok:8042", "a\nb:1", &long];
        assert_eq!(odd.map(told), [const { None }; 7]);
    }
}
