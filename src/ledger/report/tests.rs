use super::{AdviceView, Filter, Report};
use crate::ledger::fixture::{decision, job, kept};
use crate::ledger::schema::{Record, Row};
use crate::ledger::tables::{DecisionRow, EnrolmentRow, OutcomeRow};
use drover_core::model::{Millis, Time};
use rusqlite::types::Value;

const NOW: Time = Time(1_000_000);

fn report(path: &std::path::Path, filter: &Filter) -> Report {
    Report::of(path, filter, NOW).unwrap()
}

fn outcome(id: u64, outcome: &str) -> OutcomeRow {
    OutcomeRow {
        at_ms: Time(id),
        incarnation: "p".into(),
        decision: id,
        outcome: outcome.into(),
        end: outcome.into(),
        answer: None,
        attempts: String::new(),
        winner: None,
        host: None,
        hosts: String::new(),
        near_preferred: None,
        ended_ms: Time(1),
        predicted_end_ms: None,
        predicted_spread_ms: None,
        gained_ms: None,
        prediction_error_ms: None,
        container_ms: Millis(2_000),
        winner_container_ms: None,
        would_have_won: None,
    }
}

#[test]
fn copies_are_counted_by_what_became_of_them_with_what_they_gained_and_held() {
    let mut rows: Vec<Row> = (1..=8).map(|id| decision(id, "act").row()).collect();
    let ends = ["won", "won", "lost", "failed", "refused", "moot", "unknown"];
    rows.extend((1..).zip(ends).map(|(id, end)| {
        let (gained, spread) = if id <= 2 {
            (Some([9_000, -1_000][id as usize - 1]), Some(Millis([3_000, 4_000][id as usize - 1])))
        } else {
            (None, None)
        };
        let prediction_error_ms = (end == "lost").then_some(-5_000);
        OutcomeRow { gained_ms: gained, predicted_spread_ms: spread, prediction_error_ms, ..outcome(id, end) }.row()
    }));
    let (_dir, path) = kept(&rows);
    let told = report(&path, &Filter::default());
    let [copies] = &told.copies[..] else { panic!("{:?}", told.copies) };
    let counts = [
        copies.decided,
        copies.open,
        copies.won,
        copies.lost,
        copies.failed,
        copies.refused,
        copies.moot,
        copies.unknown,
    ];
    assert_eq!(counts, [8, 1, 2, 1, 1, 1, 1, 1]);
    assert_eq!((copies.gained_seconds, copies.gained_of, copies.gained_spread_seconds), (8.0, 2, Some(5.0)));
    assert_eq!((copies.container_seconds, copies.container_seconds_in_vain), (14.0, 10.0));
    assert_eq!(
        (copies.prediction.count, copies.prediction.mean_seconds, copies.prediction.median_error_seconds),
        (1, Some(-5.0), Some(5.0))
    );
    assert_eq!(told.advice, []);
}

#[test]
fn copies_beside_one_that_won_have_held_containers_in_vain() {
    let won = |id, winner: Option<u64>| OutcomeRow { winner_container_ms: winner.map(Millis), ..outcome(id, "won") };
    let ends = [won(1, Some(500)), won(2, None), outcome(3, "lost")];
    let rows = (1..).zip(ends).flat_map(|(id, end)| [decision(id, "act").row(), end.row()]);
    let (_dir, path) = kept(&rows.collect::<Vec<_>>());
    let told = report(&path, &Filter::default());
    let copies = &told.copies[0];
    assert_eq!((copies.container_seconds, copies.container_seconds_in_vain), (6.0, 3.5), "of the second nobody knows");
}

#[test]
fn one_gain_without_a_spread_leaves_their_sum_without_one() {
    let won = |id, spread: Option<u64>| {
        let predicted_spread_ms = spread.map(Millis);
        [
            decision(id, "act").row(),
            OutcomeRow { gained_ms: Some(1_000), predicted_spread_ms, ..outcome(id, "won") }.row(),
        ]
    };
    for spreads in [[None, Some(2_000)], [Some(2_000), None]] {
        let (_dir, path) = kept(&(1..).zip(spreads).flat_map(|(id, spread)| won(id, spread)).collect::<Vec<_>>());
        let told = report(&path, &Filter::default());
        assert_eq!((told.copies[0].gained_of, told.copies[0].gained_spread_seconds), (2, None), "{spreads:?}");
    }
}

