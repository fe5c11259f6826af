//! The service, if one runs.

use super::cluster::{SKEW_MS, clock_says};
use super::site::SHIM;
use super::{Checks, acting, ledger, places};
use crate::api::views::Status;
use crate::cli::client::{Client, NoAnswer};
use crate::cli::output::Failure;
use crate::config::Config;
use crate::telemetry::{self, BUILD, REVISION, VERSION};
use crate::words;
use crate::yarn::site::Site;

/// Checks the service; comes back when one answers.
pub async fn check(config: &Config, site: Option<&Site>, checks: &mut Checks) -> Result<Option<Client>, Failure> {
    let client = Client::of(config)?;
    let status = match client.get::<Status>("api/v1/status").await {
        Ok(status) => status,
        Err(NoAnswer::NobodyThere { .. }) => {
            checks.skip("service", format!("none answers at {}; start one with `drover serve`", client.base()));
            acting::kept(config, checks);
            places::recording(config, checks);
            ledger::file(config, checks);
            return Ok(None);
        }
        Err(NoAnswer::Other(failure)) => {
            checks.fail(
                "service",
                failure.message,
                "look at the log of the service, or of whatever else has that port (listen.api)",
            );
            return Ok(None);
        }
    };
    let says = format!(
        "version {} at {}, mode {}, policy {}; {}, {}, {} so far",
        telemetry::build(&status.version, status.revision.as_deref()),
        client.base(),
        status.mode,
        status.policy,
        words::count(status.jobs, "job", "jobs"),
        words::count(status.running_tasks(), "running task", "running tasks"),
        words::count(status.decisions, "decision", "decisions")
    );
    if is_other(&status.version, status.revision.as_deref()) {
        checks.warn(
            "service",
            format!("{says}; this command is version {}", *BUILD),
            "restart the service with the installed version, once `drover config check` takes its configuration",
        );
    } else if status.ready {
        checks.ok("service", says);
    } else {
        checks.warn(
            "service",
            format!("{says}; it has not read the cluster completely yet"),
            "wait some seconds; if it stays so, see its log and /readyz",
        );
    }
    configuration(&status, checks);
    clock(status.now_ms, crate::clock::now().0, checks);
    if let Some(why) = &status.holds_unkept {
        checks.warn(
            "holds",
            format!("what is held now would not be after a restart, as it cannot be written: {why}"),
            "make room or mend the directory (state.dir); the service tries again each half minute. Until then do not restart it without holding anew",
        );
    }
    shims(acting::acts(config, &status), &status, site, checks);
    ledger::running(&status.ledger, checks);
    Ok(Some(client))
}

/// What came of reading it again, where that is not what somebody wanted.
fn configuration(status: &Status, checks: &mut Checks) {
    if let Some(why) = &status.config.refused {
        checks.warn(
            "configuration read again",
            format!("the service has not taken it: {why}"),
            "correct it, try it with `drover config check`, and send SIGHUP again; until then the service goes on with what it had",
        );
    }
    if let Some(which) = status.config.waiting(usize::MAX) {
        checks.warn(
            "settings that wait",
            format!("when it was last read again, what these held was not what the service goes by: {which}"),
            "start the service again; jobs run on meanwhile",
        );
    }
}

/// A service takes the time of day once, as it starts.
fn clock(theirs: u64, ours: u64, checks: &mut Checks) {
    if theirs.abs_diff(ours) > SKEW_MS {
        checks.warn(
            "the service's clock",
            format!("{}: one of the two was wrong when the service took it, or is now", clock_says("the service", theirs, ours)),
            "put the clocks right and start the service again: holds end, and the ledger's rows are dated, by the time that it took as it started",
        );
    }
}

/// Is that another build than this one? One that was not told its revision may be any of its version.
fn is_other(version: &str, revision: Option<&str>) -> bool {
    version != VERSION || revision.zip(REVISION).is_some_and(|(other, own)| other != own)
}

