//! What becomes of numbers where something else is assumed of what a paper leaves open, for the document of `drover reproduce`.

use crate::simulation::reproduce::{Choice, Finding, Verdict};
use std::fmt::Write;

/// A number as the document has it.
pub(super) fn number(value: f64) -> String {
    format!("{:.*}", if value.abs() < 10.0 { 3 } else { 1 }, value)
}

/// A published size that ours is not near, of which something is varied.
struct Missed<'a> {
    one: &'a Finding,
    published: f64,
}

impl<'a> Missed<'a> {
    fn of(one: &'a Finding) -> Option<Missed<'a>> {
        let is_near = matches!(one.verdict, Verdict::Exact | Verdict::Within);
        one.published.filter(|_| !is_near && !one.choices.is_empty()).map(|published| Missed { one, published })
    }

    /// By how much.
    fn off(&self, measured: f64) -> f64 {
        (measured - self.published).abs()
    }

    /// The choice that comes nearest; `None` where none comes nearer than the main set.
    fn nearest(&self) -> Option<&'a Choice> {
        let best = self.one.choices.iter().min_by(|a, b| self.off(a.measured).total_cmp(&self.off(b.measured)))?;
        // What is told as the same number is no nearer.
        let as_told = number(best.measured) == number(self.one.measured);
        (!as_told && self.off(best.measured) < self.off(self.one.measured)).then_some(best)
    }

    /// Those under which it is `within`.
    fn within(&self) -> Vec<&'a Choice> {
        self.one.choices.iter().filter(|choice| choice.verdict == Verdict::Within).collect()
    }

    /// Those under which the published one is as near, and chance may have it so: a few seeds rarely tell.
    fn near(&self) -> Vec<&'a Choice> {
        let is_near = |choice: &Choice| self.off(choice.measured) <= 0.2 * choice.measured.abs();
        self.one.choices.iter().filter(|one| one.verdict != Verdict::Within && is_near(one)).collect()
    }

    fn line(&self) -> String {
        let nearest = self.nearest().map_or_else(
            || "none comes nearer".to_owned(),
            |best| format!("nearest {} with {}", number(best.measured), best.assumed),
        );
        let told = |under: &str, choices: &[&Choice]| {
            let names = named(choices.iter().map(|choice| choice.assumed.as_str()));
            if choices.is_empty() { String::new() } else { format!("; {under}: {names}") }
        };
        format!(
            "- {}, {} ({}; ours {}): {nearest}{}{}\n",
            self.one.experiment,
            self.one.quantity,
            number(self.published),
            number(self.one.measured),
            told("within under", &self.within()),
            told("its mean a fifth away at most under", &self.near())
        )
    }
}

/// The first of some names, and how many more there are.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 4;
    let names: Vec<&str> = names.collect();
    let told = names[..names.len().min(MOST)].join(" / ");
    let more = names.len().saturating_sub(MOST);
    if more > 0 { format!("{told} and {more} more") } else { told }
}

/// What comes nearest to each published size that is not near.
pub fn nearest(found: &[Finding]) -> String {
    let lines: String = found.iter().filter_map(Missed::of).map(|one| one.line()).collect();
    let head = "\nWhere something else is assumed, what comes nearest to each published size that is not within:\n\n";
    if lines.is_empty() { lines } else { head.to_owned() + &lines }
}

/// How many published sizes are near, and of the others how many are under something else that is assumed.
pub fn moved<'a>(found: impl Iterator<Item = &'a Finding>) -> String {
    let sizes: Vec<&Finding> = found.filter(|one| one.published.is_some()).collect();
    let of = |verdict| sizes.iter().filter(|one| one.verdict == verdict).count();
    let (exact, within) = (of(Verdict::Exact), of(Verdict::Within));
    let varied: Vec<Missed> = sizes.iter().filter_map(|one| Missed::of(one)).collect();
    let (mut inside, mut near, mut nearer, mut never) = (0, 0, 0, 0);
    for one in &varied {
        match one.nearest() {
            _ if !one.within().is_empty() => inside += 1,
            _ if !one.near().is_empty() => near += 1,
            Some(_) => nearer += 1,
            None => never += 1,
        }
    }
    let others = sizes.len() - exact - within;
    format!(
        "\nOf {} published sizes {exact} are `exact` and {within} `within`. Of the other {others}, {} have open choices that are varied: {inside} are `within` under one of them, {near} more have a mean that is \
         a fifth away at most (of a few seeds, whose interval is too wide for `within`), {nearer} more come nearer, and to {never} none comes nearer. Which, stands below each table.\n",
        sizes.len(),
        varied.len()
    )
}

