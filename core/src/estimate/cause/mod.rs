//! Why a task of a phase takes as long as it does: its data, its node, the network (Mantri, OSDI'10, §4).

pub mod fit;

use super::stats::median;
use crate::model::{Cause, CauseKind, NameId};
use fit::{Fit, Point};
use std::collections::BTreeMap;

/// Mantri §4.2: a task is explained by its data when its time is within so much of what its data lets expect.
pub const EXPLAINED_WITHIN: f64 = 0.2;
/// Mantri §2: a task has a high run time when that is longer than so many median ones.
pub const HIGH_RUN_TIME: f64 = 1.5;
/// Other attempts of a phase on a node that are needed to say that the node is slow.
pub const OTHERS_NEEDED: u32 = 2;

/// A task of the phase, finished or running.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shown {
    /// Its time, of a running one as projected, and its data.
    pub point: Point,
    /// It has finished: the regression is of these.
    pub finished: bool,
    /// It runs without progress: its time is at least that.
    pub open: bool,
    /// Its host, where known.
    pub host: Option<NameId>,
    /// How long a reduce copied, or has copied so far, seconds.
    pub copied: Option<f64>,
}

/// What a phase's tasks show of each other's causes.
#[derive(Debug, Clone, PartialEq)]
pub struct Causes {
    fit: Fit,
    /// Each attempt's time over what its data lets expect, by host, ascending.
    ratios: BTreeMap<NameId, Vec<f64>>,
    /// Median time that finished reduces copied, seconds.
    typical_copy: Option<f64>,
}

impl Causes {
    /// Learns from a phase's tasks, in any order. `None` while none has finished.
    pub fn learn(all: &[Shown]) -> Option<Causes> {
        let finished = || all.iter().filter(|shown| shown.finished);
        let fit = Fit::new(&finished().map(|shown| shown.point).collect::<Vec<_>>())?;
        let mut copies: Vec<f64> = finished().filter_map(|shown| shown.copied).collect();
        let mut causes = Causes { fit, ratios: BTreeMap::new(), typical_copy: median(&mut copies) };
        for shown in all {
            let ratio = shown.point.seconds / causes.expected(shown);
            if let Some(host) = shown.host.filter(|_| tells(shown, ratio)) {
                causes.ratios.entry(host).or_default().push(ratio);
            }
        }
        causes.ratios.values_mut().for_each(|ratios| ratios.sort_unstable_by(f64::total_cmp));
        Some(causes)
    }

    fn expected(&self, shown: &Shown) -> f64 {
        self.fit.expected(&shown.point, shown.finished)
    }

    /// The cause of one of the tasks that these were learned from.
    pub fn of(&self, shown: &Shown) -> Cause {
        let (seconds, typical, expected) = (shown.point.seconds, self.fit.typical(), self.expected(shown));
        let residual = seconds - expected;
        let over = residual.max(0.0);
        let (others, slowness) = self.others(shown, seconds / expected);
        let slow = slowness.filter(|slowness| *slowness > 1.0 + EXPLAINED_WITHIN);
        let node = slow.map_or(0.0, |slowness| over.min(expected * (slowness - 1.0)));
        let network = self.network(shown, expected / typical, over - node);
        let mut cause = Cause {
            kind: CauseKind::None,
            seconds,
            typical,
            data: expected - typical,
            node,
            network,
            rest: residual - node - network,
            explained: residual.abs() <= EXPLAINED_WITHIN * expected,
            evidence: self.fit.evidence(),
            others,
        };
        cause.kind = if over > EXPLAINED_WITHIN * expected {
            largest(&cause)
        } else if seconds > HIGH_RUN_TIME * typical {
            CauseKind::Data
        } else {
            CauseKind::None
        };
        cause
    }

