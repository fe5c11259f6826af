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

/// Where nobody listens. A free port is no such place: a test beside may be given it.
const NOBODY: &str = "127.0.0.1:1";

#[test]
fn a_machine_without_certificates_asks_over_plain_http_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("none.pem"), "").unwrap();
    let told = |arguments: &[&str]| {
        let mut command = drover(dir.path(), arguments);
        command.env("SSL_CERT_FILE", dir.path().join("none.pem")).env("SSL_CERT_DIR", dir.path().join("nowhere"));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let (service, cluster) = (format!("http://{NOBODY}"), format!("cluster.rm_urls=http://{NOBODY}"));
    let asked = told(&["status", "--service", &service]);
    let looked = told(&["advise", "--from-cluster", "--set", &cluster]);
    for error in [asked, looked] {
        assert!(error.contains("Connection refused") && !error.contains("HTTP client"), "{error}");
    }
}

#[test]
fn a_setting_that_does_not_exist_ends_with_2_and_the_nearest_one() {
    let (code, _, error) = run(&["serve", "--set", "rest.timeuot=5s"]);
    assert_eq!(code, 2);
    assert!(error.contains("rest.timeuot: is no setting; did you mean rest.timeout?"), "{error}");
}

#[test]
fn the_version_is_told_with_the_builds_revision_where_there_is_one_and_nothing_in_its_place() {
    let revision = option_env!("DROVER_REVISION").filter(|revision| !revision.is_empty());
    let revision = revision.map_or_else(String::new, |revision| format!(" ({revision})"));
    let told = format!("drover {}{revision}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["--version"]), (0, told, String::new()));
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
fn what_a_service_would_refuse_the_check_of_the_configuration_refuses_in_the_same_words() {
    for set in ["log.level=drover=loud", "listen.api=127.0.0.1:7072", "rest.ca_file=/nonexistent/ca.pem"] {
        let (code, _, refusal) = run(&["serve", "--set", set]);
        let key = set.split_once('=').unwrap().0;
        assert!(code == 2 && refusal.contains(&format!("--set: {key}: ")), "{refusal}");
        assert_eq!(run(&["config", "check", "--set", set]), (2, String::new(), refusal));
    }
    assert_eq!(run(&["config", "check"]), (0, String::new(), String::new()));
}

#[test]
fn the_check_of_the_configuration_tells_a_program_each_fault_with_its_file_line_and_key() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("drover.toml"), "mode = \"off\"\n[late]\nmin_age = \"5 fortnights\"\n").unwrap();
    let check = |more: &[&str]| {
        let output = drover(dir.path(), &[&["config", "check", "--json"], more].concat()).output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        (output.status.code(), serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap())
    };
    let (code, said) = check(&["--set", "mode=of"]);
    assert_eq!((code, &said["ok"], said["faults"].as_array().unwrap().len()), (Some(2), &false.into(), 2));
    let [inside, outside] = [&said["faults"][0], &said["faults"][1]];
    assert_eq!((&inside["file"], &inside["line"]), (&"drover.toml".into(), &3.into()));
    assert_eq!(inside["key"], "late.min_age");
    assert!(inside["message"].as_str().unwrap().contains("; allowed: a time from 0ms to 1h"), "{inside}");
    assert_eq!((&outside["origin"], outside["file"].is_null()), (&"--set".into(), true));
    std::fs::remove_file(dir.path().join("drover.toml")).unwrap();
    assert_eq!(check(&[]), (Some(0), serde_json::json!({"ok": true, "faults": [], "warnings": []})));
}

#[test]
fn a_variable_that_names_no_setting_is_told_and_an_empty_file_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let asked = |words: &[&str]| {
        let mut command = drover(dir.path(), words);
        let output = command.env("DROVER_REST_TIMOUT", "5s").env("DROVER_CONFIG", "").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    };
    let error = String::from_utf8(asked(&["config", "check"]).stderr).unwrap();
    assert!(error.contains("DROVER_REST_TIMOUT: names no setting"), "{error}");
    let told: serde_json::Value = serde_json::from_slice(&asked(&["config", "check", "--json"]).stdout).unwrap();
    assert_eq!((told["ok"].as_bool(), told["warnings"].as_array().unwrap().len()), (Some(true), 1));
}

