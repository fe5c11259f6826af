//! Dolly's evaluation (NSDI'13, §2.1 and §5) on workloads like its two traces, which are not public: what slowness is tied to is the attempt.
//!
//! Assumed, with reasons, before the first full run:
//!
//! | what | value | why |
//! |---|---|---|
//! | jobs by bin of Table 3 | Facebook 82, 8, 4, 3.5, 2.5 %; Bing 61, 22, 8, 6, 3 % | §2.2 prints 82 and 61 % of at most ten tasks; the rest so that the smallest 90 % use 6 and 11 % of the resources |
//! | sizes within a bin | 2–10 evenly; up to 500 a power law of exponent 1.9; beyond it log-uniform to 12,000 | Fig. 2's exponents are 1.9 and 1.8; the last bin holds what the smallest 90 % leave. One task alone has no median to straggle behind |
//! | phases | as many reduces as maps, one phase after the other | §3.2: over 91 % of jobs with up to 10 tasks have as many tasks in each phase; §4's readers begin when their maps are done |
//! | a task | 8 s; of a reduce 2.5 s reading | §1, footnote 1: much the same in all jobs. §5.3's ω of 2.5–5.2 s is of the order of a read; at 8 s LATE, which waits a minute, leaves stragglers of 7–8 times the median as in §2.1.1 |
//! | ordinary luck | 0.92–1.08, even | Fig. 9: what cloning leaves is 1.06 at the median |
//! | stragglers | p = .25; Pareto from 2.5, shape .6, at most 12 times slower | calibrated on §2.1.1's potential: 49 % in Facebook's small jobs under LATE and 38 % in Bing's under Mantri, not on the ratio of rates. Fig. 5's .08 leaves too little to gain: LATE ends what lasts beyond a minute |
//! | tied to | the attempt | §2.1.2: stragglers "are spread out uniformly through the cluster"; data skew is taken out of rates (§2.1.1) |
//! | cluster | 150 nodes of 12 containers, fair order | §5.1: 150 machines of 12 cores; Facebook's scheduler |
//! | load | a fifth of the containers | HotCloud'12 §2.1: the median slot utilisation is 21 % |
//! | Hadoop | no start-up, heartbeats or exchanges that cost time; a report every ten seconds; an attempt that is killed says how far it had come | Dolly is Hadoop's scheduler there. Mantri §5.1: reports every 10 s. With one each second, in a first run of two seeds, Mantri left 7 % to gain in Bing's small jobs, where the trace has 38 |
//! | contention | .76 of the bandwidth | Fig. 6: transfers of the first bin take 32 % longer |
//! | p_c | p: `exclusive` is 1 − p | not printed (§5.3: "estimated to an accuracy of 95 %"); a clone lacks an output of its own where another map's clone straggles |
//! | what all jobs gain | the average over jobs, each with what its bin gains | HotCloud'12 clones the smallest 82 % alone: they gain 47 and 39 % (LATE, Mantri), all jobs 40 and 33 %. These are 85 % of those, as an average over jobs has it; by mean times, small jobs would have to be as long as any |
//! | what counts | all but the first tenth of the jobs | p and ω are learned from these, as from the paper's earlier hours |
//! | beside Dolly | jobs that are denied cloning get no copies | §3.3: such a job "is executed without Dolly's straggler mitigation" |
//!
//! The policies have the papers' constants. One of Drover's own limits is lifted for all of them: copies of one job that may wait for a container at once (`govern.waiting_copies`), as the
//! paper's clones are queued like any task.
//!
//! The second calibration. With the first, p = .15, Mantri left 28 % to gain in Bing's small jobs; and all jobs' gain was that of their mean times, which large jobs decide. Of p from .2 to .3, stragglers from
//! 1.5 or 2.5 and up to 8 or 12 times slower, tasks of 4 to 20 s, four seeds of §2.1.1's marginals alone were looked at: with p = .25, and all else as it was, 50 % are to gain in Facebook's small jobs (49), 37 in Bing's
//! (38) and 57 in all of Facebook's (47). In all of Bing's it was 46–58 (29) with any of them.
//!
//! Varied, one at a time: p of .15; tasks of 15 s; a quarter of the load, and twice; what all jobs gain by their mean times; reads that contend for nothing; jobs that are denied cloning get Mantri's copies under LATE's guards (Drover's own policy).

mod blacklist;
mod budget;
mod gains;
mod hotcloud;
mod listing;
mod reads;
mod runs;
mod spells;
mod workload;

use super::Experiment;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        Experiment {
            name: "dolly.s21",
            about: "Dolly NSDI'13 §2.1.2, Table 2: blacklisting machines by an EWMA of their stragglers",
            run: blacklist::run,
        },
        Experiment {
            name: "dolly.s52",
            about: "Dolly NSDI'13 §5.2, Figs. 7 and 9: against LATE and Mantri; the workloads' marginals",
            run: gains::run,
        },
        Experiment {
            name: "dolly.s53",
            about: "Dolly NSDI'13 §5.3, Fig. 11: CAC, CC, delay assignment",
            run: reads::run,
        },
        Experiment {
            name: "dolly.s54",
            about: "Dolly NSDI'13 §5.4, Figs. 14 and 15: the cloning budget",
            run: budget::sweep,
        },
        Experiment {
            name: "dolly.s55",
            about: "Dolly NSDI'13 §5.5, Fig. 16: admission, preemption, first come",
            run: budget::admission,
        },
        Experiment {
            name: "dolly.hotcloud",
            about: "Dolly HotCloud'12, Evaluation: clones of tasks against clones of whole jobs",
            run: hotcloud::run,
        },
    ]
}
