//! Containers given back: at once with an attempt that ends by itself, and some time after one that was killed. An ApplicationMaster sends stop-container, and the ResourceManager has the
//! container's memory back with the NodeManager's next heartbeat (ContainerLauncherImpl, RMNodeImpl); the place that it asks for instead is asked for meanwhile.

use super::attempt::AttemptKey;
use super::draw::Purpose;
use super::task::task_key;
use super::watch::End;
use super::world::{Event, World};
use crate::model::{Millis, TaskKind, Time};

impl World<'_> {
    /// An attempt has ended: its container ends now, or was told to.
    pub(super) fn stops(&mut self, key: AttemptKey, end: End, now: Time) {
        let attempt = self.attempts.get_mut(key);
        let Some(job) = self.jobs.get_mut(&attempt.job) else { return };
        let drawn = || {
            let subject = [job.of.key(), task_key(attempt.kind, attempt.index), attempt.number.into()];
            Millis::from_secs_f64(self.scenario.hadoop.kill.first(|| self.draws.of(Purpose::Kill, subject)))
        };
        let held = if end.is_killed() { drawn() } else { Millis(0) };
        if held == Millis(0) {
            return self.gives_back(key, now);
        }
        attempt.stop(now);
        job.stopping.insert(key);
        self.calendar.enter(now + held, Event::Stopped(key, attempt.version));
    }

    /// The container of an attempt that has ended is there for others. What it was held for beyond that was wasted.
    pub(super) fn gives_back(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        let (kind, node, stopped) = (attempt.kind, attempt.node, attempt.stopped);
        let Some(job) = self.jobs.get_mut(&attempt.job) else { return };
        self.attempts.remove(key);
        job.stopping.remove(&key);
        job.tally.wasted_ms += stopped.map_or(0, |since| now.since(since).0);
        job.of_mut(kind).held -= 1;
        if kind == TaskKind::Reduce {
            self.yarn.note_reduces(job);
        }
        let size = job.of(kind).size;
        self.yarn.seat(job);
        self.yarn.hold(job.queue, -(size.memory_mb as i64));
        let machine = &mut self.nodes[node as usize];
        machine.give_back(key, size, now);
        self.yarn.node_changed(node, machine);
        self.beats.speaks_up(node);
        self.stirred = true;
    }

    /// A job is over: with its ApplicationMaster go all containers that it still holds.
    pub(super) fn gives_all_back(&mut self, number: u32, now: Time) {
        let stopping = self.jobs.get(&number).map(|job| job.stopping.clone()).unwrap_or_default();
        stopping.into_iter().for_each(|key| self.gives_back(key, now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::ideal::{Actor, Ideal};
    use super::super::job::{Job, Origin, START};
    use super::super::scenario::Scenario;
    use super::*;

    #[test]
    fn a_killed_attempt_says_how_far_it_had_come_where_that_is_told() {
        let said = |last_words: bool| {
            let json = format!(
                r#"{{"hadoop": {{"last_words": {last_words}}}, "jobs": [{{"name": "a", "maps": {{"tasks": 1, "work": 10}}}}]}}"#
            );
            let scenario: Scenario = serde_json::from_str(&json).unwrap();
            let mut world = World::new(&scenario, Actor::Ideal(Ideal::Oracle), 1);
            let job = Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START);
            world.jobs.insert(0, job);
            world.begin_phases(0, START);
            world.serve(START);
            let key = *world.jobs[&0].live.first().unwrap();
            // Launched at .5 s, at work from 2 s on.
            [500, 2_000].into_iter().for_each(|at| world.stage_ends(key, START + Millis(at)));
            world.ends(key, End::Overtaken, START + Millis(4_500));
            let told = world.jobs[&0].ended.last().unwrap();
            (told.score, told.scored_at.map(|at| at.since(START).0))
        };
        assert_eq!([said(true), said(false)], [(Some(0.25), Some(4_500)), (None, None)]);
    }
}
