//! What was settled about a job's clones, in words.

use crate::api::views::ClonePlanView;
use crate::words;
use drover_core::model::Millis;

/// What was settled about the clones of its maps or reduces, in sentences.
pub fn of(plan: &ClonePlanView) -> String {
    if let Some((refused, reason)) = plan.refused.as_ref().zip(plan.reason.as_ref()) {
        return format!("Its {}s have no clones ({refused}): {reason}.", plan.kind);
    }
    let mut text = match plan.scheme.as_str() {
        "job" => format!("It is run {} times over, its {} {}s each time.", plan.clones, plan.tasks, plan.kind),
        _ => format!("{} of its {}s have {} attempts each from their start on.", plan.tasks, plan.kind, plan.clones),
    };
    if plan.gives_way {
        text += " These clones are to give way to others.";
    }
    let Some(reading) = &plan.reading else { return text };
    let how = |label: &str| match (label, reading.omega_ms) {
        ("cc", _) => "the first output of each map".to_owned(),
        ("delay", Some(omega)) => format!("an output of its own or, after {}, any", words::span(Millis(omega))),
        _ => "an output of its own of each map".to_owned(),
    };
    text += &format!(" Each is to read {}", how(&reading.wanted));
    if reading.done != reading.wanted {
        text += &format!(", and reads {}", how(&reading.done));
    }
    let why = reading.instead.as_ref().zip(reading.reason.as_ref());
    text + &why.map_or_else(String::new, |(label, reason)| format!(" ({label}: {reason})")) + "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::views::ReadingView;

    #[test]
    fn each_way_of_cloning_and_of_reading_has_words_of_its_own() {
        let plan = |scheme: &str, reading: Option<(&str, Option<u64>)>| ClonePlanView {
            kind: "reduce".into(),
            scheme: scheme.into(),
            clones: 3,
            tasks: 2,
            gives_way: scheme == "job",
            refused: None,
            reason: None,
            reading: reading.map(|(way, omega_ms)| ReadingView {
                wanted: way.into(),
                omega_ms,
                done: way.into(),
                instead: None,
                reason: None,
            }),
        };
        let whole = "It is run 3 times over, its 2 reduces each time. These clones are to give way to others.";
        assert_eq!(of(&plan("job", None)), whole);
        let tells = |reading| of(&plan("task", Some(reading))).split("Each is to read ").last().unwrap().to_owned();
        assert_eq!(tells(("delay", Some(2_500))), "an output of its own or, after 2.5 s, any.");
        assert_eq!(tells(("cac", None)), "an output of its own of each map.");
        assert_eq!(tells(("cc", None)), "the first output of each map.");
    }
}
