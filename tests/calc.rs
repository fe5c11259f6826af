//! `drover calc`: the papers' formulas as a person meets them. The formulas' own tests are the engine's.

use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> (i32, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_drover"));
    command.args(arguments).current_dir(dir.path()).env_clear().stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn calc(line: &str) -> (i32, String, String) {
    run(&["calc"].into_iter().chain(line.split_whitespace()).collect::<Vec<_>>())
}

/// The answer in JSON.
fn answer(line: &str) -> Value {
    let (code, said, error) = calc(&format!("{line} --json"));
    assert_eq!(code, 0, "{line}: {error}");
    serde_json::from_str(&said).unwrap()
}

/// What a wrong command line is told.
fn refusal(line: &str) -> String {
    let (code, said, error) = calc(line);
    assert_eq!((code, said.as_str()), (2, ""), "{line}");
    error
}

const MANTRI: &str = "mantri --elapsed 60 --size 100 --read 25 --wrapup 5 --t-new 10,12,30 --copies 1";
const OMEGA: &str = "omega --size 100 --bandwidth 50 --contention 0.6 --exclusive-probability 0.95";

#[test]
fn late_gives_the_13_3_and_10_seconds_of_its_figure_2() {
    let left = |line| answer(line)["time_left_s"].as_f64().unwrap();
    assert!((left("late --progress 0.6 --elapsed 20") - 13.333).abs() < 1e-3);
    assert_eq!(left("late --progress 0.5 --elapsed 10"), 10.0);
}

#[test]
fn clone_counts_are_exact_and_reach_what_they_say() {
    let clones = |line: &str| answer(&format!("clones {line}"));
    assert_eq!(
        clones("--tasks 1 --straggler-probability .1 --epsilon .1"),
        json!({"clones_per_task": 1, "job_clones": 1, "straggle_probability": 0.1})
    );
    let ten = clones("--tasks 10 --straggler-probability 0.1 --epsilon 0.05");
    assert_eq!((&ten["clones_per_task"], &ten["job_clones"]), (&json!(3), &json!(7)));
    assert!((ten["straggle_probability"].as_f64().unwrap() - 0.009_955).abs() < 1e-6);
    assert_eq!(clones("--tasks 5000 --straggler-probability 0.5 --epsilon 0.05")["job_clones"], Value::Null);
}

#[test]
fn every_scheme_has_its_probability() {
    let straggle = |scheme: &str, p: &str| {
        let line = format!("straggle --tasks 10 --clones 3 --straggler-probability {p} --scheme {scheme}");
        answer(&line)["straggle_probability"].as_f64().unwrap()
    };
    for (scheme, probability) in [("task", 0.005_108), ("job", 0.180_948), ("cac", 0.144_098), ("cc", 0.010_190)] {
        assert!((straggle(scheme, "0.08") - probability).abs() < 1e-6, "{scheme}: {}", straggle(scheme, "0.08"));
    }
    assert_eq!(["task", "job", "cac", "cc"].map(|scheme| straggle(scheme, "0")), [0.0; 4]);
}

#[test]
fn mantri_decides_by_the_line_it_names() {
    let decided = |rest: &str| {
        let answer = answer(&format!("{MANTRI} {rest}"));
        (answer["decision"].as_str().unwrap().to_owned(), answer["rule"].as_str().unwrap().to_owned())
    };
    let says = |(decision, rule): (String, String), expected: &str, line: &str| {
        assert!(decision == expected && rule.contains(line), "{decision}: {rule}");
    };
    assert_eq!(answer(&format!("{MANTRI} --waiting true"))["t_rem_s"], 185.0);
    assert_eq!(answer(&format!("{MANTRI} --waiting true"))["t_new_mean_s"], 52.0 / 3.0);
    assert_eq!(answer(&format!("{MANTRI} --waiting true"))["probability"], 1.0);
    says(decided("--waiting true"), "kill_restart", "line 6");
    says(decided("--waiting true --restarts 3"), "duplicate", "line 7");
    says(decided("--waiting true --restarts 3 --delta 1"), "none", "gamma");
    says(decided("--waiting false"), "duplicate", "line 10");
    says(decided("--waiting false --period 60"), "none", "line 10");
    says(decided("--waiting false --period 60 --rho 1"), "duplicate", "line 10");
    // Exactly at the bounds: t_rem = 20 is E(t_new) + Delta and twice t_new; a gain of 30 is rho Delta.
    let at = "mantri --elapsed 20 --size 64MiB --read 32MiB --wrapup 0 --copies 1";
    assert_eq!(answer(&format!("{at} --t-new 10 --waiting true"))["decision"], "none");
    assert_eq!(answer(&format!("{at} --t-new 9.999 --waiting true"))["decision"], "kill_restart");
    let at = "mantri --elapsed 40 --size 2 --read 1 --wrapup 0 --copies 1 --waiting false";
    assert_eq!(answer(&format!("{at} --t-new 10"))["decision"], "none");
    assert_eq!(answer(&format!("{at} --t-new 9.999"))["decision"], "duplicate");
}

#[test]
fn the_bound_of_longest_first_and_the_best_wait_are_told() {
    assert_eq!(
        (&answer("lpt --slots 1")["bound"], &answer("lpt --slots 2")["bound"]),
        (&json!(1.0), &json!(7.0 / 6.0))
    );
    // Clones that compute alike read one after the other: r/B.
    assert_eq!(answer(OMEGA)["omega_s"], 2.0);
    let wait = answer(&format!("{OMEGA} --compute-times 1,1,1,8"));
    assert!((wait["omega_s"].as_f64().unwrap() - 0.8433).abs() < 1e-3, "{wait}");
    assert!(wait["duration_s"].as_f64() < wait["duration_without_wait_s"].as_f64(), "{wait}");
    let samples = OMEGA.replace("50", "40,60").replace("0.6", "0.6,0.5");
    assert!(answer(&samples)["omega_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_is_out_of_range_is_told_the_range_and_ends_with_2() {
    let clones = "clones --tasks 10 --straggler-probability 0.1 --epsilon";
    let straggle = "straggle --tasks 10 --straggler-probability 0.1";
    for (line, range) in [
        ("late --progress 0 --elapsed 20".to_owned(), "above 0, at most 1"),
        ("late --progress 1.01 --elapsed 20".to_owned(), "above 0, at most 1"),
        ("late --progress nan --elapsed 20".to_owned(), "above 0, at most 1"),
        ("late --progress 0.5 --elapsed -3".to_owned(), "seconds, from 0.001 to"),
        (format!("{clones} 0"), "above 0, below 1"),
        (format!("{clones} 1"), "above 0, below 1"),
        (format!("{clones} 0.1").replace("--tasks 10", "--tasks 0"), "a whole number from 1 to"),
        (format!("{clones} 0.1").replace("probability 0.1", "probability 1"), "from 0 to below 1"),
        (format!("{clones} 0.0500000000000000001"), "of at most 15 digits"),
        (format!("{straggle} --clones 0 --scheme task"), "a whole number from 1 to"),
        (format!("{straggle} --clones 101 --scheme cac"), "from 1 to 100"),
        (format!("{straggle} --clones 3 --scheme both"), "known are task, job, cac, cc"),
        (format!("{MANTRI} --waiting maybe"), "true, false"),
        (format!("{MANTRI} --waiting true").replace("--read 25", "--read 101"), "from 1 to --size, which is 100"),
        (format!("{MANTRI} --waiting true").replace("--read 25", "--read 0"), "bytes, from 1 to"),
        (format!("{MANTRI} --waiting true").replace("10,12,30", "10,-12,30"), "seconds, from 0.001 to"),
        (format!("{MANTRI} --waiting true --delta 1.5"), "from 0 to 1"),
        ("lpt --slots 0".to_owned(), "a whole number from 1 to"),
        (OMEGA.replace("--contention 0.6", "--contention 0"), "above 0, at most 1"),
        (OMEGA.replace("50", "50,60").replace("0.6", "0.5,0.6,0.7"), "one value each, or as many as the longest"),
    ] {
        let error = refusal(&line);
        assert!(error.contains(range), "{line}: {error}");
    }
}

/// The commands of a text, each with the lines that follow it, from lines that begin with `prompt`.
fn commands(text: &str, prompt: &str) -> Vec<(String, String)> {
    let joined = text.replace(" \\\n", " ");
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in joined.lines() {
        if let Some(command) = line.strip_prefix(prompt) {
            found.push((command.to_owned(), String::new()));
            open = true;
        } else if let Some(((_, output), said)) = found.last_mut().zip(line.strip_prefix("    ")).filter(|_| open) {
            *output += &format!("{said}\n");
        } else {
            open = false;
        }
    }
    found
}

#[test]
fn the_guides_commands_print_what_it_shows() {
    let guide = commands(include_str!("../docs/calc.md"), "    $ drover calc ");
    assert!(guide.len() >= 7);
    for (command, output) in guide {
        let (code, said, error) = calc(&command);
        assert_eq!((code, said), (0, output), "{command}: {error}");
    }
}

#[test]
fn the_examples_in_help_work_and_name_where_the_formula_stands() {
    for (formula, place) in [
        ("late", "§4"),
        ("clones", "§3.2"),
        ("straggle", "eq. 2"),
        ("mantri", "Pseudocode 1"),
        ("lpt", "Theorem 1"),
        ("omega", "§4.4"),
    ] {
        let (code, help, _) = calc(&format!("{formula} --help"));
        assert!(code == 0 && help.contains(place), "{help}");
        let examples = commands(&help, "  drover calc ");
        assert!(!examples.is_empty(), "{formula}");
        for (command, _) in examples {
            let (code, said, error) = calc(&command);
            assert!(code == 0 && !said.is_empty(), "{command}: {error}");
        }
    }
}
