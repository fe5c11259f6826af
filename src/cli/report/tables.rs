//! The report's tables and sentences: the same on a terminal and on a page.

use crate::cli::output;
use crate::ledger::report::{AdviceView, CopiesView, HoldOutView, JobsView, PredictionView, Report, RestartsView};
use crate::simulation::tables::Table;
use crate::words;

/// What to make of the numbers.
pub const NOTES: [&str; 5] = [
    "A gain is a prediction less what happened: it is as sure as the prediction, whose spread and whose error, where originals finished first, stand beside it.",
    "A job's gain is at most what is told: the last end of each phase as predicted without the copies that won, less its actual last end, both phases added. Wins of clones count by \
     the end that the original was heading for then, and as none where it had reported nothing.",
    "Jobs held out and the others share the cluster's slots: copies take containers that jobs of both sides wait for, and what they free helps both, so that the \
     difference between the sides is not the whole effect on the cluster.",
    "Held out jobs keep Hadoop's own speculator: the change is against it, not against no speculation.",
    "Advice of clones has no outcome: whether one that never ran would have won nobody can tell, so none counts as open.",
];

/// What became of what was asked for, as copies and restarts are told.
const FATES: [&str; 8] = ["decided", "won", "lost", "failed", "refused", "moot", "unknown", "open"];

fn table(title: &str, heading: &[&str], rows: Vec<Vec<String>>) -> Option<Table> {
    let heading = heading.iter().map(|&cell| cell.to_owned()).collect();
    (!rows.is_empty()).then(|| Table { title: title.to_owned(), heading, rows })
}

fn off(prediction: &PredictionView) -> String {
    match (prediction.median_error_seconds, prediction.mean_seconds) {
        (Some(error), Some(mean)) => format!("{error:.1} s ({mean:+.1} s) of {}", prediction.count),
        _ => "-".into(),
    }
}

/// A share; nothing of none.
fn placed(there: u64, of: u64) -> String {
    if of == 0 { "-".into() } else { format!("{:.0} % of {of}", 100.0 * there as f64 / of as f64) }
}

fn copies(of: &CopiesView) -> Vec<String> {
    let counts = [of.decided, of.won, of.lost, of.failed, of.refused, of.moot, of.unknown, of.open];
    let gained = match of.gained_of {
        0 => "-".into(),
        wins => {
            let spread = of.gained_spread_seconds.map_or_else(|| "?".into(), |spread| format!("{spread:.0}"));
            format!("{:.0} ± {spread} s of {wins}", of.gained_seconds)
        }
    };
    let cost = [of.container_seconds, of.container_seconds_in_vain].map(|seconds| format!("{seconds:.0}"));
    let names = [of.policy.clone(), of.action.clone()];
    names
        .into_iter()
        .chain(counts.map(|count| count.to_string()))
        .chain([gained, off(&of.prediction)])
        .chain(cost)
        .chain([
            placed(of.kept_off, of.to_keep_off),
            placed(of.on_preferred, of.to_prefer),
            placed(of.near_preferred, of.to_prefer),
        ])
        .collect()
}

fn restarts(of: &RestartsView) -> Vec<String> {
    let number = of.restart.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let counts = [of.decided, of.won, of.lost, of.failed, of.refused, of.moot, of.unknown, of.open];
    let names = [of.policy.clone(), number];
    let share = placed(of.won, of.won + of.lost + of.failed);
    names.into_iter().chain(counts.map(|count| count.to_string())).chain([share]).collect()
}

fn advice(of: &AdviceView) -> Vec<String> {
    // Noughts would say that none of them would have won.
    let nothing = of.said > 0 && of.no_outcome == of.said;
    let told = |text: String| if nothing { "-".to_owned() } else { text };
    let ends = [of.would_have_won, of.would_have_lost, of.natively_copied, of.open];
    let said = [of.policy.clone(), of.action.clone(), of.said.to_string()];
    let gained = told(format!("{:.0} s", of.would_have_gained_seconds));
    let all = said.into_iter().chain(ends.map(|count| told(count.to_string())));
    all.chain([of.no_outcome.to_string(), gained, off(&of.prediction)]).collect()
}

fn jobs(of: &JobsView) -> Vec<String> {
    let counts = [of.ended, of.succeeded, of.acted_on, of.with_wins].map(|count| count.to_string());
    let times = [of.job_seconds, of.gained_seconds].map(|seconds| format!("{seconds:.0} s"));
    counts.into_iter().chain(times).collect()
}

