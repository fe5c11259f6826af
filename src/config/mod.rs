//! Settings: one declarative definition each, in `settings`. File, environment, flags, documentation and sample follow from it.

pub mod docs;
mod engine;
mod faults;
mod file;
mod layers;
mod presets;
mod prose;
mod reload;
mod setting;
mod settings;
pub mod value;

#[cfg(test)]
mod tests;

pub use engine::engine_params;
pub use layers::{Entries, Entry, Origin, Problem};
pub use presets::{Presets, presets};
pub use reload::Reloaded;
pub use setting::{Group, Setting};
pub use settings::*;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where a configuration is looked for when none is named, in this order.
pub const PLACES: [&str; 2] = ["drover.toml", "/etc/drover/drover.toml"];

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file named, if any.
    pub file: Option<PathBuf>,
    /// `key=value` of each `--set`.
    pub set: Vec<String>,
}

/// A configuration with where each value came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The typed settings.
    pub config: Config,
    /// Every value with its origin.
    pub entries: Entries,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// What was ignored.
    pub warnings: Vec<Problem>,
    /// Why the file may be half written, where it looks so.
    pub cut: Option<Problem>,
    /// Modes of the file that another place's stand above.
    pub outranked: Vec<Problem>,
}

/// Everything that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub Vec<Problem>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

/// Loads the configuration: defaults, then the file, then the environment, then flags.
pub fn load(sources: &Sources, environment: impl Iterator<Item = (String, String)>) -> Result<Loaded, ConfigError> {
    let file = match sources.file.clone() {
        None => found(&PLACES.map(Path::new))?,
        named => named,
    };
    of(file, &sources.set, environment)
}

/// The first of them that is there.
fn found(places: &[&Path]) -> Result<Option<PathBuf>, ConfigError> {
    let Some(path) = places.iter().find(|path| is_there(path)) else { return Ok(None) };
    no_file(path).map_or(Ok(Some(path.to_path_buf())), |problem| Err(ConfigError(vec![problem])))
}

/// Is there anything of that name, as far as can be told? What may not be looked at is nothing that is not there: what it says would not hold. But nobody's configuration lies in a working
/// directory that they may not enter, as where `sudo` left them.
fn is_there(path: &Path) -> bool {
    let elsewhere = || path.is_relative() && Path::new(".").metadata().is_err();
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !elsewhere(),
    }
}

/// Why what was found is nothing to read: whoever put it there takes it for the configuration, and a pipe that nobody named would be waited on.
fn no_file(path: &Path) -> Option<Problem> {
    let what = match path.metadata() {
        Ok(told) if told.is_file() => return None,
        Ok(told) if told.is_dir() => "is a directory",
        Ok(_) => "is no file",
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is a link to what is not there",
        Err(_) => return None,
    };
    let fix = Some("put the configuration there, take it away, or name another file by --config".to_owned());
    Some(Problem { origin: Origin::File(path.to_owned(), 0), key: None, what: what.to_owned(), fix })
}

/// Loads what is named and nothing else: defaults, then the file, if any, then flags.
pub fn load_named(sources: &Sources) -> Result<Loaded, ConfigError> {
    of(sources.file.clone(), &sources.set, std::iter::empty())
}

fn of(
    file: Option<PathBuf>,
    set: &[String],
    environment: impl Iterator<Item = (String, String)>,
) -> Result<Loaded, ConfigError> {
    let mut problems = Vec::new();
    let (in_file, cut) = match &file {
        Some(path) => file::read(path).unwrap_or_else(|problem| {
            problems.push(problem);
            Default::default()
        }),
        None => Default::default(),
    };
    let (mut stated, warnings) = layers::environment(environment);
    for text in set {
        match layers::flag(text) {
            Ok(flag) => stated.push(flag),
            Err(problem) => problems.push(problem),
        }
    }
    let mut entries = layers::defaults();
    problems.extend(in_file.into_iter().filter_map(|one| layers::lay(&mut entries, one).err()));
    let below = entries.clone();
    problems.extend(stated.into_iter().filter_map(|one| layers::lay(&mut entries, one).err()));
    let outranked = faults::outranked(&below, &entries);
    let loaded = finish(entries, problems)?;
    Ok(Loaded { file, warnings, cut, outranked, ..loaded })
}

fn finish(entries: Entries, mut problems: Vec<Problem>) -> Result<Loaded, ConfigError> {
    let typed = Config::from_values(&layers::values(&entries));
    if let (true, Some(config)) = (problems.is_empty(), &typed) {
        problems.extend(together(config, &entries));
    }
    match typed {
        Some(config) if problems.is_empty() => {
            Ok(Loaded { config, entries, file: None, warnings: Vec::new(), cut: None, outranked: Vec::new() })
        }
        _ => Err(ConfigError(problems)),
    }
}

/// What no setting can tell on its own.
fn together(config: &Config, entries: &Entries) -> Option<Problem> {
    let record = &config.record;
    let crowded = record.segment_bytes.0.saturating_mul(2) > record.max_bytes.0;
    crowded.then(|| Problem {
        origin: entries.get("record.segment_bytes").map_or(Origin::Default, |entry| entry.origin.clone()),
        key: Some("record.segment_bytes".into()),
        what: "is more than half of record.max_bytes".into(),
        fix: Some("lower it or raise record.max_bytes".into()),
    })
}

impl Loaded {
    /// Every value that holds, with its origin: what is not set has its preset's.
    pub fn resolved(&self) -> Entries {
        presets::resolved(&self.config, &self.entries)
    }

    /// Does a file say any of it? Whether that is at its end is nothing to ask of one that says nothing.
    pub fn is_of_file(&self) -> bool {
        self.entries.values().any(|entry| matches!(entry.origin, Origin::File(..)))
    }

    /// The values in force, as texts, of what has a say in what is seen, decided and done.
    pub fn deciding(&self) -> BTreeMap<String, String> {
        let kept = self.resolved().into_iter().filter(|(key, _)| !ASIDE.iter().any(|group| key.starts_with(group)));
        kept.map(|(key, entry)| (key, entry.value.to_string())).collect()
    }
}

/// What is only listened on, logged and kept.
const ASIDE: [&str; 5] = ["listen.", "log.", "record.", "ledger.", "state."];
