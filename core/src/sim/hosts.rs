//! Hosts of a trace: how many times longer than elsewhere tasks took on each, and which of them a node stands for.

use super::draw::Draw;
use super::traced::{TracedJob, TracedTask, TracedTasks};
use crate::estimate::machine::{drawn, pace};
use crate::estimate::stats::median;

/// A host of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedHost {
    /// Its name there.
    pub name: String,
    /// How many times longer tasks took there than elsewhere: the median of their times over their phases' medians, drawn towards 1 where they are few.
    pub slower: f64,
    /// How many tasks that rests on.
    pub tasks: u32,
}

/// The hosts of a trace, which stand evenly for the nodes of a cluster, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TracedHosts(Vec<TracedHost>);

impl TracedHosts {
    /// Hosts of those names, which jobs' tasks name by their places, as slow as these tasks show.
    pub fn of(names: Vec<String>, jobs: &[TracedJob]) -> TracedHosts {
        let mut shown = vec![Vec::new(); names.len()];
        for phase in jobs.iter().flat_map(|job| &job.phases) {
            let TracedTasks::Each(tasks) = &phase.tasks else { continue };
            let known: Vec<(u32, f64)> = tasks.iter().filter_map(|task| Some((task.host?, task.takes()))).collect();
            let typical = median(&mut known.iter().map(|(_, takes)| *takes).collect::<Vec<_>>());
            // A task alone is its phase's median wherever it ran.
            let Some(typical) = typical.filter(|typical| *typical > 0.0 && known.len() > 1) else { continue };
            known.into_iter().for_each(|(host, takes)| shown[host as usize].push(pace(takes / typical)));
        }
        let host = |(name, mut ratios): (String, Vec<f64>)| {
            let tasks = ratios.len() as u32;
            TracedHost { name, slower: drawn(median(&mut ratios).unwrap_or(1.0), tasks.into(), 1.0), tasks }
        };
        TracedHosts(names.into_iter().zip(shown).map(host).collect())
    }

    /// All of them.
    pub fn all(&self) -> &[TracedHost] {
        &self.0
    }

    /// The host that a node of so many stands for: of more hosts than nodes some have no node, of fewer some have several.
    pub fn on(&self, node: u32, nodes: u32) -> Option<u32> {
        let place = u64::from(node) * self.0.len() as u64 / u64::from(nodes.max(1));
        (place < self.0.len() as u64).then_some(place as u32)
    }

    /// How many times longer than elsewhere tasks take on a host; one that is not known is as all are.
    pub fn slower(&self, host: Option<u32>) -> f64 {
        host.and_then(|host| self.0.get(host as usize)).map_or(1.0, |host| host.slower)
    }

    /// What a task's own first attempt takes longer on a host: there where it ran, what it took; elsewhere that apart from its own host, and what the other makes of it.
    pub fn moved(&self, task: &TracedTask, to: Option<u32>) -> f64 {
        if task.host == to { task.first } else { task.first / self.slower(task.host) * self.slower(to) }
    }

