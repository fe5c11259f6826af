//! Would mode `act` really act?

use super::{Checks, Verdict, places};
use crate::api::views::Status;
use crate::config::{Config, Loaded, Problem};
use crate::service::holds::{self, HoldsError};
use crate::service::{avoids_nothing, forgets};
use drover_core::model::Mode;

const NAME: &str = "acting";

/// What the configuration alone tells.
pub fn configured(loaded: &Loaded, checks: &mut Checks) {
    let config = &loaded.config;
    // What operators hold is kept in every mode.
    let unkept = config.state.dir.as_deref().and_then(|dir| Some((dir, places::unwritable(dir)?)));
    if let Some((dir, why)) = unkept {
        // The mode at the top alone: names can only be more careful, and by it the service starts or does not.
        let verdict = if config.top.mode == Mode::Act { Verdict::Fail } else { Verdict::Warn };
        checks.add(
            NAME,
            verdict,
            format!("state.dir, {}, cannot be written: {why}", dir.display()),
            Some("name a directory that the service's user may write to: what `drover pause` and `drover stop` hold is not kept otherwise, and in mode act the service does not start. Run this as that user".into()),
        );
    } else if config.top.mode != Mode::Act {
        checks.ok(
            NAME,
            format!(
                "mode is {}: nothing is started; `--set mode=act` tells what would keep it from acting",
                config.top.mode.label()
            ),
        );
    } else if config.top.policy == "none" {
        checks.warn(
            NAME,
            "mode is act, and the policy \"none\" proposes nothing",
            "leave policy unset, or set policy = \"drover\", the default",
        );
    } else if let Some(problem) = forgets(loaded) {
        doubt(NAME, problem, checks);
    } else {
        checks.ok(NAME, "mode is act: copies are started for jobs whose shim can, where nothing below says otherwise");
    }
}

/// Without a service: will the one that starts be able to read what operators hold?
pub fn kept(config: &Config, checks: &mut Checks) {
    let Some(Err(HoldsError { path, why })) = config.state.dir.as_deref().map(holds::kept) else { return };
    let path = path.display();
    if config.top.mode == Mode::Act {
        checks.fail(
            "holds",
            format!(
                "{path}: {why}; in mode act the service does not start, as it could not tell what operators have held"
            ),
            "restore the file, or remove it and hold again what is to be held. Run this as the service's user",
        );
    } else {
        checks.warn(
            "holds",
            format!("{path}: {why}; everything will be held until it is resumed, and in mode act the service would not start"),
            "restore the file before the service starts, or look in it for what is to be held, hold that again, and then `drover resume`. Run this as the service's user",
        );
    }
}

/// Machines are avoided only where some are listed.
pub fn avoiding(loaded: &Loaded, checks: &mut Checks) {
    if let Some(problem) = avoids_nothing(loaded) {
        doubt("machines to avoid", problem, checks);
    }
}

/// Does the running service act, or would it by this configuration?
pub fn acts(config: &Config, status: &Status) -> bool {
    status.mode == "act" || config.top.mode == Mode::Act
}

/// What a service that starts warns of, too.
fn doubt(name: &'static str, problem: Problem, checks: &mut Checks) {
    let fix = problem.fix.clone().unwrap_or_default();
    checks.warn(name, Problem { fix: None, ..problem }.to_string(), fix);
}

