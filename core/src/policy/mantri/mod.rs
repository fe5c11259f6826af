//! Mantri (Ananthanarayanan et al., OSDI'10, §5.1): Pseudocode 1 for all tasks of a phase.
//!
//! ```text
//!  1: let Δ = period of progress reports
//!  2: let c = number of copies of a task
//!  3: periodically, for each running task, kill all but the fastest α copies after Δ time has passed since begin
//!  4: while slots are available do
//!  5:   if tasks are waiting for slots then
//!  6:     kill, restart task if t_rem > E(t_new) + Δ, stop at γ restarts
//!  7:     duplicate if P(t_rem > t_new (c+1)/c) > δ
//!  8:     start the waiting task that has the largest data to read
//!  9:   else
//! 10:     duplicate iff E(t_new − t_rem) > ρΔ
//! ```
//!
//! Line 4's slots are govern's to count. Line 8 is [`order`], a measure of its own, for it is about tasks that do not run yet; so are [`spread`] (§5.2),
//! [`replicate`] and [`precompute`] (§5.3).

mod choice;
mod copies;
mod measure_params;
pub mod order;
mod params;
pub mod placement;
pub mod precompute;
pub mod recompute;
pub mod replicate;
pub mod spread;

use super::{Contender, Judged, View};
use crate::estimate::calibration::Spreads;
use crate::estimate::new_copy::NewCopy;
use crate::model::{Action, Millis, Numbers, Track, Verdict};
pub use choice::{Choice, Rule, Ruling, Running, choose};
use copies::{Copies, LiveCopy};
pub use measure_params::MeasureParams;
pub use params::MantriParams;

const LINE_3: &str = "Mantri §5.1, Pseudocode 1 line 3: kill all but the fastest alpha copies after Delta";

/// What holds for all tasks of the phase.
pub(super) struct Phase<'a> {
    view: &'a View<'a>,
    params: MantriParams,
    /// Delta where tasks are long.
    longest: Millis,
    t_new: NewCopy,
    /// See [`copies::slow_from`].
    slow_from: f64,
    /// Tasks that run or have finished, and tell how long others take.
    begun: usize,
    /// The copies that run, by contender.
    copies: Copies,
}

/// Judges every running task; those to act on come out as `Decided`, ranked by the time it gains: "the task that would benefit the most" (§6).
pub fn judge(view: &View<'_>, params: &MantriParams) -> Vec<Judged> {
    let phase = Phase::of(view, params, false);
    (0..view.contenders.len()).map(|index| phase.judge(index)).collect()
}

