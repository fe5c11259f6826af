//! Jobs held out beside those that could be acted on, by intention to treat.

#[cfg(test)]
mod tests;

use super::{Asked, condition};
use crate::ledger::draw::Draw;
use crate::stats::Interval;
use crate::stats::trial::{Effect, Trial, Trials, as_shares};
use drover_core::model::{JobPhase, Millis};
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Percent of a side's jobs that may be without an end before the long ones are missing.
const MOST_OPEN: u64 = 5;

/// Fewer failed jobs on both sides together tell nothing of which side fails more.
const LEAST_FAILED: u64 = 5;

/// Standard errors that two shares of one lot lie within of each other nineteen times in twenty.
const Z_95: f64 = 1.96;

/// What jobs held out show beside those that could be acted on. A job counts from the moment it could first be acted on, were it not held out, on the side that it was drawn to, whatever was
/// done to it then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HoldOutView {
    /// `not_enough_data`, `sooner`, `later` or `no_difference_shown`: of jobs that could be acted on, where the whole interval is on one side of no change. `by_policy` where jobs of more than
    /// one policy were drawn: each has a verdict of its own, and all of them together have none.
    pub verdict: String,
    /// Jobs that could be acted on.
    pub acted: SideView,
    /// Jobs held out.
    pub held_out: SideView,
    /// Jobs left out as all or none were held out when their side was settled, so that nothing was drawn.
    #[serde(default)]
    pub not_drawn: u64,
    /// Jobs left out as the share that their side was drawn at is not kept: an earlier version enrolled them.
    #[serde(default)]
    pub share_unknown: u64,
    /// More than 5 % of the jobs of either side are open: the long ones are missing, fewer of them on a side that is sooner, so that a change is told too small.
    #[serde(default)]
    pub long_ones_missing: bool,
    /// Of the jobs that ended, the share that failed differs between the sides by more than chance explains: those that are compared were then chosen by what was done to them.
    #[serde(default)]
    pub failures_differ: bool,
    /// Groups of one name, but for its numbers, one bin of sizes (1–10 tasks, 11–50, 51–150, 151–500, more) and one share and salt of the draw with jobs on both sides, two or more on one.
    pub strata: u64,
    /// How many jobs with a counterpart each side is to have before a change is told.
    pub needed: u64,
    /// By how much jobs that could be acted on took longer (above 0) or shorter than those held out; absent while there is not enough data.
    pub change: Option<ChangeView>,
}

/// What jobs held out show of one policy, of several in the time asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PolicyView {
    /// The policy that was in force when they could first be acted on.
    pub policy: String,
    /// What its jobs show.
    pub holdout: HoldOutView,
}

/// One side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SideView {
    /// Jobs drawn to it.
    pub jobs: u64,
    /// Of these, the ones that have not ended, or whose end was never seen, or of which nobody could tell how long they took.
    pub open: u64,
    /// The ones that ended without success: how soon a job fails is no time that it takes, so they are counted here and not compared.
    pub failed: u64,
    /// The ones that have a counterpart of their name and size on the other side, and one of them a fellow, and are compared.
    pub compared: u64,
    /// The ones of whose tasks some had a copy or restart asked for.
    pub acted_on: u64,
}

/// A change of job times, percent, with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangeView {
    /// The estimate.
    pub percent: f64,
    /// Lower end of the interval.
    pub low_percent: f64,
    /// Upper end.
    pub high_percent: f64,
}

impl SideView {
    fn is_cut_short(&self) -> bool {
        100 * self.open > MOST_OPEN * self.jobs
    }

    fn ended(&self) -> u64 {
        self.jobs - self.open
    }

    /// Do the shares that failed lie further apart than those of two samples of one lot would, but for one time in twenty?
    fn fails_unlike(&self, other: &SideView) -> bool {
        let (failed, ended) = (self.failed + other.failed, self.ended() + other.ended());
        if failed < LEAST_FAILED || self.ended() == 0 || other.ended() == 0 {
            return false;
        }
        let share = |failed: u64, ended: u64| failed as f64 / ended as f64;
        let all = share(failed, ended);
        let each = 1.0 / self.ended() as f64 + 1.0 / other.ended() as f64;
        let apart = share(self.failed, self.ended()) - share(other.failed, other.ended());
        // With Yates' correction: of few failures a normal law tells too much.
        apart.abs() - each / 2.0 > Z_95 * (all * (1.0 - all) * each).sqrt()
    }

    fn add(&mut self, job: &Enrolled) {
        self.jobs += 1;
        self.open += u64::from(job.state.is_none() || (job.succeeded() && job.took.is_none()));
        self.failed += u64::from(job.state.is_some() && !job.succeeded());
        self.acted_on += u64::from(job.decided > 0);
    }

    fn with(&self, other: &SideView) -> SideView {
        SideView {
            jobs: self.jobs + other.jobs,
            open: self.open + other.open,
            failed: self.failed + other.failed,
            compared: self.compared + other.compared,
            acted_on: self.acted_on + other.acted_on,
        }
    }
}

struct Enrolled {
    policy: String,
    stratum: String,
    draw: Option<Draw>,
    /// Share and salt, in words.
    drawn: String,
    tasks: u32,
    held_out: bool,
    state: Option<String>,
    took: Option<Millis>,
    decided: u32,
}

