//! Whose turn it is when there is room, and where that is.

use super::job::Job;
use super::machine::Machine;
use super::scenario::{ClusterSpec, QueueOrder, QueueSpec};
use crate::model::{Resources, TaskKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Queues, the jobs that wait in them, and the nodes with room.
#[derive(Debug)]
pub struct Yarn {
    order: QueueOrder,
    queues: Vec<Queue>,
    /// Place of each waiting job in its queue.
    places: BTreeMap<u32, (u32, u64)>,
    /// Jobs whose reduces hold containers.
    reducing: BTreeSet<u32>,
    open: Open,
    /// What each node offers while it is up, and all of them together, mebibytes.
    offers_mb: Vec<u64>,
    cluster_mb: u64,
}

/// A leaf queue.
#[derive(Debug)]
pub struct Queue {
    /// Name.
    pub name: String,
    /// Share of the cluster that is promised to it, 0–1.
    pub share: f64,
    /// Share that it may use at most, 0–1.
    pub most: f64,
    /// What its jobs hold, mebibytes.
    pub held_mb: u64,
    /// Containers that its jobs were given beyond `most`: a fault of the simulator's.
    pub overfilled: u32,
    /// Jobs that wait for containers, the next to be served first.
    waiting: BTreeSet<(u64, u32)>,
}

/// Of each queue, the last job that nothing could be found for in a round: each before it was served, and so stands behind it or waits no more, or was set aside itself.
#[derive(Debug, Default)]
pub struct Aside(BTreeMap<u32, (u64, u32)>);

/// Nodes on which the smallest container of all would fit.
#[derive(Debug)]
struct Open {
    smallest: Resources,
    nodes: Vec<u32>,
    /// Where each node stands in these.
    places: Vec<Option<u32>>,
    /// What each of these has free, mebibytes, and all of them together.
    free_mb: Vec<u64>,
    all_free_mb: u64,
}

impl Yarn {
    /// Queues without jobs, and all nodes empty.
    pub fn new(cluster: &ClusterSpec, smallest: Resources) -> Yarn {
        let queue = |name: &str, share, most| Queue {
            name: name.to_owned(),
            share,
            most,
            held_mb: 0,
            overfilled: 0,
            waiting: BTreeSet::new(),
        };
        let mut queues: Vec<_> = cluster.queues.iter().map(|spec| queue(&spec.name, spec.share, spec.most)).collect();
        if queues.is_empty() {
            queues.push(queue(QueueSpec::ONLY, 1.0, 1.0));
        }
        let nodes = 0..cluster.nodes;
        let free_mb: Vec<u64> = nodes.clone().map(|node| cluster.offers(node).memory_mb).collect();
        let cluster_mb = free_mb.iter().sum();
        let places = nodes.clone().map(Some).collect();
        let offers_mb = free_mb.clone();
        let open = Open { smallest, nodes: nodes.collect(), places, free_mb, all_free_mb: cluster_mb };
        Yarn {
            order: cluster.order,
            queues,
            places: BTreeMap::new(),
            reducing: BTreeSet::new(),
            open,
            offers_mb,
            cluster_mb,
        }
    }

    /// Number of a queue; the only one where none was named.
    pub fn queue(&self, name: &str) -> u32 {
        self.queues.iter().position(|queue| queue.name == name).unwrap_or(0) as u32
    }

    /// The queues.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// What all nodes that are up offer together, mebibytes: shares are shares of that.
    pub fn cluster_mb(&self) -> u64 {
        self.cluster_mb
    }

    /// A queue's jobs hold so much more, or less, mebibytes.
    pub fn hold(&mut self, queue: u32, more_mb: i64) {
        let is_beyond = more_mb > 0 && more_mb.unsigned_abs() > self.headroom_mb(queue);
        let queue = &mut self.queues[queue as usize];
        queue.overfilled += u32::from(is_beyond);
        queue.held_mb = queue.held_mb.saturating_add_signed(more_mb);
    }

    /// Mebibytes that a queue may still take.
    pub fn headroom_mb(&self, queue: u32) -> u64 {
        let queue = &self.queues[queue as usize];
        let most = crate::model::share_of(queue.most, self.cluster_mb) as u64;
        most.saturating_sub(queue.held_mb)
    }

    /// Puts a job where it belongs among those that wait, or takes it out.
    pub fn seat(&mut self, job: &Job) {
        let waits = job.tasks.iter().any(|tasks| !tasks.asks.is_empty());
        let key = match self.order {
            QueueOrder::Fair => job.held_mb(),
            QueueOrder::Capacity | QueueOrder::Fifo => 0,
        };
        let new = waits.then_some((job.queue, key));
        if self.places.get(&job.number).copied() == new {
            return;
        }
        self.unseat(job.number);
        if let Some((queue, key)) = new {
            self.queues[queue as usize].waiting.insert((key, job.number));
            self.places.insert(job.number, (queue, key));
        }
    }

    /// A reduce of the job has been given a container, or has given it back.
    pub fn note_reduces(&mut self, job: &Job) {
        if job.of(TaskKind::Reduce).held > 0 {
            self.reducing.insert(job.number);
        } else {
            self.reducing.remove(&job.number);
        }
    }

    /// A job is over.
    pub fn leaves(&mut self, job: u32) {
        self.unseat(job);
        self.reducing.remove(&job);
    }

    fn unseat(&mut self, job: u32) {
        if let Some((queue, key)) = self.places.remove(&job) {
            self.queues[queue as usize].waiting.remove(&(key, job));
        }
    }

    /// Does any job wait, and any node have room?
    pub fn is_busy(&self) -> bool {
        !self.places.is_empty() && !self.open.nodes.is_empty()
    }

    /// The jobs that wait for containers.
    pub fn waiting(&self) -> impl Iterator<Item = u32> {
        self.places.keys().copied()
    }

    /// The jobs that wait for containers, and whose reduces hold some: no more than there is room for, however many wait.
    pub fn waiting_beside_reduces(&self) -> impl Iterator<Item = u32> {
        self.reducing.iter().copied().filter(|job| self.places.contains_key(job))
    }

    /// Sets aside the job whose turn it is in its queue, and so all that were before it.
    pub fn set_aside(&self, job: u32, aside: &mut Aside) {
        if let Some((queue, key)) = self.places.get(&job) {
            aside.0.insert(*queue, (*key, job));
        }
    }

    /// The job whose turn it is, of those that are not set aside.
    pub fn next(&self, aside: &Aside) -> Option<u32> {
        let first = |number: u32, queue: &Queue| {
            let from = aside.0.get(&number).map_or(Bound::Unbounded, |last| Bound::Excluded(*last));
            queue.waiting.range((from, Bound::Unbounded)).next().map(|(_, job)| *job)
        };
        let all = (0..).zip(&self.queues);
        let waiting = all.filter_map(|(number, queue)| Some((queue, first(number, queue)?)));
        match self.order {
            QueueOrder::Fifo => waiting.map(|(_, job)| job).min(),
            QueueOrder::Capacity | QueueOrder::Fair => {
                let used = |queue: &Queue| queue.held_mb as f64 / queue.share.max(1e-9);
                waiting.min_by(|(a, _), (b, _)| used(a).total_cmp(&used(b))).map(|(_, job)| job)
            }
        }
    }

    /// A node has more or less room than before, or has gone, or come back.
    pub fn node_changed(&mut self, number: u32, machine: &Machine) {
        let offers_mb = if machine.is_up() { machine.total.memory_mb } else { 0 };
        let known = std::mem::replace(&mut self.offers_mb[number as usize], offers_mb);
        self.cluster_mb = self.cluster_mb - known + offers_mb;
        let is_open = machine.fits(self.open.smallest);
        self.open.set(number, is_open);
        self.open.frees(number, if is_open { machine.free_mb() } else { 0 });
    }

    /// Does the smallest container fit on a node?
    pub fn is_open(&self, node: u32) -> bool {
        self.open.places[node as usize].is_some()
    }

    /// What the nodes have free together on which the smallest container fits, mebibytes.
    pub fn free_mb(&self) -> u64 {
        self.open.all_free_mb
    }

    /// The nodes on which the smallest container fits.
    pub fn open_nodes(&self) -> impl Iterator<Item = u32> {
        self.open.nodes.iter().copied()
    }

    /// The nth of these.
    pub fn nth_open(&self, nth: usize) -> Option<u32> {
        self.open.nodes.get(nth).copied()
    }

    /// How many nodes these are.
    pub fn open(&self) -> usize {
        self.open.nodes.len()
    }
}

impl Open {
    fn frees(&mut self, number: u32, free_mb: u64) {
        let known = std::mem::replace(&mut self.free_mb[number as usize], free_mb);
        self.all_free_mb = self.all_free_mb - known + free_mb;
    }

    fn set(&mut self, number: u32, is_open: bool) {
        match (self.places[number as usize], is_open) {
            (None, true) => {
                self.places[number as usize] = Some(self.nodes.len() as u32);
                self.nodes.push(number);
            }
            (Some(place), false) => {
                self.nodes.swap_remove(place as usize);
                if let Some(moved) = self.nodes.get(place as usize) {
                    self.places[*moved as usize] = Some(place);
                }
                self.places[number as usize] = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::START;
    use super::*;

    #[test]
    fn a_container_beyond_what_its_queue_may_use_is_counted() {
        let queues = r#"{"nodes": 2, "memory_mb": 4096, "queues": [{"name": "a", "share": 0.5, "most": 0.5}]}"#;
        let mut yarn = Yarn::new(&serde_json::from_str(queues).unwrap(), Resources::default());
        yarn.hold(0, 4096);
        assert_eq!(yarn.queues()[0].overfilled, 0);
        yarn.hold(0, -1024);
        yarn.hold(0, 1025);
        assert_eq!((yarn.queues()[0].overfilled, yarn.queues()[0].held_mb), (1, 4097));
    }

    #[test]
    fn queues_have_shares_of_the_nodes_that_are_up_alone() {
        let queues = r#"{"nodes": 2, "memory_mb": 4096, "queues": [{"name": "a", "share": 0.5, "most": 0.5}]}"#;
        let mut yarn = Yarn::new(&serde_json::from_str(queues).unwrap(), Resources::default());
        let mut node = Machine::new(1, 1, Resources { memory_mb: 4096, vcores: 8 }, 1.0, START);
        let seen = |yarn: &mut Yarn, node: &Machine| {
            yarn.node_changed(1, node);
            (yarn.cluster_mb(), yarn.headroom_mb(0))
        };
        yarn.hold(0, 1024);
        node.suffer(0, 1.0, true);
        assert_eq!(seen(&mut yarn, &node), (4096, 1024));
        node.suffer(1, 1.0, true);
        assert_eq!(seen(&mut yarn, &node), (4096, 1024), "it is lost twice");
        node.recover(0, true);
        node.recover(1, true);
        assert_eq!(seen(&mut yarn, &node), (8192, 3072));
    }
}
