//! Hadoop's own speculator of today, DefaultSpeculator of 3.4.3 (org.apache.hadoop.mapreduce.v2.app.speculate), to compare with. A scan looks at the maps, then at
//! the reduces, and copies of each kind the one task that gains most; scans follow each other each second, and after one that launched a copy of either kind 15 s later.
//!
//! ```text
//! 1: each second, or 15 s after a scan that launched anything (`serviceStart`)              between_scans
//! 2: of each kind, unless the job waits for containers of it                                waits_or_capped
//! 3:   for each running task (`maybeScheduleASpeculation`), its `speculationValue`:         Scan::value
//! 4:     ON_SCHEDULE while too few of its kind have finished; else, of its one attempt,     Scan::of; estimate::hadoop, enough_finished
//! 5:     its estimated end, and that of a fresh attempt that starts now                     estimate::hadoop, RuntimeEstimator
//! 6:     an estimate that stands still for 9 s counts as an update                          Scan::updates
//! 7:     PROGRESS_IS_GOOD past the estimated end; TOO_LATE_TO_SPECULATE if a copy ends later; else what it gains
//! 8:   copy the one of most gain, if the copies are below the caps                          judge; waits_or_capped
//! ```
//!
//! Faults kept (`speculationValue`, `maybeScheduleASpeculation`):
//! - slowtaskthreshold is compared with nothing: whatever gains at all qualifies, however little;
//! - an attempt past its estimated end passes for good progress, and so does one without an estimate;
//! - one whose estimate stands still for 9 s is given an update without progress, so that one that has never reported seems to need ten thousand times its age;
//! - a task with a copy counts against the cap only while its first attempt would still qualify;
//! - a reduce's wait for maps counts as its run, and a fresh attempt takes no time to start;
//! - what finished under an earlier AM counts as finished, and not among the run times.
//!
//! Where it departs from Hadoop: a pass of the engine stands for a scan, so a copy comes up to a second sooner; a task that commits gets no copy, where Hadoop may
//! start a third attempt; the caps and waits are those that Hadoop ships, whatever the job sets; and govern's bounds hold as for every policy.

use super::{Contender, Judged, View};
use crate::estimate::hadoop::{Durations, RuntimeEstimator, Updates, enough_finished};
use crate::model::{Millis, Numbers, TaskState, Time, Verdict};
use std::cmp::Reverse;

/// What a job can set of it, and what is built in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HadoopParams {
    /// `mapreduce.job.speculative.retry-after-no-speculate`: from scan to scan.
    pub scan: Millis,
    /// MAX_WAITING_TIME_FOR_HEARTBEAT, which nobody can set: how long an estimate may stand still.
    pub standstill: Millis,
    /// `mapreduce.job.speculative.retry-after-speculate`.
    pub retry_after_speculate: Millis,
    /// `mapreduce.job.speculative.speculative-cap-running-tasks`: copies, as a share (0–1) of the kind's running tasks.
    pub cap_running_tasks: f64,
    /// `mapreduce.job.speculative.speculative-cap-total-tasks`: copies, as a share (0–1) of the kind's tasks.
    pub cap_total_tasks: f64,
    /// `mapreduce.job.speculative.minimum-allowed-tasks`: copies that may be whatever the shares say.
    pub minimum_allowed_tasks: u32,
    /// `yarn.app.mapreduce.am.job.task.estimator.class`, where no estimator of Hadoop's is set.
    pub estimator: RuntimeEstimator,
}

impl HadoopParams {
    /// As Hadoop ships it (mapred-default.xml).
    pub const SHIPPED: HadoopParams = HadoopParams {
        scan: Millis(1_000),
        standstill: Millis(9_000),
        retry_after_speculate: Millis(15_000),
        cap_running_tasks: 0.1,
        cap_total_tasks: 0.01,
        minimum_allowed_tasks: 10,
        estimator: RuntimeEstimator::Legacy,
    };
    /// Ready for the next copy after one second: of short jobs' stragglers more than the first is copied in time. By the shipped estimator: to ExponentiallySmoothed what turns
    /// slow seems to turn fast, and SimpleExponential takes every attempt for endless until its 25th read.
    pub const TUNED: HadoopParams =
        HadoopParams { retry_after_speculate: HadoopParams::SHIPPED.scan, ..HadoopParams::SHIPPED };
}

