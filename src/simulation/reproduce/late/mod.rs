//! LATE's evaluation (OSDI'08, §5).

mod node;
mod sleeps;
mod thresholds;
mod vms;

use super::{Experiment, Ground};

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        Experiment {
            name: node::NAME,
            ground: Ground::ByHand,
            about: "LATE §5.4.3: a copy on a slow node, and with SlowNodeThreshold",
            slowness: "Slowness is tied to the node.",
            calibrated: "Nothing is calibrated.",
            rows: &[],
            times: 1,
            assumed: node::assumed,
            run: node::played,
        },
        Experiment {
            name: vms::NAME,
            ground: Ground::Traces,
            about: "LATE §5.2, §5.3, Figs. 3–9: Sort, Grep and WordCount on virtual machines that share hosts, and with stragglers",
            slowness: "Slowness is tied to the node, a little to the attempt.",
            calibrated: "How slow machines are is the paper's Tables 2 and 4; how long work takes is calibrated on §5.1.2, where a Sort of 100 GB alone took 408 s, and, of all other jobs, on their five minutes (§5), \
                         and how slow stragglers are on how much sooner Sort ends with LATE (§5.2.2: 220 %), which the rows without speculation are therefore not independent of. That reduces \
                         copy for most of their time was added after all rows had been seen.",
            rows: &[],
            times: 4,
            assumed: vms::assumed,
            run: vms::run,
        },
        Experiment {
            name: thresholds::NAME,
            ground: Ground::Workload,
            about: "LATE §5.4, Figs. 10–12: thresholds varied in a sleep workload",
            slowness: "Slowness is tied to the node.",
            calibrated: "The set is the paper's; the number of reduces is calibrated on the 745 s without speculation. That scores are the sleeps' share was assumed after all rows had been seen, by the time that Hadoop's own \
                         wastes, of which that row is not independent.",
            rows: &[],
            times: 10,
            assumed: sleeps::assumed,
            run: thresholds::run,
        },
    ]
}
