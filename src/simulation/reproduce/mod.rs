//! The papers' numbers beside ours: `drover reproduce`. Each paper has one workload and one set of assumptions, stated where it stands; the policies keep the paper's constants.

mod assumed;
mod dolly;
mod exact;
mod late;
mod mantri;
mod rows;
mod tail;

use super::grid::Progress;
use crate::stats::Interval;
pub use assumed::digest;
use drover_core::sim::Stuck;
pub use mantri::phase as mantri_phase;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a number compares with the published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The same, to the printed digits.
    Exact,
    /// The published one is within 20 % of ours, and half of our interval at most 10 %.
    Within,
    /// What the paper says of it holds: its sign or its order, which chance does not explain, or the bound that it is to keep.
    Direction,
    /// None of these.
    NotReproduced,
}

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Verdict; 4] = [Verdict::Exact, Verdict::Within, Verdict::Direction, Verdict::NotReproduced];

    /// Stable label, its serialised form.
    pub fn label(self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Within => "within",
            Verdict::Direction => "direction",
            Verdict::NotReproduced => "not_reproduced",
        }
    }
}

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Which experiment, by paper and place in it.
    pub experiment: String,
    /// What it is.
    pub quantity: String,
    /// The paper's; absent where it says no number, only what holds.
    pub published: Option<f64>,
    /// Ours.
    pub measured: f64,
    /// Lower end of our 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Unit of all four.
    pub unit: String,
    /// How they compare.
    pub verdict: Verdict,
    /// Of the assumptions that the paper leaves open, the share (0–1) of the choices, varied one at a time or together, that reproduce it; absent where it leaves none, or the seeds of all are too few to tell.
    pub share_of_assumptions: Option<f64>,
    /// What comes of each of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// A number under another set of assumptions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What is assumed otherwise than in the main set: `load 0.4`.
    pub assumed: String,
    /// Ours then.
    pub measured: f64,
    /// How that compares.
    pub verdict: Verdict,
}

impl Finding {
    /// Without what comes of other assumptions.
    pub fn without_choices(&self) -> Finding {
        Finding { choices: Vec::new(), ..self.clone() }
    }

    /// A number of ours beside the published, where the paper leaves no assumption open.
    fn new(
        experiment: &str,
        quantity: &str,
        published: Option<f64>,
        ours: Interval,
        unit: &str,
        verdict: Verdict,
    ) -> Finding {
        // Of one seed there is no interval, and no number of JSON for its ends.
        let end = |end: f64| if end.is_finite() { end } else { ours.mean };
        Finding {
            experiment: experiment.into(),
            quantity: quantity.into(),
            published,
            measured: ours.mean,
            low: end(ours.low),
            high: end(ours.high),
            unit: unit.into(),
            verdict,
            share_of_assumptions: None,
            choices: Vec::new(),
        }
    }
}

/// How much is to be run, and who is told how far it is.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Seeds of the main set of assumptions.
    pub seeds: u64,
    /// Seeds of each other combination.
    pub seeds_of_others: u64,
    /// Is told of each run.
    pub progress: &'a dyn Progress,
}

impl<'a> Effort<'a> {
    /// What comes of the main set of assumptions and of each of the others.
    fn under<A: Serialize + Copy, R>(
        self,
        main: A,
        others: impl IntoIterator<Item = A>,
        play: impl Fn(A, u64, &'a dyn Progress) -> Result<R, Stuck>,
    ) -> Result<Varied<R>, Stuck> {
        let ran = play(main, self.seeds, self.progress)?;
        let others = others
            .into_iter()
            .map(|assumed| Ok((differs(&assumed, &main), play(assumed, self.seeds_of_others, self.progress)?)));
        Ok(Varied { main: ran, others: others.collect::<Result<_, _>>()? })
    }
}

/// What came of the main set of assumptions, and of the others, each by what it assumes otherwise.
struct Varied<R> {
    main: R,
    others: Vec<(String, R)>,
}

/// In what a set of assumptions is another than the main one: `load 0.4, task 15.0`.
fn differs(assumed: &impl Serialize, main: &impl Serialize) -> String {
    let [assumed, main] = [serde_json::to_value(assumed), serde_json::to_value(main)].map(Result::unwrap_or_default);
    let fields = assumed.as_object().into_iter().flatten();
    let others: Vec<String> = fields
        .filter(|(name, value)| main.get(name.as_str()) != Some(*value))
        .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
        .collect();
    if others.is_empty() { "as in the main set".to_owned() } else { others.join(", ") }
}

/// What a paper gives, from which its numbers are to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A formula or a worked example.
    ByHand,
    /// A workload, but for a few choices.
    Workload,
    /// Traces or clusters that are not public.
    Traces,
}