impl<'a> Phase<'a> {
    /// Where it has one task, `alone`, and its peers are those of earlier runs, what that task shows itself stands for no peer.
    pub(super) fn of(view: &'a View<'a>, params: &MantriParams, alone: bool) -> Phase<'a> {
        let copies = Copies::of(view);
        let slow_from = copies::slow_from(view);
        let t_new = copies::new_copy(view, &copies, if alone { u32::MAX } else { params.min_evidence }, slow_from);
        let running = view.contenders.iter().filter(|contender| view.tells(contender.task)).count();
        let begun = running + view.telling().0 as usize;
        let of_phase = params.of_phase(t_new.typical());
        Phase { view, params: of_phase, longest: params.period, t_new, slow_from, begun, copies }
    }

    /// Judges one of the view's contenders.
    pub(super) fn judge(&self, contender: usize) -> Judged {
        let (contender, copies) = (&self.view.contenders[contender], self.copies.of_task(contender));
        if let Some(barred) = barred(contender) {
            return contender.judged(self.view, barred);
        }
        if let Some(surplus) = self.surplus(copies) {
            let mut judged = contender.judged(self.view, Verdict::Decided);
            (judged.action, judged.attempt) = (Action::Withdraw, contender.id.attempt(surplus.number));
            (judged.rule, judged.rank) = (Some(LINE_3.to_owned()), f64::INFINITY);
            return judged;
        }
        let [fastest, ..] = copies else { return contender.judged(self.view, Verdict::Silent) };
        // The task ends with its fastest copy.
        let Some(t_rem) = fastest.t_rem else { return contender.judged(self.view, Verdict::Silent) };
        let (own, others) = copies::own_place(self.view, contender, fastest, &self.t_new, self.slow_from);
        let slowest = copies.last().unwrap_or(fastest);
        let shown = self.shows_its_pace(&contender.sample.track, contender.elapsed);
        let (slowest_track, slowest_age) = would_die(contender, slowest);
        let slowest_shown = self.shows_its_pace(slowest_track, slowest_age);
        let running = Running {
            t_rem,
            t_new: self.t_new.times(copies::data(self.view, contender), own),
            copies: copies.len() as u32,
            restarts: contender.task.restarts().max(self.view.past.restarts_of(contender.id)),
            can_restart: self.view.can_restart && slowest_shown,
            tasks_waiting: self.view.tasks_wait(),
        };
        let Some(ruling) = choose(&running, &self.params) else {
            return contender.judged(self.view, Verdict::TooFewFinished);
        };
        let kills = ruling.rule.choice() == Choice::KillRestart;
        let unshown = (kills && !self.shows_enough(slowest_track, slowest_age)).then_some(Verdict::TooFewReports);
        let early = self.too_early(contender, copies, others, shown);
        let verdict = early.or(unshown).unwrap_or_else(|| self.verdict(contender, t_rem, &ruling));
        let mut judged = contender.judged(self.view, verdict);
        if kills {
            // Line 6 is about the task, which ends with its fastest copy: where even that takes longer than a new one, so does each. Hadoop starts anew what it kills while
            // the task goes on, one for one; so one goes, the slowest, and the task keeps what the others have done.
            (judged.action, judged.attempt) = (Action::Restart, contender.id.attempt(slowest.number));
        }
        let rule = || format!("{}; {}{}", ruling.rule.words(), fastest.basis.words(), self.t_new.words());
        judged.rule = (verdict == Verdict::Decided).then(rule);
        (judged.rank, judged.weighed) = (t_rem - ruling.t_new_mean, running.copies);
        // While its tasks wait for slots, "schedule a duplicate" (line 7) means before they are.
        judged.early = ruling.rule == Rule::SavesResources && self.view.job.can.copy_first;
        let waits = matches!(verdict, Verdict::TooFewReports | Verdict::InputUnknown);
        judged.recheck = self.old().filter(|_| waits).map(|old| contender.sample.started + old);
        explain(&mut judged.numbers, self.view.t_rem_spreads, &running, &ruling);
        judged
    }

    /// Does one of the view's contenders run in several copies?
    pub(super) fn has_several(&self, contender: usize) -> bool {
        self.copies.of_task(contender).len() > 1
    }

    /// How much time one of them has left, which ends with its fastest copy; `None` where no end is in sight.
    pub(super) fn left(&self, contender: usize) -> Option<Millis> {
        let t_rem = self.copies.of_task(contender).first()?.t_rem?;
        t_rem.is_finite().then(|| Millis::from_secs_f64(t_rem))
    }

    /// How long the median of its tasks takes that run or have finished, with that one's data, seconds; `None` where half have not shown it.
    pub(super) fn typical(&self, contender: &Contender<'_>) -> Option<f64> {
        let start_up = self.t_new.lag() - self.view.start_lag.as_secs_f64();
        Some(self.t_new.typical_of(self.begun)? * copies::data(self.view, contender) + start_up)
    }

    /// Line 3: the slowest of its copies that have run for Delta, beyond the fastest alpha. By Delta the paper's have reported; one that need not have yet may be the fastest.
    fn surplus<'c>(&self, copies: &'c [LiveCopy]) -> Option<&'c LiveCopy> {
        let shown = |copy: &&LiveCopy| copy.age > self.params.period && copy.t_rem.is_some();
        copies.iter().skip(self.params.alpha.max(1) as usize).rfind(shown)
    }

    /// Twice the typical run: what is as old and still runs is no ordinary task, whatever else is not known of it.
    fn old(&self) -> Option<Millis> {
        self.t_new.typical().map(|typical| Millis::from_secs_f64(2.0 * typical))
    }

    /// What is killed has shown its own pace, or is old: where starts are slow, as on a crowded machine, a first report that comes late, none at all, and the first slow steps of a JVM look like slow work. The paper's
    /// reports are Delta apart, and so are the first and last of as many here, however often tasks report. A copy would only be in vain.
    fn shows_its_pace(&self, track: &Track, age: Millis) -> bool {
        let wanted = self.params.min_reports;
        let apart = self.params.period.scaled(f64::from(wanted.saturating_sub(1)));
        self.is_old(age) || (track.reports() >= wanted && track.shown_for() >= apart)
    }

    fn is_old(&self, age: Millis) -> bool {
        self.old().is_some_and(|old| age >= old)
    }

    /// Enough to kill it? That throws away all it has done, of which short work is the lesser part, and a second beside other JVMs' starts shows little: so it has been seen at work for an eighth of its `age`, up
    /// to the longest Delta; where no report is waited for at all, as by the paper's own rule, for nothing.
    fn shows_enough(&self, track: &Track, age: Millis) -> bool {
        const SHOWN: f64 = 0.125;
        let shown = age.scaled(SHOWN).min(self.longest);
        let waits = self.params.min_reports > 0 && !self.is_old(age);
        self.shows_its_pace(track, age) && (!waits || track.shown_for() >= shown)
    }

    /// Why it cannot be judged yet, of whose peers so many are known, and which has `shown` its pace or not.
    fn too_early(&self, contender: &Contender<'_>, copies: &[LiveCopy], others: usize, shown: bool) -> Option<Verdict> {
        // "Mantri does not re-duplicate a task for which it launched a copy recently." By Delta, a period of reports, the paper's copies have told of themselves;
        // Hadoop's take a JVM's start longer.
        let recent = |copy: &LiveCopy| copy.age <= self.params.period || copy.t_rem.is_none();
        // Where a task has one copy at a time that holds of copies, too, that others have started, or an earlier process.
        let alone = !self.view.past.joins && !self.view.judge_native_copies;
        let most = if alone { 1 } else { copies.len().max(1) };
        if contender.task.unended().count() > most || (copies.len() > 1 && copies.iter().any(recent)) {
            return Some(Verdict::AlreadyCopied);
        }
        if others < self.params.min_evidence as usize {
            return Some(Verdict::TooFewFinished);
        }
        let few = contender.sample.track.reports() > 0 && !shown;
        (few && !contender.begins_behind(self.view)).then_some(Verdict::TooFewReports)
    }

    fn verdict(&self, contender: &Contender<'_>, t_rem: f64, ruling: &Ruling) -> Verdict {
        match ruling.rule {
            Rule::CopiesMax => Verdict::AlreadyCopied,
            Rule::RestartsMax => Verdict::RestartsSpent,
            Rule::NothingSaved | Rule::NoGain if t_rem <= ruling.t_new_mean => Verdict::NoGain,
            Rule::NothingSaved | Rule::NoGain => Verdict::GainTooSmall,
            // Over REST its counters are asked for once it is suspected: without d there is no t_new of its own. They are not waited for without end.
            _ if self.view.input_unknown(contender) && self.old().is_none_or(|old| contender.elapsed < old) => {
                Verdict::InputUnknown
            }
            Rule::Restart | Rule::SavesResources | Rule::Gain => Verdict::Decided,
        }
    }
}