#[test]
fn clones_are_told_apart_and_copies_by_where_they_ran_beside_where_they_were_to() {
    let slow = DecisionRow { avoid: "nm2 nm4".into(), prefer: "nm1".into(), ..decision(1, "act") };
    let ran = OutcomeRow { hosts: "nm1 nm4 nm3".into(), near_preferred: Some(1), ..outcome(1, "won") };
    let unseen = OutcomeRow { hosts: String::new(), ..outcome(2, "refused") };
    let clone = DecisionRow { clones: true, ..decision(3, "act") };
    let cloned = OutcomeRow { hosts: "nm1".into(), ..outcome(3, "lost") };
    let second = DecisionRow { decision: 2, ..slow.clone() };
    let (_dir, path) = kept(&[slow.row(), ran.row(), second.row(), unseen.row(), clone.row(), cloned.row()]);
    let told = report(&path, &Filter::default());
    let [clones, copies] = &told.copies[..] else { panic!("{:?}", told.copies) };
    assert_eq!((clones.action.as_str(), clones.lost, clones.to_keep_off, clones.to_prefer), ("clone", 1, 0, 0));
    assert_eq!((copies.action.as_str(), copies.decided, copies.won, copies.refused), ("duplicate", 2, 1, 1));
    assert_eq!((copies.kept_off, copies.to_keep_off, copies.on_preferred, copies.to_prefer), (2, 3, 1, 3));
    assert_eq!((copies.near_preferred, clones.near_preferred), (1, 0));
}

#[test]
fn restarts_are_told_by_how_many_each_made_of_its_task_and_those_kept_before_without() {
    let restart = |id, restart| DecisionRow { action: "restart".into(), restart, ..decision(id, "act") }.row();
    let mut rows: Vec<Row> = (1..).zip([Some(1), Some(1), Some(2), None]).map(|(id, n)| restart(id, n)).collect();
    rows.extend([decision(5, "act").row(), DecisionRow { action: "restart".into(), ..decision(6, "advise") }.row()]);
    let ends = ["failed", "won", "won", "refused", "won"];
    rows.extend((1..).zip(ends).map(|(id, end)| outcome(id, end).row()));
    let (_dir, path) = kept(&rows);
    let told = report(&path, &Filter::default()).restarts;
    let told: Vec<_> = told.iter().map(|one| (one.restart, one.decided, one.won, one.failed, one.refused)).collect();
    assert_eq!(told, [(None, 1, 0, 0, 1), (Some(1), 2, 1, 1, 0), (Some(2), 1, 1, 0, 0)]);
}

#[test]
fn advice_is_told_apart_from_what_was_done() {
    let rows =
        [decision(1, "advise").row(), OutcomeRow { gained_ms: Some(4_000), ..outcome(1, "would_have_won") }.row()];
    let (_dir, path) = kept(&rows);
    let told = report(&path, &Filter::default());
    assert_eq!(
        (told.copies.len(), told.advice[0].would_have_won, told.advice[0].would_have_gained_seconds),
        (0, 1, 4.0)
    );
}

#[test]
fn advice_of_clones_has_no_outcome_and_is_not_open_while_that_of_a_slow_task_without_one_is() {
    let clone = |id| DecisionRow { clones: true, ..decision(id, "advise") }.row();
    let copy = |id| decision(id, "advise").row();
    let (_dir, path) = kept(&[clone(1), clone(2), copy(3), copy(4), outcome(4, "would_have_lost").row()]);
    let told = report(&path, &Filter::default());
    let counts = |of: &AdviceView| (of.action.clone(), [of.said, of.open, of.no_outcome, of.would_have_lost]);
    let counts: Vec<_> = told.advice.iter().map(counts).collect();
    assert_eq!(counts, [("clone".to_owned(), [2, 0, 2, 0]), ("duplicate".to_owned(), [2, 1, 0, 1])]);
}

