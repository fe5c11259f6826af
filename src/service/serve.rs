//! `drover serve`: starts every room, and stops them in order.

mod reload;

use super::engine_loop::{Outside, channels, run};
use super::error::ServeError;
use super::holds::{Book, Holds};
use super::keeping;
use super::notes::{Asks, Notes};
use super::own::Own;
use super::reading::Process;
use super::restarts::Restarts;
use super::rival::watch_for_others;
use super::shims::Shims;
use super::world;
use super::{Desk, claims, descriptors, epoch, vouch};
use crate::api::listen;
use crate::api::views::{ConfigView, RmView};
use crate::api::{self, ApiState, Doorman, Role};
use crate::clock;
use crate::config::{self, Config, Loaded};
use crate::guard::Bounds;
use crate::history::Recorder;
use crate::ledger::{Access, Feed};
use crate::shim::{self, Identity, Shim, ShimParams};
use crate::telemetry::{Logs, Metrics, VERSION};
use crate::yarn::poll::{Clients, Poller};
use crate::yarn::vouch::Vouch;
use crate::yarn::{self};
use prometheus::{IntCounter, Registry};
use reload::{ReadOnce, read_again, reloaded};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A stop takes no longer than this.
const GRACE: Duration = Duration::from_millis(1_500);

/// Where it listens.
struct Listeners {
    api: TcpListener,
    shim: TcpListener,
    metrics: TcpListener,
}

/// The running service.
struct Service {
    tasks: JoinSet<&'static str>,
    engine: JoinHandle<()>,
    outside: Outside,
    metrics: Arc<Metrics>,
    notes: Arc<Notes>,
}

/// How a configuration is read again.
pub type Reload = Arc<dyn Fn() -> Result<Loaded, config::ConfigError> + Send + Sync>;

/// Runs the service until it is told to stop.
pub async fn serve(mut loaded: Loaded, reload: Reload, logs: Logs) -> Result<(), ServeError> {
    // Until the end, that of the engine's thread included. One that comes while the next line waits is obeyed once the service runs.
    let hang_up = signal(SignalKind::hangup())?;
    let _claims = claims::take(&loaded.config)?;
    let mut signals = Signals::with(hang_up)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let stop = CancellationToken::new();
    let once = Arc::new(ReadOnce::of(&loaded.config));
    let mut service = start(&loaded, logs.lost(), &stop).await?;
    let ended = loop {
        tokio::select! {
            _ = signals.terminate.recv() => break Ok(()),
            _ = signals.interrupt.recv() => break Ok(()),
            _ = signals.hang_up.recv() => tokio::select! {
                _ = signals.terminate.recv() => break Ok(()),
                _ = signals.interrupt.recv() => break Ok(()),
                read = read_again(loaded.clone(), reload.clone(), once.clone()) => loaded = reloaded(loaded, read, &logs, &service),
            },
            Some(done) = service.tasks.join_next() => break Err(ServeError::Ended(done.unwrap_or("a part of the service"))),
        }
    };
    tracing::info!("stopping");
    stop.cancel();
    let all = async { while service.tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, all).await.is_err() {
        tracing::warn!("some connections did not end in time and are cut");
    }
    let engine = tokio::task::spawn_blocking(move || service.engine.join());
    if !matches!(tokio::time::timeout(GRACE, engine).await, Ok(Ok(Ok(())))) {
        tracing::error!(
            "the engine's thread did not end in order; the last lines of the recording, and rows of the ledger, may be missing"
        );
    }
    ended
}

/// Of what is set for shims, what this process has the means for.
fn shim_params(config: &Config) -> ShimParams {
    let (set, limit) = (world::shim(config), descriptors::raise());
    let connections = descriptors::for_shims(limit, set.connections, config.listen.connections);
    descriptors::warn(limit, set.connections, connections);
    ShimParams { connections, ..set }
}

