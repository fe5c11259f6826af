//! The cluster as it is known. Built from observations alone.

#[cfg(test)]
mod tests;

use crate::model::action::{Hold, Scope};
use crate::model::capability::Capabilities;
use crate::model::id::{AppId, JobId};
use crate::model::job::Job;
use crate::model::names::{NameId, Names};
use crate::model::observation::*;
use crate::model::places::Places;
use crate::model::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// All that is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterState {
    /// Totals, where the RM told them.
    pub totals: Option<ClusterFact>,
    /// Nodes, by host.
    pub nodes: BTreeMap<String, NodeFact>,
    /// Links of racks, by rack; none where they are not measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub racks: BTreeMap<String, RackFact>,
    /// Leaf queues, by name.
    pub queues: BTreeMap<String, QueueFact>,
    /// Running applications, as the RM lists them.
    pub apps: BTreeMap<AppId, AppFact>,
    /// When the totals were told, the service's clock.
    pub totals_told: Time,
    /// When the nodes were told, the service's clock.
    pub nodes_told: Time,
    /// When the queues were told, the service's clock.
    #[serde(default)]
    pub queues_told: Time,
    /// Operators' holds, by what they cover.
    #[serde(with = "crate::model::pairs")]
    pub holds: BTreeMap<Scope, Hold>,
    /// Epoch of another service that speaks to the same shims, when it is above this one's.
    pub rival: Option<u64>,
    /// Host names.
    pub hosts: Names,
    /// Sets of racks that maps' inputs lie on.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    jobs: BTreeMap<JobId, Job>,
    /// Jobs that have ended, lest a late fact bring one back.
    ended: BTreeSet<JobId>,
    #[serde(with = "crate::model::pairs")]
    sources: BTreeMap<(Channel, Option<AppId>), (u64, u64)>,
}

/// Why an observation was dropped. One stable label each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dropped {
    /// Older than the newest of its source, or a repetition of it.
    StaleSequence,
    /// From a life of the source that has been replaced.
    OldIncarnation,
    /// About an application other than the source's own.
    ForeignApplication,
    /// About a job that is not known to run.
    UnknownJob,
    /// As many jobs are known as may be.
    TooManyJobs,
}

impl Dropped {
    /// Every reason, for metrics that start at zero.
    pub const ALL: [Dropped; 5] = [
        Dropped::StaleSequence,
        Dropped::OldIncarnation,
        Dropped::ForeignApplication,
        Dropped::UnknownJob,
        Dropped::TooManyJobs,
    ];

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        match self {
            Dropped::StaleSequence => "stale_sequence",
            Dropped::OldIncarnation => "old_incarnation",
            Dropped::ForeignApplication => "foreign_application",
            Dropped::UnknownJob => "unknown_job",
            Dropped::TooManyJobs => "too_many_jobs",
        }
    }
}

/// What an observation changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// Something that concerns every job.
    Cluster,
    /// One job.
    Job(JobId),
    /// A job has ended; its end is to be taken account of, then it is to be forgotten.
    Ended(JobId),
}

/// Jobs known at once; the design's target is 5,000 AMs.
const JOBS_MAX: usize = 20_000;
/// Tasks of one kind in one job; Hadoop's own bound on a job's splits is far below.
const TASKS_MAX: u32 = 2_000_000;

