//! Which runs are runs of the same job.

use super::job::Job;
use serde::{Deserialize, Serialize};

/// Longest name that is kept, characters.
const NAME_MAX: usize = 128;

/// What runs of the same job have in common: their user, and their name but for its numbers, which count runs or days.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobKind {
    /// Their owner: what a user's jobs show speaks for that user's jobs alone.
    pub user: String,
    /// Their name, each run of digits a `#`, at most 128 characters.
    pub name: String,
}

impl JobKind {
    /// The kind of a job; `None` while its name or its owner is not known.
    pub fn of(job: &Job) -> Option<JobKind> {
        let mut name = String::new();
        for c in job.name.chars().take(NAME_MAX) {
            match c.is_ascii_digit() {
                true if name.ends_with('#') => {}
                true => name.push('#'),
                false => name.push(c),
            }
        }
        (!name.is_empty() && !job.user.is_empty()).then(|| JobKind { user: job.user.clone(), name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, user: &str) -> Option<String> {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        (job.name, job.user) = (name.into(), user.into());
        JobKind::of(&job).map(|kind| kind.name)
    }

    #[test]
    fn runs_of_a_job_that_are_numbered_or_dated_are_of_one_kind() {
        assert_eq!(name("etl-2026-11-09 run 7", "a").unwrap(), "etl-#-#-# run #");
        assert_eq!(name("etl-2026-11-22 run 12", "a"), name("etl-2026-11-09 run 7", "a"));
    }

    #[test]
    fn a_job_without_name_or_owner_is_of_no_kind_and_a_long_name_is_cut() {
        assert_eq!((name("", "a"), name("etl", "")), (None, None));
        assert_eq!(name(&"ä".repeat(5_000), "a").unwrap().chars().count(), 128);
    }
}
