//! How far simulations are: a bar on a terminal, and elsewhere (a log, a batch system) a plain line now and then.

use crate::simulation::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Before the first line: what ends sooner needs none.
const FIRST: Duration = Duration::from_secs(2);
/// Between two lines.
const EVERY: Duration = Duration::from_secs(30);

/// The bar, or the lines in its place.
pub struct Bar(Arc<Shown>);

struct Shown {
    bar: ProgressBar,
    began: Instant,
    first: Duration,
    said: Mutex<Said>,
    ended: Condvar,
}

struct Said {
    /// What goes on behind it is no longer of interest, and would be drawn over what is said meanwhile.
    is_over: bool,
    /// Where lines go, where no terminal shows the bar.
    lines: Option<Box<dyn io::Write + Send>>,
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

impl Said {
    fn line(&mut self, line: &str) {
        // What cannot be written nobody reads, and the runs are worth more.
        let _ = self.lines.as_mut().map(|lines| lines.write_all(format!("{line}\n").as_bytes()));
    }
}

impl Bar {
    /// One that nothing is expected of yet.
    pub fn new() -> Bar {
        if !io::stderr().is_terminal() {
            return Bar::in_lines(Box::new(io::stderr()), FIRST, EVERY);
        }
        let bar = ProgressBar::new(0).with_style(style(NAME));
        bar.enable_steady_tick(Duration::from_secs(1));
        Bar::of(bar, None, FIRST)
    }

    fn of(bar: ProgressBar, lines: Option<Box<dyn io::Write + Send>>, first: Duration) -> Bar {
        let said = Mutex::new(Said { is_over: false, lines });
        Bar(Arc::new(Shown { bar, began: Instant::now(), first, said, ended: Condvar::new() }))
    }

    /// On a thread of its own: a single run may take many minutes, in which nothing else would say a word.
    fn in_lines(out: Box<dyn io::Write + Send>, first: Duration, every: Duration) -> Bar {
        let bar = Bar::of(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()), Some(out), first);
        let shown = Arc::clone(&bar.0);
        std::thread::spawn(move || shown.tell_now_and_then(every));
        bar
    }

    fn unless_over(&self, show: impl FnOnce(&ProgressBar)) {
        if !self.0.said().is_over {
            show(&self.0.bar);
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

    /// Says that a part has ended, where there are lines: a bar shows that by the next one's name. Of what ends at once it is not said.
    pub fn part_ended(&self, line: &str) {
        let mut said = self.0.said();
        if !said.is_over && self.0.began.elapsed() >= self.0.first {
            said.line(line);
        }
    }

    /// Clears it away, for good.
    pub fn end(&self) {
        self.0.said().is_over = true;
        self.0.ended.notify_all();
        self.0.bar.finish_and_clear();
    }
}

impl Shown {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_now_and_then(&self, every: Duration) {
        let (mut said, mut wait) = (self.said(), self.first);
        loop {
            let waited = self.ended.wait_timeout_while(said, wait, |said| !said.is_over);
            said = waited.unwrap_or_else(PoisonError::into_inner).0;
            if said.is_over {
                return;
            }
            said.line(&self.line());
            wait = every;
        }
    }

    fn line(&self) -> String {
        let runs = match self.bar.length() {
            None | Some(0) => "has begun".to_owned(),
            Some(all) => words(self.bar.position(), all, self.bar.eta()),
        };
        format!("{}{runs}", self.bar.message())
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
        let told = || (bar.0.bar.position(), bar.0.bar.length(), bar.0.bar.message());
        let ended = told();
        bar.begin("two");
        bar.expect(5);
        bar.done();
        assert_eq!((told(), told().1), (ended, Some(3)));
        assert!(bar.0.bar.is_finished());
    }

    /// Where lines can be read again.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Log {
        fn lines(&self) -> Vec<String> {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(str::to_owned).collect()
        }

        /// Its lines once there are so many, however slow the machine is.
        fn wait_for(&self, count: usize) -> Vec<String> {
            let began = Instant::now();
            while self.lines().len() < count {
                assert!(began.elapsed() < Duration::from_secs(60), "no more lines come than {:?}", self.lines());
                std::thread::sleep(Duration::from_millis(1));
            }
            self.lines()
        }
    }

    const NEVER: Duration = Duration::from_secs(3_600);
    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn where_there_is_no_terminal_a_line_comes_though_no_run_ends_and_none_after_the_end() {
        let log = Log::default();
        let bar = Bar::in_lines(Box::new(log.clone()), SOON, SOON);
        assert_eq!(log.wait_for(1)[0], "has begun");
        bar.begin("late.s54");
        bar.expect(180);
        let before = log.lines().len();
        assert_eq!(log.wait_for(before + 2)[before + 1], "late.s54 0 of 180 runs");
        bar.done();
        let before = log.lines().len();
        let line = log.wait_for(before + 2).swap_remove(before + 1);
        assert!(line.starts_with("late.s54 1 of 180 runs, ") && line.ends_with(" left"), "{line}");
        bar.end();
        let ended = log.lines();
        bar.part_ended("late.s54 has ended");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(log.lines(), ended);
    }

    #[test]
    fn lines_are_seldom_and_what_ends_at_once_has_none() {
        let (seldom, quick) = (Log::default(), Log::default());
        let bar = Bar::in_lines(Box::new(seldom.clone()), SOON, NEVER);
        seldom.wait_for(1);
        bar.part_ended("late.s54 has ended");
        let fast = Bar::in_lines(Box::new(quick.clone()), NEVER, SOON);
        fast.part_ended("late.fig2 has ended");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(
            (seldom.lines(), quick.lines()),
            (vec!["has begun".to_owned(), "late.s54 has ended".into()], vec![])
        );
    }
}
