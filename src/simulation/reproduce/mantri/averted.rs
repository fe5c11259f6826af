//! Jobs whose outputs are lost, under every scheme, and what is read off them.

use super::recompute::{Assumed, LEARNT_FROM, MACHINES, Scheme, scenario};
use super::runs::weighed;
use crate::simulation::grid::{Progress, run_as};
use crate::stats::{Interval, quantile};
use drover_core::model::Millis;
use drover_core::sim::{JobRow, KeptRow, Outcome, Stuck, TracedTasks};
use rayon::prelude::*;
use std::cmp::Reverse;

/// What came of a run: of each job that counts, in order.
struct Taken {
    jobs: Vec<JobRow>,
    /// Of all jobs.
    kept: KeptRow,
    held: f64,
    /// When there were recomputes on each machine that had any, that with most first.
    by_machine: Vec<Vec<Millis>>,
    lasted: Millis,
}

impl Taken {
    fn of(outcome: Outcome) -> Taken {
        let mut jobs = outcome.jobs;
        let mut kept = KeptRow::default();
        jobs.iter().for_each(|job| kept.add(&job.kept));
        jobs.retain(|job| job.nth >= LEARNT_FROM);
        jobs.sort_by_key(|job| job.nth);
        let mut by_machine: Vec<Vec<Millis>> = outcome.recomputed_on.into_values().collect();
        by_machine.sort_by_key(|times| Reverse(times.len()));
        Taken { jobs, kept, held: outcome.held_ms as f64, by_machine, lasted: outcome.lasted }
    }
}

/// One seed under every scheme.
pub struct Sample {
    taken: Vec<Taken>,
    /// Bytes that all tasks read.
    read: f64,
}

/// A sample for each seed.
pub struct Runs(Vec<Sample>);

impl Runs {
    /// Plays so many seeds' jobs under each scheme.
    pub fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Runs, Stuck> {
        let schemes = Scheme::ALL.len();
        progress.expect(seeds * schemes as u64);
        let all: Vec<(u64, Scheme)> =
            (1..=seeds).flat_map(|seed| Scheme::ALL.into_iter().map(move |scheme| (seed, scheme))).collect();
        let one = |(seed, scheme): (u64, Scheme)| {
            let scenario = scenario(assumed, seed, scheme)?;
            let inputs = scenario.traced.iter().flat_map(|job| &job.phases).flat_map(|phase| match &phase.tasks {
                TracedTasks::Each(tasks) => tasks.as_slice(),
                TracedTasks::Alike(_, task) => std::slice::from_ref(task),
            });
            let read = inputs.map(|task| task.input.0 as f64).sum::<f64>();
            let name = format!("{scheme:?}");
            let taken = Taken::of(run_as(&name, &scenario, scheme.actor(assumed), scheme.draws(seed))?);
            progress.done();
            Ok((read, taken))
        };
        let mut played = all.into_par_iter().map(one).collect::<Result<Vec<_>, Stuck>>()?.into_iter();
        let sample = |_| {
            let (read, taken): (Vec<f64>, Vec<Taken>) = played.by_ref().take(schemes).unzip();
            Sample { taken, read: read[0] }
        };
        Ok(Runs((0..seeds).map(sample).collect()))
    }

    /// A number of each seed's sample.
    pub fn each(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<Interval> {
        Interval::of_seeds(&self.0.iter().filter_map(of).collect::<Vec<_>>())
    }
}

impl Sample {
    fn of(&self, scheme: Scheme) -> &Taken {
        &self.taken[scheme as usize]
    }

    /// Jobs that recompute when nothing is done, each with what it is under a scheme.
    fn pairs(&self, scheme: Scheme) -> impl Iterator<Item = (&JobRow, &JobRow)> {
        let both = self.of(Scheme::Nothing).jobs.iter().zip(&self.of(scheme).jobs);
        both.filter(|(nothing, _)| nothing.recomputed > 0)
    }

    /// Of these, weighed by their times then, the `share` quantile of by how many percent less time one takes (eq. (4)).
    pub fn faster(&self, scheme: Scheme, share: f64) -> Option<f64> {
        let seconds = |job: &JobRow| job.took.as_secs_f64();
        let less =
            |(nothing, own): (&JobRow, &JobRow)| (100.0 * (1.0 - seconds(own) / seconds(nothing)), seconds(nothing));
        weighed(self.pairs(scheme).map(less).collect(), share)
    }

    /// By how many percent less time the mean of all jobs takes than when nothing is done.
    pub fn faster_on_average(&self, scheme: Scheme) -> Option<f64> {
        let sum = |scheme| self.of(scheme).jobs.iter().map(|job| job.took.as_secs_f64()).sum::<f64>();
        let nothing = sum(Scheme::Nothing);
        percent(nothing - sum(scheme), nothing)
    }

    /// Of these the `share` quantile of how many percent of their recomputes are gone.
    pub fn gone(&self, scheme: Scheme, share: f64) -> Option<f64> {
        let gone = |(nothing, own): (&JobRow, &JobRow)| {
            100.0 * (1.0 - f64::from(own.recomputed) / f64::from(nothing.recomputed))
        };
        quantile(&self.pairs(scheme).map(gone).collect::<Vec<_>>(), share)
    }

