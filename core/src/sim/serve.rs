//! Containers for those who wait.

use super::draw::Purpose;
use super::job::{Ask, Job, replicas, task_key};
use super::watch::End;
use super::world::{Event, World};
use crate::model::{Millis, TaskKind, Time};
use std::collections::BTreeSet;

/// How many of a job's requests are looked through for one that has its split on a node with room.
const LOOKED_THROUGH: usize = 64;

/// Share of a job's memory, 0–1, that reduces may take while maps wait (`yarn.app.mapreduce.am.job.reduce.rampup.limit`).
const RAMP_UP: f64 = 0.5;

/// Where a request can be served.
struct Place {
    kind: TaskKind,
    /// Which of the job's requests.
    nth: usize,
    node: u32,
    /// It has its split there.
    local: bool,
}

/// Do maps of the job wait whose outputs are not there?
fn awaits_maps(job: &Job) -> bool {
    let maps = job.of(TaskKind::Map);
    !maps.asks.is_empty() && (maps.finished as usize) < maps.all.len()
}

/// Do maps of the job wait, and none runs? One that is computed anew in good time is not waited for.
fn is_starved(job: &Job) -> bool {
    let maps = job.of(TaskKind::Map);
    awaits_maps(job) && maps.held == 0
}

/// Is the next map of a job one of which an attempt has failed? It comes before reduces, and is asked for on any node (RMContainerAllocator, PRIORITY_FAST_FAIL_MAP).
fn is_urgent(job: &Job) -> bool {
    let next = || job.of(TaskKind::Map).asks.front();
    job.tally.failed > 0 && next().is_some_and(|ask| job.task(TaskKind::Map, ask.index).failed > 0)
}

