//! LATE: Longest Approximate Time to End (Zaharia et al., OSDI'08). §4's summary, in our words, with where each line stands:
//!
//! ```text
//! 1: when a node asks for a task, and none waits                  govern::budget, waiting: no job copies what it lacks room for
//! 2:   if fewer copies run than SpeculativeCap                    govern::budget, cluster; SPECULATIVE_CAP
//! 3:     ignore a node whose work is below SlowNodeThreshold      engine::grant, no_fast_node; estimate::node, NodeWork
//! 4:     of the running tasks without a copy                      Contender::barred
//! 5:       that have run for a minute                             too_early
//! 6:       and whose ProgressRate is below SlowTaskThreshold      worth; slow_below
//! 7:     copy the one with the longest time left                  rank in judge_one; engine::grant, govern_all
//! ```
//!
//! ProgressRate is ProgressScore / T, and the time left (1 − ProgressScore) / ProgressRate (`estimate::time_left`). No node asks here: a pass ranks all tasks
//! at once, copies as many as lines 1 and 2 allow, and leaves the node to Hadoop, so line 3 asks whether every node with room is too slow. What the other
//! thresholds of [`LateParams`] add is in no paper, and [`LateParams::paper`] has none of it. But T of a reduce is counted from the end of the maps once these have
//! ended, where the paper has all of its run: what it waited is none of its own work.

use super::{Contender, Judged, View};
use crate::estimate::stats::quantile;
use crate::model::{Millis, Time, Verdict, share_of};
use serde::{Deserialize, Serialize};

/// SpeculativeCap: copies that run at once, as a share (0–1) of the cluster's slots. §4: 10 %. The default's is govern's to say.
pub const SPECULATIVE_CAP: f64 = 0.10;

/// LATE's thresholds. [`LateParams::paper`] has the paper's; the default adapts them to short tasks and to Hadoop's reporting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LateParams {
    /// SlowTaskThreshold: percentile (0–1) of progress rates below which a task is slow. §4: 25th. Not used where `slow_factor` is set.
    pub slow_task_percentile: f64,
    /// SlowNodeThreshold: percentile (0–1) of node work below which a node gets no copy. §4: 25th.
    pub slow_node_percentile: f64,
    /// After so long the work of a node that has ended counts half; zero: in full, for as long as its job runs.
    pub node_half_life: Millis,
    /// A task is slow when its projected run is longer than this many typical runs; 0 leaves it to the percentile.
    pub slow_factor: f64,
    /// Age before a task is judged. §4: one minute.
    pub min_age: Millis,
    /// Age before a task is judged, in typical runs of its phase; from its first report on as much typical work will do.
    pub min_age_of_typical: f64,
    /// Reports before a task is judged; one is enough at twice the age.
    pub min_reports: u32,
    /// Share of the phase (0–1) that has finished before any task is judged.
    pub min_finished: f64,
    /// Gain that is worth a copy, in fresh copies' times.
    pub min_gain: f64,
    /// Probability (0–1) of winning that is worth a copy.
    pub min_win_probability: f64,
    /// Tells a reduce that waits for maps from a slow one.
    pub tell_waiting_apart: bool,
}

impl LateParams {
    /// §4's own constants and nothing else.
    pub fn paper() -> LateParams {
        LateParams {
            slow_task_percentile: 0.25,
            slow_node_percentile: 0.25,
            node_half_life: Millis(0),
            slow_factor: 0.0,
            min_age: Millis(60_000),
            min_age_of_typical: 0.0,
            min_reports: 0,
            min_finished: 0.0,
            min_gain: 0.0,
            min_win_probability: 0.0,
            tell_waiting_apart: false,
        }
    }

    /// Finished tasks needed before any of `total` is judged: the share, at least three, but no more than half of them, and at least one.
    fn finished_needed(&self, total: u32) -> u32 {
        if self.min_finished <= 0.0 {
            return 0;
        }
        let share = share_of(self.min_finished, total.into()).ceil() as u32;
        share.max(3).min(total / 2).max(1)
    }

