//! Mantri's constants.

use crate::estimate::prior::ENOUGH;
use crate::model::Millis;
use serde::{Deserialize, Serialize};

/// Mantri's constants. [`MantriParams::paper`] has the paper's, which prints some of them twice: these are the ones it calls its defaults. The default adapts them to
/// short tasks and to Hadoop's reporting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MantriParams {
    /// Delta: period of progress reports. §5: 10 s, or a tenth of a task's lifetime where that is less.
    pub period: Millis,
    /// That tenth, as a share (0–1) of the phase's typical run.
    pub period_of_typical: f64,
    /// Delta is no less than this, however short the tasks.
    pub period_min: Millis,
    /// rho: a copy on a slot that is free must gain more than this many periods. §5.1: 3.
    pub rho: f64,
    /// delta: probability (0–1) of saving resources above which a task is duplicated while others wait. §5.1: .25.
    pub delta: f64,
    /// alpha: copies that are kept once they have run for a period, the fastest. §5.1: none that is slower than the second fastest.
    pub alpha: u32,
    /// Copies of a task that may run at once. §5.1: the fastest, the second fastest and one started lately (footnote 6).
    pub copies_max: u32,
    /// gamma: kills of a task. §5.1: 3.
    pub restarts_max: u32,
    /// Reports before a task is judged; one is enough at twice the typical run.
    pub min_reports: u32,
    /// Tasks, finished or well under way, that t_new is to rest on.
    pub min_evidence: u32,
}

impl MantriParams {
    /// The paper's own constants and nothing else.
    pub fn paper() -> MantriParams {
        MantriParams { period_min: Millis(0), min_reports: 0, min_evidence: 1, ..MantriParams::default() }
    }

    /// With the Delta of a phase whose tasks typically run so many seconds; the longest where that is not known.
    pub fn of_phase(self, typical: Option<f64>) -> MantriParams {
        let tenth = typical.map(|typical| Millis::from_secs_f64(typical * self.period_of_typical));
        MantriParams { period: tenth.map_or(self.period, |tenth| tenth.min(self.period)).max(self.period_min), ..self }
    }
}

impl Default for MantriParams {
    fn default() -> Self {
        MantriParams {
            period: Millis(10_000),
            period_of_typical: 0.1,
            // Heartbeats and JVMs start tasks apart by as much, so a smaller gain is none.
            period_min: Millis(1_000),
            rho: 3.0,
            delta: 0.25,
            alpha: 2,
            copies_max: 3,
            restarts_max: 3,
            // A first report mixes start-up with pace; the second shows the pace alone.
            min_reports: 2,
            min_evidence: ENOUGH as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_own_rule_waits_for_no_evidence_and_no_report() {
        let paper = MantriParams::paper();
        assert_eq!((paper.min_evidence, paper.min_reports), (1, 0));
    }

    #[test]
    fn delta_is_ten_seconds_or_a_tenth_of_the_lifetime_whichever_is_smaller() {
        let paper = |typical| MantriParams::paper().of_phase(typical).period;
        assert_eq!(
            (paper(None), paper(Some(600.0)), paper(Some(20.0))),
            (Millis(10_000), Millis(10_000), Millis(2_000))
        );
        assert_eq!(paper(Some(4.0)), Millis(400));
        assert_eq!(MantriParams::default().of_phase(Some(4.0)).period, Millis(1_000));
    }
}
