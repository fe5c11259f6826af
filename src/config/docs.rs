//! Documentation and sample file, written from the declarations.

use super::presets::{Presets, presets};
use super::setting::{Group, Setting};
use super::settings::{GROUPS, SETTINGS};
use super::value::Kind;
use drover_core::govern::output::SAFE;
use std::fmt::Write;

const INTRODUCTION: &str = "# Configuration

Every setting of Drover: its default, what it allows, what it does, and whether a running service takes a new value on SIGHUP. This page is for whoever writes
`drover.toml`. `drover config docs` writes it from the declarations of the settings; a test keeps it so.

## Where settings come from
There are four places, the later outranking the earlier:

1. the defaults below;
2. a TOML file: the one named by `--config` or `DROVER_CONFIG`, else `drover.toml` in the working directory, else `/etc/drover/drover.toml`;
3. the environment: `DROVER_` and the key in capitals with `_` for each dot, as in `DROVER_REST_TIMEOUT=5s`;
4. flags: `--set rest.timeout=5s`.

In the environment, settings by name take a list, as in `DROVER_MODES_QUEUE=root.etl=off,root.adhoc=advise`. An empty variable states nothing, and one that names
no setting is ignored with a warning.

- `drover config show` shows every value that holds and where it came from, that of the preset where a setting is not set.
- `drover config sample` writes a file to start from.
- A key that does not exist, a value out of range or a unit that is missing is an error, which names the file and line, the key and what is allowed.
- Where presets differ, a default is followed by what `paper` has in its place, `paper-hotcloud` where that differs again, and `paper` under a policy whose own paper
  says otherwise (`of` that policy).
- Times are written `500ms`, `10s`, `5m`, `1h`, `2d`, sizes `64KiB`, `4MiB`, `1GiB`, shares as numbers from 0 to 1.

## What SIGHUP changes
On SIGHUP a running service reads its configuration again.

- Settings marked *reload* change at once.
- The others wait for a restart, as does what the files of `cluster.conf_dir` and `rest.ca_file` hold, which are read at the start alone. The log, `drover status` and
  `drover doctor` name them.
- A configuration with an error changes nothing. Nor does one that leaves out what was stated of `cluster.*`, `listen.*` or `state.dir`, as a half-written file does.
- A mode that keeps less from being done than before is logged as a warning.
";

const SAFE_OUTPUTS: &str = "
### Safe outputs
Two attempts of a task write at once, and only one of them may be kept. A job is given copies, clones or restarts, and advice of these, only where its outputs are
known to cope with that. Looked at are, as far as its configuration names them,

- its committer (`mapred.output.committer.class`);
- the factory of its committer (`mapreduce.outputcommitter.factory.class`, or that of the scheme it writes to);
- its output format.

Each of them must be on this list or in `govern.safe_outputs`, and none in `govern.unsafe_outputs`. What a job leaves unset is Hadoop's own default, which is safe.
A name that ends in `.` stands for all that it begins; every other one is a class, by its full name.
";

const OTHER_OUTPUTS: &str = "All others are taken to be unsafe (`unsafe_output`), for nothing is known of them:

- `LazyOutputFormat`, which wraps another that Drover is not told of;
- `NamedCommitterFactory` and other factories that stand for any committer;
- Hive's (`HiveOutputFormatImpl`), HBase's, those of databases and search engines;
- committers that write in place (`DirectFileOutputCommitter`);
- every class of your own.

If you know that one copes with two attempts of a task, name it in `govern.safe_outputs`.
";

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
        if group.name == "govern" {
            out.push_str(&safe_outputs());
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
        let _ = write!(out, "\n# {}\n", joined(group.doc));
        if !group.name.is_empty() {
            let _ = writeln!(out, "[{}]", group.name);
        }
        for setting in members(group) {
            let _ = writeln!(out, "\n# {}\n# Allowed: {}.", joined(setting.doc), setting.kind.allowed());
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
