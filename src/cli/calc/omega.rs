//! `drover calc omega`.

use super::{Answer, Line, given};
use crate::cli::output::{Exit, Failure};
use clap::Args;
use drover_core::estimate::omega::{Downstream, Transfer};

const HELP: &str = "\
Dolly (NSDI'13) §4.4: a downstream clone waits for ω for a copy of an upstream output of its own, then shares one that is there. Of two clones, the one that reads \
first and the other take

    T_C = ω + (r − Bω)/(αB)  and  2ω + (r − Bω)/(αB)   if they have to share      step 1
    T_E = r/B                and  r/B + min(r/B, ω)    if each gets its own

to read it, p_c T_C + (1 − p_c) T_E as is to be expected. Clone i takes T_i for all of its outputs and its computation, the task min T_i (step 2), and ω is what makes \
that shortest (step 3). p_c, the probability of getting no copy of one's own, is inversely proportional to ω.

Bandwidth, contention and exclusive probability are one value each, or samples of completed jobs: lists of equal length, separated by commas. Without computation times \
that differ the clone that reads first always wins, and the best is to read one after the other: ω = r/B.

Example: reads of 100 MB at 50 MB/s, or 30 when shared; 95 of 100 clones have a copy of their own by the time a read takes
  drover calc omega --size 100 --bandwidth 50 --contention 0.6 --exclusive-probability 0.95 \\
    --compute-times 1,1,1,8";

/// Lists may be this long.
const SAMPLES_MAX: usize = 1_000;

/// `drover calc omega`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// B: data read in a second without contention
    #[arg(long, value_name = "RATE,…", required = true, value_delimiter = ',', value_parser = given::amount, allow_negative_numbers = true)]
    bandwidth: Vec<f64>,
    /// α: share of that under contention, above 0 and at most 1
    #[arg(long, value_name = "SHARE,…", required = true, value_delimiter = ',', value_parser = given::progress, allow_negative_numbers = true)]
    contention: Vec<f64>,
    /// r: size of an upstream output, in the unit of --bandwidth
    #[arg(long, value_name = "SIZE", value_parser = given::amount, allow_negative_numbers = true)]
    size: f64,
    /// 1 − p_c: probability of getting a copy of one's own within --waited, from 0 to 1
    #[arg(long, value_name = "P,…", required = true, value_delimiter = ',', value_parser = given::share, allow_negative_numbers = true)]
    exclusive_probability: Vec<f64>,
    /// The wait after which that was measured [default: the time of a read, size/bandwidth]
    #[arg(long, value_name = "SECONDS", value_parser = given::seconds, allow_negative_numbers = true)]
    waited: Option<f64>,
    /// Computation times of downstream tasks, equally likely
    #[arg(long, value_name = "SECONDS,…", value_delimiter = ',', default_value = "0", value_parser = given::seconds_or_none, allow_negative_numbers = true)]
    compute_times: Vec<f64>,
    /// Upstream outputs that a task reads
    #[arg(long, value_name = "N", value_parser = given::count, allow_negative_numbers = true, default_value_t = 1)]
    outputs: u32,
}

impl Command {
    /// The lists side by side.
    fn transfers(&self) -> Result<Vec<Transfer>, Failure> {
        let lists = [&self.bandwidth, &self.contention, &self.exclusive_probability];
        let samples = lists.iter().map(|list| list.len()).max().unwrap_or(0);
        if lists.iter().any(|list| list.len() != 1 && list.len() != samples) {
            let [a, b, c] = lists.map(Vec::len);
            let range = "allowed: one value each, or as many as the longest";
            let what = format!("--bandwidth has {a} values, --contention {b}, --exclusive-probability {c}; {range}");
            return Err(Failure::new(Exit::Usage, what));
        }
        if samples > SAMPLES_MAX || self.compute_times.len() > SAMPLES_MAX {
            return Err(Failure::new(
                Exit::Usage,
                format!("a list is too long; allowed: at most {SAMPLES_MAX} values"),
            ));
        }
        let nth = |list: &[f64], sample: usize| list[if list.len() == 1 { 0 } else { sample }];
        let one = |sample| Transfer {
            bandwidth: nth(&self.bandwidth, sample),
            contention: nth(&self.contention, sample),
            exclusive: nth(&self.exclusive_probability, sample),
            waited: self.waited,
        };
        Ok((0..samples).map(one).collect())
    }

    pub fn answer(&self) -> Result<Answer, Failure> {
        let transfers = self.transfers()?;
        let mut compute = self.compute_times.clone();
        compute.sort_unstable_by(f64::total_cmp);
        let task = Downstream { size: self.size, outputs: self.outputs, transfers: &transfers, compute: &compute };
        let best = task.delay().ok_or_else(|| Failure::new(Exit::Usage, "no samples given"))?;
        Ok(Answer(vec![
            Line::new("omega_s", best.omega, "the ω with the shortest duration, NSDI'13 §4.4 step 3"),
            Line::new("duration_s", best.duration, "expected min T_i over the clones, step 2"),
            Line::new("duration_without_wait_s", task.duration(0.0), "the same at ω = 0"),
        ]))
    }
}
