//! May this job's tasks have copies at all?

use super::{GovernParams, output};
use crate::estimate::stats::uniform_draw;
use crate::model::{
    Action, Attempt, AttemptState, Capabilities, ClusterState, Job, JobId, Mode, TaskKind, Time, Verdict, queue_name,
};
use crate::policy::Judged;

impl GovernParams {
    /// The mode that applies to a job: of cluster, queue, user, policy and the job's own wish the most cautious, and no more than can be done.
    pub fn mode_of(&self, job: &Job, policy: &str) -> Mode {
        let of_queue = self.queue_modes.iter().filter(|(name, _)| queue_name::means(name, &job.queue));
        let wishes = [
            Some(self.mode),
            of_queue.map(|(_, mode)| *mode).min(),
            self.user_modes.get(&job.user).copied(),
            self.policy_modes.get(policy).copied(),
            job.settings.as_ref().and_then(|settings| settings.mode),
            (!job.can.act_on_tasks()).then_some(Mode::Advise),
        ];
        wishes.into_iter().flatten().min().unwrap_or_default()
    }

    /// Is the job one that no copy will ever be asked for, so that its speculation had better be left to Hadoop?
    pub fn leaves_alone(&self, job: &Job, now: Time) -> bool {
        kinds_of(job).all(|kind| self.bars(job, kind, Mode::Act, now).is_some_and(is_for_good))
    }

    /// May copies of the job's tasks come to be asked for, were it not held out? Up to the moment from which that is so both sides of a comparison are treated alike.
    pub fn could_act_on(&self, job: &Job, now: Time) -> bool {
        !kinds_of(job).all(|kind| self.bars_on_any_side(job, kind, Mode::Act, now).is_some_and(is_for_good))
    }

    /// Is a job that is first seen now one of those that are left alone to compare with? As its id has it, and so after a restart of the service, too.
    pub fn draws_out(&self, job: JobId) -> bool {
        let id = job.0.cluster ^ u64::from(job.0.seq).rotate_left(48);
        uniform_draw(self.holdout_salt, id) < self.holdout
    }

    /// Is what the ResourceManager told of free room too old to decide on? Where it has told nothing there may be advice, but no action. `now` is the service's clock.
    pub fn room_is_stale(&self, cluster: &ClusterState, mode: Mode, now: Time) -> bool {
        if cluster.totals.is_none() {
            return mode == Mode::Act;
        }
        let nodes = if cluster.nodes.is_empty() { cluster.totals_told } else { cluster.nodes_told };
        self.is_stale(cluster.totals_told.min(nodes), now)
    }

    /// Why no task of this kind may have a copy now; `None` when it may. `now` is the service's clock.
    pub fn bars(&self, job: &Job, kind: TaskKind, mode: Mode, now: Time) -> Option<Verdict> {
        match self.bars_on_any_side(job, kind, mode, now) {
            first @ Some(Verdict::ModeOff | Verdict::Uber) => first,
            // Where nothing is done anyway, all jobs are alike.
            _ if mode == Mode::Act && job.held_out == Some(true) => Some(Verdict::HeldOut),
            other => other,
        }
    }

    /// The same were the job not held out.
    fn bars_on_any_side(&self, job: &Job, kind: TaskKind, mode: Mode, now: Time) -> Option<Verdict> {
        if mode == Mode::Off {
            return Some(Verdict::ModeOff);
        }
        if job.uber {
            return Some(Verdict::Uber);
        }
        let Some(settings) = &job.settings else { return Some(Verdict::SettingsUnknown) };
        let speculation = match kind {
            TaskKind::Map => settings.map_speculation,
            TaskKind::Reduce => settings.reduce_speculation,
        };
        if !speculation {
            return Some(Verdict::SpeculationOff);
        }
        // Not even one copy may fail: Hadoop's own speculator, which does not mind, is not held for nothing.
        if settings.attempts_max[kind as usize] < 2 {
            return Some(Verdict::FailuresSpent);
        }
        let classes = [&settings.committer, &settings.committer_factory, &settings.output_format];
        if classes.into_iter().flatten().any(|class| !output::is_safe(class, &self.safe_outputs, &self.unsafe_outputs))
        {
            return Some(Verdict::UnsafeOutput);
        }
        if !job.is_complete() {
            return Some(Verdict::IncompleteData);
        }
        self.is_stale(job.heard, now).then_some(Verdict::StaleData)
    }

