//! Is a scenario one that can be?

mod faults;

pub use faults::Fault;

use super::super::dist::Dist;
use super::super::traced::TracedJob;
use super::{
    ClusterSpec, HadoopSpec, JobGroup, NetworkSpec, PHASES_MAX, PhaseSpec, QueueOrder, QueueSpec, Scenario, Trouble,
    Workflows,
};
use crate::model::{JobSettings, Millis, Resources};
use faults::{FACTOR_MAX, Faults, TAKES_MAX};
use std::collections::BTreeSet;

/// Tasks of one kind that a job may have.
pub const TASKS_MAX: u32 = 2_000_000;
/// Tasks of all jobs together, as many as their laws give on the whole.
const ALL_TASKS_MAX: f64 = 1e8;
/// From the start to the last arrival: a hundred years.
pub const ARRIVES_MAX: Millis = Millis(100 * 365 * 24 * 3_600_000);
/// What a task reads at most, MiB.
const INPUT_MAX: f64 = 1e9;
/// Processors that a task keeps busy at most.
const BUSY_MAX: f64 = 1e4;
/// Seconds between two heartbeats.
const HEARTBEAT_MAX: f64 = 3_600.0;

impl Scenario {
    /// All that is wrong with it; empty where nothing is.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Faults { under: String::new(), found: Vec::new() };
        let some = !self.jobs.is_empty() || !self.traced.is_empty();
        faults.unless(some, "jobs", "there must be one at least");
        let all = self.tasks();
        faults.unless(all.is_nan() || all <= ALL_TASKS_MAX, "jobs", "they have more than 100,000,000 tasks together");
        let is_large = |job: &&TracedJob| job.phases.iter().any(|phase| phase.tasks.count() > TASKS_MAX);
        if let Some(TracedJob { name, .. }) = self.traced.iter().find(is_large) {
            faults.unless(false, "jobs", &format!("{name} of the trace has more than 2,000,000 tasks of a kind"));
        }
        if let Some(TracedJob { name, .. }) = self.traced.iter().find(|job| job.arrives > ARRIVES_MAX) {
            faults.unless(false, "jobs", &format!("{name} of the trace arrives more than 100 years after its start"));
        }
        let mut all = vec![faults];
        let mut under = |key: String, check: &dyn Fn(&mut Faults)| {
            let mut faults = Faults { under: key, found: Vec::new() };
            check(&mut faults);
            all.push(faults);
        };
        under("cluster".into(), &|faults| {
            cluster(&self.cluster, faults);
            self.traced_fit(faults);
        });
        under("hadoop".into(), &|faults| {
            hadoop(&self.hadoop, faults);
            self.copies_are_kept(faults);
        });
        under("slowness".into(), &|faults| {
            faults.factor(&self.slowness.attempt, "attempt");
            faults.factor(&self.slowness.data, "data");
        });
        for (nth, one) in self.trouble.iter().enumerate() {
            under(format!("trouble[{nth}]"), &|faults| trouble(one, self.cluster.nodes, faults));
        }
        for (nth, group) in self.jobs.iter().enumerate() {
            under(format!("jobs[{nth}]"), &|faults| self.group(group, nth, faults));
        }
        for nth in Workflows::too_deep(&self.jobs) {
            let wants = format!("has more than {PHASES_MAX} phases come one after the other");
            under(format!("jobs[{nth}]"), &|faults| faults.unless(false, "after", &wants));
        }
        all.into_iter().flat_map(|faults| faults.found).collect()
    }

    /// How many tasks its jobs have together, on the whole.
    fn tasks(&self) -> f64 {
        let groups = self.jobs.iter();
        let drawn = groups.map(|group| f64::from(group.count) * (group.maps.tasks.mean() + group.reduces.tasks.mean()));
        let traced = self.traced.iter().flat_map(|job| &job.phases).map(|phase| f64::from(phase.tasks.count()));
        drawn.chain(traced).sum()
    }

    /// Does every container of the trace fit on a node?
    fn traced_fit(&self, faults: &mut Faults) {
        let sizes = self.traced.iter().flat_map(|job| job.phases.iter().map(move |phase| (&job.name, phase)));
        let mut sizes = sizes.filter(|(_, phase)| phase.tasks.count() > 0).map(|(name, phase)| (name, phase.size));
        let too_large = sizes.find_map(|(name, size)| Some((name, size, self.cluster.lacks(size)?)));
        if let Some((name, Resources { memory_mb, vcores }, lacks)) = too_large {
            let asked = format!(
                "a container of {name}, of the trace, asks for {memory_mb} MiB and {vcores} vcores, more than a node has, and would never be placed"
            );
            faults.unless(false, lacks, &asked);
        }
    }

    fn group(&self, group: &JobGroup, nth: usize, faults: &mut Faults) {
        let earlier = &self.jobs[..nth];
        faults.unless(
            earlier.iter().all(|other| other.name != group.name),
            "name",
            "is that of a group before it, too",
        );
        faults.unless((1..=1_000_000).contains(&group.count), "count", "must be from 1 to 1,000,000");
        let known = self.traced.iter().all(|job| job.name != group.name);
        faults.unless(known, "name", "is that of a job of the trace, too, with which its jobs would be mixed");
        faults.at(group.arrive.at, "arrive.at");
        faults.arrives(&group.arrive.every, "arrive.every");
        faults.unless(!group.name.trim().is_empty(), "name", "must not be empty");
        let first = group.arrive.at.max(0.0);
        let last = first + group.arrive.every.mean() * f64::from(group.count.saturating_sub(1));
        let most = ARRIVES_MAX.as_secs_f64();
        let late = group.arrive.every.fault().is_none() && first <= most && last > most;
        let wants = "has the last job arrive more than 100 years (3153600000 s) after the start";
        faults.unless(!late, "arrive.every", wants);
        let reads = |law: &Dist| law.fault().is_none() && law.range() != (0.0, 0.0);
        for (law, key) in [(&group.maps.copy, "maps.copy"), (&group.maps.sort, "maps.sort")] {
            faults.unless(!reads(law), key, "is of reduces only: all that a map does is its work");
        }
        phase(&group.maps, "maps", faults);
        phase(&group.reduces, "reduces", faults);
        faults.unless(group.phases() > 0, "maps.tasks", "the jobs have no tasks at all: set it, or reduces.tasks");
        let queues = &self.cluster.queues;
        let known = queues.iter().any(|queue| queue.name == group.queue);
        faults.unless(known || queues.is_empty(), "queue", "is none of cluster.queues");
        let only = !queues.is_empty() || group.queue == QueueSpec::ONLY;
        faults.unless(only, "queue", "would do nothing: without cluster.queues there is one, default");
        for (phase, key) in [(&group.maps, "maps"), (&group.reduces, "reduces")] {
            let lacks = self.cluster.lacks(Resources { memory_mb: phase.memory_mb, vcores: phase.vcores });
            // Nobody asks for containers of a phase without tasks.
            if let Some(lacks) = lacks.filter(|_| phase.may_have_tasks()) {
                let wants = "a container is larger than a node, and would never be placed";
                faults.unless(false, &format!("{key}.{lacks}"), wants);
            }
        }
        self.after(group, nth, faults);
    }

    /// Groups wait for those that stand before them only, so that none can wait for itself by any way.
    fn after(&self, group: &JobGroup, nth: usize, faults: &mut Faults) {
        let (earlier, later) = self.jobs.split_at(nth);
        for (place, name) in group.after.iter().enumerate() {
            let before = earlier.iter().find(|other| other.name == *name);
            let wrong = match before {
                _ if group.after[..place].contains(name) => Some("is named twice"),
                Some(_) => None,
                None if *name == group.name => Some("is this group itself, whose jobs would never begin"),
                None if later.iter().any(|other| other.name == *name) => Some(
                    "stands further down: put it before this one. Where groups wait for one another, none of their jobs would ever begin",
                ),
                None => Some("is no group"),
            };
            faults.unless(wrong.is_none(), "after", &format!("{name} {}", wrong.unwrap_or_default()));
            let alike = before.is_none_or(|before| before.count == group.count);
            let wants = format!("must be that of {name}, as the nth job comes after the nth of that");
            faults.unless(alike, "count", &wants);
        }
    }
}

