//! What is assumed of a trace of attempts, in words.

use super::done::{Overhead, Winner};
use super::held::Job;
use super::{QUEUE, Trace, USER};
use drover_core::model::Millis;
use drover_core::sim::Scenario;

/// Of how many of a trace's jobs, of its tasks and of its reduces something is not told.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Untold {
    jobs: usize,
    sizes: usize,
    submissions: usize,
    users: usize,
    queues: usize,
    names: usize,
    tasks: usize,
    hosts: usize,
    inputs: usize,
    reduces: usize,
    /// Neither the end of its shuffle nor that of its sort; the former alone; the latter alone.
    stages: usize,
    shuffles: usize,
    sorts: usize,
}

impl Untold {
    pub(super) fn of<'a>(jobs: impl Iterator<Item = &'a Job>) -> Untold {
        let mut untold = Untold::default();
        jobs.for_each(|job| untold.job(job));
        untold
    }

    fn job(&mut self, job: &Job) {
        let about = job.about.clone().unwrap_or_default();
        self.jobs += 1;
        // Reduces that a job does not have need no size.
        self.sizes +=
            usize::from(job.tasks.keys().any(|(is_reduce, _)| about.sizes[usize::from(*is_reduce)].is_none()));
        self.submissions += usize::from(about.submitted.is_none());
        self.users += usize::from(about.user.is_none());
        self.queues += usize::from(about.queue.is_none());
        self.names += usize::from(about.name.is_none());
        for ((is_reduce, _), task) in &job.tasks {
            let Some(Winner { host, input, stages, .. }) = task.winner else { continue };
            self.tasks += 1;
            self.hosts += usize::from(host.is_none());
            self.inputs += usize::from(input.is_none());
            if *is_reduce {
                self.reduces += 1;
                match stages.map(|end| end.is_some()) {
                    [false, false] => self.stages += 1,
                    [false, true] => self.shuffles += 1,
                    [true, false] => self.sorts += 1,
                    [true, true] => {}
                }
            }
        }
    }

    pub(super) fn said(self, trace: &Trace, overhead: Overhead) -> Vec<String> {
        let some = |what: &str, count: usize, of: usize, whose: &str, so: &str| {
            (count > 0).then(|| format!("no {what} told of {count} of {of} {whose}: {so}"))
        };
        let user = format!("all are {USER}'s");
        let queue = format!("theirs is {QUEUE}");
        let hostless = some("host is", self.hosts, self.tasks, "tasks", "they ran on one as all are");
        let all = [
            some("containers' sizes are", self.sizes, self.jobs, "jobs", "1 GiB and a core each"),
            some("submission is", self.submissions, self.jobs, "jobs", "they arrive when their first attempt began"),
            some("user is", self.users, self.jobs, "jobs", &user),
            some("queue is", self.queues, self.jobs, "jobs", &queue),
            some("name is", self.names, self.jobs, "jobs", "theirs are their ids, and none ran before"),
            Some(copies(trace)),
            hostless.filter(|_| !trace.hosts.all().is_empty()),
            some("input is", self.inputs, self.tasks, "tasks", "they have none"),
            some("end of reading or sorting is", self.stages, self.reduces, "reduces", WORK),
            some("end of reading is", self.shuffles, self.reduces, "reduces", "they read until their sort's end"),
            some("end of sorting is", self.sorts, self.reduces, "reduces", "sorting counts as their own work"),
            taken_off(overhead),
        ];
        all.into_iter().flatten().collect()
    }
}

const WORK: &str = "all that they did after the maps' end is their own work, and they read in no time";

fn copies(trace: &Trace) -> String {
    let hosts = trace.hosts.all();
    let slower = hosts.iter().map(|host| host.slower);
    let (least, most) = slower.fold((f64::INFINITY, 0.0_f64), |(low, high), of| (low.min(of), high.max(of)));
    let counts = || trace.jobs.iter().flat_map(|job| &job.phases).map(|phase| phase.tasks.count());
    let (alone, phases) = (counts().filter(|tasks| *tasks == 1).count(), counts().filter(|tasks| *tasks > 0).count());
    let of_one = match alone {
        0 => String::new(),
        alone => format!(" (in {alone} of {phases} phases there is no other: what that task itself took)"),
    };
    if hosts.is_empty() {
        return format!(
            "the trace tells no hosts: a copy takes as long as another task of its phase took, drawn{of_one}, wherever it runs"
        );
    }
    let measured = "the median of its tasks over their phases' medians, as if ten more tasks had taken these";
    format!(
        "what a host makes of its tasks is {least:.2} to {most:.2} of their time ({measured}): a copy takes what another task of its phase took, drawn{of_one}, and a first attempt away \
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