    /// Is what was told then too old to act on?
    pub fn is_stale(&self, told: Time, now: Time) -> bool {
        now.since(told) > self.stale_after
    }
}

/// The kinds that a job has tasks of; both before it is told.
fn kinds_of(job: &Job) -> impl Iterator<Item = TaskKind> {
    let told = job.totals.filter(|totals| totals.iter().any(|tasks| *tasks > 0));
    TaskKind::ALL.into_iter().filter(move |kind| told.is_none_or(|totals| totals[*kind as usize] > 0))
}

/// Does it stand for as long as the job runs, whatever else is heard?
fn is_for_good(bar: Verdict) -> bool {
    use Verdict::{FailuresSpent, HeldOut, ModeOff, SettingsUnknown, SpeculationOff, Uber, UnsafeOutput};
    matches!(bar, FailuresSpent | HeldOut | ModeOff | SettingsUnknown | SpeculationOff | Uber | UnsafeOutput)
}

/// Leaves a proposal no more copies than may all fail without failing their task, and its job with it; the reason against it where that is none.
pub fn bound_by_failures(judged: &mut Judged, job: &Job) -> Option<Verdict> {
    let (settings, task) = job.settings.as_ref().zip(job.task(judged.task))?;
    if judged.action != Action::Duplicate {
        return None;
    }
    // An AM recovers tasks that had ended: of the others it counts the failures that it has seen itself.
    let counts = |attempt: &&Attempt| u64::from(attempt.number) >= job.first_number();
    let own = task.attempts.iter().filter(counts);
    let failed = own.filter(|attempt| attempt.state == AttemptState::Failed).count();
    let may_fail = (failed + task.unended().count().max(1)) as u32;
    let most = settings.attempts_max[judged.task.kind as usize];
    judged.copies = judged.copies.min(most.saturating_sub(may_fail));
    (judged.copies == 0).then_some(Verdict::FailuresSpent)
}

/// The name of what cannot be done to a job; `None` where it can. A copy or a restart may be advised all the same: whoever may kill an attempt has Hadoop start its task anew.
/// A copy that nobody can withdraw is not even that.
pub fn lack(can: Capabilities, action: Action, mode: Mode) -> Option<Verdict> {
    match action {
        Action::Duplicate => (mode == Mode::Act && !can.duplicate).then_some(Verdict::CannotDuplicate),
        Action::Restart => (mode == Mode::Act && !can.restart).then_some(Verdict::CannotRestart),
        Action::Withdraw => (!can.withdraw).then_some(Verdict::CannotWithdraw),
    }
}

