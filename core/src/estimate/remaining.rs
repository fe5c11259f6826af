//! Mantri's time left of a running task, from the bytes it has read (Mantri, OSDI'10, §5.5).

use crate::model::{Bytes, Millis};

/// Mantri §5.5, eq. 2: t_rem in seconds. Printed is t_elapsed · d/d_read + t_wrapup, which is the task's projected *whole* time; what is left of it, the paper's "remaining
/// time to process data", is t_elapsed · (d − d_read)/d_read + t_wrapup. `None` before anything was read. A counter beyond the input's size leaves the wrap-up.
pub fn mantri_seconds(elapsed: Millis, size: Bytes, read: Bytes, wrap_up: Millis) -> Option<f64> {
    let (to_read, read) = (size.0.saturating_sub(read.0) as f64, read.0 as f64);
    (read > 0.0).then(|| elapsed.as_secs_f64() * to_read / read + wrap_up.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn left(elapsed: u64, size: u64, read: u64, wrap_up: u64) -> Option<f64> {
        mantri_seconds(Millis(elapsed), Bytes(size), Bytes(read), Millis(wrap_up))
    }

    #[test]
    fn what_is_left_is_read_at_the_pace_so_far_and_then_wrapped_up() {
        assert_eq!(left(60_000, 100, 25, 5_000), Some(185.0));
        assert_eq!(left(60_000, 100, 100, 5_000), Some(5.0));
        assert_eq!(left(60_000, 100, 130, 5_000), Some(5.0), "a counter may run past the split");
        assert_eq!(left(60_000, 100, 0, 5_000), None);
    }

    proptest! {
        #[test]
        fn with_the_time_gone_it_is_the_whole_that_the_paper_prints(elapsed in 1..10_000_000_u64, size in 1..1_000_000_000_u64, share in 1..100_u64) {
            let read = (size * share / 100).max(1);
            let whole = elapsed as f64 / 1000.0 * size as f64 / read as f64;
            prop_assert!((left(elapsed, size, read, 0).unwrap() + elapsed as f64 / 1000.0 - whole).abs() <= 1e-9 * whole);
        }

        #[test]
        fn more_read_is_less_left_and_slower_is_more(elapsed in 1..10_000_000_u64, size in 2..1_000_000_000_u64, share in 1..99_u64) {
            let read = (size * share / 100).max(1);
            prop_assert!(left(elapsed, size, read + 1, 7) <= left(elapsed, size, read, 7));
            prop_assert!(left(elapsed * 2, size, read, 7) >= left(elapsed, size, read, 7));
        }
    }
}