/// What has been seen of the copy that would be killed, and for how long it has run: it need not be the oldest attempt, by which the task is judged.
fn would_die<'c>(contender: &'c Contender<'_>, slowest: &LiveCopy) -> (&'c Track, Millis) {
    let is_oldest = contender.task.original().is_none_or(|oldest| oldest.number == slowest.number);
    let own = contender.task.live().find(|attempt| !is_oldest && attempt.number == slowest.number);
    own.map_or((&contender.sample.track, contender.elapsed), |own| (&own.track, slowest.age))
}

/// Why nothing can be done about it, whatever its progress.
fn barred(contender: &Contender<'_>) -> Option<Verdict> {
    let waits = || contender.waits_for_maps.then_some(Verdict::WaitsForMaps);
    contender.is_committing().then_some(Verdict::Committing).or_else(waits)
}

/// The numbers that the ruling rests on.
fn explain(numbers: &mut Numbers, spreads: Spreads, running: &Running<'_>, ruling: &Ruling) {
    let mean = ruling.t_new_mean;
    let left = Some(running.t_rem).filter(|t_rem| t_rem.is_finite());
    let with_spread = left.map(|left| spreads.around(left, numbers.score));
    numbers.time_left = with_spread.map(|left| left.mean);
    numbers.time_left_spread = with_spread.map(|left| left.spread);
    numbers.fresh_copy = Some(Millis::from_secs_f64(mean));
    numbers.fresh_copy_spread = Some(Millis::from_secs_f64(running.t_new.spread()));
    numbers.win_probability = Some(running.t_new.share(|t_new| t_new < running.t_rem));
    numbers.saves_probability = Some(ruling.probability);
    numbers.gain = left.map(|t_rem| Millis::from_secs_f64(t_rem - mean));
    numbers.cost_container_seconds = Some(mean);
}

#[cfg(test)]
mod tests;
