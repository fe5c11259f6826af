//! What a canary's run comes to, and what to change.

use crate::cli::doctor::{Check, Verdict};
use crate::words;
use drover_core::model::JobId;

/// Who says that the job's shim must be heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Nobody,
    Site,
    Asked,
}

/// What was seen of the job.
#[derive(Default)]
pub struct Sight {
    pub job: Option<JobId>,
    pub tasks: usize,
    /// Whether its speculation is on, for maps or reduces; `None` until its configuration has been read.
    pub speculates: Option<bool>,
    pub shim: bool,
    pub trouble: Option<String>,
}

/// What the run comes to.
pub fn judged(line: &str, ended: Result<(), String>, sight: &Sight, expected: Expected, service: bool) -> Check {
    let check = |verdict, says: String, fix: Option<String>| Check { name: "canary", verdict, says, fix };
    if let Err(why) = ended {
        let fix = match expected {
            Expected::Asked => format!(
                "see that the shim's jar is on every node: a class that cannot be loaded ends the ApplicationMaster; {}. Without --canary-shim the same job runs without the shim",
                syslog(sight)
            ),
            _ => format!("run the command by hand; if it fails only with the shim, {}", syslog(sight)),
        };
        return check(Verdict::Fail, format!("`{line}`: {why}"), Some(fix));
    }
    let Some(job) = sight.job else {
        return check(
            Verdict::Fail,
            format!("`{line}` succeeded, and no new MapReduce application was seen"),
            Some("see that it runs on this cluster and not in-process (mapreduce.framework.name=yarn)".to_owned()),
        );
    };
    if let (0, Some(trouble)) = (sight.tasks, &sight.trouble) {
        let says = format!("{job} succeeded, and its tasks could not be read: {trouble}");
        return check(Verdict::Fail, says, Some("see the checks of the proxy above".to_owned()));
    }
    let seen = match sight.tasks {
        0 => format!("{job} succeeded too soon to be watched"),
        tasks => format!("{job} succeeded, {} seen", words::count(tasks, "task", "tasks")),
    };
    let (verdict, heard, fix) = heard(sight, expected, service);
    if (sight.tasks, verdict) == (0, Verdict::Ok) {
        return check(Verdict::Warn, seen, Some("name a longer job with --canary-command".to_owned()));
    }
    check(verdict, format!("{seen}; {heard}"), fix)
}

/// Whether the shim was heard as it should be, and what to change if not.
fn heard(sight: &Sight, expected: Expected, service: bool) -> (Verdict, &'static str, Option<String>) {
    let verdict = if expected == Expected::Asked { Verdict::Fail } else { Verdict::Warn };
    match (expected, service) {
        (Expected::Asked, _) if sight.shim => {
            (Verdict::Ok, "its shim spoke to the service, so the jar is on the node of its ApplicationMaster", None)
        }
        _ if sight.shim => (Verdict::Ok, "its shim spoke to the service", None),
        (Expected::Nobody, _) => (Verdict::Ok, "watched over REST", None),
        (Expected::Asked, false) => (
            Verdict::Fail,
            "whether its shim speaks cannot be told: no service answers here",
            Some("start the service with `drover serve`, or name it with --set listen.api=HOST:PORT or --config FILE".to_owned()),
        ),
        (Expected::Site, false) => (Verdict::Ok, "watched over REST; no service answers that could hear its shim", None),
        (_, true) if sight.speculates == Some(false) => (
            verdict,
            "it ran with speculation off, and an ApplicationMaster loads no shim then",
            Some(
                "run a job with speculation on, as the built-in one is unless a site file makes mapreduce.map.speculative=false final"
                    .to_owned(),
            ),
        ),
        (_, true) => (
            verdict,
            "its shim should have spoken, and the service saw no session of it",
            Some(format!(
                "see that the shim's jar is on every node, that drover.service.urls names this service's listen.shim by an address that the nodes reach, \
                 and that drover.mode is not off; {}",
                syslog(sight)
            )),
        ),
    }
}

