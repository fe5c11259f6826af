//! What SIGHUP changes in a service that runs, and what it does not.

use super::{Reload, Service};
use crate::clock;
use crate::config::{self, Config, Loaded, Reloaded};
use crate::service::desk::Again;
use crate::service::{checks, claims};
use crate::telemetry::Logs;
use crate::yarn::site::{FILES, Site};
use drover_core::model::Mode;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long reading the configuration again may take.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// The files that settings name and that are read at the start alone, as they were then.
pub(super) struct ReadOnce(Vec<(&'static str, PathBuf, Option<u64>)>);

impl ReadOnce {
    pub(super) fn of(config: &Config) -> ReadOnce {
        let site = config.cluster.conf_dir.iter().flat_map(|dir| site_files(dir));
        let all = site.map(|file| ("cluster.conf_dir", file));
        let all = all.chain(config.rest.ca_file.iter().map(|file| ("rest.ca_file", file.clone())));
        ReadOnce(all.map(|(key, file)| (key, file.clone(), content(&file))).collect())
    }

    /// Those that hold something else now, each with its setting.
    fn changed(&self) -> impl Iterator<Item = String> {
        let others = self.0.iter().filter(|(_, file, then)| content(file) != *then);
        others.map(|(key, file, _)| format!("{key}: what {} holds", file.display()))
    }
}

/// Those that are not there yet, too, and those that others include.
fn site_files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = FILES.iter().map(|name| dir.join(name)).collect();
    files.extend(Site::load(dir).iter().flat_map(Site::files).cloned());
    files.sort_unstable();
    files.dedup();
    files
}

/// `None` where it cannot be read.
fn content(file: &Path) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    std::fs::read(file).ok()?.hash(&mut hasher);
    Some(hasher.finish())
}

/// What a configuration that is read again makes of the old one, and what that changes; else why it changes nothing. A disk that hangs holds up nothing else.
pub(super) async fn read_again(old: Loaded, reload: Reload, once: Arc<ReadOnce>) -> Result<(Loaded, Reloaded), String> {
    let read = move || {
        let merged = reload().and_then(|new| checks::merged(&old, &new));
        let (merged, mut report) =
            merged.map_err(|error| format!("the configuration is wrong and nothing has changed\n{error}"))?;
        // One that acts already is not kept from being told to be more careful.
        if old.config.top.mode != Mode::Act {
            claims::keepable(&merged.config).map_err(|error| format!("nothing has changed: {error}"))?;
        }
        report.waiting.extend(once.changed());
        Ok((merged, report))
    };
    match tokio::time::timeout(READ_WITHIN, tokio::task::spawn_blocking(read)).await {
        Ok(read) => read.unwrap_or_else(|error| Err(format!("nothing has changed: {error}"))),
        Err(_) => Err("the configuration's disk, or that of state.dir, has not answered yet and nothing has changed; send SIGHUP again".into()),
    }
}

/// The configuration that holds after SIGHUP.
pub(super) fn reloaded(
    old: Loaded,
    read: Result<(Loaded, Reloaded), String>,
    logs: &Logs,
    service: &Service,
) -> Loaded {
    let refused = |why: String| {
        service.metrics.reloaded(false);
        service.notes.rereads.refused(clock::now(), &why);
        tracing::error!("{why}");
    };
    let (merged, report) = match read {
        Ok(merged) => merged,
        Err(error) => {
            refused(error);
            return old;
        }
    };
    if let Err(error) = logs.set_level(&merged.config.log.level) {
        refused(format!("the configuration is wrong and nothing has changed\n{error}"));
        return old;
    }
    // Not waited for: what hangs would keep a stop from being heard.
    let again = Again { params: config::engine_params(&merged.config), settings: merged.deciding() };
    if let Err(error) = service.outside.again.try_send(again) {
        refused(format!("the engine takes no configuration and nothing has changed; send SIGHUP again: {error}"));
        let _ = logs.set_level(&old.config.log.level);
        return old;
    }
    service.metrics.reloaded(true);
    for warning in &merged.warnings {
        tracing::warn!("{warning}");
    }
    for mode in &report.looser {
        tracing::warn!("Drover may do more than before by the configuration read again: {mode}");
    }
    tracing::info!(changed = ?report.changed, wait_for_restart = ?report.waiting, "configuration read again");
    service.notes.rereads.applied(clock::now(), report.waiting);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, load};

    #[test]
    fn a_file_read_at_the_start_that_holds_something_else_or_is_new_or_gone_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("ca.pem", "one");
        write("core-site.xml", r#"<configuration><xi:include href="more.xml"/></configuration>"#);
        write("more.xml", "<configuration/>");
        let at = dir.path().display();
        let set = vec![format!("cluster.conf_dir={at}"), format!("rest.ca_file={at}/ca.pem")];
        let once = ReadOnce::of(&load(&Sources { file: None, set }, std::iter::empty()).unwrap().config);
        let changed = || once.changed().collect::<Vec<_>>();
        write("core-site.xml", r#"<configuration><xi:include href="more.xml"/></configuration>"#);
        assert_eq!(changed(), [""; 0], "it was written again as it was");
        write("ca.pem", "another");
        write("yarn-site.xml", "<configuration/>");
        std::fs::remove_file(dir.path().join("more.xml")).unwrap();
        let told =
            [("cluster.conf_dir", "more.xml"), ("cluster.conf_dir", "yarn-site.xml"), ("rest.ca_file", "ca.pem")];
        assert_eq!(changed(), told.map(|(key, name)| format!("{key}: what {at}/{name} holds")));
    }
}
