//! The ResourceManager, or the active one of several.

use super::address::Server;
use super::endpoint::Endpoint;
use super::error::{Error, Kind};
use super::facts::cluster::{self, AppSeen};
use super::facts::queues;
use super::http::{Answer, Http};
use super::labels::Labels;
use super::limit::Permit;
use super::told::Told;
use super::wire::Document;
use super::wire::cluster::{App, AppAttempts, ClusterInfo};
use crate::clock;
use drover_core::model::{AppId, ClusterFact, NodeFact, QueueFact, Time};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Typed calls to the active ResourceManager; clones share what is known of it.
#[derive(Debug, Clone)]
pub struct Rm {
    http: Http,
    servers: Arc<[Server]>,
    active: Arc<Mutex<Active>>,
    /// Held by the one call that asks around; the others wait for what it finds.
    finding: Arc<tokio::sync::Mutex<()>>,
    labels: Labels,
}

/// Which one is active, as far as known.
#[derive(Debug, Default)]
struct Active {
    index: usize,
    /// A standby has named it; it has yet to say so itself.
    named: Option<usize>,
    /// It has said so itself since the last trouble.
    is_sure: bool,
    incarnation: u64,
    started: Option<Time>,
    version: Option<String>,
    /// None was found: the same answer is given again until then.
    none_until: Option<(Instant, Error)>,
}

/// Shortest time between two rounds of asking who is active that found none. The poller's own pauses grow beyond it.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// One ResourceManager as it presents itself, for people.
#[derive(Debug, Clone)]
pub struct Presented {
    /// Which one.
    pub server: Server,
    /// What it said, or why it did not.
    pub info: Result<Told<ClusterInfo>, Error>,
}

impl Rm {
    /// Calls to these ResourceManagers, of which there is at least one.
    pub fn new(http: Http, servers: Vec<Server>) -> Rm {
        let servers = servers.into();
        Rm { http, servers, active: Arc::default(), finding: Arc::default(), labels: Labels::default() }
    }

    /// The one taken for active.
    pub fn active(&self) -> Server {
        self.servers[self.lock().index].clone()
    }

    /// Number of the active one's life, rising with every start and failover; 0 before the first answer.
    pub fn incarnation(&self) -> u64 {
        self.lock().incarnation
    }

    /// Version of Hadoop, where told.
    pub fn version(&self) -> Option<String> {
        self.lock().version.clone()
    }

    /// Notes trouble seen on the way through it, such as a proxy that cannot be reached: it will be asked again who is active.
    pub fn doubt(&self) {
        self.lock().is_sure = false;
    }

    /// Asks every one of them who it is.
    pub async fn present(&self) -> Vec<Presented> {
        let mut all = Vec::new();
        for server in self.servers.iter() {
            all.push(Presented { server: server.clone(), info: self.info(server).await });
        }
        all
    }