/// Of one node, so that the sums over a cluster of any size are numbers.
const MEMORY_MAX_MB: u64 = JobSettings::CONTAINER_MAX_MB;
const VCORES_MAX: u32 = 10_000;

fn cluster(cluster: &ClusterSpec, faults: &mut Faults) {
    faults.unless((1..=100_000).contains(&cluster.nodes), "nodes", "must be from 1 to 100,000");
    faults.unless(
        (1..=cluster.nodes.max(1)).contains(&cluster.racks),
        "racks",
        "must be from 1 to the number of nodes",
    );
    faults.unless((1..=MEMORY_MAX_MB).contains(&cluster.memory_mb), "memory_mb", "must be from 1 to 16,777,216");
    faults.unless((1..=VCORES_MAX).contains(&cluster.vcores), "vcores", "must be from 1 to 10,000");
    faults.factor(&cluster.slower, "slower");
    kinds(cluster, faults);
    network(&cluster.network, faults);
    preemption(cluster, faults);
    for (nth, queue) in cluster.queues.iter().enumerate() {
        let is_first = cluster.queues[..nth].iter().all(|other| other.name != queue.name);
        faults.unless(is_first, &format!("queues.{}", queue.name), "is the name of a queue before it, too");
        faults.share(queue.share, &format!("queues.{}.share", queue.name));
        faults.share(queue.most, &format!("queues.{}.most", queue.name));
        faults.unless(
            queue.most > 0.0,
            &format!("queues.{}.most", queue.name),
            "must be above 0: its jobs would never end",
        );
    }
    let promised: f64 = cluster.queues.iter().map(|queue| queue.share).sum();
    faults.unless(promised <= 1.0 + 1e-9, "queues", "their shares are above 1 together");
}

