//! `drover simulate`: policies side by side in a simulated cluster.

use super::bar::Bar;
use super::calc::given::probability;
use super::entry::{Entry, entry};
use super::interrupt::stop_on_ctrl_c;
use super::output::{self, Exit, Failure};
use super::{Common, sweep};
use crate::config::{PRESETS, engine_params};
use crate::simulation::idle::idle;
use crate::simulation::report::{Origin, Report, dir};
use crate::simulation::summary::summarise;
use crate::simulation::tables::tables;
use crate::simulation::told::{Sweep, Told, tied_to};
use crate::simulation::watched::{JobName, watch};
use crate::simulation::{Grid, Played, Results, file, play, traces};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use drover_core::sim::{Actor, Stuck};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const EXAMPLES: &str = "\
The engine that decides is the service's own. Every policy meets the same luck: the same work, the same slow attempts, seed by seed; so differences between \
policies are told with the interval that their pairs give. Ctrl-C keeps what is done: runs under way end, no other begins, and the code is 130. A run that cannot \
be ended, as its jobs wait for containers that never come, is named, and the others are told; the code is 1.

Examples:
  drover simulate examples/one-slow-node.toml                              Drover against Hadoop's own speculator and none
  drover simulate examples/one-slow-node.toml --policy late,mantri --seeds 20
  drover simulate examples/one-slow-node.toml --policy late,mantri --baseline hadoop --out report
  drover simulate examples/one-slow-node.toml --policy none,late --sweep late.min_age=10s,30s,1m --out report
  drover simulate examples/one-slow-node.toml --preset paper --json | jq '.policies[].jobs.of.p90'";

/// `drover simulate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// The scenario, TOML
    scenario: PathBuf,
    /// Policies to compare: late, late-early, hadoop, hadoop-tuned, hadoop-0.20, mapreduce, dryad, mantri, dolly, drover, blacklist or none; and what nobody can do, to hold them
    /// against: no-skew, chop-tail, ideal-recompute, ideal-reduce, oracle
    #[arg(long, value_delimiter = ',', value_parser = entry, default_values = ["none", "hadoop", "drover"])]
    policy: Vec<Entry>,
    /// Policy that the others are compared with; run, too, where --policy does not name it [default: the first of --policy]
    #[arg(long, value_name = "POLICY", value_parser = entry)]
    baseline: Option<Entry>,
    /// How many seeds, from 1 on
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000), allow_negative_numbers = true)]
    seeds: u64,
    /// Run the jobs of a trace, too: job histories (.jhist, or a directory of them, with their confs), a CSV of attempts, Rumen's JSON, or SWIM's jobs; plain or gzipped
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,
    /// Constants of the policies, as the setting `preset` has them: Drover's own, or those of the papers [default: what --config says, else adapted]
    #[arg(long, value_parser = presets())]
    preset: Option<String>,
    /// Run each policy with each of a setting's values, and plot what comes of it (sweep.svg); none and ideals are run once
    #[arg(long, value_name = "KEY=VALUE,VALUE", value_parser = sweep::parse)]
    sweep: Option<Sweep>,
    /// Share of the jobs, 0-1, that each policy leaves alone, as govern.holdout does: what would the others show beside them?
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = probability, allow_negative_numbers = true)]
    holdout: f64,
    /// Write a report, too: report.html, jobs.csv, phases.csv, summary.json and plots as SVG; the directory is made, or holds an earlier report
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Job that the report shows attempt by attempt, as in sessions/3 [default: the slowest under the baseline with the first seed]
    #[arg(long, value_name = "NAME/NTH", requires = "out")]
    job: Option<JobName>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `adapted`, the first of all presets, is called as well.
const DEFAULT: &str = "default";

/// By the names that the setting `preset` has for them.
fn presets() -> impl TypedValueParser<Value = String> {
    let named = |name: &&'static str| PossibleValue::new(*name).aliases((*name == PRESETS[0]).then_some(DEFAULT));
    let known = PossibleValuesParser::new(PRESETS.iter().map(named));
    known.map(|name| if name == DEFAULT { PRESETS[0].to_owned() } else { name })
}

fn usage(bad: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, bad.to_string())
}

fn failed(bad: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, bad.to_string())
}

