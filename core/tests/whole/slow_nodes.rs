//! LATE §4's SlowNodeThreshold: no copy where every node with room for it has done too little.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{LateParams, PolicyName};

const NODES: u32 = 5;

/// What is to be seen at `now` of so many maps that take 4 s each from that second on, on five nodes in turn, some slower.
fn on_five_nodes(
    id: JobId,
    maps: u32,
    from: f64,
    slow: &dyn Fn(u32) -> f64,
    now: f64,
) -> (Vec<TaskFact>, Vec<AttemptFact>) {
    let run = |index| {
        let task = id.task(TaskKind::Map, index);
        let (of_task, mut attempts) = runs_of(task, &[Run { launched: from, takes: 4.0 * slow(index) }], now);
        attempts.iter_mut().for_each(|one| one.host = Some(format!("nm{}", index % NODES + 1).into()));
        (of_task, attempts)
    };
    let (tasks, attempts): (Vec<_>, Vec<_>) = (0..maps).map(run).unzip();
    (tasks, attempts.concat())
}

/// What is said of the straggler while only the second node has room.
fn where_only_the_second_has_room(slow: f64, user: &str) -> Verdict {
    said_of_the_straggler(PolicyName::Late, slow, user, |n| n == 2).0
}

/// A job of Alice's of four tasks on each node, on the second so many times slower, and one of that user's with a task on each, of which the first straggles, while some nodes
/// have room: what is said of the straggler once it is slow, and what its copy is to keep off.
fn said_of_the_straggler(
    policy: PolicyName,
    slow: f64,
    user: &str,
    has_room: fn(u32) -> bool,
) -> (Verdict, Vec<String>) {
    let late = LateParams { slow_node_percentile: 0.25, ..LateParams::default() };
    let mut script = Script::new(EngineParams { policy, late, ..EngineParams::default() });
    let room = |n: u32| Resources { memory_mb: if has_room(n) { 2_048 } else { 0 }, vcores: 8 };
    let mut avoid = Vec::new();
    let (first, second) = (job_id(1), job_id(2));
    script.open_job(first, 4 * NODES, 0, at(0.0));
    script.open_job_of(user, "root.default", second, NODES, 0, at(30.0));
    let mut said = Verdict::NotSlow;
    for now in (30..50).map(f64::from) {
        for (id, maps, from, slower, factor) in [(first, 4 * NODES, 0.0, 1, slow), (second, NODES, 30.0, 0, 15.0)] {
            let slow = |index: u32| if index % NODES == slower { factor } else { 1.0 };
            let (tasks, attempts) = on_five_nodes(id, maps, from, &slow, now);
            script.tasks(id, at(now), tasks);
            script.attempts(id, at(now), attempts);
        }
        let nodes = (1..=NODES).map(|n| NodeFact::usable(&format!("nm{n}"), room(n), Resources::default()));
        script.say(at(now), Fact::Nodes(nodes.collect()));
        let straggler = second.task(TaskKind::Map, 0);
        let decided = script.decide(at(now)).decisions;
        avoid.extend(decided.into_iter().filter(|one| one.task == straggler).flat_map(|one| one.avoid));
        let verdict = script.engine.cluster().job(second).unwrap().task(straggler).unwrap().verdict;
        said = verdict.unwrap_or(said);
        if matches!(said, Verdict::Decided | Verdict::NoFastNode) {
            break;
        }
    }
    (said, avoid)
}

#[test]
fn a_straggler_is_not_copied_where_only_a_node_below_the_threshold_has_room() {
    assert_eq!(where_only_the_second_has_room(100.0, "alice"), Verdict::NoFastNode);
}

#[test]
fn where_other_nodes_have_room_too_lates_copy_keeps_off_those_below_the_threshold() {
    let avoided = |slow, room| said_of_the_straggler(PolicyName::Late, slow, "alice", room);
    let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        avoided(100.0, |n| n == 2 || n == 4),
        (Verdict::Decided, hosts(&["nm1", "nm2"])),
        "its own, and the slow one"
    );
    assert_eq!(
        avoided(100.0, |n| n == 4),
        (Verdict::Decided, hosts(&["nm1"])),
        "where there is no room nothing is put anyway"
    );
    assert_eq!(avoided(1.0, |n| n == 2 || n == 4), (Verdict::Decided, hosts(&["nm1"])));
}

#[test]
fn a_node_that_has_done_as_much_as_the_threshold_is_not_slow() {
    // Four of the five have done the same, and the straggler's less.
    assert_eq!(where_only_the_second_has_room(1.0, "alice"), Verdict::Decided);
}

#[test]
fn what_one_users_tasks_have_done_keeps_no_other_users_copies_off_a_node() {
    assert_eq!(where_only_the_second_has_room(100.0, "bob"), Verdict::Decided);
}

/// A container, and all of a node that has place for one.
const PLACE: Resources = Resources { memory_mb: 128, vcores: 1 };

