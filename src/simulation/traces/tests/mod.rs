//! Traces written by hand, and what is read of them.

mod again;
mod attempts;
mod recorded;
mod rumen;

use super::*;
use crate::simulation::told::tied_to;
use drover_core::sim::TracedTasks;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn of(bytes: &[u8]) -> Result<Trace, BadTrace> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read(file.path(), Overhead::default())
}

fn packed(text: &str) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

/// Without the file's name.
fn told(bytes: &[u8]) -> String {
    let error = of(bytes).unwrap_err().to_string();
    error.split_once(':').map_or(error.clone(), |(_, rest)| rest.trim().to_owned())
}

const SWIM: &str = "job0\t9\t9\t1762\t0\t14347\njob1\t20\t11\t53088744165\t1510005522\t5759777\n";
const HEADER: &str = "dataset,job,phase,task,attempt,host,rack,start_ms,finish_ms,dur_s,result,n_attempts,in_bytes,locality,shuffle_fin_ms,sort_fin_ms\n";

/// Of a reduce `times` has the end of its shuffle in the midst.
fn row(phase: &str, task: u32, attempt: u32, times: [u64; 3], result: &str) -> String {
    let [start, shuffled, finish] = times;
    let shuffled = if phase == "REDUCE" { shuffled.to_string() } else { "-1".into() };
    format!(
        "d,j1,{phase},t{phase}{task},a{phase}{task}_{attempt},h,r,{start},{finish},0,{result},1,100,,{shuffled},-1\n"
    )
}

#[test]
fn a_swim_job_has_a_map_for_each_block_and_a_reduce_for_each_gibibyte_and_says_what_it_assumes() {
    let trace = of(SWIM.as_bytes()).unwrap();
    let counts: Vec<[u32; 2]> =
        trace.jobs.iter().map(|job| [0, 1].map(|kind| job.phases[kind].tasks.count())).collect();
    assert_eq!(counts, [[1, 0], [396, 2]]);
    assert_eq!(trace.jobs[1].arrives.0, 20_000);
    assert_eq!(trace.assumed.len(), 4);
    assert_eq!(of(&packed(SWIM)).unwrap(), trace);
}

#[test]
fn slowness_is_tied_to_attempts_of_a_trace_only_where_it_tells_that_some_took_longer_than_others() {
    let tied = |text: &str| {
        let Trace { jobs, hosts, .. } = of(text.as_bytes()).unwrap();
        tied_to(&Scenario { traced: jobs, hosts, ..Scenario::default() })
    };
    assert_eq!(tied(SWIM), Vec::<&str>::new());
    let maps = |times: [u64; 3]| {
        let row = |(task, takes): (u32, u64)| row("MAP", task, 0, [0, 0, takes], "SUCCESS").replace(",h,", ",,");
        HEADER.to_owned() + &(0..).zip(times).map(row).collect::<String>()
    };
    assert_eq!(tied(&maps([9_000; 3])), Vec::<&str>::new());
    assert_eq!(tied(&maps([9_000, 9_000, 9_001])), ["the attempt, as in the trace"]);
}

#[test]
fn attempts_give_each_task_its_work_and_its_luck_and_a_reduces_wait_for_maps_is_no_work() {
    let maps = [10_000, 10_000, 40_000].map(|takes| [1_000, 0, 1_000 + takes]);
    let mut text = HEADER.to_owned();
    (0..).zip(maps).for_each(|(task, times)| text += &row("MAP", task, 0, times, "SUCCESS"));
    text += &row("MAP", 2, 1, [5_000, 0, 6_000], "KILLED");
    text += &row("REDUCE", 0, 0, [2_000, 45_000, 50_000], "SUCCESS");
    let trace = of(text.as_bytes()).unwrap();
    let [maps, reduces] = &trace.jobs[0].phases;
    let TracedTasks::Each(tasks) = &maps.tasks else { panic!("{maps:?}") };
    let work: Vec<_> = tasks.iter().map(|task| (task.work[2], task.first)).collect();
    assert_eq!(work, [(10_000.0, 1.0), (10_000.0, 1.0), (10_000.0, 4.0)]);
    // The maps end at 41 s; it reads until 45 s, and works for 5 s.
    assert_eq!(reduces.tasks.task(0).map(|task| task.work), Some([4_000.0, 0.0, 5_000.0]));
    assert_eq!(trace.repairs.values().copied().collect::<Vec<_>>(), [1]);
}