/// The same of a task of that kind, as its job stands. On Hadoop no map is killed while reduces of its job run: should no other map hold a container before its next attempt
/// has one, they are killed for it (RMContainerAllocator, preemptReducesIfNeeded), and that nobody can tell before.
pub fn lack_now(job: &Job, kind: TaskKind, action: Action, mode: Mode) -> Option<Verdict> {
    let kills = action == Action::Restart && kind == TaskKind::Map && mode == Mode::Act;
    let endangers = || kills && job.can.are_hadoops() && job.runs(TaskKind::Reduce);
    lack(job.can, action, mode).or_else(|| endangers().then_some(Verdict::CannotRestart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AppId, ClusterFact, JobSettings, Millis, NodeFact, Resources};

    fn job() -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        (job.queue, job.user) = ("root.prod.etl".into(), "alice".into());
        job.settings = Some(JobSettings::default());
        job.totals = Some([0, 0]);
        job.heard = Time(1_000_000);
        job.can = Capabilities { duplicate: true, ..Capabilities::default() };
        job
    }

    const NOW: Time = Time(1_001_000);

    #[test]
    fn the_most_cautious_mode_wins_whoever_sets_it() {
        let mut params = GovernParams { mode: Mode::Act, ..Default::default() };
        assert_eq!(params.mode_of(&job(), "late"), Mode::Act);
        params.queue_modes.insert("etl".into(), Mode::Advise);
        assert_eq!(params.mode_of(&job(), "late"), Mode::Advise);
        params.queue_modes = [("root.etl".into(), Mode::Advise), ("root.test.etl".into(), Mode::Off)].into();
        let mut told_of = job();
        let mut of_queue = |queue: &str| {
            told_of.queue = queue.into();
            params.mode_of(&told_of, "late")
        };
        let told = ["etl", "root.etl", "root.prod.etl", "root"].map(&mut of_queue);
        assert_eq!(told, [Mode::Off, Mode::Advise, Mode::Act, Mode::Act], "told by its last part, either may be meant");
        params.user_modes.insert("alice".into(), Mode::Off);
        assert_eq!(params.mode_of(&job(), "late"), Mode::Off);
        params.user_modes.clear();
        let mut cautious = job();
        cautious.settings.as_mut().unwrap().mode = Some(Mode::Off);
        assert_eq!(params.mode_of(&cautious, "late"), Mode::Off);
    }

    #[test]
    fn a_job_cannot_make_itself_bolder() {
        let params = GovernParams { mode: Mode::Advise, ..Default::default() };
        let mut bold = job();
        bold.settings.as_mut().unwrap().mode = Some(Mode::Act);
        assert_eq!(params.mode_of(&bold, "late"), Mode::Advise);
    }

    #[test]
    fn without_the_means_act_is_advise() {
        let params = GovernParams { mode: Mode::Act, ..Default::default() };
        let mut bound = job();
        bound.can = Capabilities::default();
        assert_eq!(params.mode_of(&bound, "late"), Mode::Advise);
    }

    #[test]
    fn a_job_that_can_be_restarted_and_not_copied_is_acted_on_and_a_copy_is_refused_by_name() {
        let params = GovernParams { mode: Mode::Act, ..Default::default() };
        let mut bound = job();
        bound.can = Capabilities { restart: true, ..Capabilities::default() };
        assert_eq!(params.mode_of(&bound, "mantri"), Mode::Act);
        let of = |action, mode| lack(bound.can, action, mode);
        assert_eq!(of(Action::Duplicate, Mode::Act), Some(Verdict::CannotDuplicate));
        assert_eq!([of(Action::Duplicate, Mode::Advise), of(Action::Restart, Mode::Act)], [None; 2]);
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name_and_a_restart_only_where_it_would_be_done() {
        let (bare, able) = (
            Capabilities::default(),
            Capabilities {
                duplicate: true,
                restart: true,
                withdraw: true,
                avoid: true,
                place: true,
                ..Capabilities::NONE
            },
        );
        assert_eq!(lack(bare, Action::Restart, Mode::Act), Some(Verdict::CannotRestart));
        assert_eq!(lack(bare, Action::Restart, Mode::Advise), None);
        for mode in [Mode::Advise, Mode::Act] {
            assert_eq!(lack(bare, Action::Withdraw, mode), Some(Verdict::CannotWithdraw));
            assert!(Action::ALL.into_iter().all(|action| lack(able, action, mode).is_none()));
        }
    }

    #[test]
    fn no_more_copies_are_proposed_than_may_all_fail_without_failing_the_job() {
        use crate::govern::bars::tests::proposed;
        use crate::govern::flight::tests::{attempt, job, map};
        use AttemptState::{Failed, Killed, Running};
        let left = |attempts: &[AttemptState], most, copies| {
            let mut job = job();
            job.settings = Some(JobSettings { attempts_max: [most, 1], ..JobSettings::default() });
            for (number, state) in (0..).zip(attempts) {
                attempt(&mut job, map(0).attempt(number), *state, 1_000, 0);
            }
            let mut judged = Judged { task: map(0), copies, ..proposed(1) };
            bound_by_failures(&mut judged, &job).ok_or(judged.copies)
        };
        assert_eq!([left(&[Running], 4, 1), left(&[Running], 4, 7)], [Err(1), Err(3)]);
        assert_eq!(left(&[Running], 1, 1), Ok(Verdict::FailuresSpent), "the first that fails is one too many");
        assert_eq!(left(&[Running, Failed, Failed, Killed], 4, 2), Err(1), "one that was killed has not failed");
        assert_eq!(left(&[Running, Failed, Failed, Failed], 4, 1), Ok(Verdict::FailuresSpent));
        assert_eq!(left(&[Running, Running, Failed], 4, 2), Err(1), "a copy that runs may fail, too");
        let mut again = job();
        for number in 0..3 {
            attempt(&mut again, map(0).attempt(number), Failed, 1_000, 2_000);
        }
        again.outlive(2);
        attempt(&mut again, map(0).attempt(1_000), Running, 3_000, 0);
        again.settings = Some(JobSettings::default());
        let mut judged = Judged { task: map(0), copies: 1, ..proposed(1) };
        assert_eq!((bound_by_failures(&mut judged, &again), judged.copies), (None, 1), "a new AM begins to count anew");
    }

    #[test]
    fn a_job_that_no_copy_is_ever_asked_for_is_left_to_hadoop() {
        let params = GovernParams { mode: Mode::Act, ..Default::default() };
        assert!(!params.leaves_alone(&job(), NOW));
        assert!(!params.leaves_alone(&job(), NOW + params.stale_after), "old news pass");
        let mut one_kind = job();
        one_kind.settings.as_mut().unwrap().map_speculation = false;
        assert!(!params.leaves_alone(&one_kind, NOW));
        one_kind.settings.as_mut().unwrap().reduce_speculation = false;
        assert!(params.leaves_alone(&one_kind, NOW));
        let mut once = job();
        once.settings.as_mut().unwrap().attempts_max = [1, 1];
        assert!(params.leaves_alone(&once, NOW), "no copy may fail");
        once.settings.as_mut().unwrap().attempts_max = [1, 4];
        let with = |totals| {
            let mut job = once.clone();
            job.totals = totals;
            params.leaves_alone(&job, NOW)
        };
        let told = [None, Some([0, 0]), Some([3, 2]), Some([3, 0]), Some([0, 2])].map(with);
        assert_eq!(told, [false, false, false, true, false], "reduces that a job does not have have no copies");
        let mut direct = job();
        direct.settings.as_mut().unwrap().committer = Some("com.x.DirectCommitter".into());
        assert!(params.leaves_alone(&direct, NOW));
        let settings = direct.settings.as_mut().unwrap();
        settings.committer = Some("org.apache.hadoop.mapred.FileOutputCommitter".into());
        settings.committer_factory = Some("com.x.DirectFactory".into());
        assert!(params.leaves_alone(&direct, NOW), "a committer that is safe hides no factory that is not");
    }

    #[test]
    fn the_share_held_out_is_the_one_asked_for_and_a_job_stays_on_its_side() {
        let params = GovernParams { holdout: 0.2, ..Default::default() };
        let job = |seq| JobId(AppId { cluster: 1_795_182_400_000, seq });
        let of = |params: &GovernParams| (1..=10_000).filter(|seq| params.draws_out(job(*seq))).collect::<Vec<_>>();
        let held = of(&params);
        assert!(held.len().abs_diff(2_000) < 150, "{}", held.len());
        assert_eq!(of(&params), held);
        let more = of(&GovernParams { holdout: 0.4, ..params.clone() });
        assert!(held.iter().all(|seq| more.contains(seq)), "a larger share takes none back");
        assert_ne!(of(&GovernParams { holdout_salt: 2, ..params.clone() }), held);
        assert!(of(&GovernParams { holdout: 0.0, ..params.clone() }).is_empty());
        assert_eq!(of(&GovernParams { holdout: 1.0, ..params }).len(), 10_000);
    }

    #[test]
    fn where_no_share_is_held_out_not_even_the_lowest_of_all_draws_is() {
        let lowest = JobId(AppId { cluster: 0, seq: 0 });
        let params = GovernParams { holdout_salt: 0, holdout: 0.0, ..Default::default() };
        assert_eq!(uniform_draw(0, 0), 0.0);
        assert!(!params.draws_out(lowest));
        assert!(GovernParams { holdout: 1e-9, ..params }.draws_out(lowest));
    }

    #[test]
    fn jobs_whose_numbers_are_far_apart_are_drawn_apart_whatever_the_clusters_number() {
        let params = GovernParams { holdout: 0.5, ..Default::default() };
        // As 2^16 lies beyond what is left of a number that was turned by 48 bits.
        let held = |from| (from..from + 100).map(|seq| params.draws_out(JobId(AppId { cluster: 0xffff, seq })));
        let alike = held(1).zip(held(1 + (1 << 16))).filter(|(one, other)| one == other).count();
        assert!((30..70).contains(&alike), "{alike} of 100");
    }

    #[test]
    fn room_is_too_old_when_the_older_of_totals_and_nodes_is_and_never_told_when_only_to_act_on() {
        let params = GovernParams::default();
        let stale = |cluster: &ClusterState, now| {
            [Mode::Advise, Mode::Act].map(|mode| params.room_is_stale(cluster, mode, now))
        };
        let mut cluster = ClusterState::default();
        assert_eq!(stale(&cluster, NOW), [false, true]);
        (cluster.totals, cluster.totals_told) = (Some(ClusterFact::default()), NOW);
        let limit = NOW + params.stale_after;
        assert_eq!(stale(&cluster, limit), [false; 2], "no nodes were told of");
        assert_eq!(stale(&cluster, limit + Millis(1)), [true; 2]);
        let of = Resources::default();
        cluster.nodes.insert("n0".into(), NodeFact::usable("n0", of, of));
        cluster.nodes_told = NOW - Millis(1);
        assert_eq!(stale(&cluster, limit - Millis(1)), [false; 2]);
        assert_eq!(stale(&cluster, limit), [true; 2]);
    }

    #[test]
    fn a_job_that_is_held_out_is_left_to_hadoop_and_advised_on_like_any_other() {
        let params = GovernParams { mode: Mode::Act, ..Default::default() };
        let mut held = job();
        held.held_out = Some(true);
        assert!(params.leaves_alone(&held, NOW));
        assert_eq!(params.bars(&held, TaskKind::Map, Mode::Act, NOW), Some(Verdict::HeldOut));
        assert_eq!(params.bars(&held, TaskKind::Map, Mode::Advise, NOW), None);
        held.held_out = Some(false);
        assert_eq!(params.bars(&held, TaskKind::Map, Mode::Act, NOW), None);
    }

    #[test]
    fn whether_a_job_could_be_acted_on_does_not_depend_on_the_side_it_was_drawn_to() {
        let params = GovernParams { mode: Mode::Act, ..Default::default() };
        for held_out in [None, Some(false), Some(true)] {
            let could = |change: fn(&mut Job)| {
                let mut job = job();
                job.held_out = held_out;
                change(&mut job);
                params.could_act_on(&job, NOW)
            };
            assert!(could(|_| ()));
            assert!(!could(|job| job.uber = true) && !could(|job| job.settings = None));
        }
    }

    #[test]
    fn each_bar_has_its_name() {
        let params = GovernParams::default();
        let bars = |change: fn(&mut Job), now| {
            let mut job = job();
            change(&mut job);
            params.bars(&job, TaskKind::Map, Mode::Advise, now)
        };
        assert_eq!(bars(|_| (), NOW), None);
        assert_eq!(bars(|job| job.uber = true, NOW), Some(Verdict::Uber));
        assert_eq!(bars(|job| job.settings = None, NOW), Some(Verdict::SettingsUnknown));
        assert_eq!(bars(|job| job.totals = Some([1, 0]), NOW), Some(Verdict::IncompleteData));
        let last = job().heard + params.stale_after;
        assert_eq!(bars(|_| (), last), None);
        assert_eq!(bars(|_| (), last + Millis(1)), Some(Verdict::StaleData));
        let off = |job: &mut Job| job.settings.as_mut().unwrap().map_speculation = false;
        assert_eq!(bars(off, NOW), Some(Verdict::SpeculationOff));
        let unsafe_format =
            |job: &mut Job| job.settings.as_mut().unwrap().output_format = Some("com.x.DirectFormat".into());
        assert_eq!(bars(unsafe_format, NOW), Some(Verdict::UnsafeOutput));
        assert_eq!(params.bars(&job(), TaskKind::Map, Mode::Off, NOW), Some(Verdict::ModeOff));
    }
}
