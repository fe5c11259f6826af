//! What `drover reproduce` found, experiment by experiment, in a file with a line of JSON each, so that a second start carries on.

use super::output::{Exit, Failure};
use crate::simulation::reproduce::{Experiment, Finding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How a line of [`Ended`] begins, by whichever program and however torn.
const BEGINS: &str = "{\"build\":";

/// What has ended.
pub struct Kept {
    file: Option<PathBuf>,
    build: String,
    seeds: u64,
    ended: Vec<Ended>,
}

/// One experiment: numbers of another program or of other seeds are not mixed with these.
#[derive(Serialize, Deserialize)]
struct Ended {
    build: String,
    seeds: u64,
    name: String,
    /// What slowness was tied to.
    slowness: String,
    found: Vec<Finding>,
}

impl Kept {
    /// What the file has of this program with so many seeds; says what it leaves alone.
    pub fn open(file: Option<&Path>, seeds: u64) -> Result<Kept, Failure> {
        let build = this_program()?;
        let mut kept = Kept { file: file.map(Path::to_owned), build, seeds, ended: Vec::new() };
        let Some(file) = file else { return Ok(kept) };
        // Before hours of work: can it be written?
        OpenOptions::new().create(true).append(true).open(file).map_err(|error| of_file(file, &error))?;
        let text = std::fs::read_to_string(file).map_err(|error| of_file(file, &error))?;
        if text.is_empty() {
            return Ok(kept);
        }
        if !text.lines().any(|line| line.starts_with(BEGINS)) {
            let words =
                "holds something else than experiments that were kept; name another file, which need not be there";
            return Err(Failure::new(Exit::Usage, format!("{}: {words}", file.display())));
        }
        kept.ended = text.lines().filter_map(|line| kept.read(line)).collect();
        let (ours, all) = (kept.ended.len(), text.lines().filter(|line| !line.is_empty()).count());
        let words = "are of this program with as many seeds, and are not run again";
        writeln!(std::io::stderr(), "{}: {ours} of {all} experiments {words}", file.display())?;
        Ok(kept)
    }

    fn read(&self, line: &str) -> Option<Ended> {
        // A line that was torn when the process ended is no JSON, and counts as another's.
        serde_json::from_str(line).ok().filter(|one: &Ended| one.build == self.build && one.seeds == self.seeds)
    }

    /// What an experiment found.
    pub fn of(&self, name: &str) -> Option<&[Finding]> {
        self.ended.iter().find(|one| one.name == name).map(|one| one.found.as_slice())
    }

    /// One more has ended.
    pub fn add(&mut self, of: &Experiment, found: Vec<Finding>) -> Result<(), Failure> {
        let (build, name, slowness) = (self.build.clone(), of.name.to_owned(), of.slowness.to_owned());
        let one = Ended { build, seeds: self.seeds, name, slowness, found };
        if let Some(file) = &self.file {
            let line = format!("{}\n", serde_json::to_string(&one)?);
            let torn = std::fs::read(file).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'));
            let mut out =
                OpenOptions::new().create(true).append(true).open(file).map_err(|error| of_file(file, &error))?;
            let whole = if torn { format!("\n{line}") } else { line };
            out.write_all(whole.as_bytes()).map_err(|error| of_file(file, &error))?;
        }
        self.ended.push(one);
        Ok(())
    }
}

fn this_program() -> Result<String, Failure> {
    let bytes = std::fs::read(std::env::current_exe()?)?;
    Ok(Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn of_file(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::reproduce::all;

    fn named(name: &str) -> Experiment {
        all().into_iter().find(|one| one.name == name).unwrap()
    }

    #[test]
    fn what_ended_is_there_again_beside_a_torn_line_and_other_seeds_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("kept.jsonl");
        Kept::open(Some(&file), 4).unwrap().add(&named("late.s54"), vec![]).unwrap();
        std::fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"build\": \"").unwrap();
        Kept::open(Some(&file), 4).unwrap().add(&named("late.s52"), vec![]).unwrap();
        let again = Kept::open(Some(&file), 4).unwrap();
        assert!(again.of("late.s54").is_some() && again.of("late.s52").is_some() && again.of("late.fig2").is_none());
        assert!(std::fs::read_to_string(&file).unwrap().contains("\"slowness\":\"Slowness is tied to the node"));
        assert!(Kept::open(Some(&file), 5).unwrap().of("late.s54").is_none());
    }

    #[test]
    fn without_a_file_what_ended_is_kept_in_memory_alone() {
        let mut kept = Kept::open(None, 4).unwrap();
        kept.add(&named("late.s54"), vec![]).unwrap();
        assert!(kept.of("late.s54").is_some());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let gone = Path::new("/nowhere/at/all/kept.jsonl");
        let told = Kept::open(Some(gone), 4).err().unwrap();
        assert!(told.message.contains("/nowhere/at/all/kept.jsonl"), "{}", told.message);
    }

    #[test]
    fn a_file_of_something_else_is_refused_and_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("drover.toml");
        std::fs::write(&file, "policy = \"late\"\n").unwrap();
        let told = Kept::open(Some(&file), 4).err().unwrap();
        assert!(told.message.contains("drover.toml") && told.exit == Exit::Usage, "{}", told.message);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "policy = \"late\"\n");
    }
}
