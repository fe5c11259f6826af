//! What is told of a simulation, whatever it is printed as.

use super::summary::PolicySummary;
use drover_core::sim::{Scenario, TracedJob, TracedTasks};
use serde::Serialize;
use std::collections::BTreeMap;

/// All of it; as JSON, what `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// The scenario, in its own words.
    pub about: String,
    /// What slowness is tied to.
    pub slowness_is_tied_to: Vec<&'static str>,
    /// What attempts share beside their nodes' pace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<&'static str>,
    /// What a trace does not tell and was assumed, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// What was amiss in it and was mended or left out, and how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub repairs: BTreeMap<String, u64>,
    /// Policies that did nothing, and why, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<String>,
    /// How many seeds were asked for, from 1 on.
    pub seeds: u64,
    /// All runs were played.
    pub complete: bool,
    /// How many were not.
    pub missing_runs: u64,
    /// The policy that others are compared with.
    pub baseline: String,
    /// What was swept; the policies then are [`Sweep::of`] each, beside those that no setting changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Each policy.
    pub policies: Vec<PolicySummary>,
}

/// A setting, and the values that it has by turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sweep {
    /// Its key.
    pub setting: String,
    /// The values, in the order in which they are shown.
    pub values: Vec<String>,
}

impl Sweep {
    /// A policy's name under each value, and what is set there.
    pub fn of(&self, policy: &str) -> impl Iterator<Item = (String, String)> {
        self.values.iter().map(move |value| (format!("{policy} {value}"), format!("{}={value}", self.setting)))
    }

    /// The policies that were run under all values, by their own names.
    pub fn policies<'a>(&self, all: &'a [PolicySummary]) -> Vec<&'a str> {
        let first = format!(" {}", self.values.first().map_or("", String::as_str));
        all.iter().filter_map(|one| one.policy.strip_suffix(&first)).collect()
    }
}

impl std::fmt::Display for Sweep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.setting, self.values.join(","))
    }
}

impl Told {
    /// What slowness is tied to, in one line.
    pub fn tied_to(&self) -> String {
        if self.slowness_is_tied_to.is_empty() { "nothing".into() } else { self.slowness_is_tied_to.join(", ") }
    }

    /// Do transfers compete with one another?
    pub fn transfers(&self) -> String {
        if self.shared.is_empty() {
            return "Transfers over the network take their time and do not compete with one another.".into();
        }
        let shared = self.shared.join(", ");
        format!(
            "Attempts share {shared}, max–min fairly; what goes through none of these takes its time and competes with nothing."
        )
    }

    /// Can attempts fail by themselves?
    pub fn fails(&self) -> bool {
        self.policies.iter().any(|one| one.costs.contains_key("failed_attempts"))
    }

    /// What is to be known of a trace, a sentence each.
    pub fn of_trace(&self) -> impl Iterator<Item = String> {
        let repaired = self.repairs.iter().map(|(what, count)| format!("{count} {what}"));
        self.assumed.iter().cloned().chain(repaired)
    }

    /// That runs are missing, where some are.
    pub fn cut_short(&self) -> Option<String> {
        let all = self.seeds * self.policies.len() as u64;
        let missing = self.missing_runs;
        (!self.complete)
            .then(|| format!("Cut short: {missing} of {all} runs are missing. {} seeds were asked for.", self.seeds))
    }
}

/// What slowness is tied to in a scenario.
pub fn tied_to(scenario: &Scenario) -> Vec<&'static str> {
    let of_trace = scenario.traced.iter().any(has_luck).then_some("the attempt, as in the trace");
    let of_hosts = scenario.hosts.all().iter().any(|host| host.slower != 1.0);
    let of_hosts = of_hosts.then_some("the node, as in the trace");
    of_trace
        .into_iter()
        .chain(of_hosts)
        .chain(scenario.slowness.tied_to(&scenario.cluster, &scenario.trouble, &scenario.jobs))
        .collect()
}

/// Was one attempt of a phase of a trace's job luckier than another? A trace that tells of jobs only says nothing of that.
fn has_luck(job: &TracedJob) -> bool {
    job.phases.iter().any(|phase| match &phase.tasks {
        TracedTasks::Alike(..) => false,
        TracedTasks::Each(tasks) => tasks.windows(2).any(|two| two[0].first != two[1].first),
    })
}