#[test]
fn a_report_of_a_service_that_tells_nothing_of_advice_without_outcome_is_read_all_the_same() {
    let mut told = serde_json::to_value(AdviceView { said: 3, open: 3, ..AdviceView::default() }).unwrap();
    told.as_object_mut().unwrap().remove("no_outcome").unwrap();
    let read: AdviceView = serde_json::from_value(told).unwrap();
    assert_eq!((read.said, read.open, read.no_outcome), (3, 3, 0));
}

#[test]
fn a_filter_takes_only_what_it_names() {
    let of = |id, queue: &str, user: &str, policy: &str| {
        DecisionRow { queue: queue.into(), user: user.into(), policy: policy.into(), ..decision(id, "act") }.row()
    };
    let rows = [
        of(1, "root.etl", "ann", "late"),
        of(2, "root.setl", "bob", "late"),
        of(3, "root.etl.night", "ann", "dolly"),
        of(4, "night", "eve", "late"),
    ];
    let (_dir, path) = kept(&rows);
    let some = |text: &str| Some(text.to_owned());
    let count = |filter| report(&path, &filter).copies.iter().map(|one| one.decided).sum::<u64>();
    assert_eq!(count(Filter::default()), 4);
    assert_eq!(count(Filter { since: Time(2), ..Filter::default() }), 3);
    assert_eq!(count(Filter { queue: some("etl"), ..Filter::default() }), 1, "by the last part of its path");
    assert_eq!(count(Filter { queue: some("root.etl"), ..Filter::default() }), 1);
    assert_eq!(count(Filter { queue: some("root.etl.night"), ..Filter::default() }), 2, "told by its last part alone");
    assert_eq!(count(Filter { queue: some("root.day"), ..Filter::default() }), 0);
    assert_eq!(count(Filter { user: some("ann"), ..Filter::default() }), 2);
    assert_eq!(count(Filter { policy: some("dolly"), user: some("ann"), ..Filter::default() }), 1);
}

#[test]
fn what_is_dated_more_than_a_day_ahead_is_in_no_report() {
    let day = Millis(86_400_000);
    let rows = [NOW, NOW + day, NOW + day + Millis(1)].into_iter().zip(1..).flat_map(|(at, n)| {
        let mut rows = job(n, false, Some(9), "succeeded");
        rows.push(decision(n.into(), "act").row());
        rows.iter_mut().for_each(|row| row.values[0] = Value::Integer(at.0 as i64));
        rows
    });
    let (_dir, path) = kept(&rows.collect::<Vec<_>>());
    let told = report(&path, &Filter { since: NOW, ..Filter::default() });
    assert_eq!((told.copies[0].decided, told.jobs.ended, told.holdout.acted.jobs), (2, 2, 2));
}

#[test]
fn a_report_tells_since_when_rows_are_kept_whatever_it_was_asked_for() {
    let rows: Vec<Row> = (500..503).flat_map(|n| job(n, false, Some(9), "succeeded")).collect();
    let (_dir, path) = kept(&rows);
    for since in [0, 400, 502] {
        let told = report(&path, &Filter { since: Time(since), user: Some("bob".into()), ..Filter::default() });
        assert_eq!((told.since_ms, told.kept_since_ms), (since, Some(500)));
    }
    let (_dir, path) = kept(&[]);
    assert_eq!(report(&path, &Filter::default()).kept_since_ms, None);
}