impl Enrolled {
    fn read(row: &Row<'_>) -> rusqlite::Result<Enrolled> {
        let took: Option<i64> = row.get(4)?;
        let draw = Draw::kept(row.get(6)?, row.get(7)?);
        Ok(Enrolled {
            policy: row.get(8)?,
            stratum: row.get(0)?,
            draw,
            drawn: format!("{draw:?}"),
            // A job may claim as many of either as a whole number holds.
            tasks: u32::try_from(row.get::<_, i64>(1)?).unwrap_or(u32::MAX),
            held_out: row.get(2)?,
            state: row.get(3)?,
            took: took.and_then(|took| u64::try_from(took).ok()).map(Millis),
            decided: row.get::<_, Option<u32>>(5)?.unwrap_or(0),
        })
    }

    /// Could it have come to either side?
    fn is_drawn(&self) -> bool {
        self.draw.as_ref().is_some_and(Draw::is_by_chance)
    }

    fn succeeded(&self) -> bool {
        self.state.as_deref() == Some(JobPhase::Succeeded.label())
    }

    fn trial(&self) -> Option<Trial<'_>> {
        let took = self.took.filter(|_| self.succeeded())?;
        Some(Trial { name: &self.stratum, draw: &self.drawn, tasks: self.tasks, took, held_out: self.held_out })
    }
}

/// What those of a filter show; where more than one policy is among those drawn, also of each by itself.
pub fn read(connection: &Connection, asked: &Asked<'_>) -> rusqlite::Result<(HoldOutView, Vec<PolicyView>)> {
    let ask = format!(
        "SELECT e.stratum, e.maps + e.reduces, e.held_out, j.state, j.took_ms, j.decided, e.share, e.salt, e.policy
         FROM enrolments e LEFT JOIN jobs j USING (job) WHERE {} ORDER BY e.job",
        condition("e")
    );
    let mut policies: BTreeMap<String, Sides> = BTreeMap::new();
    let mut rows = connection.prepare(&ask)?;
    for job in rows.query_map(asked.parameters(), Enrolled::read)? {
        let job = job?;
        match policies.get_mut(&job.policy) {
            Some(sides) => sides.add(&job),
            None => policies.entry(job.policy.clone()).or_default().add(&job),
        }
    }
    Ok(of_policies(policies))
}

fn of_policies(policies: BTreeMap<String, Sides>) -> (HoldOutView, Vec<PolicyView>) {
    let (not_drawn, share_unknown) =
        policies.values().fold((0, 0), |sum, one| (sum.0 + one.not_drawn, sum.1 + one.share_unknown));
    let drawn = policies.into_iter().map(|(policy, sides)| PolicyView { policy, holdout: sides.view() });
    let mut drawn: Vec<PolicyView> = drawn.filter(|one| one.holdout.jobs() > 0).collect();
    let all = match &drawn[..] {
        [] => Sides::default().view(),
        [_] => drawn.remove(0).holdout,
        several => HoldOutView::of_several(several),
    };
    (HoldOutView { not_drawn, share_unknown, ..all }, drawn)
}

/// What is known so far of a policy's jobs.
#[derive(Default)]
struct Sides {
    acted: SideView,
    held_out: SideView,
    trials: Trials,
    not_drawn: u64,
    share_unknown: u64,
}

impl Sides {
    fn add(&mut self, job: &Enrolled) {
        if !job.is_drawn() {
            let why = if job.draw.is_none() { &mut self.share_unknown } else { &mut self.not_drawn };
            *why += 1;
            return;
        }
        if job.held_out { &mut self.held_out } else { &mut self.acted }.add(job);
        job.trial().into_iter().for_each(|trial| self.trials.add(trial));
    }

    fn view(&self) -> HoldOutView {
        let shown = self.trials.effect();
        let side = |side: &SideView, compared: usize| SideView { compared: compared as u64, ..side.clone() };
        let (acted, held_out) = (side(&self.acted, shown.acted), side(&self.held_out, shown.left));
        // JSON has no number for an end beyond all bounds.
        let change = shown.log.filter(|_| shown.is_enough()).map(as_shares).filter(|change| change.high.is_finite());
        HoldOutView {
            verdict: verdict(change.as_ref()).to_owned(),
            long_ones_missing: acted.is_cut_short() || held_out.is_cut_short(),
            failures_differ: acted.fails_unlike(&held_out),
            acted,
            held_out,
            not_drawn: self.not_drawn,
            share_unknown: self.share_unknown,
            strata: shown.strata as u64,
            needed: Effect::NEEDED as u64,
            change: change.as_ref().map(ChangeView::of),
        }
    }
}

impl HoldOutView {
    fn jobs(&self) -> u64 {
        self.acted.jobs + self.held_out.jobs
    }

    /// What policies did differs, so that of all together no change is told.
    fn of_several(policies: &[PolicyView]) -> HoldOutView {
        let all = policies.iter().fold(HoldOutView::default(), |sum, one| HoldOutView {
            acted: sum.acted.with(&one.holdout.acted),
            held_out: sum.held_out.with(&one.holdout.held_out),
            strata: sum.strata + one.holdout.strata,
            long_ones_missing: sum.long_ones_missing || one.holdout.long_ones_missing,
            failures_differ: sum.failures_differ || one.holdout.failures_differ,
            ..sum
        });
        HoldOutView { verdict: "by_policy".into(), needed: Effect::NEEDED as u64, ..all }
    }
}

fn verdict(change: Option<&Interval>) -> &'static str {
    match change {
        None => "not_enough_data",
        Some(change) if change.high < 0.0 => "sooner",
        Some(change) if change.low > 0.0 => "later",
        Some(_) => "no_difference_shown",
    }
}

impl ChangeView {
    fn of(shares: &Interval) -> ChangeView {
        let Interval { mean, low, high } = *shares;
        ChangeView { percent: 100.0 * mean, low_percent: 100.0 * low, high_percent: 100.0 * high }
    }
}
