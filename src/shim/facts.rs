//! Rows become facts. A value that cannot be is left out and counted under its reason; the rest of its row still counts.

use super::params::ShimParams;
use super::session::{Now, RUNS, Session};
use super::table::Names;
use super::told::Told;
use super::values::{Num, Word};
use super::wire::{AttemptRow, CounterRow, MAX_MISSES, MAX_SPLIT_HOSTS, Request, TaskRow};
use crate::shown::is_host;
use drover_core::model::{
    AppAttemptId, AttemptFact, AttemptState, Bytes, Capabilities, Channel, Counters, Fact, JobFact, JobPhase, Millis,
    Miss, Observation, Source, TaskFact, TaskKind, Time,
};
use std::sync::Arc;

/// Turns a request that follows what the session holds into facts, and takes note in the session of what later requests build on. `can`: what can be done
/// through the session as it stands.
pub fn tell(
    session: &mut Session,
    request: &Request<'_>,
    can: Capabilities,
    params: &ShimParams,
    names: &Names,
) -> Told {
    let mut told = Told::default();
    let job = session.profile.job();
    let opened = !std::mem::replace(&mut session.open, true);
    if opened {
        told.facts.push(Fact::ShimSession(job, true));
    }
    if session.can.replace(can) != Some(can) || opened {
        told.facts.push(Fact::Can(job, can));
    }
    summary(session, request, &mut told);
    hosts(session, request, params, names, &mut told);
    let tasks = tasks(session, request, params, &mut told);
    let attempts = attempts(session, request, params, &mut told);
    told.rows = (tasks.len() + attempts.len()) as u64;
    if session.ticks.take_set() {
        told.facts.push(Fact::ClockSet(job));
    }
    if !tasks.is_empty() {
        let complete = request.base == 0 && !request.more && covers_all(&tasks, request);
        told.facts.push(Fact::Tasks { job, complete, tasks });
    }
    if !attempts.is_empty() {
        told.facts.push(Fact::Attempts { job, attempts });
    }
    // Told every time, changed or not: it is what shows the job's facts to be fresh.
    let native_copies = request.native.launched;
    told.facts.push(Fact::Needs { job, maps: request.needs.m, reduces: request.needs.r, native_copies });
    session.native_copies = native_copies;
    dropped(session, request, &mut told);
    told
}

/// The job's summary and settings when they are new.
fn summary(session: &mut Session, request: &Request<'_>, told: &mut Told) {
    let state = JobPhase::parse(&request.job_state);
    let now = (state, request.maps, request.reduces);
    if session.summary == Some(now) {
        return;
    }
    if state.is_none() {
        told.refuse("unknown_job_state");
    }
    let first = session.summary.replace(now).is_none();
    let profile = &session.profile;
    told.facts.push(Fact::Job(JobFact {
        job: profile.job(),
        attempt: profile.attempt,
        name: profile.name.clone(),
        user: profile.user.clone(),
        queue: profile.queue.clone(),
        state,
        started: profile.started,
        maps: request.maps,
        reduces: request.reduces,
        uber: profile.uber,
    }));
    if first {
        told.facts.push(Fact::Settings(profile.job(), profile.settings.clone()));
    }
}

/// Takes note of the names behind indices.
fn hosts(session: &mut Session, request: &Request<'_>, params: &ShimParams, names: &Names, told: &mut Told) {
    for row in &request.hosts {
        let Some(slot) = row.0.index().map(|index| index as usize).filter(|slot| *slot < params.hosts) else {
            told.refuse("too_many_hosts");
            continue;
        };
        if !is_host(&row.1) {
            told.refuse("bad_host");
            continue;
        }
        if slot >= session.hosts.len() {
            session.hosts.resize(slot + 1, None);
        }
        match &session.hosts[slot] {
            // Otherwise a session could name hosts without end.
            Some(known) if **known != *row.1 => told.refuse("host_renamed"),
            Some(_) => {}
            None => {
                session.hosts[slot] = names.intern(&row.1, &session.profile.user);
                if session.hosts[slot].is_none() {
                    told.refuse("too_many_hosts");
                }
            }
        }
    }
}

