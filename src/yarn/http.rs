//! The one HTTP client: timeouts, body limits, no redirect followed, every bad answer by name.

use super::address::Server;
use super::auth::Auth;
use super::endpoint::{Class, Endpoint};
use super::error::{Error, Kind};
use super::limit::{Ceilings, LONGEST_PAUSE, Limits, Permit, UNTOLD_PAUSE};
use super::metrics::Metrics;
use super::wire::{Document, decode};
use super::{answer, redirect};
use crate::{clock, heavy};
use drover_core::model::Time;
use reqwest::header::{ACCEPT, CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::{Arc, Once};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// How the client behaves.
#[derive(Debug, Clone)]
pub struct HttpParams {
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest time from request to the last byte of the answer.
    pub timeout: Duration,
    /// Longest time for what others need not wait for, what the ceilings make it wait included.
    pub aside_timeout: Duration,
    /// Ceilings by class of server.
    pub ceilings: Ceilings,
    /// Who Drover is.
    pub auth: Auth,
    /// Certificates (PEM) to trust beside the system's.
    pub ca_file: Option<PathBuf>,
}

impl Default for HttpParams {
    fn default() -> Self {
        HttpParams {
            connect_timeout: Duration::from_secs(3),
            timeout: Duration::from_secs(15),
            aside_timeout: Duration::from_millis(2_500),
            ceilings: Ceilings::default(),
            auth: Auth::Anonymous,
            ca_file: None,
        }
    }
}

/// Why there can be no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The file of certificates.
    #[error("{}: {why}", file.display())]
    Certificates {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The client itself.
    #[error("cannot set up an HTTP client: {0}")]
    Client(String),
}

/// The client; clones share connections, ceilings and counters.
#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
    params: Arc<HttpParams>,
    limits: Arc<Limits>,
    metrics: Metrics,
    /// The configured ResourceManagers: a redirect between them is a failover.
    rms: Arc<[Server]>,
}

/// A document a server answered with.
#[derive(Debug, Clone)]
pub struct Answer<D> {
    /// The document.
    pub document: D,
    /// When and how it came.
    pub frame: Frame,
}

/// When and how an answer came.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The server's clock, to the second, where it told it.
    pub date: Option<Time>,
    /// When it was read, the service's clock.
    pub received: Time,
    /// From the request until then.
    pub took: Duration,
    /// Bytes of the body.
    pub bytes: u64,
}

/// Installs the process's TLS provider, once.
pub fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error here means that the process has one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// A client as described. Where the machine trusts no authority, as an image without certificates, so does the client: plain http needs none.
///
/// # Errors
/// TLS that cannot be set up.
pub fn built(describe: impl Fn() -> reqwest::ClientBuilder) -> reqwest::Result<reqwest::Client> {
    install_tls();
    describe().build().or_else(|error| {
        let client = describe().tls_certs_only([]).build()?;
        let why = causes(&error);
        tracing::warn!(%why, "this machine trusts no certificate authority, so no https address is trusted but by rest.ca_file: install its ca-certificates, or name their file in SSL_CERT_FILE");
        Ok(client)
    })
}

impl Http {
    /// A client for a cluster with these ResourceManagers.
    ///
    /// # Errors
    /// A file of certificates that cannot be used, or TLS that cannot be set up.
    pub fn new(params: HttpParams, rms: &[Server], metrics: Metrics) -> Result<Http, ClientError> {
        let trusted = params.ca_file.as_ref().map(certificates).transpose()?.unwrap_or_default();
        let describe = || {
            reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(params.connect_timeout)
                .timeout(params.timeout)
                .pool_max_idle_per_host(params.ceilings.proxy.in_flight.min(64) as usize)
                .no_proxy()
                .user_agent(concat!("drover/", env!("CARGO_PKG_VERSION")))
                .tls_certs_merge(trusted.clone())
        };
        let client = built(describe).map_err(|e| ClientError::Client(causes(&e)))?;
        let limits = Arc::new(Limits::new(&params.ceilings, metrics.clone()));
        Ok(Http { client, params: Arc::new(params), limits, metrics, rms: rms.into() })
    }