/// What one scan of a kind goes by.
struct Scan {
    estimator: RuntimeEstimator,
    /// How long a fresh attempt takes.
    fresh: Millis,
    /// Since when attempts are judged, and so their silence counted; `None`: not yet.
    since: Option<Time>,
}

/// What a scan makes of one task.
struct Value {
    /// The attempt's estimated end.
    end: Option<Time>,
    /// Why it cannot have a copy, whatever it would gain.
    barred: Option<Verdict>,
    /// By how much sooner than the attempt a copy would end, or why it is not to have one.
    gain: Result<Millis, Verdict>,
}

/// Judges every running task: at most one is `Decided`.
pub fn judge(view: &View<'_>, params: &HadoopParams) -> Vec<Judged> {
    let scan = Scan::of(view, params);
    let values: Vec<Value> = view.contenders.iter().map(|contender| scan.value(view, contender, params)).collect();
    let held = between_scans(view, params).or_else(|| waits_or_capped(view, params, &values));
    let gains = values.iter().enumerate().filter(|(_, value)| value.barred.is_none());
    let gains = gains.filter_map(|(at, value)| Some((*value.gain.as_ref().ok()?, Reverse(at))));
    let best = gains.max().map(|(_, Reverse(at))| at);
    let chosen = |at| if Some(at) == best { Verdict::Decided } else { Verdict::Outranked };
    let judged = view.contenders.iter().zip(&values).enumerate().map(|(at, (contender, value))| {
        let verdict = value.barred.or(value.gain.err()).or(held).unwrap_or_else(|| chosen(at));
        scan.judged(view, contender, value, verdict, params)
    });
    judged.collect()
}

/// `serviceStart`: a scan that launched something is followed by a longer sleep.
fn between_scans(view: &View<'_>, params: &HadoopParams) -> Option<Verdict> {
    let due = view.past.last? + params.retry_after_speculate;
    (view.now < due).then_some(Verdict::BetweenScans)
}

/// `maybeScheduleASpeculation`: nothing while the job waits for a container of the kind, its copies' included, and no more than the caps allow.
fn waits_or_capped(view: &View<'_>, params: &HadoopParams, values: &[Value]) -> Option<Verdict> {
    if view.job.needs[view.kind as usize] > 0 {
        return Some(Verdict::ContainersWaiting);
    }
    let running = values.iter().filter(|value| value.barred != Some(Verdict::Committing)).count();
    let counts = |value: &&Value| {
        let copied = matches!(value.barred, Some(Verdict::AlreadyCopied | Verdict::CopyInFlight));
        copied && value.gain.is_ok()
    };
    let copied = values.iter().filter(counts).count();
    let shares = [params.cap_total_tasks * f64::from(view.total), params.cap_running_tasks * running as f64];
    let allowed = shares.into_iter().fold(f64::from(params.minimum_allowed_tasks), f64::max) as usize;
    (copied >= allowed).then_some(Verdict::JobCap)
}

impl Scan {
    fn of(view: &View<'_>, params: &HadoopParams) -> Scan {
        let estimator = view.estimator.of_hadoop().unwrap_or(params.estimator);
        let succeeded = || view.job.tasks(view.kind).filter(|(_, task)| task.state == TaskState::Succeeded);
        let own = succeeded().filter(|(_, task)| u64::from(task.winner().unwrap_or(0)) >= view.job.first_number());
        let durations: Durations =
            own.filter(|(_, task)| !task.marks.skewed()).filter_map(|(_, task)| task.run_time()).collect();
        let mut ends: Vec<Time> = succeeded().map(|(_, task)| task.ended().unwrap_or_default()).collect();
        ends.sort_unstable();
        let enough = (1..).zip(ends).find(|(finished, _)| enough_finished(*finished, view.total));
        Scan { estimator, fresh: estimator.fresh_attempt(&durations), since: enough.map(|(_, end)| end) }
    }

    /// `speculationValue`, by its name ON_SCHEDULE, TOO_NEW, PROGRESS_IS_GOOD, TOO_LATE_TO_SPECULATE, or what a copy gains. ALREADY_SPECULATING is what bars it.
    fn value(&self, view: &View<'_>, contender: &Contender<'_>, params: &HadoopParams) -> Value {
        let barred = contender.barred(view).or_else(|| view.past.barred.get(&contender.id).copied());
        let none = |why| Value { end: None, barred, gain: Err(why) };
        let Some(since) = self.since else { return none(Verdict::TooFewFinished) };
        let launched = contender.sample.launched;
        if launched > view.now {
            return none(Verdict::TooYoung);
        }
        let updates = self.updates(contender, since, view.now, params);
        let Some(runtime) = self.estimator.runtime(&updates) else {
            return none(if updates.reads() == 0 { Verdict::Silent } else { Verdict::ProgressIsGood });
        };
        let (end, copys_end) = (launched + runtime, view.now + self.fresh);
        let gain = if end < view.now {
            Err(Verdict::ProgressIsGood)
        } else if copys_end >= end {
            Err(Verdict::NoGain)
        } else {
            Ok(end.since(copys_end))
        };
        Value { end: Some(end), barred, gain }
    }

