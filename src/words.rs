//! Quantities and verdicts in words.

use drover_core::model::{Bytes, Cause, CauseKind, Millis, Numbers};
use drover_core::policy::PolicyName;

/// A length of time as people say it: `340 ms`, `12.3 s`, `4 min 05 s`, `2 h 10 min`.
pub fn span(Millis(ms): Millis) -> String {
    let seconds = (ms + 500) / 1_000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1_000.0),
        60_000..3_600_000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// So many of something: `1 job`, `2 jobs`.
pub fn count(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    // What is beyond 64 bits is many.
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A name, for the command line: an empty one is most often a variable of a shell that is not set.
pub fn name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("it is empty: say a name, or leave the option out".into())
    } else {
        Ok(text.to_owned())
    }
}

/// The policy of that name, for the command line.
pub fn policy(text: &str) -> Result<PolicyName, String> {
    let known = || PolicyName::ALL.map(PolicyName::label).join(", ");
    PolicyName::ALL.into_iter().find(|name| name.label() == text).ok_or_else(|| format!("known are {}", known()))
}

/// A share or score: `41 %`.
pub fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A number of bytes: `1.2 GiB`.
pub fn size(Bytes(bytes): Bytes) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut number = bytes as f64;
    while number >= 1024.0 && unit + 1 < UNITS.len() {
        number /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{number:.1} {}", UNITS[unit]) }
}

/// What to do about a job whose tasks Drover may not view.
pub const HIDDEN: &str = "Drover's user (cluster.user) may not view the job's tasks, so nothing can be said about them: add it to the job's \
     mapreduce.job.acl-view-job, or to mapreduce.cluster.administrators";

/// Why, in whole sentences: first the words for the verdict or action, then the numbers it rests on, as far as they are known, and why it is slow.
pub fn reason(words: &str, numbers: &Numbers, why: Option<&Cause>) -> String {
    let mut sentences = vec![capital(words) + "."];
    // What waits to be cloned has no time of its own yet.
    if numbers.elapsed > Millis(0) {
        let mut ran = format!("It has run for {} and is at {}", span(numbers.elapsed), share(numbers.score));
        if numbers.rate > 0.0 {
            ran += &format!(", {} a minute", percent(numbers.rate * 60.0));
        }
        if let Some(slow_below) = numbers.slow_below {
            ran += &format!("; below {} a minute counts as slow", percent(slow_below * 60.0));
        }
        sentences.push(ran + ".");
    }
    match (numbers.time_left, numbers.fresh_copy) {
        (Some(left), Some(fresh)) => {
            let (left, fresh) =
                (give_or_take(left, numbers.time_left_spread), give_or_take(fresh, numbers.fresh_copy_spread));
            sentences.push(format!("It needs another {left}; a fresh copy would need {fresh}."));
        }
        (Some(left), None) => {
            sentences.push(format!("It needs another {}.", give_or_take(left, numbers.time_left_spread)))
        }
        _ => {}
    }
    if let Some(win) = numbers.win_probability {
        let mut odds = format!("A copy started now would finish first with a probability of {}", share(win));
        if let Some(gain) = numbers.gain.filter(|gain| gain.0 > 0) {
            odds += &format!(" and save about {}", span(gain));
        }
        if let Some(cost) = numbers.cost_container_seconds {
            odds += &format!(", for {cost:.0} container-seconds");
        }
        sentences.push(odds + ".");
    }
    if let Some(saves) = numbers.saves_probability {
        sentences.push(format!("One more copy would save resources with a probability of {}.", share(saves)));
    }
    if let Some((used, cap)) = numbers.budget {
        sentences.push(format!("Of the tightest budget {used} of {cap} copies are taken."));
    }
    sentences.extend(why.and_then(cause));
    sentences.join(" ")
}