fn kinds(cluster: &ClusterSpec, faults: &mut Faults) {
    for (nth, kind) in cluster.kinds.iter().enumerate() {
        let key = |name: &str| format!("kinds[{nth}].{name}");
        faults.unless(kind.nodes > 0, &key("nodes"), "must be above 0");
        let memory = kind.memory_mb.is_none_or(|mb| (1..=MEMORY_MAX_MB).contains(&mb));
        faults.unless(memory, &key("memory_mb"), "must be from 1 to 16,777,216");
        let vcores = kind.vcores.is_none_or(|vcores| (1..=VCORES_MAX).contains(&vcores));
        faults.unless(vcores, &key("vcores"), "must be from 1 to 10,000");
        faults.limit(kind.processors.unwrap_or(0.0), &key("processors"));
        if let Some(slower) = &kind.slower {
            faults.factor(slower, &key("slower"));
        }
    }
    faults.unless(cluster.unlike() <= cluster.nodes.into(), "kinds", "have more nodes than cluster.nodes");
}

fn network(network: &NetworkSpec, faults: &mut Faults) {
    let shared = [
        (network.disk_mb_s, "disk_mb_s"),
        (network.uplink_mb_s, "uplink_mb_s"),
        (network.downlink_mb_s, "downlink_mb_s"),
        (network.within_mb_s, "within_mb_s"),
        (network.processors, "processors"),
        (network.lab_processors, "lab_processors"),
    ];
    for (most, key) in shared {
        faults.limit(most, &format!("network.{key}"));
    }
    let others = &network.others;
    faults.often(others.every, "network.others.every");
    faults.law(&others.share, 0.0, "network.others.share");
    let most = "must be .999 at most, its largest value, too";
    faults.unless(others.share.range().1 <= 0.999, "network.others.share", most);
    let idle = others.every == 0.0 && (others.share.range() != (0.0, 0.0) || others.foresight > 0.0);
    faults.unless(!idle, "network.others.every", "must be above 0: else there are no others");
    let sound = others.foresight >= 0.0 && others.foresight.is_finite();
    faults.unless(sound, "network.others.foresight", "must not be below 0");
    let are_limited = network.uplink_mb_s > 0.0 && network.downlink_mb_s > 0.0;
    faults.unless(others.every == 0.0 || are_limited, "network.others", "needs uplink_mb_s and downlink_mb_s");
}

