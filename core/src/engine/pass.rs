//! One pass: look at the jobs that changed or are due, judge, govern, decide.

use super::measures::Onsets;
use super::proposal::{Proposal, Proposals};
use super::{Candidate, Engine, Pass};
use crate::estimate::Estimator;
use crate::estimate::prior::Prior;
use crate::govern::clocks;
use crate::govern::eligible;
use crate::govern::flight::Flight;
use crate::govern::sizes::container;
use crate::model::*;
use crate::policy::view::ViewParams;
use crate::policy::{Judged, Past, View, slow_hosts};
use std::collections::BTreeMap;

impl Engine {
    /// Decides, at an instant of the service's clock. Asked again before the instant it names, and with nothing heard, it has nothing to add.
    pub fn decide(&mut self, now: Time) -> Pass {
        let mut pass = Pass::default();
        self.last_pass = self.last_pass.max(now);
        self.flights.minute.roll(now);
        self.breakers.rest(&self.params.govern, now);
        self.node_rests.roll(&self.params.govern, now);
        self.odds.rest_on(self.params.dolly.min_evidence);
        self.settle_ended(now, &mut pass);
        self.odds.roll(now);
        self.list_machines();
        self.see_locations();
        if self.params.policy.clones() {
            self.clones_give_way();
        }
        let (mut proposals, mut supply, mut onsets) = (Proposals::default(), None, Onsets::new());
        for id in self.take_due(now) {
            pass.jobs_evaluated += 1;
            if self.glance(id, now) {
                continue;
            }
            self.settle_tasks(id, &mut pass);
            if self.params.policy.clones() {
                self.settle_clones(id, now, &mut supply);
            }
            self.take_measures(id, now, &mut onsets, &mut pass);
            self.rerun_missed(id, now, &mut pass);
            let answer_due = self.follow_copies(id, now, &mut pass);
            let next = self.look_at(id, now, answer_due, &mut proposals);
            self.avoid_machines(id, now, &mut proposals, &mut pass);
            match next {
                Some(next) => self.due.insert(id, next),
                None => self.due.remove(&id),
            };
        }
        self.precompute(&onsets, now, &mut pass);
        self.govern_all(proposals, now, &mut pass);
        pass.breakers = self.breakers.take_turns();
        let closes = self.breakers.next(&self.params.govern);
        pass.next = self.due.values().copied().chain(closes).min();
        pass
    }

    /// Jobs to look at: those heard of, and those whose instant has come, which are to be looked at whole.
    fn take_due(&mut self, now: Time) -> Vec<JobId> {
        let mut jobs = std::mem::take(&mut self.changed);
        for (job, _) in self.due.iter().filter(|(_, at)| **at <= now) {
            self.cluster.job_mut(*job).into_iter().for_each(|job| job.stirred = true);
            jobs.insert(*job);
        }
        jobs.into_iter().filter(|job| self.cluster.job(*job).is_some()).collect()
    }

    /// How a job's tasks are shown to a policy; all of them.
    pub(super) fn view_params(&self, of: Option<&JobKind>, kind: TaskKind, mode: Mode) -> ViewParams {
        let estimator = self.estimator_of(of, kind);
        ViewParams {
            estimator,
            spreads: self.spreads(of, kind, estimator),
            t_rem_spreads: self.spreads(of, kind, Estimator::Mantri),
            start_lag: self.params.start_lag,
            patience: self.params.patience,
            judge_native_copies: mode != Mode::Act,
            slow_factor: self.params.late.slow_factor,
            earlier: of.and_then(|of| self.priors.of(of, kind)).map(Prior::phases).unwrap_or_default(),
        }
    }

    /// How tasks of one kind of a job of that kind are shown.
    pub(super) fn params_of(&self, job: &Job, of: Option<&JobKind>, kind: TaskKind, mode: Mode) -> ViewParams {
        // Of a kind without tasks nothing is estimated.
        self.view_params(of.filter(|_| job.known(kind) > 0), kind, mode)
    }

    /// What a policy is shown of a job's tasks of one kind.
    pub(super) fn view<'a>(&'a self, job: &'a Job, kind: TaskKind, mode: Mode, am_now: Time) -> View<'a> {
        let of = JobKind::of(job);
        let view = View::of_tasks(job, kind, am_now, &self.params_of(job, of.as_ref(), kind, mode));
        let rests_on_new_copies = self.params.policy.weighs_new_copies();
        let prior = of.filter(|_| rests_on_new_copies).and_then(|of| self.priors.of(&of, kind));
        let location = if rests_on_new_copies { self.location_factor(job, kind) } else { 1.0 };
        self.with_past(view, mode).beside(prior, location)
    }

