//! LATE's evaluation (OSDI'08, §5).

mod node;
mod sleeps;
mod thresholds;
mod vms;

use super::Experiment;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        Experiment {
            name: node::NAME,
            about: "LATE §5.4.3: a copy on a slow node, and with SlowNodeThreshold",
            run: node::played,
        },
        Experiment {
            name: vms::NAME,
            about: "LATE §5.2, §5.3, Figs. 3–9: Sort, Grep and WordCount on virtual machines that share hosts, and with stragglers",
            run: vms::run,
        },
        Experiment {
            name: thresholds::NAME,
            about: "LATE §5.4, Figs. 10–12: thresholds varied in a sleep workload",
            run: thresholds::run,
        },
    ]
}
