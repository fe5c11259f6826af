//! How large containers are: what YARN gives for what a job asks, by which copies, slots and room are counted.

use crate::model::{ClusterState, Job, JobSettings, Resources, TaskKind};

/// A container of a job of which no other size is known: Hadoop's default.
pub(super) const USUAL: Resources = Resources { memory_mb: 1024, vcores: 1 };

/// What a container of that kind takes: what the job asks for, rounded up as the scheduler does. Where that does not tell by how much, what the job's containers take on average, if they show
/// that it rounds.
pub fn container(cluster: &ClusterState, job: &Job, kind: TaskKind) -> Resources {
    let asked = asked(job, kind);
    // One and the same for all queues.
    let given = match cluster.queues.values().next().and_then(|queue| queue.least) {
        Some(least) => multiple(asked, least),
        None => Resources { memory_mb: asked.memory_mb.max(shown(cluster, job).unwrap_or(0)), ..asked },
    };
    Resources { memory_mb: given.memory_mb.min(JobSettings::CONTAINER_MAX_MB), ..given }
}

fn asked(job: &Job, kind: TaskKind) -> Resources {
    job.settings.as_ref().map_or(USUAL, |settings| settings.container(kind))
}

/// The smallest multiple that holds it, one at least (`ResourceCalculator.normalize` with the least allocation as its step).
fn multiple(asked: Resources, least: Resources) -> Resources {
    let up = |asked: u64, step: u64| asked.max(1).div_ceil(step.max(1)).saturating_mul(step.max(1));
    let vcores = up(asked.vcores.into(), least.vcores.into()).min(u32::MAX.into()) as u32;
    Resources { memory_mb: up(asked.memory_mb, least.memory_mb), vcores }
}

/// What a job's containers take on average, MiB, by the ResourceManager's word, where its tasks ask for less than half of that. One of them is the master's, which may be many times as
/// large: of a few containers it may be all that the mean shows.
fn shown(cluster: &ClusterState, job: &Job) -> Option<u64> {
    const ENOUGH: u32 = 8;
    let app = cluster.apps.get(&job.id.0).filter(|app| app.containers >= ENOUGH)?;
    let mean = app.allocated.memory_mb / u64::from(app.containers);
    TaskKind::ALL.iter().all(|kind| mean > 2 * asked(job, *kind).memory_mb).then_some(mean)
}

/// What jobs hold by the ResourceManager's word, their masters' included: no job's own word moves it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    containers: u64,
    memory_mb: u64,
    vcores: u64,
}

impl Held {
    /// One pass over the applications. Of one that Drover's user may not look at nothing is told.
    pub fn count(cluster: &ClusterState) -> Held {
        let told = cluster.apps.values().filter(|app| app.containers > 0 && app.allocated.memory_mb > 0);
        told.fold(Held::default(), |held, app| Held {
            containers: held.containers + u64::from(app.containers),
            memory_mb: held.memory_mb.saturating_add(app.allocated.memory_mb),
            vcores: held.vcores + u64::from(app.allocated.vcores),
        })
    }

    /// A slot: as large as jobs' containers are on average, and as that size at least, so that neither small containers nor large ones make a share of the slots more of the cluster than it says.
    pub fn slot(self, least: Resources) -> Resources {
        let mean = |held: u64| held.checked_div(self.containers).unwrap_or(0);
        let vcores = mean(self.vcores).min(u32::MAX.into()) as u32;
        Resources { memory_mb: least.memory_mb.max(mean(self.memory_mb)), vcores: least.vcores.max(vcores) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{cluster, job};
    use crate::model::{AppFact, QueueFact, Time};

    fn of(memory_mb: u64, vcores: u32) -> Resources {
        Resources { memory_mb, vcores }
    }

    /// A job whose maps and reduces ask for so much, in a cluster that rounds to that, where it tells; the job holds so many containers with so much memory.
    fn asking(
        maps: u64,
        reduces: u64,
        least: Option<Resources>,
        (containers, memory_mb): (u32, u64),
    ) -> [Resources; 2] {
        let mut job = job();
        let settings =
            JobSettings { map_container: of(maps, 1), reduce_container: of(reduces, 3), ..Default::default() };
        job.settings = Some(settings);
        let mut cluster = cluster([job.clone()]);
        cluster.queues.insert("etl".into(), QueueFact { least, ..QueueFact::open("etl") });
        let (user, queue, name) = ("alice".into(), "etl".into(), String::new());
        let allocated = of(memory_mb, containers);
        let app = AppFact { app: job.id.0, user, queue, name, started: Time(0), containers, allocated, label: None };
        cluster.apps.insert(app.app, app);
        TaskKind::ALL.map(|kind| container(&cluster, &job, kind))
    }

    #[test]
    fn a_container_is_as_large_as_the_scheduler_gives_and_not_as_a_job_asks() {
        let told = Some(of(1_024, 2));
        assert_eq!(asking(1, 2_049, told, (0, 0)), [of(1_024, 2), of(3_072, 4)]);
        assert_eq!(asking(1_024, 2_048, told, (0, 0)), [of(1_024, 2), of(2_048, 4)]);
        assert_eq!(
            asking(1, 2_049, Some(of(0, 0)), (0, 0)),
            [of(1, 1), of(2_049, 3)],
            "what is no step rounds nothing"
        );
    }

    #[test]
    fn where_no_step_is_told_what_a_jobs_containers_take_tells_that_there_is_one_and_its_masters_does_not() {
        let mb = |maps, reduces, held| asking(maps, reduces, None, held).map(|size| size.memory_mb);
        assert_eq!(mb(1, 2, (8, 8 * 1_024)), [1_024; 2]);
        assert_eq!(mb(1, 2, (7, 7 * 1_024)), [1, 2], "it may be the master's");
        assert_eq!(mb(512, 1_024, (8, 8 * 2_048)), [512, 1_024], "one kind may be of twice the size");
        assert_eq!(mb(512, 1_024, (8, 8 * 2_049)), [2_049; 2]);
        assert_eq!(mb(512, 512, (8, 4_096 + 7 * 512)), [512; 2]);
        assert_eq!(mb(1, 2, (0, 0)), [1, 2]);
    }

    #[test]
    fn a_slot_is_what_jobs_containers_are_on_average_or_a_jobs_own_where_that_is_larger() {
        let mut cluster = ClusterState::default();
        for (seq, containers, memory_mb) in [(1, 3, 3 * 1_024), (2, 1, 5 * 1_024), (3, 9, 0), (4, 0, 9_999)] {
            let (user, queue, name) = (String::new(), String::new(), String::new());
            let (app, allocated) = (crate::model::AppId { cluster: 1, seq }, of(memory_mb, 2 * containers));
            let fact = AppFact { app, user, queue, name, started: Time(0), containers, allocated, label: None };
            cluster.apps.insert(app, fact);
        }
        let held = Held::count(&cluster);
        assert_eq!([of(1, 1), of(4_096, 4)].map(|least| held.slot(least)), [of(2_048, 2), of(4_096, 4)]);
        assert_eq!(Held::default().slot(of(7, 1)), of(7, 1), "nothing is told");
    }
}
