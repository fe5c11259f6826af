//! Longest processing time first: how far from the best schedule it can end.

/// Mantri §5.4, Theorem 1 (Graham): starting tasks on `slots` slots in descending order of their data ends no later than 4/3 − 1/(3s) times the best possible time.
/// `None` without a slot.
pub fn bound(slots: u32) -> Option<f64> {
    // 4/3 − 1/(3s) on one line of fractions is rounded once.
    let s = f64::from(slots);
    (slots > 0).then(|| (4.0 * s - 1.0) / (3.0 * s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// When the last of the tasks ends, each started on the slot that is free first.
    fn longest_first(tasks: &[u32], slots: usize) -> u32 {
        let mut descending = tasks.to_vec();
        descending.sort_unstable_by(|a, b| b.cmp(a));
        let mut free_at = vec![0; slots];
        for task in descending {
            *free_at.iter_mut().min().unwrap() += task;
        }
        free_at.into_iter().max().unwrap()
    }

    /// The best of all assignments of tasks to slots.
    fn optimum(tasks: &[u32], busy: &mut Vec<u32>) -> u32 {
        let Some((task, rest)) = tasks.split_first() else { return busy.iter().copied().max().unwrap() };
        let slots = busy.len();
        let each = |slot: usize| {
            busy[slot] += task;
            let best = optimum(rest, busy);
            busy[slot] -= task;
            best
        };
        (0..slots).map(each).min().unwrap()
    }

    #[test]
    fn the_bound_is_the_printed_one_and_grahams_instances_reach_it() {
        assert_eq!((bound(0), bound(1), bound(2)), (None, Some(1.0), Some(7.0 / 6.0)));
        assert!((bound(100).unwrap() - (4.0 / 3.0 - 1.0 / 300.0)).abs() < 1e-15);
        // Two each of 2s − 1 … s + 1 and three of s: 4s − 1 against 3s.
        for s in 2..=3_u32 {
            let mut tasks: Vec<u32> = (s + 1..2 * s).flat_map(|length| [length, length]).collect();
            tasks.extend([s; 3]);
            let (lpt, best) = (longest_first(&tasks, s as usize), optimum(&tasks, &mut vec![0; s as usize]));
            assert_eq!((lpt, best), (4 * s - 1, 3 * s));
            assert_eq!(Some(f64::from(lpt) / f64::from(best)), bound(s));
        }
    }

    proptest! {
        #[test]
        fn theorem_1_holds_against_the_true_optimum(tasks in prop::collection::vec(1..50_u32, 1..8), slots in 1..4_u32) {
            let (lpt, best) = (longest_first(&tasks, slots as usize), optimum(&tasks, &mut vec![0; slots as usize]));
            // lpt/best ≤ (4s − 1)/(3s), in whole numbers.
            prop_assert!(lpt * 3 * slots <= best * (4 * slots - 1), "{} {}", lpt, best);
            prop_assert!(best <= lpt && f64::from(lpt) <= f64::from(best) * bound(slots).unwrap() + 1e-9);
        }
    }
}
