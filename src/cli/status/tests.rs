use super::*;
use crate::api::views::{LedgerView, RmView};
use crate::ledger::State;
use crate::ledger::report::{AdviceView, CopiesView, HoldOutView, JobsView};
use crate::service::Process;
use crate::service::fixture::watched;
use drover_core::model::Time;

fn glance_of(change: impl FnOnce(&mut Glance)) -> String {
    let process = Process { ready: true, ..Process::new("ab".into(), Time(1_000)) };
    let mut status = watched().status(&process, Time(121_000));
    status.rm = RmView { answers: true, told_ms: Some(119_800) };
    status.ledger = LedgerView::of(&State::Keeping, Some(Bytes(3 << 20)));
    let service = "http://127.0.0.1:7070/".to_owned();
    let last_hour = Some(LastHour { copies: 3, ..LastHour::default() });
    let mut glance = Glance { service, status, last_hour, last_hour_unknown: None };
    change(&mut glance);
    text(&glance)
}

#[test]
fn a_service_that_is_well_is_told_in_a_dozen_lines_at_most() {
    let text = glance_of(|_| ());
    assert!(text.lines().count() <= 12 && text.lines().all(|line| line.len() <= 120), "{text}");
    for says in [
        &format!("version {}", *telemetry::BUILD)[..],
        "at http://127.0.0.1:7070/, up 2 min 00 s",
        "mode             advise, policy drover",
        "ResourceManager  answers, last heard 1.2 s ago",
        "jobs             1 watched; running tasks: 1",
        "shims            0 connected",
        "last hour        3 copies, 0 clones",
        "held             nothing",
        "learned          from 0 tasks, ",
        " job names; began with nothing",
        "ledger           kept, 3.0 MiB",
    ] {
        assert!(text.contains(says), "{says}:\n{text}");
    }
}

#[test]
fn what_is_wrong_stands_out_and_each_hold_is_named_with_its_end_and_reason() {
    let hold = |scope: &str, until_ms| HoldView {
        scope: scope.into(),
        reason: "slow disks".into(),
        by: "local".into(),
        since_ms: 0,
        until_ms,
    };
    let text = glance_of(|glance| {
        glance.status.rm = RmView { answers: false, told_ms: Some(1_000) };
        glance.status.ready = false;
        glance.status.higher_epoch = Some(9);
        glance.status.ledger.trouble = Some("/l.db: the disk is full".into());
        glance.status.holds = (0..7).map(|n| hold(&format!("queue:q{n}"), None)).collect();
        glance.status.holds[0].until_ms = Some(181_000);
        glance.status.holds_unkept = Some("No space left on device".into());
        glance.last_hour = None;
        glance.status.shim_versions = [(glance.status.version.clone(), 5), ("9.0.0".into(), 2)].into();
    });
    for says in [
        "DOES NOT TELL ITS APPLICATIONS (the service's log says why), last heard 2 min 00 s ago",
        "not been read completely",
        "0 with a lease, 2 of version 9.0.0",
        "ANOTHER SERVICE  of epoch 9",
        "held             queue:q0 for another 1 min 00 s, by local: slow disks",
        "held             queue:q1 until it is resumed",
        "and 2 more, which --json names",
        "NOT KEPT         what is held, for the next start: No space left on device",
        "NOT KEPT, 3.0 MiB: /l.db: the disk is full",
        "last hour        not known",
    ] {
        assert!(text.contains(says), "{says}:\n{text}");
    }
    assert!(!text.contains("q5"), "{text}");
}

#[test]
fn the_last_hour_tells_copies_clones_restarts_and_advice_apart_over_all_policies() {
    let copies = |policy: &str, action: &str, decided| CopiesView {
        policy: policy.into(),
        action: action.into(),
        decided,
        ..CopiesView::default()
    };
    let report = Report {
        since_ms: 0,
        until_ms: 1,
        kept_since_ms: None,
        queue: None,
        user: None,
        policy: None,
        changes: Vec::new(),
        changes_left_off: 0,
        copies: vec![copies("late", "duplicate", 3), copies("mantri", "duplicate", 2), copies("mantri", "restart", 1)],
        restarts: Vec::new(),
        advice: vec![AdviceView { said: 7, ..AdviceView::default() }],
        jobs: JobsView::default(),
        holdout: HoldOutView::default(),
        holdout_by_policy: Vec::new(),
    };
    assert_eq!(LastHour::of(&report), LastHour { copies: 5, clones: 0, restarts: 1, advised: 7 });
}

#[test]
fn a_configuration_read_again_is_told_with_what_waits_for_a_restart_and_one_in_vain_stands_out() {
    let told = |refused: Option<&str>, waiting: &[&str]| {
        glance_of(|glance| {
            let wait_for_restart = waiting.iter().map(|key| (*key).to_owned()).collect();
            glance.status.config =
                ConfigView { read_ms: Some(61_000), refused: refused.map(str::to_owned), wait_for_restart };
        })
    };
    assert!(!glance_of(|_| ()).contains("configuration"));
    assert!(told(None, &[]).ends_with("configuration    read again 1 min 00 s ago"));
    let some = ["rest.user", "listen.api"];
    assert!(told(None, &some).ends_with("1 min 00 s ago; wait for a restart: rest.user, listen.api"));
    assert!(told(None, &["a", "b", "c", "d", "e", "f", "g"]).ends_with(": a, b, c, d, e and 2 more"));
    let refused = told(Some("mode: act now"), &some);
    assert!(refused.contains("READ AGAIN 1 min 00 s ago IN VAIN: `drover doctor` tells why; wait"), "{refused}");
}
