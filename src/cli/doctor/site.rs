//! The cluster's client configuration, as it stands on this machine.

use super::Checks;
use super::classpath::{self, Env, Search};
use super::property::property;
use crate::config::Config;
use crate::service::world;
use crate::words;
use crate::yarn::site::Site;
use drover_core::model::Millis;

/// Hadoop's default: 1 % of a task timeout of ten minutes.
const DEFAULT_TIMEOUT_MS: u64 = 600_000;
/// Above this a straggler shows late.
const SLOW_REPORTS: Millis = Millis(3_000);
/// The shim's class.
pub const SHIM: &str = crate::shim::CLASS;

/// Checks the site files, with `env` for the variables in them; they come back for the checks that follow.
pub fn check(config: &Config, env: Env, checks: &mut Checks) -> Option<Site> {
    let site = match world::site(config) {
        Ok(Some(site)) => site,
        Ok(None) => {
            checks.skip(
                "hadoop configuration",
                "no cluster.conf_dir and no HADOOP_CONF_DIR: the site files are not looked at",
            );
            return None;
        }
        Err(error) => {
            checks.fail(
                "hadoop configuration",
                error.to_string(),
                "point HADOOP_CONF_DIR or cluster.conf_dir at the directory with yarn-site.xml",
            );
            return None;
        }
    };
    let files: Vec<String> = site.files().iter().map(|file| file.display().to_string()).collect();
    checks.ok("hadoop configuration", files.join(", "));
    reporting(&site, checks);
    speculation(&site, checks);
    shim(&site, config, env, checks);
    Some(site)
}

fn reporting(site: &Site, checks: &mut Checks) {
    let number = |key| property(site, key).and_then(|(value, place)| Some((value.parse::<u64>().ok()?, place)));
    let (interval, place) = match number("mapreduce.task.progress-report.interval") {
        Some((ms, place)) => (Millis(ms), place),
        None => match number("mapreduce.task.timeout") {
            Some((ms, place)) => (Millis(ms / 100), format!("1 % of mapreduce.task.timeout, {place}")),
            None => (Millis(DEFAULT_TIMEOUT_MS / 100), "Hadoop's default".to_owned()),
        },
    };
    let says = format!("tasks report their progress at most every {} ({place})", words::span(interval));
    let advice = "set mapreduce.task.progress-report.interval to 1000 (milliseconds) in mapred-site.xml or with -D for single jobs: \
                  a straggler shows only in its reports, the first of which comes after up to two intervals";
    match interval {
        Millis(0) => {
            checks.warn("reporting interval", "tasks never report of themselves (mapreduce.task.timeout is 0)", advice)
        }
        interval if interval > SLOW_REPORTS => checks.warn("reporting interval", says, advice),
        _ => checks.ok("reporting interval", says),
    }
}

fn speculation(site: &Site, checks: &mut Checks) {
    let off: Vec<&str> = ["mapreduce.map.speculative", "mapreduce.reduce.speculative"]
        .into_iter()
        .filter(|key| property(site, key).is_some_and(|(value, _)| value.eq_ignore_ascii_case("false")))
        .collect();
    if off.is_empty() {
        checks.ok("speculation", "on by default for maps and reduces");
    } else {
        let fix = "leave it so if tasks have effects that must not happen twice; else set it to true, cluster-wide or for single jobs";
        checks.warn("speculation", format!("{} off: such tasks are never advised on", off.join(" and ")), fix);
    }
}

/// Does every job load the shim, by these files, and does it then speak?
pub fn expects_shim(site: &Site) -> bool {
    let is = |key, wanted: fn(&str) -> bool| property(site, key).is_some_and(|(value, _)| wanted(&value));
    is("yarn.app.mapreduce.am.job.speculator.class", |class| class == SHIM)
        && is("drover.service.urls", |_| true)
        && !is("drover.mode", |mode| mode.eq_ignore_ascii_case("off"))
}

fn shim(site: &Site, config: &Config, env: Env, checks: &mut Checks) {
    match property(site, "yarn.app.mapreduce.am.job.speculator.class") {
        Some((class, place)) if class == SHIM => {
            checks.ok("shim property", format!("every job loads the shim ({place})"));
            jar(classpath::search(site, env), checks);
            urls(site, config, checks);
        }
        Some((class, place)) => {
            checks.warn(
                "shim property",
                format!("jobs load another speculator, {class} ({place})"),
                "to have jobs speak to Drover, put the shim's jar on every node first, then set the property to its class; docs/install.md tells how",
            );
        }
        None => checks.ok(
            "shim property",
            "not set cluster-wide: jobs are watched over REST, but for those that load the shim themselves",
        ),
    }
}