    /// What was decided on before of the tasks that a view shows, and what is known of them beside.
    pub(super) fn with_past<'a>(&'a self, view: View<'a>, mode: Mode) -> View<'a> {
        let id = view.job.id;
        let bar = |task| Some((task, self.flights.bar_of_task(task, mode, view.now)?));
        let barred = self.flights.tasks_of(id).filter_map(|(task, _)| bar(task)).collect();
        // A last try is a copy: beside it the task keeps what it has done, should that one be slow, too.
        let restarts = |flight: &Flight| {
            let last = self.params.govern.is_last_try(flight.tries());
            if last { u32::MAX } else { flight.restarts() }
        };
        let restarts = self.flights.tasks_of(id).map(|(task, flight)| (task, restarts(flight)));
        let restarts = restarts.filter(|(_, times)| *times > 0).collect();
        let joins = self.params.govern.lets_join(mode);
        let past = Past { last: self.flights.last_of(id), barred, restarts, joins };
        let plan = self.clones.of(id, view.kind);
        let listed = self.listed_of(&view);
        let can_restart = eligible::lack_now(view.job, view.kind, Action::Restart, mode).is_none();
        let containers = TaskKind::ALL.map(|kind| container(&self.cluster, view.job, kind));
        View { past, plan, listed, containers, can_restart, ..view }
    }

    /// Judges one job. When to look again, the service's clock; `None` for a job with nothing running.
    fn look_at(&mut self, id: JobId, now: Time, answer_due: Option<Time>, proposals: &mut Proposals) -> Option<Time> {
        let job = self.cluster.job(id)?;
        self.calibration.open(job, self.params.seed);
        let mode = self.mode_of(job);
        let am_now = job.am_time(now);
        let landing = self.flights.expire(id, am_now);
        let mut again = landing.into_iter().collect::<Vec<_>>();
        again.extend(answer_due.map(|at| job.am_time(at)));
        let views = TaskKind::ALL.map(|kind| self.view(job, kind, mode, am_now));
        let notes: Vec<_> = views.iter().flat_map(|view| self.notes_on(view)).collect();
        let judged = views.each_ref().map(|view| self.judge(view, mode, now));
        if judged.iter().flatten().any(|judged| judged.verdict == Verdict::Decided) {
            let slow = views.iter().flat_map(View::slow_hosts);
            proposals.slow_hosts.insert(id, slow.copied().collect());
            if self.avoids(job, now) {
                let evidence = self.params.blacklist.min_evidence;
                let straggling = views.iter().flat_map(|view| slow_hosts::straggling(view, evidence));
                proposals.straggling.insert(id, straggling.collect());
            }
            // Where there is no room, none is asked for.
            if !self.cluster.is_full() {
                proposals.shows.extend(views.iter().zip(&judged).filter_map(|(view, all)| self.shown_by(view, all)));
            }
        }
        let found = self
            .params
            .judges_alone()
            .then(|| views.each_ref().map(|view| (!view.contenders.is_empty()).then(|| view.found())));
        let maps_done = views[TaskKind::Reduce as usize].peers.maps_done.at;
        drop(views);
        self.keep(id, found);
        let mut verdicts = Vec::with_capacity(judged.iter().map(Vec::len).sum());
        for (kind, mut all) in TaskKind::ALL.into_iter().zip(judged) {
            again.extend(self.debounce.put_off((id, kind), self.params.govern.debounce, am_now, &mut all));
            let pace = all.iter().map(|judged| judged.numbers.rate).sum::<f64>() / all.len() as f64;
            for mut judged in all {
                again.extend(judged.recheck);
                judged.recheck = None;
                verdicts.push((judged.task, judged.verdict, lags(&judged.numbers, pace)));
                if judged.verdict == Verdict::Decided {
                    proposals.all.push(Proposal { judged, mode });
                }
            }
        }
        let running = !verdicts.is_empty();
        let job = self.cluster.job_mut(id)?;
        job.note_maps_done(maps_done);
        job.stirred = false;
        for (task, verdict, lags) in verdicts {
            if let Some(task) = job.task_mut(task) {
                (task.verdict, task.marks) = (Some(verdict), task.marks.lagging(lags));
            }
        }
        for (attempt, note) in notes {
            self.calibration.note(attempt, note);
        }
        let quantum = now + self.params.look_again;
        let named = again.into_iter().map(|at| job.service_time(at)).filter(|at| *at > now).min();
        (running || named.is_some()).then(|| named.map_or(quantum, |named| named.min(quantum)))
    }

