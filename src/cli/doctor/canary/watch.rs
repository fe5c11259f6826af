//! Watching the canary until its command ends, or has to be ended.

use super::command::{Heard, Running};
use super::judgement::{Ended, Sight, Why};
use crate::api::views::JobDetail;
use crate::cli::client::Client;
use crate::cli::doctor::progress;
use crate::yarn::error::Kind;
use crate::yarn::poll::Clients;
use drover_core::model::JobId;
use std::convert::Infallible;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

pub const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What asks doctor itself to end. From here on it ends by itself alone.
pub struct Interrupt {
    interrupt: Signal,
    terminate: Signal,
    /// Its terminal is closed; `None` where that is to end nothing, as under `nohup`.
    hang_up: Option<Signal>,
}

impl Interrupt {
    /// Listens from now on.
    pub fn new() -> io::Result<Interrupt> {
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Interrupt { interrupt, terminate, hang_up })
    }

    /// Waits for it, or for the next.
    pub async fn come(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            Some(_) = async { self.hang_up.as_mut()?.recv().await } => {}
        }
    }
}

/// Was this process started so that SIGHUP does not reach it? The first bit of what Linux says is ignored; where nothing says it, it does.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

/// Waits for the command's end, and ends it where it takes longer than that or `interrupt` comes. What it says is heard meanwhile, its job watched.
pub async fn watch(
    running: &mut Running,
    patience: Duration,
    interrupt: &mut Interrupt,
    clients: &Clients,
    service: Option<&Client>,
) -> (Ended, Sight) {
    let (heard, mut sight) = (running.heard(), Sight::default());
    let end = tokio::select! {
        end = running.ended() => Ok(end),
        () = sleep(patience) => Err(Why::Late(patience)),
        () = interrupt.come() => Err(Why::Interrupted),
        never = looking(&heard, clients, service, &mut sight) => match never {},
    };
    let ended = match end {
        Ok(Ok(status)) if status.success() => Ended::Well,
        Ok(Ok(status)) => Ended::Badly(format!("it ended with {status}: {}", heard.end())),
        Ok(Err(error)) => Ended::Badly(error.to_string()),
        Err(why) => {
            progress("canary: ending it");
            Ended::Stopped { why, wholly: running.stop(interrupt.come()).await }
        }
    };
    sight.jobs = heard.jobs();
    (ended, sight)
}

async fn looking(heard: &Heard, clients: &Clients, service: Option<&Client>, sight: &mut Sight) -> Infallible {
    let began = Instant::now();
    loop {
        progress(&format!("canary: {} s, {} tasks seen", began.elapsed().as_secs(), sight.tasks));
        sleep(LOOK_EVERY).await;
        if let Some(job) = heard.job() {
            look(job, clients, service, sight).await;
        }
    }
}

async fn look(job: JobId, clients: &Clients, service: Option<&Client>, sight: &mut Sight) {
    match clients.am.tasks(None, job).await {
        Ok(told) => sight.tasks = sight.tasks.max(told.what.tasks.len()),
        // It waits for its ApplicationMaster, or is done.
        Err(error) if matches!(error.kind, Kind::AppNotServed | Kind::AppFinished) => {}
        Err(error) => sight.trouble = Some(error.to_string()),
    }
    if sight.speculates.is_none()
        && let Ok(told) = clients.am.settings(None, job).await
    {
        sight.speculates = Some(told.what.map_speculation || told.what.reduce_speculation);
    }
    if let Some(service) = service
        && let Ok(detail) = service.get::<JobDetail>(&format!("api/v1/jobs/{job}")).await
    {
        sight.shim |= detail.summary.shim;
    }
}