#[test]
fn jobs_are_compared_on_the_side_they_were_drawn_to_whether_acted_on_or_not() {
    let jobs = |n: u32| {
        let held_out = n.is_multiple_of(3);
        let seconds = if held_out { 100 + u64::from(n) } else { 50 + u64::from(n) / 2 };
        job(n, held_out, Some(seconds), "succeeded")
    };
    let mut rows: Vec<Row> = (1..=60).flat_map(jobs).collect();
    rows.extend(job(61, true, Some(1), "failed").into_iter().chain(job(62, false, None, "")));
    let (_dir, path) = kept(&rows);
    let told = report(&path, &Filter::default());
    let shown = told.holdout;
    assert_eq!((shown.acted.jobs, shown.acted.open, shown.acted.failed, shown.acted.compared), (41, 1, 0, 40));
    assert_eq!((shown.held_out.jobs, shown.held_out.failed, shown.held_out.compared, shown.strata), (21, 1, 20, 1));
    assert_eq!(shown.acted.acted_on, 20, "the others count all the same");
    let change = shown.change.unwrap();
    assert_eq!(shown.verdict, "sooner");
    assert!(
        (-55.0..-45.0).contains(&change.percent) && change.low_percent < change.percent && change.high_percent < 0.0,
        "{change:?}"
    );
    assert_eq!(
        (told.jobs.ended, told.jobs.succeeded, told.jobs.acted_on, told.jobs.gained_seconds),
        (61, 60, 20, 244.0)
    );
}

/// Those jobs as enrolled under another policy.
fn under(policy: &str, mut rows: Vec<Row>) -> Vec<Row> {
    let at = EnrolmentRow::TABLE.columns.iter().position(|one| one.name == "policy").unwrap();
    rows.iter_mut().filter(|row| row.table == EnrolmentRow::TABLE).for_each(|row| {
        row.values[at] = Value::Text(policy.to_owned());
    });
    rows
}

#[test]
fn jobs_of_several_policies_have_a_verdict_for_each_and_none_together() {
    // Under one all jobs take a quarter less, under the other a third more.
    let run = |n: u32, policy: &str, acted: u64| {
        let held_out = n.is_multiple_of(3);
        under(policy, job(n, held_out, Some((if held_out { 1_200 } else { acted }) + u64::from(n % 7)), "succeeded"))
    };
    let jobs = (1..=60).flat_map(|n| run(n, "late", 900)).chain((61..=120).flat_map(|n| run(n, "drover", 1_600)));
    let none_drawn = (121..=130).flat_map(|n| drawn_at(Some(0.0), run(n, "dolly", 900)));
    let (_dir, path) = kept(&jobs.chain(none_drawn).collect::<Vec<_>>());
    let told = report(&path, &Filter::default());
    assert_eq!((told.holdout.verdict.as_str(), &told.holdout.change), ("by_policy", &None));
    assert_eq!((told.holdout.acted.jobs, told.holdout.held_out.compared, told.holdout.not_drawn), (80, 40, 10));
    let each = told.holdout_by_policy.iter();
    let each: Vec<_> = each.map(|one| (one.policy.as_str(), one.holdout.verdict.as_str())).collect();
    assert_eq!(each, [("drover", "later"), ("late", "sooner")]);
    for one in &told.holdout_by_policy {
        let alone = report(&path, &Filter { policy: Some(one.policy.clone()), ..Filter::default() });
        assert_eq!((&alone.holdout, &alone.holdout_by_policy[..]), (&one.holdout, &[][..]), "{}", one.policy);
    }
}

/// Those jobs as drawn at another share; `None`: nobody kept it.
fn drawn_at(share: Option<f64>, rows: Vec<Row>) -> Vec<Row> {
    let (mut rows, at) =
        (rows, |name: &str| EnrolmentRow::TABLE.columns.iter().position(|one| one.name == name).unwrap());
    for row in rows.iter_mut().filter(|row| row.table == EnrolmentRow::TABLE) {
        row.values[at("share")] = share.map_or(Value::Null, Value::Real);
        row.values[at("salt")] = share.map_or(Value::Null, |_| Value::Text("1".into()));
    }
    rows
}

