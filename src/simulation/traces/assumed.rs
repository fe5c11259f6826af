//! What is assumed of a trace of attempts, in words.

use super::done::{Overhead, Winner};
use super::recorded::Tasks;
use drover_core::model::Millis;
use drover_core::sim::{Scenario, TracedHosts};

/// How many attempts' times a trace goes by, and of how many of these no host and no input is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Untold {
    all: usize,
    hosts: usize,
    inputs: usize,
}

impl Untold {
    pub(super) fn of<'a>(jobs: impl Iterator<Item = &'a Tasks>) -> Untold {
        let mut untold = Untold { all: 0, hosts: 0, inputs: 0 };
        for Winner { host, input, .. } in jobs.flat_map(|tasks| tasks.values().flatten()) {
            untold.all += 1;
            untold.hosts += usize::from(host.is_none());
            untold.inputs += usize::from(input.is_none());
        }
        untold
    }

    pub(super) fn said(self, hosts: &TracedHosts, overhead: Overhead) -> Vec<String> {
        let Untold { all, hosts: hostless, inputs } = self;
        let some = |count: usize, of: &str, so: &str| {
            (count > 0).then(|| format!("no {of} is told of {count} of {all} tasks: {so}"))
        };
        let hostless = some(hostless, "host", "they ran on one as all are").filter(|_| !hosts.all().is_empty());
        let inputs = some(inputs, "input", "they have none");
        [Some(copies(hosts)), hostless, inputs, taken_off(overhead)].into_iter().flatten().collect()
    }
}

fn copies(hosts: &TracedHosts) -> String {
    let slower = hosts.all().iter().map(|host| host.slower);
    let (least, most) = slower.fold((f64::INFINITY, 0.0_f64), |(low, high), of| (low.min(of), high.max(of)));
    if hosts.all().is_empty() {
        return "the trace tells no hosts: a copy takes as long as another task of its phase took, drawn, wherever it runs"
            .into();
    }
    let measured = "the median of its tasks over their phases' medians, as if ten more tasks had taken these";
    format!(
        "what a host makes of its tasks is {least:.2} to {most:.2} of their time ({measured}): a copy takes what another task of its phase took, drawn, and a first attempt away \
         from its host what it took itself, apart from the host there and times that for which the node stands"
    )
}

fn taken_off(overhead: Overhead) -> Option<String> {
    let [start_up, commit] = [overhead.start_up, overhead.commit].map(Millis::as_secs_f64);
    (overhead != Overhead::default()).then(|| {
        format!(
            "of each attempt's time {start_up} s are its JVM's start and {commit} s its commit, as the scenario has them \
             (hadoop.start_up, hadoop.commit): the rest is work"
        )
    })
}

/// Which of a trace's hosts a scenario's nodes stand for.
pub fn placed(scenario: &Scenario) -> Option<String> {
    let (hosts, nodes) = (scenario.hosts.all().len(), scenario.cluster.nodes);
    let standing: std::collections::BTreeSet<u32> =
        (0..nodes).filter_map(|node| scenario.hosts.on(node, nodes)).collect();
    let without = hosts - standing.len();
    (hosts > 0).then(|| {
        format!(
            "the cluster's {nodes} nodes stand for the trace's {hosts} hosts, evenly in the order of their names (node n for host n · {hosts} / {nodes}, from 0): {without} hosts have \
             no node"
        )
    })
}
