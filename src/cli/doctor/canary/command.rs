//! A shell command in a process group of its own: what it prints, how it ends, and its end where it does not.

use super::said::{Said, Which};
use drover_core::model::JobId;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How often to see whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long to wait for each thing that may never come.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// From the polite signal to the one that nobody can ignore.
    pub grace: Duration,
    /// For the end of what is printed, once the command has ended: whatever it has started may hold the pipes open.
    pub pipes: Duration,
}

impl Default for Waits {
    fn default() -> Waits {
        Waits { grace: Duration::from_secs(5), pipes: Duration::from_secs(2) }
    }
}

/// One that runs. Dropped before its end, it is ended with its group.
pub struct Running {
    child: Child,
    group: Pid,
    said: Heard,
    reading: JoinHandle<()>,
    waits: Waits,
}

/// What it has printed so far.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Said>>);

impl Heard {
    /// The first job that it says it has submitted.
    pub fn job(&self) -> Option<JobId> {
        self.lock().jobs.first().copied()
    }

    /// All of them.
    pub fn jobs(&self) -> Vec<JobId> {
        self.lock().jobs.clone()
    }

    /// The end of what it has printed.
    pub fn end(&self) -> String {
        self.lock().end()
    }

    fn lock(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn hear(&self, which: Which, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut some = [0; 4_096];
        while let Ok(count @ 1..) = stream.read(&mut some).await {
            self.lock().hear(which, &some[..count]);
        }
        // A last line may lack its end.
        self.lock().hear(which, b"\n");
    }
}

impl Running {
    /// Starts it.
    pub fn start(line: &str, waits: Waits) -> io::Result<Running> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let group = id.ok_or_else(|| io::Error::other("it has no process id"))?;
        let said = Heard::default();
        let (out, err, heard) = (child.stdout.take(), child.stderr.take(), said.clone());
        // Both at once: a command waits for whoever does not read the stream that it writes.
        let reading = tokio::spawn(async move {
            tokio::join!(heard.hear(Which::Out, out), heard.hear(Which::Err, err));
        });
        Ok(Running { child, group, said, reading, waits })
    }

    /// What it has printed, now and later.
    pub fn heard(&self) -> Heard {
        self.said.clone()
    }

    /// Waits for its end. May be dropped, and asked again.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.drained().await;
        Ok(status)
    }

    /// Ends it and its group, at once where `hurry` comes. Is nothing left that holds its pipes?
    pub async fn stop(&mut self, hurry: impl Future<Output = ()>) -> bool {
        self.signal(Signal::TERM);
        tokio::select! {
            _ = timeout(self.waits.grace, self.obeyed()) => {}
            () = hurry => {}
        }
        self.signal(Signal::KILL);
        // Not for ever: a process that waits for a file system that is away does not die.
        let _ = timeout(self.waits.pipes, self.child.wait()).await;
        self.drained().await
    }

    /// Waits until it has ended, which is not taken note of yet, and nothing holds its pipes. One that writes elsewhere has closed them long before.
    async fn obeyed(&self) {
        while !(self.reading.is_finished() && self.is_over()) {
            sleep(LOOK_EVERY).await;
        }
    }

    fn is_over(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.child.id().is_none() || !matches!(waitid(WaitId::Pid(self.group), look), Ok(None))
    }

    async fn drained(&mut self) -> bool {
        self.reading.is_finished() || timeout(self.waits.pipes, &mut self.reading).await.is_ok()
    }

    /// To its group, which has this number for sure as long as the leader's end was not waited for.
    fn signal(&self, signal: Signal) {
        if self.child.id().is_some() {
            // It may have ended just now.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.reading.abort();
    }
}

#[cfg(test)]
mod tests;
