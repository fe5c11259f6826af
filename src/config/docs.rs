//! Documentation and sample file, written from the declarations.

use super::presets::{Presets, presets};
use super::prose::{CHOICES, INTRODUCTION, OTHER_OUTPUTS, SAFE_OUTPUTS};
use super::setting::{Group, Setting};
use super::settings::{GROUPS, SETTINGS};
use super::value::Kind;
use drover_core::govern::output::SAFE;
use std::fmt::Write;

/// `docs/configuration.md`.
pub fn markdown() -> String {
    let mut out = INTRODUCTION.to_owned();
    for group in GROUPS {
        let title = if group.name.is_empty() { "Top of the file".to_owned() } else { format!("`[{}]`", group.name) };
        let _ = write!(out, "\n## {title}\n{}\n", joined(group.doc));
        out.push_str("\n| key | default | allowed | reload | |\n|---|---|---|---|---|\n");
        for setting in members(group) {
            let key = if matches!(setting.kind, Kind::Modes(_)) {
                format!("{}.*name*", setting.key())
            } else {
                setting.key()
            };
            let default = match presets(setting) {
                Some(presets) => both(&presets),
                None => shown(setting.default),
            };
            let reload = if setting.reloadable { "yes" } else { "" };
            let _ = writeln!(
                out,
                "| `{key}` | {default} | {} | {reload} | {} |",
                setting.kind.allowed().replace('|', "\\|"),
                joined(setting.doc)
            );
        }
        match group.name {
            "" => out.push_str(CHOICES),
            "govern" => out.push_str(&safe_outputs()),
            _ => {}
        }
    }
    out
}

/// Which outputs are safe as they come.
fn safe_outputs() -> String {
    let names: String = SAFE.iter().map(|name| format!("    {name}\n")).collect();
    format!("{SAFE_OUTPUTS}\n{names}\n{OTHER_OUTPUTS}")
}

/// A configuration file that states every default, commented out, and of what has none an example.
pub fn sample() -> String {
    let mut out = "# Configuration of Drover. Every line that is commented out states a default, but for those below [modes], which are examples.\n".to_owned();
    for group in GROUPS {
        let _ = write!(out, "\n# {}\n", unlinked(&joined(group.doc)));
        if !group.name.is_empty() {
            let _ = writeln!(out, "[{}]", group.name);
        }
        for setting in members(group) {
            let doc = unlinked(&joined(setting.doc));
            let _ = writeln!(out, "\n# {doc}\n# Allowed: {}.", setting.kind.allowed());
            if let Some(presets) = presets(setting) {
                let _ = writeln!(out, "# Where it is not set: {}.", both(&presets));
            }
            if matches!(setting.kind, Kind::Modes(_)) {
                out.push_str("# A line for each name, as in this example; none is set by default.\n");
            }
            let _ = writeln!(out, "#{}", assignment(setting));
        }
    }
    out
}

fn shown(value: &str) -> String {
    if value.is_empty() { "–".to_owned() } else { format!("`{value}`") }
}

/// What holds in each preset, that of a paper only where it differs.
fn both(presets: &Presets) -> String {
    let mut text = shown(&presets.adapted);
    if presets.paper != presets.adapted || !presets.own.is_empty() {
        let _ = write!(text, ", paper {}", shown(&presets.paper));
    }
    if presets.hotcloud != presets.paper {
        let _ = write!(text, ", paper-hotcloud {}", shown(&presets.hotcloud));
    }
    for (policy, value) in &presets.own {
        let _ = write!(text, ", of `{policy}` {}", shown(value));
    }
    text
}

fn assignment(setting: &Setting) -> String {
    let (name, default) = (setting.name, setting.default);
    match setting.kind {
        Kind::Modes(known) => {
            let example = known.first().copied().unwrap_or(if name == "queue" { "root.etl" } else { "ann" });
            format!("{name}.\"{example}\" = \"off\"")
        }
        Kind::Whole(..) | Kind::Real(..) | Kind::Flag if !default.is_empty() => format!("{name} = {default}"),
        Kind::Urls | Kind::Words => format!("{name} = []"),
        _ => format!("{name} = \"{default}\""),
    }
}

fn members(group: &Group) -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(move |setting| setting.group == group.name)
}

fn joined(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same for a file that lies far from these pages: of each link its words, and the path of its page.
fn unlinked(doc: &str) -> String {
    let (mut out, mut rest) = (String::new(), doc);
    while let Some((before, after)) = rest.split_once("](") {
        let (Some((before, words)), Some((target, after))) = (before.rsplit_once('['), after.split_once(')')) else {
            break;
        };
        let page = if target.starts_with('#') { "configuration.md" } else { "" };
        let _ = write!(out, "{before}{words}, docs/{page}{target}");
        rest = after;
    }
    out + rest
}