fn restarted(report: &Report) -> Option<Table> {
    let heading = [&["policy", "restart"][..], &FATES, &["won, of what ran"]].concat();
    table("Restarts, by how many each made of its task:", &heading, report.restarts.iter().map(restarts).collect())
}

fn asked_for(report: &Report) -> Option<Table> {
    let rest = ["gained", "off by (mean)", "container-s", "in vain", "off bad hosts", "on preferred", "on its rack"];
    let heading = [&["policy", "action"][..], &FATES, &rest].concat();
    table("Copies and restarts that were asked for:", &heading, report.copies.iter().map(copies).collect())
}

/// All of them; those without rows are left out.
pub fn tables(report: &Report) -> Vec<Table> {
    let sides = holdouts(report).into_iter().flat_map(|(under, of)| {
        [("could be acted on", &of.acted), ("held out", &of.held_out)]
            .map(|(name, side)| (format!("{name}{under}"), side))
    });
    let sides = sides.filter(|(_, side)| side.jobs > 0).map(|(name, side)| {
        let counts = [side.jobs, side.open, side.failed, side.compared, side.acted_on].map(|count| count.to_string());
        std::iter::once(name).chain(counts).collect()
    });
    let all = [
        asked_for(report),
        restarted(report),
        table(
            "Copies and restarts that were only advised:",
            &[
                "policy",
                "action",
                "said",
                "would have won",
                "would have lost",
                "natively copied",
                "open",
                "no outcome",
                "would have gained",
                "off by (mean)",
            ],
            report.advice.iter().map(advice).collect(),
        ),
        table(
            "Jobs that have ended:",
            &["ended", "succeeded", "acted on", "a copy won", "job time", "gained, at most"],
            (report.jobs.ended > 0).then(|| jobs(&report.jobs)).into_iter().collect(),
        ),
        table("Sides of the hold-out:", &["side", "jobs", "open", "failed", "compared", "acted on"], sides.collect()),
    ];
    all.into_iter().flatten().collect()
}

/// What changed in that time, where anything did.
pub fn changes(report: &Report) -> Option<Table> {
    let value = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
    let rows = report.changes.iter().flat_map(|change| {
        let build = (change.version_before != change.version).then_some((
            "version",
            change.version_before.as_str(),
            change.version.as_str(),
        ));
        let settings = change.settings.iter().map(|one| (one.key.as_str(), one.before.as_str(), one.after.as_str()));
        let after = after(change.at_ms);
        build
            .into_iter()
            .chain(settings)
            .map(move |(what, before, now)| vec![after.clone(), what.to_owned(), value(before), value(now)])
    });
    let older = match report.changes_left_off {
        0 => String::new(),
        older => format!(" ({} before these)", words::count(older, "change", "changes")),
    };
    let title = format!(
        "Drover or its settings changed in that time, and all numbers are of before and after together{older}; --since TIME leaves out what was before it:"
    );
    table(&title, &["since", "what", "before", "after"], rows.collect())
}

/// The first whole second that is not before it, as `--since` takes it.
fn after(ms: u64) -> String {
    let stamp = i64::try_from(ms.div_ceil(1_000)).ok().and_then(|second| jiff::Timestamp::from_second(second).ok());
    stamp.map_or_else(|| "?".into(), |stamp| stamp.to_string())
}

/// What jobs held out show, of each policy where there are several, and under which.
fn holdouts(report: &Report) -> Vec<(String, &HoldOutView)> {
    match &report.holdout_by_policy[..] {
        [] => vec![(String::new(), &report.holdout)],
        several => several.iter().map(|one| (format!(" under {}", one.policy), &one.holdout)).collect(),
    }
}

/// What jobs held out show, in words.
pub fn holdout(report: &Report) -> String {
    let each: Vec<_> = holdouts(report).iter().map(|(under, of)| shown(under, of)).collect();
    let left_out = left_out(&report.holdout);
    let apart = if each.len() > 1 { "\n" } else { " " };
    format!("{}{apart}{left_out}", each.join("\n")).trim_end().to_owned()
}

