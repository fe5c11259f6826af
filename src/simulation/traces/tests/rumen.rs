//! Rumen's JSON.

use super::*;

fn attempt(id: &str, result: &str, from: u64, to: i64) -> String {
    format!(
        r#"{{"attemptID": "{id}", "hostName": "/r1/h{id}", "result": "{result}", "startTime": {from}, "finishTime": {to}}}"#
    )
}

fn task(id: &str, attempts: &[String]) -> String {
    format!(r#"{{"taskID": "{id}", "inputBytes": 64, "attempts": [{}]}}"#, attempts.join(","))
}

/// Its tasks one a line.
fn job(id: &str, more: &str, tasks: &[String]) -> String {
    let tasks = tasks.join(",\n");
    let none = if more.contains("reduceTasks") { "" } else { ",\n\"reduceTasks\": []" };
    format!(
        "{{\"jobID\": \"{id}\", \"user\": \"geek1\", \"jobName\": null, \"submitTime\": 500, {more}\n\"mapTasks\": [{tasks}]{none}}}\n"
    )
}

const WELL: &str = r#""outcome": "SUCCESS","#;

/// A map that took from 1 s to 3 s.
fn ran(task_id: &str, attempt_id: &str) -> String {
    task(task_id, &[attempt(attempt_id, "SUCCESS", 1_000, 3_000)])
}

/// What is counted, by the words before the colon.
fn counted(text: &str) -> Vec<(String, u64)> {
    let repairs = of(text.as_bytes()).unwrap().repairs;
    let first_words = |what: &str| what.split(':').next().unwrap_or_default().to_owned();
    repairs.iter().map(|(what, count)| (first_words(what), *count)).collect()
}

#[test]
fn jobs_come_with_their_users_and_tasks_with_where_they_ran() {
    let one = task("t1", &[attempt("a1", "SUCCESS", 1_000, 3_000), attempt("a2", "KILLED", 1_500, 3_000)]);
    let two = task("t2", &[attempt("a3", "KILLED", 1_000, -1), attempt("a4", "KILLED", 0, -1)]);
    let text = job("j1", WELL, &[one, two]) + &job("j2", WELL, &[]);
    let trace = of(text.as_bytes()).unwrap();
    assert_eq!(trace.jobs.len(), 1);
    let only = &trace.jobs[0];
    assert_eq!((only.user.as_str(), only.name.as_str(), only.phases[0].tasks.count()), ("geek1", "j1", 2));
    let hosts: Vec<&str> = trace.hosts.all().iter().map(|host| host.name.as_str()).collect();
    assert_eq!((hosts, only.phases[0].tasks.task(0).unwrap().host), (vec!["/r1/ha1"], Some(0)));
    assert_eq!(counted(&text).into_iter().map(|(_, count)| count).collect::<Vec<_>>(), [1; 5], "{:?}", counted(&text));
}

#[test]
fn a_job_without_one_of_its_lists_and_inputs_below_zero_are_counted() {
    let text = job("j1", WELL, &[ran("t1", "a1").replace("\"inputBytes\": 64", "\"inputBytes\": -55")]);
    let named = |text: &str| counted(text).into_iter().map(|(what, _)| what).collect::<Vec<_>>();
    assert_eq!(named(&text), ["inputs below zero"]);
    let misspelt = job("j2", WELL, &[ran("t2", "a2")]).replace("reduceTasks", "reduceTask");
    assert!(named(&misspelt)[0].starts_with("jobs without a list of their maps"), "{:?}", named(&misspelt));
}

#[test]
fn instants_below_zero_are_counted_and_empty_ids_are_told() {
    let text = job("j1", WELL, &[ran("t1", "a1")]);
    let early = text.replace("\"submitTime\": 500", "\"submitTime\": -500");
    assert_eq!(counted(&early), [("instants below zero".to_owned(), 1)]);
    assert_eq!(counted(&text.replace("\"submitTime\": 500", "\"submitTime\": -1")), [], "not told");
    for (id, what) in [("j1", "a job"), ("t1", "a task"), ("a1", "an attempt")] {
        let said = told(text.replace(&format!("\"{id}\""), "\"\"").as_bytes());
        assert!(said.starts_with("1: in ") && said.ends_with(&format!("{what} has an empty id")), "{said}");
    }
}

#[test]
fn a_gzipped_file_is_read_whole_as_the_plain_one() {
    let one = |nth: u32| {
        let tasks = [0, 1].map(|task| ran(&format!("t{nth}_{task}"), &format!("a{nth}_{task}")));
        job(&format!("j{nth}"), WELL, &tasks)
    };
    let text: String = (0..500).map(one).collect();
    let trace = of(&packed(&text)).unwrap();
    assert_eq!((trace.jobs.len(), trace.jobs[499].phases[0].tasks.count()), (500, 2));
    assert_eq!(trace, of(text.as_bytes()).unwrap());
}

#[test]
fn a_damaged_gzip_file_is_told_with_the_line_that_was_reached() {
    let mut bytes = packed(&(job("j1", WELL, &[ran("t1", "a1")]) + &" \n".repeat(40_000)));
    // Its checksum.
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    let said = told(&bytes);
    assert!(said.starts_with("40004: cannot be read on: ") && !said.contains("line 0"), "{said}");
}

#[test]
fn attempts_without_an_id_are_told_apart_though_tasks_of_two_jobs_have_the_same() {
    let nameless = ran("t1", "a1").replace("\"attemptID\": \"a1\", ", "");
    let trace = of((job("j1", WELL, std::slice::from_ref(&nameless)) + &job("j2", WELL, &[nameless])).as_bytes());
    assert_eq!(trace.unwrap().jobs.len(), 2);
}

#[test]
fn a_queue_is_known_by_its_own_name_without_the_path_to_it() {
    let queue = |queue: &str| {
        let text = job("j1", &format!(r#"{WELL} "queue": "{queue}","#), &[ran("t1", "a1")]);
        of(text.as_bytes()).unwrap().jobs.remove(0).queue
    };
    assert_eq!(["root.users.etl", "etl", "root."].map(queue), ["etl", "etl", "default"]);
}

#[test]
fn what_cannot_be_is_told_with_the_line_on_which_its_job_begins() {
    let second =
        |tasks: &[String]| job("j1", WELL, &[ran("t1", "a1"), ran("t2", "a2")]) + "\n\n" + &job("j2", WELL, tasks);
    let said = |tasks: &[String]| told(second(tasks).as_bytes());
    // The first has 4 lines, and two are empty.
    assert_eq!(said(&[ran("t3", "a3"), ran("t4", "a1")]), "7: in j2: a1 was there before");
    assert_eq!(said(&[ran("t3", "a3"), ran("t3", "a4")]), "7: in j2: t3 was there before");
    let backwards = task("t3", &[attempt("a3", "SUCCESS", 3_000, 2_000)]);
    assert_eq!(said(&[backwards]), "7: in j2: a3 ends at 2000, before it begins at 3000");
    let twice = job("j1", WELL, &[ran("t1", "a1")]).repeat(2);
    assert_eq!(told(twice.as_bytes()), "4: in j1: j1 was there before");
    assert!(told(b"{\n\"jobID\": 7}").starts_with("2: "), "{}", told(b"{\n\"jobID\": 7}"));
}

#[test]
fn a_task_that_is_map_and_reduce_is_told() {
    let more = format!(r#"{WELL} "reduceTasks": [{}],"#, ran("t1", "a2"));
    assert_eq!(told(job("j1", &more, &[ran("t1", "a1")]).as_bytes()), "1: in j1: t1 was there before");
}

#[test]
fn set_up_and_clean_up_and_jobs_that_did_not_succeed_or_tell_of_fewer_tasks_are_counted() {
    let of_job = |more: &str| counted(&job("j1", more, &[ran("t1", "a1")]));
    let words =
        |all: &[(&str, u64)]| all.iter().map(|(words, count)| ((*words).to_owned(), *count)).collect::<Vec<_>>();
    assert_eq!(of_job(WELL), []);
    let others = r#""outcome": "SUCCESS", "otherTasks": [{"taskID": "s", "attempts": []}, {"taskID": "c"}],"#;
    assert_eq!(of_job(others), words(&[("events of a job's set-up and clean-up", 2)]));
    for outcome in ["KILLED", "FAILED"] {
        let more = format!(r#""outcome": "{outcome}","#);
        assert_eq!(of_job(&more), words(&[("jobs that failed or were killed", 1)]));
    }
    assert_eq!(of_job(""), words(&[("jobs without an end", 1)]));
    let fewer = r#""outcome": "SUCCESS", "totalMaps": 2, "totalReduces": 0,"#;
    assert_eq!(of_job(fewer), words(&[("jobs that tell of fewer tasks than they have", 1)]));
}

#[test]
fn an_input_that_is_not_known_is_said_and_one_of_nothing_is_not() {
    let said = |bytes: &str| {
        let text = job("j1", WELL, &[ran("t1", "a1").replace("64", bytes)]);
        of(text.as_bytes()).unwrap().assumed.into_iter().find(|said| said.starts_with("no input"))
    };
    assert_eq!(said("-1").as_deref(), Some("no input is told of 1 of 1 tasks: they have none"));
    assert_eq!(said("0"), None);
}

#[test]
fn where_a_task_does_not_tell_its_input_its_attempt_does() {
    let [map, reduce] = [("t1", "a1"), ("t2", "a2")].map(|(task, attempt)| {
        let read = r#""startTime": 1000, "hdfsBytesRead": 53, "reduceShuffleBytes": 7"#;
        ran(task, attempt).replace("64", "-1").replace(r#""startTime": 1000"#, read)
    });
    let text = job("j1", &format!(r#"{WELL} "reduceTasks": [{reduce}],"#), &[map]);
    let inputs =
        of(text.as_bytes()).unwrap().jobs[0].phases.each_ref().map(|phase| phase.tasks.task(0).unwrap().input.0);
    assert_eq!(inputs, [53, 7]);
}

#[test]
fn results_that_rumen_has_none_of_are_told_with_their_job_and_attempt_and_no_success_passes_for_a_failure() {
    let of_attempt =
        |result: &str| job("j1", WELL, &[task("t1", &[attempt("a1", result, 1_000, 3_000)]), ran("t2", "a2")]);
    for result in ["SUCCEEDED", "WEIRD", "success"] {
        let says = format!("1: in j1: a1: result: \"{result}\" is none of SUCCESS, FAILED and KILLED");
        assert_eq!(told(of_attempt(result).as_bytes()), says);
    }
    for result in ["FAILED", "KILLED", ""] {
        assert_eq!(counted(&of_attempt(result)).len(), 2, "{result}");
    }
    let outcome = |outcome: &str| job("j1", &format!(r#""outcome": "{outcome}","#), &[ran("t1", "a1")]);
    assert_eq!(told(outcome("WEIRD").as_bytes()), "1: in j1: outcome: \"WEIRD\" is none that a job of Rumen's has");
    assert_eq!(counted(&outcome("RUNNING"))[0].0, "jobs without an end");
    assert_eq!(counted(&outcome("SUCCEEDED"))[0].0, "jobs that failed or were killed");
}

#[test]
fn names_that_rumen_does_not_have_are_told_once_with_how_often_they_stood_there() {
    let known = r#""priority": "NORMAL", "jobProperties": {"a.b": "c"}, "failedMapAttemptCDFs": [{"maximum": 1}],"#;
    let of_attempt = |text: &str, name: &str| text.replace("\"hostName\"", name);
    let text = job("j1", &format!("{WELL} {known}"), &[ran("t1", "a1"), ran("t2", "a2")]);
    assert_eq!(counted(&text.replace("\"attemptID\"", "\"clockSplits\": [1], \"attemptID\"")), []);
    let wrong = of_attempt(&text, "\"hosst\"").replace("\"priority\"", "\"prioritty\"");
    let wrong = wrong.replacen("\"inputBytes\"", "\"inputbytes\"", 1);
    let says =
        "values under names that Rumen does not have (attempt.hosst, job.prioritty, task.inputbytes): passed over";
    assert_eq!(of(wrong.as_bytes()).unwrap().repairs.get(says), Some(&4));
    assert!(told(b"{\"jobID\": \"j1\", \"mapTasks\": [[\"t1\"]]}").contains("expected an object that is a task"));
}