/// What becomes of the rows that are not reproduced where something else is assumed; what comes to the same is told once.
pub fn missed(found: &[Finding]) -> String {
    let open = |one: &&Finding| one.verdict == Verdict::NotReproduced && !one.choices.is_empty();
    let mut list = String::new();
    for one in found.iter().filter(open) {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for choice in &one.choices {
            let verdict = Some(choice.verdict).filter(|verdict| *verdict != Verdict::NotReproduced);
            let verdict = verdict.map_or_else(String::new, |verdict| format!(" (**{}**)", verdict.label()));
            let value = number(choice.measured) + &verdict;
            match told.iter_mut().find(|(known, _)| *known == value) {
                Some((_, names)) => names.push(&choice.assumed),
                None => told.push((value, vec![&choice.assumed])),
            }
        }
        let all = told.iter().map(|(value, names)| format!("{}: {value}", named(names.iter().copied())));
        let _ = writeln!(list, "- {}, {}: {}", one.experiment, one.quantity, all.collect::<Vec<_>>().join("; "));
    }
    let head = "\nWhere something else is assumed, of what is not reproduced:\n\n";
    if list.is_empty() { list } else { head.to_owned() + &list }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(verdict: &str, choices: &[(&str, f64, &str)]) -> Finding {
        let choices = choices
            .iter()
            .map(|(assumed, measured, verdict)| json!({"assumed": assumed, "measured": measured, "verdict": verdict}));
        serde_json::from_value(json!({
            "experiment": "late.s52", "quantity": "a", "published": 40.0, "measured": 20.0, "low": 19.0, "high": 21.0, "unit": "%", "verdict": verdict,
            "share_of_assumptions": 0.5, "choices": choices.collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    #[test]
    fn of_a_size_that_is_not_near_the_nearest_choice_is_told_and_where_it_is_within() {
        let choices = [("load 0.4", 44.0, "within"), ("task 15", 38.0, "direction"), ("task 1", 10.0, "direction")];
        let told = nearest(&[found("direction", &choices)]);
        let line = "- late.s52, a (40.0; ours 20.0): nearest 38.0 with task 15; within under: load 0.4; its mean a fifth away at most under: task 15\n";
        assert!(told.ends_with(line), "{told}");
        assert!(nearest(&[found("direction", &[("task 1", 10.0, "direction")])]).contains("none comes nearer"));
        assert_eq!(nearest(&[found("within", &choices), found("direction", &[])]), "");
    }

    #[test]
    fn sizes_are_counted_by_what_moves_them() {
        let of = |measured, verdict: &'static str| found("direction", &[("load 0.4", measured, verdict)]);
        let all = [
            found("within", &[]),
            found("exact", &[]),
            found("direction", &[]),
            of(40.0, "within"),
            of(40.0, "direction"),
            of(25.0, "direction"),
            of(20.0001, "direction"),
        ];
        let told = moved(all.iter());
        let words = "Of 7 published sizes 1 are `exact` and 1 `within`. Of the other 5, 4 have open choices that are varied: 1 are `within` under one of them, 1 more have";
        assert!(told.contains(words) && told.contains("1 more come nearer, and to 1 none comes nearer"), "{told}");
    }

    #[test]
    fn what_is_not_reproduced_is_listed_with_what_comes_of_each_other_assumption() {
        let choices = [("load 0.4", 12.0, "within"), ("task 15", 1.5, "not_reproduced"), ("load 0.1", 12.0, "within")];
        assert_eq!(missed(&[found("direction", &choices)]), "", "it is reproduced");
        let told = missed(&[found("not_reproduced", &choices)]);
        assert!(told.ends_with("- late.s52, a: load 0.4 / load 0.1: 12.0 (**within**); task 15: 1.500\n"), "{told}");
    }
}