impl Command {
    /// Runs it.
    pub fn run(&self, common: &Common) -> Result<(), Failure> {
        let policies = self.policies();
        let cast = self.cast(common, &policies)?;
        let mut draft = file::read(&self.scenario).map_err(usage)?;
        let overhead = traces::Overhead::of(&draft.scenario);
        let trace = self.trace.as_deref().map(|path| traces::read(path, overhead)).transpose().map_err(usage)?;
        let traces::Trace { jobs, hosts, mut assumed, repairs } = trace.unwrap_or_default();
        (draft.scenario.traced, draft.scenario.hosts) = (jobs, hosts);
        // A pipe can be read once, and a file may have changed since.
        let in_words = draft.text().to_owned();
        let scenario = draft.checked().map_err(usage)?;
        assumed.extend(traces::placed(&scenario).into_iter().chain(traces::strays(&scenario)));
        if let Some(job) = self.job.as_ref().filter(|job| !job.is_in(&scenario)) {
            return Err(usage(format!(
                "--job {job}: the scenario has no such job; jobs of a group are numbered from 0"
            )));
        }
        if let Some(out) = &self.out {
            dir::prepare(out).map_err(usage)?;
        }
        let names: Vec<String> = cast.iter().map(|(name, _)| name.clone()).collect();
        let base = self.baseline.unwrap_or(policies[0]);
        let baseline: usize =
            policies.iter().take_while(|policy| **policy != base).map(|policy| self.times(*policy)).sum();
        let grid = Grid { scenario: &scenario, policies: cast, seeds: 1..self.seeds + 1 };
        let command = self.again(common, base)?;
        let stop = stop_on_ctrl_c()?;
        let bar = Bar::new();
        let Results { played, stuck } = play(&grid, &stop, &bar);
        bar.end();
        let missing_runs = grid.runs() - played.len() as u64;
        let told = Told {
            about: scenario.about.clone(),
            slowness_is_tied_to: tied_to(&scenario),
            shared: scenario.cluster.shared(),
            assumed,
            repairs,
            idle: idle(&scenario, &grid.policies, &played),
            seeds: self.seeds,
            complete: missing_runs == 0,
            missing_runs,
            baseline: names[baseline].clone(),
            sweep: self.sweep.clone(),
            policies: summarise(&names, &names[baseline], self.holdout, &played),
        };
        // Told before anything is written, which may take as long as some runs, and may fail. Whether anybody hears it or not, the report is written.
        let said = if self.json { output::json(&told) } else { output::say(&text(&told)).map_err(Failure::from) };
        let out = self.out.as_ref().filter(|_| !played.is_empty());
        let origin = Origin { command, version: env!("CARGO_PKG_VERSION"), scenario: in_words };
        let lanes = out.map_or(Ok(0), |out| self.report(out, &grid, baseline, (&told, &played), origin, &stop))?;
        said?;
        self.shortfall(&stuck, missing_runs, grid.runs())?;
        match lanes {
            0 => Ok(()),
            missing => {
                let what = format!("interrupted: {missing} of the report's pictures of one job are missing");
                Err(Failure::new(Exit::Interrupted, what))
            }
        }
    }

    /// That runs are missing: some could not be ended, or the user would not wait for them.
    fn shortfall(&self, stuck: &[Stuck], missing: u64, all: u64) -> Result<(), Failure> {
        match stuck.first() {
            Some(first) => {
                let (file, count) = (self.scenario.display(), stuck.len());
                Err(failed(format!("{file}: {count} of {all} runs could not be ended, the first of them {first}")))
            }
            None if missing > 0 => {
                Err(Failure::new(Exit::Interrupted, format!("interrupted: {missing} of {all} runs are missing")))
            }
            None => Ok(()),
        }
    }

    /// Who acts, by name: each policy as often as it is to be run.
    fn cast(&self, common: &Common, policies: &[Entry]) -> Result<Vec<(String, Actor)>, Failure> {
        let set = common.set.iter().filter_map(|set| set.split_once('=')).map(|(key, _)| key);
        if let Some(why) = set.chain(self.sweep.iter().map(|sweep| sweep.setting.as_str())).find_map(sweep::unheeded) {
            return Err(usage(why));
        }
        let swept = |policy: Entry| self.sweep.as_ref().filter(|_| sweep::changes(policy));
        let each = policies.iter().flat_map(|policy| match swept(*policy) {
            Some(sweep) => sweep.of(policy.label()).map(|(name, set)| (*policy, name, vec![set])).collect(),
            None => vec![(*policy, policy.label().to_owned(), Vec::new())],
        });
        let cast = each.map(|(policy, name, set)| Ok((name, self.actor(common, policy, &set)?)));
        let cast = cast.collect::<Result<Vec<_>, Failure>>()?;
        match self.sweep.as_ref().and_then(|sweep| sweep::idle(sweep, policies, &cast)) {
            Some(why) => Err(usage(why)),
            None => Ok(cast),
        }
    }

