//! `drover doctor` against pairs of ResourceManagers.

use crate::failover::{active, standby};
use crate::fake::{info, mock_server};
use serde_json::Value;
use tokio::process::Command;

/// Its exit code, and every check of that name as verdict and words.
async fn doctor(rms: &[String], name: &str) -> (i32, Vec<(String, String)>) {
    let dir = tempfile::tempdir().unwrap();
    let rms = format!("cluster.rm_urls={}", rms.join(","));
    // Nobody listens where the service would.
    let arguments = ["doctor", "--json", "--set", &rms, "--set", "listen.api=127.0.0.1:1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_drover"));
    let output = command.args(arguments).current_dir(dir.path()).env_clear().output().await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["name"] == name);
    let told = checks.map(|check| (word(check, "verdict"), word(check, "says"))).collect();
    (output.status.code().unwrap(), told)
}

#[tokio::test]
async fn an_active_and_a_standby_resource_manager_are_both_well() {
    let active = active(1).await;
    let standby = standby(&active).await;
    let (_, told) = doctor(&[standby.uri(), active.uri()], "resource manager").await;
    assert_eq!(told.iter().map(|(verdict, _)| verdict.as_str()).collect::<Vec<_>>(), ["ok", "ok"], "{told:?}");
    assert!(told[0].1.contains("is standby") && told[1].1.contains("is active"), "{told:?}");
    let (_, tasks) = doctor(&[standby.uri(), active.uri()], "tasks through the proxy").await;
    assert_eq!(tasks[0].0, "ok", "the jobs of the active one are looked at: {tasks:?}");
}

#[tokio::test]
async fn one_of_a_pair_that_is_down_is_warned_about_while_the_other_serves() {
    let active = active(1).await;
    let (_, told) = doctor(&["http://127.0.0.1:1".to_owned(), active.uri()], "resource manager").await;
    assert_eq!(told.iter().map(|(verdict, _)| verdict.as_str()).collect::<Vec<_>>(), ["warn", "ok"], "{told:?}");
}

#[tokio::test]
async fn two_in_standby_fail_with_what_is_missing() {
    let (a, b) = (mock_server().await, mock_server().await);
    info(&a, "STANDBY", 1).await;
    info(&b, "STANDBY", 2).await;
    let (code, told) = doctor(&[a.uri(), b.uri()], "resource manager").await;
    assert_eq!(code, 4);
    assert_eq!(told.last().unwrap(), &("fail".to_owned(), "none of them is active".to_owned()), "{told:?}");
}
