//! Why a task of a phase takes as long as it does: its data, its node, the network (Mantri, OSDI'10, §4).

pub mod fit;

use super::stats::median;
use crate::model::{Cause, CauseKind, NameId};
use fit::{Fit, Point};
use std::collections::BTreeMap;

/// Mantri §4.2: a task is explained by its data when its time is within so much of what its data lets expect.
pub const EXPLAINED_WITHIN: f64 = 0.2;
/// Mantri §4.1: a task has a high run time when that is longer than so many median ones.
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

    /// What times were found to depend on.
    pub fn into_fit(self) -> Fit {
        self.fit
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
        if excess > DOMINATES * left { excess.min(left) } else { 0.0 }
    }
}

/// Does it say anything of its host? A task without progress does once it has lasted too long.
fn tells(shown: &Shown, ratio: f64) -> bool {
    !shown.open || ratio > 1.0 + EXPLAINED_WITHIN
}

/// What most of the time beyond its data is.
fn largest(cause: &Cause) -> CauseKind {
    match (cause.node, cause.network, cause.rest) {
        (node, network, rest) if node >= network && node >= rest => CauseKind::Node,
        (_, network, rest) if network >= rest => CauseKind::Network,
        _ => CauseKind::Unknown,
    }
}

#[cfg(test)]
mod tests;
