use super::super::Grid;
use super::super::grid::play_whole;
use super::super::summary::summarise;
use super::super::told::tied_to;
use super::super::watched::{JobName, watch};
use super::*;
use crate::simulation::Silent;
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::Scenario;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

const SCENARIO: &str = r#"# </pre><script>alert(1)</script>
about = "Slow & slower <nodes>"
[cluster]
nodes = 4
memory_mb = 2048
[hadoop]
report = 3
[[trouble]]
nodes = [1]
slower = 6
[[jobs]]
name = "a, \"quoted\" <job>"
count = 2
arrive = { every = 20 }
maps = { tasks = 8, work = { lognormal = { median = 30, sigma = 0.2 } } }
reduces = { tasks = 2, copy = 2, sort = 1, work = 5 }
[[jobs]]
name = "large"
maps = { tasks = 40, work = 10 }
"#;

fn made() -> BTreeMap<&'static str, String> {
    made_of("", |_| ())
}

/// With more of a scenario, and with what has become of the runs.
fn made_of(more: &str, happened: impl Fn(&mut Vec<Played>)) -> BTreeMap<&'static str, String> {
    let scenario: Scenario = toml::from_str(&format!("{SCENARIO}{more}")).unwrap();
    let policies = [PolicyName::None, PolicyName::Drover];
    let policies =
        policies.map(|policy| (policy.label().to_owned(), EngineParams { policy, ..EngineParams::default() }));
    let grid = Grid {
        scenario: &scenario,
        policies: policies.map(|(name, params)| (name, params.into())).into(),
        seeds: 1..3,
    };
    let mut played = play_whole(&grid, &Silent).unwrap();
    happened(&mut played);
    let names = ["none".to_owned(), "drover".to_owned()];
    let told = Told {
        about: scenario.about.clone(),
        slowness_is_tied_to: tied_to(&scenario),
        shared: scenario.cluster.shared(),
        assumed: vec!["it is <assumed>".into()],
        repairs: BTreeMap::new(),
        idle: vec!["late decided nothing".into()],
        seeds: 2,
        complete: true,
        missing_runs: 0,
        baseline: "none".into(),
        sweep: None,
        policies: summarise(&names, "none", 0.0, &played),
    };
    let watched = watch(&grid, 0, &JobName::slowest(&played, 0).unwrap(), &AtomicBool::new(false), &Silent).unwrap();
    let origin = Origin { command: "drover simulate 'a <b>.toml'".into(), version: "0.1", scenario: SCENARIO.into() };
    let report = Report { told: &told, played: &played, watched: Some(&watched), origin };
    let files = report.files().unwrap();
    files.into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect()
}

/// The elements of a text that must be well-formed XML: how often each occurs, and all that is read as text.
fn parsed(xml: &str) -> (BTreeMap<String, usize>, String) {
    let mut reader = quick_xml::Reader::from_str(xml);
    let (mut elements, mut text): (BTreeMap<String, usize>, String) = Default::default();
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error} at {}", reader.error_position())) {
            Event::Start(start) | Event::Empty(start) => {
                start.attributes().for_each(|attribute| drop(attribute.unwrap()));
                *elements.entry(start.name().as_ref().to_owned()).or_default() += 1;
            }
            Event::Text(words) => text += &words,
            Event::GeneralRef(named) => match named.resolve_char_ref().unwrap() {
                Some(character) => text.push(character),
                None => text += resolve_predefined_entity(&named).unwrap(),
            },
            Event::Eof => return (elements, text),
            _ => {}
        }
    }
}

#[test]
fn jobs_that_failed_are_in_no_distribution_of_times() {
    let last_fails = |played: &mut Vec<Played>| {
        played.iter_mut().filter_map(|one| one.outcome.jobs.last_mut()).for_each(|job| job.failed = true);
    };
    let last_is_gone = |played: &mut Vec<Played>| played.iter_mut().for_each(|one| drop(one.outcome.jobs.pop()));
    assert_ne!(made()["cdf.svg"], made_of("", last_is_gone)["cdf.svg"]);
    assert_eq!(made_of("", last_fails)["cdf.svg"], made_of("", last_is_gone)["cdf.svg"]);
}

#[test]
fn the_page_says_what_transfers_compete_for_in_that_scenario() {
    let of = |more: &str| made_of(more, |_| ())["report.html"].clone();
    assert!(of("").contains("do not compete with one another"));
    let shared = of("[cluster.network]\nuplink_mb_s = 5\nprocessors = 8\n");
    assert!(shared.contains("Attempts share links between racks, processors, max–min fairly"), "{shared}");
    assert!(!shared.contains("do not compete"));
}

#[test]
fn the_same_runs_make_the_same_bytes() {
    assert_eq!(made(), made());
}

