//! A proposal's place in the budgets, and the decision that comes of it.

use super::causes::Shows;
use super::proposal::{Counted, Proposal, Proposals};
use super::turns::in_turn;
use super::{Engine, Pass};
use crate::govern::budget::{Room, Sought};
use crate::govern::flight::Flight;
use crate::govern::sizes::container;
use crate::govern::tally::Tally;
use crate::model::*;
use crate::policy::{Budget, Judged, View};
use std::collections::BTreeSet;

impl Engine {
    /// Gives the proposals of a pass their places in the budgets, one after the other ([`in_turn`]).
    pub(super) fn govern_all(&mut self, proposals: Proposals, now: Time, pass: &mut Pass) {
        let Proposals { all, slow_hosts, shows, .. } = proposals;
        if all.is_empty() {
            return;
        }
        let tally = Tally::count(&self.cluster, &self.flights);
        let all = in_turn(all, &self.cluster, &tally.copies);
        let mut counted = Counted { tally, shows, ..Counted::default() };
        for proposal in all {
            let slow = slow_hosts.get(&proposal.judged.task.job).map_or(&[][..], Vec::as_slice);
            self.govern(proposal, slow, now, &mut counted, pass);
        }
    }

    /// Gives a proposal its place in the budgets, or the name of the refusal.
    fn govern(&mut self, proposal: Proposal, slow: &[NameId], now: Time, counted: &mut Counted, pass: &mut Pass) {
        let Proposal { mut judged, mode: proposed } = proposal;
        let task = judged.task;
        let Some(job) = self.cluster.job(task.job) else { return };
        // A breaker may have opened since it was judged.
        let mode = proposed.min(self.mode_of(job));
        let bar = || self.flights.bar(judged.attempt, judged.action, mode, job.am_time(now));
        let barred = if mode < proposed { bar() } else { None };
        let mut avoid = self.avoid(job, task, slow, counted.tally.partitions.of(&self.cluster, job, task.kind));
        let unplaced = self.count_by_machine(job, &mut judged, &avoid, counted);
        let size = container(&self.cluster, job, task.kind);
        let (params, tally) = (&self.params.govern, &mut counted.tally);
        let sought = Sought { slow: judged.attempt, mode, avoid: &avoid };
        let room = Room::count(params, &self.cluster, &self.flights, job, sought, tally);
        let cloned = self.cloned(size.memory_mb, judged.budget, counted);
        judged.numbers.budget = Some(room.tightest(judged.budget, cloned));
        let refusal = barred.or(unplaced).or_else(|| room.refusal(&judged)).or_else(|| {
            let takes = judged.action == Action::Duplicate;
            (takes && self.no_fast_node(job, &judged, &avoid, counted)).then_some(Verdict::NoFastNode)
        });
        if let Some(verdict) = refusal {
            return self.refuse(task, verdict);
        }
        if self.params.policy.shuns_slow_nodes() {
            self.shun_slow_nodes(job, &judged, &mut avoid, counted);
        }
        let prefer = match judged.budget {
            _ if !self.asks_for_hosts(job, &judged) => Vec::new(),
            Budget::Clones => self.least_odds(job, &judged, &avoid, counted),
            Budget::Copies => self.nearest(job, &mut judged, &avoid, counted),
        };
        // Where its data is far from every machine with room.
        if job.can.place && !prefer.is_empty() && judged.numbers.gain == Some(Millis(0)) {
            return self.refuse(task, Verdict::NoGain);
        }
        for host in &prefer {
            let promised = counted.promised.entry(*host).or_default();
            *promised = promised.and(size);
        }
        // A clone is decided on before its task shows anything.
        let cause = (judged.budget == Budget::Copies)
            .then(|| self.shown(job, task.kind, counted).causes.get(&task).copied().map(Box::new));
        self.decisions += 1;
        let budget = judged.budget;
        let cause = cause.flatten();
        let decision = Decision { cause, ..self.decision(job, judged, mode, now, [&avoid, &prefer]) };
        let copies = &mut counted.tally.copies;
        self.flights.of(task).for_each(|before| copies.remove(task, before, &self.cluster, job));
        self.flights.add(&decision, budget, job, self.params.seed);
        self.flights.name_hosts(&decision, [avoid, prefer]);
        self.flights.of(task).for_each(|flight| copies.add(task, flight, &self.cluster, job));
        pass.decisions.push(decision);
    }

