//! The command line as a person meets it: exit codes, and errors that say what to do next.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn drover(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drover"));
    command.args(arguments).current_dir(dir).env_clear().stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = drover(dir.path(), arguments).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A port that nobody listens on, at least not just before.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_setting_that_does_not_exist_ends_with_2_and_the_nearest_one() {
    let (code, _, error) = run(&["serve", "--set", "rest.timeuot=5s"]);
    assert_eq!(code, 2);
    assert!(error.contains("rest.timeuot: is no setting; did you mean rest.timeout?"), "{error}");
}

#[test]
fn a_configuration_file_is_named_with_the_line_that_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("drover.toml"), "[late]\nmin_age = \"5 fortnights\"\n").unwrap();
    let output = drover(dir.path(), &["config", "check"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("drover.toml:2: late.min_age:") && error.contains("allowed: a time from 0ms to 1h"),
        "{error}"
    );
}

#[test]
fn a_service_that_does_not_know_its_cluster_says_what_to_set() {
    let any = ["listen.api", "listen.shim", "listen.metrics"].map(|key| format!("{key}=127.0.0.1:0"));
    let mut arguments = vec!["serve"];
    arguments.extend(any.iter().flat_map(|set| ["--set", set]));
    let (code, _, error) = run(&arguments);
    assert_eq!(code, 2);
    assert!(error.contains("HADOOP_CONF_DIR") && error.contains("cluster.rm_urls"), "{error}");
}

#[test]
fn a_port_in_use_ends_with_the_setting_to_change() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let set = format!("listen.api={}", taken.local_addr().unwrap());
    let (code, _, error) = run(&["serve", "--set", &set, "--set", "cluster.rm_urls=http://127.0.0.1:1"]);
    assert_eq!(code, 2);
    assert!(error.contains("another process has it") && error.contains("--set listen.api="), "{error}");
}

#[test]
fn without_service_and_cluster_advise_says_how_to_get_either() {
    let nobody = format!("listen.api=127.0.0.1:{}", free_port());
    let (code, _, error) = run(&["advise", "--set", &nobody]);
    assert_eq!(code, 2);
    assert!(error.contains("looking at the cluster itself") && error.contains("cluster.rm_urls"), "{error}");
    let (code, _, error) = run(&["advise", "--service", &format!("http://127.0.0.1:{}", free_port())]);
    assert_eq!(code, 3);
    assert!(error.contains("drover serve") && error.contains("--from-cluster"), "{error}");
    let (code, _, error) = run(&["advise", "--from-cluster", "--set", "cluster.rm_urls=http://127.0.0.1:1"]);
    assert_eq!(code, 3);
    assert!(error.contains("http://127.0.0.1:1/") && error.contains("cannot connect"), "{error}");
}

