//! `drover replay`: a recording through the engine again.

use super::output::{Exit, Failure};
use crate::history::{Options, ReadError, Report, files, replay};
use crate::words::{count, policy};
use clap::Args;
use drover_core::model::Decision;
use drover_core::policy::PolicyName;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Prints each decision as one line of JSON, exactly as it was taken live. A summary follows on standard error.

Examples:
  drover replay /var/lib/drover                  the decisions of a recording
  drover replay /var/lib/drover --check          do they come out the same? Exit code 4 if not
  drover replay /var/lib/drover --policy none    what another policy would have decided";

/// `drover replay`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Directories written by `drover serve --record`, or segments of one in their order
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Decide by this policy instead of the recorded one: late, late-early, hadoop, hadoop-tuned, hadoop-0.20, mapreduce, dryad, mantri, dolly, drover, blacklist or none
    #[arg(long, value_parser = policy, conflicts_with = "check")]
    policy: Option<PolicyName>,
    /// Compare every decision with the recorded one, byte for byte
    #[arg(long)]
    check: bool,
    /// Leave out a last line that is cut off, as after a crash, instead of stopping there
    #[arg(long)]
    lenient: bool,
    /// End with the summary as a line of JSON on standard output: {"summary": …}
    #[arg(long)]
    json: bool,
}

fn failed(error: ReadError) -> Failure {
    match error {
        // The reader of our output has seen enough.
        ReadError::Io(_, error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        error => Failure::new(Exit::Failed, error.to_string()),
    }
}

impl Command {
    /// Runs it.
    pub fn run(&self) -> Result<(), Failure> {
        let options = Options { policy: self.policy, check: self.check, lenient: self.lenient };
        let mut out = BufWriter::new(io::stdout().lock());
        let mut emit = |_: &Decision, text: &str| writeln!(out, "{text}");
        let report = replay(&files(&self.paths).map_err(failed)?, options, &mut emit).map_err(failed)?;
        if self.json {
            writeln!(out, "{}", json!({"summary": report}))?;
        }
        out.flush()?;
        self.conclude(&report)
    }

    /// What was replayed, and what of the recording was not there.
    fn says(&self, report: &Report) -> String {
        let Report { segments, observations, dropped, passes, decisions, lost, cut_off, unfinished, .. } = report;
        let Report { states, missing, empty, other_format, different, .. } = report;
        let mut says = format!(
            "{} in {} over {} ({dropped} of them refused), {}",
            count(*decisions, "decision", "decisions"),
            count(*passes, "pass", "passes"),
            count(*observations, "observation", "observations"),
            count(*segments, "segment", "segments")
        );
        if *lost > 0 {
            says += &format!(
                "; lost when recording: {}, and the recorded state was taken after the gap",
                count(*lost, "entry", "entries")
            );
        }
        if *cut_off > 0 {
            says += &format!("; cut off and left out: {}", count(*cut_off, "last line", "last lines"));
        }
        if *missing > 0 {
            says += &format!(
                "; missing between others, or out of order: {}, and the recorded state was taken after the gap",
                count(*missing, "segment", "segments")
            );
        }
        if *empty > 0 {
            says += &format!("; empty: {}", count(*empty, "file", "files"));
        }
        if *other_format > 0 {
            says += &format!(
                "; left out, as another build wrote them in a format that this one does not read: {}",
                count(*other_format, "segment", "segments")
            );
        }
        match unfinished {
            0 => {}
            1 => says += "; the run ended within a pass, and what it decided last is not recorded",
            runs => says += &format!("; {runs} runs ended within a pass, and what they decided last is not recorded"),
        }
        if self.check && *different == 0 && *states > 0 {
            let whole = [unfinished, missing, empty, other_format, lost, cut_off].iter().all(|count| **count == 0);
            says += if whole { "; all as recorded" } else { "; all else as recorded" };
        }
        says
    }

    /// A run that ended within a pass was killed there, or is writing on: no difference.
    fn conclude(&self, report: &Report) -> Result<(), Failure> {
        let Report { states, different, differences, .. } = report;
        if !self.json {
            writeln!(io::stderr(), "{}", self.says(report))?;
        }
        if self.check && *states == 0 {
            return Err(Failure::new(Exit::Check, "there is no whole segment in it, and so nothing to check"));
        }
        let more = match *different - differences.len() as u64 {
            0 => String::new(),
            more => format!("\nand {more} more"),
        };
        match differences.as_slice() {
            [] => Ok(()),
            some => {
                let words = format!("the replay differs from the recording\n{}{more}", some.join("\n"));
                Err(Failure::new(Exit::Check, words))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: Command = Command { paths: Vec::new(), policy: None, check: true, lenient: false, json: true };

    #[test]
    fn a_recording_that_lacks_facts_is_not_all_as_recorded() {
        let whole = Report { segments: 2, states: 2, ..Report::default() };
        assert!(CHECK.says(&whole).ends_with("; all as recorded"));
        for lacks in [Report { lost: 1, ..whole.clone() }, Report { cut_off: 1, ..whole }] {
            let says = CHECK.says(&lacks);
            assert!(says.ends_with("; all else as recorded"), "{says}");
        }
    }

    #[test]
    fn a_check_of_a_recording_that_holds_no_state_of_an_engine_has_checked_nothing_and_fails() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("drover-00000001.jsonl");
        let format = crate::history::format::FORMAT;
        let header =
            format!(r#"{{"segment":{{"format":{format},"drover":"0","run":"a","segment":1,"at":1,"lost":0}}}}"#);
        std::fs::write(&file, header + "\n").unwrap();
        let failure = Command { paths: vec![file], ..CHECK }.run().unwrap_err();
        assert!(format!("{failure:?}").contains("nothing to check"), "{failure:?}");
    }
}
