//! Listeners: bound before anything else starts, with a bound on the connections they hold.

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

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
pub async fn serve(
    listener: TcpListener,
    connections: usize,
    router: Router,
    stop: CancellationToken,
) -> io::Result<()> {
    let bounded = Bounded { listener, permits: Arc::new(Semaphore::new(connections)) };
    let service = router.into_make_service_with_connect_info::<Peer>();
    axum::serve(bounded, service).with_graceful_shutdown(stop.cancelled_owned()).await
}

/// A listener that accepts no more connections than it has permits.
struct Bounded {
    listener: TcpListener,
    permits: Arc<Semaphore>,
}

/// A connection with its permit.
struct Held {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
}

impl Listener for Bounded {
    type Io = Held;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Held, SocketAddr) {
        loop {
            // The semaphore is never closed; were it, waiting forever would be the safe answer.
            let Ok(permit) = self.permits.clone().acquire_owned().await else { std::future::pending().await };
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            if stream.set_nodelay(true).is_ok() {
                return (Held { stream, _permit: permit }, peer);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl AsyncRead for Held {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Held {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The address a request came from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

impl Connected<IncomingStream<'_, Bounded>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Bounded>) -> Self {
        Peer(*stream.remote_addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
        let server = tokio::spawn(serve(listener, 1, router, stop.clone()));
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
}
