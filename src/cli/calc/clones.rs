//! `drover calc clones`.

use super::{Answer, Line, given};
use clap::Args;
use drover_core::estimate::straggle::{CLONES_MAX, Scheme, clones_per_task, job_clones};

const HELP: &str = "\
For a job of one phase with n tasks, each of which straggles with probability p, the smallest number c of clones with which the job straggles with a probability \
of at most ε. The first copy of a task counts as one of them.

    task by task       1 − (1 − p^c)^n ≤ ε     Dolly NSDI'13 §3.2, Pseudocode 1 line 2
    the job as a whole (1 − (1 − p)^n)^c ≤ ε   Dolly HotCloud'12 §3.1

Decided by comparing the decimals exactly: where the papers' logarithms meet a whole number, floating point rounds either way.

Example: at the ε of both papers
  drover calc clones --tasks 10 --straggler-probability 0.1 --epsilon 0.05";

/// `drover calc clones`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// n: tasks of the job
    #[arg(long, value_name = "N", value_parser = given::count, allow_negative_numbers = true)]
    tasks: u32,
    /// p: probability that a task straggles, from 0 to below 1
    #[arg(long, value_name = "P", value_parser = given::probability_below_1, allow_negative_numbers = true)]
    straggler_probability: f64,
    /// ε: acceptable probability that the job straggles, above 0 and below 1
    #[arg(long, value_name = "EPSILON", value_parser = given::risk, allow_negative_numbers = true)]
    epsilon: f64,
}

impl Command {
    pub fn answer(&self) -> Answer {
        let (n, p, epsilon) = (self.tasks, self.straggler_probability, self.epsilon);
        let clones = clones_per_task(n, p, epsilon);
        let reached = clones.and_then(|clones| Scheme::Task.straggle_probability(n, clones, p));
        let line = |name, clones: Option<u32>, formula: &str| match clones {
            Some(_) => Line::new(name, clones, format!("the smallest c with {formula}")),
            None => Line::new(name, clones, format!("more than {CLONES_MAX} for {formula}")),
        };
        Answer(vec![
            line("clones_per_task", clones, "1 − (1 − p^c)^n ≤ ε, NSDI'13 §3.2"),
            line("job_clones", job_clones(n, p, epsilon), "(1 − (1 − p)^n)^c ≤ ε, HotCloud'12 §3.1"),
            Line::new(
                "straggle_probability",
                reached,
                format!("reached with clones_per_task: {}", Scheme::Task.rule()),
            ),
        ])
    }
}
