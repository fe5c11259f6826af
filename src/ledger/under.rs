//! What decisions are taken under: the build, and the settings that have a say in them.

use crate::ledger::schema::{Record, Row};
use crate::ledger::tables::SettingsRow;
use drover_core::model::{Millis, Time};
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// After so long it is told again, so that what holds is known however far back rows are kept.
const AGAIN: Millis = Millis(86_400_000);

/// What a service runs under.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Under {
    /// Drover's version, with its revision where that is known.
    pub version: String,
    /// Settings by their keys, with the values in force.
    pub settings: BTreeMap<String, String>,
}

/// What was told last of it, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    at: Time,
    under: Under,
}

impl Told {
    /// The last row of a file, if it has any.
    pub fn last(connection: &Connection) -> rusqlite::Result<Option<Told>> {
        let ask = "SELECT * FROM settings ORDER BY rowid DESC LIMIT 1";
        let row = connection.query_row(ask, [], SettingsRow::read).optional()?;
        Ok(row.and_then(|row| Some(Told { at: row.at_ms, under: Under::of(&row)? })))
    }
}

impl Under {
    /// What a row tells; `None` where its settings are none.
    pub fn of(row: &SettingsRow) -> Option<Under> {
        Some(Under { version: row.version.clone(), settings: serde_json::from_str(&row.settings).ok()? })
    }

    /// The row to be written, unless the last one says the same and was not long ago.
    pub(super) fn row(&self, told: &mut Option<Told>, incarnation: &str, at: Time) -> Option<Row> {
        let is_told = |last: &Told| last.under == *self && last.at <= at && at.since(last.at) < AGAIN;
        if told.as_ref().is_some_and(is_told) {
            return None;
        }
        *told = Some(Told { at, under: self.clone() });
        let (incarnation, version) = (incarnation.to_owned(), self.version.clone());
        let settings = serde_json::json!(self.settings).to_string();
        Some(SettingsRow { at_ms: at, incarnation, version, settings }.row())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{fixture, open};

    fn under(policy: &str) -> Under {
        Under { version: "0.1.0".into(), settings: [("policy".to_owned(), policy.to_owned())].into() }
    }

    #[test]
    fn it_is_told_at_first_once_a_day_and_whenever_it_is_another() {
        let (late, mantri) = (under("late"), under("mantri"));
        let day = AGAIN.0;
        let mut told = None;
        let mut tells = |under: &Under, at| under.row(&mut told, "p", Time(at)).is_some();
        assert!(tells(&late, 5) && !tells(&late, 6) && !tells(&late, 4 + day));
        assert!(tells(&late, 5 + day), "a day has passed");
        assert!(tells(&mantri, 6 + day) && tells(&late, 7 + day) && !tells(&late, 8 + day));
        assert!(tells(&late, 7), "the clock was set back: by its time, that row comes before all that are kept");
    }

    #[test]
    fn a_service_that_starts_under_what_was_told_last_need_not_tell_it() {
        let rows = [("late", 1), ("mantri", 2)];
        let rows = rows.map(|(policy, at)| under(policy).row(&mut None, "p", Time(at)).unwrap());
        let (_dir, path) = fixture::kept(&rows);
        let mut told = Told::last(&open::read(&path).unwrap()).unwrap();
        assert_eq!(told, Some(Told { at: Time(2), under: under("mantri") }));
        assert_eq!(under("mantri").row(&mut told, "q", Time(3)), None);
        assert!(under("late").row(&mut told, "q", Time(3)).is_some());
    }
}