fn host(session: &Session, index: Num) -> Option<Arc<str>> {
    session.hosts.get(index.index()? as usize)?.clone()
}

/// Kind and index of a task that the job has.
fn place(
    kind: Word<TaskKind>,
    index: Num,
    request: &Request<'_>,
    params: &ShimParams,
) -> Result<(TaskKind, u32), &'static str> {
    let kind = kind.0.ok_or("unknown_kind")?;
    let of = match kind {
        TaskKind::Map => request.maps,
        TaskKind::Reduce => request.reduces,
    };
    match index.index() {
        Some(index) if index < of.min(params.tasks) => Ok((kind, index)),
        Some(index) if index < of => Err("too_many_tasks"),
        _ => Err("unknown_task"),
    }
}

fn tasks(session: &Session, request: &Request<'_>, params: &ShimParams, told: &mut Told) -> Vec<TaskFact> {
    let mut out = Vec::with_capacity(request.tasks.len());
    for row in &request.tasks {
        match place(row.k, row.i, request, params) {
            Ok((kind, index)) => {
                out.push(task(session, row, TaskFact::of(session.profile.job().task(kind, index)), told))
            }
            Err(reason) => told.refuse(reason),
        }
    }
    out
}

fn task(session: &Session, row: &TaskRow, mut fact: TaskFact, told: &mut Told) -> TaskFact {
    fact.state = told.word(row.s, "unknown_state");
    // Of what a reduce is to read Hadoop knows nothing before it does.
    fact.input = told.num(row.bytes).filter(|_| fact.kind == TaskKind::Map).map(Bytes);
    for index in row.hosts.iter().take(MAX_SPLIT_HOSTS) {
        match host(session, *index) {
            Some(name) => fact.hosts.push(name),
            None => told.refuse("unknown_host"),
        }
    }
    fact
}

