//! What copies, restarts and advice came to.

use super::{Asked, condition, seconds};
use crate::ledger::wording::{FAILED, LOST, MOOT, REFUSED, WON};
use crate::stats::quantile;
use drover_core::model::{Action, Landed, Mode, VirtualOutcome};
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Copies or restarts that a policy asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CopiesView {
    /// The policy.
    pub policy: String,
    /// `duplicate`, `clone` (of a task that had not shown to be slow), `restart` or `withdraw`.
    pub action: String,
    /// Decisions to act.
    pub decided: u64,
    /// Of these, the ones whose end is not known yet.
    pub open: u64,
    /// A copy finished first; a restart's new attempt succeeded.
    pub won: u64,
    /// Another attempt finished first.
    pub lost: u64,
    /// The copies failed or were killed while the task went on.
    pub failed: u64,
    /// The shim refused.
    pub refused: u64,
    /// No copy came to be: the action was never sent, or nobody answered and none was seen.
    pub moot: u64,
    /// The job was over, or lost from sight, before anybody could tell.
    pub unknown: u64,
    /// Seconds by which tasks whose copy won ended before their original's predicted end, summed; of those with a prediction.
    pub gained_seconds: f64,
    /// How many these are.
    pub gained_of: u64,
    /// One standard deviation of that sum, were the predictions' errors independent: the root of the sum of their squared spreads. Absent where one of them has none.
    pub gained_spread_seconds: Option<f64>,
    /// Container time of all copies, launch to end.
    pub container_seconds: f64,
    /// Of that, the time of copies that did not win; of decisions that an earlier version kept, that of those none of whose copies won.
    pub container_seconds_in_vain: f64,
    /// Launched copies whose decision named hosts to keep off, and whose own host is known.
    pub to_keep_off: u64,
    /// Of these, the ones on none of those hosts.
    pub kept_off: u64,
    /// Launched copies whose decision named hosts to prefer, likewise.
    pub to_prefer: u64,
    /// Of these, the ones on one of those hosts.
    pub on_preferred: u64,
    /// The ones on another host of such a one's rack; none of decisions that an earlier version kept, or whose end no process saw that had decided.
    #[serde(default)]
    pub near_preferred: u64,
    /// How far predictions were off where the original finished first.
    pub prediction: PredictionView,
}

/// Restarts that a policy asked for, by how many each made of its task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RestartsView {
    /// The policy.
    pub policy: String,
    /// 1: the first of its task, and so on; null of those that an earlier version kept.
    pub restart: Option<u32>,
    /// Decisions to restart.
    pub decided: u64,
    /// Of these, the ones whose end is not known yet.
    pub open: u64,
    /// The new attempt succeeded.
    pub won: u64,
    /// Another attempt finished first.
    pub lost: u64,
    /// The new attempt failed or was killed while the task went on, as where the task was restarted again.
    pub failed: u64,
    /// The shim refused.
    pub refused: u64,
    /// Nothing came of it: it was never sent, or nobody answered and no new attempt was seen.
    pub moot: u64,
    /// The job was over, or lost from sight, before anybody could tell.
    pub unknown: u64,
}

impl RestartsView {
    fn of(policy: String, restart: Option<u32>, all: &CopiesView) -> RestartsView {
        let CopiesView { decided, open, won, lost, failed, refused, moot, unknown, .. } = *all;
        RestartsView { policy, restart, decided, open, won, lost, failed, refused, moot, unknown }
    }
}

