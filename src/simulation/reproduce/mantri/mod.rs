//! Mantri's comparison of what is done against stragglers (OSDI'10, §6.3: Figs. 16–18), on phases like those of its logs, which are not public. What slowness is tied to: by phase, the
//! data, the attempt, or both, as Fig. 4 has them.
//!
//! Assumed, with reasons, before the first full run:
//!
//! | what | value | why |
//! |---|---|---|
//! | a run | one phase, alone on its slots, once; sixty a seed | §6.3 compares phases, weighed by their lifetime; each three times there, here each seed draws others, and the figures are of all seeds' together; n/s is theirs |
//! | slots | lognormal, median 24, σ 1.2, 2–100 | not printed. Table 2: 98,000 s of tasks' work in the mean phase, most of it in a few; larger ones are cut off so that a run stays short |
//! | n/s | lognormal, median 2.11, σ 1.36, at most 20; n at least 2 | §3.1: median 2.11, standard deviation 12.37 |
//! | a task | by phase: lognormal, median 40 s, σ 1 | mean 66 s; Table 2 has 8.6 MB a second of work |
//! | outliers in a phase | exponential, mean .108, at most .45 | Fig. 2: in 25 % of phases more than 15 % |
//! | how long an outlier takes | × 1.5–2.5 in 80 %, 2.5–10 in 9 %, 10–25 in 11 %, the latter two log-uniform | Fig. 3: 80, 10 and 10; of the shortest some are less than 1.5 times a median that their own data shift |
//! | outliers that data explain | all in 40 % of phases, none in 18 %, else an even share | Fig. 4(a) |
//! | ordinary tasks | data even, .47–1.53; luck .9–1.1, even | §4.2: data vary by .34 in the median phase, outliers included; a residual of 20 % is explained. Even, as a long tail would be outliers that data explain in every phase, for none in 18 % (Fig. 4). Until all rows had been seen data were lognormal with σ .2, and varied by .25 |
//! | what data do | time is in proportion to them | what "explained" means there |
//! | a copy's luck | that of another task of its phase, drawn | §6.1: the simulator repeats the observed distributions; a copy has its task's own data |
//! | Hadoop | nodes of one container; a report every 10 s, or ten in a median task where that is shorter | §5 |
//! | start-up | .5 s | nothing is printed of it. It is in t_elapsed, and so decides how often Mantri restarts: calibrated on §6.3's .2 for each task, which were .5 with the 1 s of earlier runs |
//! | copies | have the next container before tasks that wait, where the policy says so; added after a first run in which they waited behind them | Pseudocode 1, line 7, copies while tasks wait, as does LATE that acts early |
//! | baseline | nobody acts | Dryad, which Cosmos is based on, is one of the schemes, and not without effect |
//! | restarts | copies and kills for another in their place; of their success only copies are told | the paper counts both as restarts |
//! | order of tasks | of Mantri by their data | §6.1, Prototype: it starts new tasks in descending order of data size. Left out until a run of ten seeds, in which nobody gained at the median |
//!
//! The policies have the papers' constants; `hadoop-0.20` is the Hadoop of that year as Mantri describes it (§7): what has read less than the others is copied. Until all rows had been seen it was
//! as LATE describes it (§2.1), which waits a minute and for a fifth. Drover's own, as it ships, is told beside them.
//!
//! Varied, one at a time: all unexplained; all explained; reports each second; tasks three times as long; a start-up of .2, 1 and 5 s; tasks as they come, for Mantri, too; Hadoop's own as LATE
//! describes it.

mod averted;
mod compared;
mod marginals;
mod placed;
mod placement;
mod recompute;
mod recomputed;
mod runs;
mod schemes;
mod workload;

use super::{Experiment, Ground};
pub use runs::phase;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        Experiment {
            name: "mantri.s63",
            ground: Ground::Traces,
            about: "Mantri §6.3, Figs. 16–18: against Hadoop, LATE, Dryad, MapReduce and ideals; the workload's marginals",
            slowness: "Slowness is tied, phase by phase, to the data, to the attempt, or to a mixture of both, as in Fig. 4; never to the node.",
            calibrated: "Calibrated on n/s (§3.1), the share of outliers (Fig. 2), how slow they are (Fig. 3), how many of them data explain (Fig. 4), how data vary (§4.2) and how often Mantri restarts (§6.3: .2 for each task). That copies have the next \
                         container, that tasks start by their data, and that Hadoop's own is as Mantri describes it, was added after first runs, which Fig. 16 is not independent of.",
            rows: compared::ROWS,
            times: 8,
            assumed: runs::assumed,
            run: compared::run,
        },
        Experiment {
            name: "mantri.s64",
            ground: Ground::Traces,
            about: "Mantri §6.4, Figs. 19 and 20: reduces placed by the links between racks",
            slowness: "Slowness is tied to the time: links that others use, too, and change.",
            calibrated: "How scarce links are, how much others take of them, and how often that changes, was calibrated with all numbers of §6.4 in view, which Figs. 19 and 20 are therefore not independent of.",
            rows: placed::ROWS,
            times: 1,
            assumed: placement::assumed,
            run: placed::run,
        },
        Experiment {
            name: "mantri.s65",
            ground: Ground::Traces,
            about: "Mantri §6.5, Figs. 21–23: outputs kept twice and computed anew against losses; the workload's marginals",
            slowness: "Slowness is tied to the data and the attempt, and losses to the node for a time.",
            calibrated: "How often machines lose outputs is calibrated on how many phases see recomputes (Fig. 2) and on how few machines half of them are (§4.2); the figures are independent of that.",
            rows: recomputed::ROWS,
            times: 1,
            assumed: recompute::assumed,
            run: recomputed::run,
        },
    ]
}
