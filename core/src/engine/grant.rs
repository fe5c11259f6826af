//! A proposal's place in the budgets, and the decision that comes of it.

use super::causes::Shows;
use super::location::{ByRack, WORTH_ASKING, fastest};
use super::turns::in_turn;
use super::{Engine, Pass};
use crate::estimate::node::NodeWork;
use crate::estimate::{FreshCopy, Left};
use crate::govern::budget::{Room, Sought};
use crate::govern::flight::Flight;
use crate::govern::rooms::Rooms;
use crate::govern::sizes::container;
use crate::govern::tally::Tally;
use crate::model::*;
use crate::policy::dolly::{Chosen, Supply};
use crate::policy::{Budget, Judged, View};
use std::collections::{BTreeMap, BTreeSet};

/// What one pass that has any proposal counts once; of what depends on the proposal, when the first asks for it.
#[derive(Default)]
pub(super) struct Counted {
    /// Copies and room in the whole cluster.
    tally: Tally,
    /// What cloned phases hold; of none where the ResourceManager has not told of any room.
    cloning: Option<Option<Supply>>,
    /// What is promised on each host to the clones of this pass.
    promised: BTreeMap<NameId, Resources>,
    /// Machines in order of their odds by user.
    machines: BTreeMap<String, Vec<(NameId, f64)>>,
    /// Nodes' work by user, with the SlowNodeThreshold it comes to: what a user's jobs claim decides about that user's jobs alone.
    work: BTreeMap<String, (NodeWork, f64)>,
    /// The jobs of each user.
    jobs: BTreeMap<String, Vec<JobId>>,
    /// What the tasks of a phase show: why they are slow, and where their inputs lie.
    shows: BTreeMap<(JobId, TaskKind), Shows>,
    /// Usable machines with their factors, by user.
    by_rack: BTreeMap<String, ByRack>,
}

/// A proposal with what govern needs to know of it.
pub(super) struct Proposal {
    pub judged: Judged,
    pub mode: Mode,
}