    /// The gates its requests go through.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Longest time for what others need not wait for.
    pub fn aside_timeout(&self) -> Duration {
        self.params.aside_timeout
    }

    /// Its metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Asks with a permit already held, else as soon as the ceilings allow.
    ///
    /// # Errors
    /// Everything but a whole document of the kind asked for, by name.
    pub async fn get<D: Document>(
        &self,
        permit: Option<Permit>,
        endpoint: Endpoint,
        url: &Url,
    ) -> Result<Answer<D>, Error> {
        self.call(permit, endpoint, url, None, decode::<D>).await
    }

    /// Puts a JSON body, once: what a redirect or a broken conversation leaves open is the caller's to find out.
    ///
    /// # Errors
    /// Everything but a whole answer of that kind, by name.
    pub async fn put<T: DeserializeOwned + Send + 'static>(
        &self,
        permit: Permit,
        endpoint: Endpoint,
        url: &Url,
        json: &str,
    ) -> Result<Answer<T>, Error> {
        let read = |body: &[u8]| serde_json::from_slice(body).map_err(|e| Kind::Malformed(e.to_string()));
        self.call(Some(permit), endpoint, url, Some(json), read).await
    }

    async fn call<T>(
        &self,
        permit: Option<Permit>,
        endpoint: Endpoint,
        url: &Url,
        put: Option<&str>,
        read: impl FnOnce(&[u8]) -> Result<T, Kind> + Send + 'static,
    ) -> Result<Answer<T>, Error>
    where
        T: Send + 'static,
    {
        let permit = match permit {
            Some(permit) => permit,
            None => self.limits.acquire(endpoint).await,
        };
        let (began, sent) = (Instant::now(), clock::now());
        let mut bytes = 0u64;
        let asked = self.ask(permit.class(), url, put, &mut bytes).await;
        let took = began.elapsed();
        let result = match asked {
            Ok((body, date)) => decoded(body, read).await.map(|document| (document, date)),
            Err(kind) => Err(kind),
        };
        // Not before: what is read holds a body, and no more of these are to be held than may be asked for at once.
        drop(permit);
        let outcome = result.as_ref().map_or_else(Kind::label, |_| "ok");
        self.metrics.request(endpoint, outcome, bytes, took);
        let (document, date) = result.map_err(|kind| kind.at(url))?;
        let received = clock::now();
        // By the same clock, which goes on while the machine sleeps.
        let took = Duration::from_millis(received.since(sent).0);
        Ok(Answer { document, frame: Frame { date, received, took, bytes } })
    }

    async fn ask(
        &self,
        class: Class,
        url: &Url,
        put: Option<&str>,
        read: &mut u64,
    ) -> Result<(Vec<u8>, Option<Time>), Kind> {
        let signed = self.params.auth.sign(url.clone());
        let request = match put {
            None => self.client.get(signed),
            Some(body) => self.client.put(signed).header(CONTENT_TYPE, "application/json").body(body.to_owned()),
        };
        let request = request.header(ACCEPT, "application/json, application/xml;q=0.5");
        let response = request.send().await.map_err(|e| self.transport(&e))?;
        let status = response.status();
        let headers = response.headers().clone();
        if status.is_redirection() {
            let location = headers.get(LOCATION).and_then(|l| l.to_str().ok());
            return Err(redirect::judge(url, location, headers.contains_key("refresh"), &self.rms));
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            let after = retry_after(&headers);
            self.limits.pause(class, after.unwrap_or(UNTOLD_PAUSE));
            return Err(Kind::TooManyRequests(after));
        }
        let mut body = Vec::new();
        if !status.is_success() {
            // An error page says what it says at its head: the rest is left, and so is what goes wrong with it.
            let _ = self.body(response, ERROR_PAGE, &mut body, read).await;
            return Err(answer::failure(status.as_u16(), &body));
        }
        let limit = self.params.ceilings.of(class).body_bytes;
        if !self.body(response, limit, &mut body, read).await? {
            self.metrics.limited("body");
            return Err(Kind::TooLarge(limit));
        }
        answer::recognise(&body)?;
        Ok((body, date(&headers)))
    }

    /// Reads a body up to a limit; whether that was all of it.
    async fn body(&self, mut response: Response, limit: u64, body: &mut Vec<u8>, read: &mut u64) -> Result<bool, Kind> {
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    *read += chunk.len() as u64;
                    let room = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(body.len());
                    body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                    if chunk.len() > room {
                        return Ok(false);
                    }
                }
                Ok(None) => return Ok(true),
                Err(e) if e.is_timeout() => return Err(Kind::Timeout(self.params.timeout)),
                Err(e) => return Err(Kind::Truncated(causes(&e))),
            }
        }
    }

    fn transport(&self, error: &reqwest::Error) -> Kind {
        match error {
            e if e.is_connect() && e.is_timeout() => Kind::Unreachable("the connection timed out".to_owned()),
            e if e.is_timeout() => Kind::Timeout(self.params.timeout),
            e if e.is_connect() => match causes(e) {
                // TLS errors come through layers that keep their words only.
                cause if cause.contains("certificate") => Kind::Certificate(cause),
                cause => Kind::Unreachable(cause),
            },
            e => Kind::Protocol(causes(e)),
        }
    }
}

