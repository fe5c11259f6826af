//! `drover doctor --canary` on a cluster where a stranger's job may run beside it.

use crate::failover::active;
use crate::fake::{APP, JOB, am};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use wiremock::MockServer;

const OWN: &str = "job_1795000000000_0008";
/// Only a fault lets it pass.
const LONG: Duration = Duration::from_secs(120);

fn doctor(cluster: &MockServer, canary: &str, dir: &Path) -> Child {
    let rm = format!("cluster.rm_urls={}", cluster.uri());
    // Nobody listens where the service would.
    let arguments = ["doctor", "--json", "--set", &rm, "--set", "listen.api=127.0.0.1:1", "--canary"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_drover"));
    command.args(arguments).args(["--canary-command", canary]).current_dir(dir).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What the canary's check says, and its verdict.
fn told(done: &Output) -> (String, String) {
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let canary = checks.iter().find(|check| check["name"] == "canary").unwrap();
    let word = |key: &str| canary[key].as_str().unwrap_or_default().to_owned();
    (word("verdict"), word("says") + " → " + &word("fix"))
}

/// A pipe of that name in a directory of its own.
fn fifo() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.path().join("fifo")).status().unwrap().success());
    dir
}

#[tokio::test]
async fn a_job_that_the_command_does_not_name_is_not_taken_for_its_own() {
    let (cluster, dir) = (active(1).await, tempfile::tempdir().unwrap());
    let done = doctor(&cluster, "true", dir.path()).wait_with_output().await.unwrap();
    let (verdict, said) = told(&done);
    assert_eq!((done.status.code(), verdict.as_str()), (Some(4), "fail"));
    assert!(said.contains("cannot be told") && said.contains("Submitted application") && !said.contains(JOB), "{said}");

    let own = format!("echo 'impl.YarnClientImpl: Submitted application {}'", OWN.replace("job", "application"));
    let (_, said) = told(&doctor(&cluster, &own, dir.path()).wait_with_output().await.unwrap());
    assert!(said.starts_with(&format!("{OWN} succeeded")) && !said.contains(JOB), "{said}");
}

#[tokio::test]
async fn the_job_that_the_command_names_is_watched_while_it_runs_though_it_ran_before() {
    let (cluster, dir) = (active(1).await, fifo());
    let child = doctor(&cluster, &format!("echo 'Submitted application {APP}' >&2; cat fifo"), dir.path());
    // Doctor looks at any job's configuration once; the canary's it asks for when it has read its tasks.
    let looked = async || {
        let asked = cluster.received_requests().await.unwrap();
        asked.iter().filter(|request| request.url.path() == am("/conf")).count()
    };
    while looked().await < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::fs::write(dir.path().join("fifo"), "").await.unwrap();
    let (verdict, said) = told(&child.wait_with_output().await.unwrap());
    assert!(verdict == "ok" && said.starts_with(&format!("{JOB} succeeded, 2 tasks seen")), "{verdict}: {said}");
}

#[tokio::test]
async fn a_doctor_that_is_interrupted_ends_what_it_has_started_and_tells_what_may_be_left() {
    // Under nohup this test's own doctor ignores it, too.
    let heeded = [Signal::INT, Signal::TERM].into_iter().chain((!ignores_hang_up()).then_some(Signal::HUP));
    for signal in heeded {
        let (cluster, dir) = (active(1).await, fifo());
        let line = format!("(sleep 3600) 3>fifo & echo 'Running job: {OWN}'; echo x >fifo; sleep 3600");
        let child = doctor(&cluster, &line, dir.path());
        let (begun, begins) = oneshot::channel();
        let (gone, goes) = oneshot::channel();
        let fifo = dir.path().join("fifo");
        // A thread that nobody waits for, should it never end.
        std::thread::spawn(move || {
            let mut held = std::fs::File::open(fifo).unwrap();
            held.read_exact(&mut [0; 2]).unwrap();
            begun.send(()).unwrap();
            gone.send(held.read(&mut [0]).unwrap())
        });
        begins.await.unwrap();
        let doctor = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(doctor, signal).unwrap();
        let done = child.wait_with_output().await.unwrap();
        assert_eq!(done.status.code(), Some(130), "{signal:?}");
        let (verdict, said) = told(&done);
        assert_eq!(verdict, "fail");
        let kill = OWN.replace("job", "`yarn application -kill application") + "` ends it";
        assert!(
            said.contains("interrupted") && said.contains("may still wait or run") && said.contains(&kill),
            "{said}"
        );
        assert_eq!(tokio::time::timeout(LONG, goes).await.expect("the grandchild lives on").unwrap(), 0);
    }
}

/// Was this process started so?
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_doctor_under_nohup_goes_on_when_its_terminal_is_closed() {
    let (cluster, dir) = (active(1).await, fifo());
    // The shell that ignores it hands that on, as nohup does.
    let drover = env!("CARGO_BIN_EXE_drover");
    let line = format!(
        "trap '' HUP; exec '{drover}' doctor --json --set cluster.rm_urls={} --set listen.api=127.0.0.1:1 --canary --canary-command 'echo x >fifo; until [ -e go ]; do sleep 0.05; done; echo y >fifo'",
        cluster.uri()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let fifo = dir.path().join("fifo");
    // Each on a thread that nobody waits for, should nobody ever write.
    let read = async || {
        let (told, tells) = oneshot::channel();
        let fifo = fifo.clone();
        std::thread::spawn(move || told.send(std::fs::read_to_string(fifo).unwrap()));
        tokio::time::timeout(LONG, tells).await.expect("in time").unwrap()
    };
    assert_eq!(read().await, "x\n");
    kill_process(Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap(), Signal::HUP).unwrap();
    std::fs::write(dir.path().join("go"), "").unwrap();
    assert_eq!(read().await, "y\n");
    let (_, said) = told(&child.wait_with_output().await.unwrap());
    assert!(!said.contains("interrupted"), "{said}");
}
