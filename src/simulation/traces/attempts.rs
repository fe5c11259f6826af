//! Attempts as CSV: when each began and ended, and where.

use super::recorded::{Attempt, Recorder};
use super::{BadTrace, Lines, Trace};

const COLUMNS: [&str; 10] =
    ["job", "phase", "task", "attempt", "start_ms", "finish_ms", "result", "in_bytes", "shuffle_fin_ms", "sort_fin_ms"];

pub(super) fn read(header: &str, mut lines: Lines<'_>) -> Result<Trace, BadTrace> {
    let places = columns(header, &lines)?;
    let mut recorder = Recorder::default();
    while let Some(text) = lines.next()? {
        let attempt = attempt(&text, &places, &lines)?;
        recorder.attempt(attempt).map_err(|what| lines.wrong(what))?;
    }
    Ok(recorder.trace())
}

fn columns(header: &str, lines: &Lines<'_>) -> Result<[usize; 10], BadTrace> {
    let known: Vec<&str> = header.split(',').collect();
    let mut places = [0; 10];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let found = known.iter().position(|name| *name == column);
        *place = found.ok_or_else(|| lines.wrong(format!("there is no column {column}")))?;
    }
    Ok(places)
}

fn attempt(text: &str, places: &[usize; 10], lines: &Lines<'_>) -> Result<Attempt, BadTrace> {
    let fields: Vec<&str> = text.split(',').collect();
    let field = |column: usize| fields.get(places[column]).copied().ok_or_else(|| lines.wrong("ends too early".into()));
    let is_reduce = match field(1)? {
        "MAP" => false,
        "REDUCE" => true,
        other => return Err(lines.wrong(format!("phase: \"{other}\" is neither MAP nor REDUCE"))),
    };
    // What is not told is left empty, or below zero.
    let finished = match field(5)? {
        "" | "-1" => None,
        text => Some(lines.whole(text, "finish_ms")?),
    };
    Ok(Attempt {
        job: field(0)?.to_owned(),
        is_reduce,
        task: field(2)?.to_owned(),
        id: field(3)?.to_owned(),
        started: lines.whole(field(4)?, "start_ms")?,
        finished,
        stages: [field(8)?.parse().ok(), field(9)?.parse().ok()],
        input: field(7)?.parse().unwrap_or(0),
        succeeded: field(6)? == "SUCCESS",
    })
}