    /// How often a policy is run with each seed.
    fn times(&self, policy: Entry) -> usize {
        self.sweep.as_ref().filter(|_| sweep::changes(policy)).map_or(1, |sweep| sweep.values.len())
    }

    fn actor(&self, common: &Common, entry: Entry, set: &[String]) -> Result<Actor, Failure> {
        // What is set is checked, whether anybody minds it or not.
        let mut config = common.named(set)?.config;
        let policy = match entry {
            Entry::Ideal(ideal) => return Ok(Actor::Ideal(ideal)),
            Entry::Policy(policy) => policy,
        };
        config.top.policy = policy.label().to_owned();
        config.top.preset = self.preset.clone().unwrap_or(config.top.preset);
        let mut params = engine_params(&config);
        params.govern.holdout = self.holdout;
        Ok(params.into())
    }

    /// Each policy once, the baseline among them.
    fn policies(&self) -> Vec<Entry> {
        let added = self.baseline.filter(|baseline| !self.policy.contains(baseline));
        let mut policies: Vec<Entry> = Vec::new();
        for policy in added.iter().chain(&self.policy) {
            if !policies.contains(policy) {
                policies.push(*policy);
            }
        }
        policies
    }

    /// Writes the report. How many policies it does not show a job under, as the user would not wait for them.
    fn report(
        &self,
        out: &Path,
        grid: &Grid<'_>,
        baseline: usize,
        (told, played): (&Told, &[Played]),
        origin: Origin,
        stop: &AtomicBool,
    ) -> Result<usize, Failure> {
        let job = self.job.clone().or_else(|| JobName::slowest(played, baseline));
        let bar = Bar::new();
        bar.begin("report:");
        // Who interrupts does not want more runs.
        let watched = job.filter(|_| told.complete).map(|job| watch(grid, baseline, &job, stop, &bar));
        bar.end();
        let watched = watched.transpose().map_err(failed)?;
        let shown = watched.as_ref().filter(|watched| !watched.panels.is_empty());
        let report = Report { told, played, watched: shown, origin };
        dir::write(out, &report.files().map_err(failed)?).map_err(failed)?;
        Ok(watched.map_or(0, |watched| watched.missing))
    }

    /// The command that gives the same numbers again, whatever the defaults will be by then, and wherever its report goes.
    fn again(&self, common: &Common, baseline: Entry) -> Result<String, Failure> {
        let policies: Vec<&str> = self.policies().iter().map(|policy| policy.label()).collect();
        let path = |path: &Path| path.display().to_string();
        let mut words: Vec<String> = ["drover", "simulate"].map(str::to_owned).into();
        words.push(path(&self.scenario));
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        option("policy", policies.join(","));
        option("baseline", baseline.label().to_owned());
        option("seeds", self.seeds.to_string());
        // One that a file, a setting or the sweep names stands there, and would be overruled.
        let set = common.set.iter().filter_map(|set| set.split_once('=')).map(|(key, _)| key.trim());
        let said = set.chain(self.sweep.iter().map(|sweep| sweep.setting.as_str())).any(|key| key == "preset");
        let unsaid = !said && common.file().is_none();
        let preset = self.preset.clone().or(unsaid.then(|| PRESETS[0].to_owned()));
        preset.iter().for_each(|preset| option("preset", preset.clone()));
        common.file().iter().for_each(|file| option("config", path(file)));
        common.set.iter().for_each(|set| option("set", set.clone()));
        self.sweep.iter().for_each(|sweep| option("sweep", sweep.to_string()));
        if self.holdout > 0.0 {
            option("holdout", self.holdout.to_string());
        }
        if let Some(trace) = &self.trace {
            option("trace", path(trace));
        }
        if let Some(job) = &self.job {
            option("job", job.to_string());
        }
        shlex::try_join(words.iter().map(String::as_str)).map_err(usage)
    }
}