/// Those of a pass.
#[derive(Default)]
pub(super) struct Proposals {
    pub all: Vec<Proposal>,
    /// Hosts on which the attempts of jobs with any are slow, by what the job's own tasks show.
    pub slow_hosts: BTreeMap<JobId, Vec<NameId>>,
    /// Those of them on which the job's tasks straggle by enough of its own runs, where its new containers are to keep off such.
    pub straggling: BTreeMap<JobId, Vec<NameId>>,
    /// What the tasks of phases with any show of those proposed, where it was looked at.
    pub shows: BTreeMap<(JobId, TaskKind), Shows>,
}

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
        let mut avoid = self.avoid(job, task, slow, counted.tally.rooms.of(&self.cluster, job));
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
    fn shown<'c>(&self, job: &Job, kind: TaskKind, counted: &'c mut Counted) -> &'c Shows {
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

    /// Where clones are counted by machine, no more of them than that asks for. Why there are none, if so.
    fn count_by_machine(
        &self,
        job: &Job,
        judged: &mut Judged,
        avoid: &[NameId],
        counted: &mut Counted,
    ) -> Option<Verdict> {
        // Where nobody can place them, fewer would not do.
        if !self.params.dolly.by_machine || !job.can.place {
            return None;
        }
        let chosen = self.preferred(job, judged, avoid, counted)?;
        judged.copies = chosen.machines.len() as u32;
        (judged.copies == 0).then_some(if chosen.enough { Verdict::NoCloneNeeded } else { Verdict::NoHeadroom })
    }

    /// Is a copy put on a named host, or asked for there?
    fn asks_for_hosts(&self, job: &Job, judged: &Judged) -> bool {
        judged.action == Action::Duplicate && self.params.policy.places() && (job.can.place || job.can.prefer)
    }

    /// The machines where its clones go best; `None` for what is no clone, and where no machine's odds are known.
    fn preferred(&self, job: &Job, judged: &Judged, avoid: &[NameId], counted: &mut Counted) -> Option<Chosen> {
        if judged.budget != Budget::Clones || judged.action != Action::Duplicate {
            return None;
        }
        let by_odds = || self.machines_by_odds(&job.user, self.straggler_probability(&job.user));
        let machines = counted.machines.entry(job.user.clone()).or_insert_with(by_odds);
        let rooms = counted.tally.rooms.of(&self.cluster, job);
        let has_room = has_room(container(&self.cluster, job, judged.task.kind), avoid, &counted.promised, rooms);
        if machines.is_empty() { None } else { self.prefer(job, judged, machines, has_room) }
    }

    /// The hosts on which its clones would straggle least; where another may be given only those that are worth asking for.
    fn least_odds(&self, job: &Job, judged: &Judged, avoid: &[NameId], counted: &mut Counted) -> Vec<NameId> {
        let Some(Chosen { mut machines, .. }) = self.preferred(job, judged, avoid, counted) else { return Vec::new() };
        if !job.can.place {
            let most = WORTH_ASKING * self.straggler_probability(&job.user);
            let all = counted.machines.get(&job.user);
            let odds = |host| all?.iter().find(|(known, _)| *known == host).map(|(_, odds)| *odds);
            machines.retain(|host| odds(*host).is_some_and(|odds| odds <= most));
        }
        machines
    }

    /// The hosts where the copies of a slow task would take least time, by each one's own locationFactor.
    fn nearest(&self, job: &Job, judged: &mut Judged, avoid: &[NameId], counted: &mut Counted) -> Vec<NameId> {
        let has_paths = self.shown(job, judged.task.kind, counted).fit.is_some();
        if !job.can.place && !has_paths && self.odds.machines().next().is_none() {
            return Vec::new();
        }
        let Counted { shows, by_rack, promised, tally, .. } = counted;
        let by_rack = by_rack.entry(job.user.clone()).or_insert_with(|| self.machines_by_rack(&job.user));
        let rooms = tally.rooms.of(&self.cluster, job);
        let has_room = has_room(container(&self.cluster, job, judged.task.kind), avoid, promised, rooms);
        let shown = shows.get(&(job.id, judged.task.kind));
        let mut best =
            shown.map_or_else(Vec::new, |shown| self.nearest_in(by_rack, job, judged.task, shown, &has_room));
        best.truncate(judged.copies as usize);
        // What is only asked for may come to run anywhere, and is reckoned so.
        if let Some((factor, host)) = best.first().filter(|_| job.can.place) {
            // Its time was reckoned for the fastest machine with room, wherever the input lies.
            takes(&mut judged.numbers, longer(*factor, fastest(by_rack, &has_room)));
            let rule = judged.rule.get_or_insert_with(|| self.params.policy.rule().to_owned());
            rule.push_str(&format!("; locationFactor {factor:.2} on {} (§5.5, eq. 3)", self.cluster.hosts.name(*host)));
        }
        best.into_iter().map(|(_, host)| host).collect()
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

    /// LATE §4: no copy on a node below SlowNodeThreshold. Hadoop chooses the node, so: is every node with room for the copy that slow?
    fn no_fast_node(&self, job: &Job, judged: &Judged, avoid: &[NameId], counted: &mut Counted) -> bool {
        if !self.params.policy.spares_slow_nodes() || self.cluster.nodes.is_empty() {
            return false;
        }
        let (work, threshold, rooms) = self.work_of(job, counted);
        let mut with_room = rooms.with_room(asks_for(container(&self.cluster, job, judged.task.kind), judged, rooms));
        with_room.all(|host| {
            let slow = |host| work.of(host).is_some_and(|done| done < threshold);
            host.is_some_and(|host| avoid.contains(&host) || slow(host))
        })
    }

    /// LATE §4, of one copy: of the nodes with room none below SlowNodeThreshold. There is another, or there were no copy.
    fn shun_slow_nodes(&self, job: &Job, judged: &Judged, avoid: &mut Vec<NameId>, counted: &mut Counted) {
        let (work, threshold, rooms) = self.work_of(job, counted);
        let with_room =
            rooms.with_room(asks_for(container(&self.cluster, job, judged.task.kind), judged, rooms)).flatten();
        let slow = with_room.filter(|host| work.of(*host).is_some_and(|done| done < threshold));
        let more: Vec<NameId> = slow.filter(|host| !avoid.contains(host)).collect();
        avoid.extend(more);
        avoid.truncate(Decision::HOSTS_MAX);
    }

    /// What each node has done for a job's user, SlowNodeThreshold of it, and where there is room for the job. Counted once a pass.
    fn work_of<'c>(&self, job: &Job, counted: &'c mut Counted) -> (&'c NodeWork, f64, &'c Rooms) {
        let Counted { tally, work, jobs, .. } = counted;
        let (work, threshold) = work.entry(job.user.clone()).or_insert_with(|| {
            // None has done less than the least.
            if self.params.late.slow_node_percentile <= 0.0 {
                return (NodeWork::default(), 0.0);
            }
            if jobs.is_empty() {
                self.cluster.jobs().for_each(|job| jobs.entry(job.user.clone()).or_default().push(job.id));
            }
            let mut work = NodeWork::default();
            let theirs = jobs.get(&job.user).into_iter().flatten();
            theirs.filter_map(|id| self.cluster.job(*id)).for_each(|job| work.add(job, self.fading()));
            let threshold = work.threshold(self.params.late.slow_node_percentile).unwrap_or(0.0);
            (work, threshold)
        });
        (work, *threshold, tally.rooms.of(&self.cluster, job))
    }
}

