//! A client of the service's own API.

use super::Common;
use super::output::{Exit, Failure};
use crate::api::{self, ErrorBody};
use crate::config::Config;
use crate::shown::printable;
use crate::yarn::http::{built, causes};
use clap::Args;
use reqwest::redirect::Policy;
use reqwest::{Method, StatusCode, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::net::IpAddr;
use std::time::Duration;
use url::Url;

const PATIENCE: Duration = Duration::from_secs(10);
/// For a report: what the service gives itself, and the way.
const REPORT_PATIENCE: Duration = api::report::PATIENCE.saturating_add(Duration::from_secs(5));

/// Longest answer that is read: a page of tasks has some MiB. Whatever has the port of the service may send without end.
const BODY_MAX: usize = 64 << 20;

/// A running service.
pub struct Client {
    http: reqwest::Client,
    base: Url,
}

/// Why the service did not answer.
#[derive(Debug)]
pub enum NoAnswer {
    /// Nothing listens there.
    NobodyThere {
        /// In words, with what to do.
        message: String,
        /// What the system says.
        why: String,
    },
    /// Something else.
    Other(Failure),
}

impl From<NoAnswer> for Failure {
    fn from(why: NoAnswer) -> Failure {
        match why {
            NoAnswer::NobodyThere { message, .. } => Failure::new(Exit::Unreachable, message),
            NoAnswer::Other(failure) => failure,
        }
    }
}

impl NoAnswer {
    /// The failure, in these words where nobody is there: for what no look at the cluster itself could tell.
    pub fn or(self, nobody: impl FnOnce() -> String) -> Failure {
        match self {
            NoAnswer::NobodyThere { why, .. } => Failure::new(Exit::Unreachable, format!("{} ({why})", nobody())),
            other => other.into(),
        }
    }

    /// May the same service answer in a while? In words, if so.
    pub fn passing(&self) -> Option<&str> {
        match self {
            NoAnswer::NobodyThere { .. } => Some("no service answers any more"),
            NoAnswer::Other(failure) => (failure.exit == Exit::Unreachable).then_some(&*failure.message),
        }
    }
}

/// Which service to ask.
#[derive(Debug, Args)]
pub struct Service {
    /// Address of the service [default: where listen.api says]
    #[arg(long, value_name = "URL", value_parser = service_url)]
    service: Option<Url>,
}

impl Service {
    /// A client of it; the configuration is read only where no service is named.
    pub fn client(&self, common: &Common) -> Result<Client, Failure> {
        match &self.service {
            Some(base) => Client::new(base.clone()),
            None => {
                let hint = |failure: Failure| Failure {
                    message: format!("{}\n--service URL needs no configuration", failure.message),
                    ..failure
                };
                Client::of(&common.load().map_err(hint)?.config)
            }
        }
    }

    /// The same, with a configuration that has been read.
    pub fn client_with(&self, config: &Config) -> Result<Client, Failure> {
        self.service.clone().map_or_else(|| Client::of(config), Client::new)
    }

    /// Is one named?
    pub fn is_named(&self) -> bool {
        self.service.is_some()
    }
}

/// An address that can be asked; a proxy may serve it below a path. Drover sends nobody's name and password, and shows none.
fn service_url(text: &str) -> Result<Url, String> {
    let is_one = |url: &Url| {
        let plain = url.username().is_empty() && url.password().is_none();
        let whole = url.query().is_none() && url.fragment().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && plain && whole
    };
    let url = Url::parse(text).ok().filter(is_one);
    let mut url = url.ok_or_else(|| "write http://HOST:PORT, without a user's name".to_owned())?;
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

/// Where a service with this configuration answers.
fn address(config: &Config) -> Option<Url> {
    let api = config.listen.api;
    let host = match api.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".to_owned(),
        IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".to_owned(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    Url::parse(&format!("http://{host}:{}", api.port())).ok()
}

impl Client {
    /// A client of the service with this configuration.
    pub fn of(config: &Config) -> Result<Client, Failure> {
        let base = address(config).ok_or_else(|| Failure::new(Exit::Usage, "listen.api names no address to ask at"))?;
        Client::new(base)
    }

    /// A client of the service at that address, which ends in a slash.
    pub fn new(base: Url) -> Result<Client, Failure> {
        // What was meant for this service is nobody else's.
        let http = built(|| reqwest::Client::builder().no_proxy().redirect(Policy::none()));
        let failed = |error| Failure::new(Exit::Failed, format!("cannot set up an HTTP client: {}", causes(&error)));
        let http = http.map_err(failed)?;
        Ok(Client { http, base })
    }

    /// Where it is.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// What it answers at a path below its address.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, NoAnswer> {
        self.ask(Method::GET, self.at(path)?, None::<&()>, PATIENCE).await
    }

    /// The same, of a report over as long a time as anybody likes.
    pub async fn get_report<T: DeserializeOwned>(&self, path: &str) -> Result<T, NoAnswer> {
        self.ask(Method::GET, self.at(path)?, None::<&()>, REPORT_PATIENCE).await
    }

    /// What it answers to something sent there.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, NoAnswer> {
        self.ask(Method::POST, self.at(path)?, Some(body), PATIENCE).await
    }

    /// What it answers when that is to go; the last part of the path may be any text.
    pub async fn delete<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, NoAnswer> {
        let mut url = self.base.clone();
        let no_path = |()| other(Exit::Usage, format!("{} is no address of a service", self.base));
        url.path_segments_mut().map_err(no_path)?.pop_if_empty().extend(path);
        self.ask(Method::DELETE, url, None::<&()>, PATIENCE).await
    }

    fn at(&self, path: &str) -> Result<Url, NoAnswer> {
        self.base.join(path).map_err(|error| other(Exit::Usage, format!("{path}: {error}")))
    }

    fn unreachable(&self, error: &reqwest::Error, url: &Url, looks: bool, patience: Duration) -> NoAnswer {
        let why = causes(error);
        // What was sent may be read in a while.
        let done = if looks { "" } else { "; what was asked for may still be done: `drover status` tells" };
        if why.contains("certificate") {
            let hint = "have this machine trust the authority that signed it, or name a file with its certificate (PEM) in SSL_CERT_FILE";
            return other(Exit::Unreachable, format!("{}: {why}; {hint}", self.base));
        }
        if error.is_timeout() && !error.is_connect() {
            let what = format!("{url}: no answer within {} s{done}", patience.as_secs());
            return other(Exit::Unreachable, what);
        }
        if !error.is_connect() {
            return other(Exit::Unreachable, format!("{url}: {why}; is that a Drover service?{done}"));
        }
        let hint = match looks {
            true => {
                "start one with `drover serve`, name another with --service URL, or look straight at the cluster with --from-cluster"
            }
            false => "start one with `drover serve`, or name another with --service URL",
        };
        NoAnswer::NobodyThere { message: format!("no service answers at {} ({why}); {hint}", self.base), why }
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        body: Option<&impl Serialize>,
        patience: Duration,
    ) -> Result<T, NoAnswer> {
        let looks = method == Method::GET;
        let request = self.http.request(method, url.clone()).timeout(patience);
        let request = if let Some(body) = body { request.json(body) } else { request };
        let unreachable = |error: reqwest::Error| self.unreachable(&error, &url, looks, patience);
        let mut answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        if status.is_redirection() {
            let to = answer.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            let what =
                format!("{url} sends to {}; is that a Drover service? Name it with --service URL", printable(to));
            return Err(other(Exit::Failed, what));
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > BODY_MAX {
                let what = format!("{url} answers with more than {} MiB; is that a Drover service?", BODY_MAX >> 20);
                return Err(other(Exit::Failed, what));
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_success() {
            let wrong = |error| format!("{url} does not answer as a Drover service of this version does: {error}");
            return serde_json::from_slice(&body).map_err(|error| other(Exit::Failed, wrong(error)));
        }
        Err(refused(&url, status, &body))
    }
}

/// What an answer that is no success comes to.
fn refused(url: &Url, status: StatusCode, body: &[u8]) -> NoAnswer {
    let said = serde_json::from_slice::<ErrorBody>(body);
    // Whatever has the port of the service may answer.
    let shown = |text: &str| text.lines().map(printable).collect::<Vec<_>>().join("\n");
    match said.map(|said| ErrorBody { message: shown(&said.message), ..said }) {
        Ok(error) if error.error == "not_found" => {
            other(Exit::Failed, format!("{url}: there is nothing at this address; is that where listen.api listens?"))
        }
        Ok(error) if status == StatusCode::NOT_FOUND => other(Exit::Unknown, error.message),
        Ok(error) if matches!(&*error.error, "busy" | "not_ready") => other(Exit::Unreachable, error.message),
        Ok(error) if error.error == "timeout" => {
            let hint = "ask again when it has less to do; of a report, ask for less, as with --since";
            other(Exit::Unreachable, format!("{url} took longer than a service gives one answer; {hint}"))
        }
        Ok(error) if status == StatusCode::BAD_REQUEST => other(Exit::Usage, error.message),
        Ok(error) => other(Exit::Failed, error.message),
        Err(_) => other(Exit::Failed, format!("{url} answers {status}; is that a Drover service?")),
    }
}

fn other(exit: Exit, message: String) -> NoAnswer {
    NoAnswer::Other(Failure::new(exit, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_was_cut_short_says_to_ask_for_less_and_what_is_no_service_is_not_taken_for_one() {
        let said = |status: u16, body: &str| {
            let url = Url::parse("http://127.0.0.1:7070/api/v1/report").unwrap();
            let failure = Failure::from(refused(&url, StatusCode::from_u16(status).unwrap(), body.as_bytes()));
            (failure.exit, failure.message)
        };
        let (exit, message) = said(503, r#"{"error": "timeout", "message": "no answer within 75 s"}"#);
        assert!(exit == Exit::Unreachable && message.contains("ask for less, as with --since"), "{message}");
        for body in ["", "<html>"] {
            assert!(said(503, body).1.ends_with("is that a Drover service?"));
        }
        let (exit, message) = said(404, r#"{"error": "unknown_job", "message": "no such job"}"#);
        assert_eq!((exit as u8, &*message), (Exit::Unknown as u8, "no such job"));
        for passing in ["busy", "not_ready"] {
            let body = format!(r#"{{"error": "{passing}", "message": "later"}}"#);
            assert_eq!(said(503, &body), (Exit::Unreachable, "later".into()));
        }
        let (exit, message) = said(404, r#"{"error": "not_found", "message": "nothing"}"#);
        assert!(exit == Exit::Failed && message.contains("listen.api"), "{message}");
        assert_eq!(said(400, r#"{"error": "bad_request", "message": "for: 1"}"#).0, Exit::Usage);
    }

    #[tokio::test]
    async fn an_answer_without_end_is_read_no_further_than_one_may_be_long() {
        use axum::body::{Body, Bytes};
        let endless = || async {
            let piece = Bytes::from(vec![b' '; 1 << 20]);
            Body::from_stream(futures::stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone())))
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let router = axum::Router::new().fallback(endless);
        tokio::spawn(async move { axum::serve(listener, router).await });
        let answer = Client::new(base).unwrap().get::<serde_json::Value>("api/v1/status").await;
        let failure = Failure::from(answer.unwrap_err());
        assert!(failure.exit == Exit::Failed && failure.message.contains("more than 64 MiB"), "{}", failure.message);
    }

    #[tokio::test]
    async fn what_is_sent_to_a_service_goes_nowhere_else_and_its_words_move_no_terminal() {
        use axum::http::StatusCode;
        use axum::response::Redirect;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base: Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = asked.clone();
        let router = axum::Router::new()
            .route("/api/v1/holds", axum::routing::post(|| async { Redirect::temporary("/elsewhere") }))
            .route(
                "/elsewhere",
                axum::routing::post(async move || count.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string()),
            )
            .fallback(|| async { (StatusCode::CONFLICT, "{\"error\": \"x\", \"message\": \"a\\u001b[31mb\"}") });
        tokio::spawn(async move { axum::serve(listener, router).await });
        let client = Client::new(base).unwrap();
        let held = client.post::<serde_json::Value>("api/v1/holds", &()).await;
        let failure = Failure::from(held.unwrap_err());
        assert!(failure.exit == Exit::Failed && failure.message.contains("sends to /elsewhere"), "{}", failure.message);
        assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 0);
        let refused = Failure::from(client.get::<serde_json::Value>("other").await.unwrap_err());
        assert!(!refused.message.contains('\u{1b}') && refused.message.contains("[31mb"), "{}", refused.message);
    }

    #[test]
    fn an_address_may_have_a_path_which_every_request_goes_below_and_no_password() {
        for (text, expected) in [("http://h:1", "http://h:1/a/b"), ("http://h:1/drover", "http://h:1/drover/a/b")] {
            let client = Client::new(service_url(text).unwrap()).unwrap();
            assert_eq!(client.at("a/b").unwrap().as_str(), expected);
        }
        for wrong in ["http://u:p@h:1", "http://u@h", "http://h/?a=b", "h:1", "ftp://h"] {
            assert!(service_url(wrong).unwrap_err().contains("HOST:PORT"), "{wrong}");
        }
    }
}