impl World<'_> {
    /// Gives out containers until nobody can be served any more, or sees to it that they are at nodes' reports. Reduces make way for maps of their job that have to run again:
    /// without these they would wait for ever.
    pub(super) fn serve(&mut self, now: Time) {
        if self.beats.are_awaited() {
            return self.await_beat(now);
        }
        loop {
            self.serve_some(usize::MAX, now);
            if !self.make_way(now) {
                return;
            }
        }
    }

    /// Kills the youngest reduce of a job of which no map runs and some wait, unless a container is on its way back already (RMContainerAllocator, preemptReducesIfNeeded). Was there one?
    pub(super) fn make_way(&mut self, now: Time) -> bool {
        let starves = |job: &&Job| {
            if !job.stopping.is_empty() {
                return false;
            }
            let by_itself = is_starved(job) && job.of(TaskKind::Reduce).held > 0;
            if job.is_whole() { self.starved_copy(job).is_some() } else { by_itself }
        };
        let victim = self.yarn.waiting().filter_map(|number| self.jobs.get(&number)).find(starves).and_then(|job| {
            let copy = self.starved_copy(job).unwrap_or_default();
            let reduces = job.of(TaskKind::Reduce).all.iter().flat_map(|task| &task.live).copied();
            let reduces = reduces.filter(|key| self.attempts.get(*key).copy == copy);
            reduces.max_by_key(|key| (self.attempts.get(*key).held_since, *key))
        });
        victim.inspect(|key| self.ends(*key, End::MadeWay, now)).is_some()
    }

    /// Gives out so many containers at most. How many were there?
    pub(super) fn serve_some(&mut self, most: usize, now: Time) -> usize {
        let (mut aside, mut given) = (BTreeSet::new(), 0);
        while given < most && self.yarn.is_busy() {
            let Some(number) = self.yarn.next(&aside) else { break };
            let mut wakes = None;
            match self.jobs.get(&number).and_then(|job| self.place(job, now, &mut wakes)) {
                Some(place) => {
                    self.give(number, &place, now);
                    given += 1;
                }
                None => drop(aside.insert(number)),
            }
            let sooner = |at: &Time| aside.contains(&number) && self.unwaits.is_none_or(|known| *at < known);
            if let Some(at) = wakes.filter(sooner) {
                self.unwaits = Some(at);
                self.calendar.enter(at, Event::Unwait);
            }
        }
        given
    }

    fn give(&mut self, number: u32, place: &Place, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let Some(ask) = job.of_mut(place.kind).asks.remove(place.nth) else { return };
        let remote = place.kind == TaskKind::Map && !place.local;
        let factor = if remote { self.scenario.hadoop.remote_slower } else { 1.0 };
        self.allocate(number, place.kind, &ask, place.node, factor, now);
        if let Some(job) = self.jobs.get(&number) {
            self.yarn.seat(job);
        }
    }

    /// Where one of a job's requests can be served; reduces first where they may be, as Hadoop asks for them with priority. In `wakes` the instant at which one that waits
    /// for its split's nodes may go anywhere.
    fn place(&self, job: &Job, now: Time, wakes: &mut Option<Time>) -> Option<Place> {
        let headroom = self.yarn.headroom_mb(job.queue);
        let kinds = if is_urgent(job) { [TaskKind::Map, TaskKind::Reduce] } else { [TaskKind::Reduce, TaskKind::Map] };
        kinds.into_iter().find_map(|kind| {
            let tasks = job.of(kind);
            let open = !tasks.asks.is_empty() && tasks.size.memory_mb <= headroom;
            let allowed = || kind == TaskKind::Map || self.may_ramp_up(job, headroom);
            if open && allowed() { self.place_of_kind(job, kind, now, wakes) } else { None }
        })
    }

    /// May another reduce start? While maps wait, only within a share of the job's memory that grows with the maps that have ended.
    fn may_ramp_up(&self, job: &Job, headroom: u64) -> bool {
        let reduces = job.of(TaskKind::Reduce);
        if job.is_whole() {
            return reduces.asks.iter().any(|ask| !job.has_waiting_maps(ask.copy));
        }
        if !awaits_maps(job) || is_starved(job) {
            return !awaits_maps(job);
        }
        let free = self.yarn.free_mb();
        debug_assert_eq!(free, self.yarn.open_from(0).map(|node| self.nodes[node as usize].free_mb()).sum::<u64>());
        let all = job.held_mb() + free.min(headroom);
        let theirs = u64::from(reduces.held + 1) * reduces.size.memory_mb;
        theirs as f64 <= job.maps_done().min(RAMP_UP) * all as f64
    }

    fn place_of_kind(&self, job: &Job, kind: TaskKind, now: Time, wakes: &mut Option<Time>) -> Option<Place> {
        let hadoop = &self.scenario.hadoop;
        let local_matters = kind == TaskKind::Map && (hadoop.locality_wait > 0.0 || hadoop.remote_slower != 1.0);
        let tasks = job.of(kind);
        let waits = |ask: &Ask| kind == TaskKind::Reduce && job.is_whole() && job.has_waiting_maps(ask.copy);
        let keeps_off = |node: u32, ask: &Ask| ask.avoid.contains(&node) && !ask.takes_any(now);
        let fits = |node: u32, ask: &Ask| {
            self.beats.lets(node) && self.nodes[node as usize].fits(tasks.size) && !keeps_off(node, ask)
        };
        // Each node reports before a request that names some goes anywhere.
        let round = hadoop.node_heartbeat();
        let wait = Millis::from_secs_f64(hadoop.locality_wait).max(round);
        let unheard = Millis::from_secs_f64(hadoop.ask);
        for (nth, ask) in tasks.asks.iter().take(LOOKED_THROUGH).enumerate().filter(|(_, ask)| !waits(ask)) {
            if now.since(ask.since) < unheard {
                wakes.get_or_insert(ask.since + unheard);
                continue;
            }
            let preferred = ask.prefer.iter().copied().find(|node| fits(*node, ask));
            if let Some(node) = preferred {
                return Some(Place { kind, nth, node, local: false });
            }
            let seeks_split = local_matters && tasks.all[ask.index as usize].failed == 0;
            if seeks_split {
                let holders = replicas(self.scenario, &self.draws, job, ask.index);
                if let Some(node) = holders.into_iter().find(|node| fits(*node, ask)) {
                    return Some(Place { kind, nth, node, local: true });
                }
            }
            let names_some = seeks_split || (self.beats.are_awaited() && !ask.prefer.is_empty());
            if names_some && now.since(ask.since) < wait {
                wakes.get_or_insert(ask.since + wait);
                continue;
            }
            if let Some(node) = self.anywhere(job, kind, ask, &fits) {
                return Some(Place { kind, nth, node, local: false });
            }
        }
        None
    }

    /// A node with room: the one that reports, or one drawn for that attempt.
    fn anywhere(&self, job: &Job, kind: TaskKind, ask: &Ask, fits: &dyn Fn(u32, &Ask) -> bool) -> Option<u32> {
        if let Some(node) = self.beats.node() {
            return fits(node, ask).then_some(node);
        }
        let (of_job, key) = (job.of.key(), task_key(kind, ask.index));
        let nth =
            self.draws.of(Purpose::Place, [of_job, key, u64::from(ask.number) + 1]).below(self.yarn.open().max(1));
        self.yarn.open_from(nth).find(|node| fits(*node, ask))
    }
}
