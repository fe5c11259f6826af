//! Links between racks as others leave them: what jobs that are not simulated take of them changes every so often.

use super::draw::Purpose;
use super::ideal::Ideal;
use super::job::{Job, START, next_of};
use super::world::{Event, World};
use crate::model::{Millis, RackFact, TaskKind, Time};
use std::collections::BTreeSet;

impl World<'_> {
    /// Sees to it that links are as others leave them while there are jobs: on instants that do not depend on when these come.
    pub(super) fn watch_links(&mut self, now: Time) {
        let every = Millis::from_secs_f64(self.scenario.cluster.network.others.every);
        if every == Millis(0) || self.links_watched {
            return;
        }
        for rack in 0..self.scenario.cluster.racks {
            let taken = [0, 1].map(|way| self.taken(rack, way, now));
            self.network.leave_of_links(rack, taken.map(|share| 1.0 - share));
        }
        self.calendar.enter(next_of(every, now), Event::Links);
        self.links_watched = true;
    }

    /// They change.
    pub(super) fn links_change(&mut self, now: Time) {
        self.links_watched = false;
        if self.goes_on_by_itself() {
            self.watch_links(now);
        }
    }

    /// Share of a rack's link, out (0) or in (1), that others take at an instant.
    fn taken(&self, rack: u32, way: u64, at: Time) -> f64 {
        let others = &self.scenario.cluster.network.others;
        let nth = at.since(START).0 / Millis::from_secs_f64(others.every).0.max(1);
        others.share.sample(&mut self.draws.of(Purpose::Others, [nth, rack.into(), way]))
    }

    /// Over how long to come links are told: as the scenario has it, or where foresight is the ideal as long as the reduces of these jobs will read, each alone or all through the racks' links.
    pub(super) fn foresight(&self, begun: &BTreeSet<u32>) -> Millis {
        let given = self.scenario.cluster.network.others.foresight;
        if given > 0.0 || self.ideal != Some(Ideal::IdealReduce) {
            return Millis::from_secs_f64(given);
        }
        let links = (0..self.scenario.cluster.racks).filter_map(|rack| self.network.links(rack)).map(|[up, _]| up);
        let links = links.sum::<f64>();
        let reads = |job: &Job| {
            let all = &job.of(TaskKind::Reduce).all;
            let alone = all.iter().map(|task| task.work[0] / 1e3).fold(0.0, f64::max);
            let through = all.iter().map(|task| task.input.0 as f64).sum::<f64>() / links;
            if links > 0.0 { alone.max(through) } else { alone }
        };
        Millis::from_secs_f64(begun.iter().filter_map(|number| self.jobs.get(number)).map(reads).fold(0.0, f64::max))
    }

    /// How many times as much as now others leave of a link on average over so long.
    fn ahead(&self, ahead: Millis, rack: u32, way: u64, now: Time) -> f64 {
        let every = Millis::from_secs_f64(self.scenario.cluster.network.others.every);
        if every == Millis(0) || ahead == Millis(0) {
            return 1.0;
        }
        let (mut at, mut left) = (now, 0.0);
        while at < now + ahead {
            let until = next_of(every, at).min(now + ahead);
            left += (1.0 - self.taken(rack, way, at)) * until.since(at).0 as f64;
            at = until;
        }
        left / ahead.0 as f64 / (1.0 - self.taken(rack, way, now))
    }

    /// Every rack's links as they are on average over so long from now on; none where neither links nor what is within a rack has a limit.
    pub(super) fn racks(&self, ahead: Millis, now: Time) -> Vec<RackFact> {
        let spec = &self.scenario.cluster.network;
        let within = if spec.within_mb_s > 0.0 { spec.within_mb_s } else { spec.disk_mb_s };
        let fact = |rack: u32| {
            let unlimited = (spec.within_mb_s > 0.0).then_some([f64::INFINITY; 2]);
            let [up, down] = self.network.links(rack).or(unlimited)?;
            Some(RackFact {
                rack: rack_name(rack),
                up_bytes_per_second: up * self.ahead(ahead, rack, 0, now),
                down_bytes_per_second: down * self.ahead(ahead, rack, 1, now),
                within_bytes_per_second: if within > 0.0 { within * f64::from(1 << 20) } else { up.max(down) },
            })
        };
        (0..self.scenario.cluster.racks).filter_map(fact).collect()
    }
}

/// How nodes name a rack.
pub(super) fn rack_name(rack: u32) -> String {
    format!("/r{rack}")
}

#[cfg(test)]
mod tests {
    use super::super::scenario::Scenario;
    use super::*;
    use crate::engine::EngineParams;

    #[test]
    fn links_are_told_as_they_are_or_as_others_will_leave_them_on_average() {
        let of = |others: &str, actor: super::super::ideal::Actor| {
            let json = format!(
                r#"{{"cluster": {{"racks": 2, "network": {{"uplink_mb_s": 8, "downlink_mb_s": 4, "others": {{{others}}}}}}}}}"#
            );
            let scenario: Scenario = serde_json::from_str(&json).unwrap();
            let mut world = World::new(&scenario, actor, 1);
            world.watch_links(START);
            let taken = [0, 10, 20].map(|at| world.taken(1, 0, START + Millis(1_000 * at)));
            let told = world.racks(world.foresight(&BTreeSet::new()), START + Millis(4_000)).swap_remove(1);
            (told.up_bytes_per_second / f64::from(1 << 20), taken.map(|share| 8.0 * (1.0 - share)))
        };
        let close = |(told, left): (f64, [f64; 3]), shares: [f64; 3]| {
            let mean: f64 = left.iter().zip(shares).map(|(left, share)| left * share).sum();
            assert!((told - mean).abs() < 1e-9 && left[0] != left[1], "{told} {left:?}");
        };
        let policy = || EngineParams::default().into();
        let law = r#""every": 10, "share": {"uniform": {"low": 0, "high": 0.9}}"#;
        close(of(law, policy()), [1.0, 0.0, 0.0]);
        close(of(&format!(r#"{law}, "foresight": 6"#), policy()), [1.0, 0.0, 0.0]);
        // Of the 20 s to come 6 are of the first ten, 10 of the next, 4 of those after.
        close(of(&format!(r#"{law}, "foresight": 20"#), policy()), [0.3, 0.5, 0.2]);
        assert_eq!(of(r#""share": 0.25, "every": 10, "foresight": 20"#, policy()).0, 6.0);
    }
}