fn shown(under: &str, of: &HoldOutView) -> String {
    let (acted, held, needed) = (of.acted.compared, of.held_out.compared, of.needed);
    let Some(change) = &of.change else {
        let why =
            if acted.min(held) < needed { "" } else { ", and no group with two of each tells how far they scatter" };
        return format!(
            "Hold-out{under}: not enough data yet: of {needed} jobs with a counterpart of their name, size and draw that each side is to have, there are {acted} that could be acted on and {held} held out{why} \
             (govern.holdout says which share of jobs is).{}",
            unlike(of)
        );
    };
    let verdict = match of.verdict.as_str() {
        "sooner" => "Jobs that could be acted on ended sooner",
        "later" => "Jobs that could be acted on ended later",
        _ => "No difference is shown",
    };
    format!(
        "Hold-out{under}: {verdict}: job time changed by {:+.1} % (95 %: {:+.1} % to {:+.1} %), {} that could be acted on against {held} held out, in {} of one name, size and draw.{}{}",
        change.percent,
        change.low_percent,
        change.high_percent,
        words::count(acted, "job", "jobs"),
        words::count(of.strata, "group", "groups"),
        missing(of),
        unlike(of)
    )
}

/// That a change is told too small, where it is.
fn missing(of: &HoldOutView) -> String {
    let [acted, held] = [&of.acted, &of.held_out].map(|side| side.open);
    if !of.long_ones_missing {
        return String::new();
    }
    format!(
        " {} jobs still run, or their end was not seen ({acted} that could be acted on, {held} held out): the long ones are missing, fewer of them on a side that is sooner, so that the change is told too \
         small. Ask again when they have ended, or of a longer time.",
        acted + held
    )
}

/// That those compared were chosen by what was done to them, where they were.
fn unlike(of: &HoldOutView) -> String {
    if !of.failures_differ {
        return String::new();
    }
    let [acted, held] = [&of.acted, &of.held_out].map(|side| format!("{} of {}", side.failed, side.jobs - side.open));
    format!(
        " More jobs failed on one side than chance explains ({acted} that could be acted on, {held} held out), and failed jobs are not compared: trust no change before you know why."
    )
}

/// Jobs that say nothing, and why.
fn left_out(of: &HoldOutView) -> String {
    let why = [
        (of.not_drawn, "enrolled while all or none were held out, so that their side was not drawn"),
        (of.share_unknown, "enrolled by an earlier Drover, which did not keep the share that was held out"),
    ];
    let all = why.into_iter().filter(|(jobs, _)| *jobs > 0);
    all.map(|(jobs, why)| format!("Left out: {} {why}.", words::count(jobs, "job", "jobs")))
        .collect::<Vec<_>>()
        .join(" ")
}

