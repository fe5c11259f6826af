//! `drover simulate` as a person meets it.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Exit code, standard output, standard error.
fn drover(arguments: &[&str]) -> (i32, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_drover"))
        .args(arguments)
        .env_remove("DROVER_CONFIG")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (run.status.code().unwrap(), text(run.stdout), text(run.stderr))
}

const EXAMPLE: &str = "examples/one-slow-node.toml";

fn json(arguments: &[&str]) -> Value {
    let (code, said, error) = drover(&[&["simulate", EXAMPLE, "--json"], arguments].concat());
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&said).unwrap()
}

#[test]
fn policies_are_compared_under_the_same_luck_and_a_slow_node_is_made_good() {
    let told = json(&["--policy", "none,drover", "--seeds", "2"]);
    assert_eq!((&told["baseline"], &told["complete"]), (&"none".into(), &true.into()));
    assert_eq!(told["slowness_is_tied_to"], serde_json::json!(["the time"]));
    let [none, drover] = [0, 1].map(|nth| &told["policies"][nth]);
    assert_eq!((&none["against"], &none["jobs"]["count"]), (&Value::Null, &20.into()));
    assert!(none["costs"]["copies"]["mean"] == 0.0 && drover["costs"]["copies"]["mean"].as_f64() > Some(0.0));
    let less = |of: &str| drover["against"]["jobs"][of]["mean"].as_f64().unwrap();
    assert!(less("mean") > 20.0 && less("p90") > 20.0, "{drover}");
}

#[test]
fn the_same_seeds_give_the_same_bytes() {
    let run = || drover(&["simulate", EXAMPLE, "--policy", "none,mantri", "--seeds", "3", "--json"]).1;
    assert_eq!(run(), run());
}

#[test]
fn a_table_for_people_names_what_slowness_is_tied_to_and_every_policy() {
    let (code, said, error) = drover(&["simulate", EXAMPLE, "--policy", "none,hadoop,late", "--seeds", "1"]);
    assert_eq!(code, 0, "{error}");
    for word in ["tied to: the time", "none", "hadoop", "late", "container-s", "Less than under none"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn what_is_wrong_in_a_scenario_is_told_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.toml");
    std::fs::write(&file, "[cluster]\nnodes = 3\n[hadoop]\nreport = -1\n[[jobs]]\nname = \"a\"\nmaps.tasks = 2\n")
        .unwrap();
    let (code, said, error) = drover(&["simulate", file.to_str().unwrap()]);
    assert_eq!((code, said.as_str()), (2, ""));
    assert!(error.contains("bad.toml:4: hadoop.report: must be 0.01 s at least"), "{error}");
    let (code, _, error) = drover(&["simulate", "nowhere.toml"]);
    assert!(code == 2 && error.contains("nowhere.toml: cannot be read"), "{error}");
    let (code, _, error) = drover(&["simulate", EXAMPLE, "--policy", "best"]);
    assert!(code == 2 && error.contains("known are late"), "{error}");
}

#[test]
fn every_example_is_a_scenario_that_ends() {
    let all = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap();
    let files: Vec<_> = all.map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let (code, _, error) =
            drover(&["simulate", file.to_str().unwrap(), "--policy", "none", "--seeds", "1", "--json"]);
        assert_eq!(code, 0, "{}: {error}", file.display());
    }
}

#[test]
fn job_histories_of_a_directory_are_a_workload_and_what_was_assumed_and_mended_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let cluster = dir.path().join("cluster.toml");
    std::fs::write(&cluster, "[cluster]\nnodes = 4\nmemory_mb = 1024\nqueues = [{ name = \"etl\", share = 1 }]\n")
        .unwrap();
    let run = |cluster: &Path, more: &[&str]| {
        let trace = ["simulate", cluster.to_str().unwrap(), "--trace", "tests/recorded/3.4.3/jhist/json"];
        drover(&[&trace, more].concat())
    };
    let (code, said, error) = run(&cluster, &["--policy", "none,late", "--seeds", "1"]);
    assert_eq!(code, 0, "{error}");
    for words in
        ["the attempt, as in the trace", "lies no conf", "2 tasks that a copy won", "1 of 1 jobs were in queues"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    std::fs::write(&cluster, "[cluster]\nnodes = 4\nmemory_mb = 256\n").unwrap();
    let (code, _, error) = run(&cluster, &[]);
    assert!(
        code == 2 && error.contains("cluster.toml:3: cluster.memory_mb: a container of the trace asks for 320"),
        "{error}"
    );
}