/// Is the jar where this machine's class path would have it? Other nodes can only be told by a canary.
fn jar(search: Search, checks: &mut Checks) {
    match search {
        Search::Found(jar) => checks.ok(
            "shim jar",
            format!("{} on this machine's class path; --canary proves it on the node of its ApplicationMaster", jar.display()),
        ),
        Search::Missing => checks.warn(
            "shim jar",
            "no drover-shim*.jar on the class path of ApplicationMasters, as it is on this machine",
            "make sure that every node has it before any job runs: a class that cannot be loaded ends the ApplicationMaster. Put it into share/hadoop/mapreduce/, \
             or where mapreduce.application.classpath says; --canary proves it",
        ),
        Search::Unknown(variables) => {
            let names: Vec<String> = variables.into_iter().collect();
            checks.skip(
                "shim jar",
                format!(
                    "cannot be told on this machine: the class path of ApplicationMasters needs {}, unknown here; --canary proves it",
                    names.join(", ")
                ),
            );
        }
    }
}

fn urls(site: &Site, config: &Config, checks: &mut Checks) {
    let set = property(site, "drover.service.urls");
    // Through TLS shims reach a proxy, which alone has to reach the listener.
    let over_tls = set.as_ref().is_some_and(|(urls, _)| urls.split(',').all(|url| url.trim().starts_with("https://")));
    match set {
        Some((urls, place)) => {
            checks.ok("shim's service", format!("shims report to {urls} ({place})"));
            in_the_clear(site, &urls, checks);
        }
        None => checks.fail(
            "shim's service",
            "drover.service.urls is not set: shims do not know where to report",
            format!(
                "set it in mapred-site.xml to this service's address, http://THIS-HOST:{}",
                config.listen.shim.port()
            ),
        ),
    }
    if config.listen.shim.ip().is_loopback() && !over_tls {
        checks.warn(
            "shim's service",
            format!("listen.shim is {}: only ApplicationMasters on this machine reach it", config.listen.shim),
            "set listen.shim to an address that the cluster's nodes reach, such as 0.0.0.0:7071",
        );
    }
}

/// A shim takes no order over plain HTTP from the network unless its job insists, whatever the service allows.
fn in_the_clear(site: &Site, urls: &str, checks: &mut Checks) {
    let is = |name: &str, word: &str| property(site, name).is_some_and(|(set, _)| set.eq_ignore_ascii_case(word));
    let is_plain = |url: &&str| {
        let url = url::Url::parse(url).ok().filter(|url| url.scheme() == "http");
        url.is_some_and(|url| !is_loopback(url.host()))
    };
    let plain = urls.split(',').map(str::trim).find(is_plain);
    let cautious = is("drover.mode", "off") || is("drover.mode", "advise");
    if let Some(plain) = plain.filter(|_| !cautious && !is("drover.act.plain-http", "true")) {
        checks.warn(
            "shim's service",
            format!("{plain} is plain HTTP: jobs that report there are only advised on"),
            "where Drover is to act, lead them through TLS, or, where the network is trusted, set drover.act.plain-http to true beside it",
        );
    }
}

