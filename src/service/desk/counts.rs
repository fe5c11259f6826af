//! What a pass and the whole state come to: metrics, and the ends of decisions that are kept.

use super::Desk;
use crate::span::{plausible, plausible_ms};
use drover_core::engine::Pass;
use drover_core::model::{Answer, BreakerTurn, CopyEnd, CopyOutcome, Millis, TaskKind, TaskState, Time, Verdict};
use std::collections::BTreeMap;

/// Counts over the whole state.
#[derive(Debug, Default)]
pub struct Totals {
    /// Tasks known.
    pub tasks: u64,
    /// Attempts that run.
    pub attempts: u64,
    /// Running tasks by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
}

impl Desk {
    pub(super) fn account(&mut self, pass: &Pass) {
        for outcome in &pass.outcomes {
            if let Some(kept) = self.kept(outcome.decision) {
                kept.end = Some(outcome.clone());
            }
            let Some(open) = self.open.remove(&outcome.decision) else { continue };
            let labels = [open.policy.as_str(), open.action.label()];
            self.metrics.ends.with_label_values(&[labels[0], labels[1], outcome.label()]).inc();
            if let Some(gain) = plausible(outcome.gain).filter(|_| !outcome.natively_copied) {
                self.metrics.gained.with_label_values(&labels).inc_by(gain.as_secs_f64());
            }
        }
        for outcome in &pass.copies {
            let (action, end) = (outcome.action.told(outcome.clones), outcome.end.label());
            let labels = [outcome.policy.as_str(), action, end];
            self.metrics.copies.with_label_values(&labels).inc();
            self.spent(outcome, &labels);
            self.metrics.landed(action, outcome.landed);
            if let Some(number) = outcome.restart {
                self.metrics.restarted(number, outcome.end);
            }
            tracing::info!(
                task = %outcome.task, action, end, answer = outcome.answer.map(Answer::label), attempts = ?outcome.attempts, winner = outcome.winner,
                host = outcome.host.as_deref(), held_ms = outcome.cost.0, "what became of what was asked for"
            );
            if let Some(kept) = self.kept(outcome.decision) {
                kept.asked.end = Some(outcome.clone());
            }
            let open = self.open.remove(&outcome.decision);
            let outran = outcome.outran.map(|end| end.at);
            let predicted = open.and_then(|open| open.predicted).or(outran).filter(|_| outcome.end == CopyEnd::Won);
            if let Some(saved) = predicted.and_then(|predicted| plausible_ms(predicted.ms_after(outcome.at))) {
                self.metrics.saved(&outcome.policy, action, saved);
            }
        }
        for measure in &pass.measures {
            let labels = [measure.kind.label(), measure.mode.label(), measure.verdict.label()];
            self.metrics.measures.with_label_values(&labels).inc();
            if let Some(plan) = &measure.plan {
                tracing::info!(job = %measure.job, measure = labels[0], mode = labels[1], ?plan, "{}", measure.kind.words());
            }
        }
        for turn in &pass.breakers {
            let BreakerTurn { policy, user, open, won, copies } = turn;
            self.metrics.breaker.with_label_values(&[policy.as_str()]).add(if *open { 1 } else { -1 });
            match open {
                true => tracing::warn!(
                    policy,
                    user,
                    won,
                    copies,
                    "copies keep losing, so this policy only advises on the user's jobs for a while, and Hadoop's own speculator has them"
                ),
                false => tracing::warn!(policy, user, "this policy may act again: its copies are counted anew"),
            }
        }
        for error in &pass.errors {
            let ratio = error.predicted.mean.0 as f64 / error.actual.0.max(1) as f64;
            let labels = [error.estimator.label(), error.kind.label(), error.point.label()];
            self.metrics.error.with_label_values(&labels).observe(ratio);
        }
    }

    /// Of several clones all but the one that won have been for nothing.
    fn spent(&self, outcome: &CopyOutcome, labels: &[&str; 3]) {
        let of = |end, time: Millis| {
            let time = plausible(time).unwrap_or_default();
            self.metrics.copy_seconds.with_label_values(&[labels[0], labels[1], end]).inc_by(time.as_secs_f64());
        };
        match outcome.end {
            CopyEnd::Won => {
                of(labels[2], outcome.winner_cost);
                of(CopyEnd::Lost.label(), outcome.cost - outcome.winner_cost);
            }
            _ => of(labels[2], outcome.cost),
        }
    }

