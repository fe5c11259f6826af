//! Outputs that would be dear to lose are replicated, and those on a machine that begins to lose outputs are computed anew before anybody asks (Mantri, OSDI'10, §5.3).

use crate::model::{Bytes, Millis, NameId, Time, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A task whose output may be lost, with what it read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lineage {
    /// r: probability (0–1) that its output is lost, over all its replicas: the product of theirs (Fig. 12b).
    pub lost: f64,
    /// t: how long it takes, seconds.
    pub takes: f64,
    /// The tasks whose outputs it read.
    pub inputs: Vec<Lineage>,
}

impl Lineage {
    /// §5.3, Fig. 12a and c: t_redo in seconds, the expected time that losing its output costs: the probability of the loss times the time to repeat the task, which
    /// waits first for what was lost of its own inputs. Several lost inputs are computed anew at the same time, and "the task is only stalled by the longest".
    pub fn redo_seconds(&self) -> f64 {
        self.lost * self.repeat_seconds()
    }

    /// The task once more, after those of its inputs that are lost, too.
    fn repeat_seconds(&self) -> f64 {
        self.takes + stalled_seconds(&self.inputs)
    }
}

/// How long a task that reads these waits, on average, for what is lost of them, seconds: for the longest of those lost, which it is if none longer is lost as well.
pub fn stalled_seconds(inputs: &[Lineage]) -> f64 {
    let mut stalls: Vec<(f64, f64)> = inputs.iter().map(|input| (input.repeat_seconds(), input.lost)).collect();
    stalls.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (stall, _) = stalls.iter().fold((0.0, 1.0), |(sum, none_longer), (takes, lost)| {
        (sum + none_longer * lost * takes, none_longer * (1.0 - lost))
    });
    stall
}

/// §5.3: "limits the amount of data replicated to 10 % of the data processed by the job": tokens that tasks bring and replicas use up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Replication {
    /// Tokens for each byte processed. §5.3: .1.
    share: f64,
    tokens: f64,
}

impl Replication {
    /// For a job none of whose tasks has ended.
    pub fn new(share: f64) -> Replication {
        Replication { share, tokens: 0.0 }
    }

    /// A task has processed so much.
    pub fn grant(&mut self, processed: Bytes) {
        self.tokens += self.share * processed.0 as f64;
    }

    /// A task has processed so much. Is its output of that size replicated: is losing it dearer than the `replicate_seconds` it takes to move it to another machine of its
    /// rack, and are there tokens for it? They are deducted then.
    pub fn decide(&mut self, processed: Bytes, output: Bytes, redo_seconds: f64, replicate_seconds: f64) -> Verdict {
        self.grant(processed);
        if redo_seconds <= replicate_seconds {
            return Verdict::NothingGained;
        }
        if output.0 as f64 > self.tokens {
            return Verdict::MeasureBudget;
        }
        self.tokens -= output.0 as f64;
        Verdict::Decided
    }
}

/// §5.3 and §6.5: a recompute on a machine is the onset of a temporal problem; when two came in quick succession, the machine's other outputs are computed anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Onset {
    /// How many recomputes make an onset. §6.5: one, or two, of which more prove needed.
    recomputes: usize,
    /// How soon after one another.
    within: Millis,
    seen: BTreeMap<NameId, VecDeque<Time>>,
}

impl Onset {
    /// None seen yet.
    pub fn new(recomputes: usize, within: Millis) -> Onset {
        Onset { recomputes: recomputes.max(1), within, seen: BTreeMap::new() }
    }

    /// An output on the machine had to be computed anew. Is that the onset: is what else lies there to be computed anew, too?
    pub fn recomputed(&mut self, machine: NameId, at: Time) -> bool {
        self.forget_old(at);
        let seen = self.seen.entry(machine).or_default();
        seen.push_back(at);
        while seen.len() > self.recomputes {
            seen.pop_front();
        }
        seen.len() == self.recomputes && seen.front().is_some_and(|first| at.since(*first) <= self.within)
    }

