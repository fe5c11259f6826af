//! What is wanted of a job beside copies, in words.

use crate::api::views::{MeasureView, PlanView};
use drover_core::model::Bytes;

/// Tasks that are named one by one.
const NAMED: usize = 8;

/// One measure, in a sentence.
pub fn of(measure: &MeasureView) -> String {
    let plan = measure.plan.as_ref().and_then(advice).map_or_else(String::new, |plan| format!(" ({plan})"));
    let answer = measure.answer.as_ref().map_or_else(String::new, |answer| format!(" (its shim: {answer})"));
    format!("Beside copies, {}: {}{plan}{answer}.", measure.verdict, measure.reason)
}

/// What somebody else could go by where Drover cannot do it.
fn advice(plan: &PlanView) -> Option<String> {
    match plan {
        PlanView::Order { kind, first, count } => Some(format!("{kind}s {}", named(first, *count))),
        PlanView::Place { racks, counts, moves_bytes, seconds, .. } => {
            let count = |rack| counts.get(rack).copied().unwrap_or_default();
            let on = racks.iter().map(|(rack, reduces)| format!("{rack}: reduces {}", named(reduces, count(rack))));
            let takes = seconds.map_or_else(String::new, |seconds| format!(" in {seconds:.1} s"));
            let moved = crate::words::size(Bytes(*moves_bytes));
            Some(format!("{}; {moved} over racks{takes}", on.collect::<Vec<_>>().join("; ")))
        }
        _ => None,
    }
}

fn named(indices: &[u32], count: usize) -> String {
    let few: Vec<String> = indices.iter().take(NAMED).map(ToString::to_string).collect();
    let more = count.saturating_sub(few.len());
    if more == 0 { few.join(", ") } else { format!("{} and {more} more", few.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(plan: PlanView) -> String {
        let (measure, verdict, reason) = ("place".into(), "cannot_place".into(), "it cannot be done".into());
        of(&MeasureView { measure, verdict, reason, plan: Some(plan), answer: None })
    }

    #[test]
    fn an_order_names_the_first_tasks_and_counts_the_others() {
        let first = (0..10).rev().collect();
        let text = told(PlanView::Order { kind: "map".into(), first, count: 5_000 });
        assert!(text.ends_with("it cannot be done (maps 9, 8, 7, 6, 5, 4, 3, 2 and 4992 more)."), "{text}");
    }

    #[test]
    fn a_placement_names_each_rack_with_its_reduces_and_what_crosses_racks() {
        let racks = [("/a".to_owned(), vec![0, 2]), ("/b".to_owned(), vec![1])].into();
        let counts = [("/a".to_owned(), 2), ("/b".to_owned(), 1)].into();
        let place = |seconds| PlanView::Place { racks, counts, moves_bytes: 5 << 20, seconds, bound_seconds: None };
        let text = told(place(Some(2.0)));
        assert!(text.ends_with("(/a: reduces 0, 2; /b: reduces 1; 5.0 MiB over racks in 2.0 s)."), "{text}");
    }

    #[test]
    fn what_the_shim_answered_stands_behind_what_was_asked() {
        let plan = PlanView::Avoid { nodes: vec!["n1".into()], lasts_ms: 1 };
        let (measure, verdict, reason) = ("avoid".into(), "decided".into(), "keep off".into());
        let view = MeasureView { measure, verdict, reason, plan: Some(plan), answer: Some("applied".into()) };
        assert_eq!(of(&view), "Beside copies, decided: keep off (its shim: applied).");
    }
}