    /// Counts over the whole state.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let cluster = self.engine.cluster();
        for (_, task) in cluster.jobs().flat_map(|job| TaskKind::ALL.map(|kind| job.tasks(kind))).flatten() {
            totals.tasks += 1;
            totals.attempts += task.live().count() as u64;
            // What waits for its first container has been judged, too, where it may be cloned.
            if let Some(verdict) = task.verdict.filter(|_| task.state == TaskState::Running) {
                *totals.verdicts.entry(verdict).or_default() += 1;
            }
        }
        totals
    }

    /// Sets the gauges that are counted over the whole state.
    pub fn count(&self, now: Time) {
        let totals = self.totals();
        self.metrics.jobs.set(self.engine.cluster().job_count() as i64);
        self.metrics.tasks.set(totals.tasks as i64);
        self.metrics.attempts.set(totals.attempts as i64);
        self.metrics.owned.set(self.engine.owned().len() as i64);
        self.metrics.withheld.set(self.engine.withheld().count() as i64);
        let holds = self.engine.cluster().holds.values().filter(|hold| hold.stands(now));
        self.metrics.holds.set(holds.count() as i64);
        self.metrics.rival.set(self.engine.cluster().rival.is_some().into());
        self.count_budgets();
        let anywhere = self.engine.odds().cluster();
        self.metrics.straggling.set(anywhere.probability().unwrap_or(f64::NAN));
        self.metrics.straggling_tasks.set(anywhere.evidence());
        for (cell, known) in self.engine.calibration().overall().cells() {
            let labels = [cell.estimator.label(), cell.tasks.label(), cell.point.label()];
            self.metrics.coverage.with_label_values(&labels).set(known.coverage().unwrap_or(f64::NAN));
            self.metrics.wrong_orderings.with_label_values(&labels).set(known.wrong_orderings().unwrap_or(f64::NAN));
        }
        for verdict in Verdict::ALL {
            let count = totals.verdicts.get(&verdict).copied().unwrap_or(0);
            self.metrics.verdicts.with_label_values(&[verdict.label()]).set(count as i64);
        }
    }

    fn count_budgets(&self) {
        let (metrics, budgets) = (&self.metrics, self.engine.budgets());
        for (budget, (used, most)) in [("cluster", budgets.cluster), ("minute", budgets.minute)] {
            let most = if most == u32::MAX { f64::INFINITY } else { most.into() };
            metrics.budget_used.with_label_values(&[budget]).set(used.into());
            metrics.budget_limit.with_label_values(&[budget]).set(most);
        }
        let (used, most) = self.engine.clone_budget_mb().unwrap_or_default();
        for (gauge, mb) in [(&metrics.clone_budget_used, used), (&metrics.clone_budget_limit, most)] {
            gauge.set((mb as f64) * f64::from(1 << 20));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{facts, job, seen, watched};
    use crate::telemetry::Metrics;
    use drover_core::engine::EngineParams;
    use drover_core::estimate::Estimator;
    use drover_core::estimate::calibration::Point;
    use drover_core::govern::GovernParams;
    use drover_core::model::{
        Action, Channel, ClusterFact, CopyOutcome, Decision, EndFact, Fact, Hold, JobPhase, Landed, Measure,
        MeasureKind, MeasurePlan, Millis, Mode, PredictedEnd, Resources, Scope, Source, TaskFact, TaskState, Time,
        VirtualOutcome,
    };
    use std::sync::Arc;

    #[test]
    fn how_often_intervals_hold_and_orders_are_wrong_shows_where_anything_was_predicted() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, Arc::clone(&metrics));
        // The second map takes twice as long as the others, and the fourth runs when the job is killed.
        for second in 0..=20 {
            for mut told in facts(job(1), second) {
                if let Fact::Tasks { tasks, .. } = &mut told.fact {
                    let finished = (second == 20).then_some(Time(120_000));
                    let state = Some(finished.map_or(TaskState::Running, |_| TaskState::Succeeded));
                    tasks[1] = TaskFact { state, finished, score: Some(0.05 * second as f32), ..tasks[1].clone() };
                }
                desk.observe(told);
            }
            desk.decide(Time(100_000 + second * 1_000));
        }
        let state = Some(JobPhase::Killed);
        let end = EndFact { job: job(1), state, started: None, finished: None, attempts: vec![] };
        desk.observe(seen(job(1), 1_000, 121_000, Fact::Ended(end)));
        desk.decide(Time(121_000));
        desk.count(Time(121_000));
        assert!(
            metrics.straggling.get().is_nan() && metrics.straggling_tasks.get() == 0.0,
            "a job that is killed shows nothing"
        );
        let of = |kind: &str| {
            let labels = ["late", kind, "quarter"];
            [&metrics.coverage, &metrics.wrong_orderings].map(|gauge| gauge.with_label_values(&labels).get())
        };
        let known = desk.engine.calibration().overall().of(TaskKind::Map, Point::Quarter, Estimator::Late).unwrap();
        assert_eq!(of("map").map(Some), [known.coverage(), known.wrong_orderings()]);
        assert!(of("reduce").iter().all(|share| share.is_nan()), "no reduce was ever seen");
    }

    #[test]
    fn a_hold_that_has_run_out_is_counted_no_more() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, Arc::clone(&metrics));
        let (reason, by) = ("upgrade".to_owned(), "ann".to_owned());
        let hold = Hold { scope: Scope::Cluster, reason, by, since: Time(100_000), until: Some(Time(160_000)) };
        let mut told = seen(job(1), 1, 100_000, Fact::Held(hold));
        told.source = Source { channel: Channel::Own, app: None, principal: None, incarnation: 1 };
        desk.observe(told);
        let counted = [159_999, 160_000].map(|now| {
            desk.count(Time(now));
            metrics.holds.get()
        });
        assert_eq!(counted, [1, 0]);
    }

    #[test]
    fn measures_are_counted_by_kind_and_verdict() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, Arc::clone(&metrics));
        let measure = |verdict, plan| Measure::new(job(1), MeasureKind::Order, verdict, Mode::Advise, plan);
        let order = MeasurePlan::Order { kind: TaskKind::Map, first: vec![1, 0] };
        let measures = vec![measure(Verdict::Decided, Some(order)), measure(Verdict::DataUnknown, None)];
        desk.account(&Pass { measures, ..Pass::default() });
        let of = |kind: &str, verdict: &str| metrics.measures.with_label_values(&[kind, "advise", verdict]).get();
        assert_eq!([of("order", "decided"), of("order", "data_unknown"), of("place", "decided")], [1, 1, 0]);
    }

    /// A copy of a map that ended so.
    fn ended(end: CopyEnd) -> CopyOutcome {
        CopyOutcome {
            decision: 1,
            policy: "late".to_owned(),
            action: Action::Duplicate,
            clones: false,
            telling: true,
            task: job(1).task(TaskKind::Map, 0),
            end,
            answer: None,
            attempts: vec![1],
            winner: None,
            host: None,
            hosts: Vec::new(),
            named: Default::default(),
            landed: Landed::default(),
            restart: None,
            at: Time(40_000),
            cost: Millis(0),
            winner_cost: Millis(0),
            outran: None,
        }
    }

    #[test]
    fn copies_are_counted_by_the_policy_that_decided_clones_apart_with_the_time_that_those_which_won_have_saved() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, Arc::clone(&metrics));
        let like = watched().decisions[0].decision.clone();
        // Each would have ended at a hundred seconds, as predicted; of the last nothing was.
        let endless = u64::MAX / 4;
        for (id, clones, end, at, cost) in [
            (1, false, CopyEnd::Won, 40_000, 5_000),
            (2, false, CopyEnd::Won, 110_000, 5_000),
            (3, false, CopyEnd::Lost, 40_000, 5_000),
            (4, true, CopyEnd::Won, 40_000, 5_000),
            // What no job takes drowns no other job's.
            (5, false, CopyEnd::Won, endless, endless),
            (6, false, CopyEnd::Lost, endless, endless),
        ] {
            let policy = if clones { "dolly" } else { "late" };
            let mut decision = like.clone();
            (decision.id, decision.policy, decision.clones) = (id, policy.to_owned(), clones);
            decision.mode = Mode::Act;
            (decision.am_at, decision.numbers.time_left) = (Time(10_000), (!clones).then_some(Millis(90_000)));
            desk.keep(&decision);
            let outcome = CopyOutcome {
                decision: id,
                policy: policy.to_owned(),
                clones,
                telling: !clones,
                at: Time(at),
                cost: Millis(cost),
                winner_cost: Millis(cost - 2_000),
                // What its original was heading for as it won.
                outran: clones.then_some(PredictedEnd { at: Time(75_000), spread: Millis(10_000) }),
                ..ended(end)
            };
            desk.account(&Pass { copies: vec![outcome], ..Pass::default() });
        }
        let ended = |labels: [&str; 3]| metrics.copies.with_label_values(&labels).get();
        assert_eq!([ended(["late", "duplicate", "won"]), ended(["late", "duplicate", "lost"])], [3, 2]);
        assert_eq!([ended(["dolly", "clone", "won"]), ended(["dolly", "duplicate", "won"])], [1, 0]);
        let spent = |labels: [&str; 3]| metrics.copy_seconds.with_label_values(&labels).get();
        assert_eq!(
            ["won", "lost"].map(|end| spent(["dolly", "clone", end])),
            [3.0, 2.0],
            "two clones, of which one won"
        );
        assert_eq!(["won", "lost"].map(|end| spent(["late", "duplicate", end])), [6.0, 11.0]);
        let gained = |labels: [&str; 3]| metrics.copy_gained.with_label_values(&labels).get();
        assert_eq!(["sooner", "later"].map(|side| gained(["late", "duplicate", side])), [60.0, 10.0]);
        assert_eq!(gained(["dolly", "clone", "sooner"]), 35.0);
        let decided = |action| metrics.decisions.with_label_values(&["dolly", action, "act", "decided"]).get();
        assert_eq!(["clone", "duplicate"].map(decided), [1, 0]);
    }

    #[test]
    fn copies_count_by_where_they_ran_and_restarts_by_how_many_each_made_of_its_task() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, Arc::clone(&metrics));
        let landed = Landed { avoided: 1, kept_off: 2, preferred: 3, near: 4, elsewhere: 5 };
        let copy = CopyOutcome { landed, ..ended(CopyEnd::Lost) };
        let restart = |restart, end| CopyOutcome { action: Action::Restart, restart, ..ended(end) };
        let restarts = [1, 2, 2, 3, 4, 16].map(|number| restart(Some(number), CopyEnd::Won));
        let others = [restart(Some(1), CopyEnd::Died), restart(None, CopyEnd::Won)];
        let copies = [copy].into_iter().chain(restarts).chain(others).collect();
        desk.account(&Pass { copies, ..Pass::default() });
        let of = |counter: &prometheus::IntCounterVec, labels: &[&str]| counter.with_label_values(labels).get();
        let places = ["node", "rack", "elsewhere"].map(|place| of(&metrics.preferring, &["duplicate", place]));
        let off = ["avoided", "elsewhere"].map(|place| of(&metrics.avoiding, &["duplicate", place]));
        assert_eq!((places, off), ([3, 4, 5], [1, 2]));
        let won = ["first", "second", "third", "later"].map(|nth| of(&metrics.restarts, &[nth, "won"]));
        assert_eq!((won, of(&metrics.restarts, &["first", "died"])), ([1, 2, 1, 2], 1));
    }

    #[test]
    fn what_advice_came_to_counts_also_when_newer_decisions_have_taken_its_place() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 1, None, Arc::clone(&metrics));
        let like = watched().decisions[0].decision.clone();
        (1..=3).for_each(|id| desk.keep(&Decision { id, policy: "late".into(), ..like.clone() }));
        let outcomes = (1..=3).map(|decision| VirtualOutcome {
            decision,
            task: like.task,
            ended: Time(40_000),
            would_have_won: 0.9,
            gain: Millis(5_000),
            natively_copied: false,
            winner: None,
        });
        desk.account(&Pass { outcomes: outcomes.collect(), ..Pass::default() });
        let labels = ["late", "duplicate", "would_have_won"];
        assert_eq!((desk.decisions.len(), metrics.ends.with_label_values(&labels).get()), (1, 3));
        assert_eq!(metrics.gained.with_label_values(&labels[..2]).get(), 15.0);
        assert!(desk.open.is_empty());
    }

    #[test]
    fn the_budgets_of_the_whole_cluster_show_what_is_in_use_of_them_and_their_limits() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let of = |govern| {
            let params = EngineParams { govern, ..EngineParams::default() };
            let mut desk = Desk::new(params, 100, None, Arc::clone(&metrics));
            let total = Resources { memory_mb: 400 * 1_024, vcores: 400 };
            let mut told = seen(job(1), 1, 100_000, Fact::Cluster(ClusterFact { total, ..ClusterFact::default() }));
            told.source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
            desk.observe(told);
            desk.count(Time(100_000));
            let limit = |budget| metrics.budget_limit.with_label_values(&[budget]).get();
            ["cluster", "minute"].map(limit)
        };
        assert_eq!(of(GovernParams::default()), [40.0, 400.0]);
        assert_eq!(of(GovernParams { copies_per_minute: Some(0), ..GovernParams::default() }), [40.0, f64::INFINITY]);
        assert_eq!(
            [&metrics.clone_budget_used, &metrics.clone_budget_limit].map(|gauge| gauge.get() > 0.0),
            [false, true]
        );
    }

    #[test]
    fn a_policy_that_is_left_to_advice_shows_until_it_may_act_again() {
        let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
        let mut desk = Desk::new(EngineParams::default(), 100, None, Arc::clone(&metrics));
        let shown = [true, false].map(|open| {
            let turn = BreakerTurn { policy: "late".into(), user: "ada".into(), open, won: 0, copies: 25 };
            desk.account(&Pass { breakers: vec![turn], ..Pass::default() });
            ["late", "mantri"].map(|policy| metrics.breaker.with_label_values(&[policy]).get())
        });
        assert_eq!(shown, [[1, 0], [0, 0]]);
    }
}