/// Are all of the job's tasks among these?
fn covers_all(tasks: &[TaskFact], request: &Request<'_>) -> bool {
    let all = u64::from(request.maps) + u64::from(request.reduces);
    if (tasks.len() as u64) < all {
        return false;
    }
    let mut ids: Vec<_> = tasks.iter().map(|task| (task.kind, task.index)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u64 == all
}

fn attempts(session: &mut Session, request: &Request<'_>, params: &ShimParams, told: &mut Told) -> Vec<AttemptFact> {
    // A job that claims more tasks than are taken of it has no more attempts for that.
    let all = [request.maps, request.reduces].into_iter().map(|claimed| u64::from(claimed.min(params.tasks))).sum();
    let of = session.profile.attempt;
    let mut out = Vec::with_capacity(request.attempts.len());
    for row in &request.attempts {
        let known = place(row.k, row.i, request, params).and_then(|(kind, index)| {
            let number = row.n.index().ok_or("bad_attempt_number")?;
            session.seen.attempt(kind, index, number, &of, all)?;
            Ok(of_job(session, kind, index, number))
        });
        match known {
            Ok(fact) => {
                let missed = missed(row, request, params, told);
                out.push(AttemptFact { missed, ..attempt(session, row, fact, told) });
            }
            Err(reason) => told.refuse(reason),
        }
    }
    out
}

fn of_job(session: &Session, kind: TaskKind, index: u32, number: u32) -> AttemptFact {
    AttemptFact::of(session.profile.job().task(kind, index).attempt(number))
}

fn attempt(session: &mut Session, row: &AttemptRow, mut fact: AttemptFact, told: &mut Told) -> AttemptFact {
    fact.state = told.word(row.s, "unknown_state");
    fact.host = told.ok(row.node.map(|index| host(session, index)), "unknown_host");
    fact.started = told.time(row.at);
    fact.finished = told.time(row.fin);
    if fact.started.zip(fact.finished).is_some_and(|(started, finished)| finished < started) {
        fact.finished = None;
        told.refuse("finish_before_start");
    }
    let score = row.p.map(|p| (0.0..=1.0).contains(&p).then_some(p as f32));
    fact.score = told.ok(score, "progress_range");
    fact.scored_at = told.time(row.u);
    fact.reports = told.num(row.c).map(|c| u32::try_from(c).unwrap_or(u32::MAX));
    fact.phase = told.word(row.ph, "unknown_phase");
    fact.copied = told.time(row.shuf);
    fact.sorted = told.time(row.sort);
    fact.speculative = row.spec;
    note_launch(session, &fact);
    if let Some(row) = &row.ctr {
        fact.counters = counters(row, told);
    }
    fact
}

/// Attempts of earlier AMs were launched before this one began.
fn note_launch(session: &mut Session, fact: &AttemptFact) {
    let own = fact.number >= session.profile.attempt.number.saturating_sub(1).saturating_mul(RUNS);
    let runs = matches!(fact.state, Some(AttemptState::Running | AttemptState::CommitPending));
    if let Some(launched) = fact.started.filter(|_| own && runs) {
        session.ticks.has_running(launched);
    }
}

/// Which reduces could not fetch the attempt's output.
fn missed(row: &AttemptRow, request: &Request<'_>, params: &ShimParams, told: &mut Told) -> Vec<Miss> {
    let mut missed = Vec::new();
    for (reduce, at) in row.miss.iter().take(MAX_MISSES) {
        let known = match row.k.0 {
            Some(TaskKind::Map) => place(Word(Some(TaskKind::Reduce)), *reduce, request, params),
            _ => Err("unknown_kind"),
        };
        match known {
            Ok((_, reduce)) => missed.extend(told.time(Some(*at)).map(|at| Miss { reduce, at })),
            Err(reason) => told.refuse(reason),
        }
    }
    missed
}

fn counters(row: &CounterRow, told: &mut Told) -> Counters {
    Counters {
        read: told.num(row.read).map(Bytes),
        records: told.num(row.rec),
        written: told.num(row.out).map(Bytes),
        cpu: told.num(row.cpu).map(Millis),
        gc: told.num(row.gc).map(Millis),
        shuffled: told.num(row.shuf).map(Bytes),
        memory: told.num(row.mem).map(Bytes),
        ..Counters::default()
    }
}

/// Counts what the shim itself had to drop. Its own reasons make no labels: they are the job's words.
fn dropped(session: &mut Session, request: &Request<'_>, told: &mut Told) {
    let total = request.dropped.values().filter_map(|n| n.get()).fold(0u64, u64::saturating_add);
    if total > session.dropped {
        told.refused.insert("dropped_by_shim", total - session.dropped);
        session.dropped = total;
    }
}

/// Stamps facts with where they come from and when. `first` is the sequence of the first one, `epoch` the service's.
pub fn stamp(session: &Session, told: Told, at: Time, now: Now, first: u64, epoch: u64) -> Vec<Observation> {
    let AppAttemptId { app, number } = session.profile.attempt;
    let principal = Some(session.profile.user.clone());
    let shim = Source { channel: Channel::Shim, app: Some(app), principal, incarnation: u64::from(number) };
    let own = Source { channel: Channel::Own, app: Some(app), principal: None, incarnation: epoch };
    let facts = told.facts.into_iter().map(|fact| (&shim, at, fact));
    let all = facts.chain(told.own.into_iter().map(|fact| (&own, now.wall, fact)));
    let stamped = (first..).zip(all).map(|(seq, (source, at, fact))| Observation {
        source: source.clone(),
        seq,
        at,
        received: now.wall,
        fact,
    });
    stamped.collect()
}
