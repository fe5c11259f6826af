//! `drover simulate` as a person meets it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
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
    assert_eq!(told["slowness_is_tied_to"], serde_json::json!(["the node"]));
    let [none, drover] = [0, 1].map(|nth| &told["policies"][nth]);
    assert_eq!((&none["against"], &none["jobs"]["count"]), (&Value::Null, &20.into()));
    assert!(none["costs"]["copies"]["mean"] == 0.0 && drover["costs"]["copies"]["mean"].as_f64() > Some(0.0));
    let less = |of: &str| drover["against"]["jobs"][of]["mean"].as_f64().unwrap();
    assert!(less("mean") > 20.0 && less("p90") > 20.0, "{drover}");
}

#[test]
fn every_example_runs_and_drover_makes_none_of_them_slower() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let path = entry.unwrap().path().display().to_string();
        let words = ["simulate", &path, "--policy", "none,drover", "--seeds", "2", "--json"];
        let (code, said, error) = drover(&words);
        assert_eq!(code, 0, "{path}: {error}");
        let told: Value = serde_json::from_str(&said).unwrap();
        let [none, with] = [0, 1].map(|nth| told["policies"][nth]["jobs"]["of"]["mean"]["mean"].as_f64().unwrap());
        assert!(with <= 1.01 * none, "{path}: {with} s of {none} s");
    }
}

#[test]
fn the_same_seeds_give_the_same_bytes() {
    let run = || drover(&["simulate", EXAMPLE, "--policy", "none,mantri", "--seeds", "3", "--json"]).1;
    assert_eq!(run(), run());
}

#[test]
fn as_many_threads_as_there_are_give_the_bytes_that_one_gives() {
    let run = |threads: &str, dir: &Path| {
        let words = ["simulate", EXAMPLE, "--policy", "none,mantri", "--seeds", "5", "--json", "--out"];
        let mut run = Command::new(env!("CARGO_BIN_EXE_drover"));
        run.args(words).arg(dir).env("RAYON_NUM_THREADS", threads).env_remove("DROVER_CONFIG");
        let ended = run.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        (ended.stdout, files(dir))
    };
    let temp = tempfile::tempdir().unwrap();
    assert!(run("1", &temp.path().join("one")) == run("7", &temp.path().join("seven")));
}

#[test]
fn a_table_for_people_names_what_slowness_is_tied_to_and_every_policy() {
    let (code, said, error) = drover(&["simulate", EXAMPLE, "--policy", "none,hadoop,late", "--seeds", "1"]);
    assert_eq!(code, 0, "{error}");
    for word in ["tied to: the node", "none", "hadoop", "late", "container-s", "Less than under none"] {
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

/// The files of a directory, by name.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}

#[test]
fn a_report_holds_every_file_the_same_bytes_each_time_and_what_json_prints() {
    let temp = tempfile::tempdir().unwrap();
    let report = |name: &str| {
        let dir = temp.path().join(name);
        let out = dir.to_str().unwrap();
        let common = ["simulate", EXAMPLE, "--policy", "none,drover", "--seeds", "2"];
        let (code, said, error) = drover(&[&common[..], &["--job", "sessions/3", "--json", "--out", out]].concat());
        assert_eq!(code, 0, "{error}");
        (files(&dir), said)
    };
    let (one, said) = report("one");
    let names: Vec<&str> = one.keys().map(String::as_str).collect();
    let all = ["cdf.svg", "gain.svg", "jobs.csv", "phases.csv", "report.html", "summary.json", "swimlane.svg"];
    assert_eq!(names, all);
    assert_eq!(one["summary.json"], said.as_bytes());
    let page = String::from_utf8(one["report.html"].clone()).unwrap();
    let again = "drover simulate examples/one-slow-node.toml --policy &#39;none,drover&#39; --baseline none --seeds 2 --preset adapted --job sessions/3</pre>";
    assert!(page.contains(again) && page.contains(env!("CARGO_PKG_VERSION")));
    assert!(one == report("two").0, "another directory gives other bytes");
    assert!(one == report("one").0, "an earlier report is no obstacle");
}

#[test]
fn a_query_of_three_jobs_is_told_as_a_workflow_and_has_rows_of_its_own() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().to_str().unwrap();
    let query = ["simulate", "examples/query.toml", "--policy", "none,drover", "--seeds", "2"];
    let (code, said, error) = drover(&[&query[..], &["--json", "--out", out]].concat());
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&said).unwrap();
    let [none, drover] = [0, 1].map(|nth| &told["policies"][nth]);
    assert_eq!((&none["workflows"]["count"], &none["jobs"]["count"]), (&12.into(), &36.into()));
    assert!(drover["against"]["workflows"]["mean"]["mean"].is_number(), "{drover}");
    let mut rows = csv::Reader::from_path(temp.path().join("workflows.csv")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = rows.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 2 * 2 * 6);
    let of = |key: &str| rows[1][key].as_str();
    assert_eq!([of("workflow"), of("nth"), of("jobs"), of("phases")], ["join", "1", "3", "6"]);
    assert_eq!((of("policy"), of("seed"), of("arrived_ms")), ("none", "1", "120000"));
    let page = String::from_utf8(files(temp.path()).remove("report.html").unwrap()).unwrap();
    assert!(page.contains("<td>workflows</td>"));
    assert!(!json(&["--policy", "none", "--seeds", "1"]).to_string().contains("workflows"), "none where no job waits");
}

