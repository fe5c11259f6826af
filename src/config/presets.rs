//! What holds under each preset where a setting is not set, as text.

use super::Config;
use super::engine::{policy, preset};
use super::layers::{Entries, Entry, Origin};
use super::setting::Setting;
use super::settings::SETTINGS;
use super::value::{Kind, Value, show_span};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use serde_json::Value as Json;

/// The preset whose values hold whatever the policy.
const ADAPTED: &str = "adapted";

/// A setting's values; empty where it then holds nothing of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presets {
    /// In `adapted`, whatever the policy.
    pub adapted: String,
    /// In `paper`, for most policies.
    pub paper: String,
    /// In `paper-hotcloud`, for most policies.
    pub hotcloud: String,
    /// In `paper`, for the policies whose own paper says otherwise.
    pub own: Vec<(&'static str, String)>,
}

/// Those of a setting; `None` for one that no preset sets.
pub fn presets(setting: &Setting) -> Option<Presets> {
    let under = |name, policy| value(&preset(name, policy), setting);
    let adapted = under(ADAPTED, PolicyName::default())?;
    // `none` proposes nothing: what holds under it, no paper of a policy has set.
    let paper = under("paper", PolicyName::None)?;
    let hotcloud = under("paper-hotcloud", PolicyName::None)?;
    let of_policy = |policy: PolicyName| Some((policy.label(), under("paper", policy)?));
    let own = PolicyName::ALL.into_iter().filter_map(of_policy).filter(|(_, value)| *value != paper).collect();
    Some(Presets { adapted, paper, hotcloud, own })
}

/// The entries with what the preset has in the place of what is not set.
pub(super) fn resolved(config: &Config, entries: &Entries) -> Entries {
    let (name, policy) = (&config.top.preset, policy(config));
    let params = preset(name, policy);
    let mut all = entries.clone();
    for setting in SETTINGS {
        let unset = |entry: &&mut Entry| entry.value == Value::Unset;
        let Some(entry) = all.get_mut(&setting.key()).filter(unset) else { continue };
        // A test has each of these texts be one that its setting allows.
        let Some(value) = value(&params, setting).and_then(|text| setting.kind.parse(&text).ok()) else { continue };
        let own = presets(setting).is_some_and(|presets| presets.own.iter().any(|(label, _)| *label == policy.label()));
        let own = (own && name != ADAPTED).then(|| policy.label());
        *entry = Entry { value, origin: Origin::Preset(name.clone(), own) };
    }
    all
}

fn value(params: &EngineParams, setting: &Setting) -> Option<String> {
    if !setting.default.is_empty() || matches!(setting.kind, Kind::Words | Kind::Modes(_)) {
        return None;
    }
    let all = match setting.group {
        "" => serde_json::to_value(params),
        "late" => serde_json::to_value(&params.late),
        "tail" => serde_json::to_value(&params.tail),
        "mantri" => serde_json::to_value(params.mantri),
        "dolly" => serde_json::to_value(params.dolly),
        "blacklist" => serde_json::to_value(params.blacklist),
        "govern" | "act" => serde_json::to_value(&params.govern),
        _ => return None,
    };
    match (all.ok()?.get(setting.name)?, setting.kind) {
        (Json::Number(ms), Kind::Span(..)) => ms.as_u64().map(show_span),
        (Json::String(text), _) => Some(text.clone()),
        (Json::Null, _) => Some(String::new()),
        (value, _) => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests;
