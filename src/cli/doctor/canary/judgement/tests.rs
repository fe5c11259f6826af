use super::*;

/// A job that went well, with two tasks seen.
fn sight() -> Sight {
    Sight { jobs: vec!["job_1_0001".parse().unwrap()], tasks: 2, speculates: Some(true), ..Sight::default() }
}

fn run() -> Run {
    Run { line: "run".into(), out: None }
}

fn judge(sight: &Sight, expected: Expected, service: bool) -> (Verdict, String) {
    let check = judged(&run(), &Ended::Well, sight, expected, service);
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
    assert!(says.contains("cannot be told") && says.contains("drover serve") && says.contains("listen.api"), "{says}");
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
}

#[test]
fn a_command_that_names_no_job_is_told_so_with_what_it_should_print_whoever_was_heard() {
    for expected in [Expected::Nobody, Expected::Site, Expected::Asked] {
        let (verdict, says) = judge(&Sight { shim: true, tasks: 9, ..Sight::default() }, expected, true);
        assert_eq!(verdict, Verdict::Fail);
        for word in ["cannot be told", "none was watched", "Submitted application", "HADOOP_ROOT_LOGGER", "yarn"] {
            assert!(says.contains(word), "{word}: {says}");
        }
    }
}

#[test]
fn a_job_that_fails_with_the_shim_points_at_its_jar() {
    let failed = |expected| judged(&run(), &Ended::Badly("status 1".into()), &sight(), expected, true);
    let asked = failed(Expected::Asked);
    assert_eq!((asked.verdict, asked.says.as_str()), (Verdict::Fail, "`run`: status 1"));
    assert!(asked.fix.unwrap().contains("jar is on every node"));
    assert!(failed(Expected::Nobody).fix.unwrap().contains("by hand"));
}
