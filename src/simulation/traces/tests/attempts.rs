//! A CSV of attempts: what may be amiss in a row.

use super::*;

/// A reduce that took from 1 s to 9 s.
const REDUCE: &str = "d,j1,REDUCE,t0,a0,h,r,1000,9000,0,SUCCESS,1,100,,5000,6000\n";

fn with(from: &str, to: &str) -> Vec<u8> {
    let row = REDUCE.replace(from, to);
    assert_ne!(row, REDUCE);
    format!("{HEADER}{row}").into_bytes()
}

#[test]
fn a_number_that_is_none_is_told_with_its_column_and_is_not_taken_for_none() {
    for (from, to, column) in
        [(",100,", ",1e9,", "in_bytes"), (",5000,", ",soon,", "shuffle_fin_ms"), (",6000\n", ",-2\n", "sort_fin_ms")]
    {
        let said = told(&with(from, to));
        assert!(
            said.starts_with(&format!("2: {column}: ")) && said.ends_with("is no whole number from 0 on"),
            "{said}"
        );
    }
    assert_eq!(told(&with(",6000", ",6000,x")), "2: has 17 fields; the header names 16");
}

#[test]
fn a_gzipped_file_is_read_whole_as_the_plain_one() {
    let rows = (0..2_000).map(|task| row("MAP", task, 0, [1_000, 0, 2_000 + u64::from(task)], "SUCCESS"));
    let text = HEADER.to_owned() + &rows.collect::<String>() + REDUCE;
    let trace = of(&packed(&text)).unwrap();
    assert_eq!(trace.jobs[0].phases.each_ref().map(|phase| phase.tasks.count()), [2_000, 1]);
    assert_eq!(trace, of(text.as_bytes()).unwrap());
    // Of several parts one after the other, as `cat` makes them of several files, the last is read, too.
    let (first, second) = text.split_at(text.len() / 2);
    assert_eq!(of(&[packed(first), packed(second)].concat()).unwrap(), trace);
}

#[test]
fn tasks_of_a_phase_in_which_none_succeeded_are_left_out_and_counted_and_take_no_millisecond_each() {
    let map = row("MAP", 0, 0, [1_000, 0, 9_000], "SUCCESS");
    let killed = [0, 1].map(|task| row("REDUCE", task, 0, [9_000, 0, 12_000], "KILLED")).concat();
    let trace = of(format!("{HEADER}{map}{killed}").as_bytes()).unwrap();
    assert_eq!(trace.jobs[0].phases.each_ref().map(|phase| phase.tasks.count()), [1, 0]);
    let left_out = trace.repairs.iter().find(|(what, _)| what.contains("left out")).map(|(_, count)| *count);
    assert_eq!(left_out, Some(2), "{:?}", trace.repairs);
}

#[test]
fn ends_of_stages_that_cannot_be_are_counted_and_left_out() {
    let ends = |from: &str, to: &str| {
        let trace = of(&with(from, to)).unwrap();
        let counted: Vec<u64> = trace.repairs.values().copied().collect();
        (trace.jobs[0].phases[1].tasks.task(0).unwrap().work, counted)
    };
    // Of 8 s in all it reads until 5 s, sorts until 6 s, and works until 9 s.
    assert_eq!(ends(",h,", ",i,"), ([4_000.0, 1_000.0, 3_000.0], vec![]));
    assert_eq!(ends(",6000\n", ",9001\n"), ([4_000.0, 0.0, 4_000.0], vec![1]), "after its reduce");
    assert_eq!(ends(",6000\n", ",4999\n"), ([4_000.0, 0.0, 4_000.0], vec![1]), "before its shuffle");
    assert_eq!(ends(",5000,6000", ",999,9001"), ([0.0, 0.0, 8_000.0], vec![2]));
    let map = of(&with("REDUCE", "MAP")).unwrap();
    assert_eq!(map.repairs.into_values().collect::<Vec<_>>(), [2], "a map has none");
}

#[test]
fn an_attempt_without_a_start_or_an_end_is_counted_and_its_task_is_there() {
    for (from, to, words) in [(",1000,", ",-1,", "without a start"), (",9000,", ",,", "without an end")] {
        let other = REDUCE.replace("t0,a0", "t1,a1");
        let trace = of(&[with(from, to), other.into_bytes()].concat()).unwrap();
        assert_eq!(trace.jobs[0].phases[1].tasks.count(), 2);
        assert!(trace.repairs.keys().any(|what| what.contains(words)), "{:?}", trace.repairs);
    }
}