    /// How many times longer an attempt takes on a host: the first as it did, any other as the first of another task did, drawn, apart from what their hosts made of it;
    /// in a phase of one task, of which no other luck is known, as its own first did. What the trace's own copy of the task took is not asked: a policy that copies at another time would not have had it.
    pub fn luck(&self, tasks: &TracedTasks, index: u32, is_first: bool, on: Option<u32>, draw: &mut Draw) -> f64 {
        match tasks {
            TracedTasks::Alike(_, task) => self.moved(task, on),
            TracedTasks::Each(tasks) if is_first || tasks.len() < 2 => {
                tasks.get(index as usize).map_or(1.0, |task| self.moved(task, on))
            }
            TracedTasks::Each(tasks) => {
                let nth = draw.below(tasks.len() - 1);
                self.moved(&tasks[nth + usize::from(nth >= index as usize)], on)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bytes, Millis, Resources};
    use crate::sim::TracedPhase;
    use crate::sim::draw::{Draws, Purpose};

    fn phase(tasks: &[(u32, f64)]) -> TracedPhase {
        let task = |(host, seconds): &(u32, f64)| TracedTask {
            work: [0.0, 0.0, 10_000.0],
            first: seconds / 10.0,
            input: Bytes(0),
            host: Some(*host),
        };
        let tasks = TracedTasks::Each(tasks.iter().map(task).collect());
        TracedPhase { tasks, size: Resources::default(), reads_after_maps: false }
    }

    fn hosts(names: &[&str], phases: [TracedPhase; 2]) -> TracedHosts {
        let [name, user, queue] = ["j", "u", "q"].map(str::to_owned);
        let job = TracedJob { name, user, queue, arrives: Millis(0), phases };
        TracedHosts::of(names.iter().map(|name| (*name).to_owned()).collect(), &[job])
    }

    #[test]
    fn a_host_is_as_slow_as_its_median_task_over_phases_medians_and_the_fewer_the_nearer_to_others() {
        // Medians are 10 and 100 s. On a: 1, 1 and 1; on b: 3.3 and, ten times, 2.1 of others' times; c has no task beside others.
        let maps = phase(&[(0, 10.0), (0, 10.0), (1, 33.0)]);
        let many: Vec<(u32, f64)> = (0..10).map(|_| (1, 210.0)).chain((0..11).map(|_| (0, 100.0))).collect();
        let known = hosts(&["a", "b", "c"], [maps, phase(&many)]);
        let told: Vec<(f64, u32)> = known.all().iter().map(|host| (host.slower, host.tasks)).collect();
        // As if ten more tasks had taken what all do: (2.1 · 11 + 10) / 21.
        assert_eq!(told, [(1.0, 13), ((2.1 * 11.0 + 10.0) / 21.0, 11), (1.0, 0)]);
    }

    #[test]
    fn a_task_alone_in_its_phase_says_nothing_of_its_host() {
        let known = hosts(&["a"], [phase(&[(0, 500.0)]), phase(&[])]);
        assert_eq!((known.all()[0].slower, known.all()[0].tasks), (1.0, 0));
    }

    #[test]
    fn one_task_that_took_a_hundred_times_as_long_does_not_make_its_host_so_slow() {
        let known = hosts(&["a", "b"], [phase(&[(0, 10.0), (0, 10.0), (1, 1_000.0)]), phase(&[])]);
        // It counts for ten, beside ten of one.
        assert_eq!(known.all()[1].slower, 20.0 / 11.0);
    }

    #[test]
    fn hosts_stand_evenly_for_nodes_in_their_order() {
        let of = |hosts: usize, nodes: u32| {
            let host = TracedHost { name: String::new(), slower: 1.0, tasks: 0 };
            let known = TracedHosts(vec![host; hosts]);
            (0..nodes).map(|node| known.on(node, nodes)).collect::<Vec<_>>()
        };
        assert_eq!(of(3, 3), [0, 1, 2].map(Some));
        assert_eq!(of(7, 3), [0, 2, 4].map(Some));
        assert_eq!(of(2, 5), [0, 0, 0, 1, 1].map(Some));
        assert_eq!(of(0, 2), [None, None]);
    }

    fn task(first: f64, host: Option<u32>) -> TracedTask {
        TracedTask { work: [0.0, 0.0, 1_000.0], first, input: Bytes(0), host }
    }

    /// What copies of a task have on a host, one of each number.
    fn copies(tasks: &TracedTasks, index: u32, on: Option<u32>, hosts: &TracedHosts) -> Vec<f64> {
        let of = |seed| hosts.luck(tasks, index, false, on, &mut Draws::new(seed).of(Purpose::Luck, [0; 3]));
        let mut drawn: Vec<f64> = (0..50).map(of).collect();
        drawn.sort_by(f64::total_cmp);
        drawn.dedup();
        drawn
    }

    #[test]
    fn a_first_attempt_has_the_luck_it_had_and_a_copy_that_of_another_task() {
        let (tasks, hosts) =
            (TracedTasks::Each([1.0, 7.0, 2.0].map(|first| task(first, None)).into()), TracedHosts::default());
        let mut draw = Draws::new(1).of(Purpose::Luck, [0; 3]);
        let first = [0, 1, 2].map(|index| hosts.luck(&tasks, index, true, None, &mut draw));
        assert_eq!(first, [1.0, 7.0, 2.0]);
        assert_eq!(copies(&tasks, 1, None, &hosts), [1.0, 2.0]);
        let alone = TracedTasks::Each(vec![task(3.0, None)]);
        assert_eq!(copies(&alone, 0, None, &hosts), [3.0], "there is no other");
    }

    #[test]
    fn an_attempt_takes_what_its_node_makes_of_it_and_not_what_the_trace_s_host_did() {
        // Host 0 is as others; on host 1 tasks took 3 times as long, ten of them: twice, drawn towards 1.
        let ten = |first: f64, host| (0..10).map(move |_| task(first, Some(host)));
        let tasks = TracedTasks::Each(ten(1.0, 0).chain(ten(3.0, 1)).chain([task(1.0, Some(0))]).collect());
        let phases = [tasks.clone(), TracedTasks::Each(vec![])].map(|tasks| TracedPhase {
            tasks,
            size: Resources::default(),
            reads_after_maps: false,
        });
        let [name, user, queue] = ["j", "u", "q"].map(str::to_owned);
        let job = TracedJob { name, user, queue, arrives: Millis(0), phases };
        let hosts = TracedHosts::of(vec!["a".into(), "b".into()], &[job]);
        assert_eq!([0, 1].map(|host| hosts.slower(Some(host))), [1.0, 2.0]);
        let mut draw = Draws::new(1).of(Purpose::Luck, [0; 3]);
        let mut first = |index, on| hosts.luck(&tasks, index, true, Some(on), &mut draw);
        assert_eq!([first(0, 0), first(10, 1)], [1.0, 3.0], "on its own host it takes what it took");
        assert_eq!([first(0, 1), first(10, 0)], [2.0, 1.5], "elsewhere what the other host makes of it");
        // Others' luck: 1 on a, 3 on b, of which b made a half; each times the factor of the node.
        assert_eq!(copies(&tasks, 10, Some(0), &hosts), [1.0, 1.5]);
        assert_eq!(copies(&tasks, 10, Some(1), &hosts), [2.0, 3.0]);
    }
}
