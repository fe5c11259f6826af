//! A job's configuration, as its shim tells it: the properties themselves, read by the one reader of a job's properties.

use super::CLASS;
use crate::yarn::facts::{Refused, settings};
use crate::yarn::wire::job::{Conf, Property};
use crate::yarn::wire::lenient::{List, Text};
use drover_core::model::{JobSettings, Mode};
use std::collections::BTreeMap;

/// The settings on an AM of that version of Hadoop, with the mode that the shim has worked out of its own properties; and what
/// was refused of them.
pub fn read(told: &BTreeMap<String, String>, mode: Mode, hadoop: &str) -> (JobSettings, Refused) {
    let text = |word: &String| Text(Some(word.clone()));
    let items = told.iter().map(|(name, value)| Property { name: text(name), value: text(value) }).collect();
    let mut refused = Refused::default();
    let settings = settings::settings(&Conf { property: List { items, odd: 0 } }, Some(hadoop), &mut refused);
    (JobSettings { mode: Some(mode), speculator: Some(CLASS.to_owned()), ..settings }, refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::Millis;

    #[test]
    fn a_shims_properties_are_read_like_those_of_the_ams_rest() {
        let told = [
            ("mapreduce.map.speculative", " FALSE "),
            ("mapreduce.task.timeout", "300000"),
            ("mapreduce.reduce.memory.mb", "2048"),
            ("drover.mode", "act"),
        ];
        let told = told.map(|(name, value)| (name.to_string(), value.to_string())).into();
        let (settings, refused) = read(&told, Mode::Off, "3.4.3");
        assert!(!settings.map_speculation && settings.reduce_speculation);
        assert_eq!((settings.report_interval, settings.reduce_container.memory_mb), (Millis(3_000), 2048));
        assert_eq!(settings.mode, Some(Mode::Off), "what the shim has worked out counts");
        assert_eq!(settings.speculator.as_deref(), Some(CLASS), "it is the one that speaks");
        assert_eq!(refused, Refused::default());
        let old = [("mapreduce.task.timeout".to_owned(), "600000".to_owned())].into();
        assert_eq!(read(&old, Mode::Off, "2.7.7").0.report_interval, Millis(3_000), "which nothing changes");
    }
}
