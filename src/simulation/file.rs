//! Reads a scenario, and tells what is wrong with one by file and line.

use super::strict::{self, Wrong};
use crate::bounded;
use drover_core::sim::{Fault, Scenario};
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest scenario that is read, bytes.
const LIMIT: u64 = 16 << 20;

/// Why a scenario cannot be used: a line for each fault.
#[derive(Debug, thiserror::Error)]
#[error("{}", lines(.path, .faults))]
pub struct BadScenario {
    path: PathBuf,
    faults: Vec<(usize, String)>,
}

fn lines(path: &Path, faults: &[(usize, String)]) -> String {
    let line = |(line, words): &(usize, String)| match line {
        0 => format!("{}: {words}", path.display()),
        line => format!("{}:{line}: {words}", path.display()),
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A scenario as its file has it, which may not be one that can be.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    text: String,
    /// What it says.
    pub scenario: Scenario,
}

/// Reads a scenario.
///
/// # Errors
/// With the line of what cannot be understood.
pub fn read(path: &Path) -> Result<Draft, BadScenario> {
    let bad = |faults| BadScenario { path: path.to_owned(), faults };
    let unread = |error: std::io::Error| bad(vec![(0, format!("cannot be read: {error}"))]);
    Draft::of(path, bounded::text(path, LIMIT).map_err(unread)?)
}

impl Draft {
    /// The file as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn of(path: &Path, text: String) -> Result<Draft, BadScenario> {
        let scenario = strict::from_str(&text);
        let wrong = |error: Wrong| BadScenario { path: path.to_owned(), faults: vec![fault(&text, &error)] };
        Ok(Draft { path: path.to_owned(), scenario: scenario.map_err(wrong)?, text })
    }

    /// The scenario, if it can be.
    ///
    /// # Errors
    /// Every fault with its line.
    pub fn checked(self) -> Result<Scenario, BadScenario> {
        let Draft { path, text, scenario } = self;
        let faults = scenario.faults();
        if faults.is_empty() {
            return Ok(scenario);
        }
        let placed = |table: &DeTable<'_>, fault: &Fault| {
            (find(table, &fault.key).map_or(0, |at| line(&text, at)), fault.to_string())
        };
        let faults = match DeTable::parse(&text) {
            Ok(table) => faults.iter().map(|fault| placed(table.get_ref(), fault)).collect(),
            Err(error) => vec![fault(&text, &error.into())],
        };
        Err(BadScenario { path, faults })
    }
}

fn line(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count()
}

/// What cannot be understood, and its line.
fn fault(text: &str, error: &Wrong) -> (usize, String) {
    (error.at.map_or(0, |at| line(text, at)), error.words.replace('\n', " "))
}

