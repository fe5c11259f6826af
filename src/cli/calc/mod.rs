//! `drover calc`: the papers' closed formulas. One file a formula; the formulas themselves are the engine's.

mod clones;
pub(super) mod given;
mod late;
mod lpt;
mod mantri;
mod omega;
mod straggle;

use super::output::{self, Failure};
use clap::{Args, Subcommand};
use serde_json::Value;

const EXAMPLES: &str = "\
Needs no cluster and no configuration: it is the engine's own arithmetic, to check a decision by hand or to try a paper's example.

Examples:
  drover calc late --progress 0.6 --elapsed 20
  drover calc clones --tasks 10 --straggler-probability 0.1 --epsilon 0.05 --json
  drover calc mantri --help              what the formula is, and where it stands";

/// `drover calc`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    #[command(subcommand)]
    what: What,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Time left of a running task, by LATE
    Late(late::Command),
    /// Clones that keep a job's risk of straggling within a bound, by Dolly
    Clones(clones::Command),
    /// Probability that a cloned job straggles, by Dolly
    Straggle(straggle::Command),
    /// Whether to leave, duplicate, or kill and restart a running task, by Mantri
    Mantri(mantri::Command),
    /// How far from the best schedule the longest tasks first can end, by Mantri
    Lpt(lpt::Command),
    /// How long a downstream clone waits for an upstream output of its own, by Dolly
    Omega(omega::Command),
}

/// What came out, line by line.
struct Answer(Vec<Line>);

/// One number or word, and the formula or rule it came from.
struct Line {
    name: &'static str,
    value: Value,
    by: String,
}

impl Line {
    fn new(name: &'static str, value: impl Into<Value>, by: impl Into<String>) -> Line {
        Line { name, value: value.into(), by: by.into() }
    }
}

impl Command {
    /// Runs it.
    pub fn run(&self) -> Result<(), Failure> {
        let answer = match &self.what {
            What::Late(command) => command.answer(),
            What::Clones(command) => command.answer(),
            What::Straggle(command) => command.answer()?,
            What::Mantri(command) => command.answer()?,
            What::Lpt(command) => command.answer(),
            What::Omega(command) => command.answer()?,
        };
        if self.json { answer.json() } else { Ok(output::say(&answer.text())?) }
    }
}

impl Answer {
    fn json(&self) -> Result<(), Failure> {
        let all = self.0.iter().map(|line| (line.name.to_owned(), line.value.clone()));
        output::json(&all.collect::<serde_json::Map<_, _>>())
    }

    fn text(&self) -> String {
        let lines: Vec<(&Line, String)> = self.0.iter().map(|line| (line, shown(&line.value))).collect();
        let names = lines.iter().map(|(line, _)| line.name.len()).max().unwrap_or(0);
        // A value with nothing beside it may be as long as it is.
        let beside = lines.iter().filter(|(line, _)| !line.by.is_empty());
        let values = beside.map(|(_, value)| value.chars().count()).max().unwrap_or(0);
        let text = |(line, value): &(&Line, String)| format!("{:<names$}  {value:<values$}  {}", line.name, line.by);
        lines.iter().map(|line| text(line).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }
}

/// Six digits of a number, which are more than any of its inputs is known to; --json has all of them.
fn shown(value: &Value) -> String {
    const DIGITS: i32 = 6;
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            let magnitude = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
            if !(-4..15).contains(&magnitude) {
                return format!("{number:.*e}", DIGITS as usize - 1);
            }
            let text = format!("{number:.*}", (DIGITS - 1 - magnitude).max(0) as usize);
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_six_digits_and_words_as_they_are() {
        for (number, text) in [
            (40.0 / 3.0, "13.3333"),
            (0.1, "0.1"),
            (10.0, "10"),
            (0.0, "0"),
            (1234567.8, "1234568"),
            (0.000_123_456_78, "0.000123457"),
            (0.000_012_345_678, "1.23457e-5"),
        ] {
            assert_eq!(shown(&number.into()), text);
        }
        assert_eq!([shown(&Value::Null), shown(&"none".into()), shown(&15.into())], ["–", "none", "15"]);
    }

    #[test]
    fn lines_are_aligned() {
        let answer = Answer(vec![Line::new("a", 1, "x"), Line::new("long", 0.25, "y"), Line::new("b", "longer", "")]);
        assert_eq!(answer.text(), "a     1     x\nlong  0.25  y\nb     longer");
    }
}
