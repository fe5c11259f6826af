//! `drover doctor`: is everything as it must be, and if not, what is to change?

mod acting;
mod canary;
mod classpath;
mod cluster;
mod example;
mod hidden;
mod ledger;
mod partitions;
mod places;
mod property;
mod queues;
mod service;
mod site;

use super::Common;
use super::output::{self, Exit, Failure};
use crate::config::{ConfigError, Loaded, Origin, Problem};
use crate::service::{checked_again, world};
use crate::telemetry::BUILD;
use crate::yarn;
use crate::yarn::poll::Clients;
use clap::Args;
use comfy_table::ContentArrangement;
use serde::Serialize;
use serde_json::json;
use std::io::{IsTerminal, Write};
use terminal_size::{Width, terminal_size};
use url::Url;

const EXAMPLES: &str = "\
Checks the configuration, the way to the cluster, permissions, clocks, reporting intervals, the shim's set-up, and the service if one runs. \
Ends with exit code 4 when a check fails; warnings alone do not.

Examples:
  drover doctor
  drover doctor --set mode=act    # what would keep a service from acting
  drover doctor --json | jq '.checks[] | select(.verdict != \"ok\")'
  drover doctor --canary
  drover doctor --canary --canary-shim http://drover-host:7071
  drover doctor --canary --canary-command 'hadoop jar /srv/jobs.jar canary'

The canary's job is known by what its command prints, Hadoop's client log. A command that has not ended after five minutes is \
stopped with its process group, and so it is by Ctrl-C; what it has submitted to the cluster is not. Doctor then says what may be left there, and how to end it.";

/// `drover doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also run a small job through the cluster and watch it
    #[arg(long)]
    canary: bool,
    /// The command that runs the small job to its end and prints Hadoop's client log; it cannot ask for a password [default: the `teragen` example of the Hadoop in HADOOP_HOME or PATH]
    #[arg(long, requires = "canary", value_name = "COMMAND")]
    canary_command: Option<String>,
    /// Have the small job load the shim and report to the service at this address, as its node reaches it; fail unless it is heard. A command of your own names class and address itself
    #[arg(long, requires = "canary", value_name = "URL", value_parser = shim_url)]
    canary_shim: Option<Url>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    /// Could not be checked, and why.
    Skip,
    Warn,
    Fail,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    verdict: Verdict,
    says: String,
    /// What to change.
    fix: Option<String>,
}

/// All checks so far.
#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, name: &'static str, verdict: Verdict, says: impl Into<String>, fix: Option<String>) {
        self.0.push(Check { name, verdict, says: says.into(), fix });
    }

    fn ok(&mut self, name: &'static str, says: impl Into<String>) {
        self.add(name, Verdict::Ok, says, None);
    }

    fn skip(&mut self, name: &'static str, says: impl Into<String>) {
        self.add(name, Verdict::Skip, says, None);
    }

    fn warn(&mut self, name: &'static str, says: impl Into<String>, fix: impl Into<String>) {
        self.add(name, Verdict::Warn, says, Some(fix.into()));
    }

    fn fail(&mut self, name: &'static str, says: impl Into<String>, fix: impl Into<String>) {
        self.add(name, Verdict::Fail, says, Some(fix.into()));
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.0.iter().filter(|check| check.verdict == verdict).count()
    }
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let mut checks = Checks::default();
        checks.ok("version", format!("Drover {}", *BUILD));
        let mut interrupted = false;
        match common.load() {
            Ok(loaded) => interrupted = self.examine(&loaded, &mut checks).await?,
            Err(failure) => checks.fail(
                "configuration",
                failure.message,
                "correct what is named; `drover config docs` tells what is allowed",
            ),
        }
        if self.json {
            let verdict = checks.0.iter().map(|check| check.verdict).max();
            output::json(&json!({"verdict": verdict, "checks": checks.0}))?;
        } else {
            output::say(&table(&checks))?;
        }
        if interrupted {
            return Err(Failure::new(Exit::Interrupted, "interrupted"));
        }
        match checks.count(Verdict::Fail) {
            0 => Ok(()),
            1 => Err(Failure::new(Exit::Check, "one check failed")),
            many => Err(Failure::new(Exit::Check, format!("{many} checks failed"))),
        }
    }

    /// Makes all checks. Was the last, the canary, interrupted?
    async fn examine(&self, loaded: &Loaded, checks: &mut Checks) -> Result<bool, Failure> {
        let mut interrupted = false;
        configuration(loaded, checks);
        let config = &loaded.config;
        acting::configured(loaded, checks);
        acting::avoiding(loaded, checks);
        let site = site::check(config, &|name| std::env::var(name).ok(), checks);
        let speaks = service::check(config, site.as_ref(), checks).await?;
        let rest = yarn::metrics::Metrics::unregistered().map_err(|e| Failure::new(Exit::Failed, e.to_string()))?;
        let located = world::cluster(config, site.as_ref()).and_then(|found| {
            let clients = Clients::new(&found, world::http(config), rest)?;
            Ok((found, clients))
        });
        match located {
            Ok((found, clients)) => {
                progress("asking the cluster");
                let reachable = cluster::check(&found, &clients, checks).await;
                if reachable {
                    hidden::check(&clients, checks).await;
                    partitions::check(&clients, checks).await;
                    queues::check(loaded, &clients, speaks.as_ref(), checks).await;
                }
                if self.canary && reachable {
                    let order = canary::Order {
                        command: self.canary_command.as_deref(),
                        shim: self.canary_shim.as_ref(),
                        by_site: site.as_ref().is_some_and(site::expects_shim),
                    };
                    interrupted = canary::check(&order, &clients, speaks.as_ref(), checks).await?;
                } else if self.canary {
                    checks.skip("canary", "not run: the ResourceManager does not answer");
                }
            }
            Err(error) => checks.fail(
                "resource manager",
                error.to_string(),
                "name the cluster's configuration or its ResourceManager",
            ),
        }
        progress("");
        Ok(interrupted)
    }
}