#[test]
fn what_is_not_a_report_is_not_written_over_and_is_told_before_anything_runs() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("thesis.tex"), "years").unwrap();
    let out = temp.path().to_str().unwrap();
    let (code, said, error) = drover(&["simulate", EXAMPLE, "--seeds", "100000", "--out", out]);
    assert_eq!((code, said.as_str()), (2, ""));
    assert!(error.contains("no earlier report"), "{error}");
    assert_eq!(files(temp.path()).into_keys().collect::<Vec<_>>(), ["thesis.tex"]);
}

#[test]
fn a_report_is_written_though_nobody_reads_what_is_told() {
    let temp = tempfile::tempdir().unwrap();
    for form in ["", "--json"] {
        let out = temp.path().join(format!("report{form}"));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut run = Command::new(env!("CARGO_BIN_EXE_drover"));
        run.args(["simulate", EXAMPLE, "--policy", "none", "--seeds", "1", "--out"]).arg(&out);
        run.args([form].iter().filter(|form| !form.is_empty())).env_remove("DROVER_CONFIG").stdout(writer);
        let ended = run.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        // Of a machine that is that slow there are lines that tell how far it is.
        let error = String::from_utf8(ended.stderr).unwrap();
        let is_progress = |line: &str| line.contains(" runs") || line.ends_with("has begun");
        assert_eq!((ended.status.code(), error.lines().find(|line| !is_progress(line))), (Some(1), None), "{form}");
        assert!(files(&out).contains_key("report.html"), "{form}");
    }
}

#[test]
fn a_job_that_is_not_there_is_told_before_anything_runs() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("report");
    for (job, told) in [("sessions/10", "no such job"), ("sessions", "a job is a name and a number")] {
        let (code, _, error) =
            drover(&["simulate", EXAMPLE, "--seeds", "100000", "--out", out.to_str().unwrap(), "--job", job]);
        assert!(code == 2 && error.contains(told) && !out.exists(), "{error}");
    }
}

#[test]
fn any_policy_is_the_baseline_and_is_run_though_it_is_not_among_those_compared() {
    let told = json(&["--policy", "none,drover", "--baseline", "hadoop", "--seeds", "1"]);
    let policies = told["policies"].as_array().unwrap();
    let names: Vec<&str> = policies.iter().map(|one| one["policy"].as_str().unwrap()).collect();
    assert_eq!((told["baseline"].as_str(), names), (Some("hadoop"), vec!["hadoop", "none", "drover"]));
    assert!(policies[0]["against"].is_null());
    let against: Vec<_> = policies[1..].iter().map(|one| one["against"]["baseline"].as_str()).collect();
    assert_eq!(against, [Some("hadoop"); 2]);
}

/// Does a process have SIGINT caught yet?
#[cfg(target_os = "linux")]
fn catches_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}