    /// Of all their recomputes, percent that are gone.
    pub fn gone_of_all(&self, scheme: Scheme) -> Option<f64> {
        let sum = |(nothing, own): (u32, u32), pair: (&JobRow, &JobRow)| {
            (nothing + pair.0.recomputed, own + pair.1.recomputed)
        };
        let (nothing, own) = self.pairs(scheme).fold((0, 0), sum);
        percent((f64::from(nothing) - f64::from(own)).max(0.0), nothing.into())
    }

    /// Of the waits that Mantri averts, percent that replicas do.
    pub fn by_replicas(&self) -> Option<f64> {
        let kept = self.of(Scheme::Mantri).kept;
        percent(kept.replica_used.into(), (kept.replica_used + kept.precomputed_in_time).into())
    }

    /// Of outputs that were kept twice, percent whose replica was read.
    pub fn used(&self, scheme: Scheme) -> Option<f64> {
        let kept = self.of(scheme).kept;
        percent(kept.replica_used.into(), kept.replicated.into())
    }

    /// Of outputs that were computed anew, percent that were lost indeed.
    pub fn needed(&self, scheme: Scheme) -> Option<f64> {
        let kept = self.of(scheme).kept;
        percent(kept.precompute_needed.into(), kept.precomputed.into())
    }

    /// Outputs that were computed anew, in a run.
    pub fn precomputed(&self, scheme: Scheme) -> Option<f64> {
        Some(self.of(scheme).kept.precomputed.into())
    }

    /// What was copied, percent of all that is read.
    pub fn traffic(&self) -> Option<f64> {
        percent(self.of(Scheme::Mantri).kept.replicated_bytes.0 as f64, self.read)
    }

    /// Containers' time beyond what they take when nothing is lost, percent.
    pub fn cluster_time(&self, scheme: Scheme) -> Option<f64> {
        let ideal = self.of(Scheme::Ideal).held;
        percent(self.of(scheme).held - ideal, ideal)
    }

    /// Phases that see recomputes when nothing is done, percent of all.
    pub fn phases_hit(&self) -> Option<f64> {
        let phases: usize = self.of(Scheme::Nothing).jobs.iter().map(|job| job.phases.len()).sum();
        percent(self.pairs(Scheme::Nothing).count() as f64, phases as f64)
    }

    /// Recomputes on the twentieth of the machines that have most, percent of all.
    pub fn on_few_machines(&self) -> Option<f64> {
        let by_machine = &self.of(Scheme::Nothing).by_machine;
        let of = |machines: usize| by_machine.iter().take(machines).map(|times| times.len() as f64).sum();
        percent(of(MACHINES as usize / 20), of(MACHINES as usize))
    }

    /// How many times as many recomputes have another of their machine within five minutes as would if each machine's were spread over the run at random.
    pub fn clustered(&self) -> Option<f64> {
        let Taken { by_machine, lasted, .. } = self.of(Scheme::Nothing);
        clustered(by_machine, *lasted)
    }

    /// How long jobs take that recompute, percent more than if nothing were lost, the `share` quantile.
    pub fn delayed(&self, share: f64) -> Option<f64> {
        let seconds = |job: &JobRow| job.took.as_secs_f64();
        let more = self.pairs(Scheme::Ideal).map(|(own, ideal)| 100.0 * (seconds(own) / seconds(ideal) - 1.0));
        quantile(&more.collect::<Vec<_>>(), share)
    }
}

/// What misses several outputs at one moment is one of these.
fn clustered(by_machine: &[Vec<Millis>], lasted: Millis) -> Option<f64> {
    const NEAR: Millis = Millis(300_000);
    let [mut near, mut expected] = [0.0; 2];
    for times in by_machine {
        let mut moments = times.clone();
        moments.dedup();
        let is_near = |pair: &[Millis]| pair[1] - pair[0] <= NEAR;
        let gaps: Vec<bool> = moments.windows(2).map(is_near).collect();
        let beside = |nth: usize| nth.checked_sub(1).is_some_and(|before| gaps[before]) || gaps.get(nth) == Some(&true);
        near += (0..moments.len()).filter(|nth| beside(*nth)).count() as f64;
        let apart = 1.0 - 2.0 * NEAR.as_secs_f64() / lasted.as_secs_f64();
        let others = moments.len().saturating_sub(1) as i32;
        expected += moments.len() as f64 * (1.0 - apart.max(0.0).powi(others));
    }
    (expected > 0.0).then(|| near / expected)
}

fn percent(of: f64, all: f64) -> Option<f64> {
    (all > 0.0).then(|| 100.0 * of / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recomputes_cluster_where_they_are_near_one_another_more_often_than_chance_has_them() {
        let minutes = |all: &[u64]| all.iter().map(|minute| Millis(minute * 60_000)).collect::<Vec<_>>();
        // Three of four have another within five minutes; of 100 minutes a tenth is near each of three others: 1 − .9³ of four.
        let of = clustered(&[minutes(&[10, 12, 12, 16, 90])], minutes(&[100])[0]).unwrap();
        assert!((of - 3.0 / (4.0 * (1.0 - 0.9_f64.powi(3)))).abs() < 1e-9, "{of}");
        assert_eq!(clustered(&[minutes(&[10, 90])], minutes(&[100])[0]), Some(0.0));
        assert_eq!(clustered(&[minutes(&[10])], minutes(&[100])[0]), None, "one alone says nothing");
    }
}
