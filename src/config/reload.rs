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
    /// Where both together are wrong, or `new` does not say any more what no half of a file leaves out.
    pub fn reloaded(&self, new: &Loaded) -> Result<(Loaded, Reloaded), ConfigError> {
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
            report.looser.extend(loosened(key, old, next));
            match next {
                Some(entry) => entries.insert(key.clone(), entry.clone()),
                None => entries.remove(key),
            };
            report.changed.push(key.clone());
        }
        let mut loaded = finish(entries, gone)?;
        (loaded.file, loaded.warnings) = (new.file.clone(), new.warnings.clone());
        Ok((loaded, report))
    }
}

/// What the service stands on was stated, and is not: the file may be half written.
fn vanished(key: &str, old: Option<&Entry>, new: Option<&Entry>) -> Option<Problem> {
    let is_stated = |entry: &&Entry| !matches!(entry.origin, Origin::Default | Origin::Preset(..));
    let stands_on = key.starts_with("cluster.") || key.starts_with("listen.") || key == "state.dir";
    let old = old.filter(is_stated).filter(|_| stands_on && new.filter(is_stated).is_none())?;
    Some(Problem {
        origin: old.origin.clone(),
        key: Some(key.to_owned()),
        what: "was stated there and is not any more, as where a file is half written".into(),
        fix: Some("state it again, or start the service anew without it; until then SIGHUP changes nothing, and `drover stop` is what keeps Drover from acting at once".into()),
    })
}

/// The most cautious mode that applies holds, so that one that is not set keeps nothing from being done.
fn loosened(key: &str, old: Option<&Entry>, new: Option<&Entry>) -> Option<String> {
    if key != "mode" && !key.starts_with("modes.") {
        return None;
    }
    let mode = |entry: Option<&Entry>| match entry.map(|entry| &entry.value) {
        Some(Value::Mode(mode)) => Some(*mode),
        Some(Value::Text(label)) => Mode::parse(label),
        _ => None,
    };
    let [before, after] = [old, new].map(mode);
    let label = |mode: Option<Mode>| mode.map_or("not set", Mode::label);
    let is_looser = after.unwrap_or(Mode::Act) > before.unwrap_or(Mode::Act);
    is_looser.then(|| format!("{key}: {} before, {} now", label(before), label(after)))
}