/// Where a key stands, as [`Fault`] names it: `jobs[1].maps.tasks`. Of one that is not there, where the last part of it is that is.
fn find(table: &DeTable<'_>, key: &str) -> Option<usize> {
    let (mut table, mut place) = (table, None);
    for part in key.split('.') {
        let (name, nth) =
            part.split_once('[').map_or((part, None), |(name, nth)| (name, nth.trim_end_matches(']').parse().ok()));
        let Some((_, value)) = table.iter().find(|(known, _)| known.get_ref() == name) else { break };
        let value: &Spanned<DeValue<'_>> = match (value.get_ref(), nth) {
            (DeValue::Array(all), Some::<usize>(nth)) => all.get(nth)?,
            _ => value,
        };
        place = Some(value.span().start);
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Scenario, BadScenario> {
        Draft::of(Path::new("s.toml"), text.to_owned())?.checked()
    }

    fn told(text: &str) -> String {
        parse(text).err().map_or_else(String::new, |error| error.to_string())
    }

    const JOB: &str =
        "[[jobs]]\nname = \"a\"\nmaps = { tasks = 4, work = { lognormal = { median = 30, sigma = 0.4 } } }\n";

    #[test]
    fn a_scenario_is_read_as_it_is_written() {
        let scenario = parse(&format!("[cluster]\nnodes = 9\n{JOB}")).unwrap();
        assert_eq!((scenario.cluster.nodes, scenario.jobs[0].maps.memory_mb), (9, 1024));
    }

    #[test]
    fn what_does_not_tell_its_length_is_read_no_further_than_a_scenario_may_be_long() {
        let error = read(Path::new("/dev/zero")).err().unwrap().to_string();
        assert!(error.contains("cannot be read: it is longer than 16777216 bytes"), "{error}");
    }

    #[test]
    fn every_fault_is_told_with_its_line() {
        assert_eq!(
            told(&format!("about = \"x\"\n[cluster]\nnodse = 4\n{JOB}")).split(" `").next(),
            Some("s.toml:3: unknown field")
        );
        let told = told(&format!(
            "[cluster]\nnodes = 0\nracks = 2\n{JOB}[[jobs]]\nname = \"a\"\nmaps.tasks = 1\nafter = \"z\"\n"
        ));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 4, "{told}");
        assert!(lines[0].starts_with("s.toml:2: cluster.nodes: must be from 1"), "{told}");
        assert!(lines[1].starts_with("s.toml:3: cluster.racks: "), "{told}");
        assert!(lines[2].starts_with("s.toml:8: jobs[1].name: "), "{told}");
        assert!(lines[3].starts_with("s.toml:10: jobs[1].after: "), "{told}");
    }

    #[test]
    fn what_is_there_and_would_do_nothing_is_told_with_the_line_on_which_it_stands() {
        let told = told(&format!("[cluster]\nnodes = 2\n{JOB}queue = \"zz\"\n"));
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.starts_with("s.toml:6: jobs[0].queue: would do nothing"), "{told}");
    }

    #[test]
    fn what_is_not_toml_is_told_with_its_line() {
        assert!(told("[cluster]\nnodes = = 4\n").starts_with("s.toml:2: "), "{}", told("[cluster]\nnodes = = 4\n"));
    }

    #[test]
    fn a_list_is_no_table_wherever_one_is_to_stand() {
        for (line, text) in [
            (1, "cluster = [9]\n".to_owned()),
            (2, "[hadoop]\ncan = [\"duplicate\"]\n".to_owned()),
            (2, format!("[hadoop]\ncan = [{}true]\n", "true, ".repeat(14))),
            (3, "[[jobs]]\nname = \"a\"\nmaps = [3, 10]\n".to_owned()),
            (3, "[[jobs]]\nname = \"a\"\nmaps.tasks = { uniform = [1, 2] }\n".to_owned()),
            (3, "[[jobs]]\nname = \"a\"\nmaps.work = { mixture = [[1, { normal = [3, 1] }]] }\n".to_owned()),
            (1, "jobs = [[\"a\", 1]]\n".to_owned()),
            (4, "[[jobs]]\nname = \"a\"\nmaps.tasks = 1\narrive = [1, 2]\n".to_owned()),
        ] {
            let told = told(&text);
            assert!(told.starts_with(&format!("s.toml:{line}: ")) && told.contains("write a table"), "{text}{told}");
        }
        assert!(parse(&format!("[hadoop]\ncan = {{ restart = true }}\n{JOB}")).unwrap().hadoop.can.restart);
    }

    #[test]
    fn every_scenario_that_is_shipped_reads_as_any_reader_of_toml_has_it() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let all = std::fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path());
        let scenarios = all.filter(|path| path.extension().is_some_and(|ext| ext == "toml"));
        let mut count = 0;
        for path in scenarios {
            let text = std::fs::read_to_string(&path).unwrap();
            let Ok(by_toml) = toml::from_str::<Scenario>(&text) else { continue };
            assert_eq!(strict::from_str(&text), Ok(by_toml), "{}", path.display());
            count += 1;
        }
        assert!(count > 3, "{count}");
    }

    #[test]
    fn a_law_that_does_not_exist_is_told_with_those_that_do() {
        let told = told("[[jobs]]\nname = \"a\"\nmaps.tasks = { gamma = 1 }\n");
        assert!(told.starts_with("s.toml:3: unknown variant `gamma`") && told.contains("lognormal"), "{told}");
    }
}