    /// Totals of the cluster.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn metrics(&self, permit: Option<Permit>) -> Result<Told<ClusterFact>, Error> {
        Ok(Told::of(self.get(permit, Endpoint::RmMetrics, "ws/v1/cluster/metrics", &[]).await?, cluster::totals))
    }

    /// All nodes.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn nodes(&self, permit: Option<Permit>) -> Result<Told<Vec<NodeFact>>, Error> {
        let mut told = Told::of(self.get(permit, Endpoint::RmNodes, "ws/v1/cluster/nodes", &[]).await?, cluster::nodes);
        let url = self.active().url("ws/v1/cluster/get-node-labels");
        self.labels.mark(&self.http, &url, &mut told, clock::now()).await;
        Ok(told)
    }

    /// All leaf queues.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn queues(&self, permit: Option<Permit>) -> Result<Told<Vec<QueueFact>>, Error> {
        Ok(Told::of(self.get(permit, Endpoint::RmScheduler, "ws/v1/cluster/scheduler", &[]).await?, queues::queues))
    }

    /// All running MapReduce applications.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn apps(&self, permit: Option<Permit>) -> Result<Told<Vec<AppSeen>>, Error> {
        let query = [("states", "RUNNING"), ("applicationTypes", "MAPREDUCE"), ("deSelects", "resourceRequests")];
        Ok(Told::of(self.get(permit, Endpoint::RmApps, "ws/v1/cluster/apps", &query).await?, cluster::apps))
    }

    /// How many MapReduce applications run, also those that this user is not shown.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn running(&self) -> Result<Told<Option<u64>>, Error> {
        let query = [("states", "RUNNING"), ("applicationTypes", "MAPREDUCE")];
        let path = "ws/v1/cluster/appstatistics";
        Ok(Told::of(self.get(None, Endpoint::RmAppStatistics, path, &query).await?, cluster::counted))
    }

    /// One application.
    ///
    /// # Errors
    /// `unexpected` where the answer is not that application's; `not_found` where there is none of that id; `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn app(&self, app: AppId) -> Result<Told<App>, Error> {
        let path = format!("ws/v1/cluster/apps/{app}");
        let told = Told::of(self.get(None, Endpoint::RmApp, &path, &[]).await?, |app: &App, _| app.clone());
        if told.what.id.as_deref().and_then(|id| id.parse().ok()) == Some(app) {
            return Ok(told);
        }
        let found = told.what.id.0.unwrap_or_else(|| "no application".to_owned());
        Err(Kind::Unexpected { expected: "that application", found }.at(&self.active().url(&path)))
    }

    /// The number of the newest run of an application's master, where told.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered, by name.
    pub async fn newest_attempt(&self, app: AppId) -> Result<Told<Option<u32>>, Error> {
        let path = format!("ws/v1/cluster/apps/{app}/appattempts");
        Ok(Told::of(self.get(None, Endpoint::RmAppAttempts, &path, &[]).await?, |all: &AppAttempts, _| {
            newest(&all.attempts.items)
        }))
    }

    /// Asks the active one, and where that one cannot serve, the others in turn.
    ///
    /// # Errors
    /// `no_active_rm` when none can serve; else what the active one answered.
    async fn get<D: Document>(
        &self,
        permit: Option<Permit>,
        endpoint: Endpoint,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Answer<D>, Error> {
        let mut permit = permit;
        if !self.lock().is_sure {
            // Asking around takes leaves of its own; to hold one meanwhile could leave none for that.
            drop(permit.take());
            self.find_active().await?;
        }
        let mut troubles: Vec<String> = Vec::new();
        for _ in 0..=self.servers.len() {
            let mut url = self.active().url(path);
            if !query.is_empty() {
                url.query_pairs_mut().extend_pairs(query);
            }
            let asked = self.incarnation();
            match self.http.get(permit.take(), endpoint, &url).await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.kind.is_rm_trouble() || self.may_be_anothers(&error.kind) => {
                    self.doubt();
                    if self.servers.len() == 1 {
                        return Err(error);
                    }
                    self.follow(&error.kind);
                    self.find_active().await?;
                    // It is the active one all the same: what it cannot answer it need not be asked for again at once.
                    let its_own = is_slow(&error.kind) || self.may_be_anothers(&error.kind);
                    if self.incarnation() == asked && its_own {
                        return Err(error);
                    }
                    troubles.push(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Err(Kind::NoActiveRm(troubles.join("; ")).at(&self.active().url(path)))
    }

    /// May another of several be the active one? One that sends elsewhere, to no configured one, may be a standby that names the active one otherwise than settings do: nothing is followed, but
    /// the others are asked. And where it has failed, or its address been given to something else since, whatever stands there may speak in its place.
    fn may_be_anothers(&self, kind: &Kind) -> bool {
        self.servers.len() > 1 && (kind.is_of_no_rm() || kind.is_servers())
    }

    /// A standby that names the active one saves asking around; the named one is asked first. Of one that did not answer not it.
    fn follow(&self, kind: &Kind) {
        let mut active = self.lock();
        if let Kind::Standby { active: Some(server) } = kind {
            active.named = self.servers.iter().position(|s| s == server).or(active.named);
        } else if is_slow(kind) || matches!(kind, Kind::Unreachable(_)) || kind.is_servers() {
            let next = (active.index + 1) % self.servers.len();
            active.named = active.named.or(Some(next));
        }
    }

    /// Asks each in turn, from the one last taken for active, until one says it is.
    async fn find_active(&self) -> Result<(), Error> {
        let _only_one = self.finding.lock().await;
        if self.lock().is_sure {
            return Ok(());
        }
        let lately = self.lock().none_until.clone().filter(|(until, _)| *until > Instant::now());
        if let Some((_, error)) = lately {
            return Err(error);
        }
        let found = self.ask_around().await;
        self.lock().none_until = found.as_ref().err().map(|error| (Instant::now() + ASK_AGAIN, error.clone()));
        found
    }

    async fn ask_around(&self) -> Result<(), Error> {
        let first = {
            let mut active = self.lock();
            active.named.take().unwrap_or(active.index)
        };
        let mut troubles = Vec::new();
        for index in (0..self.servers.len()).map(|i| (first + i) % self.servers.len()) {
            match self.info(&self.servers[index]).await {
                Ok(told) if told.what.ha_state.as_deref().is_none_or(|state| state == "ACTIVE") => {
                    self.note(index, &told.what);
                    return Ok(());
                }
                Ok(told) => troubles.push(format!(
                    "{} is {}",
                    self.servers[index],
                    told.what.ha_state.as_deref().unwrap_or_default().to_lowercase()
                )),
                // With one there is nothing to choose, and its own error says more.
                Err(error) if self.servers.len() == 1 => return Err(error),
                Err(error) => troubles.push(error.to_string()),
            }
        }
        Err(Kind::NoActiveRm(troubles.join("; ")).at(&self.active().url("ws/v1/cluster/info")))
    }

    /// A failover may lead to one that started earlier, so its start alone would not rise.
    fn note(&self, index: usize, info: &ClusterInfo) {
        let started = info.started_on.natural().map(Time);
        let mut active = self.lock();
        let is_another = active.incarnation == 0 || active.index != index || active.started != started;
        if is_another {
            active.incarnation = started.map_or(1, |s| s.0).max(active.incarnation + 1);
        }
        active.index = index;
        active.started = started;
        active.version = info.hadoop_version.0.clone();
        active.is_sure = true;
    }

    async fn info(&self, server: &Server) -> Result<Told<ClusterInfo>, Error> {
        let url = server.url("ws/v1/cluster/info");
        let told = Told::of(self.http.get(None, Endpoint::RmInfo, &url).await?, |info: &ClusterInfo, _| info.clone());
        if told.what == ClusterInfo::default() {
            let found = "an empty object".to_owned();
            return Err(Kind::Unexpected { expected: ClusterInfo::ROOT, found }.at(&url));
        }
        Ok(told)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Active> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has it not answered in time?
fn is_slow(kind: &Kind) -> bool {
    matches!(kind, Kind::Timeout(_))
}

/// The highest number of a list.
pub(super) fn newest(list: &[super::wire::cluster::Numbered]) -> Option<u32> {
    list.iter().filter_map(|run| u32::try_from(run.id.0?).ok()).max().filter(|n| *n > 0)
}