    /// The age at which a task may be judged.
    fn age_needed(&self, view: &View<'_>) -> Millis {
        self.min_age.max(view.peers.typical.map_or(Millis(0), |typical| typical.scaled(self.min_age_of_typical)))
    }

    /// When a task may be judged, the AM's clock: at that age, or once it has worked for as long as its peers did in all. What its JVM took to start beside many
    /// others says nothing of its pace, and what it has shown for less than half of such a time says too little, unless its first report told so little that no start explains it.
    fn old_enough(&self, view: &View<'_>, contender: &Contender<'_>) -> Time {
        const SHOWN: f64 = 0.5;
        let by_age = contender.sample.started + self.age_needed(view);
        let Some(((_, reported), work)) = contender.sample.track.first().zip(view.peers.typical_work) else {
            return by_age;
        };
        let work = work.scaled(self.min_age_of_typical);
        let shown = if contender.begins_behind(view) { Millis(0) } else { work.scaled(SHOWN) };
        by_age.max(reported + shown).min(reported + work.max(self.min_age))
    }
}

impl Default for LateParams {
    fn default() -> Self {
        LateParams {
            // A quarter of the tasks being slow by definition is wrong both ways: nothing need be slow, and with two bad nodes of four more than a quarter is.
            slow_task_percentile: 0.25,
            // Nor need a quarter of the nodes be slow, and of a few nodes one with fewer places for tasks has done less. Which are slow the job's own tasks tell: copies keep off their hosts.
            slow_node_percentile: 0.0,
            // The longer of the windows in which Dolly looks at a machine (NSDI'13, §2.1.2).
            node_half_life: Millis(3_600_000),
            // An outlier takes more than 1.5 times the typical run (Mantri §4.1).
            slow_factor: 1.5,
            // A minute is the whole life of many tasks; a second keeps launch jitter out.
            min_age: Millis(1_000),
            // No task can be told from its peers before they would have been done.
            min_age_of_typical: 1.0,
            // A first report mixes start-up with pace; the second shows the pace alone.
            min_reports: 2,
            // Hadoop's own estimators ask for 5 % (StartEndTimesBase).
            min_finished: 0.05,
            // Where reports do not tell start-up from work, the first wave's run times hold the crowd of JVMs that started together, and a copy's time is overrated:
            // more than a quarter of it would miss stragglers.
            min_gain: 0.25,
            // Mantri §5.1 doubles only when a copy is likely to be first.
            min_win_probability: 0.75,
            tell_waiting_apart: true,
        }
    }
}

/// Judges every running task; those to copy come out as `Decided`, ranked by time left, longest first.
pub fn judge(view: &View<'_>, params: &LateParams) -> Vec<Judged> {
    let slow_below = slow_below(view, params);
    view.contenders.iter().map(|contender| judge_one(view, params, contender, slow_below)).collect()
}

/// LATE "that varies in one aspect; it acts on stragglers early in the phase" (Mantri §6.1), to compare with: worse than LATE itself (§6.3, Fig. 17). LATE gives a
/// slot to a copy only when no task is left to start (LATE §2.1, §4); here a copy may go before those that wait, where it can. On Hadoop it cannot, and this is LATE.
pub fn judge_early(view: &View<'_>, params: &LateParams) -> Vec<Judged> {
    let early = view.job.can.copy_first;
    judge(view, params).into_iter().map(|judged| Judged { early, ..judged }).collect()
}

/// The progress rate, score per second, below which a task is slow: SlowTaskThreshold.
fn slow_below(view: &View<'_>, params: &LateParams) -> f64 {
    match view.peers.typical {
        Some(typical) if params.slow_factor > 0.0 => 1.0 / typical.scaled(params.slow_factor).as_secs_f64().max(0.001),
        _ => quantile(&mut view.rates(), params.slow_task_percentile).unwrap_or(0.0),
    }
}

