//! A configuration that is read again while the service runs.

use super::layers::{self, Entry, Origin, Problem};
use super::value::Value;
use super::{ConfigError, Loaded, finish};
use drover_core::model::Mode;
use std::collections::BTreeSet;

/// What a reload changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Keys whose new value holds now.
    pub changed: Vec<String>,
    /// Keys whose new value waits for a restart.
    pub waiting: Vec<String>,
    /// Of the changed, modes by which Drover may do more than before: each with its old value and its new one.
    pub looser: Vec<String>,
}

impl Loaded {
    /// This configuration with the reloadable settings of `new`, and what changed.
    ///
    /// # Errors
    /// Where both together are wrong, or `new` looks like half of a file.
    pub fn reloaded(&self, new: &Loaded) -> Result<(Loaded, Reloaded), ConfigError> {
        if let Some(cut) = new.cut.clone().filter(|_| self.is_of_file() || new.is_of_file()) {
            return Err(ConfigError(vec![cut]));
        }
        let (mut entries, mut report, mut gone) = (self.entries.clone(), Reloaded::default(), Vec::new());
        let keys: BTreeSet<&String> = self.entries.keys().chain(new.entries.keys()).collect();
        for key in keys {
            let (old, next) = (self.entries.get(key), new.entries.get(key));
            if old.map(|entry| &entry.value) == next.map(|entry| &entry.value) {
                continue;
            }
            gone.extend(vanished(key, old, next));
            if !layers::find(key).is_some_and(|setting| setting.reloadable) {
                report.waiting.push(key.clone());
                continue;
            }
            let both = old.zip(next).filter(|_| is_loosened(key, old, next));
            report.looser.extend(both.map(|(old, next)| format!("{key}: {} before, {} now", old.value, next.value)));
            match next {
                Some(entry) => entries.insert(key.clone(), entry.clone()),
                None => entries.remove(key),
            };
            report.changed.push(key.clone());
        }
        let loaded = finish(entries, gone)?;
        let (file, warnings, outranked) = (new.file.clone(), new.warnings.clone(), new.outranked.clone());
        Ok((Loaded { file, warnings, outranked, ..loaded }, report))
    }
}

/// What the service stands on, or what keeps it from doing more, was stated and is not: the file may be half written, and a half may end with a line's end.
fn vanished(key: &str, old: Option<&Entry>, new: Option<&Entry>) -> Option<Problem> {
    let is_stated = |entry: &&Entry| !matches!(entry.origin, Origin::Default | Origin::Preset(..));
    let stands_on = key.starts_with("cluster.") || key.starts_with("listen.") || key == "state.dir";
    let holds_back = key == "govern.unsafe_outputs" || is_loosened(key, old, new);
    let is_needed = stands_on || holds_back;
    let old = old.filter(is_stated).filter(|_| is_needed && new.filter(is_stated).is_none())?;
    let otherwise = match key {
        "govern.unsafe_outputs" => ", as [] where it is to name none",
        _ if key.starts_with("modes.") => ", as \"act\" where it is to keep nothing from being done",
        _ => "",
    };
    Some(Problem {
        origin: old.origin.clone(),
        key: Some(key.to_owned()),
        what: "was stated there and is not any more, as where a file is half written".into(),
        fix: Some(format!(
            "state it again{otherwise}, or start the service anew without it; until then SIGHUP changes nothing, and `drover stop` is what keeps Drover from acting at once"
        )),
    })
}

/// May Drover do more by that? The most cautious mode that applies holds, so that one that is not set keeps nothing from being done.
fn is_loosened(key: &str, old: Option<&Entry>, new: Option<&Entry>) -> bool {
    let mode = |entry: Option<&Entry>| match entry.map(|entry| &entry.value) {
        Some(Value::Mode(mode)) => *mode,
        _ => Mode::Act,
    };
    let [before, after] = [old, new].map(mode);
    layers::is_mode(key) && after > before
}
