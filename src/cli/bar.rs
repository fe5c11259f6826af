//! How far simulations are, on a terminal.

use crate::simulation::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// The bar; where standard error is no terminal it says nothing.
pub struct Bar(ProgressBar);

impl Bar {
    /// One that nothing is expected of yet.
    pub fn new() -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{msg}{bar:40} {pos} of {len} runs, {eta} left");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(std::time::Duration::from_secs(1));
        Bar(bar)
    }

    /// Begins anew, with another name.
    pub fn begin(&self, name: &str) {
        self.0.reset();
        self.0.set_length(0);
        self.0.set_message(format!("{name} "));
    }

    /// Clears it away.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn expect(&self, runs: u64) {
        self.0.inc_length(runs);
    }

    fn done(&self) {
        self.0.inc(1);
    }
}