    /// The attempt's updates, and those that are made up for it: one once its estimate has stood still for 9 s, or at the next scan where the estimator says that it
    /// has stagnated. The scan after that sees the estimate moved, and the count begins anew. Hadoop's estimate moves with every update, here only with progress; nor
    /// is it known here which scans fell into a longer sleep.
    fn updates(&self, contender: &Contender<'_>, since: Time, now: Time, params: &HadoopParams) -> Updates {
        let mut updates = Updates::kept(&contender.sample);
        let launched = contender.sample.launched;
        let still_since = updates.newest().map_or(launched, |newest| launched + newest.after).max(since);
        let stagnated = self.estimator.has_stagnated(updates.reads());
        let round = if stagnated { params.scan } else { params.standstill } + params.scan;
        let times = now.since(still_since).0 / round.0;
        if times > 0 {
            let last = still_since + Millis(times * round.0) - params.scan;
            updates.repeat(times as u32, last.since(launched));
        }
        updates
    }

    /// With the numbers that Hadoop goes by in place of Drover's own.
    fn judged(
        &self,
        view: &View<'_>,
        contender: &Contender<'_>,
        value: &Value,
        verdict: Verdict,
        params: &HadoopParams,
    ) -> Judged {
        let judged = contender.judged(view, verdict);
        let fresh = self.since.map(|_| self.fresh);
        let gain = value.gain.ok();
        let numbers = Numbers {
            time_left: value.end.map(|end| end.since(view.now)),
            time_left_spread: None,
            fresh_copy: fresh,
            fresh_copy_spread: None,
            win_probability: None,
            gain,
            cost_container_seconds: fresh.map(Millis::as_secs_f64),
            ..judged.numbers
        };
        let woken = view.past.last.filter(|_| verdict == Verdict::BetweenScans);
        let recheck = woken.map(|last| last + params.retry_after_speculate);
        Judged { numbers, rank: gain.unwrap_or_default().as_secs_f64(), recheck, ..judged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::FreshCopy;
    use crate::model::AttemptState;
    use crate::policy::Past;
    use crate::policy::tests::{Phase, at, secs};

    const NONE_FOR_FREE: HadoopParams = HadoopParams {
        cap_running_tasks: 0.0,
        cap_total_tasks: 0.0,
        minimum_allowed_tasks: 0,
        ..HadoopParams::SHIPPED
    };

    /// Beside two tasks of 10 s one half of which is done: after so many seconds.
    fn half_done(at_second: f64) -> Phase {
        Phase::maps(3).took(&[10.0, 10.0]).runs((2, 0), 0, 0.0, &[(at_second, 0.5)])
    }

    fn judged(mut phase: Phase, now: f64) -> Judged {
        judge(&phase.view(now), &HadoopParams::SHIPPED).remove(0)
    }

    #[test]
    fn a_copy_gains_what_the_estimated_end_lies_after_its_own() {
        let mut phase = half_done(20.0);
        let drovers = FreshCopy { mean: secs(12.0), start: secs(0.0), spread: secs(1.0), evidence: 2 };
        let view = View { fresh: Some(drovers), ..phase.view(25.0) };
        let gains = judge(&view, &HadoopParams::SHIPPED).remove(0);
        let numbers = gains.numbers;
        assert_eq!(
            (gains.verdict, numbers.time_left, numbers.fresh_copy, numbers.gain),
            (Verdict::Decided, Some(secs(15.0)), Some(secs(10.0)), Some(secs(5.0)),)
        );
        assert_eq!((numbers.time_left_spread, numbers.fresh_copy_spread, numbers.win_probability), (None, None, None));
        assert_eq!((numbers.cost_container_seconds, gains.rank), (Some(10.0), 5.0));
        assert_eq!(
            (judged(half_done(10.0), 10.0).verdict, judged(half_done(10.5), 10.5).verdict),
            (Verdict::NoGain, Verdict::Decided,)
        );
    }

    #[test]
    fn what_is_past_its_estimated_end_makes_good_progress_and_what_is_just_at_it_would_gain_nothing() {
        assert_eq!(
            (judged(half_done(4.0), 8.0).verdict, judged(half_done(4.0), 8.001).verdict),
            (Verdict::NoGain, Verdict::ProgressIsGood,)
        );
    }

    #[test]
    fn an_estimate_that_has_stood_still_for_9_s_is_moved_at_the_next_scan_by_an_update_without_progress() {
        let left = |now| judged(half_done(10.0), now).numbers.time_left;
        assert_eq!((left(19.999), left(20.0)), (Some(secs(0.001)), Some(secs(18.0))), "half of it at 19 s");
    }

    #[test]
    fn what_will_be_launched_is_too_new_and_what_has_just_been_has_no_estimate_yet() {
        let launched = |when| judged(Phase::maps(3).took(&[10.0, 10.0]).runs((2, 0), 0, when, &[]), 20.0).verdict;
        assert_eq!((launched(20.001), launched(20.0)), (Verdict::TooYoung, Verdict::Silent));
    }

    #[test]
    fn after_a_copy_the_next_scan_comes_15_s_later_and_in_the_tuned_one_after_a_second() {
        let after = |params: &HadoopParams, since: f64| {
            let mut phase = half_done(30.0);
            let view = View { past: Past { last: Some(at(30.0)), ..Past::default() }, ..phase.view(30.0 + since) };
            let judged = judge(&view, params).remove(0);
            (judged.verdict, judged.recheck)
        };
        assert_eq!(after(&HadoopParams::SHIPPED, 14.999), (Verdict::BetweenScans, Some(at(45.0))));
        assert_eq!(after(&HadoopParams::SHIPPED, 15.0), (Verdict::Decided, None));
        assert_eq!(after(&HadoopParams::TUNED, 0.999), (Verdict::BetweenScans, Some(at(31.0))));
        assert_eq!(after(&HadoopParams::TUNED, 1.0).0, Verdict::Decided);
    }

    /// Of 20 tasks two have finished, and so many run that would gain, the first so many of them with a copy.
    fn verdicts(running: u32, copied: u32, committing: u32, params: &HadoopParams) -> Vec<Verdict> {
        let phase = (2..2 + running)
            .fold(Phase::maps(20).took(&[10.0, 10.0]), |phase, index| phase.runs((index, 0), 0, 0.0, &[(20.0, 0.5)]));
        let phase = (2..2 + copied).fold(phase, |phase, index| phase.runs((index, 1), 0, 15.0, &[]));
        let commits = 2 + running - committing..2 + running;
        let mut phase = commits.fold(phase, |phase, index| phase.is((index, 0), AttemptState::CommitPending));
        judge(&phase.view(20.0), params).iter().map(|judged| judged.verdict).collect()
    }

    #[test]
    fn copies_are_capped_by_the_largest_of_both_shares_and_the_number_allowed() {
        use Verdict::{AlreadyCopied, Committing, JobCap};
        let capped = |copied, params| verdicts(4, copied, 0, &params)[3] == JobCap;
        let of_total = HadoopParams { cap_total_tasks: 0.1, ..NONE_FOR_FREE };
        assert_eq!((capped(1, of_total), capped(2, of_total)), (false, true), "two of twenty");
        let of_running = HadoopParams { cap_running_tasks: 0.5, ..NONE_FOR_FREE };
        assert_eq!((capped(1, of_running), capped(2, of_running)), (false, true), "two of four");
        let number = HadoopParams { minimum_allowed_tasks: 2, ..NONE_FOR_FREE };
        assert_eq!((capped(1, number), capped(2, number), capped(0, NONE_FOR_FREE)), (false, true, true));
        let committing = verdicts(4, 1, 1, &of_running);
        assert_eq!(committing, [AlreadyCopied, JobCap, JobCap, Committing], "half of three is one");
    }

    #[test]
    fn while_a_container_of_its_kind_is_asked_for_nothing_is_copied_and_of_several_the_first_is() {
        assert_eq!(verdicts(2, 0, 0, &HadoopParams::SHIPPED), [Verdict::Decided, Verdict::Outranked]);
        let mut phase = half_done(30.0);
        phase.job.needs = [1, 0];
        assert_eq!(judged(phase, 30.0).verdict, Verdict::ContainersWaiting);
    }
}