fn shims(acts: bool, status: &Status, site: Option<&Site>, checks: &mut Checks) {
    let loads = site.and_then(|site| site.get("yarn.app.mapreduce.am.job.speculator.class").ok().flatten());
    let expected = loads.is_some_and(|class| class.value == SHIM);
    match (status.jobs, status.jobs_with_shim) {
        (0, _) => checks.skip("shims speaking", "no job runs"),
        (jobs, 0) if expected => checks.warn(
            "shims speaking",
            format!("none of {jobs} jobs speaks through a shim, though every job should load it"),
            "see that drover.service.urls names this service and that listen.shim can be reached from the nodes; the AM's syslog names the shim's trouble",
        ),
        (jobs, 0) if acts => checks.warn(
            "shims speaking",
            format!("none of {jobs} jobs speaks through a shim, and acting needs the shim: they are only advised on"),
            "have the jobs load the shim (docs/install.md tells how; docs/shim.md what it does there)",
        ),
        (jobs, with) => checks.ok("shims speaking", format!("{with} of {jobs} jobs")),
    }
    let others: Vec<String> =
        status.other_shims().map(|(version, count)| format!("{count} of version {version}")).collect();
    if !others.is_empty() {
        checks.warn(
            "versions of shims",
            format!("the service is of version {}, and of the shims that speak {}", status.version, others.join(", ")),
            "nothing, while a new version is rolled out: a job keeps the jar that it began with, and both understand each other. Else bring the jar of the service's version to every node",
        );
    }
    acting::running(acts, status, checks);
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::api::views::ConfigView;
    use crate::service::Process;
    use crate::service::fixture::watched;
    use drover_core::model::Time;

    #[test]
    fn a_configuration_that_was_read_again_is_warned_of_where_it_was_refused_or_waits_for_a_restart() {
        let process = Process { ready: true, ..Process::new(String::new(), Time(0)) };
        let watched = watched().status(&process, Time(121_000));
        let warned = |config| {
            let mut checks = Checks::default();
            configuration(&Status { config, ..watched.clone() }, &mut checks);
            checks.0.into_iter().map(|check| (check.verdict, check.says)).collect::<Vec<_>>()
        };
        let read = ConfigView { read_ms: Some(1), ..ConfigView::default() };
        assert_eq!(warned(read.clone()), []);
        let refused = ConfigView { refused: Some("mode: no mode".into()), ..read.clone() };
        assert_eq!(warned(refused), [(Verdict::Warn, "the service has not taken it: mode: no mode".to_owned())]);
        let waits = ConfigView { wait_for_restart: vec!["rest.user".into(), "listen.api".into()], ..read };
        let says =
            "when it was last read again, what these held was not what the service goes by: rest.user, listen.api";
        assert_eq!(warned(waits), [(Verdict::Warn, says.to_owned())]);
    }

    #[test]
    fn a_service_that_took_another_time_of_day_than_this_machine_has_is_warned_of() {
        let said = |theirs, ours| {
            let mut checks = Checks::default();
            clock(theirs, ours, &mut checks);
            checks.0.pop().map(|check| check.says)
        };
        assert_eq!([said(7_205_000, 7_200_000), said(7_195_000, 7_200_000)], [None, None]);
        let says = said(0, 7_200_000).unwrap();
        assert!(says.starts_with("the service's clock is 7200.0 s behind this machine's: "), "{says}");
    }

    #[test]
    fn shims_of_other_versions_are_told_and_of_the_services_own_are_not() {
        let process = Process { ready: true, ..Process::new(String::new(), Time(0)) };
        let watched = watched().status(&process, Time(121_000));
        for (versions, expected) in [
            (vec![], None),
            (vec![(VERSION, 7)], None),
            (vec![(VERSION, 7), ("9.0.0", 2), ("other", 1)], Some("2 of version 9.0.0, 1 of version other")),
        ] {
            let shim_versions = versions.into_iter().map(|(version, count)| (version.to_owned(), count)).collect();
            let mut checks = Checks::default();
            shims(false, &Status { shim_versions, ..watched.clone() }, None, &mut checks);
            let check = checks.0.iter().find(|check| check.name == "versions of shims");
            assert_eq!(check.map(|check| check.verdict), expected.map(|_| Verdict::Warn));
            assert!(check.is_none_or(|check| check.says.ends_with(expected.unwrap())));
        }
    }

    #[test]
    fn a_service_of_another_revision_is_another_build_where_both_know_theirs() {
        assert!(is_other("0.0.0", REVISION) && !is_other(VERSION, REVISION) && !is_other(VERSION, None));
        assert_eq!(is_other(VERSION, Some("no revision")), REVISION.is_some());
    }

    #[test]
    fn a_service_that_is_to_act_and_hears_no_shim_is_not_taken_for_one_that_acts() {
        let process = Process { ready: true, ..Process::new(String::new(), Time(0)) };
        let watched = watched().status(&process, Time(121_000));
        for (mode, jobs, with, expected) in [
            ("act", 2, 0, Verdict::Warn),
            ("act", 2, 1, Verdict::Ok),
            ("act", 0, 0, Verdict::Skip),
            ("advise", 2, 0, Verdict::Ok),
        ] {
            let status = Status { mode: mode.into(), jobs, jobs_with_shim: with, ..watched.clone() };
            let mut checks = Checks::default();
            shims(mode == "act", &status, None, &mut checks);
            let check = &checks.0[0];
            assert_eq!((check.name, check.verdict), ("shims speaking", expected), "{mode} {jobs} {with}");
            assert_eq!(expected == Verdict::Warn, check.says.contains("acting needs the shim"), "{}", check.says);
        }
    }
}
