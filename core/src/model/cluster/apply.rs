//! How observations change what is known.

use super::{Changed, ClusterState, Dropped};
use crate::model::capability::Capabilities;
use crate::model::id::JobId;
use crate::model::job::Job;
use crate::model::names::{ByName, NameId, Names};
use crate::model::observation::*;
use crate::model::units::Time;
use std::cmp::Ordering;
use std::collections::btree_map::Entry;

/// Jobs known at once; the design's target is 5,000 AMs.
pub(super) const JOBS_MAX: usize = 20_000;

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
                self.learn_nodes(nodes);
                self.nodes_told = seen.received;
                self.holds_anew(0);
                Changed::Cluster
            }
            Fact::Racks(racks) => {
                self.racks = racks.iter().map(|rack| (rack.rack.clone(), rack.clone())).collect();
                Changed::Cluster
            }
            Fact::Queues(queues) => {
                self.queues = queues.iter().map(|queue| (queue.name.clone(), queue.clone())).collect();
                self.queues_told = seen.received;
                self.holds_anew(1);
                Changed::Cluster
            }
            Fact::Apps(apps) => {
                self.held_most = apps.iter().map(|app| (app.app, self.most_held(app))).collect();
                self.apps = apps.iter().map(|app| (app.app, app.clone())).collect();
                for app in apps {
                    if let Some(job) = self.jobs.get_mut(&JobId(app.app)) {
                        job.vouched(app);
                    }
                }
                Changed::Cluster
            }
            Fact::Ending(jobs) => {
                self.ending = jobs.iter().copied().collect();
                Changed::Cluster
            }
            Fact::Held(hold) => {
                self.holds.retain(|_, held| held.stands(seen.received));
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

    /// In place where they are those known, as nearly always. A host may be listed twice: two NodeManagers can share one, and one that has started again on another port is listed beside
    /// what it was before, as lost or shut down, until the RM itself starts again. So of a host's the most usable counts.
    fn learn_nodes(&mut self, nodes: &[NodeFact]) {
        let mut nodes: Vec<&NodeFact> = nodes.iter().collect();
        nodes.sort_by_key(|node| (node.usable, !node.is_given_up()));
        let mut told = vec![false; self.nodes.len()];
        let all_known = nodes.iter().all(|node| match self.nodes.get_full_mut(&node.host) {
            Some((place, _, known)) => {
                known.clone_from(*node);
                told[place] = true;
                true
            }
            None => false,
        });
        if all_known && !told.contains(&false) {
            return;
        }
        self.nodes = nodes.into_iter().map(|node| (node.host.clone(), node.clone())).collect();
        self.nodes.sort_unstable_keys();
        self.nodes.keys().for_each(|host| self.hosts.list(host));
    }

    /// See [`ClusterState::held_most`], with one more telling.
    fn most_held(&self, app: &AppFact) -> [Resources; 2] {
        let before = self.held_most.get(&app.app).copied().unwrap_or_default();
        before.map(|before| before.most(app.allocated))
    }

    /// Nodes (0) or queues (1) have been told, with what applications hold now.
    fn holds_anew(&mut self, of: usize) {
        for (app, held) in &mut self.held_most {
            held[of] = self.apps.get(app).map_or(Resources::default(), |app| app.allocated);
        }
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
            Ordering::Less => Err(Dropped::OldIncarnation),
            Ordering::Equal if seen.seq <= *seq => Err(Dropped::StaleSequence),
            _ => Ok(()),
        }
    }

    fn apply_to_job(&mut self, seen: &Observation, fact: &Fact) -> Result<Changed, Dropped> {
        let Some(id) = fact.job() else { return Ok(Changed::Cluster) };
        if let Fact::Ended(end) = fact {
            return self.end(end);
        }
        let offset = seen.at.ms_after(seen.received);
        let job = self.job_told_of(id, seen.received, offset)?;
        if matches!(seen.source.channel, Channel::Am | Channel::Shim) && job.outlive(seen.source.incarnation) {
            job.maps_were_over_by(seen.at);
        }
        // It tells a state once. Told later it is no older, whatever the AM's clock says since it was set back.
        if seen.source.channel == Channel::Shim && seen.received >= job.heard && seen.at < job.am_time(job.heard) {
            job.date_back();
        }
        if job.shim && seen.source.channel == Channel::Am && is_the_shims(fact) {
            return Ok(Changed::Job(id));
        }
        match fact {
            Fact::Tasks { complete, tasks, .. } => self.learn_tasks(id, tasks, *complete, seen),
            Fact::Attempts { attempts, .. } => self.learn_attempts(id, attempts, seen),
            Fact::Job(summary) => self.learn_job(summary),
            Fact::ClockSet(_) => job.clock_was_set(seen.at),
            fact => learn_of_itself(job, fact),
        }
        let tells_progress = matches!(fact, Fact::Tasks { .. } | Fact::Attempts { .. } | Fact::Needs { .. });
        if let Some(job) = self.jobs.get_mut(&id).filter(|job| tells_progress && seen.received >= job.heard) {
            (job.heard, job.clock_offset_ms) = (seen.received, offset);
        }
        Ok(Changed::Job(id))
    }

    /// The job, made if it is new. One whose tasks are still to be told of is not lost for that, and is as old as its AM says.
    fn job_told_of(&mut self, id: JobId, received: Time, offset: i64) -> Result<&mut Job, Dropped> {
        if self.ended.contains(&id) {
            return Err(Dropped::UnknownJob);
        }
        let full = self.jobs.len() >= JOBS_MAX;
        match self.jobs.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(_) if full => Err(Dropped::TooManyJobs),
            Entry::Vacant(free) => {
                let job = free.insert(Job::new(id));
                (job.opened, job.heard, job.clock_offset_ms) = (received, received, offset);
                Ok(job)
            }
        }
    }

    fn learn_job(&mut self, summary: &JobFact) {
        let Some(job) = self.jobs.get_mut(&summary.job) else { return };
        job.learn(summary);
        job.outlive(summary.attempt.number.into());
        if let Some(app) = self.apps.get(&summary.job.0) {
            job.vouched(app);
        }
    }

    fn learn_tasks(&mut self, id: JobId, tasks: &[TaskFact], complete: bool, seen: &Observation) {
        let room = self.room(id, tasks.iter().map(|task| (task.kind, task.index)));
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let mut fits = true;
        for task in tasks {
            // A listing with a task that the job does not have, or has no room for, is none of its tasks.
            fits &= job.learn_task(task, seen.at, job.limit(task.kind, room));
            if !task.hosts.is_empty() {
                let racks = task.hosts.iter().filter_map(|host| self.nodes.get(host));
                job.learn_place(id.task(task.kind, task.index), self.places.intern(racks.map(|node| &*node.rack)));
            }
        }
        let before = (job.is_complete(), job.hidden);
        if complete && fits {
            job.listed_by(seen.source.channel);
        }
        job.hidden = false;
        job.stirred |= before != (job.is_complete(), job.hidden);
    }

    fn learn_attempts(&mut self, id: JobId, attempts: &[AttemptFact], seen: &Observation) {
        let room = self.room(id, attempts.iter().map(|attempt| (attempt.kind, attempt.index)));
        let Some(job) = self.jobs.get_mut(&id) else { return };
        for attempt in attempts {
            // REST is asked for the counters of a few attempts. Of the many that a shim tells the engine picks those it needs.
            if seen.source.channel == Channel::Am || attempt.counters.crossed.is_some() {
                job.intakes.learn(attempt.id(id), attempt, seen.at);
            }
            if attempt.is_counters_only(id) {
                job.stirred = true;
                job.learn_output(attempt);
                continue;
            }
            let host = attempt.host.as_deref().and_then(|host| name(&mut self.hosts, &self.nodes, host));
            job.learn_attempt(attempt, host, seen.at, job.limit(attempt.kind, room));
        }
    }

    fn end(&mut self, end: &EndFact) -> Result<Changed, Dropped> {
        let job = self.jobs.get_mut(&end.job).ok_or(Dropped::UnknownJob)?;
        job.end(end, |host| name(&mut self.hosts, &self.nodes, host));
        self.ended.insert(end.job);
        if self.ended.len() > JOBS_MAX {
            self.ended.shift_remove_index(0);
        }
        Ok(Changed::Ended(end.job))
    }
}

