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
    /// The kind of a job; `None` while its name or its owner is not known, and where its name is a jar's: so Hadoop calls a job that was given none (`JobResourceUploader`), and Hadoop
    /// Streaming each of its own (`streamjob1234.jar`), whatever they do.
    pub fn of(job: &Job) -> Option<JobKind> {
        let kept: Vec<char> = job.name.chars().take(NAME_MAX).collect();
        let mut name = String::new();
        for (place, letter) in kept.iter().enumerate() {
            match letter.is_ascii_digit() && !counts_steps(&kept, place) {
                true if name.ends_with('#') => {}
                true => name.push('#'),
                false => name.push(*letter),
            }
        }
        let speaks = !name.is_empty() && !job.name.ends_with(".jar") && !job.user.is_empty();
        speaks.then(|| JobKind { user: job.user.clone(), name })
    }
}

/// Is that digit one of a step's number, as in `(Stage-2)` of a query, or `(2/5)` of a flow? Steps of one run are jobs that have nothing in common.
fn counts_steps(name: &[char], place: usize) -> bool {
    const STAGE: [char; 6] = ['S', 't', 'a', 'g', 'e', '-'];
    let inside = |letter: &&char| letter.is_ascii_digit() || **letter == '/';
    let before = &name[..place - name[..place].iter().rev().take_while(inside).count()];
    let after = name[place..].iter().find(|letter| !inside(letter));
    after == Some(&')') && (before.ends_with(&['(']) || before.ends_with(&STAGE))
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
    fn steps_of_one_run_are_of_kinds_of_their_own() {
        assert_eq!(name("select a from b limit 10 (Stage-12)", "a").unwrap(), "select a from b limit # (Stage-12)");
        assert_ne!(name("q7 (Stage-1)", "a"), name("q7 (Stage-2)", "a"));
        assert_eq!(name("flow 8 (2/5)", "a").unwrap(), "flow # (2/5)");
        assert_eq!(name("etl (run 7)", "a").unwrap(), "etl (run #)");
        assert_eq!(
            ["(", "(7", "7)", "()", "Stage-7"].map(|odd| name(odd, "a").unwrap()),
            ["(", "(#", "#)", "()", "Stage-#"]
        );
    }

    #[test]
    fn jobs_that_were_given_no_name_are_of_no_kind_though_all_are_called_by_their_jar() {
        assert_eq!([name("streamjob8483214.jar", "a"), name("tools-1.2.jar", "a")], [None, None]);
    }

    #[test]
    fn a_job_without_name_or_owner_is_of_no_kind_and_a_long_name_is_cut() {
        assert_eq!((name("", "a"), name("etl", "")), (None, None));
        assert_eq!(name(&"ä".repeat(5_000), "a").unwrap().chars().count(), 128);
    }
}