    /// How many other attempts ran on its host, and the median of their times over what their data lets expect; `None` for fewer than are needed.
    fn others(&self, shown: &Shown, own: f64) -> (u32, Option<f64>) {
        let Some(ratios) = shown.host.and_then(|host| self.ratios.get(&host)) else { return (0, None) };
        // Sorted, so that the median without its own needs no copy.
        let told = tells(shown, own);
        let own = if told { ratios.partition_point(|ratio| ratio.total_cmp(&own).is_lt()) } else { ratios.len() };
        let others = ratios.len() - usize::from(told);
        let nth = |n: usize| ratios[n + usize::from(n >= own)];
        let slowness = (others >= OTHERS_NEEDED as usize).then(|| (nth((others - 1) / 2) + nth(others / 2)) / 2.0);
        (others as u32, slowness)
    }

    /// What a reduce copied for longer than its peers did for such data, seconds, where that is most of what is `left` to explain.
    fn network(&self, shown: &Shown, data_ratio: f64, left: f64) -> f64 {
        const DOMINATES: f64 = 0.5;
        let Some((copied, typical)) = shown.copied.zip(self.typical_copy) else { return 0.0 };
        let excess = copied - typical * data_ratio.max(1.0);
        if left > 0.0 && excess > DOMINATES * left { excess.min(left) } else { 0.0 }
    }
}

/// Does it say anything of its host? A task without progress does once it has lasted too long.
fn tells(shown: &Shown, ratio: f64) -> bool {
    !shown.open || ratio > 1.0 + EXPLAINED_WITHIN
}