/// Where the shim tells its trouble.
fn syslog(sight: &Sight) -> String {
    let which = sight.job.map_or_else(|| "ID".to_owned(), |job| job.0.to_string());
    format!("the AM's syslog tells more (yarn logs -applicationId {which})")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that went well, with two tasks seen.
    fn sight() -> Sight {
        Sight { job: "job_1_0001".parse().ok(), tasks: 2, speculates: Some(true), ..Sight::default() }
    }

    fn judge(sight: &Sight, expected: Expected, service: bool) -> (Verdict, String) {
        let check = judged("run", Ok(()), sight, expected, service);
        assert_eq!(check.fix.is_some(), check.verdict != Verdict::Ok, "{check:?}");
        (check.verdict, check.says + " " + &check.fix.unwrap_or_default())
    }

    #[test]
    fn a_shim_that_is_heard_is_well_whoever_expects_it() {
        let sight = Sight { shim: true, ..sight() };
        for expected in [Expected::Nobody, Expected::Site, Expected::Asked] {
            let (verdict, says) = judge(&sight, expected, true);
            assert_eq!(verdict, Verdict::Ok);
            assert!(says.contains("2 tasks seen; its shim spoke to the service"), "{says}");
        }
    }

    #[test]
    fn silence_is_well_only_where_nobody_expects_the_shim_or_nobody_could_hear_it() {
        assert_eq!(judge(&sight(), Expected::Nobody, true).0, Verdict::Ok);
        assert_eq!(judge(&sight(), Expected::Nobody, false).0, Verdict::Ok);
        let (verdict, says) = judge(&sight(), Expected::Site, false);
        assert_eq!(verdict, Verdict::Ok);
        assert!(says.contains("no service answers"), "{says}");
        for (expected, wanted) in [(Expected::Site, Verdict::Warn), (Expected::Asked, Verdict::Fail)] {
            let (verdict, says) = judge(&sight(), expected, true);
            assert_eq!(verdict, wanted);
            for word in ["no session", "jar is on every node", "drover.service.urls", "syslog", "application_1_0001"] {
                assert!(says.contains(word), "{word}: {says}");
            }
        }
    }

    #[test]
    fn a_shim_asked_for_that_nobody_could_hear_cannot_be_told() {
        let (verdict, says) = judge(&sight(), Expected::Asked, false);
        assert_eq!(verdict, Verdict::Fail);
        assert!(
            says.contains("cannot be told") && says.contains("drover serve") && says.contains("listen.api"),
            "{says}"
        );
    }

    #[test]
    fn a_job_without_speculation_is_not_blamed_on_the_jar() {
        let sight = Sight { speculates: Some(false), ..sight() };
        for (expected, wanted) in [(Expected::Site, Verdict::Warn), (Expected::Asked, Verdict::Fail)] {
            let (verdict, says) = judge(&sight, expected, true);
            assert_eq!(verdict, wanted);
            assert!(says.contains("speculation off") && !says.contains("jar"), "{says}");
        }
        assert_eq!(judge(&sight, Expected::Nobody, true).0, Verdict::Ok);
    }

    #[test]
    fn a_job_that_was_not_seen_proves_nothing() {
        let unseen = |expected| judge(&Sight { tasks: 0, ..sight() }, expected, true);
        assert_eq!(unseen(Expected::Nobody).0, Verdict::Warn);
        assert_eq!(unseen(Expected::Asked).0, Verdict::Fail);
        let hidden = Sight { tasks: 0, trouble: Some("403".into()), ..sight() };
        assert_eq!(judge(&hidden, Expected::Nobody, true).0, Verdict::Fail);
        assert_eq!(judge(&Sight::default(), Expected::Asked, true).0, Verdict::Fail);
    }

    #[test]
    fn a_job_that_fails_with_the_shim_points_at_its_jar() {
        let failed = |expected| judged("run", Err("status 1".into()), &sight(), expected, true);
        let asked = failed(Expected::Asked);
        assert_eq!((asked.verdict, asked.says.as_str()), (Verdict::Fail, "`run`: status 1"));
        assert!(asked.fix.unwrap().contains("jar is on every node"));
        assert!(failed(Expected::Nobody).fix.unwrap().contains("by hand"));
    }
}
