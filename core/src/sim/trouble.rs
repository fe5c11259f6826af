//! Nodes that turn slow, lose outputs or are lost, and come back.

use super::draw::Purpose;
use super::ideal::Ideal;
use super::task::Task;
use super::watch::End;
use super::world::{Event, World};
use crate::model::{Millis, TaskKind, Time};

/// What is drawn of a trouble.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// When it begins first.
    From,
    /// How long it lasts.
    Lasts,
    /// From its end to the next.
    Again,
    /// Share of the outputs that are lost.
    Loses,
    /// How many times longer tasks take meanwhile.
    Slower,
}

impl World<'_> {
    /// The nodes that a trouble befalls.
    pub(super) fn troubled(&self, which: u32) -> Vec<u32> {
        let (trouble, nodes) = (&self.scenario.trouble[which as usize], self.scenario.cluster.nodes);
        if !trouble.nodes.is_empty() {
            return trouble.nodes.clone();
        }
        let draw = |node: u32| self.draws.of(Purpose::Trouble, [which.into(), node.into(), u64::MAX]).uniform();
        let mut drawn: Vec<(f64, u32)> = (0..nodes).map(|node| (draw(node), node)).collect();
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
        drawn.truncate(trouble.befalls(nodes));
        drawn.into_iter().map(|(_, node)| node).collect()
    }

    /// One of a trouble's times, on a node, for the nth time.
    pub(super) fn trouble_time(&self, which: u32, node: u32, nth: u32, part: Part) -> Millis {
        let trouble = &self.scenario.trouble[which as usize];
        let dist = match part {
            Part::From => &trouble.from,
            Part::Lasts => &trouble.lasts,
            Part::Again => &trouble.again,
            Part::Loses => &trouble.loses,
            Part::Slower => &trouble.slower,
        };
        let draw = &mut self.draws.of(Purpose::Trouble, subject(which, node, nth, part));
        let drawn = Millis::from_secs_f64(dist.sample(draw));
        // Only what is always 0 means for good, or once.
        if dist.range() == (0.0, 0.0) { drawn } else { drawn.max(Millis(1)) }
    }

    /// A trouble begins or ends on a node.
    pub(super) fn trouble(&mut self, which: u32, node: u32, nth: u32, begins: bool, now: Time) {
        let trouble = &self.scenario.trouble[which as usize];
        if begins {
            let slower =
                trouble.slower.sample(&mut self.draws.of(Purpose::Trouble, subject(which, node, nth, Part::Slower)));
            self.nodes[node as usize].suffer(which, slower, trouble.lost);
            if trouble.lost {
                self.lose(node, now);
            }
            let lasts = self.trouble_time(which, node, nth, Part::Lasts);
            if self.loses {
                self.begins_to_lose(which, node, nth, lasts, now);
            }
            if lasts > Millis(0) {
                self.calendar.enter(now + lasts, Event::Trouble { which, node, nth, begins: false });
            }
        } else {
            self.nodes[node as usize].recover(which, trouble.lost);
            let again = self.trouble_time(which, node, nth, Part::Again);
            if again > Millis(0) && self.is_awaited(now) {
                self.calendar.enter(now + again, Event::Trouble { which, node, nth: nth + 1, begins: true });
            }
        }
        self.pace_changed(node, now);
        self.yarn.node_changed(node, &self.nodes[node as usize]);
        self.stirred = true;
    }

    /// A node is lost: so are its attempts, and the outputs of maps of jobs whose reduces have not all ended.
    fn lose(&mut self, node: u32, now: Time) {
        for key in self.nodes[node as usize].attempts.clone() {
            self.ends(key, End::Lost, now);
        }
        self.reads_elsewhere(now);
        let numbers: Vec<u32> = self.jobs.numbers();
        for number in numbers {
            self.lose_outputs(number, node, now);
        }
    }

    fn lose_outputs(&mut self, number: u32, node: u32, now: Time) {
        if self.ideal == Some(Ideal::IdealRecompute) {
            return;
        }
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if job.is_whole() {
            return self.lose_outputs_of_copies(number, node, now);
        }
        let moved = job.kept.lose(node);
        // Though every reduce may have read them: another attempt of one would have to read them, too (JobImpl, actOnUnusableNode).
        if job.last() == TaskKind::Map {
            return;
        }
        let there = |(index, task): &(u32, &Task)| {
            let is_moved = job.kept.is_moved(*index);
            moved.contains(index) || (!is_moved && task.winner.is_some_and(|(_, on)| on == node))
        };
        let lost: Vec<u32> = (0..).zip(&job.of(TaskKind::Map).all).filter(there).map(|(index, _)| index).collect();
        lost.into_iter().for_each(|index| self.misses(number, index, true, now));
        let Some(job) = self.jobs.get(&number) else { return };
        self.yarn.seat(job);
        self.let_read(number, now);
    }

    /// Is more trouble of any interest? Without jobs, now or to come, it would go on for ever, and with jobs that never get a container, too.
    fn is_awaited(&self, now: Time) -> bool {
        const PATIENCE: Millis = Millis(30 * 24 * 3_600_000);
        let served = !self.jobs.is_empty() && now.since(self.given) < PATIENCE;
        served || self.calendar.any(|_, event| matches!(event, Event::Arrive(_)))
    }
}

/// What is drawn for one part of a trouble, on a node, for the nth time; no two parts have the same.
pub(super) fn subject(which: u32, node: u32, nth: u32, part: Part) -> [u64; 3] {
    [u64::from(which) << 32 | (part as u64 + 1), node.into(), nth.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_parts_of_any_troubles_share_their_luck() {
        let parts = [Part::From, Part::Lasts, Part::Again, Part::Loses, Part::Slower];
        let all = (0..9).flat_map(|which| (0..3).flat_map(move |node| parts.map(|part| subject(which, node, 0, part))));
        assert_eq!(all.collect::<BTreeSet<_>>().len(), 9 * 3 * parts.len());
    }
}