async fn start(loaded: &Loaded, lost_lines: IntCounter, stop: &CancellationToken) -> Result<Service, ServeError> {
    let config = &loaded.config;
    let listeners = Listeners {
        api: listen::bind("listen.api", config.listen.api).await?,
        shim: listen::bind("listen.shim", config.listen.shim).await?,
        metrics: listen::bind("listen.metrics", config.listen.metrics).await?,
    };
    let registry = Registry::new();
    let metrics = Arc::new(Metrics::new(&registry)?);
    registry.register(Box::new(lost_lines))?;
    let rest_metrics = yarn::metrics::Metrics::new(&registry)?;
    let shim_metrics = shim::Metrics::new(&registry, rest_metrics.facts_refused())?;
    let clients = world::clients(config, rest_metrics)?;
    let notes = Arc::new(Notes::default());
    let (outside, inbox) = channels();
    // Before anything is written: who does not start for these has changed nothing, and taken no ledger to another version.
    let book = Book::open(config.state.dir.as_deref(), config.top.mode, clock::now())?;
    let incarnation = format!("{:016x}", rand::random::<u64>());
    let identity = Identity { epoch: epoch::next(config.state.dir.as_deref(), clock::now()), incarnation };
    let mut desk = desk(config, &identity, metrics.clone())?;
    // Before the ledger is written to, and before the engine is given anything.
    keeping::resume(config, &mut desk, clock::now());
    let (feed, access) = keeping::begin(loaded, &identity.incarnation, &notes, &registry)?;
    desk.ledger = feed;
    announce(&listeners, &identity, config)?;
    // Before anything is decided.
    let told = book.told(identity.epoch, clock::now());
    let own = Arc::new(Own::new(identity.epoch, told.len() as u64 + 1, outside.facts.clone()));
    told.into_iter().for_each(|held| desk.observe(held));
    let holds = Arc::new(Holds::new(own.clone(), book));
    let _ = notes.holds.set(holds.clone());
    let vouch = Arc::new(vouch::Cluster { vouch: Vouch::new(&clients), notes: notes.clone() });
    let shim = Shim::new(shim_params(config), identity.clone(), vouch, outside.batches.clone(), shim_metrics);
    shim.expect(desk.ledger.iter().flat_map(Feed::orphans));
    let _ = notes.shim.set(shim.clone());

    let (pace, runtime) = (config.engine.pace, tokio::runtime::Handle::current());
    let (noted, stopped) = (notes.clone(), stop.clone());
    let engine = std::thread::Builder::new()
        .name("engine".into())
        .spawn(move || run(desk, inbox, &noted, pace, &clock::now, &runtime, &stopped))?;
    let state =
        ApiState { ledger: access, ..state(config, &identity, &outside, &notes, holds, &clients, metrics.clone()) };
    let mut tasks = JoinSet::new();
    spawn_watch(&mut tasks, notes.clone(), state.holds.clone(), stop);
    if config.act.rest_restart {
        spawn_restarts(&mut tasks, clients.am.clone(), own, &notes, stop);
    }
    spawn_polling(&mut tasks, config, clients, notes.clone(), &outside, stop);
    spawn_listening(&mut tasks, config, listeners, state, registry, shim, stop);
    Ok(Service { tasks, engine, outside, metrics, notes })
}

fn desk(config: &Config, identity: &Identity, metrics: Arc<Metrics>) -> Result<Desk, ServeError> {
    let recorder = match &config.record.dir {
        None => None,
        Some(dir) => {
            let (max, segment) = (config.record.max_bytes.0, config.record.segment_bytes.0);
            let recorder = Recorder::start(dir, max, segment, &identity.incarnation, metrics.clone())?;
            tracing::info!(dir = %dir.display(), max_bytes = max, "recording");
            Some(recorder)
        }
    };
    let keep = usize::try_from(config.listen.decisions).unwrap_or(usize::MAX);
    let mut desk = Desk::new(config::engine_params(config), keep, recorder, metrics);
    desk.incarnation.clone_from(&identity.incarnation);
    Ok(desk)
}

