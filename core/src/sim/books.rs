//! What must hold at the end of every run, whatever happened in it.

use super::world::World;

impl World<'_> {
    /// What of it does not: time that is in one book only, work that was not asked for, containers where there was no room.
    pub(super) fn miscounted(&self) -> Option<String> {
        let ran: u64 = self.outcome.jobs.iter().map(|job| job.useful_ms + job.wasted_ms).sum();
        let counted = ran + self.outcome.waiting_ms;
        if counted != self.outcome.held_ms {
            return Some(format!("nodes held containers for {} ms, attempts for {counted}", self.outcome.held_ms));
        }
        if self.off_ms > 1.0 {
            return Some(format!("a task was done with {} ms of its work too much or too little", self.off_ms));
        }
        let nodes = self.nodes.iter().map(|node| (node.overfilled, node.host.to_string()));
        let queues = self.yarn.queues().iter().map(|queue| (queue.overfilled, format!("queue {}", queue.name)));
        let (many, whose) = nodes.chain(queues).find(|(many, _)| *many > 0)?;
        Some(format!("{whose} was given {many} containers beyond what it may hold"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::attempt::AttemptKey;
    use super::super::ideal::{Actor, Ideal};
    use super::super::job::{Job, Origin, START};
    use super::super::scenario::Scenario;
    use super::super::world::Stuck;
    use super::*;
    use crate::model::{Millis, Resources, TaskKind};

    /// How a run ends in which that happened.
    fn ends(happened: impl Fn(&mut World)) -> Result<(), String> {
        let scenario: Scenario = serde_json::from_str(
            r#"{"cluster": {"nodes": 1, "memory_mb": 2048, "queues": [{"name": "a", "share": 0.5, "most": 0.5}]}}"#,
        )
        .unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        happened(&mut world);
        match world.close() {
            Ok(_) => Ok(()),
            Err(Stuck::Miscounted(words)) => Err(words),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_run_in_which_a_node_or_a_queue_held_more_than_it_may_fails() {
        let comes = |world: &mut World, memory_mb: u64| {
            let size = Resources { memory_mb, vcores: 1 };
            world.nodes[0].take(AttemptKey(0), size, START);
            world.nodes[0].give_back(AttemptKey(0), size, START);
        };
        assert_eq!(ends(|world| comes(world, 2048)), Ok(()));
        assert_eq!(ends(|world| comes(world, 2049)), Err("n0 was given 1 containers beyond what it may hold".into()));
        let holds = |mebibytes| ends(move |world| world.yarn.hold(0, mebibytes));
        assert_eq!(holds(1024), Ok(()));
        assert_eq!(holds(1025), Err("queue a was given 1 containers beyond what it may hold".into()));
    }

    #[test]
    fn time_that_is_in_one_book_only_fails_a_run() {
        let held = |world: &mut World| {
            world.nodes[0].take(AttemptKey(0), Resources { memory_mb: 1, vcores: 1 }, START);
            world.nodes[0].give_back(AttemptKey(0), Resources { memory_mb: 1, vcores: 1 }, START + Millis(7));
        };
        let counted = |ms: u64| move |world: &mut World| (held(world), world.outcome.waiting_ms = ms).1;
        assert_eq!(ends(counted(7)), Ok(()));
        assert_eq!(ends(counted(0)), Err("nodes held containers for 7 ms, attempts for 0".into()));
        assert_eq!(ends(counted(8)), Err("nodes held containers for 7 ms, attempts for 8".into()));
    }

    #[test]
    fn work_that_was_not_asked_for_or_not_done_fails_a_run() {
        let off = |ms: f64| ends(move |world| world.off_ms = ms);
        assert_eq!(off(1.0), Ok(()), "stages end on whole milliseconds");
        assert_eq!(off(1.5), Err("a task was done with 1.5 ms of its work too much or too little".into()));
        // It is taken as it comes, of the task that ends.
        let json = r#"{"jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10}}]}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let ran = |ended: u64, asked: f64| {
            let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
            world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
            world.begin_phases(0, START);
            world.serve(START);
            let key = *world.jobs[&0].live.first().unwrap();
            [500, 2_000, ended].into_iter().for_each(|at| world.stage_ends(key, START + Millis(at)));
            world.jobs.get_mut(&0).unwrap().task_mut(TaskKind::Map, 0).work[2] = asked;
            world.stage_ends(key, START + Millis(ended + 100));
            world.off_ms
        };
        assert_eq!([10_000.0, 10_002.0, 9_990.0].map(|asked| ran(12_000, asked)), [0.0, 2.0, 10.0]);
        assert_eq!([11_980, 12_001, 12_021].map(|ended| ran(ended, 10_000.0)), [20.0, 0.0, 20.0], "a stage's end");
    }
}
