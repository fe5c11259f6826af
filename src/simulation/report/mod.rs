//! A simulation's report: tables as CSV and JSON, plots as SVG, and one page with it all. It carries no time of day and no random number: the same runs give the same bytes.

mod axis;
mod cdf;
pub mod dir;
mod gain;
mod html;
mod lanes;
mod plot;
mod rows;
mod sweep;
#[cfg(test)]
mod tests;

use super::Played;
use super::tables::tables;
use super::told::Told;
use super::watched::{PANELS, Watched};
use drover_core::model::Millis;
use html::Figure;

/// What a report is made of.
#[derive(Debug)]
pub struct Report<'a> {
    /// What is told.
    pub told: &'a Told,
    /// Every run.
    pub played: &'a [Played],
    /// The job whose attempts are shown; `None` where it was not played.
    pub watched: Option<&'a Watched>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a report comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that gives it.
    pub command: String,
    /// Of Drover.
    pub version: &'static str,
    /// The scenario's file.
    pub scenario: String,
}

/// Why a report cannot be made: a fault of the program's.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be made: {0}")]
pub struct BadReport(String);

fn bad(error: impl std::error::Error) -> BadReport {
    BadReport(error.to_string())
}

/// A file of a report: its name and its bytes.
pub type Made = (&'static str, Vec<u8>);

impl Report<'_> {
    /// Its files.
    ///
    /// # Errors
    /// Never, but for faults of the program's.
    pub fn files(&self) -> Result<Vec<Made>, BadReport> {
        let names: Vec<String> = self.told.policies.iter().map(|one| one.policy.clone()).collect();
        let summary = serde_json::to_string_pretty(self.told).map_err(bad)? + "\n";
        let mut files = vec![
            ("jobs.csv", rows::jobs(&names, self.played).map_err(bad)?),
            ("phases.csv", rows::phases(&names, self.played).map_err(bad)?),
            ("summary.json", summary.into_bytes()),
        ];
        if self.played.iter().any(|one| !one.outcome.workflows.is_empty()) {
            files.push(("workflows.csv", rows::workflows(&names, self.played).map_err(bad)?));
        }
        let plots = self.plots(&names).map_err(bad)?;
        files.extend(plots.iter().map(|(name, figure)| (*name, figure.svg.clone().into_bytes())));
        let figures: Vec<Figure> = plots.into_iter().map(|(_, figure)| figure).collect();
        let page = html::page(self.told, &self.origin, &tables(self.told), &figures).map_err(bad)?;
        files.push((dir::PAGE, page.into_bytes()));
        Ok(files)
    }

    fn plots(&self, names: &[String]) -> Result<Vec<(&'static str, Figure)>, plot::Fault> {
        let mut all = vec![("cdf.svg", self.distribution(names)?)];
        if let Some(svg) = gain::draw(&self.told.policies)? {
            let caption = "Each policy beside the baseline, seed by seed. Above zero is faster. Bars that reach the edge go on beyond it.";
            all.push(("gain.svg", Figure { caption: caption.into(), svg }));
        }
        let swept = self.told.sweep.as_ref();
        let swept =
            swept.map(|swept| sweep::draw(swept, &self.told.baseline, &self.told.policies)).transpose()?.flatten();
        if let Some(svg) = swept {
            let caption = "The mean of jobs' times beside the baseline, by the setting's value. Above zero is faster.";
            all.push(("sweep.svg", Figure { caption: caption.into(), svg }));
        }
        if let Some(watched) = self.watched {
            let caption = format!(
                "Job {} with seed {}: each bar is an attempt on the node named in it, from launch to end; at most {} tasks, those that ended last under {}, and {} policies.",
                plot::clean(&watched.job),
                watched.seed,
                lanes::TASKS,
                self.told.baseline,
                PANELS
            );
            all.push(("swimlane.svg", Figure { caption, svg: lanes::draw(&watched.job, &watched.panels)? }));
        }
        Ok(all)
    }

    fn distribution(&self, names: &[String]) -> Result<Figure, plot::Fault> {
        let times = |policy: usize| {
            let jobs = self.played.iter().filter(|one| one.policy == policy).flat_map(|one| &one.outcome.jobs);
            jobs.filter(|job| !job.failed).map(|job| job.took).map(Millis::as_secs_f64).collect::<Vec<_>>()
        };
        let curves: Vec<_> = names.iter().enumerate().map(|(nth, name)| (name.clone(), times(nth))).collect();
        let caption =
            "Jobs of all seeds, but those that failed: the share that took at most so long. Further left is faster.";
        Ok(Figure { caption: caption.into(), svg: cdf::draw(&curves)? })
    }
}