#[test]
fn a_reduce_that_tells_of_its_sorts_end_alone_has_read_and_sorted_until_then() {
    let map = row("MAP", 0, 0, [1_000, 0, 2_000], "SUCCESS");
    let reduce = "d,j1,REDUCE,tR,aR_0,h,r,1000,9000,0,SUCCESS,1,100,,-1,6000\n";
    let trace = of(format!("{HEADER}{map}{reduce}").as_bytes()).unwrap();
    // Its maps end at 2 s.
    assert_eq!(trace.jobs[0].phases[1].tasks.task(0).map(|task| task.work), Some([4_000.0, 0.0, 3_000.0]));
}

#[test]
fn the_columns_of_a_csv_may_come_in_any_order() {
    let map = row("MAP", 0, 0, [1_000, 0, 2_000], "SUCCESS");
    let (header, turned) = (HEADER.replacen("job,phase", "phase,job", 1), map.replacen("j1,MAP", "MAP,j1", 1));
    assert_eq!(of(format!("{header}{turned}").as_bytes()).unwrap(), of(format!("{HEADER}{map}").as_bytes()).unwrap());
}

#[test]
fn columns_of_which_nothing_is_known_are_named_and_counted() {
    let repairs = |header: &str| {
        of(format!("{header}{}", row("MAP", 0, 0, [1_000, 0, 2_000], "SUCCESS")).as_bytes()).unwrap().repairs
    };
    assert_eq!(repairs(HEADER).len(), 0);
    let told = repairs(&HEADER.replace(",host,", ",hosts,").replace("dur_s", " dur_s"));
    let says = "columns of which nothing is known (\"hosts\", \" dur_s\"): passed over";
    assert_eq!(told.into_iter().collect::<Vec<_>>(), [(says.to_owned(), 2)]);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_is_mended_is_counted() {
    let bad = |rows: &str| told(format!("{HEADER}{rows}").as_bytes());
    assert!(bad(&row("MAP", 0, 0, [9, 0, 3], "SUCCESS")).starts_with("2: aMAP0_0 ends at 3, before"));
    let twice = row("MAP", 0, 0, [1, 0, 3], "SUCCESS").repeat(2);
    assert_eq!(bad(&twice), "3: aMAP0_0 was there before");
    assert_eq!(bad("d,j1,MAP\n"), "2: has 3 fields; the header names 16");
    for cut in ["\n", "datas"] {
        let rows = row("MAP", 0, 0, [1, 0, 3], "SUCCESS") + cut;
        assert_eq!(bad(&rows), "3: has 1 fields; the header names 16", "{cut:?}");
    }
    assert!(bad(&row("SHUFFLE", 0, 0, [1, 0, 3], "SUCCESS")).contains("neither MAP nor REDUCE"));
    assert!(bad(&row("MAP", 0, 0, [1, 0, 3], "SUCCESS").replace(",1,3,", ",x,3,")).contains("no whole number"));
    let none = bad(&row("MAP", 0, 0, [1, 0, 3], "KILLED"));
    assert!(none.starts_with("has no jobs to play: ") && none.contains("1 attempts that did not succeed"), "{none}");
    for other in ["SUCCEEDED", "\"SUCCESS\"", "success"] {
        assert!(bad(&row("MAP", 0, 0, [1, 0, 3], other)).starts_with("2: result: "), "{other}");
    }
    assert_eq!(bad(&row("MAP", 0, 0, [1, 0, 3], "SUCCESS").replace(",j1,", ",,")), "2: job is empty");
    let much = row("MAP", 0, 0, [1, 0, 3], "SUCCESS").replace(",1,100,", ",1,18446744073709551615,");
    assert!(bad(&much).contains("less than a pebibyte"), "{}", bad(&much));
    let all = "there is no column phase, attempt, start_ms, finish_ms, result, in_bytes, shuffle_fin_ms, sort_fin_ms";
    assert!(told(b"dataset,job,task\n").ends_with(all), "all that are missing are named at once");
    assert_eq!(told(HEADER.replace("rack", "task").as_bytes()), "1: there are two columns task");
    let other = row("MAP", 1, 0, [1, 0, 3], "SUCCESS").replacen("d,", "e,", 1);
    assert!(bad(&(row("MAP", 0, 0, [1, 0, 3], "SUCCESS") + &other)).starts_with("3: is of the data set \"e\""));
    assert!(told(b"hello\n").contains("none of a CSV"));
    assert_eq!(told(b""), "is empty");
    assert!(told(b"job0\t9\t9\t1\t0\t1\njob0\t9\t9\t1\t0\t1\n").starts_with("2: job0 was there before"));
    assert_eq!(told(b"\t9\t9\t1\t0\t1\n"), "1: a job has an empty id");
    assert!(told(b"job0\t-9\t9\t1\t0\t1\n").starts_with("1: submission"));
    let most = u64::MAX;
    assert_eq!(
        told(format!("job0\t{most}\t9\t1\t0\t1\n").as_bytes()),
        "1: submission: is more than 100 years after the start"
    );
    assert_eq!(told(format!("job0\t9\t9\t{most}\t0\t1\n").as_bytes()), "1: input: is too large");
    assert_eq!(told(format!("job0\t9\t9\t1\t{most}\t1\n").as_bytes()), "1: shuffle: is too large");
    let mut lost = row("MAP", 0, 0, [1_000, 0, 3_000], "SUCCESS");
    lost += &row("MAP", 1, 0, [1_000, 0, 3_000], "FAILED");
    let trace = of(format!("{HEADER}{lost}").as_bytes()).unwrap();
    assert_eq!((trace.jobs[0].phases[0].tasks.count(), trace.repairs.len()), (2, 2), "{:?}", trace.repairs);
}

#[test]
fn a_second_success_and_a_reduce_that_ends_before_the_maps_are_counted() {
    let rows = row("MAP", 0, 0, [0, 0, 10_000], "SUCCESS")
        + &row("MAP", 0, 1, [5, 0, 8_000], " SUCCESS ")
        + &row("REDUCE", 0, 0, [0, 4_000, 5_000], "SUCCESS");
    let trace = of(format!("{HEADER}{rows}").as_bytes()).unwrap();
    let told: Vec<_> = trace.repairs.iter().map(|(what, count)| (what.split(':').next().unwrap(), *count)).collect();
    assert_eq!(
        told,
        [
            ("reduces that end before their job's maps", 1),
            ("tasks that a copy won", 1),
            ("tasks that succeeded again", 1)
        ]
    );
}

#[test]
fn an_attempt_or_a_job_of_months_is_told_with_its_line_and_not_simulated() {
    let day = 24 * 3_600_000;
    let of = |second: [u64; 2], result: &str| {
        let [start, finish] = second;
        let rows = row("MAP", 0, 0, [1, 0, 3], "SUCCESS") + &row("MAP", 1, 0, [start, 0, finish], result);
        format!("{HEADER}{rows}")
    };
    let bad = |second| told(of(second, "SUCCESS").as_bytes());
    assert!(bad([9, 9 + 19_675 * day]).starts_with("3: aMAP1_0 takes 19675 days, from 9 to "));
    assert!(bad([100 * day, 100 * day + 5]).starts_with("3: j1 takes 100 days, from 1 to "));
    assert_eq!(of_text(&of([9, 100 * day - 1], "SUCCESS")), 2);
    assert_eq!(of_text(&of([9, 19_675 * day], "KILLED")), 2, "how long it would have taken nobody asks");
}

/// How many maps its only job has.
fn of_text(text: &str) -> u32 {
    of(text.as_bytes()).unwrap().jobs[0].phases[0].tasks.count()
}

#[test]
fn a_gzip_file_that_was_cut_off_is_told_whatever_it_is() {
    let rumen = r#"{"jobID": "j1", "mapTasks": [{"taskID": "t1", "attempts": []}], "reduceTasks": []}"#;
    let whole = [SWIM.to_owned(), HEADER.to_owned() + &row("MAP", 0, 0, [1, 0, 3], "SUCCESS"), rumen.to_owned()];
    let cut = whole.map(|text| {
        let mut cut = packed(&text);
        cut.truncate(cut.len() - 12);
        told(&cut)
    });
    assert!(cut.iter().all(|told| told.contains("cannot be read on")), "{cut:?}");
}

#[test]
fn a_mark_before_a_text_is_passed_over_once_whatever_the_text_is() {
    let rumen = r#"{"jobID": "j1", "mapTasks": [{"taskID": "t1", "attempts": [{"attemptID": "a1", "result": "SUCCESS", "startTime": 1, "finishTime": 9}]}]}"#;
    let csv = HEADER.to_owned() + &row("MAP", 0, 0, [1, 0, 3], "SUCCESS");
    for text in [SWIM, &csv, rumen] {
        let marked = format!("\u{feff}{text}");
        let read = [of(marked.as_bytes()), of(&packed(&marked))].map(Result::unwrap);
        assert_eq!(read, [of(text.as_bytes()).unwrap(), of(text.as_bytes()).unwrap()]);
    }
    assert!(told(format!("\u{feff}\u{feff}{csv}").as_bytes()).contains("none of a CSV"));
    assert_eq!(told("\u{feff}".as_bytes()), "is empty");
}

#[test]
fn gaps_that_are_not_those_between_submissions_and_submissions_out_of_order_are_counted() {
    let repairs = |rows: &[[u64; 2]]| {
        let row = |(nth, [at, gap]): (usize, &[u64; 2])| format!("job{nth}\t{at}\t{gap}\t1\t0\t1\n");
        let text: String = rows.iter().enumerate().map(row).collect();
        of(text.as_bytes()).unwrap().repairs.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(repairs(&[[49, 7], [60, 11], [60, 0]]), [], "what was before the first nobody knows");
    let gaps = "inter-arrivals that are not the time since the submission before: passed over";
    assert_eq!(repairs(&[[9, 9], [20, 12], [20, 1]]), [(gaps.to_owned(), 2)]);
    let early = "jobs submitted before the one above them: they arrive when they were submitted";
    assert_eq!(repairs(&[[20, 0], [9, 0], [10, 1]]), [(early.to_owned(), 1)]);
}

#[test]
fn what_of_a_swim_job_is_passed_over_is_to_be_sound_and_is_said() {
    let trace = of(SWIM.as_bytes()).unwrap();
    assert!(trace.assumed.iter().any(|said| said.contains("write at their end is passed over")), "{:?}", trace.assumed);
    assert!(told(b"job0\t9\t9\t1\t0\tx\n").starts_with("1: output: "));
    assert!(told(b"job0\t9\t-1\t1\t0\t1\n").starts_with("1: inter-arrival: "));
}

#[test]
fn a_job_that_comes_after_a_hundred_years_is_told_with_its_line_and_never_played() {
    let swim = |at: u64| format!("job0\t9\t9\t1762\t0\t14347\njob1\t{at}\t11\t5\t1\t5\n");
    assert_eq!(of(swim(3_153_600_000).as_bytes()).unwrap().jobs[1].arrives, drover_core::sim::ARRIVES_MAX);
    let late = "2: submission: is more than 100 years after the start";
    assert_eq!([3_153_600_001, u64::MAX / 1_000].map(|at| told(swim(at).as_bytes())), [late; 2]);
    let job = |at: u64| {
        row("MAP", 0, 0, [1, 0, 2], "SUCCESS") + &format!("d,j2,MAP,t,a,h,r,{at},{},0,SUCCESS,1,100,,-1,-1\n", at + 1)
    };
    let attempts = |at: u64| HEADER.to_owned() + &job(at);
    assert_eq!(of(attempts(3_153_600_000_001).as_bytes()).unwrap().jobs.len(), 2);
    let late = "3: a is there at 3153600000002: from 1 to 3153600000002 are more than 100 years";
    assert_eq!(told(attempts(3_153_600_000_002).as_bytes()), late);
}
