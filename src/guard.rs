//! Connections, within limits: so many at once, and none that stays silent for long, or takes long to ask.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
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
    idle: Duration,
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

impl Guard {
    /// At most `connections` at once; each is closed after `idle` without a byte either way, and after twice that without one towards the peer.
    pub fn new(listener: TcpListener, connections: usize, idle: Duration) -> Guard {
        let slots = Arc::new(Semaphore::new(connections.clamp(1, Semaphore::MAX_PERMITS)));
        Guard { listener, slots, idle }
    }
}

impl Listener for Guard {
    type Io = Guarded;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guarded, SocketAddr) {
        // The semaphore is never closed; without a permit, what follows is one connection too many, and no more.
        let permit = Arc::clone(&self.slots).acquire_owned().await.ok();
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        // An answer is one small write: waiting to fill a segment would only delay it.
        let _ = stream.set_nodelay(true);
        let timer = Box::pin(tokio::time::sleep(self.idle));
        (Guarded { stream, timer, idle: self.idle, served: Instant::now(), _permit: permit }, peer)
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

    async fn pair(idle: Duration) -> (Guarded, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Guard::new(listener, 1, idle).accept().await.0, client)
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
