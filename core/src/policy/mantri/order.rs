//! Which waiting task is started first (Mantri, OSDI'10, §5.1, Pseudocode 1 line 8; §5.4): "the waiting task that has the largest data to read". So ordered a phase takes at
//! most 4/3 − 1/(3s) as long as the best order would on s slots ([`crate::estimate::lpt`]).

use crate::model::{Job, TaskKind, TaskState, Verdict};

/// The indices of a phase's tasks that wait, the one with the most data first, of equal ones in the order of their indices; what is not known to have any comes last. Or why
/// there is nothing to order. One pass over them.
pub fn order(job: &Job, kind: TaskKind) -> Result<Vec<u32>, Verdict> {
    let waits = job.tasks(kind).filter(|(_, task)| task.state < TaskState::Running);
    let mut waits: Vec<(u64, u32)> = waits.map(|(id, task)| (task.input.0, id.index)).collect();
    let most = waits.iter().map(|(data, _)| *data).max().unwrap_or(0);
    if waits.iter().all(|(data, _)| *data == most) {
        return Err(if most == 0 && waits.len() > 1 { Verdict::DataUnknown } else { Verdict::NothingGained });
    }
    waits.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(waits.into_iter().map(|(_, index)| index).collect())
}

/// Has Hadoop that order anyway? It numbers maps by descending length of their splits, and asks for containers in the order of numbers (JobSubmitter, writeNewSplits).
pub fn is_hadoops(order: &[u32]) -> bool {
    order.is_sorted()
}

/// Of how many tasks of a phase the data is known: while that stays the same the order does, too.
pub fn told(job: &Job, kind: TaskKind) -> u32 {
    job.tasks(kind).filter(|(_, task)| task.input.0 > 0).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bytes, JobId, TaskFact, Time};
    use proptest::prelude::*;

    /// A job of maps with so much data that wait, or run.
    fn job(maps: &[(u64, bool)]) -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        for (index, (data, waits)) in (0..).zip(maps) {
            let state = Some(if *waits { TaskState::Scheduled } else { TaskState::Running });
            let fact = TaskFact { state, input: Some(Bytes(*data)), ..TaskFact::of(id.task(TaskKind::Map, index)) };
            assert!(job.learn_task(&fact, Time(1), 100));
        }
        job
    }

    #[test]
    fn the_waiting_task_with_the_most_data_is_first_and_what_runs_is_left_out() {
        let maps = [(5, true), (9, false), (7, true), (0, true), (7, true)];
        assert_eq!(order(&job(&maps), TaskKind::Map), Ok(vec![2, 4, 0, 3]));
        assert_eq!(told(&job(&maps), TaskKind::Map), 4);
    }

    #[test]
    fn tasks_of_which_nothing_is_known_or_all_is_alike_have_no_order() {
        let of = |maps: &[(u64, bool)]| order(&job(maps), TaskKind::Map);
        assert_eq!(of(&[(0, true), (0, true)]), Err(Verdict::DataUnknown));
        assert_eq!(of(&[(4, true), (4, true), (9, false)]), Err(Verdict::NothingGained));
        assert_eq!((of(&[(0, true)]), of(&[])), (Err(Verdict::NothingGained), Err(Verdict::NothingGained)));
        assert_eq!(order(&job(&[(4, true), (5, true)]), TaskKind::Reduce), Err(Verdict::NothingGained));
    }

    #[test]
    fn hadoop_starts_maps_by_descending_length_itself() {
        assert!(is_hadoops(&[0, 3, 4]) && !is_hadoops(&[0, 4, 3]));
    }

    proptest! {
        #[test]
        fn permuting_the_tasks_permutes_their_order(
            shuffled in Just((1..=12_u64).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let maps: Vec<_> = shuffled.iter().map(|data| (*data, true)).collect();
            let data: Vec<u64> =
                order(&job(&maps), TaskKind::Map).unwrap().iter().map(|index| shuffled[*index as usize]).collect();
            prop_assert_eq!(data, (1..=12_u64).rev().collect::<Vec<_>>());
        }
    }
}