async fn decoded<T: Send + 'static>(
    body: Vec<u8>,
    read: impl FnOnce(&[u8]) -> Result<T, Kind> + Send + 'static,
) -> Result<T, Kind> {
    let length = body.len();
    let read = heavy::ANSWERS.read(length, move || read(&body)).await;
    read.unwrap_or_else(|error| Err(Kind::Malformed(error.to_string())))
}

/// So much of an error's page is read.
const ERROR_PAGE: u64 = 64 << 10;

/// The innermost cause says what happened; the outer ones only that something did.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string().chars().take(160).collect()
}

/// Can the file of certificates be used?
///
/// # Errors
/// Why not.
pub fn check_certificates(file: &PathBuf) -> Result<(), ClientError> {
    certificates(file).map(|_| ())
}

fn certificates(file: &PathBuf) -> Result<Vec<reqwest::Certificate>, ClientError> {
    let wrong = |why: String| ClientError::Certificates { file: file.clone(), why };
    let pem = std::fs::read(file).map_err(|e| wrong(e.to_string()))?;
    let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|e| wrong(e.to_string()))?;
    if found.is_empty() { Err(wrong("it holds no certificate in PEM".to_owned())) } else { Ok(found) }
}

/// Seconds, or a date; at most the longest pause there is.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let asked = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => Duration::from_millis(http_date(text)?.since(clock::now()).0),
    };
    Some(asked.min(LONGEST_PAUSE))
}

fn date(headers: &HeaderMap) -> Option<Time> {
    http_date(headers.get(DATE)?.to_str().ok()?)
}

/// `Fri, 20 Nov 2026 13:47:30 GMT`.
fn http_date(text: &str) -> Option<Time> {
    let at = jiff::fmt::rfc2822::parse(text).ok()?;
    u64::try_from(at.timestamp().as_millisecond()).ok().map(Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().unwrap());
        retry_after(&headers)
    }

    #[test]
    fn a_pause_is_read_in_seconds_or_as_a_date_and_nonsense_is_none() {
        assert_eq!(after("7"), Some(Duration::from_secs(7)));
        assert_eq!(after("999999999"), Some(LONGEST_PAUSE));
        assert_eq!(after("Wed, 21 Oct 2415 07:28:00 GMT"), Some(LONGEST_PAUSE));
        assert_eq!(after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(after("soon"), None);
        assert_eq!(after("-3"), None);
    }

    #[test]
    fn an_http_date_is_read_as_milliseconds_of_the_epoch() {
        assert_eq!(http_date("Sat, 21 Nov 2026 03:10:18 GMT"), Some(Time(1_795_230_618_000)));
        assert_eq!(http_date("yesterday"), None);
    }

    #[test]
    fn a_file_without_certificates_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = certificates(&file.path().to_path_buf()).unwrap_err().to_string();
        assert!(error.contains("no certificate"), "{error}");
    }
}
