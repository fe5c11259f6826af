//! `drover calc lpt`.

use super::{Answer, Line, given};
use clap::Args;
use drover_core::estimate::lpt::bound;

const HELP: &str = "\
Mantri (OSDI'10) §5.4, Theorem 1 (Graham): on s slots, starting the tasks in descending order of their data ends no later than

    4/3 − 1/(3s)

times the best possible time.

Example:
  drover calc lpt --slots 100";

/// `drover calc lpt`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// s: slots
    #[arg(long, value_name = "S", value_parser = given::count, allow_negative_numbers = true)]
    slots: u32,
}

impl Command {
    pub fn answer(&self) -> Answer {
        Answer(vec![Line::new("bound", bound(self.slots), "4/3 − 1/(3s), Mantri §5.4 Theorem 1")])
    }
}
