//! What is to be said of a canary that was ended: what may be left of it, and how to clear it away.

use super::judgement::{Run, Why};
use crate::shown::shell_word;
use drover_core::model::JobId;

/// What it comes to, and what to do.
pub fn told(run: &Run, why: Why, wholly: bool, jobs: &[JobId]) -> (String, String) {
    let what = match why {
        Why::Late(patience) => format!("it did not end within {} s and was stopped", patience.as_secs()),
        Why::Interrupted => "doctor was interrupted, and it was stopped".to_owned(),
    };
    let rest = if wholly {
        "with its process group"
    } else {
        "with its process group, but something that it had started outside of that holds its output open and may still run here"
    };
    let ids: Vec<String> = jobs.iter().map(|job| job.0.to_string()).collect();
    let (left, end) = if ids.is_empty() {
        (
            "whether it had submitted an application cannot be told, as it had printed no id".to_owned(),
            "see with `yarn application -list` whether it has left one, and end that with `yarn application -kill ID`"
                .to_owned(),
        )
    } else {
        let kill: Vec<String> = ids.iter().map(|id| format!("`yarn application -kill {id}`")).collect();
        let (it, ends) = if ids.len() == 1 { ("it", "ends") } else { ("them", "end") };
        (
            format!("{} may still wait or run on the cluster", ids.join(" and ")),
            format!("{} {ends} {it}", kill.join(" and ")),
        )
    };
    let (stays, clear) = match &run.out {
        Some(out) => (
            format!("its output directory {out} may be there"),
            format!("`hadoop fs -rm -r -f {}` removes the directory", shell_word(out)),
        ),
        None => {
            ("its output directory may be there".to_owned(), "remove its output directory where it is there".to_owned())
        }
    };
    let next = match why {
        Why::Late(_) => "; then see why it takes so long: whether its queue has room, or how it goes by hand",
        Why::Interrupted => "",
    };
    (format!("{what} {rest}; {left}, and {stays}"), format!("{end}; after that {clear}{next}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LATE: Why = Why::Late(Duration::from_secs(300));

    fn said(out: Option<&str>, why: Why, wholly: bool, jobs: &[&str]) -> String {
        let run = Run { line: "run".into(), out: out.map(str::to_owned) };
        let jobs: Vec<JobId> = jobs.iter().map(|job| job.parse().unwrap()).collect();
        let (says, fix) = told(&run, why, wholly, &jobs);
        format!("{says} → {fix}")
    }

    fn assert_has(said: &str, words: &[&str]) {
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }

    #[test]
    fn what_may_be_left_on_the_cluster_is_named_with_the_commands_that_clear_it_away() {
        for (why, what) in [(LATE, "did not end within 300 s and was stopped"), (Why::Interrupted, "interrupted")] {
            let said = said(Some("canary-1"), why, true, &["job_1_0001"]);
            assert_has(&said, &[what, "stopped with its process group;", "application_1_0001 may still wait or run"]);
            assert_has(&said, &["directory canary-1 may be there", "`hadoop fs -rm -r -f canary-1`"]);
            assert_has(&said, &["→ `yarn application -kill application_1_0001` ends it"]);
        }
    }

    #[test]
    fn each_of_several_jobs_has_its_command_and_a_directory_that_is_not_known_no_name() {
        let said = said(None, LATE, true, &["job_1_0001", "job_1_0002"]);
        assert_has(&said, &["-kill application_1_0001` and `yarn application -kill application_1_0002` end them"]);
        assert_has(&said, &["its output directory may be there"]);
        assert!(!said.contains("fs -rm"), "{said}");
    }

    #[test]
    fn an_application_that_is_not_known_is_not_said_to_be_none() {
        let said = said(None, LATE, true, &[]);
        assert_has(&said, &["cannot be told, as it had printed no id", "yarn application -list", "-kill ID"]);
    }

    #[test]
    fn what_holds_the_output_open_is_not_said_to_be_stopped() {
        let said = said(None, LATE, false, &[]);
        assert_has(&said, &["holds its output open and may still run here"]);
        assert!(!said.contains("with its process group;"), "{said}");
    }
}