fn judge_one(view: &View<'_>, params: &LateParams, contender: &Contender<'_>, slow_below: f64) -> Judged {
    let (age_needed, old_enough) = (params.age_needed(view), params.old_enough(view, contender));
    let verdict = too_early(view, params, contender, old_enough)
        .unwrap_or_else(|| worth(view, params, contender, slow_below, age_needed));
    let mut judged = contender.judged(view, verdict);
    judged.numbers.slow_below = Some(slow_below);
    // A rate of zero has no end in sight: it ranks before all others.
    judged.rank = contender.left.map_or(f64::INFINITY, |left| left.mean.as_secs_f64());
    judged.recheck = match verdict {
        Verdict::TooYoung => Some(old_enough),
        Verdict::Silent => contender.silence_tells_at(view),
        Verdict::TooFewReports | Verdict::InputUnknown => Some(contender.sample.started + age_needed + age_needed),
        _ => None,
    };
    judged
}

/// Why the task cannot be judged yet.
fn too_early(view: &View<'_>, params: &LateParams, contender: &Contender<'_>, old_enough: Time) -> Option<Verdict> {
    if let Some(barred) = contender.barred(view) {
        return Some(barred);
    }
    if params.tell_waiting_apart && contender.waits_for_maps {
        return Some(Verdict::WaitsForMaps);
    }
    let (finished, all) = view.telling();
    if finished < params.finished_needed(all) {
        return Some(Verdict::TooFewFinished);
    }
    if view.now < old_enough {
        return Some(Verdict::TooYoung);
    }
    let reports = contender.sample.track.reports();
    let outlasts = params.slow_factor > 0.0 && contender.outlasts(view);
    if reports == 0 && params.min_reports > 0 && !contender.sample.is_silent() && !outlasts {
        return Some(Verdict::Silent);
    }
    let old = contender.elapsed >= params.age_needed(view) + params.age_needed(view);
    let few = reports > 0 && reports < params.min_reports;
    (few && !old && !contender.begins_behind(view)).then_some(Verdict::TooFewReports)
}

/// Is it slow, and would a copy pay?
fn worth(
    view: &View<'_>,
    params: &LateParams,
    contender: &Contender<'_>,
    slow_below: f64,
    age_needed: Millis,
) -> Verdict {
    // A percentile is compared with what it is one of, unrounded.
    let pace = if params.slow_factor > 0.0 { projected_rate(contender) } else { contender.rate() };
    if pace >= slow_below {
        return Verdict::NotSlow;
    }
    if params.slow_factor > 0.0 && pace * view.input_ratio(contender) >= slow_below {
        return Verdict::MoreData;
    }
    // Over REST its counters are asked for once it is suspected. They are not waited for without end: at twice the age it is judged without.
    if params.slow_factor > 0.0 && view.input_unknown(contender) && contender.elapsed < age_needed + age_needed {
        return Verdict::InputUnknown;
    }
    if params.min_gain <= 0.0 {
        return Verdict::Decided;
    }
    let numbers = contender.judged(view, Verdict::Decided).numbers;
    let fresh = numbers.fresh_copy.unwrap_or_default();
    let floor = fresh.scaled(params.min_gain);
    // An attempt that has shown no progress for longer than its rhythm has no end in sight; it may yet need as long again as it has run.
    if contender.left.is_none() {
        return if contender.elapsed >= fresh + floor { Verdict::Decided } else { Verdict::GainTooSmall };
    }
    let gain = numbers.gain.unwrap_or_default();
    match numbers.win_probability {
        Some(_) if gain.0 == 0 => Verdict::NoGain,
        Some(probability) if gain < floor || probability < params.min_win_probability => Verdict::GainTooSmall,
        _ => Verdict::Decided,
    }
}

/// The rate that its whole run, as projected, comes to. Under LATE's own estimate this is ProgressScore / T.
fn projected_rate(contender: &Contender<'_>) -> f64 {
    match contender.left {
        Some(left) => 1.0 / (contender.elapsed + left.mean).as_secs_f64().max(0.001),
        None => contender.rate(),
    }
}

#[cfg(test)]
mod tests;