    /// A proposal is refused, by name; what for want of room or in this minute is looked at when that may have changed.
    fn refuse(&mut self, task: TaskId, verdict: Verdict) {
        if matches!(verdict, Verdict::NoHeadroom | Verdict::ClusterBusy) {
            self.roomless.insert(task.job);
        }
        if let Some(frees) = self.flights.minute.frees().filter(|_| verdict == Verdict::MinuteCap) {
            self.due.entry(task.job).and_modify(|due| *due = (*due).min(frees)).or_insert(frees);
        }
        if let Some(task) = self.cluster.job_mut(task.job).and_then(|job| job.task_mut(task)) {
            task.verdict = Some(verdict);
        }
    }

    /// The budget of clones in containers of that size, counted once a pass: a phase is charged in whole when it is admitted. `None` for what is no clone.
    fn cloned(&self, size: u64, budget: Budget, counted: &mut Counted) -> Option<(u32, u32)> {
        if budget != Budget::Clones {
            return None;
        }
        let supply = counted.cloning.get_or_insert_with(|| self.clone_supply());
        Some(supply.as_ref()?.budget(size, &self.params.dolly))
    }

    /// What a phase's running tasks show, looked at once a pass.
    pub(super) fn shown<'c>(&self, job: &Job, kind: TaskKind, counted: &'c mut Counted) -> &'c Shows {
        counted.shows.entry((job.id, kind)).or_insert_with(|| {
            let view = self.view(job, kind, self.mode_of(job), job.am_time(self.last_pass));
            self.shown_by_running(&view)
        })
    }

    /// The same of what is proposed in a phase, by the look that has proposed it; `None` where nothing is.
    pub(super) fn shown_by(&self, view: &View<'_>, judged: &[Judged]) -> Option<((JobId, TaskKind), Shows)> {
        let proposed = |judged: &&Judged| judged.verdict == Verdict::Decided;
        let tasks: BTreeSet<TaskId> = judged.iter().filter(proposed).map(|judged| judged.task).collect();
        (!tasks.is_empty()).then(|| ((view.job.id, view.kind), self.shows(view, &|task, _| tasks.contains(&task))))
    }

    fn decision(&self, job: &Job, judged: Judged, mode: Mode, now: Time, hosts: [&[NameId]; 2]) -> Decision {
        let known = job.task(judged.task);
        let names = |hosts: &[NameId]| hosts.iter().map(|host| self.cluster.hosts.name(*host).to_owned()).collect();
        let [avoid, prefer] = hosts.map(names);
        Decision {
            id: self.decisions,
            at: now,
            am_at: job.am_time(now),
            job: job.id,
            task: judged.task,
            attempt: judged.attempt,
            host: job.host_of(judged.attempt).map(|host| self.cluster.hosts.name(host).to_owned()),
            action: judged.action,
            policy: self.params.policy.label().to_owned(),
            rule: judged.rule.unwrap_or_else(|| self.params.policy.rule().to_owned()),
            mode,
            natively_copied: known.is_some_and(Task::natively_copied),
            copies: judged.copies,
            clones: judged.budget == Budget::Clones,
            live: known.map_or(1, |task| task.unended().count().max(1) as u32),
            restarts: self.flights.newest(judged.task).map_or(0, Flight::restarts),
            avoid,
            prefer,
            deadline: now + self.params.govern.deadline,
            numbers: judged.numbers,
            cause: None,
        }
    }
}
