//! Lines 2 and 3: how many clones, and whether there is room for them.

use super::{Admission, DollyParams, job_level_clones};
use crate::estimate::straggle::{CLONES_MAX, clones_per_task, job_clones};
use crate::model::{Verdict, share_of};

/// A phase whose first task is to be executed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// n.
    pub tasks: u32,
    /// Tasks of it that hold their slots already: U counts them.
    pub started: u32,
    /// A task's container, MiB.
    pub slot_mb: u64,
    /// Copies of each task of the phase it reads from; `None` for the first phase.
    pub upstream: Option<u32>,
}

/// The cluster's memory, MiB: Hadoop has no slots of one size.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Supply {
    /// C.
    pub capacity_mb: u64,
    /// U.
    pub used_mb: u64,
    /// B_U: what cloned phases hold or are promised, first attempts included.
    pub cloning_mb: u64,
    /// Of that what phases of more tasks than this one hold.
    pub larger_mb: u64,
    /// Beside U what clones that are only advised would take: to advice it is in use.
    pub advised_mb: u64,
}

impl Phase {
    /// Line 2, and §3.2: "the number of clones for tasks of a downstream phase never exceeds the number of clones launched in its upstream phase".
    fn clones(&self, p: f64, epsilon: f64) -> Option<u32> {
        let wanted = clones_per_task(self.tasks, p, epsilon)?;
        Some(wanted.min(self.upstream.unwrap_or(u32::MAX)))
    }

    /// Line 3: why c clones of each task have no room.
    fn refused(&self, clones: u32, supply: &Supply, params: &DollyParams) -> Option<Verdict> {
        let slots = |count: u64| count * self.slot_mb;
        supply.refuses(slots(u64::from(clones) * u64::from(self.tasks)), slots(self.started.into()), params)
    }
}

impl Supply {
    /// What the clones' budget and the ceiling leave, where `held_mb` of what is to be cloned are in use already, MiB.
    fn left_mb(&self, held_mb: u64, params: &DollyParams) -> [u64; 2] {
        let left = |share, taken| (share_of(share, self.capacity_mb) as u64).saturating_sub(taken);
        let gives_way = if params.admission == Admission::Preempt { self.larger_mb } else { 0 };
        let (cloning, used) = (self.cloning_mb.saturating_sub(gives_way), self.used_mb.saturating_sub(held_mb));
        [left(params.beta, cloning), left(params.tau, used)]
    }

    /// The clones' budget, beta of the cluster, in containers of that size: those that cloned phases hold or are promised, first attempts included, and how many may be.
    pub fn budget(&self, slot_mb: u64, params: &DollyParams) -> (u32, u32) {
        let (slot_mb, all_mb) = (slot_mb.max(1), self.most_mb(params));
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        (small(self.cloning_mb.div_ceil(slot_mb)), small(all_mb / slot_mb))
    }

    /// The clones' budget, beta of the cluster, MiB.
    pub fn most_mb(&self, params: &DollyParams) -> u64 {
        share_of(params.beta, self.capacity_mb) as u64
    }

    /// Line 3: why there is no room for copies of so much memory in all.
    fn refuses(&self, asked_mb: u64, held_mb: u64, params: &DollyParams) -> Option<Verdict> {
        let [budget, ceiling] = self.left_mb(held_mb, params);
        if asked_mb > budget {
            Some(Verdict::CloneBudget)
        } else {
            // HotCloud'12, Pseudocode 1, `while`: (U + 1) < τ; NSDI'13 §3.2, line 3, lets it be reached.
            let over = if params.by_machine { asked_mb >= ceiling } else { asked_mb > ceiling };
            over.then_some(Verdict::CloneCeiling)
        }
    }
}

/// What a phase is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Copies of a task, the first attempt included.
    pub clones: u32,
    /// How many of its tasks have them.
    pub tasks: u32,
}

/// How many copies each task of the phase is to have, where the probability of a straggler is p.
///
/// # Errors
/// Why it is not cloned.
pub fn admit(phase: &Phase, p: f64, supply: &Supply, params: &DollyParams) -> Result<Grant, Verdict> {
    let wanted = phase.clones(p, params.epsilon).ok_or(Verdict::CloneBudget)?;
    if wanted < 2 {
        return Err(Verdict::NoCloneNeeded);
    }
    let refused = |clones| phase.refused(clones, supply, params);
    let whole = |clones| Grant { clones, tasks: phase.tasks };
    match params.admission {
        Admission::AllOrNothing | Admission::Preempt => refused(wanted).map_or(Ok(whole(wanted)), Err),
        Admission::Partial => {
            let most = (2..=wanted).rev().find(|clones| refused(*clones).is_none());
            most.map(whole).ok_or(refused(2).unwrap_or(Verdict::CloneBudget))
        }
        Admission::FirstCome => {
            let some = |tasks| Phase { tasks, started: phase.started.min(tasks), ..*phase };
            let fits = |tasks: &u32| some(*tasks).refused(wanted, supply, params).is_none();
            let refused = || some(1).refused(wanted, supply, params).unwrap_or(Verdict::CloneBudget);
            (1..=phase.tasks).take_while(fits).last().map(|tasks| Grant { clones: wanted, tasks }).ok_or_else(refused)
        }
    }
}

