//! Histories as Hadoop wrote them (`tests/recorded/`), and event by event what may be amiss in them.

use crate::simulation::traces::{BadTrace, Overhead, Trace};
use drover_core::model::Resources;
use drover_core::sim::{TracedJob, TracedTasks};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const NAME: &str = "job_1795343462358_0001-1795343468097-alice-slow%2Dreduces+late-1795343513924-12-4-SUCCEEDED-root.default-1795343471833.jhist";

fn read(path: &Path) -> Result<Trace, BadTrace> {
    crate::simulation::traces::read(path, Overhead::default())
}

fn recorded(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/3.4.3/jhist").join(part)
}

/// Avro-Binary as Hadoop writes it by default, and Avro-Json.
fn both() -> [Vec<u8>; 2] {
    ["binary/2026/11/22/000000", "json"].map(|dir| fs::read(recorded(dir).join(NAME)).unwrap())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn of(bytes: &[u8]) -> Result<Trace, BadTrace> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("h.jhist");
    fs::write(&file, bytes).unwrap();
    read(&file)
}

/// What is wrong, from the file's name on.
fn told(bytes: &[u8]) -> String {
    from_name(&of(bytes).unwrap_err())
}

fn from_name(error: &BadTrace) -> String {
    let text = error.to_string();
    let (path, rest) = text.split_once(':').unwrap_or((&text, ""));
    format!("{}:{rest}", path.rsplit('/').next().unwrap_or_default())
}

/// An event as Hadoop writes it, an indented line.
fn event(kind: &str, record: &str, body: &str) -> String {
    format!(" {{\"type\":\"{kind}\",\"event\":{{\"org.apache.hadoop.mapreduce.jobhistory.{record}\":{{{body}}}}}}}\n")
}

fn submitted(job: u32) -> String {
    let body = format!(
        r#""jobid":"job_1_000{job}","jobName":"n{job}","userName":"u","submitTime":{job}000,"acls":{{}},"jobQueueName":"root.etl""#
    );
    event("JOB_SUBMITTED", "JobSubmitted", &body)
}

