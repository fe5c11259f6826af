//! Dolly's bins of jobs by their number of tasks (NSDI'13, Table 3).

/// Least and most tasks of each.
pub const BINS: [(u32, u32); 5] = [(1, 10), (11, 50), (51, 150), (151, 500), (501, u32::MAX)];

/// The bin of a job of so many tasks, as it is told. One without tasks is in none.
pub fn bin(tasks: u32) -> Option<String> {
    BINS.into_iter().find(|(low, high)| (low..=high).contains(&&tasks)).map(named)
}

/// A bin as it is told.
pub fn named((low, high): (u32, u32)) -> String {
    if high == u32::MAX { format!(">{}", low - 1) } else { format!("{low}-{high}") }
}