#[test]
fn a_key_below_the_wrong_heading_is_told_to_stand_above() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("drover.toml"), "[cluster]\nuser = \"ann\"\nmode = \"off\"\n").unwrap();
    let error = drover(dir.path(), &["config", "check"]).output().unwrap().stderr;
    let error = String::from_utf8(error).unwrap();
    assert!(error.contains("drover.toml:3: cluster.mode: is no setting; `mode` stands below [cluster]"), "{error}");
}

#[test]
fn two_services_do_not_keep_one_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(dir.path(), &["ledger.path=ledger.db"]);
    let second = ["serve", "--set", "cluster.rm_urls=http://127.0.0.1:1", "--set", "ledger.path=ledger.db"];
    let ports = ["listen.api", "listen.shim", "listen.metrics"].map(|key| format!("{key}=127.0.0.1:0"));
    let more = ports.iter().flat_map(|set| ["--set", set]);
    let output = drover(dir.path(), &second.into_iter().chain(more).collect::<Vec<_>>()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{error}");
    assert!(error.contains("ledger.path: ledger.db.lock is locked by another Drover"), "{error}");
    drop(service);
}

#[test]
fn advice_on_a_job_that_nobody_knows_ends_with_5() {
    let service = stand_in_with(|path| match path {
        path if path.starts_with("/api/v1/jobs/") => {
            (404, serde_json::json!({"error": "unknown_job", "message": "not known"}))
        }
        path if path.starts_with("/api/v1/decisions") => (200, serde_json::json!({"decisions": []})),
        path => panic!("{path}"),
    });
    assert_eq!(run(&["advise", "job_1_0009", "--service", &service]), (5, String::new(), "drover: not known\n".into()));
}

#[test]
fn a_resume_has_resumed_though_what_else_is_held_cannot_be_told() {
    let hold =
        serde_json::json!({"scope": "user:ann", "reason": "disks", "by": "local", "since_ms": 1, "until_ms": null});
    let lifted = serde_json::json!({"hold": hold, "note": null});
    let service = stand_in_with(move |path| match path {
        "/api/v1/holds/user:ann" => (200, lifted.clone()),
        "/api/v1/holds" => (503, serde_json::json!({"error": "busy", "message": "try again"})),
        path => panic!("{path}"),
    });
    let asked = ["resume", "--user", "ann", "--service", &service];
    let unknown = "what else is held is not known: try again\n".to_owned();
    assert_eq!(run(&asked), (0, "Resumed: user:ann.\n".into(), unknown.clone()));
    let (code, told, error) = run(&[&asked[..], &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &told["hold"], error), (0, &hold, unknown));
    assert_eq!(told.get("still_held"), Some(&serde_json::Value::Null), "not known is not none");
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
    assert_eq!(code, 6);
    assert!(error.contains("another process has it") && error.contains("--set listen.api="), "{error}");
}

#[test]
fn without_service_and_cluster_advise_says_how_to_get_either() {
    let nobody = format!("listen.api={NOBODY}");
    let (code, _, error) = run(&["advise", "--set", &nobody]);
    assert_eq!(code, 2);
    assert!(error.contains("looking at the cluster itself") && error.contains("cluster.rm_urls"), "{error}");
    let (code, _, error) = run(&["advise", "--service", &format!("http://{NOBODY}")]);
    assert_eq!(code, 3);
    assert!(error.contains("drover serve") && error.contains("--from-cluster"), "{error}");
    let (code, _, error) = run(&["advise", "--from-cluster", "--set", "cluster.rm_urls=http://127.0.0.1:1"]);
    assert_eq!(code, 3);
    assert!(error.contains("http://127.0.0.1:1/") && error.contains("cannot connect"), "{error}");
}