fn inited(maps: u32) -> String {
    event("JOB_INITED", "JobInited", &format!(r#""jobid":"job_1_0001","totalMaps":{maps},"totalReduces":0"#))
}

fn task(nth: u32) -> String {
    event(
        "TASK_STARTED",
        "TaskStarted",
        &format!(r#""taskid":"task_1_0001_m_00000{nth}","taskType":"MAP","startTime":1"#),
    )
}

fn start(attempt: &str, at: i64) -> String {
    let body = format!(r#""attemptId":"attempt_1_0001_m_00000{attempt}","taskType":"MAP","startTime":{at}"#);
    event("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", &body)
}

fn end(attempt: &str, how: &str, at: i64) -> String {
    let body = format!(r#""attemptId":"attempt_1_0001_m_00000{attempt}","taskType":"MAP","finishTime":{at}"#);
    event(&format!("MAP_ATTEMPT_{how}"), "MapAttemptFinished", &body)
}

fn over(how: &str) -> String {
    event(&format!("JOB_{how}"), "JobFinished", r#""jobid":"job_1_0001","finishTime":99000"#)
}

/// A whole file of those events; the first stands on line 3.
fn history(events: &[String]) -> String {
    format!("Avro-Json\n{{}}\n{}", events.concat())
}

/// A job with one map that took from 2 s to 5 s, and those events before its end.
fn with(events: &[String]) -> String {
    let own = [submitted(1), task(0), start("0_0", 2000), end("0_0", "FINISHED", 5000)];
    history(&[own.concat(), events.concat(), over("FINISHED")])
}

fn repairs(events: &str) -> Vec<(String, u64)> {
    of(events.as_bytes()).unwrap().repairs.into_iter().collect()
}

fn first_words(repairs: &[(String, u64)]) -> Vec<(&str, u64)> {
    repairs.iter().map(|(what, count)| (what.split(':').next().unwrap_or_default(), *count)).collect()
}

fn millis(job: &TracedJob, kind: usize) -> Vec<f64> {
    let TracedTasks::Each(tasks) = &job.phases[kind].tasks else { panic!("{job:?}") };
    tasks.iter().map(|task| (task.work[2] * task.first).round()).collect()
}

#[test]
fn the_binary_and_the_json_form_of_a_real_history_packed_or_not_give_the_same_jobs() {
    let [binary, json] = both();
    let trace = of(&binary).unwrap();
    let marked = [b"\xef\xbb\xbf", &json[..]].concat();
    for other in [of(&json), of(&packed(&binary)), of(&packed(&json)), of(&marked)] {
        assert_eq!(other.unwrap(), trace);
    }
    let [job] = &trace.jobs[..] else { panic!("{:?}", trace.jobs) };
    assert_eq!([&job.name, &job.user, &job.queue], ["slow-reduces late", "alice", "default"]);
    assert_eq!(job.phases.each_ref().map(|phase| (phase.tasks.count(), phase.size.memory_mb)), [(12, 320), (4, 320)]);
    assert_eq!(job.phases[1].tasks.task(1).unwrap().input.0, 9_383);
    let hosts: Vec<&str> = trace.hosts.all().iter().map(|host| host.name.as_str()).collect();
    assert!(hosts.len() > 1 && hosts.iter().all(|host| host.starts_with("nm")), "{hosts:?}");
    // The copy sorted until …08.689 and ended at …13.794.
    assert_eq!(millis(job, 1)[1], 5_105.0);
    assert_eq!(
        first_words(&trace.repairs.into_iter().collect::<Vec<_>>()),
        [("attempts that did not succeed", 2), ("tasks that a copy won", 2)]
    );
}

#[test]
fn a_missing_conf_is_said_once_and_one_that_is_there_is_not() {
    let bare = read(&recorded("json")).unwrap();
    let said = |trace: &Trace| trace.assumed.iter().filter(|line| line.contains("lies no conf")).count();
    assert_eq!((said(&bare), said(&read(&recorded("binary")).unwrap())), (1, 0));
    assert!(bare.assumed.iter().any(|line| line.starts_with("beside 1 of 1 histories")), "{:?}", bare.assumed);
}

#[test]
fn a_packed_history_that_was_cut_off_anywhere_is_told_with_its_file() {
    for form in both() {
        let whole = packed(&form);
        for length in (20..whole.len()).step_by(whole.len() / 20) {
            let said = told(&whole[..length]);
            assert!(said.starts_with("h.jhist:") && said.contains("cannot be read"), "{length}: {said}");
        }
        assert!(told(&whole[..whole.len() - 4]).contains("cannot be read on"));
    }
}

#[test]
fn a_history_that_breaks_off_anywhere_is_told_or_counted_and_never_taken_for_whole() {
    for form in both() {
        let last = form.windows(12).rposition(|at| at == b"TOTAL_COUNTE").unwrap();
        for length in (12..last).step_by(last / 60) {
            match of(&form[..length]) {
                Ok(trace) => {
                    assert!(trace.repairs.keys().any(|what| what.starts_with("jobs without an end")), "{length}")
                }
                Err(error) => assert!(from_name(&error).starts_with("h.jhist:"), "{length}: {error}"),
            }
        }
    }
    let whole = with(&[]);
    let cut = &whole[..whole.len() - 20];
    let counted = repairs(cut);
    assert_eq!(first_words(&counted), [("histories that break off within an event", 1), ("jobs without an end", 1)]);
}

#[test]
fn a_history_that_breaks_off_in_its_schema_is_told_with_that_line_in_either_form() {
    for form in both() {
        let line = form.splitn(3, |byte| *byte == b'\n').nth(1).unwrap().len();
        let before = form.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for kept in (1..line).step_by(line / 40) {
            let said = told(&form[..before + kept]);
            assert!(said.starts_with("h.jhist:2: is no schema of a job history: "), "{kept}: {said}");
        }
    }
}

#[test]
fn a_line_that_is_no_event_is_told_with_its_number_and_so_is_a_binary_event() {
    let said = told(with(&["{\"type\":\n".into()]).as_bytes());
    assert!(said.starts_with("h.jhist:7: is no event: ") && said.contains("column"), "{said}");
    let said = |events: &[String]| told(history(events).as_bytes());
    assert_eq!(said(&["[]\n".into()]), "h.jhist:3: is no event: no object");
    assert_eq!(said(&["{\"event\":{}}\n".into()]), "h.jhist:3: is no event: it has no type");
    let less = event("JOB_SUBMITTED", "JobSubmitted", r#""jobid":"job_1_0001""#);
    assert!(said(&[less]).starts_with("h.jhist:3: JOB_SUBMITTED: missing field"));
    assert!(said(&[submitted(1).replace("job_1_0001", "../../x")]).starts_with("h.jhist:3: \"../../x\" is no job id"));
    assert!(
        said(&[submitted(1).replace(":1000,", ":\"1000\",")]).starts_with("h.jhist:3: JOB_SUBMITTED: invalid type")
    );
    assert_eq!(told(b"Avro-Xml\n{}\n"), "h.jhist:1: \"Avro-Xml\" is neither Avro-Json nor Avro-Binary");
    assert_eq!(told(b"Avro-Json\n"), "h.jhist:2: ends before its schema");
    assert_eq!(told(b"Avro-Json\n{}\n"), "h.jhist: tells of no job: it has no JOB_SUBMITTED");
    assert!(told(b"Avro-Binary\n{}\n").starts_with("h.jhist:2: is no schema of a job history: "));
    let deep = r#"{"type":"record","name":"E","namespace":"n","fields":[{"name":"e","type":["null","E"]}]}"#;
    assert!(told(format!("Avro-Binary\n{deep}\n{}", "\u{2}".repeat(9)).as_bytes()).ends_with("contains itself"));
    let [mut binary, _] = both();
    let schema = binary.splitn(3, |byte| *byte == b'\n').take(2).map(|line| line.len() + 1).sum::<usize>();
    binary[schema] = 0x7e;
    assert!(told(&binary).starts_with("h.jhist: event 1: is no event: "), "{}", told(&binary));
}

#[test]
fn an_event_that_is_worth_more_memory_or_time_than_its_bytes_is_refused_or_cut_off() {
    let said = |schema: &str, event: &[u8]| told(&[format!("Avro-Binary\n{schema}\n").as_bytes(), event].concat());
    let fixed = r#"{"type":"fixed","name":"F","size":4611686018427387904}"#;
    let none = "h.jhist:2: is no schema of a job history: a type of it is none that Hadoop's have: fixed";
    assert_eq!(said(fixed, b"x"), none);
    // Each of thirty types has two of the one before: 2^30 truths, of which a byte is there.
    let of = |nth: u32| {
        let inner = if nth == 0 { "\"boolean\"".to_owned() } else { format!("\"R{}\"", nth - 1) };
        format!(
            r#"{{"type":"record","name":"R{nth}","fields":[{{"name":"a","type":{inner}}},{{"name":"b","type":{inner}}}]}}"#
        )
    };
    let twice = format!("[{}]", (0..30).map(of).collect::<Vec<_>>().join(","));
    // The last branch of the union.
    assert_eq!(said(&twice, &[58, 1]), "h.jhist: tells of no job: it has no JOB_SUBMITTED");
    let texts = [vec![0x80, 0x80, 0x80, 8], vec![b'x'; 16 << 20]].concat();
    let wide = format!(r#"{{"type":"array","items":{}}}"#, r#"{"type":"map","values":"string"}"#);
    assert!(said(&wide, &texts).contains("event 1: "), "{}", said(&wide, &texts));
    let long = [vec![0x80, 0x80, 0x80, 0x10], vec![b'x'; 17 << 20]].concat();
    assert_eq!(said("\"string\"", &long), format!("h.jhist: event 1: is longer than {} bytes", 16 << 20));
}

#[test]
fn histories_that_are_too_much_together_are_told_as_that_and_not_the_last_as_too_long() {
    let (one, two) = (with(&[]), second());
    let dir = kept(&[("a.jhist", one.as_bytes()), ("b.jhist", two.as_bytes())]);
    let within = |limit: usize| super::within(dir.path(), Overhead::default(), limit as u64);
    assert_eq!(within(one.len() + two.len()).unwrap().jobs.len(), 2);
    let said = from_name(&within(one.len() + two.len() - 1).unwrap_err());
    assert!(said.starts_with("b.jhist:7: cannot be read on: with the histories before it it has more than"), "{said}");
}

#[test]
fn ids_that_come_twice_and_durations_below_zero_are_told_with_their_line() {
    let said = |events: &[String]| told(with(events).as_bytes());
    assert_eq!(said(&[task(0)]), "h.jhist:7: task_1_0001_m_000000 was there before");
    assert_eq!(said(&[start("0_0", 9)]), "h.jhist:7: attempt_1_0001_m_000000_0 was there before");
    assert_eq!(said(&[end("0_0", "FINISHED", 6000)]), "h.jhist:7: attempt_1_0001_m_000000_0 was there before");
    assert_eq!(said(&[submitted(2)]), "h.jhist:7: job_1_0002 is submitted in the history of job_1_0001");
    let backwards = [start("1_0", 9000), end("1_0", "FINISHED", 8000)];
    assert!(said(&backwards).starts_with("h.jhist:8: attempt_1_0001_m_000001_0 ends at 8000, before"));
    assert_eq!(
        said(&[task(1).replace("_0001_", "_0009_")]),
        "h.jhist:7: task_1_0009_m_000001 is no task of job_1_0001"
    );
    let early = told(history(&[task(0)]).as_bytes());
    assert_eq!(early, "h.jhist:3: task_1_0001_m_000000 is there before its job was submitted");
}

#[test]
fn a_killed_attempt_without_a_finish_is_counted_and_so_is_one_without_a_start() {
    let open = [start("0_1", 3000), start("0_2", -1), end("0_3", "KILLED", 4000)];
    let counted = repairs(&with(&open));
    assert_eq!(first_words(&counted), [("attempts without a start", 2), ("attempts without an end", 1)]);
}

#[test]
fn attempts_of_a_second_master_count_from_a_thousand_and_give_the_task_its_time() {
    let second = [task(1), start("1_0", 2000), start("1_1000", 7000), end("1_1000", "FINISHED", 13_000)];
    let trace = of(with(&second).as_bytes()).unwrap();
    assert_eq!(millis(&trace.jobs[0], 0), [3_000.0, 6_000.0]);
    assert_eq!(trace.repairs.into_iter().collect::<Vec<_>>(), [("attempts without an end: left out".into(), 1)]);
}

#[test]
fn a_copy_that_won_is_counted_though_no_label_tells_it_from_a_retry_and_a_retry_is_none() {
    let copied = [start("1_0", 2000), start("1_1", 6000), end("1_1", "FINISHED", 9000), end("1_0", "KILLED", 9001)];
    let retried = [start("2_0", 2000), end("2_0", "FAILED", 5999), start("2_1", 6000), end("2_1", "FINISHED", 9000)];
    let counted = repairs(&with(&[copied.concat(), retried.concat()]));
    assert_eq!(first_words(&counted), [("attempts that did not succeed", 2), ("tasks that a copy won", 1)]);
}

#[test]
fn a_map_whose_output_was_lost_keeps_its_time_and_is_counted() {
    let lost = [end("0_0", "FAILED", 8000), start("0_1", 9000), end("0_1", "FINISHED", 20_000)];
    let trace = of(with(&lost).as_bytes()).unwrap();
    assert_eq!(millis(&trace.jobs[0], 0), [3_000.0]);
    let counted: Vec<_> = trace.repairs.into_iter().collect();
    let words = ["attempts whose output was lost after they had succeeded", "tasks that succeeded again"];
    assert_eq!(first_words(&counted), words.map(|words| (words, 1)));
}

#[test]
fn tasks_without_attempts_and_tasks_that_are_not_told_are_counted() {
    let whole = with(&[inited(3), task(1)]);
    let counted = repairs(&whole);
    let words = ["jobs that tell of fewer tasks than they have", "tasks without an attempt that succeeded"];
    assert_eq!(first_words(&counted), words.map(|words| (words, 1)));
    assert_eq!(of(whole.as_bytes()).unwrap().jobs[0].phases[0].tasks.count(), 2);
}

#[test]
fn a_job_that_failed_and_one_without_an_end_are_taken_as_far_as_they_came() {
    let begun = [submitted(1), start("0_0", 2000), end("0_0", "FINISHED", 5000)].concat();
    for (last, words) in [
        (over("KILLED"), "jobs that failed or were killed"),
        (over("ERROR"), "jobs that failed or were killed"),
        (String::new(), "jobs without an end"),
    ] {
        let text = history(&[begun.clone(), last]);
        assert_eq!(first_words(&repairs(&text)), [(words, 1)]);
        let trace = of(text.as_bytes()).unwrap();
        assert_eq!((millis(&trace.jobs[0], 0), trace.jobs[0].queue.as_str()), (vec![3_000.0], "etl"));
        assert!(trace.assumed[0].contains("1 GiB and a core"), "{:?}", trace.assumed);
    }
}

#[test]
fn a_job_is_in_the_queue_that_the_resourcemanager_put_it_into_and_not_in_that_which_it_asked_for() {
    let changed = |job: u32, queue: &str| {
        event("JOB_QUEUE_CHANGED", "JobQueueChange", &format!(r#""jobid":"job_1_000{job}","jobQueueName":"{queue}""#))
    };
    let queue = |queue: &str| of(with(&[changed(1, queue)]).as_bytes()).unwrap().jobs.remove(0).queue;
    assert_eq!(["root.users.alice", "adhoc", "", "root."].map(queue), ["alice", "adhoc", "etl", "etl"]);
    let trace = of(with(&[changed(1, "root.one"), changed(1, "root.two")]).as_bytes()).unwrap();
    assert_eq!((trace.jobs[0].queue.as_str(), trace.repairs.len()), ("two", 0), "the last one counts");
    let other = told(with(&[changed(2, "root.one")]).as_bytes());
    assert_eq!(other, "h.jhist:7: job_1_0002 has no event in the history of job_1_0001");
    let early = second().replacen(" {", &(changed(1, "root.early") + " {"), 1);
    let dir = kept(&[("a.jhist", with(&[]).as_bytes()), ("b.jhist", early.as_bytes())]);
    assert!(read(dir.path()).unwrap().jobs.iter().all(|job| job.queue == "etl"), "of another history's job");
    let [binary, _] = both();
    let at = binary.windows(12).rposition(|at| at == b"root.default").unwrap();
    let moved = [&binary[..at], b"root.elsewhe", &binary[at + 12..]].concat();
    assert_eq!(of(&moved).unwrap().jobs[0].queue, "elsewhe");
}

#[test]
fn set_up_and_clean_up_of_early_hadoops_are_counted_and_no_tasks() {
    let cleanup =
        start("0_0", 9).replace("\"MAP\"", "\"JOB_CLEANUP\"").replace("_m_", "_c_").replace("MAP_A", "CLEANUP_A");
    let counted = repairs(&with(&[cleanup]));
    assert_eq!(first_words(&counted), [("events of a job's set-up and clean-up", 1)]);
}

/// A directory as the JobHistoryServer keeps it, with those files.
fn kept(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let day = dir.path().join("2026/11/22/000000");
    fs::create_dir_all(&day).unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(day.join(name), bytes).unwrap());
    dir
}

fn second() -> String {
    with(&[]).replace("_1_0001", "_1_0002").replace("\"n1\"", "\"n2\"").replace(":1000,", ":500,")
}

#[test]
fn a_directory_gives_all_its_jobs_by_their_arrival_and_counts_what_is_no_history() {
    let (one, two) = (with(&[]), packed(second().as_bytes()));
    let dir = kept(&[("a.jhist", one.as_bytes()), ("b.jhist.gz", &two), (".a.jhist.crc", b"x"), ("notes.txt", b"x")]);
    let trace = read(dir.path()).unwrap();
    let names: Vec<&str> = trace.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["n2", "n1"]);
    let counted: Vec<_> = trace.repairs.into_iter().collect();
    assert_eq!(first_words(&counted), [("other files beside the histories", 1)]);
    assert!(trace.assumed.iter().any(|line| line.starts_with("beside 2 of 2 histories lies no conf")));
}

#[test]
fn a_bad_file_among_many_is_named_and_so_are_a_job_that_is_there_twice_and_an_empty_directory() {
    let (one, two) = (with(&[]), with(&[task(0)]).replace("_1_0001", "_1_0002"));
    let said = |files: &[(&str, &[u8])]| from_name(&read(kept(files).path()).unwrap_err());
    let bad = said(&[("a.jhist", one.as_bytes()), ("b.jhist", two.as_bytes())]);
    assert_eq!(bad, "b.jhist:7: task_1_0002_m_000000 was there before");
    let twice = said(&[("a.jhist", one.as_bytes()), ("b.jhist.gz", &packed(one.as_bytes()))]);
    assert_eq!(twice, "b.jhist.gz:3: job_1_0001 was there before");
    assert!(said(&[("a.json", b"{}")]).ends_with("holds no job histories (.jhist, .jhist.gz)"));
    assert_eq!(said(&[("a.jhist", b"")]), "a.jhist: is empty");
    assert_eq!(said(&[("a.jhist", b"x")]), "a.jhist:1: \"x\" is neither Avro-Json nor Avro-Binary");
}

#[test]
fn events_of_a_kind_that_no_hadoop_has_and_sizes_that_are_no_number_are_counted() {
    let body = r#""attemptId":"attempt_1_0001_m_000000_0""#;
    let events = ["MAP_ATTEMPT_STARTD", "TASK_UPDATED"].map(|kind| event(kind, "Any", body));
    let size =
        "<configuration><property><name>mapreduce.map.memory.mb</name><value>2g</value></property></configuration>";
    let history = with(&events);
    let dir = kept(&[("a.jhist", history.as_bytes()), ("job_1_0001_conf.xml", size.as_bytes())]);
    let repairs: Vec<_> = read(dir.path()).unwrap().repairs.into_iter().collect();
    let expected = [("events of a kind that is not known", 1), ("properties of confs that are no number", 1)];
    assert_eq!(first_words(&repairs), expected);
}

#[cfg(unix)]
#[test]
fn a_directory_that_holds_itself_is_told() {
    let dir = kept(&[]);
    std::os::unix::fs::symlink(dir.path(), dir.path().join("again")).unwrap();
    assert!(read(dir.path()).unwrap_err().to_string().contains("is it a link to one above it?"));
}

#[test]
fn containers_are_of_the_size_that_counters_tell_or_else_the_conf_and_a_bad_conf_is_told_with_its_place() {
    let property =
        |name: &str, value: &str| format!("<property><name>{name}</name><value>{value}</value></property>\n");
    let conf = |properties: &[String]| format!("<configuration>\n{}</configuration>\n", properties.concat());
    let asked = conf(&[
        property("mapreduce.map.memory.mb", "${m}"),
        property("m", "2048"),
        property("mapreduce.map.cpu.vcores", "2"),
    ]);
    let size = |history: &str, conf: &str| {
        let dir = kept(&[("a.jhist", history.as_bytes()), ("job_1_0001_conf.xml", conf.as_bytes())]);
        read(dir.path()).map(|trace| trace.jobs[0].phases[0].size)
    };
    let told = |memory_mb, vcores| Resources { memory_mb, vcores };
    assert_eq!(size(&with(&[]), &asked).unwrap(), told(2048, 2));
    assert_eq!(size(&with(&[]), &conf(&[property("mapreduce.map.memory.mb", "-1")])).unwrap(), told(1024, 1));
    let named = conf(&[property("mapreduce.map.resource.memory-mb", "3Gi")]);
    assert_eq!(size(&with(&[]), &named).unwrap(), told(3072, 1), "by its resource's name");
    let counter = |name: &str, value: u64| format!(r#"{{"name":"{name}","displayName":"","value":{value}}}"#);
    let counters = [("MILLIS_MAPS", 3_000), ("MB_MILLIS_MAPS", 9_216_001), ("VCORES_MILLIS_MAPS", 3_000)];
    let counters = counters.map(|(name, value)| counter(name, value)).join(",");
    let end = format!(
        r#"99000,"totalCounters":{{"name":"T","groups":[{{"name":"J","displayName":"","counts":[{counters}]}}]}}"#
    );
    assert_eq!(size(&with(&[]).replace("99000", &end), &asked).unwrap(), told(3072, 1));
    let bad = from_name(&size(&with(&[]), "<configuration>\n<property></configuration>").unwrap_err());
    assert!(bad.starts_with("job_1_0001_conf.xml:2:"), "{bad}");
}