fn state(
    config: &Config,
    identity: &Identity,
    outside: &Outside,
    notes: &Arc<Notes>,
    holds: Arc<Holds>,
    clients: &Clients,
    metrics: Arc<Metrics>,
) -> ApiState {
    ApiState {
        asker: outside.asker.clone(),
        doorman: Doorman::new(
            Role::parse(&config.listen.loopback_role),
            config.listen.api.ip(),
            config.listen.api_names.iter().cloned().chain([api::host_name()]),
        ),
        process: Process::new(identity.incarnation.clone(), clock::now()),
        shims: Arc::new({
            let notes = notes.clone();
            move || notes.shim.get().map(Shims::of).unwrap_or_default()
        }),
        rm: Arc::new({
            let (notes, rest) = (notes.clone(), clients.http.metrics().clone());
            move || RmView { answers: rest.rm_answers(), told_ms: notes.ready.newest().map(|at| at.0) }
        }),
        config: Arc::new({
            let notes = notes.clone();
            move || ConfigView::of(notes.rereads.told())
        }),
        holds,
        readiness: Arc::new({
            let notes = notes.clone();
            move || notes.ready.missing()
        }),
        clock: Arc::new(clock::now),
        ledger: Access::default(),
        metrics,
    }
}

fn spawn_polling(
    tasks: &mut JoinSet<&'static str>,
    config: &Config,
    clients: Clients,
    notes: Arc<Notes>,
    outside: &Outside,
    stop: &CancellationToken,
) {
    let wants = Arc::new(Asks(notes));
    let poller = Poller::new(clients, world::schedule(config), wants, outside.facts.clone());
    let stopped = stop.clone();
    tasks.spawn(async move {
        poller.run(stopped).await;
        "polling"
    });
}

fn spawn_watch(tasks: &mut JoinSet<&'static str>, notes: Arc<Notes>, holds: Arc<Holds>, stop: &CancellationToken) {
    let stopped = stop.clone();
    tasks.spawn(async move {
        tokio::select! {
            () = stopped.cancelled() => {}
            () = watch_for_others(&notes, &holds) => {}
            () = holds.keep_on() => {}
            () = holds.lift_ended() => {}
        }
        "the look for other services, and for holds that are not kept or hold nothing any more"
    });
}

fn spawn_restarts(
    tasks: &mut JoinSet<&'static str>,
    am: yarn::am::Am,
    own: Arc<Own>,
    notes: &Notes,
    stop: &CancellationToken,
) {
    let restarts = Arc::new(Restarts::new(am, own));
    let _ = notes.restarts.set(restarts.clone());
    let stopped = stop.clone();
    tasks.spawn(async move {
        restarts.run(stopped).await;
        "restarts over REST"
    });
}

fn spawn_listening(
    tasks: &mut JoinSet<&'static str>,
    config: &Config,
    listeners: Listeners,
    state: ApiState,
    registry: Registry,
    shim: Shim,
    stop: &CancellationToken,
) {
    let connections = usize::try_from(config.listen.connections).unwrap_or(usize::MAX);
    let metrics = state.metrics.clone();
    let bounds = |name| Bounds {
        connections,
        idle: listen::IDLE,
        key: "listen.connections",
        refused: metrics.connections_refused.with_label_values(&[name]),
    };
    let [of_api, of_page] = ["api", "metrics"].map(bounds);
    let (api, page) = (api::router(state), api::metrics_router(registry, metrics));
    let serving = |listener, bounds, router| listen::serve(listener, bounds, router, stop.clone());
    let (api, page) = (serving(listeners.api, of_api, api), serving(listeners.metrics, of_page, page));
    let shim = shim.serve(listeners.shim, stop.clone());
    tasks.spawn(async move { ended("the API's listener", api.await) });
    tasks.spawn(async move { ended("the listener for metrics", page.await) });
    tasks.spawn(async move { ended("the shims' listener", shim.await) });
}

fn ended(part: &'static str, result: std::io::Result<()>) -> &'static str {
    if let Err(error) = result {
        tracing::error!(%error, "{part} failed");
    }
    part
}

fn announce(listeners: &Listeners, identity: &Identity, config: &Config) -> std::io::Result<()> {
    tracing::info!(
        version = VERSION,
        api = %listeners.api.local_addr()?,
        shim = %listeners.shim.local_addr()?,
        metrics = %listeners.metrics.local_addr()?,
        mode = config.top.mode.label(),
        policy = %config.top.policy,
        incarnation = %identity.incarnation,
        "serving"
    );
    Ok(())
}

/// The signals a service obeys.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn with(hang_up: Signal) -> std::io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up,
        })
    }
}

#[cfg(test)]
mod tests;