fn text(told: &Told) -> String {
    let seeds = told.policies.iter().map(|policy| policy.seeds).min().unwrap_or(0);
    let mut parts = Vec::from_iter((!told.about.is_empty()).then(|| told.about.clone()));
    let tied = told.tied_to();
    let intervals = match seeds {
        0 => "None was played under each policy, so that nothing is compared.",
        1 => "One seed tells no interval.",
        _ => "Intervals hold the true value with 95 %.",
    };
    parts.push(format!("Slowness is tied to: {tied}. Seeds: {seeds}. {intervals}"));
    let of_trace: Vec<String> = told.of_trace().map(|line| format!("- {line}")).collect();
    if !of_trace.is_empty() {
        parts.push(format!("Of the trace:\n{}", of_trace.join("\n")));
    }
    parts.extend((!told.idle.is_empty()).then(|| told.idle.join("\n")));
    parts.extend(told.cut_short());
    for table in tables(told) {
        let mut shown = output::table(&table.heading.iter().map(String::as_str).collect::<Vec<_>>());
        shown.add_rows(table.rows);
        parts.push(format!("{}\n{shown}", table.title));
    }
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use drover_core::engine::EngineParams;
    use drover_core::policy::PolicyName;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        command: Command,
    }

    fn tried(words: &[&str]) -> Result<Vec<(String, Actor)>, Failure> {
        let line = Line::parse_from(["drover", "s.toml"].iter().chain(words));
        line.command.cast(&line.common, &line.command.policies())
    }

    fn cast(words: &[&str]) -> Vec<(String, EngineParams)> {
        let cast = tried(words).unwrap();
        let params = |actor| if let Actor::Policy(params) = actor { *params } else { panic!("an ideal") };
        cast.into_iter().map(|(name, actor)| (name, params(actor))).collect()
    }

    #[test]
    fn where_nothing_is_set_policies_have_the_constants_of_their_preset() {
        for policy in PolicyName::ALL {
            let [own, paper] =
                ["default", "paper"].map(|preset| cast(&["--policy", policy.label(), "--preset", preset]));
            assert_eq!(format!("{:?}", own[0].1), format!("{:?}", EngineParams { policy, ..EngineParams::default() }));
            assert_eq!(format!("{:?}", paper[0].1), format!("{:?}", EngineParams::paper(policy)));
        }
    }

    #[test]
    fn every_preset_is_known_by_the_name_that_the_setting_has_for_it() {
        let under = |words: &[&str]| format!("{:?}", cast(&[&["--policy", "dolly"], words].concat())[0].1);
        for preset in PRESETS {
            assert_eq!(under(&["--preset", preset]), under(&["--set", &format!("preset={preset}")]), "{preset}");
        }
        assert_eq!(under(&["--preset", DEFAULT]), under(&["--preset", "adapted"]));
        assert_ne!(under(&["--preset", "paper-hotcloud"]), under(&["--preset", "paper"]));
        assert!(Line::try_parse_from(["drover", "s.toml", "--preset", "papers"]).is_err());
    }

    #[test]
    fn the_command_that_gives_the_same_again_has_the_preset_that_held() {
        let again = |words: &[&str]| {
            let line = Line::parse_from(["drover", "s.toml"].iter().chain(words));
            line.command.again(&line.common, line.command.policies()[0]).unwrap()
        };
        assert!(
            again(&[]).contains("--preset adapted") && again(&["--preset", "default"]).contains("--preset adapted")
        );
        for said in [["--set", "preset=paper"], ["--sweep", "preset=adapted,paper"]] {
            let again = again(&said);
            assert!(again.contains(said[1]) && !again.contains("--preset"), "{again}");
        }
    }

    #[test]
    fn a_sweep_that_shows_nothing_is_refused_with_what_would() {
        for (words, says) in [
            (["none,oracle", "late.min_age=10s,30s"], "no policy is run that settings change"),
            (["none,late", "late.min_age=60s,1m"], "60s and 1m mean the same"),
            (["mantri", "govern.cluster_cap=0.1,0.3,0.10"], "0.1 and 0.10 mean the same"),
            (["late", "rest.max_jobs=10,20"], "10 and 20 mean the same"),
        ] {
            let Err(refused) = tried(&["--policy", words[0], "--sweep", words[1]]) else { panic!("{words:?}") };
            assert!(refused.exit == Exit::Usage && refused.message.contains(says), "{words:?}: {}", refused.message);
        }
    }

    #[test]
    fn what_is_set_holds_for_every_policy_and_what_is_swept_for_each_by_turns_but_for_none() {
        let words =
            ["--policy", "none,late,mantri", "--set", "late.min_reports=7", "--sweep", "govern.cluster_cap=0.1,0.3"];
        let cast = cast(&words);
        let names: Vec<&str> = cast.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["none", "late 0.1", "late 0.3", "mantri 0.1", "mantri 0.3"]);
        let caps: Vec<f64> = cast.iter().map(|(_, params)| params.govern.cluster_cap).collect();
        assert_eq!(caps[1..], [0.1, 0.3, 0.1, 0.3]);
        assert!(cast.iter().all(|(_, params)| params.late.min_reports == 7));
    }
}