/// What keeps a running service from acting, or, where `acts` comes of the configuration that is looked at, would.
pub fn running(acts: bool, status: &Status, checks: &mut Checks) {
    if let Some(epoch) = status.higher_epoch {
        checks.fail(
            "one service only",
            format!("another service, of epoch {epoch}, speaks to this cluster's shims, and this one does not act"),
            "stop one of the two: shims obey the younger. Where there is no other, an earlier start of this one had a clock that was ahead: put it right, set state.dir, by which a start outranks those before it, and start the service after that epoch, which is in Unix milliseconds",
        );
    }
    if !acts {
        return;
    }
    if status.mode != "act" {
        checks.skip(
            "acting now",
            format!("the running service is in mode {}: below stands what would keep it from acting", status.mode),
        );
    }
    for hold in &status.holds {
        checks.warn(
            "holds",
            format!("{} is held by {}: {}", hold.scope, hold.by, hold.reason),
            format!("`{}` once that is over", holds::resume(&hold.scope)),
        );
    }
    for breaker in &status.breakers {
        checks.warn(
            "copies that keep losing",
            format!(
                "{} of the newest {} copies of the policy {} won for {}, whose jobs it only advises on for a while",
                breaker.won, breaker.copies, breaker.policy, breaker.user
            ),
            "see `drover explain` of a few, then choose another policy, or stop and resume the cluster to have it act again at once",
        );
    }
    if status.shims_over_plain_http > 0 {
        checks.warn(
            "shims over plain HTTP",
            format!("{} could start copies, and come over plain HTTP from the network: their jobs are only advised on", status.shims_over_plain_http),
            "lead them through TLS that ends on this machine, or, where the network is trusted, set act.plain_http = true, and drover.act.plain-http=true for the jobs",
        );
    }
    if status.shims_unable > 0 {
        checks.warn(
            "shims that cannot act",
            format!("{} live sessions are of shims that cannot start copies", status.shims_unable),
            "install the shim of this release; its log in the AM's syslog names what it misses in this Hadoop",
        );
    }
    checks.ok(
        "jobs owned",
        format!("{} of {} jobs with a shim; {} hold a lease", status.jobs_owned, status.jobs_with_shim, status.leases),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::HoldView;
    use crate::api::views::BreakerView;
    use crate::config::{Sources, load};
    use crate::service::Process;
    use crate::service::fixture::watched;
    use drover_core::model::{BreakerTurn, Millis, OpenBreaker, Time};

    fn status() -> Status {
        let process = Process { ready: true, ..Process::new(String::new(), Time(0)) };
        Status { mode: "act".into(), ..watched().status(&process, Time(121_000)) }
    }

    fn verdicts(mode: &str, status: &Status) -> Vec<(&'static str, Verdict)> {
        let sources = Sources { file: None, set: vec![format!("mode={mode}")] };
        let config = load(&sources, std::iter::empty()).unwrap().config;
        let mut checks = Checks::default();
        running(acts(&config, status), status, &mut checks);
        checks.0.iter().map(|check| (check.name, check.verdict)).collect()
    }

    #[test]
    fn whatever_keeps_a_service_from_acting_is_named() {
        assert_eq!(verdicts("advise", &status()), [("jobs owned", Verdict::Ok)]);
        let (scope, reason, by) = ("queue:root.etl".into(), "slow disks".into(), "local".into());
        let hold = HoldView { scope, reason, by, since_ms: 0, until_ms: None };
        let told = BreakerTurn { policy: "late".into(), user: "ada".into(), open: true, won: 1, copies: 40 };
        let breaker = BreakerView::of(&OpenBreaker { since: Time(1), told }, Millis(600_000));
        assert_eq!(breaker.until_ms, 600_001);
        let kept = Status {
            breakers: vec![breaker],
            higher_epoch: Some(9),
            holds: vec![hold],
            shims_over_plain_http: 2,
            shims_unable: 1,
            ..status()
        };
        let expected = [
            ("one service only", Verdict::Fail),
            ("holds", Verdict::Warn),
            ("copies that keep losing", Verdict::Warn),
            ("shims over plain HTTP", Verdict::Warn),
            ("shims that cannot act", Verdict::Warn),
            ("jobs owned", Verdict::Ok),
        ];
        assert_eq!(verdicts("advise", &kept), expected);
        let advises = Status { mode: "advise".into(), ..kept };
        assert_eq!(verdicts("advise", &advises), expected[..1]);
        // As `--set mode=act` asks, or a file that the service has not read again yet.
        let mut would = expected.to_vec();
        would.insert(1, ("acting now", Verdict::Skip));
        assert_eq!(verdicts("act", &advises), would);
    }

    #[test]
    fn machines_that_are_to_be_avoided_and_of_which_none_is_listed_are_warned_about() {
        let told = |set: &[&str]| {
            let sources = Sources { file: None, set: set.iter().map(ToString::to_string).collect() };
            let mut checks = Checks::default();
            avoiding(&load(&sources, std::iter::empty()).unwrap(), &mut checks);
            checks.0
        };
        assert!(told(&[]).is_empty() && told(&["act.avoid=true", "blacklist.beside=true"]).is_empty());
        let [check] = told(&["act.avoid=true"]).try_into().unwrap();
        assert_eq!((check.name, check.verdict), ("machines to avoid", Verdict::Warn));
        assert!(check.says.contains("act.avoid: does nothing without blacklist.beside = true"), "{}", check.says);
        assert!(check.fix.unwrap().starts_with("set blacklist.beside = true"));
    }

    #[test]
    fn a_configuration_that_acts_and_forgets_its_holds_is_warned_about() {
        for (set, expected) in [
            (vec!["mode=advise"], Verdict::Ok),
            (vec!["mode=act"], Verdict::Warn),
            (vec!["mode=act", "state.dir=/var/lib/drover"], Verdict::Ok),
            (vec!["mode=act", "state.dir=/var/lib/drover", "policy=none"], Verdict::Warn),
        ] {
            let sources = Sources { file: None, set: set.iter().map(ToString::to_string).collect() };
            let mut checks = Checks::default();
            configured(&load(&sources, std::iter::empty()).unwrap(), &mut checks);
            assert_eq!(checks.0[0].verdict, expected, "{set:?}");
        }
    }

    #[test]
    fn holds_that_the_service_could_not_read_are_told_of_before_it_starts_and_fail_where_it_would_not() {
        let dir = tempfile::tempdir().unwrap();
        let said = |mode: &str| {
            let set = vec![format!("mode={mode}"), format!("state.dir={}", dir.path().display())];
            let mut checks = Checks::default();
            kept(&load(&Sources { file: None, set }, std::iter::empty()).unwrap().config, &mut checks);
            checks.0.into_iter().map(|check| (check.verdict, check.says)).collect::<Vec<_>>()
        };
        assert_eq!(said("act"), [], "none are kept yet");
        std::fs::write(dir.path().join("holds.json"), r#"{"format":9}"#).unwrap();
        for (mode, expected, words) in [
            ("act", Verdict::Fail, "does not start"),
            ("advise", Verdict::Warn, "everything will be held until it is resumed"),
            ("off", Verdict::Warn, "everything will be held until it is resumed"),
        ] {
            let [(verdict, says)] = said(mode).try_into().unwrap();
            assert_eq!(verdict, expected, "{mode}");
            assert!(says.contains("holds.json: has format 9") && says.contains(words), "{says}");
        }
    }

    #[test]
    fn a_directory_in_which_holds_could_not_be_kept_is_warned_about_and_fails_where_serve_would_not_start_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (mode, expected) in [("off", Verdict::Warn), ("advise", Verdict::Warn), ("act", Verdict::Fail)] {
            let set = vec![format!("mode={mode}"), format!("state.dir={}", file.join("dir").display())];
            let mut checks = Checks::default();
            configured(&load(&Sources { file: None, set }, std::iter::empty()).unwrap(), &mut checks);
            let all: Vec<_> = checks.0.iter().map(|check| (check.verdict, check.says.contains("state.dir"))).collect();
            assert_eq!(all, [(expected, true)], "{mode}");
        }
    }
}