impl ClusterState {
    /// Takes an observation into account.
    ///
    /// # Errors
    /// The reason, when it is dropped; the state has then not changed.
    pub fn apply(&mut self, seen: &Observation) -> Result<Changed, Dropped> {
        self.admit(seen)?;
        let changed = match &seen.fact {
            Fact::Cluster(fact) => {
                self.totals = Some(*fact);
                self.totals_told = seen.received;
                Changed::Cluster
            }
            Fact::Nodes(nodes) => {
                self.nodes = nodes.iter().map(|node| (node.host.clone(), node.clone())).collect();
                self.nodes_told = seen.received;
                Changed::Cluster
            }
            Fact::Racks(racks) => {
                self.racks = racks.iter().map(|rack| (rack.rack.clone(), rack.clone())).collect();
                Changed::Cluster
            }
            Fact::Queues(queues) => {
                self.queues = queues.iter().map(|queue| (queue.name.clone(), queue.clone())).collect();
                self.queues_told = seen.received;
                Changed::Cluster
            }
            Fact::Apps(apps) => {
                self.apps = apps.iter().map(|app| (app.app, app.clone())).collect();
                for app in apps {
                    if let Some(job) = self.jobs.get_mut(&JobId(app.app)) {
                        job.vouched(app);
                    }
                }
                Changed::Cluster
            }
            Fact::Held(hold) => {
                self.holds.retain(|_, held| held.until.is_none_or(|until| seen.received < until));
                self.holds.insert(hold.scope.clone(), hold.clone());
                Changed::Cluster
            }
            Fact::Lifted(scope) => {
                self.holds.remove(scope);
                Changed::Cluster
            }
            Fact::Rival(epoch) => {
                self.rival = *epoch;
                Changed::Cluster
            }
            fact => self.apply_to_job(seen, fact)?,
        };
        let life = (seen.source.incarnation, seen.seq);
        self.sources.insert((seen.source.channel, seen.source.app), life);
        Ok(changed)
    }

    /// Is it new, of the newest life of its source, and about what that source may speak of?
    fn admit(&self, seen: &Observation) -> Result<(), Dropped> {
        if let (Some(app), Some(job)) = (seen.source.app, seen.fact.job())
            && app != job.0
        {
            return Err(Dropped::ForeignApplication);
        }
        let Some((incarnation, seq)) = self.sources.get(&(seen.source.channel, seen.source.app)) else { return Ok(()) };
        match seen.source.incarnation.cmp(incarnation) {
            std::cmp::Ordering::Less => Err(Dropped::OldIncarnation),
            std::cmp::Ordering::Equal if seen.seq <= *seq => Err(Dropped::StaleSequence),
            _ => Ok(()),
        }
    }