#[test]
fn plots_are_well_formed_and_their_words_are_text() {
    let files = made();
    let words = |name: &str| parsed(&files[name]).1;
    for (name, of) in [
        ("cdf.svg", ["from arrival to end, seconds", "share of jobs, percent", "drover"]),
        ("gain.svg", ["reduction, percent", "p99", "drover"]),
        ("swimlane.svg", ["since the job's arrival, seconds", "map 7", "overtaken by a copy"]),
    ] {
        for word in of {
            let (elements, text) = parsed(&files[name]);
            assert!(text.contains(word), "{name} lacks {word}: {text}");
            assert!(elements["text"] > 10, "{name}");
        }
    }
    assert!(!words("gain.svg").contains("none "), "the baseline is not set beside itself");
    assert!(files["swimlane.svg"].contains("#F0E442") || files["swimlane.svg"].contains("#E69F00"), "a copy was run");
}

#[test]
fn the_page_is_well_formed_needs_nothing_else_and_takes_nothing_for_markup() {
    let page = &made()["report.html"];
    let (elements, _) = parsed(page);
    assert_eq!((elements["svg"], elements["table"]), (3, 5));
    assert!(!elements.contains_key("script") && !elements.contains_key("link") && !elements.contains_key("img"));
    for outside in ["src=", "href=", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let addresses = page.matches("://").count();
    assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    for words in ["seeds 1 to 2", "tied to: the node", "late decided nothing", "assumed", "drover simulate"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn there_is_a_row_for_each_job_and_phase_of_each_run_and_names_survive() {
    let files = made();
    let rows = |name: &str| {
        let mut reader = csv::Reader::from_reader(files[name].as_bytes());
        reader.deserialize().collect::<Result<Vec<BTreeMap<String, String>>, _>>().unwrap()
    };
    let (jobs, phases) = (rows("jobs.csv"), rows("phases.csv"));
    assert_eq!((jobs.len(), phases.len()), (2 * 2 * 3, 2 * 2 * 5));
    assert_eq!((jobs[0]["policy"].as_str(), jobs[0]["job"].as_str()), ("none", "a, \"quoted\" <job>"));
    assert_eq!((jobs[2]["bin"].as_str(), jobs[2]["tasks"].as_str()), ("11-50", "40"));
    assert_eq!((phases[1]["phase"].as_str(), phases[1]["tasks"].as_str()), ("reduce", "2"));
    let bins: Vec<&str> = phases[..5].iter().map(|row| row["bin"].as_str()).collect();
    assert_eq!(bins, ["1-10", "1-10", "1-10", "1-10", "11-50"], "a phase has its job's bin");
    assert!(jobs.iter().all(|row| row["took_ms"].parse::<u64>().unwrap() > 10_000));
}

#[test]
fn the_summary_is_what_json_prints() {
    let files = made();
    let told: serde_json::Value = serde_json::from_str(&files["summary.json"]).unwrap();
    assert_eq!((&told["baseline"], &told["missing_runs"]), (&"none".into(), &0.into()));
    let drover = &told["policies"][1];
    assert_eq!(drover["against"]["pairs"], 2);
    let of = |path: &str| drover.pointer(path).and_then(serde_json::Value::as_f64).unwrap();
    assert!(of("/against/more/copies/mean") > 0.0 && of("/costs/budget_decisions/mean") > 0.0, "{drover}");
    let budget = of("/costs/budget_peak_percent/mean");
    assert!((0.0..=100.0).contains(&budget) && of("/costs/budget_mean_percent/mean") <= budget);
    assert!((0.0..=1000.0).contains(&of("/estimates/map/late/mean")), "{drover}");
    let median = of("/estimate_medians/map/late/mean");
    assert!((0.0..=1000.0).contains(&median), "{drover}");
    let row = files["report.html"]
        .split("what was left, median:")
        .nth(1)
        .and_then(|table| table.split("</table>").next())
        .unwrap();
    assert!(row.contains(&format!("{median:.1}")), "the page has the median: {row}");
    let counts = |key: &str| {
        let bins = drover[key].as_array().unwrap().iter();
        bins.map(|bin| (bin[0].as_str().unwrap(), bin[1]["count"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(
        (counts("bins"), counts("phase_bins")),
        (vec![("1-10", 4), ("11-50", 2)], vec![("1-10", 8), ("11-50", 2)])
    );
    let told_of = drover["against"]["phase_bins"].as_array().unwrap().iter().map(|bin| &bin[0]);
    assert_eq!(told_of.collect::<Vec<_>>(), ["1-10", "11-50"]);
    assert_eq!(
        files["report.html"].matches("<td>phases of jobs of 11-50 tasks</td>").count(),
        3,
        "twice, and once less"
    );
    assert_eq!(told["policies"][0]["estimates"], serde_json::json!({}), "where nobody acts nothing is estimated");
}
