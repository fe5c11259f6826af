//! `drover calc late`.

use super::{Answer, Line, given};
use clap::Args;
use drover_core::estimate::time_left::late_seconds;
use drover_core::model::Millis;

const HELP: &str = "\
LATE (OSDI'08) §4: a task's progress rate is its progress score over the time it has run, and its time left is

    (1 − ProgressScore) / ProgressRate

Example: the two tasks of the paper's Fig. 2, of which the first has 40 s left and the second 50
  drover calc late --progress 0.6 --elapsed 20
  drover calc late --progress 0.5 --elapsed 10";

/// `drover calc late`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// Progress score of the task, above 0 and at most 1
    #[arg(long, value_name = "SHARE", value_parser = given::progress, allow_negative_numbers = true)]
    progress: f64,
    /// How long it has run
    #[arg(long, value_name = "SECONDS", value_parser = given::seconds, allow_negative_numbers = true)]
    elapsed: f64,
}

impl Command {
    pub fn answer(&self) -> Answer {
        let left = late_seconds(self.progress, Millis::from_secs_f64(self.elapsed));
        Answer(vec![Line::new("time_left_s", left, "(1 − ProgressScore) / ProgressRate, LATE §4")])
    }
}
