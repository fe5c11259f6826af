//! What an ApplicationMaster does: asks for containers, follows attempts through their stages, and runs again what was lost.

use super::attempt::{Attempt, AttemptKey, Reporting, STAGE_MAX, Stage};
use super::dist::Dist;
use super::draw::Purpose;
use super::job::{Job, START};
use super::task::{Ask, Lies, task_key};
use super::watch::End;
use super::world::{Event, RUNS_MAX, Stuck, World};
use crate::model::{AttemptFact, AttemptState, Counters, Millis, Name, Phase, TaskKind, TaskState, Time};

impl<'a> World<'a> {
    /// Asks for the containers of phases whose turn has come.
    pub(super) fn begin_phases(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if job.is_whole() {
            return self.begin_phases_of_copies(number, now);
        }
        if job.of(TaskKind::Map).begun.is_none() {
            job.of_mut(TaskKind::Map).begin(now);
            self.begun.insert(number);
        }
        if job.of(TaskKind::Reduce).begun.is_none() && job.of(TaskKind::Map).finished >= job.slow_start {
            job.of_mut(TaskKind::Reduce).begin(now);
            self.begun.insert(number);
            // Told with the job itself where that has not been told of.
            let reduces = job.of(TaskKind::Reduce).all.len() as u32;
            (0..reduces).for_each(|index| _ = job.task_mut(TaskKind::Reduce, index));
        }
        self.yarn.seat(job);
        self.stirred = true;
    }

    /// A container has been found for a request.
    pub(super) fn allocate(&mut self, number: u32, kind: TaskKind, ask: &Ask, node: u32, now: Time) {
        self.given = now;
        let Some(job) = self.jobs.get(&number) else { return };
        if ask.number >= RUNS_MAX {
            self.given_up = Some(Stuck::Endless { job: job.name.clone(), at: now.since(START) });
        }
        let mut attempt = Attempt::new(number, kind, ask.index, ask.number, ask.is_copy, node, now);
        (attempt.copy, attempt.input) = (ask.copy, job.task(kind, ask.index).input);
        attempt.factor = self.factor(job, &attempt);
        let on_its_way = self.whole(job, &attempt, Stage::Waiting);
        let ends = attempt.begin(Stage::Waiting, on_its_way, 1.0, now);
        let key = self.attempts.add(attempt);
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.live.insert(key);
        let size = job.of(kind).size;
        job.of_mut(kind).held += 1;
        if kind == TaskKind::Reduce {
            self.yarn.note_reduces(job);
        }
        let task = job.task_mut(kind, ask.index);
        task.live.push(key);
        task.asked -= 1;
        let machine = &mut self.nodes[node as usize];
        machine.take(key, size, now);
        self.yarn.node_changed(node, machine);
        self.yarn.hold(job.queue, size.memory_mb as i64);
        self.calendar.enter(ends, Event::Stage(key, self.attempts.get(key).version));
    }

    /// An attempt's stage is over.
    pub(super) fn stage_ends(&mut self, key: AttemptKey, now: Time) {
        let reporting = self.reporting();
        let attempt = self.attempts.get_mut(key);
        let (number, kind) = (attempt.job, attempt.kind);
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if now.since(START) >= STAGE_MAX {
            self.given_up = Some(Stuck::TooLong { job: job.name.clone() });
        }
        attempt.note_report(reporting, job.scoring, now);
        if attempt.is_to_fail() {
            return self.fails(key, now);
        }
        if !attempt.is_free_to_go_on() {
            return self.share_no_more(key, now);
        }
        self.off_ms = self.off_ms.max(attempt.finish(now));
        match (attempt.stage, kind) {
            (Stage::Waiting, _) => self.launch(key, now),
            (Stage::StartUp, TaskKind::Map) => self.go_on(key, Stage::Work, now),
            (Stage::StartUp, TaskKind::Reduce) => {
                self.go_on(key, Stage::Copy, now);
                self.tries_to_read(number, now);
                self.may_read(key, now);
            }
            (Stage::Copy, _) => self.go_on(key, Stage::Sort, now),
            (Stage::Sort, _) => self.go_on(key, Stage::Work, now),
            (Stage::Work, _) => self.go_on(key, Stage::Commit, now),
            (Stage::Commit, _) => self.succeeds(key, now),
        }
    }

