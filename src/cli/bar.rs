//! How far simulations are, on a terminal.

use crate::simulation::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The bar; where standard error is no terminal it says nothing.
pub struct Bar {
    bar: ProgressBar,
    /// What goes on behind it is no longer of interest, and would be drawn over what is said meanwhile.
    is_over: Mutex<bool>,
}

/// While nothing is expected yet.
const NAME: &str = "{msg}";
const RUNS: &str = "{msg}{bar:40} {runs}";

/// What is known: of what has not begun, nobody can say how long it takes.
fn words(done: u64, all: u64, left: Duration) -> String {
    match done {
        0 => format!("{done} of {all} runs"),
        _ => format!("{done} of {all} runs, {:#} left", HumanDuration(left)),
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("runs", |state: &ProgressState, into: &mut dyn Write| {
        // What cannot be written to a terminal nobody misses.
        let _ = into.write_str(&words(state.pos(), state.len().unwrap_or(0), state.eta()));
    })
}

impl Bar {
    /// One that nothing is expected of yet.
    pub fn new() -> Bar {
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(0).with_style(style(NAME));
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        } else {
            ProgressBar::hidden()
        };
        Bar { bar, is_over: Mutex::new(false) }
    }

    fn unless_over(&self, show: impl FnOnce(&ProgressBar)) {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_over {
            show(&self.bar);
        }
    }

    /// Begins anew, with another name.
    pub fn begin(&self, name: &str) {
        self.unless_over(|bar| {
            bar.set_style(style(NAME));
            bar.reset();
            bar.set_length(0);
            bar.set_message(format!("{name} "));
        });
    }

    /// Clears it away, for good.
    pub fn end(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn expect(&self, runs: u64) {
        self.unless_over(|bar| {
            bar.inc_length(runs);
            bar.set_style(style(RUNS));
        });
    }

    fn done(&self) {
        self.unless_over(|bar| bar.inc(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_the_time_left_before_a_run_has_ended() {
        let of = |done| words(done, 180, Duration::from_secs(30));
        assert_eq!([of(0), of(1)], ["0 of 180 runs", "1 of 180 runs, 30s left"]);
    }

    #[test]
    fn what_goes_on_behind_a_bar_that_has_ended_is_not_shown() {
        let bar = Bar::new();
        bar.begin("one");
        bar.expect(3);
        bar.done();
        bar.end();
        let told = || (bar.bar.position(), bar.bar.length(), bar.bar.message());
        let ended = told();
        bar.begin("two");
        bar.expect(5);
        bar.done();
        assert_eq!((told(), told().1), (ended, Some(3)));
        assert!(bar.bar.is_finished());
    }
}