    /// The policy's verdicts, with what bars the whole job and the copies already decided on laid over them.
    pub(super) fn judge(&self, view: &View<'_>, mode: Mode, now: Time) -> Vec<Judged> {
        let stale = self.params.govern.room_is_stale(&self.cluster, mode, now).then_some(Verdict::StaleData);
        let bar = self.params.govern.bars(view.job, view.kind, mode, now).or(stale);
        let rests = self.flights.bar_of_job(view.job.id, mode, view.now);
        let mut all = self.params.policy.judge(view, &self.params.thresholds());
        for judged in &mut all {
            let joins = || self.flights.may_join(judged, view.job, &self.params.govern, mode, view.now);
            let own = match judged.action {
                Action::Withdraw => self.flights.bar(judged.attempt, judged.action, mode, view.now),
                Action::Duplicate | Action::Restart => view.past.barred.get(&judged.task).copied().or(rests),
            };
            let own = own.filter(|own| *own != Verdict::CopyInFlight || !joins());
            if let Some(own) = own.filter(|own| *own != Verdict::CoolDown || judged.verdict == Verdict::Decided) {
                judged.verdict = own;
            } else if judged.verdict == Verdict::Decided {
                let last = || self.flights.ends_task(judged.attempt, view.job, mode);
                let kills = judged.action == Action::Restart;
                let lack = bar.or_else(|| eligible::lack(view.job.can, judged.action, mode));
                let lack = lack.or((kills && !view.can_restart).then_some(Verdict::CannotRestart));
                let lack = lack.or_else(|| if judged.action == Action::Withdraw { last() } else { None });
                let lack = lack.or_else(|| clocks::bar(judged, view.job));
                let lack = lack.or_else(|| eligible::bound_by_failures(judged, view.job));
                judged.verdict = lack.unwrap_or(Verdict::Decided);
            }
        }
        all
    }

    /// Every running task of a job as the last pass saw it, with its numbers.
    pub fn candidates(&self, id: JobId) -> Vec<Candidate> {
        let Some(job) = self.cluster.job(id) else { return Vec::new() };
        let mode = self.mode_of(job);
        let am_now = job.am_time(self.last_pass);
        let views = TaskKind::ALL.map(|kind| self.view(job, kind, mode, am_now));
        let why: BTreeMap<TaskId, Cause> = views.iter().flat_map(|view| self.shown_by_running(view).causes).collect();
        let judged = views.iter().flat_map(|view| self.judge(view, mode, self.last_pass));
        judged
            .map(|judged| {
                let task = job.task(judged.task);
                let host = task.and_then(Task::original).and_then(|attempt| attempt.host);
                Candidate {
                    attempt: job.judged_attempt(judged.task),
                    host: host.map(|host| self.cluster.hosts.name(host).to_owned()),
                    verdict: task.and_then(|task| task.verdict).unwrap_or(judged.verdict),
                    numbers: judged.numbers,
                    cause: why.get(&judged.task).copied(),
                }
            })
            .collect()
    }
}

/// May a task of those numbers come to want a copy? Where a copy would end before it by anything at all; or, while nothing tells how long one takes, where it has made some progress and its
/// score grows by less than half as much a second as its peers' does on average, `pace`.
pub(super) fn lags(numbers: &Numbers, pace: f64) -> bool {
    numbers.gain.map_or(numbers.score > 0.0 && 2.0 * numbers.rate < pace, |gain| gain > Millis(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_lags_that_a_copy_would_beat_by_anything_or_that_has_less_than_half_its_peers_pace() {
        let by_gain = |gain| lags(&Numbers { gain: Some(Millis(gain)), score: 0.5, ..Numbers::default() }, 1.0);
        assert_eq!([0, 1].map(by_gain), [false, true]);
        let by_pace = |score, rate| lags(&Numbers { score, rate, ..Numbers::default() }, 1.0);
        assert_eq!([by_pace(0.5, 0.5), by_pace(0.5, 0.49)], [false, true]);
        assert!(!by_pace(0.0, 0.0), "without progress there is no pace");
    }

    #[test]
    fn a_reduce_waits_for_a_maps_slot_that_yarn_makes_as_large_as_its_own_however_much_less_the_map_asks_for() {
        let waits = |maps_mb, least_mb| {
            let (mut engine, id) = (Engine::new(crate::engine::EngineParams::default()), "job_1_0001".parse().unwrap());
            let of = |memory_mb| Resources { memory_mb, vcores: 1 };
            let settings =
                JobSettings { map_container: of(maps_mb), reduce_container: of(1_024), ..JobSettings::default() };
            let queues = vec![QueueFact { least: Some(of(least_mb)), ..QueueFact::open("q") }];
            let needs = Fact::Needs { job: id, maps: 0, reduces: 1, native_copies: 0 };
            for (seq, fact) in (1..).zip([Fact::Queues(queues), Fact::Settings(id, settings), needs]) {
                let source = Source { channel: Channel::Own, app: None, principal: None, incarnation: 1 };
                engine.observe(&Observation { source, seq, at: Time(1), received: Time(1), fact }).unwrap();
            }
            let job = engine.cluster.job(id).unwrap();
            engine.view(job, TaskKind::Map, Mode::Advise, Time(1)).tasks_wait()
        };
        assert_eq!([waits(1_023, 1), waits(1_023, 1_024), waits(1_024, 1)], [false, true, true]);
    }
}
