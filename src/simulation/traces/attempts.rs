//! Attempts as CSV: when each began and ended, and where.

use super::{BadTrace, Lines, Trace};
use drover_core::model::{Bytes, Millis, Resources};
use drover_core::sim::{TracedJob, TracedPhase, TracedTask, TracedTasks};
use std::collections::BTreeMap;

const SIZE: Resources = Resources { memory_mb: 1024, vcores: 1 };
const COLUMNS: [&str; 9] =
    ["job", "phase", "task", "attempt", "start_ms", "finish_ms", "result", "in_bytes", "shuffle_fin_ms"];

/// The attempt of a task that succeeded first.
#[derive(Debug, Clone, Copy)]
struct Winner {
    started: u64,
    finished: u64,
    /// End of a reduce's shuffle.
    shuffled: Option<u64>,
    input: u64,
}

/// Tasks of one job by kind and name.
type Tasks = BTreeMap<(bool, String), Option<Winner>>;

pub(super) fn read(header: &str, mut lines: Lines<'_>) -> Result<Trace, BadTrace> {
    let places = columns(header, &lines)?;
    let mut jobs: BTreeMap<String, Tasks> = BTreeMap::new();
    let mut trace = Trace::default();
    let mut seen = std::collections::BTreeSet::new();
    while let Some(text) = lines.next()? {
        let fields: Vec<&str> = text.split(',').collect();
        let field =
            |column: usize| fields.get(places[column]).copied().ok_or_else(|| lines.wrong("ends too early".into()));
        let (job, task, attempt) = (field(0)?.to_owned(), field(2)?.to_owned(), field(3)?.to_owned());
        let is_reduce = match field(1)? {
            "MAP" => false,
            "REDUCE" => true,
            other => return Err(lines.wrong(format!("phase: \"{other}\" is neither MAP nor REDUCE"))),
        };
        if !seen.insert(attempt.clone()) {
            return Err(lines.wrong(format!("{attempt} was there before")));
        }
        let tasks = jobs.entry(job).or_default().entry((is_reduce, task)).or_default();
        if field(6)? != "SUCCESS" {
            *trace
                .repairs
                .entry("attempts that did not succeed: how long they would have taken is not known".into())
                .or_default() += 1;
            continue;
        }
        let (started, finished) = (lines.whole(field(4)?, "start_ms")?, lines.whole(field(5)?, "finish_ms")?);
        if finished < started {
            return Err(lines.wrong(format!("{attempt} ends at {finished}, before it begins at {started}")));
        }
        let shuffled = field(8)?.parse().ok().filter(|at| (started..=finished).contains(at));
        let winner = Winner { started, finished, shuffled, input: field(7)?.parse().unwrap_or(0) };
        if tasks.is_none_or(|known| finished < known.finished) {
            *tasks = Some(winner);
        }
    }
    trace.assumed.push("the trace tells no containers' sizes: 1 GiB and a core each".into());
    let began = jobs.values().flat_map(BTreeMap::values).flatten().map(|winner| winner.started).min().unwrap_or(0);
    for (name, tasks) in jobs {
        trace.jobs.extend(job(name, &tasks, began, &mut trace.repairs));
    }
    trace.jobs.sort_by_key(|job| job.arrives);
    Ok(trace)
}

fn columns(header: &str, lines: &Lines<'_>) -> Result<[usize; 9], BadTrace> {
    let known: Vec<&str> = header.split(',').collect();
    let mut places = [0; 9];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let found = known.iter().position(|name| *name == column);
        *place = found.ok_or_else(|| lines.wrong(format!("there is no column {column}")))?;
    }
    Ok(places)
}

fn job(name: String, tasks: &Tasks, began: u64, repairs: &mut BTreeMap<String, u64>) -> Option<TracedJob> {
    let winners = |reduces: bool| tasks.iter().filter(move |((of, _), _)| *of == reduces).map(|(_, winner)| *winner);
    let lost = tasks.values().filter(|winner| winner.is_none()).count() as u64;
    if lost > 0 {
        *repairs
            .entry("tasks without an attempt that succeeded: they take their phase's median".into())
            .or_default() += lost;
    }
    let first = tasks.values().flatten().map(|winner| winner.started).min();
    let Some(first) = first else {
        *repairs.entry("jobs without any attempt that succeeded: left out".into()).or_default() += 1;
        return None;
    };
    let maps_end = winners(false).flatten().map(|winner| winner.finished).max();
    Some(TracedJob {
        name,
        user: "trace".into(),
        queue: "default".into(),
        arrives: Millis(first - began),
        phases: [phase(winners(false).collect(), None), phase(winners(true).collect(), maps_end)],
    })
}

/// What a phase's tasks take, and each one's luck: its own time over the phase's median. Of a reduce what it waited for maps is no work: its reading counts from
/// their end on.
fn phase(winners: Vec<Option<Winner>>, maps_end: Option<u64>) -> TracedPhase {
    let reads = |winner: &Winner| {
        let from = maps_end.map_or(winner.started, |end| end.max(winner.started));
        winner.shuffled.map_or(0, |at| at.saturating_sub(from))
    };
    let works = |winner: &Winner| winner.finished - winner.shuffled.unwrap_or(winner.started);
    let known: Vec<Winner> = winners.iter().flatten().copied().collect();
    let median = |of: &dyn Fn(&Winner) -> u64| {
        let mut all: Vec<u64> = known.iter().map(of).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0).max(1) as f64
    };
    let (read, work) = (median(&reads), median(&works));
    let read = if maps_end.is_some() { read } else { 0.0 };
    let task = |winner: Option<Winner>| TracedTask {
        work: [read, 0.0, work],
        first: winner.map_or(1.0, |winner| (works(&winner) as f64 / work).max(1e-3)),
        input: Bytes(winner.map_or(0, |winner| winner.input)),
    };
    TracedPhase { tasks: TracedTasks::Each(winners.into_iter().map(task).collect()), size: SIZE }
}
