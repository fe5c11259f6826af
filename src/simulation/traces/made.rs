//! The trace that recorded attempts make: its jobs, counted from the arrival of the first of them.

use super::Trace;
use super::assumed::Untold;
use super::done::{Overhead, Phases, phases};
use super::held::{About, Job, SIZE, Tasks};
use super::recorded::Recorder;
use drover_core::model::Millis;
use drover_core::sim::{TracedHosts, TracedJob};

impl Recorder {
    /// The trace that they make, of whose times a cluster takes that much beside the work.
    pub(super) fn trace(mut self, overhead: Overhead) -> Trace {
        let hosts = self.by_name();
        let jobs = std::mem::take(&mut self.jobs);
        // What is left out is not there at any time.
        let jobs: Vec<(String, Job)> = jobs.into_iter().filter(|(_, job)| self.is_played(&job.tasks)).collect();
        let untold = Untold::of(jobs.iter().map(|(_, job)| job));
        let began = jobs.iter().filter_map(|(_, job)| job.arrived()).min().unwrap_or(0);
        let traced = jobs.into_iter().map(|(id, job)| self.traced(id, job, began, overhead));
        let mut trace = Trace { jobs: traced.collect(), ..Trace::default() };
        trace.jobs.sort_by_key(|job| job.arrives);
        trace.hosts = TracedHosts::of(hosts, &trace.jobs);
        trace.assumed = untold.said(&trace, overhead);
        trace.repairs = self.repairs;
        trace
    }

    /// The names of hosts in their order, by which winners know them from now on.
    fn by_name(&mut self) -> Vec<String> {
        let hosts = std::mem::take(&mut self.hosts);
        let mut places = vec![0; hosts.len()];
        hosts.values().enumerate().for_each(|(place, number)| places[*number as usize] = place as u32);
        let tasks = self.jobs.values_mut().flat_map(|job| job.tasks.values_mut());
        let hosted = tasks.filter_map(|task| task.winner.as_mut()?.host.as_mut());
        hosted.for_each(|host| *host = places[*host as usize]);
        hosts.into_keys().collect()
    }

    fn is_played(&mut self, tasks: &Tasks) -> bool {
        let is_played = tasks.values().any(|task| task.winner.is_some());
        if !is_played {
            self.mend(match tasks.is_empty() {
                true => "jobs without tasks: left out",
                false => "jobs without any attempt that succeeded: left out",
            });
        }
        is_played
    }

    fn traced(&mut self, id: String, job: Job, began: u64, overhead: Overhead) -> TracedJob {
        let (arrived, submitted) = (job.arrived().unwrap_or(began), job.submitted());
        if submitted.zip(job.first).is_some_and(|(submitted, first)| submitted > first) {
            self.mend("jobs submitted after their first attempt began: they arrive with it");
        }
        let won = job.tasks.values().filter(|task| task.is_won_by_copy()).count();
        self.mend_all("tasks that a copy won: they take what the copy took", won);
        let mut winners = [false, true].map(|reduces| {
            let of_kind = job.tasks.iter().filter(|((of, _), _)| *of == reduces);
            of_kind.map(|(_, task)| task.winner).collect::<Vec<_>>()
        });
        for phase in &mut winners {
            let none = phase.iter().filter(|winner| winner.is_none()).count();
            if none < phase.len() {
                self.mend_all("tasks without an attempt that succeeded: they take their phase's median", none);
            } else {
                self.mend_all("tasks of phases in which no attempt succeeded: left out", none);
                phase.clear();
            }
        }
        let About { name, user, queue, sizes, .. } = job.about.unwrap_or_default();
        let Phases { phases, short, early } = phases(&winners, sizes.map(|size| size.unwrap_or(SIZE)), overhead);
        self.mend_all("tasks that took less than is taken off for start and commit: no work is left", short);
        self.mend_all("reduces that end before their job's maps: what they read is not known", early);
        TracedJob {
            name: name.unwrap_or(id),
            user: user.unwrap_or_else(|| super::USER.into()),
            queue: queue.unwrap_or_else(|| super::QUEUE.into()),
            arrives: Millis(arrived - began),
            phases,
        }
    }
}