/// Copies or restarts that were only advised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AdviceView {
    /// The policy.
    pub policy: String,
    /// `duplicate`, `clone` (of a task that had not shown to be slow), `restart` or `withdraw`.
    pub action: String,
    /// Decisions that were said.
    pub said: u64,
    /// Of these, the ones whose task has not ended, or failed, or was not followed to its end: a service that is started anew, and a copy that is asked for after all, leave earlier advice on the task so. Of
    /// clones none.
    pub open: u64,
    /// Clones: when one is advised nobody knows how long it would take, so nobody can tell whether it would have won.
    #[serde(default)]
    pub no_outcome: u64,
    /// A copy would have finished first with a probability of a half or more.
    pub would_have_won: u64,
    /// It would have with less.
    pub would_have_lost: u64,
    /// Hadoop's own speculator copied the task too, which says nothing about Drover.
    pub natively_copied: u64,
    /// Seconds that copies of average luck would have gained, summed.
    pub would_have_gained_seconds: f64,
    /// How far predictions were off.
    pub prediction: PredictionView,
}

/// How far predicted ends of originals were off: predicted less actual.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PredictionView {
    /// Originals that finished by themselves, with a prediction.
    pub count: u64,
    /// Mean: above zero where ends were predicted too late, so that gains are told too large.
    pub mean_seconds: Option<f64>,
    /// Median of the absolute errors.
    pub median_error_seconds: Option<f64>,
}

impl PredictionView {
    fn of(errors: &[f64]) -> PredictionView {
        let mean = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
        let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        PredictionView { count: errors.len() as u64, mean_seconds: mean, median_error_seconds: quantile(&sizes, 0.5) }
    }
}

/// One decision with what became of it.
struct Told {
    policy: String,
    action: String,
    acted: bool,
    outcome: Option<String>,
    gained_ms: Option<i64>,
    spread_ms: Option<i64>,
    error_ms: Option<i64>,
    container_ms: i64,
    winner_ms: Option<i64>,
    avoid: String,
    prefer: String,
    hosts: String,
    near: u32,
    restart: Option<u32>,
}

impl Told {
    fn read(row: &Row<'_>) -> rusqlite::Result<Told> {
        Ok(Told {
            policy: row.get(0)?,
            action: row.get(1)?,
            acted: row.get::<_, String>(2)? == Mode::Act.label(),
            outcome: row.get(3)?,
            gained_ms: row.get(4)?,
            spread_ms: row.get(5)?,
            error_ms: row.get(6)?,
            container_ms: row.get::<_, Option<i64>>(7)?.unwrap_or(0),
            avoid: row.get(8)?,
            prefer: row.get(9)?,
            hosts: row.get::<_, Option<String>>(10)?.unwrap_or_default(),
            winner_ms: row.get(11)?,
            near: row.get::<_, Option<u32>>(12)?.unwrap_or(0),
            restart: row.get(13)?,
        })
    }
}

/// Sums of one policy and action, and the errors of its predictions, seconds.
type Sums<View> = BTreeMap<(String, String), (View, Vec<f64>)>;

/// What decisions came to.
pub struct Read {
    /// Those asked for, by policy and action.
    pub copies: Vec<CopiesView>,
    /// Of these, the restarts, by policy and number.
    pub restarts: Vec<RestartsView>,
    /// Those only advised, by policy and action.
    pub advice: Vec<AdviceView>,
}