/// What it is of.
pub fn heading(report: &Report) -> String {
    let day = |ms: u64| {
        let stamp = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        stamp.map_or_else(|| "?".into(), |stamp| stamp.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let kept = report.kept_since_ms.filter(|kept| *kept > report.since_ms).map(day);
    let since = match (report.since_ms, kept) {
        (0, kept) => format!("all that is kept{}", kept.map_or_else(String::new, |kept| format!(", since {kept}"))),
        (since, None) => format!("since {}", day(since)),
        (since, Some(kept)) => format!("since {} (rows reach back to {kept}, less than was asked for)", day(since)),
    };
    let only = [("queue", &report.queue), ("user", &report.user), ("policy", &report.policy)];
    let only = only.into_iter().filter_map(|(name, value)| Some(format!(", {name} {}", value.as_ref()?)));
    format!("{since}, until {}{}", day(report.until_ms), only.collect::<String>())
}

/// All of it for a terminal.
pub fn text(report: &Report) -> String {
    let mut parts = vec![heading(report)];
    let tables = tables(report);
    if tables.is_empty() {
        parts.push("Nothing is kept of that: no decision was taken, and no job has ended.".into());
    }
    for table in changes(report).into_iter().chain(tables) {
        let mut shown = output::table(&table.heading.iter().map(String::as_str).collect::<Vec<_>>());
        shown.add_rows(table.rows);
        parts.push(format!("{}\n{shown}", table.title));
    }
    parts.push(holdout(report));
    parts.push(NOTES.map(|note| format!("- {note}")).join("\n"));
    parts.join("\n\n")
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::ledger::report::{ChangeOfSettingsView, ChangeView, PolicyView, SettingView, SideView};

    /// One copy that won, and little else.
    pub fn report() -> Report {
        let copies = CopiesView {
            policy: "drover".into(),
            action: "duplicate".into(),
            decided: 3,
            won: 2,
            open: 1,
            gained_seconds: 61.4,
            gained_of: 2,
            gained_spread_seconds: Some(7.6),
            container_seconds: 40.0,
            to_keep_off: 4,
            kept_off: 3,
            to_prefer: 5,
            on_preferred: 2,
            near_preferred: 1,
            ..CopiesView::default()
        };
        Report {
            since_ms: 0,
            until_ms: 86_400_000,
            kept_since_ms: None,
            queue: None,
            user: None,
            policy: None,
            changes: Vec::new(),
            changes_left_off: 0,
            copies: vec![copies],
            restarts: Vec::new(),
            advice: Vec::new(),
            jobs: JobsView::default(),
            holdout: HoldOutView { needed: 10, ..HoldOutView::default() },
            holdout_by_policy: Vec::new(),
        }
    }

    fn told(holdout: HoldOutView) -> String {
        super::holdout(&Report { holdout, ..report() })
    }

    #[test]
    fn a_ledger_that_does_not_reach_back_as_far_as_was_asked_for_is_told_as_such() {
        let of = |since_ms, kept_since_ms| heading(&Report { since_ms, kept_since_ms, ..report() });
        let (day, until) = (86_400_000, ", until 1970-01-02 00:00 UTC");
        assert_eq!(of(0, None), format!("all that is kept{until}"));
        assert_eq!(of(0, Some(day)), format!("all that is kept, since 1970-01-02 00:00 UTC{until}"));
        let asked = "since 1970-01-03 00:00 UTC";
        for kept in [None, Some(day), Some(2 * day)] {
            assert_eq!(of(2 * day, kept), format!("{asked}{until}"), "{kept:?}");
        }
        let less = "rows reach back to 1970-01-04 00:00 UTC, less than was asked for";
        assert_eq!(of(2 * day, Some(3 * day)), format!("{asked} ({less}){until}"));
    }

    #[test]
    fn a_change_in_the_time_is_told_with_a_time_that_leaves_out_what_was_before_it() {
        let one = SettingView { key: "modes.queue.etl".into(), before: String::new(), after: "off".into() };
        let (before, version) = ("0.1.0".to_owned(), "0.2.0".to_owned());
        let change = ChangeOfSettingsView { at_ms: 86_399_001, version_before: before, version, settings: vec![one] };
        let report = Report { changes: vec![change], changes_left_off: 1, ..report() };
        let since = "1970-01-02T00:00:00Z";
        let row = |cells: [&str; 3]| std::iter::once(since).chain(cells).map(str::to_owned).collect::<Vec<_>>();
        let told = super::changes(&report).unwrap();
        assert_eq!(told.rows, [row(["version", "0.1.0", "0.2.0"]), row(["modes.queue.etl", "–", "off"])]);
        let text = text(&report);
        assert!(text.contains("(1 change before these)") && text.contains(since), "{text}");
        assert!(!super::text(&Report { changes: Vec::new(), ..report }).contains("--since TIME"));
    }

    #[test]
    fn of_several_policies_each_is_told_by_itself() {
        let of = |policy: &str, jobs| PolicyView {
            policy: policy.into(),
            holdout: HoldOutView {
                acted: SideView { jobs, ..SideView::default() },
                needed: 10,
                ..HoldOutView::default()
            },
        };
        let holdout = HoldOutView { verdict: "by_policy".into(), not_drawn: 3, ..HoldOutView::default() };
        let report = Report { holdout, holdout_by_policy: vec![of("drover", 7), of("late", 9)], ..report() };
        let text = text(&report);
        assert!(text.contains("Hold-out under drover: not") && text.contains("Hold-out under late: not"), "{text}");
        assert!(text.contains("could be acted on under late") && !text.contains("Hold-out:"), "{text}");
        assert_eq!(text.matches("\nLeft out: 3 jobs").count(), 1, "it is of no policy: {text}");
    }

    #[test]
    fn gains_are_told_with_their_spread_and_too_few_jobs_as_such() {
        let text = text(&report());
        assert!(["75 % of 4", "40 % of 5", "20 % of 5"].iter().all(|share| text.contains(share)), "{text}");
        assert!(!text.contains("Restarts, by"), "{text}");
        assert!(text.contains("61 ± 8 s of 2") && text.contains("1970-01-02 00:00 UTC"), "{text}");
        assert!(text.contains("not enough data yet: of 10 jobs") && !text.contains("only advised"), "{text}");
        assert!(NOTES.iter().all(|note| text.contains(note)));
        assert!(super::copies(&CopiesView { gained_of: 1, ..CopiesView::default() }).contains(&"0 ± ? s of 1".into()));
    }

    #[test]
    fn a_restarts_share_of_wins_is_of_those_that_ran() {
        let of = RestartsView {
            policy: "mantri".into(),
            restart: Some(2),
            decided: 5,
            won: 1,
            failed: 3,
            ..RestartsView::default()
        };
        let row = super::restarts(&RestartsView { refused: 1, ..of });
        assert_eq!(row, ["mantri", "2", "5", "1", "0", "3", "1", "0", "0", "0", "25 % of 4"]);
        assert_eq!(super::restarts(&RestartsView::default())[1], "?", "of one that an earlier version kept");
    }

    #[test]
    fn advice_of_clones_is_told_without_noughts_that_would_say_none_would_have_won() {
        let of = |action: &str, no_outcome| AdviceView {
            policy: "drover".into(),
            action: action.into(),
            said: 500,
            open: 500 - no_outcome,
            no_outcome,
            ..AdviceView::default()
        };
        assert_eq!(advice(&of("clone", 500)), ["drover", "clone", "500", "-", "-", "-", "-", "500", "-", "-"]);
        let copies = ["drover", "duplicate", "500", "0", "0", "0", "500", "0", "0 s", "-"];
        assert_eq!(advice(&of("duplicate", 0)), copies);
    }

    #[test]
    fn a_change_beside_which_one_side_fails_more_is_told_with_a_warning() {
        let side = |failed| SideView { jobs: 90, failed, open: 10, compared: 40, ..SideView::default() };
        let change = Some(ChangeView { percent: -12.34, low_percent: -20.0, high_percent: -3.0 });
        let of = |failures_differ| HoldOutView {
            verdict: "sooner".into(),
            acted: side(20),
            held_out: side(3),
            change: change.clone(),
            failures_differ,
            ..HoldOutView::default()
        };
        let words = told(of(true));
        assert!(words.contains("20 of 80 that could be acted on, 3 of 80 held out"), "{words}");
        let few = told(HoldOutView { change: None, ..of(true) });
        assert!(few.contains("not enough data yet") && few.contains("trust no change"), "{few}");
        assert!(!told(of(false)).contains("trust no change"));
    }

    #[test]
    fn a_change_is_told_with_its_interval_and_what_it_rests_on() {
        let side = |compared| SideView { jobs: compared, compared, ..SideView::default() };
        let change = Some(ChangeView { percent: -12.34, low_percent: -20.0, high_percent: -3.0 });
        let of = HoldOutView {
            verdict: "sooner".into(),
            acted: side(90),
            held_out: side(30),
            strata: 4,
            needed: 10,
            change,
            not_drawn: 7,
            ..HoldOutView::default()
        };
        let words = told(of);
        assert!(!words.contains("missing"), "{words}");
        assert!(words.contains("ended sooner") && words.contains("-12.3 % (95 %: -20.0 % to -3.0 %)"), "{words}");
        assert!(words.contains("90 jobs") && words.contains("30 held out, in 4 groups"), "{words}");
        assert!(words.contains("Left out: 7 jobs enrolled while all or none") && !words.contains("earlier"), "{words}");
        let earlier = told(HoldOutView { share_unknown: 3, ..HoldOutView::default() });
        assert!(
            earlier.contains("not enough data yet") && earlier.contains("3 jobs enrolled by an earlier"),
            "{earlier}"
        );
    }

    #[test]
    fn why_a_change_is_told_too_small_or_not_at_all_is_said() {
        let side = |open| SideView { jobs: 40, open, compared: 40 - open, ..SideView::default() };
        let change = Some(ChangeView { percent: -9.0, low_percent: -15.0, high_percent: -3.0 });
        let (acted, held_out) = (side(4), side(7));
        let of = HoldOutView { acted, held_out, change, needed: 10, long_ones_missing: true, ..HoldOutView::default() };
        let words = told(of.clone());
        assert!(
            words.contains("11 jobs still run") && words.contains("4 that could be acted on, 7 held out"),
            "{words}"
        );
        let words = told(HoldOutView { change: None, ..of });
        assert!(words.contains("33 held out, and no group with two of each"), "{words}");
        assert!(!words.contains("missing"), "{words}");
    }
}
