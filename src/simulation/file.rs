//! Reads a scenario, and tells what is wrong with one by file and line.

use drover_core::sim::{Fault, Scenario, TracedJob};
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

/// Reads and checks a scenario, with the jobs of a trace beside its own.
///
/// # Errors
/// Every fault with its line.
pub fn read(path: &Path, traced: Vec<TracedJob>) -> Result<Scenario, BadScenario> {
    let bad = |faults| BadScenario { path: path.to_owned(), faults };
    let unread = |error: std::io::Error| bad(vec![(0, format!("cannot be read: {error}"))]);
    let size = std::fs::metadata(path).map_err(unread)?.len();
    if size > LIMIT {
        return Err(bad(vec![(0, format!("is {size} bytes long; a scenario has at most {LIMIT}"))]));
    }
    parse(&std::fs::read_to_string(path).map_err(unread)?, traced).map_err(bad)
}

fn parse(text: &str, traced: Vec<TracedJob>) -> Result<Scenario, Vec<(usize, String)>> {
    let line = |offset: usize| 1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let wrong = |error: toml::de::Error| {
        vec![(error.span().map_or(0, |span| line(span.start)), error.message().replace('\n', " "))]
    };
    let scenario = Scenario { traced, ..toml::from_str(text).map_err(wrong)? };
    let faults = scenario.faults();
    if faults.is_empty() {
        return Ok(scenario);
    }
    let table = DeTable::parse(text).map_err(wrong)?;
    let place = |fault: &Fault| (find(table.get_ref(), &fault.key).map_or(0, line), fault.to_string());
    Err(faults.iter().map(place).collect())
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

    fn told(text: &str) -> String {
        let bad = |faults| BadScenario { path: "s.toml".into(), faults };
        parse(text, vec![]).map_err(bad).err().map_or_else(String::new, |error| error.to_string())
    }

    const JOB: &str =
        "[[jobs]]\nname = \"a\"\nmaps = { tasks = 4, work = { lognormal = { median = 30, sigma = 0.4 } } }\n";

    #[test]
    fn a_scenario_is_read_as_it_is_written() {
        let scenario = parse(&format!("[cluster]\nnodes = 9\n{JOB}"), vec![]).unwrap();
        assert_eq!((scenario.cluster.nodes, scenario.jobs[0].maps.memory_mb), (9, 1024));
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
    fn what_is_not_toml_is_told_with_its_line() {
        assert!(told("[cluster]\nnodes = = 4\n").starts_with("s.toml:2: "), "{}", told("[cluster]\nnodes = = 4\n"));
    }

    #[test]
    fn a_law_that_does_not_exist_is_told_with_those_that_do() {
        let told = told("[[jobs]]\nname = \"a\"\nmaps.tasks = { gamma = 1 }\n");
        assert!(told.starts_with("s.toml:3: unknown variant `gamma`") && told.contains("lognormal"), "{told}");
    }
}
