use super::*;
use std::future::{pending, ready};
use std::io::Read;
use std::path::Path;

/// Long enough for any machine: only a fault lets it pass.
const LONG: Waits = Waits { grace: Duration::from_secs(300), pipes: Duration::from_secs(300) };

fn start(line: &str, waits: Waits) -> Running {
    Running::start(line, waits).unwrap()
}

/// A pipe with a name.
fn fifo(dir: &Path) -> String {
    let path = dir.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    path.to_str().unwrap().to_owned()
}

async fn job_of(running: &Running) -> JobId {
    let heard = running.heard();
    loop {
        if let Some(job) = heard.job() {
            return job;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn more_on_one_stream_than_a_pipe_holds_stops_no_command() {
    for stream in ["1", "2"] {
        let line =
            format!("{{ head -c 204800 /dev/zero | tr '\\0' x; echo; echo its last words; }} >&{stream}; exit 3");
        let mut running = start(&line, LONG);
        let status = running.ended().await.unwrap();
        assert_eq!(status.code(), Some(3));
        let said = running.heard().end();
        assert!(said.ends_with("xxx its last words") && said.len() < 1_000, "{said}");
    }
}

#[tokio::test]
async fn its_own_job_is_known_while_it_runs_and_anothers_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = fifo(dir.path());
    let line = format!(
        "echo killed application_1_0001; echo 'Submitted application application_1_0002' >&2; cat '{fifo}' >&2"
    );
    let mut running = start(&line, LONG);
    assert_eq!(job_of(&running).await, "job_1_0002".parse().unwrap());
    tokio::fs::write(&fifo, "mapreduce.Job: Running job: job_1_0002\n").await.unwrap();
    assert!(running.ended().await.unwrap().success());
    assert_eq!(running.heard().jobs().len(), 1);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_is_ended_with_the_command() {
    // One obeys, the other has to be killed.
    for (trap, grace) in [("", LONG.grace), ("trap '' TERM; ", Duration::ZERO)] {
        let line =
            format!("{trap}(sleep 3600; echo goes on) & echo 'Submitted application application_1_0002'; sleep 3600");
        let mut running = start(&line, Waits { grace, ..LONG });
        job_of(&running).await;
        assert!(running.stop(pending()).await, "{trap}: something holds the pipes");
        assert!(running.child.id().is_none(), "{trap}: the command is not waited for");
    }
}

#[tokio::test]
async fn one_that_writes_elsewhere_has_its_time_to_end_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (ready, left) = (fifo(dir.path()), dir.path().join("left"));
    let clears = format!("trap 'sleep 0.2; echo cleared >{}; exit' TERM", left.display());
    let mut running =
        start(&format!("exec >/dev/null 2>&1; {clears}; echo >'{ready}'; while :; do sleep 0.05; done"), LONG);
    // Returns once the trap is set.
    tokio::fs::read(&ready).await.unwrap();
    assert!(running.stop(pending()).await);
    assert_eq!(std::fs::read_to_string(left).unwrap(), "cleared\n");
}

#[tokio::test]
async fn who_asks_again_waits_for_no_grace() {
    let line = "trap '' TERM; echo 'Running job: job_1_0002'; sleep 3600";
    let mut running = start(line, LONG);
    job_of(&running).await;
    assert!(running.stop(ready(())).await);
}

#[tokio::test]
async fn what_is_left_running_and_holds_the_pipes_does_not_hold_up_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = fifo(dir.path());
    let line = format!("cat '{fifo}' & echo 'Submitted application application_1_0002'; exit 4");
    let mut running = start(&line, Waits { pipes: Duration::from_millis(1), ..LONG });
    assert_eq!(running.ended().await.unwrap().code(), Some(4));
    assert!(!running.reading.is_finished(), "nothing held the pipes");
    // Lets it end, and with it the reading.
    tokio::fs::write(&fifo, "").await.unwrap();
    running.waits = LONG;
    assert!(running.drained().await);
    assert_eq!(running.heard().job(), "job_1_0002".parse().ok());
}

#[tokio::test]
async fn one_that_is_dropped_leaves_no_process_of_its_group() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = fifo(dir.path());
    let running = start(&format!("(sleep 3600) 3>'{fifo}' & sleep 3600"), LONG);
    let (opened, opens) = tokio::sync::oneshot::channel();
    let (read, reads) = tokio::sync::oneshot::channel();
    // A thread that nobody waits for, should it never end.
    std::thread::spawn(move || {
        // Opens once the grandchild has it open, and is at its end once that is gone.
        let mut held = std::fs::File::open(fifo).unwrap();
        opened.send(()).unwrap();
        read.send(held.read(&mut [0]).unwrap())
    });
    opens.await.unwrap();
    drop(running);
    assert_eq!(timeout(LONG.pipes, reads).await.expect("it lives on").unwrap(), 0);
}