    /// When attempts report.
    pub(super) fn reporting(&self) -> Reporting<'a> {
        let hadoop = &self.scenario.hadoop;
        let jitter = Some(&hadoop.report_jitter).filter(|jitter| **jitter != Dist::Constant(0.0));
        Reporting { every: Millis::from_secs_f64(hadoop.report).max(Millis(1)), jitter }
    }

    fn launch(&mut self, key: AttemptKey, now: Time) {
        // The job's files come at the pace at which JVMs start.
        let pace = self.rate(self.attempts.get(key), Stage::StartUp);
        let attempt = self.attempts.get_mut(key);
        attempt.launched = now;
        let (number, kind, index, is_copy) = (attempt.job, attempt.kind, attempt.index, attempt.is_copy);
        self.outcome.attempts += 1;
        let takes = Millis::from_secs_f64(self.scenario.hadoop.localize / pace);
        if let Some(job) = self.jobs.get_mut(&number) {
            job.tally.copies += u32::from(is_copy);
            let task = job.task_mut(kind, index);
            // Another clone of it may have ended, or its output, which is computed anew in good time, still be there.
            if task.state != TaskState::Succeeded {
                task.state = TaskState::Running;
            }
            task.started.get_or_insert(now);
            // Where they take no time it is all the same which nodes have them.
            if self.scenario.hadoop.localize > 0.0 {
                attempt.fetches = job.localize(attempt.node, takes, now).scaled(pace);
            }
        }
        self.go_on(key, Stage::StartUp, now);
    }

    /// Begins a stage of an attempt's.
    fn go_on(&mut self, key: AttemptKey, stage: Stage, now: Time) {
        self.network.leave(key);
        let attempt = self.attempts.get(key);
        let Some(job) = self.jobs.get(&attempt.job) else { return };
        let task = job.task(attempt.kind, attempt.index);
        let of_job = job.of.key();
        let key_of_task = task_key(attempt.kind, attempt.index);
        let draw = |purpose| self.draws.of(purpose, [of_job, key_of_task, attempt.number.into()]);
        let hadoop = &self.scenario.hadoop;
        let whole = self.whole(job, attempt, stage);
        let began_work = matches!(stage, Stage::Work | Stage::Copy) && attempt.stage == Stage::StartUp;
        let reports = began_work.then(|| {
            let silent = hadoop.silent > 0.0 && draw(Purpose::Report).uniform() < hadoop.silent;
            // Its thread sleeps for an interval before it first reports.
            (!silent).then(|| (now + self.reporting().every, draw(Purpose::Jitter)))
        });
        let rate = self.rate(attempt, stage);
        let fails = self.fails_at(job, attempt, stage);
        let attempt = self.attempts.get_mut(key);
        if let Some(Some((first, jitter))) = reports {
            attempt.will_report(first, jitter);
        }
        let mut ends = attempt.begin(stage, whole, rate, now);
        if let Some(at) = fails {
            ends = attempt.will_fail(at, now);
        }
        // Hadoop's reduces report the end of their reading at once (Shuffle.run), and maps that of their mapping, where they sort for reduces (MapTask.runNewMapper).
        let is_told = match (attempt.kind, stage) {
            (TaskKind::Reduce, Stage::Sort) => task.work[0] > 0.0,
            (TaskKind::Map, Stage::Commit) => job.scoring.has_reduces,
            _ => false,
        };
        if is_told && attempt.reports() {
            attempt.speak(job.scoring, now);
        }
        self.calendar.enter(ends, Event::Stage(key, attempt.version));
        if stage != Stage::Copy {
            self.share_with_others(key, now);
        }
    }

    /// Healthy milliseconds of a stage of an attempt's.
    pub(super) fn whole(&self, job: &Job, attempt: &Attempt, stage: Stage) -> f64 {
        let (task, hadoop) = (job.task(attempt.kind, attempt.index), &self.scenario.hadoop);
        let subject = [job.of.key(), task_key(attempt.kind, attempt.index), attempt.number.into()];
        let drawn =
            |dist: &Dist, purpose| Millis::from_secs_f64(dist.first(|| self.draws.of(purpose, subject))).0 as f64;
        match stage {
            Stage::Waiting => drawn(&hadoop.allocate, Purpose::Allocate),
            Stage::StartUp => drawn(&hadoop.start_up, Purpose::StartUp) + attempt.fetches.0 as f64,
            Stage::Copy => task.work[0],
            Stage::Sort => task.work[1],
            Stage::Work => task.work[2],
            Stage::Commit => drawn(&hadoop.commit, Purpose::Commit),
        }
    }

    /// Healthy milliseconds per millisecond of an attempt in a stage, where it is alone.
    pub(super) fn rate(&self, attempt: &Attempt, stage: Stage) -> f64 {
        let slower = self.nodes[attempt.node as usize].slower();
        match stage {
            Stage::Waiting => 1.0,
            Stage::StartUp | Stage::Commit if !self.scenario.hadoop.slow_start_up => 1.0,
            Stage::StartUp | Stage::Commit => 1.0 / slower,
            Stage::Copy | Stage::Sort | Stage::Work => 1.0 / (slower * attempt.factor),
        }
    }

    /// A node's pace has changed: so has that of all that runs there.
    pub(super) fn pace_changed(&mut self, node: u32, now: Time) {
        let reporting = self.reporting();
        for key in self.nodes[node as usize].attempts.clone() {
            if self.attempts.get(key).stopped.is_some() {
                continue;
            }
            let rate = self.rate(self.attempts.get(key), self.attempts.get(key).stage);
            if self.turns_among_others(key, rate) {
                continue;
            }
            let attempt = self.attempts.get_mut(key);
            let Some(job) = self.jobs.get(&attempt.job) else { continue };
            attempt.note_report(reporting, job.scoring, now);
            let ends = attempt.turn(rate, now);
            if attempt.is_free_to_go_on() {
                self.calendar.enter(ends, Event::Stage(key, attempt.version));
            }
        }
    }

    fn succeeds(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        let (number, kind, index, nth, node, is_copy) =
            (attempt.job, attempt.kind, attempt.index, attempt.number, attempt.node, attempt.is_copy);
        let worked = attempt.worked(now);
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if job.is_whole() {
            return self.succeeds_in_copy(key, now);
        }
        // Where there are no reduces nobody reads it.
        if kind == TaskKind::Map && job.scoring.has_reduces {
            job.task_mut(kind, index).outputs.push(Lies { at: now, node });
        }
        if job.task(kind, index).state == TaskState::Succeeded {
            job.kept.computed(kind, index, nth, (node, now));
            self.ends(key, End::Spare, now);
            self.let_read(number, now);
            return;
        }
        self.off_ms = self.off_ms.max((worked - job.task(kind, index).work.iter().sum::<f64>()).abs());
        job.tally.copies_won += u32::from(is_copy);
        let task = job.task_mut(kind, index);
        (task.state, task.finished, task.winner) = (TaskState::Succeeded, Some(now), Some((nth, node)));
        job.of_mut(kind).finished += 1;
        self.ends(key, End::Succeeded, now);
        if self.is_waited_for(number, kind, index) {
            self.unask(number, kind, index);
        } else {
            self.end_others(number, kind, index, now);
        }
        if kind == TaskKind::Map {
            self.begin_phases(number, now);
            self.tries_to_read_one(number, index, now);
            self.let_read(number, now);
        }
        self.end_if_over(number, now);
    }

    /// Kills what else there is of a task, and takes back what it has asked for.
    pub(super) fn end_others(&mut self, number: u32, kind: TaskKind, index: u32, now: Time) {
        self.unask(number, kind, index);
        let others = self.jobs.get(&number).map_or_else(Vec::new, |job| job.task(kind, index).live.clone());
        others.into_iter().for_each(|other| self.ends(other, End::Overtaken, now));
    }

    fn unask(&mut self, number: u32, kind: TaskKind, index: u32) {
        if let Some(job) = self.jobs.get_mut(&number) {
            job.unask(kind, index);
            self.yarn.seat(job);
        }
    }

    /// An attempt ends, and its container with it, or some time after.
    pub(super) fn ends(&mut self, key: AttemptKey, end: End, now: Time) {
        if self.attempts.get(key).stopped.is_some() {
            return self.gives_back(key, now);
        }
        self.network.leave(key);
        self.asked_back.remove(&key);
        let attempt = self.attempts.get_mut(key);
        let Some(job) = self.jobs.get_mut(&attempt.job) else { return };
        if self.scenario.hadoop.last_words && end != End::Succeeded && attempt.stage != Stage::Waiting {
            attempt.speak(job.scoring, now);
        }
        job.live.remove(&key);
        job.task_mut(attempt.kind, attempt.index).live.retain(|live| *live != key);
        let ran = if attempt.stage == Stage::Waiting { Millis(0) } else { now.since(attempt.launched) };
        match end {
            End::Succeeded | End::Spare if job.is_whole() => job.copies[attempt.copy as usize].ran_ms += ran.0,
            End::Succeeded => job.tally.useful_ms += ran.0,
            _ => job.tally.wasted_ms += ran.0,
        }
        if let Some(watch) = &mut self.watch {
            watch.ended(job, attempt, end, now);
        }
        self.outcome.waiting_ms += now.since(attempt.held_since).0 - ran.0;
        let fact = ended_fact(job, attempt, end, &self.nodes[attempt.node as usize].host, now);
        job.ended.push(fact);
        let replaced = end.is_replaced().then(|| attempt.clone());
        self.stops(key, end, now);
        if let Some(attempt) = replaced {
            self.replace(&attempt, end, now);
        }
    }

    /// Asks for another in the place of one that has ended so: on Hadoop in line with all that wait, unless it hurries, elsewhere before them.
    pub(super) fn replace(&mut self, lost: &Attempt, end: End, now: Time) {
        let is_hadoop = self.scenario.hadoop.can.are_hadoops();
        let Some(job) = self.jobs.get_mut(&lost.job) else { return };
        let (kind, index, copy) = (lost.kind, lost.index, lost.copy);
        if job.is_done(kind, index, copy) {
            if kind == TaskKind::Map && end == End::Preempted {
                self.let_read(lost.job, now);
            }
            return;
        }
        let is_whole = job.is_whole();
        let task = job.task_mut(kind, index);
        // A task that has run stays RUNNING on Hadoop until its next attempt does (TaskImpl); where what waits can be acted on, it has to be told as that.
        if !is_hadoop && task.live.is_empty() && task.asked == 0 && task.state != TaskState::Succeeded {
            task.state = TaskState::Scheduled;
        }
        let is_copy = if is_whole { copy > 0 } else { lost.is_copy && !task.live.is_empty() };
        let hurries = is_hadoop && end.hurries(kind);
        job.ask(kind, Ask { copy, is_copy, hurries, ..Ask::of(index, now) }, !is_hadoop);
        self.yarn.seat(job);
    }
}

