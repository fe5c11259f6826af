//! Attempts as CSV: when each began and ended, and where.

use super::held::Attempt;
use super::recorded::Recorder;
use super::{BadTrace, Lines, Overhead, Trace};

const COLUMNS: [&str; 10] =
    ["job", "phase", "task", "attempt", "start_ms", "finish_ms", "result", "in_bytes", "shuffle_fin_ms", "sort_fin_ms"];

/// What such a trace has beside them, of which only hosts are read.
const BESIDE: [&str; 6] = ["dataset", "host", "rack", "dur_s", "n_attempts", "locality"];

/// What others write of what succeeded.
const SUCCESSES: [&str; 4] = ["success", "succeeded", "successful", "ok"];

/// Where a row has what is read of it.
struct Places {
    of: [usize; 10],
    /// Of a trace that tells hosts.
    host: Option<usize>,
    columns: usize,
}

pub(super) fn read(header: &str, mut lines: Lines<'_>, overhead: Overhead) -> Result<Trace, BadTrace> {
    let places = places(header, &lines)?;
    let mut recorder = Recorder::default();
    let strange: Vec<&str> =
        header.split(',').filter(|name| ![&COLUMNS[..], &BESIDE].concat().contains(name)).collect();
    let named = strange.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    recorder.mend_all(&format!("columns of which nothing is known ({named}): passed over"), strange.len());
    let mut dataset: Option<String> = None;
    while let Some(text) = lines.next()? {
        let fields = fields(&text, &places, &lines)?;
        let (of, first) = (fields[0], dataset.get_or_insert_with(|| fields[0].to_owned()));
        if of != first {
            return Err(
                lines.wrong(format!("is of the data set \"{of}\", and those before of \"{first}\": a trace is of one"))
            );
        }
        let attempt = attempt(&fields, &places, &lines)?;
        recorder.attempt(attempt).map_err(|what| lines.wrong(what))?;
    }
    Ok(recorder.trace(overhead))
}

fn places(header: &str, lines: &Lines<'_>) -> Result<Places, BadTrace> {
    let known: Vec<&str> = header.split(',').collect();
    let place = |column: &str| known.iter().position(|name| *name == column);
    let found = COLUMNS.map(place);
    let lacks = COLUMNS.into_iter().zip(found).filter(|(_, at)| at.is_none());
    let lacks: Vec<&str> = lacks.map(|(column, _)| column).collect();
    if !lacks.is_empty() {
        return Err(lines.wrong(format!("there is no column {}", lacks.join(", "))));
    }
    let twice = known.iter().enumerate().find(|(at, name)| known[..*at].contains(name));
    if let Some((_, name)) = twice {
        return Err(lines.wrong(format!("there are two columns {name}")));
    }
    Ok(Places { of: found.map(Option::unwrap_or_default), host: place("host"), columns: known.len() })
}

/// Those of a row. It is to have as many as the header: one that was cut off may look like anything.
fn fields<'a>(text: &'a str, places: &Places, lines: &Lines<'_>) -> Result<Vec<&'a str>, BadTrace> {
    let fields: Vec<&str> = text.split(',').collect();
    let (has, wants) = (fields.len(), places.columns);
    if has == wants { Ok(fields) } else { Err(lines.wrong(format!("has {has} fields; the header names {wants}"))) }
}

fn attempt(fields: &[&str], places: &Places, lines: &Lines<'_>) -> Result<Attempt, BadTrace> {
    let field = |column: usize| fields[places.of[column]].trim();
    if let Some(column) = [0, 2, 3].into_iter().find(|column| field(*column).is_empty()) {
        return Err(lines.wrong(format!("{} is empty", COLUMNS[column])));
    }
    let succeeded = match field(6) {
        "SUCCESS" => true,
        // Left out, it would be without a word of what is amiss.
        other if SUCCESSES.contains(&&*other.trim_matches(['"', '\'']).to_ascii_lowercase()) => {
            return Err(lines.wrong(format!("result: \"{other}\"; what succeeded has SUCCESS, without quotes")));
        }
        _ => false,
    };
    let is_reduce = match field(1) {
        "MAP" => false,
        "REDUCE" => true,
        other => return Err(lines.wrong(format!("phase: \"{other}\" is neither MAP nor REDUCE"))),
    };
    // What is not told is left empty, or below zero.
    let number = |column: usize| match field(column) {
        "" | "-1" => Ok(None),
        text => lines.whole(text, COLUMNS[column]).map(Some),
    };
    Ok(Attempt {
        job: field(0).to_owned(),
        is_reduce,
        task: field(2).to_owned(),
        id: field(3).to_owned(),
        host: places.host.map(|host| fields[host].trim().to_owned()).filter(|host| host != "-1"),
        started: number(4)?,
        finished: number(5)?,
        stages: [number(8)?, number(9)?],
        input: number(7)?,
        succeeded,
    })
}
