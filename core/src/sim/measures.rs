//! What a policy wants of a job beside copies, as far as the scenario lets it be done (Mantri, OSDI'10, §5.2–5.4).

use super::draw::Purpose;
use super::links::rack_name;
use super::task::Ask;
use super::world::World;
use crate::model::{Measure, MeasurePlan, Mode, TaskKind, Time};
use std::collections::BTreeMap;

impl World<'_> {
    /// Takes a measure that was decided.
    pub(super) fn take(&mut self, measure: &Measure, now: Time) {
        let number = measure.job.0.seq - 1;
        match measure.plan.as_ref().filter(|_| measure.mode == Mode::Act) {
            Some(MeasurePlan::Order { kind, first }) => self.order(number, *kind, first),
            Some(MeasurePlan::Place { racks, .. }) => self.spread(number, racks),
            Some(MeasurePlan::Replicate { output, bytes, replicate, .. }) => {
                self.replicate(number, *output, (*bytes, *replicate), now);
            }
            Some(MeasurePlan::Precompute { outputs, .. }) => self.precompute(number, outputs, now),
            // Only copies keep off listed machines here, and no reduce tells of what it could not fetch.
            Some(MeasurePlan::Avoid { .. } | MeasurePlan::Rerun { .. }) | None => {}
        }
    }

    /// First attempts that wait are given containers in that order; what is asked for again has its turn before them, and copies behind.
    fn order(&mut self, number: u32, kind: TaskKind, first: &[u32]) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let place: BTreeMap<u32, usize> = first.iter().copied().zip(1..).collect();
        let asks = &mut job.of_mut(kind).asks;
        asks.sort_by_key(|ask| match ask {
            Ask { is_copy: true, .. } => usize::MAX,
            Ask { number: 0, .. } => place.get(&ask.index).copied().unwrap_or(usize::MAX - 1),
            _ => 0,
        });
    }

    /// Reduces that wait are put on machines of those racks, in drawn order, and anywhere while these have no room (§6.1).
    fn spread(&mut self, number: u32, racks: &[(String, Vec<u32>)]) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let of_job = job.of.key();
        let count = self.scenario.cluster.racks;
        let by_name: BTreeMap<String, u32> = (0..count).map(|rack| (rack_name(rack), rack)).collect();
        let rack_of: BTreeMap<u32, u32> = racks
            .iter()
            .filter_map(|(name, reduces)| Some((by_name.get(name)?, reduces)))
            .flat_map(|(rack, reduces)| reduces.iter().map(|index| (*index, *rack)))
            .collect();
        for ask in job.of_mut(TaskKind::Reduce).asks.iter_mut().filter(|ask| ask.number == 0) {
            let Some(rack) = rack_of.get(&ask.index) else { continue };
            let mut nodes: Vec<u32> =
                (0..self.scenario.cluster.nodes).filter(|node| self.nodes[*node as usize].rack == *rack).collect();
            let from = self.draws.of(Purpose::Place, [of_job, ask.index.into(), u64::MAX]).below(nodes.len());
            nodes.rotate_left(from);
            ask.prefer = nodes;
        }
    }
}