    fn apply_to_job(&mut self, seen: &Observation, fact: &Fact) -> Result<Changed, Dropped> {
        let Some(id) = fact.job() else { return Ok(Changed::Cluster) };
        if let Fact::Ended(end) = fact {
            return self.end(end);
        }
        if self.ended.contains(&id) {
            return Err(Dropped::UnknownJob);
        }
        let full = self.jobs.len() >= JOBS_MAX;
        let offset = seen.at.0 as i64 - seen.received.0 as i64;
        let job = match self.jobs.entry(id) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(_) if full => return Err(Dropped::TooManyJobs),
            std::collections::btree_map::Entry::Vacant(free) => {
                let job = free.insert(Job::new(id));
                // One whose tasks are still to be told of is not lost for that, and is as old as its AM says.
                (job.heard, job.clock_offset_ms) = (seen.received, offset);
                job
            }
        };
        if matches!(seen.source.channel, Channel::Am | Channel::Shim) {
            job.outlive(seen.source.incarnation);
        }
        match fact {
            Fact::Job(summary) => {
                job.learn(summary);
                job.outlive(summary.attempt.number.into());
                if let Some(app) = self.apps.get(&id.0) {
                    job.vouched(app);
                }
            }
            Fact::Settings(_, settings) => job.settings = Some(settings.clone()),
            Fact::Tasks { complete, tasks, .. } => {
                for task in tasks {
                    job.learn_task(task, seen.at, TASKS_MAX);
                    if !task.hosts.is_empty() {
                        let racks = task.hosts.iter().filter_map(|host| self.nodes.get(host));
                        job.learn_place(
                            id.task(task.kind, task.index),
                            self.places.intern(racks.map(|node| &*node.rack)),
                        );
                    }
                }
                if *complete {
                    job.listed_by(seen.source.channel);
                }
                job.hidden = false;
            }
            Fact::Attempts { attempts, .. } => {
                for attempt in attempts {
                    // REST is asked for the counters of a few attempts. Of the many that a shim tells the engine picks those it needs.
                    if seen.source.channel == Channel::Am || attempt.counters.crossed.is_some() {
                        job.intakes.learn(attempt.id(id), attempt, seen.at);
                    }
                    if attempt.is_counters_only(id) {
                        job.learn_output(attempt);
                        continue;
                    }
                    let host = attempt.host.as_deref().and_then(|host| name(&mut self.hosts, &self.nodes, host));
                    job.learn_attempt(attempt, host, seen.at, TASKS_MAX);
                }
            }
            Fact::Needs { maps, reduces, native_copies, .. } => {
                job.needs = [*maps, *reduces];
                job.native_copies = *native_copies;
            }
            Fact::ShimSession(_, open) => {
                job.shim = *open;
                if !*open {
                    // Whoever cannot be spoken to can be asked for nothing, and keeps nothing up to date.
                    job.can = Capabilities::default();
                    job.listings.lose(Channel::Shim);
                }
            }
            Fact::Can(_, can) => job.can = *can,
            Fact::Hidden(_) => {
                job.hidden = true;
                job.listings.lose(Channel::Am);
            }
            _ => {}
        }
        if matches!(fact, Fact::Tasks { .. } | Fact::Attempts { .. } | Fact::Needs { .. }) && seen.received >= job.heard
        {
            (job.heard, job.clock_offset_ms) = (seen.received, offset);
        }
        Ok(Changed::Job(id))
    }

    fn end(&mut self, end: &EndFact) -> Result<Changed, Dropped> {
        let job = self.jobs.get_mut(&end.job).ok_or(Dropped::UnknownJob)?;
        let at = end.finished.unwrap_or(job.heard);
        for attempt in &end.attempts {
            let host = attempt.host.as_deref().and_then(|host| name(&mut self.hosts, &self.nodes, host));
            job.learn_attempt(attempt, host, at, TASKS_MAX);
        }
        job.end(end);
        self.ended.insert(end.job);
        if self.ended.len() > JOBS_MAX {
            self.ended.pop_first();
        }
        Ok(Changed::Ended(end.job))
    }

    /// Every job known, in order of id.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values()
    }

    /// How many jobs are known.
    pub fn job_count(&self) -> usize {
        self.jobs.len()
    }

    /// A job, if it is known.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// A job, if it is known.
    pub fn job_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.jobs.get_mut(&id)
    }

    /// Forgets a job.
    pub fn forget(&mut self, id: JobId) {
        self.jobs.remove(&id);
        self.sources.retain(|(_, app), _| *app != Some(id.0));
    }

    /// The rack of a host; `None` where the RM does not list it.
    pub fn rack_of(&self, host: NameId) -> Option<&str> {
        self.nodes.get(self.hosts.name(host)).map(|node| node.rack.as_str())
    }

    /// The queue a job runs in: the RM may name it by its path or by the last part of it.
    pub fn queue_of(&self, job: &Job) -> Option<&QueueFact> {
        let by_leaf = || self.queues.values().find(|queue| queue.name.rsplit('.').next() == Some(&job.queue));
        self.queues.get(&job.queue).or_else(by_leaf)
    }

    /// The hold that keeps Drover from acting on a job at `now` on the service's clock.
    pub fn hold_of(&self, job: &Job, now: Time) -> Option<&Hold> {
        let covers = |scope: &Scope| match scope {
            Scope::Cluster => true,
            Scope::Queue(name) => *name == job.queue || job.queue.rsplit('.').next() == Some(name),
            Scope::User(name) => *name == job.user,
            Scope::Job(id) => *id == job.id,
        };
        self.holds.values().find(|hold| covers(&hold.scope) && hold.until.is_none_or(|until| now < until))
    }

    /// Jobs that neither the RM lists nor anything has been heard of since `before`.
    pub fn lost_jobs(&self, before: Time) -> Vec<JobId> {
        let listed = |job: &Job| self.apps.contains_key(&job.id.0);
        self.jobs.values().filter(|job| job.heard < before && !listed(job)).map(|job| job.id).collect()
    }
}

/// The number of a host's name. Names that the RM does not list come from jobs, and one job must not fill the table for all.
fn name(hosts: &mut Names, nodes: &BTreeMap<String, NodeFact>, host: &str) -> Option<NameId> {
    const UNLISTED_MAX: usize = 10_000;
    let may_grow = nodes.contains_key(host) || hosts.len() < UNLISTED_MAX;
    if may_grow { hosts.intern(host) } else { hosts.find(host) }
}