/// How many clones there are to be of a whole job of these phases, the first among them: as many as fit, whatever is done with phases that do not fit whole.
///
/// # Errors
/// Why it is not cloned.
pub fn admit_job(phases: &[Phase], p: f64, supply: &Supply, params: &DollyParams) -> Result<Grant, Verdict> {
    let sum =
        |tasks: fn(&Phase) -> u32| phases.iter().map(|phase| u64::from(tasks(phase)) * phase.slot_mb).sum::<u64>();
    let (job_mb, held_mb) = (sum(|phase| phase.tasks), sum(|phase| phase.started));
    let tasks = phases.iter().map(|phase| phase.tasks).fold(0, u32::saturating_add);
    // More than can be counted are as many as fit, too: min(c, (τ − U)/n).
    let uncounted = ((0.0..1.0).contains(&p) && tasks > 0).then_some(CLONES_MAX);
    let wanted = job_clones(tasks, p, params.epsilon).or(uncounted).ok_or(Verdict::CloneBudget)?;
    if wanted < 2 {
        return Err(Verdict::NoCloneNeeded);
    }
    let [budget, ceiling] = supply.left_mb(held_mb, params);
    match job_level_clones(wanted, job_mb, budget.min(ceiling)) {
        1 => Err(supply.refuses(2 * job_mb, held_mb, params).unwrap_or(Verdict::CloneBudget)),
        clones => Ok(Grant { clones, tasks }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cluster of a thousand slots, and a phase of ten tasks whose p asks for three clones of each.
    const SUPPLY: Supply =
        Supply { capacity_mb: 1_000_000, used_mb: 200_000, cloning_mb: 0, larger_mb: 0, advised_mb: 0 };
    const TEN: Phase = Phase { tasks: 10, started: 0, slot_mb: 1_000, upstream: None };

    fn with(admission: Admission, supply: Supply) -> Result<u32, Verdict> {
        given(&TEN, 0.1, &supply, &DollyParams { admission, ..DollyParams::default() })
    }

    /// Copies of each of its tasks.
    fn given(phase: &Phase, p: f64, supply: &Supply, params: &DollyParams) -> Result<u32, Verdict> {
        let grant = admit(phase, p, supply, params)?;
        assert_eq!(grant.tasks, phase.tasks);
        Ok(grant.clones)
    }

    #[test]
    fn a_phase_is_cloned_if_all_of_its_clones_fit_the_budget_and_not_at_all_if_one_does_not() {
        let at = |cloning_mb| with(Admission::AllOrNothing, Supply { cloning_mb, ..SUPPLY });
        assert_eq!((at(0), at(20_000)), (Ok(3), Ok(3)), "30 of 50 slots, and exactly all of them");
        assert_eq!(at(20_001), Err(Verdict::CloneBudget));
    }

    #[test]
    fn nothing_is_cloned_where_use_would_rise_above_the_ceiling() {
        let at = |used_mb, started| {
            let supply = Supply { used_mb, ..SUPPLY };
            given(&Phase { started, ..TEN }, 0.1, &supply, &DollyParams::default())
        };
        assert_eq!((at(770_000, 0), at(770_001, 0)), (Ok(3), Err(Verdict::CloneCeiling)));
        assert_eq!(at(780_000, 10), Ok(3), "its own first attempts are in use already");
    }

    #[test]
    fn one_more_may_reach_the_ceiling_under_nsdi_13_and_must_stay_below_it_under_hotcloud_12() {
        let supply = Supply { used_mb: 770_000, ..SUPPLY };
        let by = |by_machine| {
            let params = DollyParams { by_machine, ..DollyParams::default() };
            given(&TEN, 0.1, &supply, &params)
        };
        assert_eq!([by(false), by(true)], [Ok(3), Err(Verdict::CloneCeiling)]);
    }

    #[test]
    fn what_just_fits_a_share_is_admitted_though_floating_point_would_put_the_share_below_it() {
        // .29 · 100 is 28.999999999999996.
        let two = |beta, tau, taken| {
            let params = DollyParams { beta, tau, epsilon: 0.0025, ..DollyParams::default() };
            let supply = Supply { capacity_mb: 100, used_mb: taken, cloning_mb: taken, ..Supply::default() };
            given(&Phase { tasks: 1, slot_mb: 14, ..TEN }, 0.05, &supply, &params)
        };
        assert_eq!((two(0.29, 1.0, 1), two(0.29, 1.0, 2)), (Ok(2), Err(Verdict::CloneBudget)));
        assert_eq!((two(1.0, 0.29, 1), two(1.0, 0.29, 2)), (Ok(2), Err(Verdict::CloneCeiling)));
    }

    #[test]
    fn a_downstream_phase_has_no_more_clones_than_its_upstream() {
        let below = |upstream| given(&Phase { upstream: Some(upstream), ..TEN }, 0.1, &SUPPLY, &DollyParams::default());
        assert_eq!((below(5), below(2), below(1)), (Ok(3), Ok(2), Err(Verdict::NoCloneNeeded)));
    }

    #[test]
    fn without_stragglers_nothing_is_cloned_and_where_all_straggle_no_number_would_do() {
        let at = |p| given(&TEN, p, &SUPPLY, &DollyParams::default());
        assert_eq!((at(0.0), at(1.0)), (Err(Verdict::NoCloneNeeded), Err(Verdict::CloneBudget)));
    }

    #[test]
    fn partly_as_many_as_fit_preempting_as_if_larger_jobs_had_none_and_first_come_whatever_is_left() {
        let tight = Supply { cloning_mb: 30_000, ..SUPPLY };
        assert_eq!(with(Admission::Partial, tight), Ok(2));
        assert_eq!(with(Admission::Partial, Supply { cloning_mb: 31_000, ..SUPPLY }), Err(Verdict::CloneBudget));
        assert_eq!(with(Admission::Preempt, tight), Err(Verdict::CloneBudget));
        assert_eq!(with(Admission::Preempt, Supply { larger_mb: 10_000, ..tight }), Ok(3));
        let params = DollyParams { admission: Admission::FirstCome, ..DollyParams::default() };
        let full = |cloning_mb| admit(&TEN, 0.1, &Supply { cloning_mb, ..SUPPLY }, &params);
        let three = |tasks| Ok(Grant { clones: 3, tasks });
        assert_eq!((full(0), full(40_000), full(47_000)), (three(10), three(3), three(1)));
        assert_eq!(full(48_000), Err(Verdict::CloneBudget));
    }

    #[test]
    fn where_tasks_are_cloned_one_by_one_no_more_first_attempts_are_in_use_already_than_are_cloned() {
        let params = DollyParams { admission: Admission::FirstCome, ..DollyParams::default() };
        let full = Supply { used_mb: 790_000, ..SUPPLY };
        let five = Ok(Grant { clones: 3, tasks: 5 });
        assert_eq!(admit(&Phase { started: 10, ..TEN }, 0.1, &full, &params), five, "two slots more for each");
    }

    #[test]
    fn of_a_whole_job_as_many_clones_are_admitted_as_fit_and_less_than_two_are_none() {
        // Two maps of 1,000 MiB and one reduce of 2,000: 1 − .9³ is .271, and three of it are below .05.
        let phases = [Phase { tasks: 2, ..TEN }, Phase { tasks: 1, slot_mb: 2_000, ..TEN }];
        let of = |cloning_mb, used_mb, p| {
            admit_job(&phases, p, &Supply { cloning_mb, used_mb, ..SUPPLY }, &DollyParams::default())
        };
        let three = |clones| Ok(Grant { clones, tasks: 3 });
        assert_eq!([38_000, 38_001, 42_000].map(|cloning| of(cloning, 0, 0.1)), [three(3), three(2), three(2)]);
        assert_eq!((of(42_001, 0, 0.1), of(0, 792_001, 0.1)), (Err(Verdict::CloneBudget), Err(Verdict::CloneCeiling)));
        assert_eq!((of(50_000, 0, 0.0), of(0, 0, 1.0)), (Err(Verdict::NoCloneNeeded), Err(Verdict::CloneBudget)));
        let held = phases.map(|phase| Phase { started: phase.tasks, ..phase });
        let full = Supply { used_mb: 792_000 + 4_000, ..SUPPLY };
        assert_eq!(admit_job(&held, 0.1, &full, &DollyParams::default()), three(2), "its own tasks are in use already");
        let many = [Phase { tasks: 200, slot_mb: 100, ..TEN }];
        let of = |p| admit_job(&many, p, &SUPPLY, &DollyParams::default()).map(|grant| grant.clones);
        assert_eq!((of(0.2), of(1.0)), (Ok(2), Err(Verdict::CloneBudget)), "1 − .8²⁰⁰ asks for more than anybody has");
    }

    proptest! {
        #[test]
        fn what_is_admitted_fits(
            tasks in 1u32..200, p in 0.01f64..0.5, used in 0u64..1_000_000, cloning in 0u64..60_000, which in 0usize..3,
        ) {
            let admission = [Admission::AllOrNothing, Admission::Partial, Admission::FirstCome][which];
            let params = DollyParams { admission, ..DollyParams::default() };
            let supply = Supply { used_mb: used, cloning_mb: cloning, ..SUPPLY };
            if let Ok(Grant { clones, tasks }) = admit(&Phase { tasks, ..TEN }, p, &supply, &params) {
                let asked = u64::from(clones) * u64::from(tasks) * TEN.slot_mb;
                prop_assert!(clones >= 2 && cloning + asked <= 50_000 && used + asked <= 800_000);
            }
        }
    }
}
