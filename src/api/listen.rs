//! Listeners: bound before anything else starts, with bounds on the connections they hold.

use crate::guard::{Bounds, Guard, Peer};
use axum::Router;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A connection is closed after so long without a byte: longer than a request may take, and than most scrapes are apart.
pub const IDLE: Duration = Duration::from_secs(90);

/// A listener that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {why}; {fix}")]
pub struct ListenError {
    /// The address.
    pub address: SocketAddr,
    /// What the system says.
    pub why: io::Error,
    /// What to change.
    pub fix: String,
}

/// Binds an address that the setting `key` names.
pub async fn bind(key: &str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).await.map_err(|why| {
        let fix = match why.kind() {
            io::ErrorKind::AddrInUse => format!(
                "another process has it. Stop that one, or choose another port with --set {key}={}:PORT (0 takes a free one)",
                address.ip()
            ),
            io::ErrorKind::PermissionDenied => format!("ports below 1024 need privileges; choose another with --set {key}=…"),
            _ => format!("set {key} to an address of this machine"),
        };
        ListenError { address, why, fix }
    })
}

/// Serves until told to stop; then lets open requests end.
pub async fn serve(listener: TcpListener, bounds: Bounds, router: Router, stop: CancellationToken) -> io::Result<()> {
    let service = router.into_make_service_with_connect_info::<Peer>();
    axum::serve(Guard::new(listener, &bounds), service).with_graceful_shutdown(stop.cancelled_owned()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    fn bounds(connections: usize, idle: Duration) -> Bounds {
        let refused = prometheus::IntCounter::new("refused", "refused").unwrap();
        Bounds { connections, idle, key: "listen.connections", refused }
    }

    #[tokio::test]
    async fn a_port_in_use_names_the_setting() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let text = bind("listen.api", taken.local_addr().unwrap()).await.unwrap_err().to_string();
        assert!(text.contains("another process has it") && text.contains("--set listen.api=127.0.0.1:PORT"), "{text}");
    }

    #[tokio::test]
    async fn no_more_connections_are_accepted_than_allowed() {
        let listener = bind("listen.api", "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let router = Router::new().route("/", axum::routing::get(|| async { "yes" }));
        let server = tokio::spawn(serve(listener, bounds(1, IDLE), router, stop.clone()));
        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut byte = [0; 1];
        first.read_exact(&mut byte).await.unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let early = tokio::time::timeout(std::time::Duration::from_millis(100), second.read_exact(&mut byte)).await;
        assert!(early.is_err(), "the second connection was served beside the first");
        drop(first);
        let mut answer = String::new();
        second.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("yes"), "{answer}");
        stop.cancel();
        server.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn connections_that_say_nothing_or_half_a_request_do_not_keep_their_places() {
        let listener = bind("listen.metrics", "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", axum::routing::get(|| async { "yes" }));
        let serving = serve(listener, bounds(2, Duration::from_millis(200)), router, CancellationToken::new());
        let server = tokio::spawn(serving);
        let silent = TcpStream::connect(address).await.unwrap();
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
        let mut scrape = TcpStream::connect(address).await.unwrap();
        scrape.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        scrape.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("yes"), "{answer}");
        drop((silent, half));
        server.abort();
    }
}