fn is_loopback(host: Option<url::Host<&str>>) -> bool {
    match host {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::config::{Sources, load};

    fn xml(properties: &[(&str, &str)]) -> String {
        let all = properties
            .iter()
            .map(|(name, value)| format!("<property><name>{name}</name><value>{value}</value></property>"));
        format!("<configuration>{}</configuration>", all.collect::<String>())
    }

    /// DIR in values stands for a directory with the jar in share/hadoop/mapreduce, `home` below it for HADOOP_HOME.
    fn checked_at(home: Option<&str>, properties: &[(&str, &str)]) -> Vec<(&'static str, Verdict, String)> {
        let dir = tempfile::tempdir().unwrap();
        let text = xml(properties).replace("DIR", &dir.path().display().to_string());
        std::fs::write(dir.path().join("mapred-site.xml"), text).unwrap();
        std::fs::create_dir_all(dir.path().join("share/hadoop/mapreduce")).unwrap();
        std::fs::write(dir.path().join("share/hadoop/mapreduce/drover-shim-1.jar"), "").unwrap();
        let home = home.map(|below| dir.path().join(below).display().to_string());
        let env = |name: &str| home.clone().filter(|_| name == "HADOOP_HOME");
        let set = vec![format!("cluster.conf_dir={}", dir.path().display())];
        let config = load(&Sources { file: None, set }, std::iter::empty()).unwrap().config;
        let mut checks = Checks::default();
        check(&config, &env, &mut checks);
        checks
            .0
            .into_iter()
            .map(|check| (check.name, check.verdict, check.says + " " + &check.fix.unwrap_or_default()))
            .collect()
    }

    fn checked(properties: &[(&str, &str)]) -> Vec<(&'static str, Verdict, String)> {
        checked_at(Some("elsewhere"), properties)
    }

    fn verdict(properties: &[(&str, &str)], name: &str) -> Verdict {
        checked(properties).into_iter().find(|check| check.0 == name).unwrap().1
    }

    #[test]
    fn hadoops_own_reporting_interval_is_warned_about_with_the_property_to_set() {
        let checks = checked(&[]);
        let (_, verdict, says) = checks.iter().find(|check| check.0 == "reporting interval").unwrap();
        assert_eq!(*verdict, Verdict::Warn);
        assert!(
            says.contains("every 6.0 s (Hadoop's default)") && says.contains("mapreduce.task.progress-report.interval")
        );
        assert_eq!(super::tests::verdict(&[("mapreduce.task.timeout", "100000")], "reporting interval"), Verdict::Ok);
        assert_eq!(super::tests::verdict(&[("mapreduce.task.timeout", "0")], "reporting interval"), Verdict::Warn);
    }

    #[test]
    fn a_shim_without_its_jar_or_its_service_is_found_out() {
        const CLASS: (&str, &str) = ("yarn.app.mapreduce.am.job.speculator.class", SHIM);
        assert_eq!(verdict(&[], "shim property"), Verdict::Ok);
        assert_eq!(verdict(&[(CLASS.0, "a.Other")], "shim property"), Verdict::Warn);
        assert_eq!(verdict(&[CLASS], "shim jar"), Verdict::Warn);
        assert_eq!(verdict(&[CLASS], "shim's service"), Verdict::Fail);
        let full = [
            CLASS,
            ("mapreduce.application.classpath", "/nowhere/*, DIR/share/hadoop/mapreduce/*"),
            ("drover.service.urls", "https://a:7443"),
        ];
        assert_eq!(verdict(&full, "shim jar"), Verdict::Ok);
        assert_eq!(verdict(&full, "shim's service"), Verdict::Ok);
        assert_eq!(verdict(&[("mapreduce.map.speculative", "false")], "speculation"), Verdict::Warn);
    }

    #[test]
    fn shims_that_take_no_order_as_they_come_in_the_clear_are_warned_of() {
        let warned = |urls, more: &[(&'static str, &'static str)]| {
            let set = [("yarn.app.mapreduce.am.job.speculator.class", SHIM), ("drover.service.urls", urls)];
            let checks = checked(&[&set[..], more].concat());
            checks.iter().any(|(_, verdict, says)| *verdict == Verdict::Warn && says.contains("only advised on"))
        };
        let all = ["http://a:7071", "https://a:7443", "https://a:7443, http://b:7071", "http://127.0.0.1:7071"];
        assert_eq!(all.map(|urls| warned(urls, &[])), [true, false, true, false]);
        let cautious = [("drover.mode", "advise"), ("drover.act.plain-http", "true"), ("drover.mode", "act")];
        assert_eq!(cautious.map(|set| warned(all[0], &[set])), [false, false, true]);
    }

    #[test]
    fn a_listener_on_loopback_is_warned_of_unless_shims_come_through_tls() {
        let warned = |urls| {
            let set = [("yarn.app.mapreduce.am.job.speculator.class", SHIM), ("drover.service.urls", urls)];
            let is_of_it = |says: &str| says.contains("listen.shim is");
            checked(&set).iter().any(|check| is_of_it(&check.2) && check.1 == Verdict::Warn)
        };
        let all = ["http://a:7071", "https://a:7443", "https://a:7443, https://b:7443", "https://a:7443,http://b:7071"];
        assert_eq!(all.map(warned), [true, false, false, true]);
    }

    #[test]
    fn a_jar_in_hadoops_own_directory_is_found_and_an_unknown_home_is_no_fault() {
        let class = [("yarn.app.mapreduce.am.job.speculator.class", SHIM)];
        let jar = |home| checked_at(home, &class).into_iter().find(|check| check.0 == "shim jar").unwrap();
        assert_eq!(jar(Some("")).1, Verdict::Ok);
        assert_eq!(jar(Some("elsewhere")).1, Verdict::Warn);
        let (_, verdict, says) = jar(None);
        assert_eq!(verdict, Verdict::Skip);
        assert!(says.contains("HADOOP_MAPRED_HOME"), "{says}");
    }

    #[test]
    fn a_shim_is_expected_where_every_job_loads_it_and_lets_it_speak() {
        const CLASS: (&str, &str) = ("yarn.app.mapreduce.am.job.speculator.class", SHIM);
        const URLS: (&str, &str) = ("drover.service.urls", "http://a:7071");
        let expects = |properties: &[(&str, &str)]| {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("mapred-site.xml"), xml(properties)).unwrap();
            expects_shim(&Site::load_with(dir.path(), []).unwrap())
        };
        assert!(expects(&[CLASS, URLS]));
        assert!(!expects(&[CLASS]) && !expects(&[URLS]) && !expects(&[(CLASS.0, "a.Other"), URLS]));
        assert!(!expects(&[CLASS, URLS, ("drover.mode", "OFF")]));
    }

    #[test]
    fn a_directory_that_is_no_configuration_fails() {
        let config =
            load(&Sources { file: None, set: vec!["cluster.conf_dir=/nonexistent".into()] }, std::iter::empty());
        let mut checks = Checks::default();
        assert!(check(&config.unwrap().config, &|_| None, &mut checks).is_none());
        assert_eq!(checks.0[0].verdict, Verdict::Fail);
    }
}