/// Those asked for, and those only advised.
pub fn read(connection: &Connection, asked: &Asked<'_>) -> rusqlite::Result<Read> {
    let clone = Action::Duplicate.told(true);
    let ask = format!(
        "SELECT d.policy, CASE WHEN d.clones THEN '{clone}' ELSE d.action END, d.mode, o.outcome, o.gained_ms, o.predicted_spread_ms, o.prediction_error_ms,
                o.container_ms, d.avoid, d.prefer, o.hosts, o.winner_container_ms, o.near_preferred, d.restart
         FROM decisions d LEFT JOIN outcomes o USING (incarnation, decision) WHERE {} ORDER BY d.at_ms",
        condition("d")
    );
    let (mut copies, mut advice) = (Sums::<CopiesView>::new(), Sums::<AdviceView>::new());
    let mut restarts = BTreeMap::<(String, Option<u32>), CopiesView>::new();
    for told in connection.prepare(&ask)?.query_map(asked.parameters(), Told::read)? {
        let told = told?;
        let key = (told.policy.clone(), told.action.clone());
        let error = told.error_ms.map(seconds);
        if told.acted {
            if told.action == Action::Restart.label() {
                restarts.entry((told.policy.clone(), told.restart)).or_default().add(&told);
            }
            let (view, errors) = copies.entry(key).or_default();
            view.add(&told);
            errors.extend(error);
        } else {
            let (view, errors) = advice.entry(key).or_default();
            view.add(&told);
            errors.extend(error);
        }
    }
    let copies = copies.into_iter().map(|((policy, action), (view, errors))| CopiesView {
        policy,
        action,
        gained_spread_seconds: view.gained_spread_seconds.map(f64::sqrt),
        prediction: PredictionView::of(&errors),
        ..view
    });
    let advice = advice.into_iter().map(|((policy, action), (view, errors))| {
        let prediction = PredictionView::of(&errors);
        AdviceView { policy, action, prediction, ..view }
    });
    let restarts = restarts.into_iter().map(|((policy, restart), all)| RestartsView::of(policy, restart, &all));
    Ok(Read { copies: copies.collect(), restarts: restarts.collect(), advice: advice.collect() })
}

impl CopiesView {
    /// Until the end the spread is its square.
    fn add(&mut self, told: &Told) {
        self.decided += 1;
        let count = match told.outcome.as_deref() {
            Some(WON) => &mut self.won,
            Some(LOST) => &mut self.lost,
            Some(FAILED) => &mut self.failed,
            Some(REFUSED) => &mut self.refused,
            Some(MOOT) => &mut self.moot,
            Some(_) => &mut self.unknown,
            None => &mut self.open,
        };
        *count += 1;
        let held = seconds(told.container_ms);
        self.container_seconds += held;
        let paid = if told.outcome.as_deref() == Some(WON) { told.winner_ms.map_or(held, seconds) } else { 0.0 };
        self.container_seconds_in_vain += (held - paid).max(0.0);
        self.place(told);
        if let Some(gained) = told.gained_ms {
            let so_far = if self.gained_of == 0 { Some(0.0) } else { self.gained_spread_seconds };
            let spread = told.spread_ms.map(|spread| seconds(spread).powi(2));
            self.gained_spread_seconds = so_far.zip(spread).map(|(so_far, spread)| so_far + spread);
            self.gained_seconds += seconds(gained);
            self.gained_of += 1;
        }
    }
}

impl CopiesView {
    /// Where its copies ran, beside where they were to run.
    fn place(&mut self, told: &Told) {
        let [hosts, avoid, prefer] =
            [&told.hosts, &told.avoid, &told.prefer].map(|names| names.split_whitespace().collect::<Vec<_>>());
        // Racks are not kept, but for how many ran near.
        let Landed { avoided, kept_off, preferred, elsewhere, .. } = Landed::of(hosts, &avoid, &prefer, |_| false);
        self.to_keep_off += u64::from(avoided) + u64::from(kept_off);
        self.kept_off += u64::from(kept_off);
        self.to_prefer += u64::from(preferred) + u64::from(elsewhere);
        self.on_preferred += u64::from(preferred);
        self.near_preferred += u64::from(told.near);
    }
}

impl AdviceView {
    fn add(&mut self, told: &Told) {
        self.said += 1;
        let count = match told.outcome.as_deref() {
            Some(VirtualOutcome::WON) => &mut self.would_have_won,
            Some(VirtualOutcome::LOST) => &mut self.would_have_lost,
            Some(VirtualOutcome::NATIVELY_COPIED) => &mut self.natively_copied,
            _ if told.action == Action::Duplicate.told(true) => &mut self.no_outcome,
            _ => &mut self.open,
        };
        *count += 1;
        self.would_have_gained_seconds += told.gained_ms.map_or(0.0, seconds);
    }
}
