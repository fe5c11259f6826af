//! Feeds a recording back through the engine: the same facts and instants, the same decisions, byte for byte.

use super::format::{Header, Line};
use super::read::{Placed, ReadError, read};
use drover_core::engine::{Engine, EngineParams};
use drover_core::model::{Decision, Mode, Time};
use drover_core::policy::PolicyName;
use std::collections::VecDeque;
use std::path::PathBuf;

/// How to replay.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Policy to put in the place of the recorded one.
    pub policy: Option<PolicyName>,
    /// Compare decisions, and the engine's state at each segment, with the recording.
    pub check: bool,
    /// Leave out last lines that are cut off.
    pub lenient: bool,
}

/// What a replay found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Segments read.
    pub segments: u64,
    /// States of the engine in them: without one there is nothing to replay.
    #[serde(skip)]
    pub states: u64,
    /// Segments of a run that are missing between others of it, or stand out of their order; after each gap the recorded state is taken.
    pub missing: u64,
    /// Files without a line.
    pub empty: u64,
    /// Segments left out that another build wrote, in a format that this one does not read.
    pub other_format: u64,
    /// Facts given to the engine.
    pub observations: u64,
    /// Of these, refused by it as they were when recorded.
    pub dropped: u64,
    /// Instants it was asked at.
    pub passes: u64,
    /// Decisions it took.
    pub decisions: u64,
    /// Entries lost when recording; after each gap the recorded state is taken.
    pub lost: u64,
    /// Last lines left out because they are cut off.
    pub cut_off: u64,
    /// Where the recording of a run ends within a pass, the last of whose decisions it lacks; found by a check.
    pub unfinished: u64,
    /// Differences from the recording.
    pub different: u64,
    /// The first few of them in words.
    pub differences: Vec<String>,
}

/// Differences told in words; a replay that differs once often differs everywhere.
const DIFFERENCES_MAX: usize = 10;

/// Replays the files, in this order; `emit` gets each decision as the engine takes it.
pub fn replay(
    files: &[PathBuf],
    options: Options,
    emit: &mut dyn FnMut(&Decision, &str) -> std::io::Result<()>,
) -> Result<Report, ReadError> {
    let mut run = Run {
        options,
        engine: None,
        last: None,
        expected: VecDeque::new(),
        in_pass: false,
        report: Report::default(),
        emit,
    };
    let mut unread = None;
    for file in files {
        let mut is_empty = true;
        let read = read(file, options.lenient, &mut |placed| {
            is_empty = false;
            run.step(placed)
        });
        let cut_off = match read {
            // The next one begins with a state of its own.
            Err(error @ ReadError::Format { .. }) => {
                run.report.other_format += 1;
                unread = unread.or(Some(error));
                continue;
            }
            read => read?,
        };
        run.report.cut_off += cut_off;
        run.report.empty += u64::from(is_empty && cut_off == 0);
        if cut_off > 0 {
            run.last = None; // Nothing follows on what is lost with that line.
        }
    }
    if let Some(error) = unread.filter(|_| run.report.segments == 0) {
        return Err(error);
    }
    // The service may have been killed there, or be writing on.
    run.settle("the end of the recording", true);
    Ok(run.report)
}

struct Run<'a> {
    options: Options,
    engine: Option<Box<Engine>>,
    last: Option<Header>,
    /// Decisions of ours that the recording has not confirmed yet.
    expected: VecDeque<String>,
    /// The line before was of a pass, which may lack its last decisions.
    in_pass: bool,
    report: Report,
    emit: &'a mut dyn FnMut(&Decision, &str) -> std::io::Result<()>,
}

