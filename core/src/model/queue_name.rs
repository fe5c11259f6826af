//! Names of queues: paths, or the last part of one.
//!
//! A capacity scheduler may tell the queue of a job by its last part alone, as it was submitted; `root.default` on Hadoop 3.4 is `default` before. A fair one tells its path.

use std::collections::BTreeSet;

/// The last part of a queue's path.
pub fn leaf(queue: &str) -> &str {
    queue.rsplit('.').next().unwrap_or(queue)
}

/// Does a name that somebody gave mean the queue of that name? Where only the last part of a queue's path is told, a path that ends so does, and of several that end alike each does.
pub fn means(given: &str, queue: &str) -> bool {
    given == queue || given == leaf(queue) || leaf(given) == queue
}

/// Many queues by their names, to be asked which of given names mean one of them.
#[derive(Debug)]
pub struct Known<'a> {
    names: BTreeSet<&'a str>,
    leaves: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
    /// The queues of these names.
    pub fn of(names: impl IntoIterator<Item = &'a str>) -> Known<'a> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        Known { leaves: names.iter().map(|name| leaf(name)).collect(), names }
    }

    /// Does the name mean any of them, as [`means`] has it?
    pub fn has(&self, given: &str) -> bool {
        self.names.contains(given) || self.leaves.contains(given) || self.names.contains(leaf(given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_meant_by_its_path_or_its_last_part_whichever_of_them_is_told() {
        for (given, queue) in [("root.a.x", "root.a.x"), ("x", "root.a.x"), ("root.a.x", "x"), ("x", "x")] {
            assert!(means(given, queue) && Known::of(["other", queue]).has(given), "{given} {queue}");
        }
        for (given, queue) in [("root", "root.x"), ("root.b.x", "root.a.x"), ("a.x", "root.a.x"), ("y", "x"), ("", "x")]
        {
            assert!(!means(given, queue) && !Known::of(["other", queue]).has(given), "{given} {queue}");
        }
    }
}
