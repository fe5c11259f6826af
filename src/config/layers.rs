//! Lays defaults, file, environment and flags over each other, and keeps where each value came from.

use super::faults;
use super::setting::{Setting, Values};
use super::settings::SETTINGS;
use super::value::{Kind, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Variables of others that mean one of our settings.
const ALIASES: [(&str, &str); 1] = [("HADOOP_CONF_DIR", "cluster.conf_dir")];
/// Our variables that are no settings: a file of them, and what a build is told.
const OWN: [&str; 2] = ["DROVER_CONFIG", "DROVER_REVISION"];

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The declaration.
    Default,
    /// A preset, for a setting that nobody has set; of a paper, the policy whose own paper says so, where others say otherwise.
    Preset(String, Option<&'static str>),
    /// A file, and the line in it (0: the file as a whole).
    File(PathBuf, usize),
    /// A variable of the environment.
    Environment(String),
    /// `--set` on the command line.
    Flag,
}

/// A value as somebody stated it.
#[derive(Debug, Clone)]
pub struct Stated {
    /// Full key.
    pub key: String,
    /// The text.
    pub text: String,
    /// Who states it.
    pub origin: Origin,
}

/// What is wrong with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub origin: Origin,
    /// The key, where there is one.
    pub key: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub fix: Option<String>,
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// Who stated it.
    pub origin: Origin,
}

/// All entries by full key.
pub type Entries = BTreeMap<String, Entry>;

impl Origin {
    /// Is that the same file or variable, too? Of two others the later outranks the earlier, and so does the later of two flags.
    fn is_beside(&self, other: &Origin) -> bool {
        match (self, other) {
            (Origin::File(one, _), Origin::File(other, _)) => one == other,
            (Origin::Environment(one), Origin::Environment(other)) => one == other,
            _ => false,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Preset(name, None) => write!(f, "preset {name}"),
            Origin::Preset(name, Some(policy)) => write!(f, "preset {name}, policy {policy}"),
            Origin::File(path, 0) => write!(f, "{}", path.display()),
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => write!(f, "environment variable {name}"),
            Origin::Flag => f.write_str("--set"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.what)?;
        self.fix.iter().try_for_each(|fix| write!(f, "; {fix}"))
    }
}

/// The declared defaults.
pub fn defaults() -> Entries {
    let entry = |setting: &Setting| {
        // A default that its own kind refuses shows up as not set, and a test refuses that.
        let value = setting.kind.parse(setting.default).unwrap_or(Value::Unset);
        (setting.key(), Entry { value, origin: Origin::Default })
    };
    SETTINGS.iter().map(entry).collect()
}

/// The setting that a full key belongs to; for settings by name the name follows the setting's key.
pub fn find(key: &str) -> Option<&'static Setting> {
    let named = |setting: &&Setting| {
        let rest = key.strip_prefix(&setting.key()).and_then(|rest| rest.strip_prefix('.'));
        matches!(setting.kind, Kind::Modes(_)) && rest.is_some_and(|name| !name.trim().is_empty())
    };
    let exact = |setting: &&Setting| !matches!(setting.kind, Kind::Modes(_)) && setting.key() == key;
    SETTINGS.iter().find(exact).or_else(|| SETTINGS.iter().find(named))
}

/// Does it say how far Drover may go?
pub fn is_mode(key: &str) -> bool {
    key == "mode" || key.starts_with("modes.")
}

/// Lays one statement over the entries.
pub fn lay(entries: &mut Entries, stated: Stated) -> Result<(), Problem> {
    let Stated { key, text, origin } = stated;
    // What stands for bytes that were none: a queue's `off` would hold for another.
    if [&key, &text].iter().any(|part| part.contains(char::REPLACEMENT_CHARACTER)) {
        let fix = Some("write it in UTF-8".to_owned());
        return Err(Problem { origin, key: Some(key), what: "is no text in UTF-8".into(), fix });
    }
    let Some(setting) = find(&key) else {
        return Err(faults::unknown(key, origin));
    };
    // Nothing at all is a value only where nothing is the default: a queue's `off` would be taken back.
    let is_said = !text.trim().is_empty() || (setting.default.is_empty() && !matches!(setting.kind, Kind::Modes(_)));
    if !is_said {
        let fix = Some(format!("allowed: {}; leave it out for what holds without it", setting.kind.allowed()));
        return Err(Problem { origin, key: Some(key), what: "is empty".into(), fix });
    }
    let misnamed = key.strip_prefix(&format!("{}.", setting.key())).and_then(|name| setting.kind.misnamed(name));
    match misnamed.map_or_else(|| setting.kind.parse(&text), Err) {
        Ok(value) => {
            if let Some(before) = entries.get(&key).filter(|one| one.origin.is_beside(&origin) && one.value != value) {
                return Err(faults::twice(key, (value, origin), before));
            }
            entries.insert(key, Entry { value, origin });
            Ok(())
        }
        Err(what) => {
            Err(Problem { origin, key: Some(key), what, fix: Some(format!("allowed: {}", setting.kind.allowed())) })
        }
    }
}

/// What the environment states; variables that look like ours and mean nothing come second.
pub fn environment(variables: impl Iterator<Item = (String, String)>) -> (Vec<Stated>, Vec<Problem>) {
    let (mut aliased, mut stated, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    // An empty one, as of a template, states nothing: it would take back what a file says.
    for (name, text) in variables.filter(|(_, text)| !text.trim().is_empty()) {
        let origin = Origin::Environment(name.clone());
        if let Some((_, key)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
            aliased.push(Stated { key: (*key).to_owned(), text, origin });
        } else if let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == name) {
            stated.extend(spread(setting, &text, origin));
        } else if name.starts_with("DROVER_") && !OWN.contains(&name.as_str()) {
            unknown.push(Problem { origin, key: None, what: "names no setting and is ignored".into(), fix: None });
        }
    }
    // Our own variable for a setting outranks another product's.
    aliased.append(&mut stated);
    (aliased, unknown)
}

/// One variable states one setting; for settings by name it lists `name=mode,…`.
fn spread(setting: &Setting, text: &str, origin: Origin) -> Vec<Stated> {
    let key = setting.key();
    if !matches!(setting.kind, Kind::Modes(_)) {
        return vec![Stated { key, text: text.to_owned(), origin }];
    }
    let one = |pair: &str| {
        let (name, mode) = pair.split_once('=').unwrap_or((pair, "(none)"));
        Stated { key: format!("{key}.{}", name.trim()), text: mode.to_owned(), origin: origin.clone() }
    };
    text.split(',').filter(|pair| !pair.trim().is_empty()).map(one).collect()
}

/// What `--set key=value` states.
pub fn flag(text: &str) -> Result<Stated, Problem> {
    let (key, value) = text.split_once('=').ok_or_else(|| Problem {
        origin: Origin::Flag,
        key: None,
        what: format!("\"{text}\" has no \"=\""),
        fix: Some("write --set key=value".into()),
    })?;
    Ok(Stated { key: key.trim().to_owned(), text: value.to_owned(), origin: Origin::Flag })
}

/// The values alone.
pub fn values(entries: &Entries) -> Values {
    entries.iter().map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
}