/// An address that the shim takes, too.
fn shim_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let plain = url.username().is_empty() && url.password().is_none() && !text.contains(',');
    if matches!(url.scheme(), "http" | "https") && url.has_host() && plain {
        return Ok(url);
    }
    Err("expected one http(s)://host:port, without a user".to_owned())
}

fn configuration(loaded: &Loaded, checks: &mut Checks) {
    let set: Vec<String> = loaded
        .entries
        .iter()
        .filter(|(_, entry)| entry.origin != Origin::Default)
        .map(|(key, entry)| format!("{key} = {} ({})", entry.value, entry.origin))
        .collect();
    let file = loaded.file.as_ref().map_or_else(|| "no file".to_owned(), |path| path.display().to_string());
    let set = if set.is_empty() { "all settings at their defaults".to_owned() } else { set.join("; ") };
    // What is said of where the cluster is has checks of its own.
    match checked_again(loaded.clone()) {
        Ok(_) => checks.ok("configuration", format!("{file}; {set}")),
        Err(ConfigError(faults)) => {
            for fault in faults {
                let fix = fault.fix.clone().unwrap_or_default();
                checks.fail("configuration", Problem { fix: None, ..fault }.to_string(), fix);
            }
        }
    }
    for warning in &loaded.warnings {
        checks.warn(
            "configuration",
            warning.to_string(),
            "correct its name, or unset it if it is not meant for Drover",
        );
    }
}

/// Shows on a terminal what is being done; empty text clears it.
fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        let dots = if what.is_empty() { "" } else { " …" };
        let _ = write!(std::io::stderr(), "\r{:60}\r{what}{dots}", "");
    }
}

fn table(checks: &Checks) -> String {
    let mut table = output::table(&["", "check", ""]);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    let terminal = terminal_size().filter(|_| std::io::stdout().is_terminal());
    table.set_width(terminal.map_or(120, |(Width(columns), _)| columns.max(40)));
    for check in &checks.0 {
        let word = match check.verdict {
            Verdict::Ok => "ok",
            Verdict::Skip => "skip",
            Verdict::Warn => "WARN",
            Verdict::Fail => "FAIL",
        };
        let says = match &check.fix {
            Some(fix) => format!("{}\n→ {fix}", check.says),
            None => check.says.clone(),
        };
        table.add_row([word, check.name, &says]);
    }
    let [ok, skip, warn, fail] = [Verdict::Ok, Verdict::Skip, Verdict::Warn, Verdict::Fail].map(|v| checks.count(v));
    format!("{table}\n\n{ok} ok, {warn} to look at, {fail} failed, {skip} not checked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, load_named};
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        command: Command,
    }

    #[test]
    fn what_serve_would_refuse_is_a_failed_check_with_what_to_change() {
        let set = |set: &[&str]| {
            let set = set.iter().map(ToString::to_string).collect();
            let mut checks = Checks::default();
            configuration(&load_named(&Sources { file: None, set }).unwrap(), &mut checks);
            checks.0
        };
        assert_eq!(set(&["log.level=warn"])[0].verdict, Verdict::Ok);
        let told = set(&["log.level=loud", "listen.api=127.0.0.1:7071"]);
        assert!(told.iter().all(|check| check.verdict == Verdict::Fail), "{told:?}");
        assert_eq!(told.len(), 2);
        assert!(told[0].says.starts_with("--set: log.level: \"loud\" is no log level"), "{told:?}");
        assert_eq!(told[1].says, "--set: listen.api: 127.0.0.1:7071 is taken by listen.shim already");
        assert_eq!(told[1].fix.as_deref(), Some("choose another port (0 takes a free one)"));
    }

    fn parsed(arguments: &[&str]) -> Result<Command, clap::Error> {
        Line::try_parse_from([&["doctor"], arguments].concat()).map(|line| line.command)
    }

    #[test]
    fn the_canarys_shim_needs_a_canary_whoevers_and_an_address_that_shims_take() {
        let command = parsed(&["--canary", "--canary-shim", "http://a:7071"]).unwrap();
        assert_eq!(command.canary_shim.unwrap().as_str(), "http://a:7071/");
        let own = ["--canary", "--canary-shim", "http://a:7071", "--canary-command", "true"];
        assert_eq!(parsed(&own).unwrap().canary_command.as_deref(), Some("true"));
        let wrong: [&[&str]; 4] = [
            &["--canary-shim", "http://a:7071"],
            &["--canary", "--canary-shim", "a:7071"],
            &["--canary", "--canary-shim", "http://me@a:7071"],
            &["--canary", "--canary-shim", "http://a:7071,http://b:7071"],
        ];
        for arguments in wrong {
            parsed(arguments).unwrap_err();
        }
    }
}
