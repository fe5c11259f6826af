//! Where clones go, and clones of whole jobs: Dolly of HotCloud'12, §3.1 and §3.2.

use crate::model::NameId;

/// Machines for the clones of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The best first.
    pub machines: Vec<NameId>,
    /// With clones on these it has enough; else it was room that there was no more of.
    pub enough: bool,
}

/// HotCloud'12, Pseudocode 1: machines for the clones of one task besides the copies that it has, which all straggle with a probability of `first`. They are taken until the
/// copies are together no more likely to straggle than `clones` of them were on machines of probability `p`, or as many are taken as there is `room` for: "(U + 1) < τ", and
/// no more than its phase was admitted with.
///
/// Printed is a loop "while p_t · M\[i\] > p^c_o", one clone short of the prose; meant is while p_t > p^c_o. And machines come "in descending order of their outlier
/// probabilities", which contradicts the "smallest set": they are to come [`by_odds`], the most reliable first.
pub fn machines_for_a_task(
    first: f64,
    p: f64,
    clones: u32,
    by_odds: impl IntoIterator<Item = (NameId, f64)>,
    room: usize,
) -> Chosen {
    let aim = p.powi(clones.min(i32::MAX as u32) as i32);
    // What rounding alone leaves above is enough: .1 · .1 is a little more than .1².
    let enough = |together: f64| together <= aim * (1.0 + 1e-12);
    let mut together = first;
    let mut machines = Vec::new();
    for (machine, odds) in by_odds.into_iter().take(room) {
        if enough(together) {
            break;
        }
        together *= odds;
        machines.push(machine);
    }
    Chosen { machines, enough: enough(together) }
}

/// Machines in order of their probability of straggling, of equal ones in order of their number.
pub fn by_odds(mut machines: Vec<(NameId, f64)>) -> Vec<(NameId, f64)> {
    machines.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    machines
}

/// HotCloud'12, job-level cloning: clones of a whole job, min(c, (τ − U)/n), where c are `wanted`, `job_mb` is what all n tasks of one take and `free_mb` what may be used yet. Printed is
/// (τ − U + c·n)/n, where U is what would be used with the clones. One where not even a second copy fits.
pub fn job_level_clones(wanted: u32, job_mb: u64, free_mb: u64) -> u32 {
    let fit = free_mb.checked_div(job_mb).unwrap_or(u64::MAX);
    wanted.min(fit.try_into().unwrap_or(u32::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::straggle::job_clones;
    use crate::model::Names;
    use crate::policy::tests::host;

    /// Machines of these probabilities, and the numbers of those chosen.
    fn chosen(first: f64, p: f64, clones: u32, odds: &[f64], room: usize) -> Vec<usize> {
        let mut names = Names::default();
        let ids: Vec<NameId> = (0..odds.len()).map(|n| names.intern(&n.to_string()).unwrap()).collect();
        let machines: Vec<_> = ids.iter().copied().zip(odds.iter().copied()).collect();
        let number = |id: &NameId| ids.iter().position(|known| known == id).unwrap();
        machines_for_a_task(first, p, clones, by_odds(machines), room).machines.iter().map(number).collect()
    }

    #[test]
    fn on_machines_like_any_other_a_task_gets_the_clones_that_were_counted_out() {
        assert_eq!(chosen(0.1, 0.1, 3, &[0.1; 9], 9), [0, 1]);
        assert_eq!(chosen(0.1, 0.1, 1, &[0.1; 9], 9), [0; 0]);
    }

    #[test]
    fn the_most_reliable_machines_come_first_and_the_set_is_the_smallest_that_does() {
        assert_eq!(chosen(0.1, 0.1, 3, &[0.5, 0.1, 0.01, 0.2], 9), [2]);
        assert_eq!(chosen(0.4, 0.1, 2, &[0.5, 0.1, 0.3, 0.2], 9), [1, 3], ".4 · .1 is .04, and .4 · .1 · .2 below .01");
        assert_eq!(chosen(0.4, 0.1, 2, &[0.5, 0.4, 0.3, 0.2], 9), [3, 2, 1], ".4 · .2 · .3 is .024, above .01");
    }

    #[test]
    fn no_more_are_taken_than_there_is_room_or_machines_for() {
        assert_eq!(chosen(0.9, 0.1, 3, &[0.9; 4], 2), [0, 1]);
        assert_eq!(chosen(0.9, 0.1, 3, &[0.9; 4], 9).len(), 4);
    }

    #[test]
    fn that_no_clone_is_needed_is_told_from_that_no_machine_has_room_for_one() {
        let of = |first, room| machines_for_a_task(first, 0.1, 2, [(host(0), 0.1)], room);
        let chosen = |machines: usize, enough| Chosen { machines: vec![host(0); machines], enough };
        assert_eq!((of(0.01, 1), of(0.1, 0)), (chosen(0, true), chosen(0, false)));
        assert_eq!((of(0.1, 1), of(0.2, 1)), (chosen(1, true), chosen(1, false)));
    }

    #[test]
    fn a_job_is_cloned_whole_as_often_as_its_risk_asks_and_the_ceiling_lets() {
        // 1 − .9² = .19; .19² = .0361 is below .05.
        assert_eq!(job_clones(2, 0.1, 0.05), Some(2));
        assert_eq!([100, 4, 3, 0].map(|free| job_level_clones(2, 2, free)), [2, 2, 1, 1]);
        assert_eq!(job_level_clones(u32::MAX, 1, u64::MAX), u32::MAX);
    }
}