#[test]
fn inputs_and_hosts_that_are_not_told_are_said() {
    let said = |bytes: &[u8], words: &str| of(bytes).unwrap().assumed.iter().any(|said| said.contains(words));
    let both = [with(",100,", ",-1,"), REDUCE.replace("t0,a0,h", "t1,a1,").into_bytes()].concat();
    assert!(said(&both, "no input is told of 1 of 2 tasks"), "{:?}", of(&both).unwrap().assumed);
    assert!(said(&both, "no host is told of 1 of 2 tasks"));
    let none = with(",h,", ",,");
    assert!(said(&none, "the trace tells no hosts") && !said(&none, "no host is told of"));
    let unnamed = [HEADER, REDUCE].concat().replace("host,", "").replace("h,r", "r");
    assert!(said(unnamed.as_bytes(), "the trace tells no hosts"));
}

#[test]
fn hosts_are_known_by_their_names_in_order_however_they_came() {
    let rows = ["nm3", "nm1", "nm2", "nm1"]
        .iter()
        .zip(0..)
        .map(|(host, nth)| REDUCE.replace("t0,a0,h", &format!("t{nth},a{nth},{host}")));
    let trace = of((HEADER.to_owned() + &rows.collect::<String>()).as_bytes()).unwrap();
    let names: Vec<&str> = trace.hosts.all().iter().map(|host| host.name.as_str()).collect();
    let TracedTasks::Each(tasks) = &trace.jobs[0].phases[1].tasks else { panic!("{trace:?}") };
    let hosts: Vec<_> = tasks.iter().map(|task| task.host.unwrap()).collect();
    assert_eq!((names, hosts), (vec!["nm1", "nm2", "nm3"], vec![2, 0, 1, 0]));
}

#[test]
fn what_a_csv_does_not_tell_of_jobs_is_said_and_their_queue_is_not_called_one_that_they_were_in() {
    let trace = of(&[HEADER, REDUCE].concat().into_bytes()).unwrap();
    for (what, so) in [
        ("submission is", "they arrive when their first attempt began"),
        ("user is", "all are trace's"),
        ("queue is", "theirs is default"),
        ("name is", "theirs are their ids, and none ran before"),
        ("containers' sizes are", "1 GiB and a core each"),
    ] {
        let said = format!("no {what} told of 1 of 1 jobs: {so}");
        assert!(trace.assumed.contains(&said), "{said} is not in {:?}", trace.assumed);
    }
    let scenario = |queues: &str| {
        let text = format!(r#"{{"cluster": {{"nodes": 2, "queues": [{{"name": "{queues}", "share": 1}}]}}}}"#);
        Scenario { traced: trace.jobs.clone(), ..serde_json::from_str(&text).unwrap() }
    };
    let said = |first: &str| {
        Some(format!("the scenario has no queue of the names that 1 of 1 jobs have: they go to its first, {first}"))
    };
    assert_eq!(strays(&scenario("etl")), said("etl"));
    assert_eq!(strays(&scenario("default")), None);
    let mut none = Scenario { traced: trace.jobs.clone(), ..Scenario::default() };
    assert_eq!(strays(&none), None, "they are in its only one");
    none.traced[0].queue = "etl".into();
    assert_eq!(strays(&none), said("default"));
}

#[test]
fn what_is_taken_for_reading_sorting_and_work_where_their_ends_are_not_told_is_said() {
    let said = |ends: &str| {
        let assumed = of(&with(",5000,6000", ends)).unwrap().assumed;
        assumed.into_iter().filter(|said| said.contains(" 1 of 1 reduces: ")).collect::<Vec<_>>()
    };
    let whole = "no end of reading or sorting is told of 1 of 1 reduces: all that they did after the maps' end is their own work, \
                 and they read in no time";
    assert_eq!(said(",,"), [whole]);
    assert_eq!(said(",,6000"), ["no end of reading is told of 1 of 1 reduces: they read until their sort's end"]);
    assert_eq!(said(",5000,"), ["no end of sorting is told of 1 of 1 reduces: sorting counts as their own work"]);
    assert!(!of(&with(",h,", ",i,")).unwrap().assumed.iter().any(|said| said.contains("reduces: ")), "all is told");
}

#[test]
fn a_copy_in_a_phase_of_one_task_is_not_said_to_take_what_another_took() {
    let said = |text: &str| {
        let assumed = of(text.as_bytes()).unwrap().assumed;
        assumed.into_iter().find(|said| said.contains("a copy takes")).unwrap()
    };
    let alone = " (in 1 of 1 phases there is no other: what that task itself took)";
    let (hosted, hostless) = ([HEADER, REDUCE].concat(), [HEADER, REDUCE].concat().replace(",h,", ",,"));
    assert!(said(&hosted).contains(alone) && said(&hostless).contains(alone), "{}", said(&hosted));
    let two = hosted + &REDUCE.replace("t0,a0", "t1,a1");
    assert!(!said(&two).contains("there is no other"), "{}", said(&two));
}