/// What is told of an attempt that has ended.
pub(super) fn ended_fact(job: &Job, attempt: &Attempt, end: End, host: &Name, now: Time) -> AttemptFact {
    let launched = attempt.stage != Stage::Waiting;
    let well = matches!(end, End::Succeeded | End::Spare);
    let state = match end {
        End::Failed => AttemptState::Failed,
        _ if well => AttemptState::Succeeded,
        _ => AttemptState::Killed,
    };
    let report = attempt.report.filter(|report| end != End::Succeeded && report.at == now);
    // How long a map mapped is known of each that has ended, however short its sorting was.
    let sorted_from = attempt.report.filter(|report| end == End::Succeeded && report.sorts(attempt.kind));
    let has_read = end == End::Succeeded && attempt.kind == TaskKind::Reduce && attempt.input.0 > 0;
    let writes = end == End::Succeeded && attempt.kind == TaskKind::Map;
    let written = writes.then_some(job.each_writes).filter(|written| written.0 > 0);
    AttemptFact {
        state: Some(state),
        host: launched.then(|| host.clone()),
        started: launched.then_some(attempt.launched),
        finished: Some(now),
        score: report.map(|report| report.score),
        phase: sorted_from.map(|_| Phase::Sort),
        scored_at: report.or(sorted_from).map(|report| report.at),
        reports: report.map(|report| report.count),
        speculative: attempt.is_copy.then_some(true),
        counters: Counters { shuffled: has_read.then_some(attempt.input), written, ..Counters::default() },
        ..AttemptFact::of(job.id.task(attempt.kind, attempt.index).attempt(attempt.number))
    }
}
