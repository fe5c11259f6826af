//! The words that stand in a recording, beside the number of its format: a build that does not know one takes its line for damaged.

use super::format::{FORMAT, Line};
use drover_core::model::*;
use drover_core::policy::PolicyName;
use serde::de::{DeserializeOwned, IgnoredAny};

/// The words that a type knows, as it lists them to whoever says another.
fn words<T: DeserializeOwned>(of: &str) -> String {
    let told = serde_json::from_str::<T>("\"?\"").err().unwrap().to_string();
    let known: Vec<&str> = told.split('`').skip(3).step_by(2).collect();
    assert!(!known.is_empty(), "{told}");
    format!("{of}: {}\n", known.join(" "))
}

#[test]
fn words_that_stand_in_a_recording_are_the_same_as_when_its_format_was_numbered() {
    let all = [
        format!("format {FORMAT}\n"),
        words::<Line<IgnoredAny, IgnoredAny>>("line"),
        words::<Channel>("channel"),
        words::<Fact>("fact"),
        words::<Answer>("answer"),
        words::<Verdict>("verdict"),
        words::<Action>("action"),
        words::<CopyEnd>("end"),
        words::<Mode>("mode"),
        words::<PolicyName>("policy"),
    ];
    assert_eq!(all.concat(), include_str!("words.txt"), "another word, or one fewer, is another FORMAT");
}