    /// Forgets machines that have long lost nothing. Is any left?
    pub fn forget_old(&mut self, at: Time) -> bool {
        let within = self.within;
        self.seen.retain(|_, seen| seen.back().is_some_and(|last| at.since(*last) <= within));
        !self.seen.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Names;
    use proptest::prelude::*;

    fn task(lost: f64, takes: f64, inputs: Vec<Lineage>) -> Lineage {
        Lineage { lost, takes, inputs }
    }

    #[test]
    fn in_figure_12a_a_task_is_redone_after_its_input_where_that_is_lost_as_well() {
        let chain = task(0.1, 20.0, vec![task(0.2, 10.0, vec![])]);
        assert!((chain.redo_seconds() - 0.1 * (20.0 + 0.2 * 10.0)).abs() < 1e-12);
    }

    #[test]
    fn in_figure_12b_a_replica_makes_both_losses_needed() {
        let (plain, replicated) = (task(0.1, 20.0, vec![]), task(0.1 * 0.3, 20.0, vec![]));
        assert!((replicated.redo_seconds() - 0.3 * plain.redo_seconds()).abs() < 1e-12);
    }

    #[test]
    fn in_figure_12c_many_inputs_make_a_loss_dearer_and_only_the_longest_lost_one_stalls() {
        let inputs = vec![task(0.5, 4.0, vec![]), task(0.5, 8.0, vec![])];
        // 8 with .5, else 4 with .25.
        assert!((task(1.0, 10.0, inputs).redo_seconds() - 15.0).abs() < 1e-12);
    }

    #[test]
    fn an_output_is_replicated_where_that_is_cheaper_than_its_loss_and_a_tenth_of_the_data_allows_it() {
        let mut job = Replication::new(0.1);
        assert_eq!(job.decide(Bytes(1_000), Bytes(50), 5.0, 5.0), Verdict::NothingGained, "no cheaper");
        assert_eq!(job.decide(Bytes(0), Bytes(101), 9.0, 5.0), Verdict::MeasureBudget, "100 tokens");
        assert_eq!(job.decide(Bytes(0), Bytes(60), 9.0, 5.0), Verdict::Decided);
        assert_eq!(job.decide(Bytes(0), Bytes(60), 9.0, 5.0), Verdict::MeasureBudget, "40 are left");
        assert_eq!(job.decide(Bytes(200), Bytes(60), 9.0, 5.0), Verdict::Decided);
    }

    #[test]
    fn two_recomputes_in_quick_succession_on_one_machine_are_an_onset() {
        let mut names = Names::default();
        let (one, other) = (names.intern("one").unwrap(), names.intern("other").unwrap());
        let mut onset = Onset::new(2, Millis(10_000));
        assert!(!onset.recomputed(one, Time(0)));
        assert!(!onset.recomputed(other, Time(5_000)), "another machine");
        assert!(!onset.recomputed(one, Time(10_001)), "too late");
        assert!(onset.recomputed(one, Time(20_001)));
        assert!(Onset::new(1, Millis(0)).recomputed(one, Time(0)), "the first is enough where one makes an onset");
    }

    #[test]
    fn a_machine_is_forgotten_when_it_has_long_lost_nothing() {
        let mut names = Names::default();
        let (one, other) = (names.intern("one").unwrap(), names.intern("other").unwrap());
        let mut onset = Onset::new(2, Millis(10_000));
        onset.recomputed(one, Time(0));
        onset.recomputed(other, Time(10_000));
        assert_eq!(onset.seen.len(), 2);
        onset.recomputed(other, Time(10_001));
        assert_eq!(onset.seen.len(), 1);
        assert!(onset.forget_old(Time(20_001)) && !onset.forget_old(Time(20_002)));
    }

    proptest! {
        #[test]
        fn what_was_replicated_is_never_more_than_a_tenth_of_what_was_processed(
            tasks in prop::collection::vec((0u64..1_000, 0u64..300, 0.0f64..9.0), 1..40),
        ) {
            let mut job = Replication::new(0.1);
            let (mut processed, mut replicated) = (0, 0);
            for (data, output, redo) in tasks {
                processed += data;
                replicated += if job.decide(Bytes(data), Bytes(output), redo, 4.0) == Verdict::Decided { output } else { 0 };
                prop_assert!(replicated as f64 <= 0.1 * processed as f64 + 1e-6);
            }
        }

        #[test]
        fn a_likelier_loss_and_dearer_inputs_never_cost_less(lost in 0.0f64..0.9, takes in 0.0f64..99.0, more in 0.0f64..0.1) {
            let of = |lost, input| task(lost, takes, vec![task(input, takes, vec![])]).redo_seconds();
            prop_assert!(of(lost + more, lost) >= of(lost, lost) && of(lost, lost + more) >= of(lost, lost));
        }
    }
}
