//! Reduces beside maps that wait: how many may start, and which make way. Without that reduces could hold all there is, and wait for maps for ever.

use super::attempt::AttemptKey;
use super::job::Job;
use super::place::{LOOKED_THROUGH, PASSED_OVER};
use super::task::Ask;
use super::watch::End;
use super::world::World;
use crate::model::{TaskKind, Time};

/// Share of a job's memory, 0–1, that reduces may take while maps wait (`yarn.app.mapreduce.am.job.reduce.rampup.limit`).
const RAMP_UP: f64 = 0.5;

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

impl World<'_> {
    /// May another reduce start? While maps wait, only within a share of the job's memory that grows with the maps that have ended.
    pub(super) fn may_ramp_up(&self, job: &Job, headroom: u64) -> bool {
        let reduces = job.of(TaskKind::Reduce);
        if job.is_whole() {
            return reduces.asks.iter().any(|ask| !job.has_waiting_maps(ask.copy));
        }
        if !awaits_maps(job) || is_starved(job) {
            return !awaits_maps(job);
        }
        let free = self.yarn.free_mb();
        debug_assert_eq!(free, self.yarn.open_nodes().map(|node| self.nodes[node as usize].free_mb()).sum::<u64>());
        let all = job.held_mb() + free.min(headroom);
        let theirs = u64::from(reduces.held + 1) * reduces.size.memory_mb;
        theirs as f64 <= job.maps_done().min(RAMP_UP) * all as f64
    }

    /// Kills the youngest reduce of a job of which no map runs and some wait, for which there is no room, unless a container is on its way back already
    /// (RMContainerAllocator, preemptReducesIfNeeded). Was there one?
    pub(super) fn make_way(&mut self, now: Time) -> bool {
        let starved: Vec<(u32, u32)> = self
            .yarn
            .waiting_beside_reduces()
            .filter_map(|number| Some((number, self.starved(self.jobs.get(&number)?)?)))
            .collect();
        for (number, copy) in starved {
            let Some(job) = self.jobs.get(&number) else { continue };
            let asks = || job.of(TaskKind::Map).asks.iter().filter(|ask| ask.copy == copy);
            let heard = asks().take(LOOKED_THROUGH).map(|ask| self.heard_at(ask)).min();
            if let Some(at) = heard.filter(|at| now < *at) {
                self.look_again(at);
            } else if !self.find_room(job, asks(), now)
                && let Some(key) = self.youngest_reduce(job, copy)
            {
                self.ends(key, End::MadeWay, now);
                return true;
            }
        }
        false
    }

    /// The copy of a job, 0 where there is but one, of which maps wait and none runs, while its reduces hold containers of which none is on its way back.
    fn starved(&self, job: &Job) -> Option<u32> {
        if !job.stopping.is_empty() {
            return None;
        }
        if job.is_whole() {
            return self.starved_copy(job);
        }
        (is_starved(job) && job.of(TaskKind::Reduce).held > 0).then_some(0)
    }

    /// Is there a node with room for one of these requests for maps that are heard, though it may wait for others that it names, or for a report?
    fn find_room<'a>(&self, job: &Job, asks: impl Iterator<Item = &'a Ask>, now: Time) -> bool {
        let size = job.of(TaskKind::Map).size;
        if size.memory_mb > self.yarn.headroom_mb(job.queue) {
            return false;
        }
        let with_room: Vec<u32> = self.yarn.open_nodes().filter(|node| self.nodes[*node as usize].fits(size)).collect();
        let has_some = |ask: &&Ask| with_room.iter().any(|node| !ask.keeps_off(*node, now));
        // Those beyond are not served before these either.
        let mut first = asks.take(LOOKED_THROUGH + PASSED_OVER).filter(has_some).take(LOOKED_THROUGH);
        first.any(|ask| self.heard_at(ask) <= now)
    }

    fn youngest_reduce(&self, job: &Job, copy: u32) -> Option<AttemptKey> {
        let reduces = job.of(TaskKind::Reduce).all.iter().flat_map(|task| &task.live).copied();
        let of_copy = reduces.filter(|key| self.attempts.get(*key).copy == copy);
        of_copy.max_by_key(|key| (self.attempts.get(*key).held_since, *key))
    }
}