/// Drover so asked, and interrupted as soon as it can be.
#[cfg(target_os = "linux")]
fn interrupted(words: &[&str]) -> std::process::Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_drover"));
    let mut child = run
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !catches_interrupts(child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_experiments_are_told_as_far_as_they_have_ended_and_no_document_is_written() {
    let temp = tempfile::tempdir().unwrap();
    let page = temp.path().join("reproduction.md");
    // The first is a worked example and ends at once; the second would take days.
    let words = ["reproduce", "late.fig2", "mantri.s63", "--seeds", "10000", "--json", "--markdown"];
    let ended = interrupted(&[&words[..], &[page.to_str().unwrap()]].concat());
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{error}");
    let found: Vec<Value> = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(found.iter().all(|one| one["experiment"] == "late.fig2"), "{found:?}");
    let missing = if found.is_empty() { 2 } else { 1 };
    assert!(
        error.contains(&format!("interrupted: {missing} of 2 experiments are missing, and no document")),
        "{error}"
    );
    assert!(!page.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_keeps_what_is_done_says_how_much_is_missing_and_ends_with_130() {
    let ended = interrupted(&["simulate", EXAMPLE, "--policy", "none", "--seeds", "100000", "--json"]);
    let error = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{error}");
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let (missing, done) = (told["missing_runs"].as_u64().unwrap(), told["policies"][0]["seeds"].as_u64().unwrap());
    assert_eq!((&told["complete"], missing + done), (&false.into(), 100_000));
    assert!(error.contains(&format!("interrupted: {missing} of 100000 runs are missing")), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_report_holds_what_is_done_and_says_that_it_is_cut_short() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("report");
    let words = ["simulate", EXAMPLE, "--policy", "none,late", "--seeds", "100000", "--json", "--out"];
    let words = [&words[..], &[dir.to_str().unwrap()]].concat();
    let told = |ended: &std::process::Output| serde_json::from_slice::<Value>(&ended.stdout).unwrap();
    let done = |told: &Value| -> u64 {
        told["policies"].as_array().unwrap().iter().filter_map(|one| one["seeds"].as_u64()).sum()
    };
    // Where the interrupt comes before a first run has been begun there is nothing to write.
    let mut tries = (0..20).map(|_| interrupted(&words));
    let ended = tries.find(|ended| ended.status.code() != Some(130) || done(&told(ended)) > 0).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    let (told, files) = (told(&ended), files(&dir));
    assert_eq!(files["summary.json"], ended.stdout);
    let page = String::from_utf8(files["report.html"].clone()).unwrap();
    let missing = format!("Cut short: {} of 200000 runs are missing", told["missing_runs"]);
    assert!(page.contains(&missing) && !files.contains_key("swimlane.svg"), "{missing}");
    let rows = String::from_utf8(files["jobs.csv"].clone()).unwrap().lines().count() - 1;
    // Ten jobs a run.
    assert_eq!(rows as u64, 10 * done(&told));
}

#[test]
fn where_standard_error_is_no_terminal_a_line_there_tells_how_far_it_is_and_none_on_standard_output() {
    let mut run = Command::new(env!("CARGO_BIN_EXE_drover"));
    run.args(["simulate", EXAMPLE, "--policy", "none", "--seeds", "100000", "--json"]);
    run.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("DROVER_CONFIG");
    let piped = std::process::Stdio::piped;
    let mut child = run.stdout(piped()).stderr(piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(line.contains(" of 100000 runs"), "{line}");
    assert!(ended.stdout.is_empty());
}

#[test]
fn a_run_that_cannot_be_ended_is_named_and_what_came_of_the_others_is_told_and_written() {
    // The only node is lost at 20 s, before some seeds' map is done.
    let temp = tempfile::tempdir().unwrap();
    let (file, dir) = (temp.path().join("one-node.toml"), temp.path().join("report"));
    let text = "about = \"One node\"\n[cluster]\nnodes = 1\n[[trouble]]\nnodes = [0]\nfrom = 20\nlost = true\n[[jobs]]\nname = \"a\"\n\
                maps = { tasks = 1, work = { uniform = { low = 1, high = 40 } } }\n";
    std::fs::write(&file, text).unwrap();
    let [file, out] = [&file, &dir].map(|path| path.to_str().unwrap());
    let words = ["simulate", file, "--policy", "none", "--seeds", "12", "--json", "--out", out];
    let (code, said, error) = drover(&words);
    let told: Value = serde_json::from_str(&said).unwrap();
    let (missing, done) = (told["missing_runs"].as_u64().unwrap(), told["policies"][0]["seeds"].as_u64().unwrap());
    assert!(missing > 0 && done > 0 && missing + done == 12 && told["complete"] == false, "{told}");
    assert_eq!((code, &files(&dir)["summary.json"]), (1, &said.into_bytes()));
    let words = format!("{file}: {missing} of 12 runs could not be ended, the first of them One node: none with seed ");
    assert!(error.contains(&words) && error.contains("jobs wait for containers that never come"), "{error}");
}

#[test]
fn the_guides_commands_work() {
    let guide = include_str!("../docs/simulating.md");
    let commands: Vec<&str> =
        guide.lines().filter_map(|line| line.strip_prefix("    drover simulate examples/")).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    let temp = tempfile::tempdir().unwrap();
    for command in commands {
        // One seed is enough to see that it runs, and nothing is left behind.
        let mut words = vec!["simulate".to_owned()];
        let mut given = format!("examples/{command}").split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter();
        while let Some(word) = given.next() {
            match word.as_str() {
                "--seeds" => drop(given.next()),
                "--out" => words.extend([word, temp.path().join(given.next().unwrap()).display().to_string()]),
                _ => words.push(word),
            }
        }
        words.extend(["--seeds".into(), "1".into()]);
        let (code, said, error) = drover(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(code == 0 && !said.is_empty(), "{command}: {error}");
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
    for words in [
        "the attempt, as in the trace",
        "the node, as in the trace",
        "nodes stand for the trace's",
        "are its JVM's start",
        "lies no conf",
        "2 tasks that a copy won",
        "no queue of the names that 1 of 1 jobs have",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    std::fs::write(&cluster, "[cluster]\nnodes = 4\nmemory_mb = 256\n").unwrap();
    let (code, _, error) = run(&cluster, &[]);
    assert!(
        code == 2
            && error.contains("cluster.toml:3: cluster.memory_mb: a container of slow-reduces late, of the trace,"),
        "{error}"
    );
}

#[test]
fn experiments_that_were_kept_are_not_run_again_and_say_the_same() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("kept.jsonl");
    let run = || drover(&["reproduce", "late.fig2", "--seeds", "2", "--json", "--keep", file.to_str().unwrap()]);
    let (first, again) = (run(), run());
    assert_eq!((first.0, again.0, &first.1), (0, 0, &again.1), "{}", again.2);
    assert!(again.2.contains("1 of 1 experiments are of this program"), "{}", again.2);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1);
}

#[test]
fn a_sweep_runs_a_policy_with_each_value_and_draws_a_line_and_settings_hold() {
    let temp = tempfile::tempdir().unwrap();
    let words = ["--policy", "none,late", "--seeds", "2", "--set", "late.min_reports=2"];
    let out = ["--sweep", "late.min_age=1s,10m", "--out", temp.path().to_str().unwrap()];
    let told = json(&[&words[..], &out].concat());
    assert_eq!(told["sweep"], serde_json::json!({"setting": "late.min_age", "values": ["1s", "10m"]}));
    let names: Vec<&Value> = told["policies"].as_array().unwrap().iter().map(|one| &one["policy"]).collect();
    assert_eq!(names, ["none", "late 1s", "late 10m"]);
    let copies = |nth: usize| told["policies"][nth]["costs"]["copies"]["mean"].as_f64().unwrap();
    assert!(copies(1) > 0.0 && copies(2) == 0.0, "{} copies, {}", copies(1), copies(2));
    let files = files(temp.path());
    let plot = String::from_utf8(files["sweep.svg"].clone()).unwrap();
    assert!(plot.contains("late.min_age") && plot.contains("10m") && !plot.contains("late 10m"), "{plot}");
    let page = String::from_utf8(files["report.html"].clone()).unwrap();
    assert!(
        page.contains("--set &#39;late.min_reports=2&#39; --sweep &#39;late.min_age=1s,10m&#39;"),
        "the command gives it again"
    );
    let none = json(&["--policy", "late", "--seeds", "1", "--set", "late.min_age=10m"]);
    assert_eq!(none["policies"][0]["costs"]["copies"]["mean"], 0.0);
}

#[test]
fn a_setting_that_does_not_exist_or_that_a_command_does_not_take_is_refused() {
    for set in ["--set", "--sweep"] {
        let value = if set == "--set" { "govern.cluster_cab=0.1" } else { "govern.cluster_cab=0.1,0.2" };
        let (code, said, error) = drover(&["simulate", EXAMPLE, set, value]);
        assert!((code, said.as_str()) == (2, "") && error.contains("govern.cluster_cap"), "{error}");
    }
    for words in [["--set", "policy=late"], ["--sweep", "govern.holdout=0.1,0.2"], ["--set", "mode=advise"]] {
        let (code, said, error) = drover(&[&["simulate", EXAMPLE], &words[..]].concat());
        assert!((code, said.as_str()) == (2, "") && error.contains("cannot be set here: "), "{error}");
    }
    let (code, _, error) = drover(&["reproduce", "late.fig2", "--set", "late.min_reports=2"]);
    assert!(code == 2 && error.contains("`drover reproduce` takes no settings"), "{error}");
}

#[test]
fn the_document_of_the_papers_numbers_holds_every_experiment() {
    let (code, listed, error) = drover(&["reproduce", "--list", "--json"]);
    assert_eq!(code, 0, "{error}");
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let names: Vec<&str> = listed.iter().filter_map(|one| one["experiment"].as_str()).collect();
    let document = include_str!("../docs/reproduction.md");
    let told: Vec<&str> = document.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(
        !names.is_empty() && told == names,
        "{told:?}, {names:?}: `drover reproduce all --markdown` writes it anew"
    );
}

#[test]
fn each_number_that_is_not_reproduced_has_its_reason_and_none_has_one_that_is() {
    let rows = |document: &'static str| document.lines().filter_map(|line| line.strip_prefix("| "));
    let key = |row: &str| row.split(" | ").take(2).collect::<Vec<_>>().join(": ");
    let found =
        rows(include_str!("../docs/reproduction.md")).filter(|row| row.split(" | ").nth(6) == Some("not_reproduced"));
    let missed: BTreeSet<String> = found.map(key).collect();
    let reasons = rows(include_str!("../docs/not-reproduced.md"))
        .filter(|row| !row.starts_with("---") && !row.starts_with("experiment"));
    let told: BTreeSet<String> = reasons.map(key).collect();
    assert!(!missed.is_empty());
    assert_eq!(missed, told);
}