fn preemption(cluster: &ClusterSpec, faults: &mut Faults) {
    let spec = &cluster.preemption;
    faults.often(spec.every, "preemption.every");
    faults.unless(spec.wait >= 0.0 && spec.wait.is_finite(), "preemption.wait", "must not be below 0");
    faults.share(spec.most, "preemption.most");
    faults.share(spec.ignored, "preemption.ignored");
    faults.unless(spec.natural > 0.0 && spec.natural <= 1.0, "preemption.natural", "must be above 0 and at most 1");
    let queues = spec.every == 0.0 || (cluster.queues.len() > 1 && cluster.order != QueueOrder::Fifo);
    faults.unless(
        queues,
        "preemption.every",
        "needs two queues at least, and an order by their shares (capacity or fair)",
    );
}

fn hadoop(hadoop: &HadoopSpec, faults: &mut Faults) {
    let laws = [
        (&hadoop.allocate, "allocate"),
        (&hadoop.start_up, "start_up"),
        (&hadoop.commit, "commit"),
        (&hadoop.kill, "kill"),
    ];
    laws.into_iter().for_each(|(dist, key)| faults.takes(dist, key));
    for (seconds, key) in [(hadoop.report, "report"), (hadoop.exchange, "exchange"), (hadoop.poll, "poll")] {
        faults.unless(
            (0.01..=TAKES_MAX).contains(&seconds),
            key,
            "must be 0.01 s at least, a year (31536000 s) at most",
        );
    }
    faults.unless((0.0..=HEARTBEAT_MAX).contains(&hadoop.ask), "ask", "must be from 0 to 3600 s");
    let beats = hadoop.node_heartbeat;
    let sound = beats == 0.0 || (0.01..=HEARTBEAT_MAX).contains(&beats);
    faults.unless(sound, "node_heartbeat", "must be 0, or from 0.01 to 3600 s");
    faults.law(&hadoop.report_jitter, 0.0, "report_jitter");
    faults.unless(
        hadoop.report_jitter.range().1 <= hadoop.report,
        "report_jitter",
        "must not give values above report",
    );
    faults.share(hadoop.silent, "silent");
    faults.share(hadoop.slow_start.into(), "slow_start");
    let busy = hadoop.start_up_busy;
    faults.unless(busy > 0.0 && busy <= 1_000.0, "start_up_busy", "must be above 0, 1000 at most");
    let beside = hadoop.start_up_beside;
    faults.unless((0.0..=1_000.0).contains(&beside), "start_up_beside", "must be from 0 to 1000");
    for (seconds, key) in [(hadoop.localize, "localize"), (hadoop.locality_wait, "locality_wait")] {
        faults.unless((0.0..=TAKES_MAX).contains(&seconds), key, "must be from 0 to a year (31536000 s)");
    }
    let sound = (1.0..=FACTOR_MAX).contains(&hadoop.remote_slower);
    faults.unless(sound, "remote_slower", "must be from 1 to 1,000,000");
    faults.share(hadoop.fails.share, "fails.share");
    faults.law(&hadoop.fails.at, 0.0, "fails.at");
    faults.unless(hadoop.fails.at.range().1 <= 1.0, "fails.at", "must not give values above 1");
    faults.unless((1..=1_000).contains(&hadoop.replicas), "replicas", "must be from 1 to 1,000");
    faults.unless((1..=1_000).contains(&hadoop.attempts_max), "attempts_max", "must be from 1 to 1,000");
    // A clone of a reduce would wait for ever for the output of a map's clone that has failed.
    let waited_for = hadoop.fails.share > 0.0 && (hadoop.can.reads || hadoop.can.job_clones);
    let why = "are not played where clones read outputs of their own (hadoop.can.reads, hadoop.can.job_clones)";
    faults.unless(!waited_for, "fails", why);
    let sound = (1.0 / FACTOR_MAX..=1.0).contains(&hadoop.contention);
    faults.unless(sound, "contention", "must be from 0.000001 to 1");
}

impl Scenario {
    /// Which copy of a job misses an output, and which replica is whose, is not played.
    fn copies_are_kept(&self, faults: &mut Faults) {
        let can = self.hadoop.can;
        let loses = self.trouble.iter().any(Trouble::loses_outputs);
        let apart = !can.job_clones || !(loses || can.replicate || can.precompute);
        let why = "is not played where outputs are lost in part or kept (trouble.loses, can.replicate, can.precompute)";
        faults.unless(apart, "can.job_clones", why);
    }
}