/// LATE §5.4.3: nodes that take ten tenths of a minute for a task, X that takes 29, Y that takes 100.
const PACES: [u32; 12] = [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 29, 100];

/// The example's 32 tasks in that cluster, each with the node and the tenth of a minute of every attempt's launch. Whatever has no copy is launched by the cluster itself.
struct Example {
    script: Script,
    id: JobId,
    attempts: Vec<Vec<(usize, u32)>>,
}

impl Example {
    fn new(slow_node_percentile: f64) -> Example {
        let late = LateParams { slow_node_percentile, ..LateParams::paper() };
        let govern = GovernParams { mode: Mode::Act, cluster_cap: 1.0, job_cap: 1.0, ..GovernParams::default() };
        let (policy, id) = (PolicyName::Late, job_id(1));
        let mut script = Script::new(EngineParams { policy, late, govern, ..EngineParams::default() });
        script.open_job(id, 32, 0, at(0.0));
        script.say(at(0.0), Fact::ShimSession(id, true));
        script.say(at(0.0), Fact::Can(id, Capabilities { duplicate: true, ..Capabilities::default() }));
        Example { script, id, attempts: vec![Vec::new(); 32] }
    }

    /// When a task ends, as far as it has been launched.
    fn end(attempts: &[(usize, u32)]) -> Option<u32> {
        attempts.iter().map(|(node, since)| since + PACES[*node]).min()
    }

    /// Nodes that are idle, the fast ones first.
    fn idle(&self, now: u32) -> Vec<usize> {
        let running = self.attempts.iter().filter(|attempts| Example::end(attempts).is_some_and(|end| end > now));
        let busy: Vec<usize> = running.flatten().map(|(node, _)| *node).collect();
        (0..PACES.len()).filter(|node| !busy.contains(node)).collect()
    }

    fn tell(&mut self, now: u32) {
        let (seconds, idle) = (f64::from(now) * 6.0, self.idle(now));
        let of = |(index, attempts): (usize, &Vec<(usize, u32)>)| {
            let id = self.id.task(TaskKind::Map, index as u32);
            if attempts.is_empty() {
                return (TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(id) }, Vec::new());
            }
            let run = |(node, since): &(usize, u32)| Run {
                launched: f64::from(*since) * 6.0,
                takes: f64::from(PACES[*node]) * 6.0,
            };
            let (task, mut seen) = runs_of(id, &attempts.iter().map(run).collect::<Vec<_>>(), seconds);
            seen.iter_mut().zip(attempts).for_each(|(one, (node, _))| one.host = Some(format!("nm{node}").into()));
            (task, seen)
        };
        let (tasks, seen): (Vec<_>, Vec<_>) = self.attempts.iter().enumerate().map(of).unzip();
        let node = |n: usize| {
            let used = if idle.contains(&n) { Resources::default() } else { PLACE };
            NodeFact::usable(&format!("nm{n}"), PLACE, used)
        };
        self.script.say(at(seconds), Fact::Nodes((0..PACES.len()).map(node).collect()));
        self.script.tasks(self.id, at(seconds), tasks);
        self.script.attempts(self.id, at(seconds), seen.concat());
    }

    /// What is decided is done: on an idle node that the decision does not keep off, the fastest there is.
    fn copy(&mut self, decision: &Decision, now: u32) {
        let place = self.idle(now).into_iter().find(|node| !decision.avoid.contains(&format!("nm{node}"))).unwrap();
        let ack = |attempts| AckFact { job: self.id, decision: decision.id, answer: Answer::Applied, attempts };
        for fact in [Fact::Sent { job: self.id, decision: decision.id }, Fact::Acked(ack(vec![1]))] {
            let seen = self.script.observation(Channel::Own, Some(self.id.0), at(f64::from(now) * 6.0), fact);
            self.script.engine.observe(&seen).unwrap();
        }
        self.attempts[decision.task.index as usize].push((place, now));
    }

    /// Plays it until the last task has ended; when that is, tenths of a minute.
    fn play(mut self) -> u32 {
        for now in 0..200 {
            let idle = self.idle(now);
            let waiting = self.attempts.iter_mut().filter(|attempts| attempts.is_empty());
            waiting.zip(idle).for_each(|(attempts, node)| attempts.push((node, now)));
            if self.attempts.iter().all(|attempts| Example::end(attempts).is_some_and(|end| end <= now)) {
                return now;
            }
            self.tell(now);
            for decision in self.script.decide(at(f64::from(now) * 6.0)).decisions {
                self.copy(&decision, now);
            }
        }
        panic!("the job never ends");
    }
}

#[test]
fn late_section_5_4_3_the_slow_node_threshold_saves_1_8_minutes() {
    let minutes = [0.0, 0.25].map(|threshold| f64::from(Example::new(threshold).play()) / 10.0);
    assert_eq!(minutes, [5.8, 4.0]);
}