impl Ground {
    /// All of them.
    pub const ALL: [Ground; 3] = [Ground::ByHand, Ground::Workload, Ground::Traces];

    /// What it is, in words.
    pub fn label(self) -> &'static str {
        match self {
            Ground::ByHand => "a formula or a worked example",
            Ground::Workload => "a workload that the paper gives, but for a few choices",
            Ground::Traces => "traces or clusters that are not public",
        }
    }
}

/// An experiment.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Paper and place: `late.fig10`.
    pub name: &'static str,
    /// What its numbers come from in the paper.
    pub ground: Ground,
    /// One line.
    pub about: &'static str,
    /// What slowness is tied to there: a sentence. It decides more than the policy does.
    pub slowness: &'static str,
    /// What its assumptions were calibrated on, and what of its rows is therefore not independent of them: sentences.
    pub calibrated: &'static str,
    /// Names of its rows, beside its own.
    pub rows: &'static [&'static str],
    /// How many times the seeds that are asked for its main set gets, one or more: numbers that scatter most ask for more.
    pub times: u64,
    /// What it assumes.
    assumed: fn() -> Result<Value, Stuck>,
    run: fn(Effort) -> Result<Vec<Finding>, Stuck>,
}

impl Experiment {
    /// Is it meant by a name: its own, its paper's, one of its rows', or `all`?
    pub fn is_meant(&self, name: &str) -> bool {
        self.is_meant_whole(name) || self.rows.contains(&name)
    }

    fn is_meant_whole(&self, name: &str) -> bool {
        name == "all" || name == self.name || self.name.split('.').next() == Some(name)
    }

    /// Is a row of that name to be shown to who asks for these?
    pub fn shows(&self, row: &str, asked: &[String]) -> bool {
        asked.iter().any(|name| name == row || self.is_meant_whole(name))
    }