/// What most of the time beyond its data is.
fn largest(cause: &Cause) -> CauseKind {
    match (cause.node, cause.network, cause.rest) {
        (node, network, rest) if node > 0.0 && node >= network && node >= rest => CauseKind::Node,
        (_, network, rest) if network > 0.0 && network >= rest => CauseKind::Network,
        _ => CauseKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Names;
    use proptest::prelude::*;

    fn host(number: u32) -> NameId {
        let mut names = Names::default();
        (0..=number).filter_map(|n| names.intern(&n.to_string())).last().unwrap()
    }

    fn shown(on: u32, seconds: f64, data: f64) -> Shown {
        let point = Point { seconds, data, crossed: None };
        Shown { point, finished: true, host: Some(host(on)), ..Shown::default() }
    }

    /// Twelve tasks of 10 s on four hosts, and others.
    fn phase(others: &[Shown]) -> Vec<Shown> {
        (0..12).map(|n| shown(n % 4, 10.0, 100.0)).chain(others.iter().copied()).collect()
    }

    fn cause(others: &[Shown]) -> Cause {
        Causes::learn(&phase(others)).unwrap().of(&others[0])
    }

    #[test]
    fn five_times_the_data_explains_five_times_the_time_and_not_ten_times() {
        let task = |seconds| Shown { finished: false, ..shown(1, seconds, 500.0) };
        let slow = cause(&[task(52.0)]);
        assert_eq!((slow.kind, slow.explained), (CauseKind::Data, true));
        assert!((slow.data - 40.0).abs() < 1e-9 && (slow.rest - 2.0).abs() < 1e-9, "{slow:?}");
        let slower = cause(&[task(100.0)]);
        assert_eq!((slower.kind, slower.explained), (CauseKind::Unknown, false));
        assert!((slower.data - 40.0).abs() < 1e-9 && (slower.rest - 50.0).abs() < 1e-9, "{slower:?}");
    }

    #[test]
    fn a_node_on_which_others_are_slow_as_well_is_the_cause_and_one_other_is_too_few_to_tell() {
        let slow = [30.0, 28.0, 34.0].map(|seconds| Shown { finished: false, ..shown(7, seconds, 100.0) });
        let found = cause(&slow);
        assert_eq!((found.kind, found.explained, found.others), (CauseKind::Node, false, 2));
        assert!(
            (found.node - 20.0).abs() < 1e-9 && found.rest.abs() < 1e-9,
            "the others take 3.1 times as long: {found:?}"
        );
        assert_eq!(cause(&slow[..2]).kind, CauseKind::Unknown);
        // On a healthy node.
        assert_eq!(cause(&[shown(1, 30.0, 100.0)]).kind, CauseKind::Unknown);
    }

    #[test]
    fn of_a_task_that_is_slower_than_its_slow_node_makes_it_the_rest_is_told() {
        let slow = [80.0, 15.0, 15.0].map(|seconds| shown(7, seconds, 100.0));
        let found = cause(&slow);
        assert_eq!((found.kind, found.node, found.rest), (CauseKind::Unknown, 5.0, 65.0));
    }

    #[test]
    fn a_reduce_that_copies_for_long_is_held_up_by_the_network() {
        let reduce = |seconds, copied, finished| Shown { copied: Some(copied), finished, ..shown(9, seconds, 100.0) };
        let mut all: Vec<Shown> = (0..8).map(|_| Shown { host: None, ..reduce(10.0, 4.0, true) }).collect();
        let slow = reduce(30.0, 22.0, false);
        all.push(slow);
        let found = Causes::learn(&all).unwrap().of(&slow);
        assert_eq!((found.kind, found.network, found.rest), (CauseKind::Network, 18.0, 2.0));
        let sorts = reduce(30.0, 5.0, false);
        all.push(sorts);
        assert_eq!(Causes::learn(&all).unwrap().of(&sorts).kind, CauseKind::Unknown);
    }

    #[test]
    fn tasks_that_have_not_lasted_long_say_nothing_of_their_node_and_those_that_have_do() {
        let task = |seconds, open| Shown { finished: false, open, ..shown(7, seconds, 100.0) };
        let slow = task(40.0, false);
        assert_eq!(cause(&[slow, task(1.0, true), task(1.0, true)]).others, 0);
        let found = cause(&[slow, task(30.0, true), task(30.0, true), task(1.0, true)]);
        assert_eq!((found.kind, found.node, found.others), (CauseKind::Node, 20.0, 2));
    }

    #[test]
    fn a_task_like_the_others_has_no_cause_and_without_inputs_data_explains_nothing() {
        assert_eq!(cause(&[shown(1, 11.0, 100.0)]).kind, CauseKind::None);
        let blind: Vec<Shown> = phase(&[shown(1, 50.0, 500.0)])
            .iter()
            .map(|one| Shown { point: Point { data: 0.0, ..one.point }, ..*one })
            .collect();
        let found = Causes::learn(&blind).unwrap().of(&blind[12]);
        assert_eq!((found.kind, found.data, found.rest, found.evidence), (CauseKind::Unknown, 0.0, 40.0, 0));
        assert_eq!(Causes::learn(&[Shown { finished: false, ..blind[0] }]), None);
    }

    proptest! {
        #[test]
        fn the_shares_add_up_and_neither_a_common_scale_nor_the_order_of_the_tasks_changes_them(
            tasks in prop::collection::vec((0u32..5, 1u32..100, 0u32..9, any::<bool>()), 3..40),
            turn in 0usize..40,
        ) {
            let make = |scale: f64| tasks.iter().map(|(on, seconds, data, finished)| {
                let one = shown(*on, f64::from(*seconds) * scale, f64::from(*data));
                Shown { finished: *finished, copied: Some(f64::from(*seconds) * scale / 2.0), ..one }
            }).collect::<Vec<_>>();
            let (plain, scaled) = (make(1.0), make(4.0));
            let mut turned = plain.clone();
            turned.rotate_left(turn % plain.len());
            let Some(causes) = Causes::learn(&plain) else { return Ok(()) };
            let (of_scaled, of_turned) = (Causes::learn(&scaled).unwrap(), Causes::learn(&turned).unwrap());
            for (one, scaled) in plain.iter().zip(&scaled) {
                let cause = causes.of(one);
                let sum = cause.data + cause.node + cause.network + cause.rest;
                prop_assert!((sum - (cause.seconds - cause.typical)).abs() < 1e-6, "{cause:?}");
                prop_assert_eq!(cause, of_turned.of(one));
                let other = of_scaled.of(scaled);
                prop_assert_eq!((cause.kind, cause.explained), (other.kind, other.explained));
                prop_assert!((4.0 * cause.data - other.data).abs() < 1e-6 && (4.0 * cause.node - other.node).abs() < 1e-6);
            }
        }
    }
}