#[test]
fn a_doctor_that_finds_a_fault_ends_with_4_and_tells_it_in_json_too() {
    let nobody = format!("listen.api={NOBODY}");
    let (code, report, _) = run(&["doctor", "--json", "--set", &nobody, "--set", "cluster.rm_urls=http://127.0.0.1:1"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((code, &report["verdict"]), (4, &"fail".into()));
    let checks = report["checks"].as_array().unwrap();
    let failed = checks.iter().find(|check| check["verdict"] == "fail").unwrap();
    assert_eq!(failed["name"], "resource manager");
    assert!(failed["fix"].as_str().unwrap().contains("see that the daemon runs"));
}

#[test]
fn a_negative_value_is_a_wrong_value_and_no_other_option() {
    for (arguments, option) in [
        (&["report", "--since", "-5d"][..], "--since"),
        (&["simulate", "x", "--holdout", "-0.1"], "--holdout"),
        (&["simulate", "x", "--seeds", "-1"], "--seeds"),
    ] {
        let (code, _, error) = run(arguments);
        assert_eq!(code, 2);
        assert!(error.contains("invalid value") && error.contains(option), "{error}");
    }
}

#[test]
fn a_replay_of_nothing_and_an_id_that_is_none_are_refused() {
    let (code, _, error) = run(&["replay", "."]);
    assert!(code == 1 && error.contains("holds no segment of a recording"), "{error}");
    for text in ["task_1_1_m_0", "application_1", "job_1_x"] {
        let (code, _, error) = run(&["explain", text]);
        assert!(code == 2 && error.contains(&format!("\"{text}\" is no job id")), "{error}");
    }
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
    let (cap, origin) = (&shown["govern.cluster_cap"]["value"], &shown["govern.cluster_cap"]["origin"]);
    assert_eq!((cap, origin), (&"0.1".into(), &"preset adapted".into()));
    let (_, shown, _) = run(&["config", "show", "--set", "preset=paper", "--set", "policy=mantri"]);
    let line = |key: &str| {
        shown.lines().find(|line| line.trim_start().starts_with(key)).unwrap().split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(line("govern.cluster_cap"), ["govern.cluster_cap", "1", "preset", "paper"]);
    assert_eq!(line("policy "), ["policy", "mantri", "--set"]);
}

/// A service whose cluster does not answer, and the address of its API.
struct Service(Child, String);

impl Service {
    fn start(dir: &Path) -> Service {
        Service::with(dir, &[])
    }

    /// One that may not be serving yet.
    fn launched(dir: &Path, settings: &[&str]) -> Service {
        let mut arguments = vec!["serve", "--record", "recording", "--set", "cluster.rm_urls=http://127.0.0.1:1"];
        let listeners = ["listen.api=127.0.0.1:0", "listen.shim=127.0.0.1:0", "listen.metrics=127.0.0.1:0"];
        arguments.extend(listeners.iter().flat_map(|set| ["--set", set]));
        arguments.extend(settings.iter().flat_map(|set| ["--set", set]));
        let log = std::fs::File::create(dir.join("log")).unwrap();
        Service(drover(dir, &arguments).stderr(log).spawn().unwrap(), String::new())
    }

    fn with(dir: &Path, settings: &[&str]) -> Service {
        let mut service = Service::launched(dir, settings);
        let began = Instant::now();
        while service.1.is_empty() {
            assert!(service.0.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(20));
            let log = std::fs::read_to_string(dir.join("log")).unwrap();
            if let Some((_, told)) = log.lines().find(|line| line.contains("serving")).and_then(|l| l.split_once("api"))
            {
                let address = told.trim_start_matches(['=', '"', ':']).split([' ', '"', ',']).next().unwrap();
                service.1 = format!("http://{address}");
            }
        }
        service
    }

    fn signal(&self, name: &str) {
        // The shell has `kill` built in; the program is not on every machine.
        let line = format!("kill {name} {}", self.0.id());
        assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
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
fn the_status_of_a_service_without_its_cluster_says_that_it_does_not_answer_in_words_and_json() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(dir.path(), &["ledger.path=ledger.db", "mode=act"]);
    let hold = ["pause", "--queue", "root.etl", "--reason", "slow disks", "--for", "2h", "--service", &service.1];
    assert!(drover(dir.path(), &hold).output().unwrap().status.success());
    let status = |more: &[&str]| {
        let output = drover(dir.path(), &[&["status", "--service", &service.1], more].concat()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = status(&[]);
    for says in [
        "HAS NOT ANSWERED YET: the service's log says why",
        "mode             act",
        "0 copies, 0 clones",
        "queue:root.etl for another",
    ] {
        assert!(text.contains(says), "{says}:\n{text}");
    }
    let json = || serde_json::from_str::<serde_json::Value>(&status(&["--json"])).unwrap();
    while json()["status"]["ledger"]["state"] == "opening" {}
    let told = json();
    assert_eq!(told["status"]["rm"], serde_json::json!({"answers": false, "told_ms": null}));
    assert_eq!((&told["last_hour"]["copies"], &told["status"]["ledger"]["state"]), (&0.into(), &"keeping".into()));
}

#[test]
fn a_report_tells_what_a_reload_and_another_start_changed_and_not_that_a_service_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let rows = || {
        let ledger = drover::ledger::read(&dir.path().join("ledger.db")).unwrap();
        ledger.query_row("SELECT COUNT(*) FROM settings", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let changes = |many| {
        let (began, arguments) = (Instant::now(), ["report", "--json", "--file", "ledger.db"]);
        loop {
            let said = drover(dir.path(), &arguments).output().unwrap().stdout;
            let report = serde_json::from_slice::<serde_json::Value>(&said).unwrap_or_default();
            let keys = |change: &serde_json::Value| change["settings"].as_array().unwrap().clone();
            let told: Vec<_> = report["changes"].as_array().into_iter().flatten().flat_map(keys).collect();
            // Rows are written by and by.
            if report["kept_since_ms"].is_u64() && told.len() >= many {
                return told;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{report}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let stopped = |mut service: Service| {
        service.signal("-TERM");
        assert!(service.0.wait().unwrap().success());
    };
    let kept = ["ledger.path=ledger.db", "policy=late"];
    stopped(Service::with(dir.path(), &kept));
    let service = Service::with(dir.path(), &kept);
    std::fs::write(dir.path().join("drover.toml"), "log.level = \"debug\"\ngovern.cluster_cap = 0.2\n").unwrap();
    service.signal("-HUP");
    let change =
        |key: &str, before: &str, after: &str| serde_json::json!({"key": key, "before": before, "after": after});
    let [reload, start] = [change("govern.cluster_cap", "0.1", "0.2"), change("policy", "late", "mantri")];
    assert_eq!(changes(1), std::slice::from_ref(&reload));
    assert_eq!(rows(), 2, "the first start and the reload: rows are in order, and the second start told none");
    stopped(service);
    let _service = Service::with(dir.path(), &["ledger.path=ledger.db", "policy=mantri"]);
    let told = changes(2);
    assert_eq!((&told[0], told.contains(&start)), (&reload, true), "{told:?}");
}

#[test]
fn with_json_logs_every_line_of_a_services_life_is_an_object_with_level_and_message() {
    let dir = tempfile::tempdir().unwrap();
    let mut service = Service::with(dir.path(), &["log.format=json", "log.level=debug"]);
    std::fs::write(dir.path().join("drover.toml"), "mode = \"of\"\n").unwrap();
    service.signal("-HUP");
    let log = || std::fs::read_to_string(dir.path().join("log")).unwrap();
    let began = Instant::now();
    while !(log().contains("nothing has changed") && log().contains("no ResourceManager to ask")) {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
    service.signal("-TERM");
    assert!(service.0.wait().unwrap().success());
    for line in log().lines() {
        let told: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        assert!(told["level"].is_string() && told["message"].is_string(), "{line}");
    }
    assert!(log().contains("stopping"));
}

/// A pipe in which there is no room, and its other end.
fn unread() -> (std::io::PipeReader, std::io::PipeWriter) {
    use std::io::Write;
    let (reader, mut full) = std::io::pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&full).unwrap();
    rustix::fs::fcntl_setfl(&full, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    while full.write(&[b'.'; 1]).is_ok() {}
    rustix::fs::fcntl_setfl(&full, flags).unwrap();
    (reader, full)
}

/// Waits until it has ended, but not for ever.
fn ended(service: &mut Service) -> std::process::ExitStatus {
    let began = Instant::now();
    while service.0.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "it waits for whoever reads its log");
        std::thread::sleep(Duration::from_millis(20));
    }
    service.0.wait().unwrap()
}

#[test]
fn a_log_that_nobody_reads_keeps_a_service_neither_from_its_work_nor_from_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, full) = unread();
    let any = ["listen.api", "listen.shim", "listen.metrics"].map(|key| format!("{key}=127.0.0.1:0"));
    let mut arguments = vec!["serve", "--ledger", "ledger.db", "--set", "cluster.rm_urls=http://127.0.0.1:1"];
    arguments.extend(any.iter().flat_map(|set| ["--set", set]));
    let mut service = Service(drover(dir.path(), &arguments).stderr(full).spawn().unwrap(), String::new());
    let began = Instant::now();
    // Its first lines are said before that.
    while !dir.path().join("ledger.db").exists() {
        assert!(service.0.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    service.signal("-TERM");
    assert!(ended(&mut service).success());
    drop(reader);
}

#[test]
fn a_service_that_cannot_record_or_read_its_holds_does_not_say_first_that_it_does() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("state")).unwrap();
    std::fs::write(dir.path().join("state/holds.json"), "torn").unwrap();
    for (why, set) in
        [("record.dir: ", &["record.dir=/proc/drover"][..]), ("is damaged", &["state.dir=state", "mode=act"])]
    {
        let any = ["listen.api", "listen.shim", "listen.metrics"].map(|key| format!("{key}=127.0.0.1:0"));
        let all =
            any.iter().map(String::as_str).chain(["cluster.rm_urls=http://127.0.0.1:1"]).chain(set.iter().copied());
        let arguments: Vec<&str> = std::iter::once("serve").chain(all.flat_map(|set| ["--set", set])).collect();
        let output = drover(dir.path(), &arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(6) && error.contains(why), "{error}");
        assert!(!error.contains("serving") && !error.contains(" recording "), "{error}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_configuration_is_refused_and_not_waited_on() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("drover.toml")).status().unwrap().success());
    let output = drover(dir.path(), &["config", "check"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("drover.toml: is no file; ") && error.contains("--config"), "{error}");
}

#[test]
fn a_service_that_fails_ends_though_nobody_reads_why() {
    let dir = tempfile::tempdir().unwrap();
    let (reader, full) = unread();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let api = format!("listen.api={}", taken.local_addr().unwrap());
    // The lock that cannot be made is warned of first: the log's thread waits for room as well.
    let set = ["cluster.rm_urls=http://127.0.0.1:1", "ledger.path=/dev/null/l.db", &api];
    let arguments: Vec<&str> = std::iter::once("serve").chain(set.into_iter().flat_map(|set| ["--set", set])).collect();
    let mut service = Service(drover(dir.path(), &arguments).stderr(full).spawn().unwrap(), String::new());
    assert_eq!(ended(&mut service).code(), Some(6));
    drop(reader);
}

/// A stand-in for a service: answers each request by its path and query, with what `answer` says.
fn stand_in(answer: impl Fn(&str) -> serde_json::Value + Send + 'static) -> String {
    stand_in_with(move |path| (200, answer(path)))
}

/// The same, with a status.
fn stand_in_with(answer: impl Fn(&str) -> (u16, serde_json::Value) + Send + 'static) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            let _ = lines.find(String::is_empty);
            let (status, body) = answer(first.split(' ').nth(1).unwrap_or("/"));
            let (body, kind) = (body.to_string(), "Content-Type: application/json");
            let head = format!("HTTP/1.1 {status} X\r\n{kind}\r\nConnection: close\r\nContent-Length: {}", body.len());
            let _ = stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes());
        }
    });
    address
}

#[test]
fn a_watch_prints_what_is_open_and_then_each_new_advice_once_also_after_a_restart_of_the_service() {
    use serde_json::json;
    use std::io::{BufRead, BufReader};
    use std::sync::atomic::{AtomicU64, Ordering};
    let decision = |id: u64, task: &str| {
        json!({"id": id, "at_ms": 1, "am_at_ms": 1, "job": "job_1_1", "task": task, "attempt": "a", "node": null,
            "action": "duplicate", "mode": "advise", "outcome": "advised", "policy": "late", "rule": "r",
            "natively_copied": false, "reason": "slow", "end": null,
            "numbers": {"score": 0.5, "elapsed_ms": 1, "silent_ms": 1, "rate_per_second": 0.1}})
    };
    let asked = AtomicU64::new(0);
    let status = move || {
        // At first one decision, then two; then another process, which begins to count anew and has one.
        let turn = asked.fetch_add(1, Ordering::Relaxed);
        let (incarnation, decisions) = [("a", 1), ("a", 1), ("a", 2)].get(turn as usize).copied().unwrap_or(("b", 1));
        json!({"version": "0", "revision": "0", "incarnation": incarnation, "started_ms": 0, "now_ms": 0, "ready": true,
            "mode": "advise", "policy": "late", "estimator": "phase", "nodes": 0, "usable_nodes": 0, "jobs": 1,
            "jobs_with_shim": 0, "tasks": 0, "attempts": 0, "verdicts": {}, "copies_in_flight": 0, "decisions": decisions,
            "higher_epoch": null, "jobs_owned": 0, "leases": 0, "shims_unable": 0, "shims_over_plain_http": 0, "holds": []})
    };
    let service = stand_in(move |path| match path {
        "/api/v1/status" => status(),
        path if path.contains("open=true") => json!({"decisions": [decision(1, "open")]}),
        path if path.contains("since=1&") => json!({"decisions": [decision(2, "new")]}),
        path if path.contains("since=0&") => json!({"decisions": [decision(1, "after the restart")]}),
        path => panic!("asked for {path}"),
    });
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["advise", "--watch", "--json", "--service", &service];
    let mut watch = drover(dir.path(), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines().take(3);
    let tasks: Vec<serde_json::Value> =
        lines.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap()["task"].clone()).collect();
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert_eq!(tasks, ["open", "new", "after the restart"]);
}

#[test]
fn a_wrong_configuration_changes_nothing_in_a_running_service() {
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("core-site.xml");
    std::fs::write(&site, "<configuration/>").unwrap();
    let service = Service::with(dir.path(), &["cluster.conf_dir=."]);
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
    std::fs::write(dir.path().join("drover.toml"), "mode = \"off\"\nlog.level = \"drover=loud\"\n").unwrap();
    service.signal("-HUP");
    log_says("nothing has changed\ndrover.toml:2: log.level: \"drover=loud\" is no log level");
    std::fs::write(dir.path().join("drover.toml"), "mode = \"off\"\nlisten.decisions = 200\n").unwrap();
    std::fs::write(site, "<configuration></configuration>").unwrap();
    service.signal("-HUP");
    let waits = "[\"listen.decisions\", \"cluster.conf_dir: what ./core-site.xml holds\"]";
    log_says(&format!("changed=[\"mode\"] wait_for_restart={waits}"));
    let mut mode = String::new();
    let began = Instant::now();
    // The engine takes the new parameters after the log line.
    while mode != "off" && began.elapsed() < Duration::from_secs(30) {
        let doctor = drover(dir.path(), &["doctor", "--json", "--set", &service.1.replace("http://", "listen.api=")])
            .output()
            .unwrap();
        let said = String::from_utf8(doctor.stdout).unwrap();
        mode = if said.contains("mode off, policy drover") { "off".into() } else { said };
    }
    assert_eq!(mode, "off");
}

#[test]
fn a_service_told_to_be_more_careful_while_it_waits_for_the_last_one_to_end_is_so_once_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("recording")).unwrap();
    let lock = std::fs::File::create(dir.path().join("recording/recording.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let mut service = Service::launched(dir.path(), &[]);
    let (status, began) = (format!("/proc/{}/status", service.0.id()), Instant::now());
    let is_caught = |mask: &str| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1;
    while !std::fs::read_to_string(&status).unwrap().lines().any(|l| l.strip_prefix("SigCgt:").is_some_and(is_caught)) {
        assert!(service.0.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::write(dir.path().join("drover.toml"), "mode = \"off\"\n").unwrap();
    service.signal("-HUP");
    drop(lock);
    let log = || std::fs::read_to_string(dir.path().join("log")).unwrap();
    while !log().contains("changed=[\"mode\"]") {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_reload_does_not_lead_to_acting_where_no_hold_could_be_kept() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("state"), "a file where a directory is to be").unwrap();
    let service = Service::with(dir.path(), &["state.dir=state/holds"]);
    std::fs::write(dir.path().join("drover.toml"), "mode = \"act\"\n").unwrap();
    service.signal("-HUP");
    let (began, log) = (Instant::now(), || std::fs::read_to_string(dir.path().join("log")).unwrap());
    while !log().contains("Drover does not act where it could not keep what operators hold") {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!log().contains("configuration read again"), "{}", log());
    let status = run(&["status", "--json", "--service", &service.1]).1;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&status).unwrap()["status"]["mode"], "advise");
}

#[test]
fn what_a_reload_leaves_for_a_restart_or_refuses_is_told_by_the_status_until_a_later_one_settles_it() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(dir.path(), &[]);
    let config = || {
        let status = run(&["status", "--json", "--service", &service.1]).1;
        serde_json::from_str::<serde_json::Value>(&status).unwrap()["status"]["config"].clone()
    };
    assert_eq!(config(), serde_json::json!({"read_ms": null, "refused": null, "wait_for_restart": []}));
    let after = |text: &str, settled: &dyn Fn(&serde_json::Value) -> bool| {
        std::fs::write(dir.path().join("drover.toml"), text).unwrap();
        service.signal("-HUP");
        let began = Instant::now();
        while !settled(&config()) {
            assert!(began.elapsed() < Duration::from_secs(30), "{}", config());
            std::thread::sleep(Duration::from_millis(20));
        }
        config()["wait_for_restart"].clone()
    };
    let refused = |config: &serde_json::Value| config["refused"].as_str().is_some_and(|why| why.contains("govern.cap"));
    let waiting = after("rest.timeout = \"6s\"\n", &|config| config["wait_for_restart"][0].is_string());
    assert_eq!(waiting, serde_json::json!(["rest.timeout"]));
    assert_eq!(after("govern.cap = 1\n", &refused), waiting, "they wait still");
    assert_eq!(after("", &|config| config["refused"].is_null()), serde_json::json!([]));
}

#[test]
fn a_job_is_taken_by_its_applications_id_too_wherever_one_is_named() {
    let service = stand_in_with(|path| (404, serde_json::json!({"error": "unknown", "message": path})));
    let app = "application_1795181650543_0021";
    for (words, code, asked) in [
        (&["explain", app][..], 5, "/jobs/job_1795181650543_0021"),
        (&["advise", app], 5, "&job=job_1795181650543_0021"),
        (&["resume", "--job", app], 5, "/holds/job:job_1795181650543_0021"),
    ] {
        let (ended, _, error) = run(&[words, &["--service", &service]].concat());
        assert!(ended == code && error.contains(asked), "{words:?}: {ended}, {error}");
    }
}

#[test]
fn a_service_whose_address_is_none_is_told_how_to_write_one() {
    for address in ["127.0.0.1:7070", "drover-host:7070", "ftp://x", "/x", ""] {
        let (code, _, error) = run(&["advise", "--service", address]);
        assert_eq!(code, 2, "{address}: {error}");
        assert!(error.contains("--service") && error.contains("write http://HOST:PORT"), "{address}: {error}");
    }
}

/// A ResourceManager whose one job answers everything with a status.
fn one_job_that_answers(status: u16) -> String {
    stand_in_with(move |path| {
        let recorded = |name: &str| {
            let path = format!("{}/tests/recorded/3.4.3/rm/{name}.json", env!("CARGO_MANIFEST_DIR"));
            let recorded = std::fs::read_to_string(path).ok();
            recorded.map_or((404, serde_json::json!({})), |text| (200, serde_json::from_str(&text).unwrap()))
        };
        let name = path.strip_prefix("/ws/v1/cluster/").and_then(|rest| rest.split('?').next());
        name.map_or_else(|| (status, serde_json::json!({})), recorded)
    })
}

#[test]
fn a_job_that_runs_and_may_not_be_read_is_not_taken_for_none() {
    let job = "job_1795230592604_0001";
    for status in [401, 403, 500] {
        let set = format!("cluster.rm_urls={}", one_job_that_answers(status));
        let look = ["--from-cluster", "--rounds", "1", "--set", &set];
        let said = format!("1 job runs and could not be read: {job}: ");
        let (code, out, error) = run(&[&["advise"][..], &look].concat());
        assert_eq!((code, out.as_str()), (3, ""), "{error}");
        assert!(error.contains(&said) && error.contains(&format!("{status}, ")), "{error}");
        let (code, out, error) = run(&[&["advise", "--json"][..], &look].concat());
        let told: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(code == 3 && error.contains(&said), "{error}");
        assert_eq!((&told["decisions"], &told["unread"][0]["job"]), (&serde_json::json!([]), &job.into()));
        assert!(told["unread"][0]["why"].as_str().unwrap().contains(&format!("{status}, ")), "{out}");
        let (code, _, error) = run(&[&["explain", job][..], &look].concat());
        assert_eq!(code, 3, "{error}");
        assert!(error.contains(&format!("{job} runs and could not be read: ")), "{error}");
        assert_eq!(run(&[&["explain", "job_1_1"][..], &look].concat()).0, 5);
    }
}

#[test]
fn a_doctor_warns_of_a_queue_that_the_cluster_has_not_and_of_none_where_the_cluster_does_not_answer() {
    let nobody = format!("listen.api={NOBODY}");
    let names = ["--set", "modes.queue.root.defualt=off", "--set", "modes.queue.batch=off", "--set", &nobody];
    let queues = |rm: &str| {
        let (_, report, _) =
            run(&[&["doctor", "--json", "--set", &format!("cluster.rm_urls={rm}")], &names[..]].concat());
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().filter(|check| check["name"] == "queues by name").collect::<Vec<_>>()
    };
    let warned = queues(&one_job_that_answers(500));
    assert_eq!((warned.len(), &warned[0]["verdict"]), (1, &"warn".into()), "{warned:?}");
    let says =
        "queue root.defualt in modes.queue (--set) is not a queue of this cluster; known: root.batch, root.default";
    assert_eq!(warned[0]["says"], says);
    assert!(queues("http://127.0.0.1:1").is_empty());
}

#[test]
fn a_stop_that_reaches_no_service_says_so_and_ends_with_3() {
    let nobody = format!("http://{NOBODY}");
    for words in [&["stop", "--reason", "x"][..], &["pause", "--reason", "x", "--queue", "a"], &["resume"]] {
        let (code, _, error) = run(&[words, &["--service", &nobody]].concat());
        assert_eq!(code, 3, "{words:?}: {error}");
        assert!(error.contains("no service answers") && error.contains("drover serve"), "{error}");
    }
    assert_eq!(run(&["pause", "--reason", "x", "--queue", "a", "--user", "b"]).0, 2);
}

#[test]
fn whoever_cannot_stop_for_a_fault_in_the_configuration_is_told_how_to_do_without_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("drover.toml"), "mode = \"bold\"\n").unwrap();
    let nobody = format!("http://{NOBODY}");
    for words in [&["stop", "--reason", "x"][..], &["pause", "--reason", "x"], &["resume"]] {
        let ended = |words: &[&str]| {
            let output = drover(dir.path(), words).output().unwrap();
            (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, error) = ended(words);
        assert_eq!(code, 2, "{words:?}: {error}");
        assert!(error.contains("drover.toml:1: mode") && error.contains("--service URL needs no conf"), "{error}");
        let (code, error) = ended(&[words, &["--service", &nobody]].concat());
        assert!(code == 3 && !error.contains("drover.toml"), "{words:?}: {error}");
    }
}

#[test]
fn nodes_without_a_service_ends_with_3_and_how_to_get_one() {
    let (code, _, error) = run(&["nodes", "--service", &format!("http://{NOBODY}")]);
    assert_eq!(code, 3);
    assert!(error.contains("learned while a service watches") && error.contains("drover serve"), "{error}");
}

#[test]
fn the_status_of_a_service_that_is_not_there_ends_with_3_and_what_to_do_next() {
    let (code, out, error) = run(&["status", "--service", &format!("http://{NOBODY}")]);
    assert_eq!((code, out.as_str()), (3, ""));
    for says in ["no service answers at", "drover serve", "--service URL", "drover doctor"] {
        assert!(error.contains(says), "{says}: {error}");
    }
    assert!(!error.contains("--from-cluster"), "{error}");
}

#[test]
fn a_report_of_a_ledger_that_is_not_there_or_not_named_says_what_to_name() {
    let (code, _, error) = run(&["report", "--file", "none.db"]);
    assert_eq!(code, 5);
    assert!(error.contains("none.db: there is no ledger") && error.contains("--file"), "{error}");
    let (code, _, error) = run(&["report", "export", "--format", "csv", "--out", "out"]);
    assert_eq!(code, 2);
    assert!(error.contains("ledger.path") && error.contains("--file"), "{error}");
    let nobody = format!("http://{NOBODY}");
    let (code, _, error) = run(&["report", "--set", "ledger.path=led/x.db", "--service", &nobody]);
    assert_eq!(code, 3);
    assert!(error.contains("no service answers at") && !error.contains("no ledger is named"), "{error}");
    assert!(error.contains("leave --service out to read led/x.db"), "{error}");
    let (code, _, error) = run(&["report", "--service", &nobody]);
    assert!(code == 3 && error.contains("no ledger is named and no service answers at"), "{error}");
    let (code, _, error) = run(&["report", "--since", "last week"]);
    assert_eq!(code, 2);
    assert!(error.contains("such as 7d"), "{error}");
}