/// Where a shim speaks, it is for it to say what can be done and how the tasks stand. A listing that was under way is stamped with its end, so that what it says may be older than what
/// the shim has said, which would not say it again.
fn is_the_shims(fact: &Fact) -> bool {
    matches!(fact, Fact::Can(..) | Fact::Tasks { .. } | Fact::Attempts { .. } | Fact::Needs { .. } | Fact::ClockSet(_))
}

/// What a fact says of the job as a whole.
fn learn_of_itself(job: &mut Job, fact: &Fact) {
    job.stirred |= match fact {
        Fact::Settings(_, settings) => job.settings.as_ref() != Some(settings),
        Fact::Needs { maps, reduces, native_copies, .. } => {
            (job.needs, job.native_copies) != ([*maps, *reduces], *native_copies)
        }
        Fact::ShimSession(_, open) => job.shim != *open,
        Fact::Can(_, can) => job.can != *can,
        _ => true,
    };
    match fact {
        Fact::Settings(_, settings) => job.settings = Some(settings.clone()),
        Fact::Needs { maps, reduces, native_copies, .. } => {
            job.needs = [*maps, *reduces];
            job.native_copies = *native_copies;
        }
        Fact::ShimSession(_, open) => {
            job.shim = *open;
            if *open {
                job.date_back();
            } else {
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
}

/// The number of a host's name. Names that the RM does not list come from jobs, and one job must not fill the table for all.
pub(super) fn name(hosts: &mut Names, nodes: &ByName<NodeFact>, host: &str) -> Option<NameId> {
    hosts.find(host).or_else(|| match nodes.get_key_value(host) {
        Some((listed, _)) => hosts.intern_listed(listed),
        None => hosts.intern_of_job(host),
    })
}
