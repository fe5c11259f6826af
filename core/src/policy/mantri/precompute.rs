//! What is computed anew before anybody asks for it (Mantri, OSDI'10, §5.3): the outputs on a machine that has begun to lose outputs, within "a budget on the extra cluster
//! cycles".

use super::replicate::Output;
use crate::model::{MeasurePlan, Millis, Verdict};

/// The outputs of such a machine that are computed anew: those that took longest first, for it is for the longest that a reader waits, as long as they take no more than is left
/// of the budget in all.
pub fn precompute(host: &str, mut outputs: Vec<Output>, left: Millis) -> Result<MeasurePlan, Verdict> {
    if outputs.is_empty() {
        return Err(Verdict::NothingGained);
    }
    outputs.sort_unstable_by(|a, b| b.took.cmp(&a.took).then(a.attempt.cmp(&b.attempt)));
    let mut takes = Millis(0);
    outputs.retain(|output| {
        let fits = takes + output.took <= left;
        takes = if fits { takes + output.took } else { takes };
        fits
    });
    if outputs.is_empty() {
        return Err(Verdict::MeasureBudget);
    }
    let outputs = outputs.into_iter().map(|output| output.attempt).collect();
    Ok(MeasurePlan::Precompute { host: host.to_owned(), outputs, takes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bytes, JobId, Names, TaskKind, Time};
    use proptest::prelude::*;

    fn outputs(took: &[u64]) -> Vec<Output> {
        let (id, host) = ("job_1_0001".parse::<JobId>().unwrap(), Names::default().intern("nm1").unwrap());
        let output = |(index, took): (u32, &u64)| Output {
            attempt: id.task(TaskKind::Map, index).attempt(0),
            host,
            at: Time(1),
            read: Bytes(0),
            wrote: Bytes(0),
            took: Millis(*took),
        };
        (0..).zip(took).map(output).collect()
    }

    fn chosen(took: &[u64], left: u64) -> (Vec<u32>, u64) {
        match precompute("nm1", outputs(took), Millis(left)) {
            Ok(MeasurePlan::Precompute { outputs, takes, .. }) => {
                (outputs.iter().map(|attempt| attempt.task.index).collect(), takes.0)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_longest_are_computed_anew_first_as_far_as_the_budget_goes() {
        assert_eq!(chosen(&[10, 30, 20], 60), (vec![1, 2, 0], 60));
        assert_eq!(chosen(&[10, 30, 20], 49), (vec![1, 0], 40), "the second longest does not fit, the shortest does");
        assert_eq!(precompute("nm1", outputs(&[10, 30]), Millis(9)), Err(Verdict::MeasureBudget));
        assert_eq!(precompute("nm1", Vec::new(), Millis(9)), Err(Verdict::NothingGained));
    }

    proptest! {
        #[test]
        fn no_more_is_computed_anew_than_the_budget_has(took in prop::collection::vec(1u64..50, 1..20), left in 50u64..300) {
            let (chosen, takes) = chosen(&took, left);
            prop_assert!(takes <= left);
            prop_assert_eq!(chosen.iter().map(|index| took[*index as usize]).sum::<u64>(), takes);
        }
    }
}
