//! The listener that shims call.

use super::batch::Batch;
use super::body::{self, Budget};
use super::complaints::Complaints;
use super::desk::{Answer, Awaits, Desk, Origin};
use super::mac;
use super::metrics::Metrics;
use super::outbox::Order;
use super::params::{Identity, ShimParams};
use super::reply::{Refusal, Why};
use super::session::Now;
use super::table::SessionView;
use super::trust::Vouch;
use super::unsent::Unsent;
use crate::guard::{Bounds, Guard, Peer};
use crate::{clock, heavy};
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use drover_core::model::{AppId, Decision, JobId, Measure, Time, Verdict};
use serde::Serialize;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The service's side of the shim protocol. Clones share the same sessions.
#[derive(Clone)]
pub struct Shim(Arc<Inner>);

struct Inner {
    desk: Desk,
    budget: Budget,
    in_flight: Arc<Semaphore>,
    complaints: Complaints,
    started: Time,
}

impl Shim {
    /// No sessions yet. Facts leave through `out`, one batch for each exchange that was applied; when it is full, exchanges are refused and the shims
    /// repeat them.
    pub fn new(
        params: ShimParams,
        identity: Identity,
        vouch: Arc<dyn Vouch>,
        out: mpsc::Sender<Batch>,
        metrics: Metrics,
    ) -> Shim {
        let in_flight = Arc::new(Semaphore::new(params.exchanges_in_flight.clamp(1, Semaphore::MAX_PERMITS)));
        let desk = Desk::new(params, identity, vouch, out, metrics);
        let (budget, complaints) = (Budget::default(), Complaints::default());
        Shim(Arc::new(Inner { desk, budget, in_flight, complaints, started: clock::now() }))
    }