#[test]
fn a_doctor_that_finds_a_fault_ends_with_4_and_tells_it_in_json_too() {
    let nobody = format!("listen.api=127.0.0.1:{}", free_port());
    let (code, report, _) = run(&["doctor", "--json", "--set", &nobody, "--set", "cluster.rm_urls=http://127.0.0.1:1"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((code, &report["verdict"]), (4, &"fail".into()));
    let checks = report["checks"].as_array().unwrap();
    let failed = checks.iter().find(|check| check["verdict"] == "fail").unwrap();
    assert_eq!(failed["name"], "resource manager");
    assert!(failed["fix"].as_str().unwrap().contains("see that the daemon runs"));
}

#[test]
fn a_replay_of_nothing_and_an_id_that_is_none_are_refused() {
    let (code, _, error) = run(&["replay", "."]);
    assert!(code == 1 && error.contains("holds no segment of a recording"), "{error}");
    let (code, _, error) = run(&["explain", "application_1_1"]);
    assert!(code == 2 && error.contains("is no job id"), "{error}");
    let (code, _, error) = run(&["explain", "job_1_1", "m_x", "--from-cluster"]);
    assert!(code == 2 && error.contains("write its id, or short m_3"), "{error}");
}

#[test]
fn every_setting_is_shown_with_its_value_and_where_it_came_from() {
    let (code, shown, _) = run(&["config", "show", "--json", "--set", "rest.timeout=5s"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(code, 0);
    assert_eq!(
        shown["rest.timeout"],
        serde_json::json!({"value": "5s", "origin": "--set", "file": null, "line": null})
    );
    assert_eq!(shown["mode"]["origin"], "default");
    assert_eq!(shown["cluster.conf_dir"]["value"], serde_json::Value::Null);
}

/// A service whose cluster does not answer, and the address of its API.
struct Service(Child, String);

impl Service {
    fn start(dir: &Path) -> Service {
        let mut arguments = vec!["serve", "--record", "recording", "--set", "cluster.rm_urls=http://127.0.0.1:1"];
        let api = format!("listen.api=127.0.0.1:{}", free_port());
        arguments.extend(["--set", &api, "--set", "listen.shim=127.0.0.1:0", "--set", "listen.metrics=127.0.0.1:0"]);
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let child = drover(dir, &arguments).stderr(log).spawn().unwrap();
        let mut service = Service(child, api.replace("listen.api=", "http://"));
        let began = Instant::now();
        while !std::fs::read_to_string(dir.join("log")).unwrap().contains("serving") {
            assert!(service.0.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(20));
        }
        service
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_service_without_its_cluster_lives_says_so_and_stops_when_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut service = Service::start(dir.path());
    let advise = drover(dir.path(), &["advise", "--service", &service.1]).output().unwrap();
    let said = String::from_utf8(advise.stdout).unwrap();
    assert!(said.contains("the cluster has not been read completely yet"), "{said}");
    let began = Instant::now();
    service.signal("-TERM");
    let status = service.0.wait().unwrap();
    assert!(status.success(), "{status}");
    assert!(began.elapsed() < Duration::from_secs(20), "it took {:?} to stop", began.elapsed());
    assert!(std::fs::read_to_string(dir.path().join("log")).unwrap().contains("stopping"));
}

#[test]
fn a_wrong_configuration_changes_nothing_in_a_running_service() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::start(dir.path());
    let log_says = |words: &str| {
        let began = Instant::now();
        while !std::fs::read_to_string(dir.path().join("log")).unwrap().contains(words) {
            assert!(began.elapsed() < Duration::from_secs(30), "the log never says: {words}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    std::fs::write(dir.path().join("drover.toml"), "mode = \"of\"\n").unwrap();
    service.signal("-HUP");
    log_says("nothing has changed\ndrover.toml:1: mode: \"of\" is unknown; did you mean off?");
    std::fs::write(dir.path().join("drover.toml"), "mode = \"off\"\nlisten.decisions = 200\n").unwrap();
    service.signal("-HUP");
    log_says("changed=[\"mode\"] wait_for_restart=[\"listen.decisions\"]");
    let mut mode = String::new();
    let began = Instant::now();
    // The engine takes the new parameters after the log line.
    while mode != "off" && began.elapsed() < Duration::from_secs(30) {
        let doctor = drover(dir.path(), &["doctor", "--json", "--set", &service.1.replace("http://", "listen.api=")])
            .output()
            .unwrap();
        let said = String::from_utf8(doctor.stdout).unwrap();
        mode = if said.contains("mode off, policy late") { "off".into() } else { said };
    }
    assert_eq!(mode, "off");
}

#[test]
fn a_stop_that_reaches_no_service_says_so_and_ends_with_3() {
    let nobody = format!("http://127.0.0.1:{}", free_port());
    for words in [&["stop", "--reason", "x"][..], &["pause", "--reason", "x", "--queue", "a"], &["resume"]] {
        let (code, _, error) = run(&[words, &["--service", &nobody]].concat());
        assert_eq!(code, 3, "{words:?}: {error}");
        assert!(error.contains("no service answers") && error.contains("drover serve"), "{error}");
    }
    assert_eq!(run(&["pause", "--reason", "x", "--queue", "a", "--user", "b"]).0, 2);
}