#[test]
fn a_share_changed_in_the_middle_sets_no_job_against_those_of_another_time() {
    // Nothing is held out for a month of slow days, and a third then, when all jobs are twice as fast; a half at last, when they are slow again.
    let run = |n: u32, held_out, seconds: u32| job(n, held_out, Some((seconds + n % 7).into()), "succeeded");
    let month = (1..=100).flat_map(|n| drawn_at(Some(0.0), run(n, false, 200)));
    let third = (101..=160).flat_map(|n| drawn_at(Some(1.0 / 3.0), run(n, n.is_multiple_of(3), 100)));
    let half = (161..=220).flat_map(|n| drawn_at(Some(0.5), run(n, n.is_multiple_of(2), 200)));
    let (_dir, path) = kept(&month.chain(third).chain(half).collect::<Vec<_>>());
    let shown = report(&path, &Filter::default()).holdout;
    assert_eq!((shown.verdict.as_str(), shown.strata), ("no_difference_shown", 2));
    assert_eq!((shown.not_drawn, shown.share_unknown, shown.acted.jobs, shown.held_out.jobs), (100, 0, 70, 50));
    let change = shown.change.unwrap();
    assert!(change.percent.abs() < 1.0, "{change:?}");
}

#[test]
fn jobs_whose_side_was_not_drawn_are_left_out_and_counted_by_why() {
    let of = |n: u32, share| drawn_at(share, job(n, n.is_multiple_of(2), Some(50 + u64::from(n)), "succeeded"));
    let share = |n: u32| [None, Some(0.0), Some(1.0)][n as usize % 3];
    let (_dir, path) = kept(&(1..=90).flat_map(|n| of(n, share(n))).collect::<Vec<_>>());
    let shown = report(&path, &Filter::default()).holdout;
    assert_eq!((shown.verdict.as_str(), shown.change), ("not_enough_data", None));
    assert_eq!((shown.not_drawn, shown.share_unknown, shown.acted.jobs, shown.held_out.jobs), (60, 30, 0, 0));
}

#[test]
fn the_largest_numbers_that_a_row_can_hold_fail_no_report() {
    let rows = (1..=40).flat_map(|n| job(n, n % 2 == 0, Some(u64::MAX / 1_000), "succeeded"));
    let mut rows: Vec<Row> = rows.collect();
    for row in &mut rows {
        for (value, column) in row.values.iter_mut().zip(row.table.columns) {
            *value = match column.name {
                "maps" | "reduces" | "decided" | "won" => Value::Integer(u32::MAX.into()),
                name if name.ends_with("_ms") && name != "at_ms" => Value::Integer(i64::MAX),
                _ => continue,
            };
        }
    }
    let (most, longest) = (Some(i64::MAX), Some(Millis(u64::MAX)));
    for id in 1..=2 {
        let (gained_ms, prediction_error_ms, predicted_spread_ms) = (most, most, longest);
        let container_ms = Millis(u64::MAX);
        let large =
            OutcomeRow { gained_ms, prediction_error_ms, predicted_spread_ms, container_ms, ..outcome(id, "won") };
        rows.extend([decision(id, "act").row(), large.row()]);
    }
    let (_dir, path) = kept(&rows);
    let told = report(&path, &Filter::default());
    assert_eq!((told.jobs.ended, told.copies[0].won, told.holdout.strata), (40, 2, 1));
    let seconds = i64::MAX as f64 / 1_000.0;
    assert_eq!((told.jobs.job_seconds, told.copies[0].container_seconds), (40.0 * seconds, 2.0 * seconds));
    assert_eq!(told.holdout.verdict, "no_difference_shown");
}

#[test]
fn few_jobs_on_either_side_are_not_enough_data_whatever_they_show() {
    let few = |held: u32| {
        (1..=40).flat_map(move |n| {
            job(n, n <= held, Some(if n <= held { 100 } else { 10 } + u64::from(n % 3)), "succeeded")
        })
    };
    for (held, verdict) in [(0, "not_enough_data"), (9, "not_enough_data"), (10, "sooner")] {
        let (_dir, path) = kept(&few(held).collect::<Vec<_>>());
        let shown = report(&path, &Filter::default()).holdout;
        assert_eq!((shown.verdict.as_str(), shown.change.is_some()), (verdict, held == 10), "{held} held out");
    }
    let (_dir, path) = kept(&[]);
    assert_eq!(report(&path, &Filter::default()).holdout.verdict, "not_enough_data");
}
