//! What changed in the time that a report is of: numbers of before and after stand together in it.

use super::Asked;
use crate::ledger::Under;
use crate::ledger::schema::Record;
use crate::ledger::tables::SettingsRow;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use utoipa::ToSchema;

/// So many are told, the newest.
const MOST: usize = 20;

/// From when on another build decided, or by other settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangeOfSettingsView {
    /// When, Unix milliseconds, the service's clock.
    pub at_ms: u64,
    /// Drover's version before, with its revision where the build knew it.
    pub version_before: String,
    /// The same since.
    pub version: String,
    /// Settings that have had another value since.
    pub settings: Vec<SettingView>,
}

/// A setting that has another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingView {
    /// Its key.
    pub key: String,
    /// Its value before; empty where it had none.
    pub before: String,
    /// The same since.
    pub after: String,
}

/// Changes since what held at the beginning, oldest first, and how many older ones are left off.
pub(super) fn read(moment: &Connection, asked: &Asked<'_>) -> rusqlite::Result<(Vec<ChangeOfSettingsView>, u64)> {
    let [since, until] = asked.between();
    let mut rows = moment.prepare(
        "SELECT * FROM settings WHERE rowid >= COALESCE((SELECT MAX(rowid) FROM settings WHERE at_ms <= ?1), 0) AND at_ms <= ?2 ORDER BY rowid",
    )?;
    let (mut held, mut told, mut left_off) = (None, VecDeque::new(), 0);
    for row in rows.query_map([since, until], SettingsRow::read)? {
        let row = row?;
        let Some(now) = Under::of(&row) else { continue };
        if let Some(before) = held.as_ref().filter(|before| **before != now) {
            told.push_back(change(row.at_ms.0, before, &now));
        }
        if told.len() > MOST {
            told.pop_front();
            left_off += 1;
        }
        held = Some(now);
    }
    Ok((told.into(), left_off))
}

fn change(at_ms: u64, before: &Under, after: &Under) -> ChangeOfSettingsView {
    let value = |under: &Under, key: &String| under.settings.get(key).cloned().unwrap_or_default();
    let gone = before.settings.keys().filter(|key| !after.settings.contains_key(*key));
    let keys = after.settings.keys().chain(gone);
    let settings =
        keys.map(|key| SettingView { key: key.clone(), before: value(before, key), after: value(after, key) });
    ChangeOfSettingsView {
        at_ms,
        version_before: before.version.clone(),
        version: after.version.clone(),
        settings: settings.filter(|one| one.before != one.after).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::report::{Filter, Report};
    use crate::ledger::{Row, fixture};
    use drover_core::model::Time;

    fn row(at: u64, version: &str, policy: &str) -> Row {
        let settings = serde_json::json!({"policy": policy, "mode": "act"}).to_string();
        SettingsRow { at_ms: Time(at), incarnation: "p".into(), version: version.into(), settings }.row()
    }

    fn changes(rows: &[Row], since: u64) -> (Vec<ChangeOfSettingsView>, u64) {
        let (_dir, path) = fixture::kept(rows);
        let report = Report::of(&path, &Filter { since: Time(since), ..Filter::default() }, Time(10_000)).unwrap();
        (report.changes, report.changes_left_off)
    }

    #[test]
    fn another_build_and_other_settings_are_told_against_what_held_at_the_beginning_and_the_same_again_is_not() {
        let rows = [row(1, "1", "late"), row(2, "1", "late"), row(3, "1", "mantri"), row(4, "2", "mantri")];
        let policy = SettingView { key: "policy".into(), before: "late".into(), after: "mantri".into() };
        let of = |at_ms, before: &str, version: &str, settings| ChangeOfSettingsView {
            at_ms,
            version_before: before.into(),
            version: version.into(),
            settings,
        };
        let [settings, build] = [of(3, "1", "1", vec![policy]), of(4, "1", "2", Vec::new())];
        assert_eq!(changes(&rows, 0), (vec![settings.clone(), build.clone()], 0));
        assert_eq!(changes(&rows, 2), (vec![settings, build.clone()], 0), "what held at 2 is told by the row before");
        assert_eq!(changes(&rows, 3), (vec![build], 0), "of the time since the change all is of one kind");
        assert_eq!(changes(&rows, 4), (Vec::new(), 0));
    }

    #[test]
    fn of_many_changes_the_newest_are_told_and_the_others_counted() {
        let rows: Vec<_> = (0..30).map(|n| row(n, "1", &n.to_string())).collect();
        let (told, left_off) = changes(&rows, 0);
        assert_eq!((told.len(), left_off, told[0].at_ms, told[19].at_ms), (20, 9, 10, 29));
    }
}
