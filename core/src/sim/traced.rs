//! Jobs of a trace: what each task did there is done again here.

use super::draw::Draw;
use super::hosts::TracedHosts;
use crate::model::{Bytes, Millis, Resources};

/// A job of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedJob {
    /// Its name, by which Drover knows earlier runs.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// When it was submitted, from the trace's first.
    pub arrives: Millis,
    /// Its maps and its reduces.
    pub phases: [TracedPhase; 2],
}

/// Tasks of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedPhase {
    /// The tasks.
    pub tasks: TracedTasks,
    /// What a container of theirs asks for.
    pub size: Resources,
    /// Of reduces: what they read is counted from the end of all maps, and none of it is done before.
    pub reads_after_maps: bool,
}

/// As much as the trace tells of them.
#[derive(Debug, Clone, PartialEq)]
pub enum TracedTasks {
    /// The trace tells of the job only: so many that are alike.
    Alike(u32, TracedTask),
    /// Each by itself.
    Each(Vec<TracedTask>),
}

/// A task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracedTask {
    /// What an attempt of ordinary luck has to do: milliseconds of reading, sorting and its own work. Maps have the last only.
    pub work: [f64; 3],
    /// How many times longer its first attempt took.
    pub first: f64,
    /// Its input.
    pub input: Bytes,
    /// Where that attempt ran: place among the trace's hosts, where that is told.
    pub host: Option<u32>,
}

impl TracedTask {
    /// What its first attempt took, milliseconds.
    pub fn takes(&self) -> f64 {
        self.work.iter().sum::<f64>() * self.first
    }
}

impl TracedTasks {
    /// How many.
    pub fn count(&self) -> u32 {
        match self {
            TracedTasks::Alike(count, _) => *count,
            TracedTasks::Each(tasks) => tasks.len() as u32,
        }
    }

    /// One of them.
    pub fn task(&self, index: u32) -> Option<&TracedTask> {
        match self {
            TracedTasks::Alike(count, task) => (index < *count).then_some(task),
            TracedTasks::Each(tasks) => tasks.get(index as usize),
        }
    }

    /// How many times longer an attempt takes on a host: the first as it did, any other as the first of another task did, drawn, apart from what their hosts made of it;
    /// in a phase of one task, of which no other luck is known, as its own first did. What the trace's own copy of the task took is not asked: a policy that copies at another time would not have had it.
    pub fn luck(&self, index: u32, is_first: bool, on: Option<u32>, hosts: &TracedHosts, draw: &mut Draw) -> f64 {
        match self {
            TracedTasks::Alike(_, task) => hosts.moved(task, on),
            TracedTasks::Each(tasks) if is_first || tasks.len() < 2 => {
                tasks.get(index as usize).map_or(1.0, |task| hosts.moved(task, on))
            }
            TracedTasks::Each(tasks) => {
                let nth = draw.below(tasks.len() - 1);
                hosts.moved(&tasks[nth + usize::from(nth >= index as usize)], on)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::{Draws, Purpose};
    use super::*;

    fn task(first: f64, host: Option<u32>) -> TracedTask {
        TracedTask { work: [0.0, 0.0, 1_000.0], first, input: Bytes(0), host }
    }

    /// What copies of a task have on a host, one of each number.
    fn copies(tasks: &TracedTasks, index: u32, on: Option<u32>, hosts: &TracedHosts) -> Vec<f64> {
        let of = |seed| tasks.luck(index, false, on, hosts, &mut Draws::new(seed).of(Purpose::Luck, [0; 3]));
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
        let first = [0, 1, 2].map(|index| tasks.luck(index, true, None, &hosts, &mut draw));
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
        let mut first = |index, on| tasks.luck(index, true, Some(on), &hosts, &mut draw);
        assert_eq!([first(0, 0), first(10, 1)], [1.0, 3.0], "on its own host it takes what it took");
        assert_eq!([first(0, 1), first(10, 0)], [2.0, 1.5], "elsewhere what the other host makes of it");
        // Others' luck: 1 on a, 3 on b, of which b made a half; each times the factor of the node.
        assert_eq!(copies(&tasks, 10, Some(0), &hosts), [1.0, 1.5]);
        assert_eq!(copies(&tasks, 10, Some(1), &hosts), [2.0, 3.0]);
    }
}
