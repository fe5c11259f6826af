//! Preemption between queues, as the ResourceManager's ProportionalCapacityPreemptionPolicy has it for queues that stand side by side: where one has less than its share and its jobs wait,
//! others that have more than theirs give containers back, the youngest jobs' youngest first, some time after they were asked to.

use super::attempt::AttemptKey;
use super::job::{Job, next_of};
use super::watch::End;
use super::world::{Event, World};
use crate::model::{Millis, TaskKind, Time};
use std::collections::BTreeSet;

/// What a queue has, and what it would have if it could.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stand {
    /// Share that is promised to it, 0–1.
    share: f64,
    /// Held, mebibytes.
    held: f64,
    /// Held and asked for, mebibytes, within what it may use at most.
    wants: f64,
}

/// What each queue would have, mebibytes, if all were given out by their shares, and what one does not want by those of the others.
fn ideal(stands: &[Stand], total: f64) -> Vec<f64> {
    let mut given = vec![0.0; stands.len()];
    let mut open: Vec<usize> = (0..stands.len()).collect();
    let mut left = total;
    while !open.is_empty() {
        let share = |queue: &usize| stands[*queue].share.max(1e-9);
        let level = left / open.iter().map(share).sum::<f64>();
        let sated: Vec<usize> = open.extract_if(.., |queue| stands[*queue].wants <= level * share(queue)).collect();
        if sated.is_empty() {
            open.drain(..).for_each(|queue| given[queue] = level * share(&queue));
        }
        for queue in sated {
            given[queue] = stands[queue].wants;
            left -= given[queue];
        }
    }
    given
}

impl World<'_> {
    /// Sees to it that queues are looked at while there are jobs: on instants that do not depend on when these come.
    pub(super) fn watch_queues(&mut self, now: Time) {
        let every = Millis::from_secs_f64(self.scenario.cluster.preemption.every);
        if every > Millis(0) && !self.watched {
            self.calendar.enter(next_of(every, now), Event::Preempt);
            self.watched = true;
        }
    }

    /// One look at the queues.
    pub(super) fn preempt(&mut self, now: Time) {
        self.watched = false;
        let wait = Millis::from_secs_f64(self.scenario.cluster.preemption.wait);
        let chosen = self.to_give_back();
        self.asked_back.retain(|key, _| chosen.contains(key));
        for key in chosen {
            let since = *self.asked_back.entry(key).or_insert(now);
            if now.since(since) >= wait {
                self.outcome.preempted += 1;
                self.ends(key, End::Preempted, now);
            }
        }
        if self.goes_on_by_itself() {
            self.watch_queues(now);
        }
    }

    /// The attempts whose containers are to be given back, of all queues.
    fn to_give_back(&self) -> BTreeSet<AttemptKey> {
        let spec = &self.scenario.cluster.preemption;
        let total = self.yarn.cluster_mb() as f64;
        let stands = self.stands(total);
        let over: Vec<f64> = stands
            .iter()
            .zip(ideal(&stands, total))
            .map(|(stand, ideal)| {
                let ignored = stand.held <= stand.share * (1.0 + spec.ignored) * total;
                if ignored { 0.0 } else { spec.natural * (stand.held - ideal).max(0.0) }
            })
            .collect();
        let most = spec.most * total;
        let part = (most / over.iter().sum::<f64>().max(1e-9)).min(1.0);
        let mut allowed = most;
        over.iter().zip(0..).flat_map(|(over, queue)| self.youngest_of(queue, over * part, &mut allowed)).collect()
    }

    fn stands(&self, total: f64) -> Vec<Stand> {
        let mut wants: Vec<u64> = self.yarn.queues().iter().map(|queue| queue.held_mb).collect();
        for job in self.yarn.waiting().filter_map(|number| self.jobs.get(&number)) {
            wants[job.queue as usize] +=
                job.tasks.iter().map(|tasks| tasks.asks.len() as u64 * tasks.size.memory_mb).sum::<u64>();
        }
        let queues = self.yarn.queues().iter().zip(wants);
        let stand = |(queue, wants): (&super::yarn::Queue, u64)| Stand {
            share: queue.share,
            held: queue.held_mb as f64,
            wants: (wants as f64).min(queue.most * total),
        };
        queues.map(stand).collect()
    }

    /// A queue's containers of so many mebibytes together, the last of them beyond it, those of the job that came last first, of each the latest first; none that takes more than is
    /// allowed yet in this look (CapacitySchedulerPreemptionUtils, tryPreemptContainerAndDeductResToObtain).
    fn youngest_of(&self, queue: u32, mebibytes: f64, allowed: &mut f64) -> Vec<AttemptKey> {
        let jobs = || self.jobs.values().rev().filter(|job| job.queue == queue);
        // What is on its way back need not be asked for.
        let stopping = jobs().flat_map(|job| job.stopping.iter().map(|key| size_of(job, self.attempts.get(*key).kind)));
        let (mut found, mut size) = (Vec::new(), stopping.sum::<f64>());
        for job in jobs() {
            let mut live: Vec<AttemptKey> = job.live.iter().copied().collect();
            live.sort_by_key(|key| std::cmp::Reverse((self.attempts.get(*key).held_since, *key)));
            for key in live {
                // Sums of shares are off by less than a mebibyte.
                if size + 1.0 > mebibytes {
                    return found;
                }
                let of_one = size_of(job, self.attempts.get(key).kind);
                if of_one > *allowed + 1.0 {
                    continue;
                }
                *allowed -= of_one;
                size += of_one;
                found.push(key);
            }
        }
        found
    }
}

fn size_of(job: &Job, kind: TaskKind) -> f64 {
    job.of(kind).size.memory_mb as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_queue_does_not_want_goes_to_the_others_by_their_shares() {
        let stand = |share, wants| Stand { share, held: 0.0, wants };
        let of = |stands: &[Stand]| ideal(stands, 100.0);
        assert_eq!(of(&[stand(0.5, 90.0), stand(0.5, 90.0)]), [50.0, 50.0]);
        assert_eq!(of(&[stand(0.5, 90.0), stand(0.5, 20.0)]), [80.0, 20.0]);
        assert_eq!(of(&[stand(0.2, 90.0), stand(0.6, 90.0), stand(0.2, 0.0)]), [25.0, 75.0, 0.0]);
        assert_eq!(of(&[stand(0.0, 30.0), stand(1.0, 10.0)]), [30.0, 10.0]);
    }
}