    /// One line, with what slowness is tied to, and how many seeds more than others it gets.
    pub fn summary(&self) -> String {
        let times =
            if self.times > 1 { format!(" Its main set gets {} times the seeds.", self.times) } else { String::new() };
        format!("{}. {}{times}", self.about, self.slowness)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Where a simulation cannot be ended.
    pub fn run(&self, effort: Effort) -> Result<Vec<Finding>, Stuck> {
        let found = (self.run)(Effort { seeds: effort.seeds * self.times, ..effort })?;
        debug_assert!(
            found.iter().all(|one| one.experiment == self.name || self.rows.contains(&one.experiment.as_str()))
        );
        Ok(found)
    }
}

/// Every experiment, in the papers' order.
pub fn all() -> Vec<Experiment> {
    let rooms =
        [exact::experiments(), late::experiments(), tail::experiments(), mantri::experiments(), dolly::experiments()];
    rooms.into_iter().flatten().collect()
}

/// Verdict on a number that the paper prints, where `holds` says whether what it says of it holds.
fn judge(published: Option<f64>, ours: Interval, holds: bool) -> Verdict {
    let half = (ours.high - ours.low) / 2.0;
    let near = |published: f64| (published - ours.mean).abs() <= 0.2 * ours.mean.abs() && half <= 0.1 * ours.mean.abs();
    match published {
        _ if !holds => Verdict::NotReproduced,
        Some(published) if near(published) => Verdict::Within,
        _ => Verdict::Direction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Silent;
    use serde_json::json;

    #[test]
    fn a_set_of_assumptions_is_called_by_what_is_another_than_in_the_main_one() {
        let of =
            |load: f64, task: f64, work_scores: bool| json!({"load": load, "task": task, "work_scores": work_scores});
        let told = |other| differs(&other, &of(0.2, 8.0, false));
        assert_eq!(told(of(0.4, 8.0, false)), "load 0.4");
        assert_eq!(told(of(0.2, 15.0, true)), "task 15.0, work scores true");
        assert_eq!(told(of(0.2, 8.0, false)), "as in the main set");
    }

    #[test]
    fn a_number_is_within_where_it_is_near_and_sure_and_what_must_hold_does() {
        let at = |mean, half: f64| Interval { mean, low: mean - half, high: mean + half };
        assert_eq!(judge(Some(120.0), at(100.0, 9.9), true), Verdict::Within);
        assert_eq!(judge(Some(121.0), at(100.0, 9.9), true), Verdict::Direction);
        assert_eq!(judge(Some(120.0), at(100.0, 10.1), true), Verdict::Direction, "not sure enough");
        assert_eq!(judge(Some(120.0), at(100.0, 1.0), false), Verdict::NotReproduced);
        assert_eq!(judge(None, at(100.0, 1.0), true), Verdict::Direction);
    }

    #[test]
    fn a_verdicts_label_is_its_serialised_form() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.label());
        }
    }

    #[test]
    fn every_name_that_a_row_has_in_the_document_means_the_experiment_that_it_stands_under() {
        let mut under = None;
        for line in include_str!("../../../docs/reproduction.md").lines() {
            if let Some(name) = line.strip_prefix("## ") {
                under = all().into_iter().find(|one| one.name == name);
            } else if let (Some(one), Some(row)) = (&under, line.strip_prefix("| ")) {
                let name = row.split(' ').next().unwrap();
                assert!(["experiment", "---"].contains(&name) || one.is_meant(name), "{name} under {}", one.name);
            }
        }
        assert!(under.is_some());
    }

    #[test]
    fn who_asks_for_a_row_is_shown_it_alone_and_who_asks_for_the_experiment_all_of_them() {
        let mantri = all().into_iter().find(|one| one.name == "mantri.s63").unwrap();
        let shows = |row, name: &str| mantri.shows(row, &[name.to_owned()]);
        assert!(shows("mantri.fig16", "mantri.fig16") && !shows("mantri.fig17", "mantri.fig16"));
        assert!(["all", "mantri", "mantri.s63"].iter().all(|name| shows("mantri.fig17", name)));
        assert!(!mantri.is_meant("mantri.fig20") && !mantri.is_meant("dolly.fig16"));
    }

    #[test]
    fn every_experiment_says_what_slowness_is_tied_to_and_what_was_calibrated() {
        for one in all() {
            assert!(one.slowness.contains("lowness") && one.slowness.ends_with('.'), "{}", one.name);
            assert!(
                one.calibrated.to_lowercase().contains("calibrated") && one.calibrated.ends_with('.'),
                "{}",
                one.name
            );
        }
    }

    #[test]
    fn every_experiment_has_a_name_of_its_own_and_is_meant_by_it_by_its_paper_and_by_all() {
        let all = all();
        let mut names: Vec<_> = all.iter().flat_map(|one| one.rows.iter().copied().chain([one.name])).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "rows' names are no other's, either");
        let late = all.iter().find(|one| one.name == "late.fig2").unwrap();
        assert!(["all", "late", "late.fig2"].iter().all(|name| late.is_meant(name)) && !late.is_meant("mantri"));
    }

    #[test]
    fn what_the_papers_work_out_by_hand_comes_out_to_the_printed_digits_and_only_what_they_print_is_published() {
        let effort = Effort { seeds: 1, seeds_of_others: 1, progress: &Silent };
        let found: Vec<Finding> = exact::experiments().iter().flat_map(|one| one.run(effort).unwrap()).collect();
        let verdicts = |of: &str| {
            let rows = found.iter().filter(|one| one.experiment == of);
            rows.map(|one| (one.published, one.verdict)).collect::<Vec<_>>()
        };
        use Verdict::{Direction, Exact, Within};
        assert!(["late.fig2", "late.s32"].iter().all(|of| verdicts(of).iter().all(|(_, verdict)| *verdict == Exact)));
        // The theorem prints a bound for any number of slots, and §3 of NSDI'13 formulas; neither prints a number that these give.
        assert_eq!(verdicts("mantri.theorem1"), [(None, Direction); 6]);
        assert_eq!(verdicts("dolly.clones"), [(None, Direction); 6]);
        assert_eq!(verdicts("dolly.fig5"), [(Some(10.0), Direction), (Some(30.0), Within)], "over 10% and 30%");
    }
}