/// How many times longer a copy takes on a machine of such a locationFactor than was reckoned by that one.
fn longer(factor: f64, reckoned: Option<f64>) -> f64 {
    factor / reckoned.unwrap_or(factor)
}

/// A copy takes so many times as long as was reckoned.
fn takes(numbers: &mut Numbers, times: f64) {
    let Some((mean, spread)) = numbers.fresh_copy.zip(numbers.fresh_copy_spread) else { return };
    let fresh = FreshCopy { mean: mean.scaled(times), start: Millis(0), spread: spread.scaled(times), evidence: 0 };
    (numbers.fresh_copy, numbers.fresh_copy_spread) = (Some(fresh.mean), Some(fresh.spread));
    numbers.cost_container_seconds = numbers.cost_container_seconds.map(|cost| cost * times);
    if let Some((mean, spread)) = numbers.time_left.zip(numbers.time_left_spread) {
        let (gain, probability) = fresh.ahead_of(Left { mean, spread });
        (numbers.gain, numbers.win_probability) = (Some(gain), Some(probability));
    }
}

/// Hosts with room for a container of that size beside what was promised there, but for those to avoid.
fn has_room<'a>(
    size: Resources,
    avoid: &'a [NameId],
    promised: &'a BTreeMap<NameId, Resources>,
    rooms: &'a Rooms,
) -> impl Fn(NameId) -> bool + 'a {
    move |host| {
        rooms.of(host).holds(size.and(promised.get(&host).copied().unwrap_or_default())) && !avoid.contains(&host)
    }
}

/// How much room a node must have for a copy: none where none has it, and the copy has the next container that falls free.
fn asks_for(size: Resources, judged: &Judged, rooms: &Rooms) -> Resources {
    let is_next = judged.early && rooms.with_room(size).next().is_none();
    if is_next { Resources::default() } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_takes_longer_gains_less_costs_more_and_may_gain_nothing() {
        let reckoned = Numbers {
            time_left: Some(Millis(30_000)),
            time_left_spread: Some(Millis(3_000)),
            fresh_copy: Some(Millis(10_000)),
            fresh_copy_spread: Some(Millis(2_000)),
            cost_container_seconds: Some(10.0),
            ..Numbers::default()
        };
        let after = |times| {
            let mut numbers = reckoned;
            takes(&mut numbers, times);
            (numbers.fresh_copy, numbers.fresh_copy_spread, numbers.gain, numbers.cost_container_seconds)
        };
        let of =
            |fresh, spread, gain, cost| (Some(Millis(fresh)), Some(Millis(spread)), Some(Millis(gain)), Some(cost));
        assert_eq!(after(2.0), of(20_000, 4_000, 10_000, 20.0));
        assert_eq!(after(3.0), of(30_000, 6_000, 0, 30.0));
        assert_eq!(after(4.0), of(40_000, 8_000, 0, 40.0));
        let mut even = reckoned;
        takes(&mut even, 3.0);
        assert!(even.win_probability.is_some_and(|p| (p - 0.5).abs() < 1e-6), "{even:?}");
        assert_eq!([longer(3.0, Some(2.0)), longer(3.0, None)], [1.5, 1.0]);
        let mut unknown = Numbers { time_left: reckoned.time_left, ..Numbers::default() };
        takes(&mut unknown, 2.0);
        assert_eq!(unknown, Numbers { time_left: reckoned.time_left, ..Numbers::default() });
    }
}
