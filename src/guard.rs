//! Connections, within limits: so many at once, of one address half of them, and none that stays silent for long, or takes long to ask.

mod peers;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use peers::{Peers, Place};
use prometheus::IntCounter;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

/// A listener whose connections are counted and timed.
pub struct Guard {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    peers: Arc<Peers>,
    idle: Duration,
}

/// What a listener bears.
#[derive(Clone)]
pub struct Bounds {
    /// Connections at once.
    pub connections: usize,
    /// Each is closed after so long without a byte either way, and after twice that without one towards the peer.
    pub idle: Duration,
    /// The setting that says how many.
    pub key: &'static str,
    /// Counts those that are refused as their address has too many.
    pub refused: IntCounter,
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

impl Guard {
    /// Within these bounds.
    pub fn new(listener: TcpListener, bounds: &Bounds) -> Guard {
        let slots = Arc::new(Semaphore::new(bounds.connections.clamp(1, Semaphore::MAX_PERMITS)));
        let peers = Arc::new(Peers::new(bounds, |address| address.is_loopback()));
        Guard { listener, slots, peers, idle: bounds.idle }
    }
}

impl Listener for Guard {
    type Io = Guarded;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guarded, SocketAddr) {
        // The semaphore is never closed; without a permit, what follows is one connection too many, and no more.
        let permit = Arc::clone(&self.slots).acquire_owned().await.ok();
        let (stream, peer, place) = loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            match self.peers.take(peer.ip()) {
                Some(place) => break (stream, peer, place),
                None => self.peers.refuse(stream),
            }
        };
        // An answer is one small write: waiting to fill a segment would only delay it.
        let _ = stream.set_nodelay(true);
        let timer = Box::pin(tokio::time::sleep(self.idle));
        (Guarded { stream, timer, idle: self.idle, served: Instant::now(), _place: place, _permit: permit }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, Guard>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Guard>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

/// A counted and timed connection.
pub struct Guarded {
    stream: TcpStream,
    timer: Pin<Box<Sleep>>,
    idle: Duration,
    /// When the peer was last told something; before, when it came.
    served: Instant,
    _place: Place,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Guarded {
    /// Progress starts the timer anew; without progress, has it run out?
    fn watch<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match result {
            Poll::Ready(result) => {
                self.timer.as_mut().reset(closes_at(Instant::now(), self.served, self.idle));
                Poll::Ready(result)
            }
            Poll::Pending => self.timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
        }
    }

    fn watch_written(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if result.is_ready() {
            self.served = Instant::now();
        }
        self.watch(cx, result)
    }
}

/// When a connection on which something came or went just now is closed: a request that comes byte by byte is not to hold its place for ever.
fn closes_at(now: Instant, served: Instant, idle: Duration) -> Instant {
    (now + idle).min(served + 2 * idle)
}

impl AsyncRead for Guarded {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.watch(cx, result)
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch_written(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch_written(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    pub fn bounds(connections: usize, idle: Duration) -> Bounds {
        let refused = IntCounter::new("refused", "refused").unwrap();
        Bounds { connections, idle, key: "listen.connections", refused }
    }

    async fn pair(idle: Duration) -> (Guarded, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Guard::new(listener, &bounds(1, idle)).accept().await.0, client)
    }

    #[tokio::test]
    async fn a_request_that_comes_byte_by_byte_holds_its_connection_for_a_while_only() {
        let idle = Duration::from_millis(200);
        let (mut guarded, mut client) = pair(idle).await;
        // It would go on for a minute, and is never silent for long.
        let peer = tokio::spawn(async move {
            for _ in 0..1_200 {
                let _ = client.write_all(b"G").await;
                tokio::time::sleep(idle / 4).await;
            }
        });
        let mut read = 0;
        while guarded.read_u8().await.is_ok() {
            read += 1;
        }
        peer.abort();
        assert!(read < 1_200, "{read}");
    }

    #[tokio::test]
    async fn an_address_that_has_half_of_the_places_is_refused_more_and_told_so_and_counted_until_it_has_closed_one() {
        let bounds = bounds(2, Duration::from_secs(60));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let peers = Arc::new(Peers::new(&bounds, |_| false));
        let mut guard = Guard { peers, ..Guard::new(listener, &bounds) };
        let _client = TcpStream::connect(address).await.unwrap();
        let (first, _) = guard.accept().await;
        let next = tokio::spawn(async move { guard.accept().await.1 });
        let mut refused = TcpStream::connect(address).await.unwrap();
        refused.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
        let mut answer = String::new();
        refused.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("half of listen.connections"), "{answer}");
        let body = answer.split("\r\n\r\n").nth(1).unwrap();
        assert!(answer.contains(&format!("Content-Length: {}\r\n", body.len())), "{answer}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["error"], "too_many_connections");
        assert_eq!(bounds.refused.get(), 1);
        drop(first);
        let third = TcpStream::connect(address).await.unwrap();
        assert_eq!(next.await.unwrap(), third.local_addr().unwrap());
    }

    #[tokio::test]
    async fn what_is_answered_may_go_on() {
        let idle = Duration::from_secs(60);
        let (mut guarded, _client) = pair(idle).await;
        let came = guarded.served;
        tokio::time::sleep(Duration::from_millis(2)).await;
        guarded.write_all(b"1").await.unwrap();
        let told = guarded.served;
        assert!(told > came);
        assert_eq!(closes_at(told, told, idle), told + idle);
        assert_eq!(closes_at(told + 3 * idle / 2, told, idle), told + 2 * idle, "not a byte has been answered since");
    }
}
