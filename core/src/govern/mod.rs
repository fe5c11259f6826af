//! Proposals in, decisions out: modes, safety, budgets, headroom. Every refusal has a name.

pub mod asked;
pub mod avoiding;
pub mod bars;
pub mod breaker;
pub mod budget;
pub mod claims;
pub mod clocks;
pub mod clones;
pub mod copies;
pub mod debounce;
pub mod eligible;
pub mod flight;
pub mod fortune;
pub mod free;
pub mod in_flight;
pub mod measures;
pub mod minute;
pub mod nodes;
pub mod output;
mod paper;
pub mod partitions;
pub mod refusals;
pub mod revalidate;
pub mod sizes;
pub mod tally;
pub mod withdrawals;

use crate::model::{Millis, Mode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What may be done, and how much of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GovernParams {
    /// Mode of the whole cluster.
    pub mode: Mode,
    /// Modes of queues, by path or by the last part of it.
    pub queue_modes: BTreeMap<String, Mode>,
    /// Modes of users.
    pub user_modes: BTreeMap<String, Mode>,
    /// Modes of policies, by name.
    pub policy_modes: BTreeMap<String, Mode>,
    /// SpeculativeCap: copies in flight in the whole cluster, as a share (0–1) of its slots, 1 for every slot. LATE §4: 10 %. At least one.
    pub cluster_cap: f64,
    /// Copies that may be in flight in the cluster however small it is.
    pub cluster_floor: u32,
    /// Copies in flight in one job, as a share (0–1) of its tasks of the kind. At least one.
    pub job_cap: f64,
    /// Copies that may be in flight in one job however small it is, for up to half of its tasks of the kind.
    pub job_floor: u32,
    /// Copies in flight of one user's jobs, as a share (0–1) of what the cluster may have. At least one.
    pub user_cap: f64,
    /// Copies in flight of one queue's jobs, likewise.
    pub queue_cap: f64,
    /// Copies in flight for attempts that run on one host: a node that fails or stalls slows all of its tasks at once. Clones are not counted; 0: no such limit.
    pub node_copies: u32,
    /// Copies decided on in the whole cluster within any 60 s of the service's clock, 0 for no such limit; `None`: ten for each copy that may be in flight.
    pub copies_per_minute: Option<u32>,
    /// A proposal must have stood for so long, the AM's clock, before it is decided on; clones need not.
    pub debounce: Millis,
    /// A policy whose copies win a smaller share (0–1) than this, with 95 % confidence, is left to advice; 0: none is.
    pub breaker_below: f64,
    /// Copies that must have ended before that is said, 1–200; at most half of them count of one job.
    pub breaker_least: u32,
    /// How long it is left to advice.
    pub breaker_rest: Millis,
    /// Share (0–1) of the cluster's memory in use above which no copy is decided on.
    pub busy_above: f64,
    /// Share (0–1) of the jobs that Drover might act on that is left to Hadoop's own speculator, to compare with.
    pub holdout: f64,
    /// Which jobs those are: another salt draws others.
    pub holdout_salt: u64,
    /// Facts about a job, or about free room in the cluster, older than this decide nothing.
    pub stale_after: Millis,
    /// Copies of one job's tasks of one kind that may wait for a container at once.
    pub waiting_copies: u32,
    /// A copy that has not been started so long after the decision is not to be started any more.
    pub deadline: Millis,
    /// After the deadline, how long an answer may still be on its way before the attempts that are seen settle what became of it.
    pub answer_grace: Millis,
    /// Before a task whose copy was refused, lost on the way or died may have another. What is refused again and again, while the task's attempts stay as they are, waits twice as
    /// long each time, up to `cool_down`.
    pub try_again: Millis,
    /// Copies of one task that may be started in all, one after the other. 0: any number, and how many of them run at once is the policy's to say (Mantri's `copies_max`); after one that died
    /// the next waits for `try_again` alone, and not for as long as a copy takes.
    pub copies_per_task: u32,
    /// Copies of one job that may be lost in a row before it gets none for a while; 0: however many.
    pub futile_copies: u32,
    /// How long that is.
    pub cool_down: Millis,
    /// Copies of one user's jobs that may lose or die in a row on one host before that user's copies are kept off it for a while. At least one.
    pub node_futile_copies: u32,
    /// How long that is, from the last of them on; what is longer ago does not count either.
    pub node_cool_down: Millis,
    /// Output committers and formats, besides the known ones, that cope with two attempts; a name that ends in `.` or `*` stands for all it begins.
    pub safe_outputs: Vec<String>,
    /// Output committers and formats that do not, whatever else says so.
    pub unsafe_outputs: Vec<String>,
}

impl GovernParams {
    /// After so many attempts that a task was given by decision, may it be given another?
    pub fn allows_another(&self, tries: u32) -> bool {
        self.copies_per_task == 0 || tries < self.copies_per_task
    }

    /// After so many, some, may it be given one more at most?
    pub fn is_last_try(&self, tries: u32) -> bool {
        tries > 0 && !self.allows_another(tries + 1)
    }
}

impl Default for GovernParams {
    fn default() -> Self {
        GovernParams {
            mode: Mode::Advise,
            queue_modes: BTreeMap::new(),
            user_modes: BTreeMap::new(),
            policy_modes: BTreeMap::new(),
            // LATE §4 and §5.4.1: a tenth of the slots.
            cluster_cap: 0.10,
            // Hadoop's own floor (mapreduce.job.speculative.minimum-allowed-tasks): a tenth of a small cluster's slots is one copy, and headroom bounds it anyway.
            cluster_floor: 10,
            job_cap: 0.25,
            // Again Hadoop's own: a bad node of four can have more than a quarter of a small job. What is slower than its other half is the job itself.
            job_floor: 10,
            // One user's jobs may have all of it where no other asks; headroom keeps the rest.
            user_cap: 1.0,
            queue_cap: 1.0,
            // More than most nodes run at once: all of a bad node's tasks may be cured.
            node_copies: 64,
            copies_per_minute: None,
            // A second put off is a second lost on every straggler, and the policies wait for more than one report already.
            debounce: Millis(0),
            // The copies of Hadoop's own, to which its jobs would go back, win a tenth of the time in production (slowdown predictor, §1), LATE's 15 % (Mantri §6.3).
            breaker_below: 0.10,
            breaker_least: 20,
            // Long enough for what ailed the cluster to pass, short enough to see that it has.
            breaker_rest: Millis(600_000),
            // A copy takes only what is free; where that is too much, less is the operator's to say.
            busy_above: 1.0,
            holdout: 0.0,
            holdout_salt: 1,
            // Three rounds of polling 200 jobs at 20 requests a second.
            stale_after: Millis(30_000),
            // A pending map copy can make Hadoop preempt running reduces, and asks that nobody can serve help nobody.
            waiting_copies: 8,
            // What was true of a straggler is not any more after some exchanges were lost.
            deadline: Millis(8_000),
            answer_grace: Millis(5_000),
            // Some exchanges: what was in the way has had time to go.
            try_again: Millis(3_000),
            // The first may meet a bad node; a third says that the task itself is at fault.
            copies_per_task: 2,
            futile_copies: 3,
            cool_down: Millis(60_000),
            // One more than for a job: copies lose where the original was not so slow after all, too.
            node_futile_copies: 4,
            // The window of Dolly's machines (NSDI'13 §2.1.2).
            node_cool_down: Millis(300_000),
            safe_outputs: Vec::new(),
            unsafe_outputs: Vec::new(),
        }
    }
}
