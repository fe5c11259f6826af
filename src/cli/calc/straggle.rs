//! `drover calc straggle`.

use super::{Answer, Line, given};
use crate::cli::output::{Exit, Failure};
use clap::Args;
use drover_core::estimate::straggle::Scheme;

const HELP: &str = "\
The probability that a job straggles, with n tasks a phase, c clones of each, and probability p of a task to straggle (Dolly NSDI'13):

    task  1 − (1 − p^c)^n                                     one phase, each task cloned, §3.1
    job   (1 − (1 − p)^n)^c                                   one phase, the job cloned, §3.1
    cac   1 − Σ d=1..c [Ψ(n,c,d) − Ψ(n,c,d+1)] (1 − p^d)^n    two phases, §4.2 eq. 2
    cc    1 − Ψ(n,c,1) (1 − p^c)^n                            two phases, §4.2 eq. 3

    Ψ(n,c,d) = (Σ i=0..c−d C(c,i) p^i (1−p)^(c−i))^n          §4.2 eq. 1

cac and cc are of two phases of n tasks each. Under cac each upstream clone is read by one downstream clone of each task, under cc all read the upstream clone that ends \
first. Ψ is the probability that each clone group has at least d clones that do not straggle. Eq. 2 prints Ψ(n,c,d) − Ψ(n,c,d−1) for exactly d; meant is what stands above.

Example: Fig. 5's gap between CAC and CC
  drover calc straggle --tasks 10 --clones 3 --straggler-probability 0.08 --scheme cac
  drover calc straggle --tasks 10 --clones 3 --straggler-probability 0.08 --scheme cc";

/// `drover calc straggle`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// n: tasks of each phase
    #[arg(long, value_name = "N", value_parser = given::count, allow_negative_numbers = true)]
    tasks: u32,
    /// c: clones of each task, or of the job; the first copy is one of them
    #[arg(long, value_name = "C", value_parser = given::count, allow_negative_numbers = true)]
    clones: u32,
    /// p: probability that a task straggles, from 0 to 1
    #[arg(long, value_name = "P", value_parser = given::probability, allow_negative_numbers = true)]
    straggler_probability: f64,
    /// How it is cloned: task, job, cac or cc
    #[arg(long, value_parser = scheme)]
    scheme: Scheme,
}

fn scheme(text: &str) -> Result<Scheme, String> {
    let known = || Scheme::ALL.map(Scheme::label).join(", ");
    Scheme::ALL.into_iter().find(|scheme| scheme.label() == text).ok_or_else(|| format!("known are {}", known()))
}

impl Command {
    pub fn answer(&self) -> Result<Answer, Failure> {
        let probability = self.scheme.straggle_probability(self.tasks, self.clones, self.straggler_probability);
        let (scheme, most) = (self.scheme.label(), self.scheme.clones_max());
        let range =
            || format!("--clones {} is out of range; allowed with --scheme {scheme}: from 1 to {most}", self.clones);
        let probability = probability.ok_or_else(|| Failure::new(Exit::Usage, range()))?;
        Ok(Answer(vec![Line::new("straggle_probability", probability, self.scheme.rule())]))
    }
}
