//! `drover calc mantri`.

use super::{Answer, Line, given};
use crate::cli::output::{Exit, Failure};
use clap::{ArgAction, Args};
use drover_core::estimate::distribution::Distribution;
use drover_core::estimate::remaining::mantri_seconds;
use drover_core::model::{Bytes, Millis};
use drover_core::policy::mantri::{MantriParams, Running, choose};

const HELP: &str = "\
Mantri (OSDI'10) §5.1, Pseudocode 1, for one running task. While tasks wait for slots:

    kill and restart   if t_rem > E(t_new) + Delta, at most 3 times a task        line 6
    else duplicate     if P(t_rem > t_new (c+1)/c) > delta                        line 7

and once all have begun:

    duplicate          if t_rem − E(t_new) > rho Delta                            line 10

with at most 3 copies of a task, and with eq. 2 of §5.5

    t_rem = t_elapsed (d − d_read) / d_read + t_wrapup

Line 10 prints E(t_new − t_rem), and eq. 2 t_elapsed d / d_read; meant is what stands above. All comparisons are strict.

Example: a task that has read a quarter of its input in a minute, where a new one would take 10, 12 or 30 s
  drover calc mantri --elapsed 60 --size 128MiB --read 32MiB --wrapup 5 --t-new 10,12,30 \\
    --copies 1 --waiting true";

/// `drover calc mantri`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// t_elapsed: how long the task has run
    #[arg(long, value_name = "SECONDS", value_parser = given::seconds, allow_negative_numbers = true)]
    elapsed: f64,
    /// d: size of its input
    #[arg(long, value_name = "BYTES", value_parser = given::bytes, allow_negative_numbers = true)]
    size: Bytes,
    /// d_read: how much of it has been read, above 0 and at most --size
    #[arg(long, value_name = "BYTES", value_parser = given::bytes, allow_negative_numbers = true)]
    read: Bytes,
    /// t_wrapup: time it computes after all input is read
    #[arg(long, value_name = "SECONDS", value_parser = given::seconds_or_none, allow_negative_numbers = true)]
    wrapup: f64,
    /// t_new: equally likely times of a new copy, separated by commas
    #[arg(long, value_name = "SECONDS,…", required = true, value_delimiter = ',', value_parser = given::seconds, allow_negative_numbers = true)]
    t_new: Vec<f64>,
    /// c: copies of the task that run now
    #[arg(long, value_name = "C", value_parser = given::count, allow_negative_numbers = true)]
    copies: u32,
    /// Whether tasks wait for slots
    #[arg(long, value_name = "true|false", action = ArgAction::Set)]
    waiting: bool,
    /// Delta: period of progress reports
    #[arg(long, value_name = "SECONDS", value_parser = given::seconds, allow_negative_numbers = true, default_value_t = MantriParams::default().period.as_secs_f64())]
    period: f64,
    /// Restarts that the task has had
    #[arg(long, value_name = "N", value_parser = given::count_or_none, allow_negative_numbers = true, default_value_t = 0)]
    restarts: u32,
    /// delta: probability above which a copy is worth it while tasks wait, from 0 to 1
    #[arg(long, value_name = "P", value_parser = given::share, allow_negative_numbers = true, default_value_t = MantriParams::default().delta)]
    delta: f64,
    /// rho: periods that a copy must gain once all tasks have begun
    #[arg(long, value_name = "FACTOR", value_parser = given::factor, allow_negative_numbers = true, default_value_t = MantriParams::default().rho)]
    rho: f64,
}

impl Command {
    pub fn answer(&self) -> Result<Answer, Failure> {
        let (Bytes(size), Bytes(read)) = (self.size, self.read);
        if read > size {
            let range = format!("--read {read} is out of range; allowed: from 1 to --size, which is {size}");
            return Err(Failure::new(Exit::Usage, range));
        }
        let [elapsed, wrap_up, period] = [self.elapsed, self.wrapup, self.period].map(Millis::from_secs_f64);
        let params = MantriParams { period, rho: self.rho, delta: self.delta, ..MantriParams::default() };
        let t_new = Distribution::new(self.t_new.clone());
        let ruling = mantri_seconds(elapsed, self.size, self.read, wrap_up).and_then(|t_rem| {
            let (copies, restarts, tasks_waiting) = (self.copies, self.restarts, self.waiting);
            let task = Running { t_rem, t_new: t_new.times(), copies, restarts, can_restart: true, tasks_waiting };
            Some((t_rem, choose(&task, &params)?))
        });
        // Ranges leave nothing that has no answer.
        let (t_rem, ruling) =
            ruling.ok_or_else(|| Failure::new(Exit::Usage, "nothing was read, or no --t-new given"))?;
        Ok(Answer(vec![
            Line::new("t_rem_s", t_rem, "t_elapsed (d − d_read) / d_read + t_wrapup, Mantri §5.5 eq. 2"),
            Line::new("t_new_mean_s", ruling.t_new_mean, "E(t_new)"),
            Line::new("probability", ruling.probability, "P(t_rem > t_new (c+1)/c)"),
            Line::new("decision", ruling.rule.choice().label(), ""),
            Line::new("rule", ruling.rule.words(), ""),
        ]))
    }
}