impl Run<'_> {
    fn step(&mut self, placed: Placed<'_>) -> Result<(), ReadError> {
        let place = format!("{}:{}", placed.file.display(), placed.number);
        let in_pass = matches!(placed.line, Line::Decide(_) | Line::Decision(_));
        match &placed.line {
            Line::Segment(header) => self.segment(header, &place),
            Line::Decision(_) => self.compare(placed.text, &place),
            Line::Decide(now) => {
                self.settle(&place, false);
                self.decide(*now, &placed)?;
            }
            Line::Engine(_) => self.state(placed, &place)?,
            Line::Params(params) => {
                let params = self.adjusted(params.clone());
                self.engine(&placed)?.set_params(params);
            }
            Line::Observe(seen) => {
                let refused = self.engine(&placed)?.observe(seen).is_err();
                self.report.observations += 1;
                self.report.dropped += u64::from(refused);
            }
        }
        self.in_pass = in_pass;
        Ok(())
    }

    fn engine(&mut self, placed: &Placed<'_>) -> Result<&mut Engine, ReadError> {
        self.engine.as_deref_mut().ok_or_else(|| placed.damaged("comes before any state of the engine"))
    }

    /// Another policy only advises: what became of a copy that it would have asked for nobody has recorded. The least of several modes holds.
    fn adjusted(&self, mut params: EngineParams) -> EngineParams {
        if let Some(policy) = self.options.policy {
            params.policy = policy;
            params.govern.mode = params.govern.mode.min(Mode::Advise);
        }
        params
    }

    /// A segment carries on from the one before it when the same process wrote both and nothing is missing between them.
    fn segment(&mut self, header: &Header, place: &str) {
        let follows = self
            .last
            .as_ref()
            .is_some_and(|last| last.run == header.run && last.segment + 1 == header.segment && header.lost == 0);
        if follows {
            self.settle(place, false);
        } else {
            // Another process, which may have been killed within a pass, or a gap.
            let is_another = self.last.as_ref().is_none_or(|last| last.run != header.run);
            self.settle(place, is_another || header.lost > 0 || self.options.lenient);
            self.engine = None;
        }
        let of_run = self.last.as_ref().filter(|last| last.run == header.run);
        self.report.missing += of_run.map_or(0, |last| header.segment.abs_diff(last.segment + 1));
        self.report.segments += 1;
        self.report.lost += header.lost;
        self.last = Some(header.clone());
    }

    fn state(&mut self, placed: Placed<'_>, place: &str) -> Result<(), ReadError> {
        self.report.states += 1;
        if let Some(ours) = &self.engine {
            let ours = serde_json::to_string(ours).map_err(|error| placed.damaged(error.to_string()))?;
            if self.options.check && Some(ours.as_str()) != payload(placed.text, "engine") {
                self.differ(format!("{place}: the engine's state differs from the recorded one"));
            }
            return Ok(());
        }
        if let Line::Engine(mut engine) = placed.line {
            if self.options.policy.is_some() {
                let params = self.adjusted(engine.params().clone());
                engine.set_params(params);
            }
            self.engine = Some(engine);
        }
        Ok(())
    }

    fn decide(&mut self, now: Time, placed: &Placed<'_>) -> Result<(), ReadError> {
        let pass = self.engine(placed)?.decide(now);
        self.report.passes += 1;
        for decision in pass.decisions {
            let text = serde_json::to_string(&decision).map_err(|error| placed.damaged(error.to_string()))?;
            (self.emit)(&decision, &text).map_err(|error| ReadError::Io("standard output".into(), error))?;
            self.report.decisions += 1;
            if self.options.check {
                self.expected.push_back(text);
            }
        }
        Ok(())
    }

    fn compare(&mut self, text: &str, place: &str) {
        if !self.options.check {
            return;
        }
        let recorded = payload(text, "decision").unwrap_or_default();
        match self.expected.pop_front() {
            Some(ours) if ours == recorded => {}
            Some(ours) => self.differ(format!("{place}: recorded {recorded}\n  replayed {ours}")),
            None => self.differ(format!("{place}: recorded {recorded}\n  not replayed")),
        }
    }

    /// Decisions of ours that were never recorded: a difference, but for the last of a run that may have ended before it wrote them.
    fn settle(&mut self, place: &str, may_have_ended: bool) {
        let left = std::mem::take(&mut self.expected);
        if may_have_ended && self.in_pass {
            self.report.unfinished += u64::from(!left.is_empty());
            return;
        }
        for ours in left {
            self.differ(format!("{place}: replayed {ours}\n  not recorded"));
        }
    }

    fn differ(&mut self, what: String) {
        self.report.different += 1;
        if self.report.differences.len() < DIFFERENCES_MAX {
            self.report.differences.push(what);
        }
    }
}

/// The value in a line `{"key":value}`.
fn payload<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.strip_prefix("{\"")?.strip_prefix(key)?.strip_prefix("\":")?.strip_suffix('}')
}