    /// `POST /shim/v1/exchange` and `GET /healthz`.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/shim/v1/exchange", post(exchange))
            .route("/healthz", get(|| async { "ok\n" }))
            .with_state(self.clone())
    }

    /// Serves until told to stop, then lets exchanges in hand end.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve(self, listener: TcpListener, stop: CancellationToken) -> std::io::Result<()> {
        let params = &self.0.desk.params;
        let bounds = Bounds {
            connections: params.connections,
            idle: Duration::from_millis(params.idle_ms),
            key: "shim.connections",
            refused: self.0.desk.metrics.connections_refused.clone(),
        };
        let guard = Guard::new(listener, &bounds);
        let service = self.router().into_make_service_with_connect_info::<Peer>();
        let server = axum::serve(guard, service).with_graceful_shutdown(stop.clone().cancelled_owned());
        let grace = Duration::from_millis(params.body_ms + 1_000);
        let deadline = async {
            stop.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        tokio::select! {
            result = server => result,
            () = self.housekeeping() => Ok(()),
            () = deadline => Ok(()),
        }
    }

    async fn housekeeping(&self) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut last = Instant::now();
        loop {
            ticks.tick().await;
            let seconds = last.elapsed().as_secs_f64();
            last = Instant::now();
            self.0.desk.sweep(self.now(), seconds);
        }
    }

    fn now(&self) -> Now {
        // One clock for both: leases and sessions run out while this machine sleeps, as they do for their ApplicationMasters.
        let wall = clock::now();
        Now { wall, mono: wall.since(self.0.started) }
    }

    /// All sessions, believed or not yet, by job.
    pub fn sessions(&self) -> Vec<SessionView> {
        self.0.desk.views(self.now())
    }

    /// Does a shim speak for this job, so that it need not be polled for what a shim tells?
    pub fn has_live_session(&self, job: JobId) -> bool {
        self.0.desk.has_live_session(job, self.now())
    }

    /// The ResourceManager says that an application has ended: its session is over.
    pub fn application_ended(&self, app: AppId) {
        self.0.desk.end(app);
    }

    /// What was told of this job is no longer held: its shim is asked for all of it.
    pub fn ask_snapshot(&self, job: JobId) {
        self.0.desk.ask_snapshot(job);
    }

    /// Highest epoch that shims report, when it is above this service's own: another service speaks to them.
    pub fn higher_epoch(&self) -> Option<u64> {
        self.0.desk.higher_epoch(self.now())
    }

    /// Answers to these actions of earlier processes, each with its job, are passed on, too. Said once, before any shim is heard.
    pub fn expect<'a>(&self, actions: impl Iterator<Item = (JobId, &'a str, u64)>) {
        self.0.desk.acting.expect(actions);
    }

    /// From now on exactly these jobs are Drover's: their shims get a lease with the next answer. Of each: is a task of it to have clones once it runs?
    pub fn own(&self, jobs: HashMap<JobId, bool>) {
        self.0.desk.acting.own(jobs, self.now().mono);
    }

    /// The engine stands by what it said of that last; whoever hears nothing of it for the length of a lease takes it to hang.
    pub fn own_still(&self) {
        self.0.desk.acting.own_still(self.now().mono);
    }

    /// Has the job's shim carry out a decision. When none can, that is counted; the engine sees it from the copy that never comes.
    pub fn carry_out(&self, decision: &Decision) {
        let desk = &self.0.desk;
        let order = Order::of(decision).ok_or(Unsent::Unable);
        if let Err(why) = order.and_then(|order| desk.order(order, self.now())) {
            desk.metrics.unsent(why);
            tracing::warn!(job = %decision.job, task = %decision.task, why = why.label(), action = decision.action.label(), "no shim can be asked to carry it out");
        }
    }

    /// Has the job's shim take a measure, where an order is to carry it out. When none can, that is counted; the engine gives the order again.
    pub fn take(&self, measure: &Measure) {
        let Some(order) = Order::of_measure(measure) else { return };
        if let Err(why) = self.0.desk.order(order, self.now()) {
            self.0.desk.metrics.unsent(why);
            tracing::warn!(job = %measure.job, measure = measure.kind.label(), why = why.label(), "no shim can be asked to take it");
        }
    }

    /// Has a decision's order sent no more: it is answered, its copy has come to its end, or something speaks against it now.
    pub fn call_off(&self, decision: &Decision, why: Option<Verdict>) {
        let desk = &self.0.desk;
        desk.call_off(decision.job, decision.id);
        if let Some(why) = why {
            desk.metrics.called_off(why);
            tracing::info!(job = %decision.job, task = %decision.task, why = why.label(), action = decision.action.label(), "an order is called off");
        }
    }

    /// One exchange, from a request to its answer.
    async fn answer(&self, request: Request) -> Result<Answer, Refusal> {
        let Inner { desk, budget, in_flight, .. } = &*self.0;
        let local = peer(&request).is_some_and(|address| address.to_canonical().is_loopback());
        let from = if local { Origin::Loopback } else { Origin::Network };
        let (parts, body) = request.into_parts();
        let code = parts.headers.get(mac::HEADER).and_then(|v| v.to_str().ok()).unwrap_or_default().to_string();
        let (body, held) = body::read(body, &parts.headers, &desk.params, budget).await?;
        // Not before it is all there: bodies that are sent slowly would hold the places of those that are not.
        let Ok(slot) = in_flight.clone().try_acquire_owned() else {
            let words = "the service has as many exchanges in hand as it may";
            return Err(Refusal::new(Why::Overloaded, words).retry(u64::from(desk.pace_ms())));
        };
        desk.metrics.bytes.inc_by(body.len() as u64);
        let (length, shim) = (body.len(), self.clone());
        let decide = move || {
            // A large body is read on though its peer leaves: what it holds is given back only then.
            let _shares = (slot, held);
            shim.decide(from, &code, &body)
        };
        let decided = heavy::BODIES.read(length, decide).await;
        decided.unwrap_or_else(|_| Err(Refusal::new(Why::Overloaded, "the service is stopping")))
    }

    /// An order that the request itself gives rise to goes out with its answer, a whole exchange sooner than with the next.
    async fn with_orders(&self, mut answer: Answer) -> Answer {
        let within = Duration::from_millis(self.0.desk.params.decided_ms);
        if let Some(Awaits { seat, decided }) = answer.awaits.take()
            && let Ok(Ok(())) = tokio::time::timeout(within, decided).await
        {
            self.0.desk.add_orders(&mut answer.reply, &seat, self.now());
        }
        answer
    }

    fn decide(&self, from: Origin, code: &str, body: &[u8]) -> Result<Answer, Refusal> {
        let desk = &self.0.desk;
        let timer = desk.metrics.exchange_seconds.start_timer();
        let result = desk.exchange(self.now(), from, code, body);
        timer.observe_duration();
        result
    }
}

fn peer(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<ConnectInfo<Peer>>().map(|ConnectInfo(Peer(address))| address.ip())
}

async fn exchange(State(shim): State<Shim>, request: Request) -> Response {
    let from = peer(&request);
    let result = shim.answer(request).await;
    let desk = &shim.0.desk;
    match result {
        Ok(answer) => {
            let Answer { reply, key, .. } = shim.with_orders(answer).await;
            let (outcome, status) =
                if reply.accepted { ("accepted", StatusCode::OK) } else { ("pending", StatusCode::ACCEPTED) };
            desk.metrics.exchange(outcome);
            json(status, &reply, Some(&key))
        }
        Err(refusal) => {
            desk.metrics.exchange(refusal.why.label());
            shim.0.complaints.hear(&refusal, from, shim.now().mono);
            json(StatusCode::from_u16(refusal.why.status()).unwrap_or(StatusCode::BAD_REQUEST), &refusal, None)
        }
    }
}

fn json(status: StatusCode, content: &impl Serialize, key: Option<&super::values::Key>) -> Response {
    // Both documents are plain structs, whose serialisation cannot fail.
    let text = serde_json::to_vec(content).unwrap_or_default();
    let code = key.and_then(|key| HeaderValue::from_str(&mac::sign(key, &text)).ok());
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(code) = code {
        response.headers_mut().insert(mac::HEADER, code);
    }
    response
}
