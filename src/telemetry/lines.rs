//! Lines of the log on their way out: who logs never waits for who reads, the engine's thread least of all.

use prometheus::IntCounter;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};
use tracing_subscriber::fmt::MakeWriter;

/// Lines that may wait: some megabytes.
const WAITING: usize = 8_192;
/// So long the end waits until they are written.
const FLUSH: Duration = Duration::from_secs(1);
/// So often it looks for a place among them.
const LOOK: Duration = Duration::from_millis(10);

enum Message {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

/// The queue of a writer with a thread of its own.
#[derive(Clone)]
pub struct Lines {
    queue: SyncSender<Message>,
    lost: IntCounter,
}

impl Lines {
    /// Starts the writer. What finds no place in the queue, or cannot be written, is counted as lost.
    pub fn start(out: impl Write + Send + 'static, lost: IntCounter) -> io::Result<Lines> {
        Lines::telling(out, lost, |new| {
            tracing::warn!(lines = new, "lines of the log are lost: nobody read them in time");
        })
    }

    /// The same, with who is told how many are newly lost once there is room again.
    fn telling(
        out: impl Write + Send + 'static,
        lost: IntCounter,
        say: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Lines> {
        let (queue, inbox) = sync_channel(WAITING);
        let counted = lost.clone();
        std::thread::Builder::new().name("log".into()).spawn(move || write(out, &inbox, &counted, say))?;
        Ok(Lines { queue, lost })
    }

    /// Waits until what came so far is written, and no longer than a second.
    pub fn flush(&self) {
        let (until, (done, heard)) = (Instant::now() + FLUSH, sync_channel(1));
        let mut message = Message::Flush(done);
        while let Err(error) = self.queue.try_send(message) {
            match error {
                TrySendError::Full(back) if Instant::now() < until => message = back,
                _ => return,
            }
            std::thread::sleep(LOOK);
        }
        let _ = heard.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

fn write(mut out: impl Write, inbox: &Receiver<Message>, lost: &IntCounter, say: impl Fn(u64)) {
    let mut told = 0;
    loop {
        let message = match inbox.try_recv() {
            Err(TryRecvError::Empty) => {
                // There is room for it now.
                let new = lost.get() - told;
                if new > 0 {
                    told += new;
                    say(new);
                }
                inbox.recv().ok()
            }
            message => message.ok(),
        };
        match message {
            Some(Message::Line(line)) => {
                if out.write_all(&line).is_err() {
                    lost.inc();
                    // Nor could that be written.
                    told = lost.get();
                }
            }
            Some(Message::Flush(done)) => {
                let _ = out.flush();
                let _ = done.send(());
            }
            None => return,
        }
    }
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.queue.try_send(Message::Line(line.to_vec())).is_err() {
            self.lost.inc();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Lines;

    fn make_writer(&self) -> Lines {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};

    /// Takes what is written only while it is not held.
    #[derive(Clone, Default)]
    struct Reader(Arc<Mutex<Vec<u8>>>);

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Lines, and how many were said to be lost.
    fn lines(out: impl Write + Send + 'static) -> (Lines, Arc<AtomicU64>) {
        let said = Arc::new(AtomicU64::new(0));
        let sum = said.clone();
        let say = move |new| _ = sum.fetch_add(new, Ordering::AcqRel);
        (Lines::telling(out, IntCounter::new("lost", "Lines.").unwrap(), say).unwrap(), said)
    }

    #[test]
    fn all_that_was_logged_is_written_in_order_before_the_end() {
        let reader = Reader::default();
        let (mut lines, _) = lines(reader.clone());
        for n in 0..100 {
            writeln!(lines, "{n}").unwrap();
        }
        lines.flush();
        let expected: String = (0..100).map(|n| format!("{n}\n")).collect();
        assert_eq!(String::from_utf8(reader.0.lock().unwrap().clone()).unwrap(), expected);
        assert_eq!(lines.lost.get(), 0);
    }

    #[test]
    fn who_logs_and_who_ends_wait_for_no_reader_and_what_is_lost_is_counted() {
        let reader = Reader::default();
        let (mut lines, said) = lines(reader.clone());
        let held = reader.0.lock().unwrap();
        for _ in 0..WAITING + 10 {
            lines.write_all(b"line\n").unwrap();
        }
        // One more may be in the writer's hand.
        assert!((9..=10).contains(&lines.lost.get()), "{}", lines.lost.get());
        let began = Instant::now();
        lines.flush();
        assert!(began.elapsed() < 5 * FLUSH);
        drop(held);
        lines.flush();
        assert!(reader.0.lock().unwrap().len() >= 5 * WAITING);
        while said.load(Ordering::Acquire) < lines.lost.get() {
            assert!(began.elapsed() < Duration::from_secs(60), "now that somebody reads it is told");
            std::thread::sleep(LOOK);
        }
    }

    #[test]
    fn what_cannot_be_written_is_counted_and_not_said_to_itself() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (mut lines, said) = lines(Closed);
        // It would be said before it waits for the next.
        for _ in 0..20 {
            lines.write_all(b"line\n").unwrap();
            lines.flush();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((lines.lost.get(), said.load(Ordering::Acquire)), (20, 0));
    }
}
