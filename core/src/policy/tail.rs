//! Copies near the end of a phase, as Mantri's §7 sums up its predecessors: "after a threshold number of tasks have finished, MapReduce duplicates all the tasks that
//! remain. Dryad duplicates those that have been running for longer than the 75th percentile of task durations."
//!
//! ```text
//! 1: once a threshold number of the phase's tasks have finished        TailParams::is_near
//! 2:   MapReduce: copy all that remain                                 mapreduce
//! 3:   Dryad: copy those that have run for longer than the percentile  dryad
//! ```
//!
//! Neither paper ranks what it copies: here the one that has run longest comes first.

use super::{Contender, Judged, View};
use crate::estimate::stats::quantile;
use crate::model::{Millis, Verdict, share_of};
use serde::{Deserialize, Serialize};

/// When the end is near, and what is long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TailParams {
    /// Share (0–1) of the phase's tasks that have finished before any of the rest gets a copy. No paper prints it.
    pub near_end: f64,
    /// Dryad: percentile (0–1) of the finished tasks' durations beyond which a task is long. Mantri §7: 75th.
    pub percentile: f64,
}

impl Default for TailParams {
    fn default() -> Self {
        TailParams {
            // Until three quarters have finished, the 75th percentile of the phase's durations is not known.
            near_end: 0.75,
            percentile: 0.75,
        }
    }
}

impl TailParams {
    /// Mantri §7's 75th percentile. Of the threshold number of tasks it says only that there is one.
    pub fn paper() -> TailParams {
        TailParams { near_end: 0.75, percentile: 0.75 }
    }

    fn is_near(&self, view: &View<'_>) -> bool {
        let (finished, all) = view.telling();
        finished > 0 && f64::from(finished) >= share_of(self.near_end, all.into())
    }
}

/// MapReduce's back-up tasks (Dean and Ghemawat, OSDI'04, §3.6): whatever remains near the end gets one.
pub fn mapreduce(view: &View<'_>, params: &TailParams) -> Vec<Judged> {
    judge(view, params, Millis(0))
}

/// Dryad's duplicates (Isard et al., EuroSys'07): of what remains near the end, what has run for longer than most that have finished.
pub fn dryad(view: &View<'_>, params: &TailParams) -> Vec<Judged> {
    let long =
        quantile(&mut view.run_times().collect::<Vec<_>>(), params.percentile).map_or(Millis(0), Millis::from_secs_f64);
    judge(view, params, long)
}

fn judge(view: &View<'_>, params: &TailParams, long: Millis) -> Vec<Judged> {
    let near = params.is_near(view);
    view.contenders.iter().map(|contender| judge_one(view, contender, near, long)).collect()
}

/// Neither looks at progress: the one that has run longest comes first.
fn judge_one(view: &View<'_>, contender: &Contender<'_>, near: bool, long: Millis) -> Judged {
    let verdict = match contender.barred(view) {
        Some(barred) => barred,
        None if !near => Verdict::TooFewFinished,
        None if contender.elapsed <= long => Verdict::TooYoung,
        None => Verdict::Decided,
    };
    let mut judged = contender.judged(view, verdict);
    judged.rank = contender.elapsed.as_secs_f64();
    judged.recheck = (verdict == Verdict::TooYoung).then(|| contender.sample.started + long + Millis(1));
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::{Phase, at};

    fn verdict(judged: Vec<Judged>) -> Verdict {
        judged[0].verdict
    }

    #[test]
    fn what_remains_is_copied_from_the_threshold_number_of_finished_tasks_on() {
        let of = |finished: usize, near_end| {
            let mut phase = Phase::maps(8).took(&vec![10.0; finished]).runs((7, 0), 0, 0.0, &[]);
            verdict(mapreduce(&phase.view(20.0), &TailParams { near_end, ..TailParams::default() }))
        };
        assert_eq!((of(6, 0.75), of(5, 0.75)), (Verdict::Decided, Verdict::TooFewFinished));
        assert_eq!((of(1, 0.0), of(0, 0.0)), (Verdict::Decided, Verdict::TooFewFinished), "none is no end");
    }

    #[test]
    fn of_empty_maps_and_others_the_others_must_be_near_their_end() {
        let of = |real: u32| {
            let phase = (0..5).fold(Phase::maps(9).took(&[1.0; 5]), |phase, index| phase.split(index, 0));
            let phase = (5..5 + real).fold(phase, |phase, index| phase.done(index, 0, [0.0, 10.0]));
            let phase = (5..9).fold(phase, |phase, index| phase.split(index, 100));
            verdict(mapreduce(&phase.runs((8, 0), 0, 0.0, &[]).view(20.0), &TailParams::default()))
        };
        assert_eq!([2, 3].map(of), [Verdict::TooFewFinished, Verdict::Decided]);
    }

    #[test]
    fn fifty_five_of_a_hundred_are_a_share_of_fifty_five_hundredths() {
        let mut phase = Phase::maps(100).took(&[10.0; 55]).runs((99, 0), 0, 0.0, &[]);
        let params = TailParams { near_end: 0.55, ..TailParams::default() };
        assert_eq!(verdict(mapreduce(&phase.view(20.0), &params)), Verdict::Decided);
    }

    #[test]
    fn dryads_are_those_that_have_run_for_longer_than_the_75th_percentile_of_durations() {
        let of = |now: f64| {
            let mut phase = Phase::maps(6).took(&[5.0, 6.0, 7.0, 8.0, 9.0]).runs((5, 0), 0, 2.0, &[]);
            dryad(&phase.view(now), &TailParams::default()).remove(0)
        };
        assert_eq!((of(10.0).verdict, of(10.0).recheck), (Verdict::TooYoung, Some(at(10.001))));
        assert_eq!((of(10.001).verdict, of(10.001).recheck), (Verdict::Decided, None));
    }
}