fn trouble(trouble: &Trouble, nodes: u32, faults: &mut Faults) {
    faults.unless(trouble.nodes.iter().all(|node| *node < nodes), "nodes", "names a node beyond the last");
    let different: BTreeSet<u32> = trouble.nodes.iter().copied().collect();
    faults.unless(different.len() == trouble.nodes.len(), "nodes", "names a node twice");
    faults.share(trouble.share, "share");
    let some = !trouble.nodes.is_empty() || trouble.share > 0.0;
    faults.unless(some, "nodes", "whose is it? Name nodes, or a share of them");
    let one = format!("is of no node: there are {nodes}, and one of them is {:.3}", 1.0 / f64::from(nodes.max(1)));
    let befalls = trouble.share.is_nan() || trouble.share <= 0.0 || trouble.befalls(nodes) > 0;
    faults.unless(befalls || !trouble.nodes.is_empty(), "share", &one);
    let laws = [(&trouble.from, "from"), (&trouble.lasts, "lasts"), (&trouble.again, "again")];
    laws.into_iter().for_each(|(dist, key)| faults.arrives(dist, key));
    let ends = trouble.lasts.range() != (0.0, 0.0) || trouble.again.range() == (0.0, 0.0);
    faults.unless(ends, "again", "needs lasts: without it the trouble is for good, and cannot come again");
    faults.factor(&trouble.slower, "slower");
    faults.law(&trouble.loses, 0.0, "loses");
    faults.unless(trouble.loses.range().1 <= 1.0, "loses", "must not give values above 1");
}

fn phase(phase: &PhaseSpec, kind: &str, faults: &mut Faults) {
    let laws = [(&phase.tasks, "tasks"), (&phase.input_mb, "input_mb")];
    laws.into_iter().for_each(|(dist, key)| faults.law(dist, 0.0, &format!("{kind}.{key}")));
    let takes = [(&phase.work, "work"), (&phase.copy, "copy"), (&phase.sort, "sort")];
    takes.into_iter().for_each(|(dist, key)| faults.takes(dist, &format!("{kind}.{key}")));
    let few = phase.input_mb.fault().is_some() || phase.input_mb.most() <= INPUT_MAX;
    faults.unless(few, &format!("{kind}.input_mb"), "gives more than 1,000,000,000 MiB");
    faults.unless((0.0..=BUSY_MAX).contains(&phase.busy), &format!("{kind}.busy"), "must be from 0 to 10,000");
    faults.unless(phase.vcores > 0, &format!("{kind}.vcores"), "must be above 0");
    faults.unless(phase.memory_mb > 0, &format!("{kind}.memory_mb"), "must be above 0");
    let slow = format!("{kind}.slow");
    faults.unless(phase.slow.len() <= PhaseSpec::SLOW_MAX, &slow, "names more than 1,000 attempts");
    let factors = phase.slow.iter().all(|(_, _, times)| *times > 0.0 && *times <= FACTOR_MAX);
    faults.unless(factors, &slow, "must give factors above 0 only, and 1,000,000 at most");
    let there = |task: u32| phase.tasks.fault().is_some() || f64::from(task) < phase.tasks.most();
    faults.unless(phase.slow.iter().all(|(task, ..)| there(*task)), &slow, "names a task that no job has");
    let named: BTreeSet<_> = phase.slow.iter().map(|(task, attempt, _)| (task, attempt)).collect();
    faults.unless(named.len() == phase.slow.len(), &slow, "names an attempt twice");
    let whole = !matches!(phase.tasks, Dist::Constant(count) if count.fract() != 0.0);
    faults.unless(whole, &format!("{kind}.tasks"), "must be a whole number, or a law");
    let few = phase.tasks.fault().is_some() || phase.tasks.most() <= f64::from(TASKS_MAX);
    faults.unless(few, &format!("{kind}.tasks"), "gives more than 2,000,000 tasks to a job");
}

#[cfg(test)]
mod tests;