/// Why a task is slow, as one sentence; `None` for one that is not.
pub fn cause(cause: &Cause) -> Option<String> {
    if cause.kind == CauseKind::None {
        return None;
    }
    let length = |seconds: f64| {
        let sign = if seconds < 0.0 { "−" } else { "" };
        sign.to_owned() + &span(Millis::from_secs_f64(seconds.abs()))
    };
    let shares = [
        ("by its data", cause.data),
        ("by its node", cause.node),
        ("by the network", cause.network),
        ("not explained", cause.rest),
    ];
    let said = shares.iter().filter(|(_, seconds)| seconds.abs() >= 0.05 * cause.seconds);
    let parts: Vec<String> = said.map(|(what, seconds)| format!("{} {what}", length(*seconds))).collect();
    let (all, typical) = (length(cause.seconds), length(cause.typical));
    Some(format!("Cause: {}; of {all} in all, where {typical} are typical: {}.", cause.kind.words(), parts.join(", ")))
}

fn percent(share: f64) -> String {
    if share < 0.1 { format!("{:.1} %", share * 100.0) } else { self::share(share) }
}

fn give_or_take(length: Millis, spread: Option<Millis>) -> String {
    match spread.filter(|spread| spread.0 > 0) {
        Some(spread) => format!("{} (give or take {})", span(length), span(spread)),
        None => span(length),
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::Verdict;

    #[test]
    fn one_of_something_is_not_said_as_many() {
        assert_eq!([0, 1, 2].map(|n| count(n, "pass", "passes")), ["0 passes", "1 pass", "2 passes"]);
    }

    #[test]
    fn quantities_are_said_in_the_unit_people_use() {
        let spans = [340, 12_340, 245_000, 7_800_000].map(|ms| span(Millis(ms)));
        assert_eq!(spans, ["340 ms", "12.3 s", "4 min 05 s", "2 h 10 min"]);
        assert_eq!([17, 1 << 20, 5 << 40].map(|n| size(Bytes(n))), ["17 B", "1.0 MiB", "5.0 TiB"]);
    }

    #[test]
    fn a_cause_is_said_with_each_share_that_is_one_and_none_for_a_task_that_is_not_slow() {
        let slow = Cause {
            kind: CauseKind::Node,
            seconds: 40.0,
            typical: 10.0,
            data: -2.0,
            node: 30.0,
            network: 0.0,
            rest: 2.0,
            explained: false,
            evidence: 9,
            others: 3,
        };
        assert_eq!(
            cause(&slow).unwrap(),
            "Cause: its node is slow to other tasks of the phase, too; of 40.0 s in all, where 10.0 s are typical: \
             −2.0 s by its data, 30.0 s by its node, 2.0 s not explained."
        );
        assert_eq!(cause(&Cause { kind: CauseKind::None, ..slow }), None);
        let reason = reason("it is slow", &Numbers::default(), Some(&slow));
        assert!(reason.ends_with(&cause(&slow).unwrap()), "{reason}");
    }

    #[test]
    fn a_reason_is_whole_sentences_with_every_number_that_is_known() {
        let numbers = Numbers {
            score: 0.1,
            elapsed: Millis(12_000),
            rate: 0.1 / 12.0,
            slow_below: Some(0.2),
            time_left: Some(Millis(108_000)),
            time_left_spread: Some(Millis(5_000)),
            fresh_copy: Some(Millis(4_500)),
            win_probability: Some(0.98),
            gain: Some(Millis(103_500)),
            cost_container_seconds: Some(4.5),
            budget: Some((1, 2)),
            ..Numbers::default()
        };
        assert_eq!(
            reason(Verdict::Decided.words(), &numbers, None),
            "A copy is worth starting. It has run for 12.0 s and is at 10 %, 50 % a minute; below 1200 % a minute counts as slow. \
             It needs another 1 min 48 s (give or take 5.0 s); a fresh copy would need 4.5 s. A copy started now would finish first \
             with a probability of 98 % and save about 1 min 44 s, for 4 container-seconds. Of the tightest budget 1 of 2 copies are taken."
        );
        for verdict in Verdict::ALL {
            let text = reason(verdict.words(), &Numbers::default(), None);
            assert!(text.ends_with('.') && !text.contains("NaN") && text.starts_with(char::is_uppercase), "{text}");
        }
    }
}
