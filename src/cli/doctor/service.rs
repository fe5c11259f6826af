//! The service, if one runs.

use super::site::SHIM;
use super::{Checks, acting, ledger};
use crate::api::views::Status;
use crate::cli::client::{Client, NoAnswer};
use crate::cli::output::Failure;
use crate::config::Config;
use crate::telemetry::VERSION;
use crate::yarn::site::Site;

/// Checks the service; comes back when one answers.
pub async fn check(config: &Config, site: Option<&Site>, checks: &mut Checks) -> Result<Option<Client>, Failure> {
    let client = Client::of(config)?;
    let status = match client.get::<Status>("api/v1/status").await {
        Ok(status) => status,
        Err(NoAnswer::NobodyThere(_)) => {
            checks.skip("service", format!("none answers at {}; start one with `drover serve`", client.base()));
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
        "version {} at {}, mode {}, policy {}; {} jobs, {} running tasks, {} decisions so far",
        status.version,
        client.base(),
        status.mode,
        status.policy,
        status.jobs,
        status.attempts,
        status.decisions
    );
    if status.version != VERSION {
        checks.warn(
            "service",
            format!("{says}; this command is version {VERSION}"),
            "restart the service with the installed version",
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
    shims(&status, site, checks);
    ledger::running(&status.ledger, checks);
    Ok(Some(client))
}

fn shims(status: &Status, site: Option<&Site>, checks: &mut Checks) {
    let loads = site.and_then(|site| site.get("yarn.app.mapreduce.am.job.speculator.class").ok().flatten());
    let expected = loads.is_some_and(|class| class.value == SHIM);
    match (status.jobs, status.jobs_with_shim) {
        (0, _) => checks.skip("shims speaking", "no job runs"),
        (jobs, 0) if expected => checks.warn(
            "shims speaking",
            format!("none of {jobs} jobs speaks through a shim, though every job should load it"),
            "see that drover.service.urls names this service and that listen.shim can be reached from the nodes; the AM's syslog names the shim's trouble",
        ),
        (jobs, with) => checks.ok("shims speaking", format!("{with} of {jobs} jobs")),
    }
    acting::running(status, checks);
}
