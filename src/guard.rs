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
                // A request that comes byte by byte is not to hold its place for ever.
                let by = (Instant::now() + self.idle).min(self.served + 2 * self.idle);
                self.timer.as_mut().reset(by);
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

    const IDLE: Duration = Duration::from_millis(200);

    async fn pair() -> (Guarded, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Guard::new(listener, 1, IDLE).accept().await.0, client)
    }

    /// For how long a connection lasts whose peer sends a byte now and then, answered where `answers`; twelve bytes at most.
    async fn lasts(answers: bool) -> Duration {
        let ((mut guarded, mut client), began) = (pair().await, Instant::now());
        let peer = tokio::spawn(async move {
            for _ in 0..12 {
                let _ = client.write_all(b"G").await;
                tokio::time::sleep(IDLE / 4).await;
            }
        });
        while guarded.read_u8().await.is_ok() {
            if answers {
                guarded.write_all(b"1").await.unwrap();
            }
        }
        peer.abort();
        began.elapsed()
    }

    #[tokio::test]
    async fn a_request_that_comes_byte_by_byte_holds_its_connection_for_a_while_only() {
        let (unanswered, answered) = tokio::join!(lasts(false), lasts(true));
        assert!(unanswered >= 2 * IDLE && unanswered < 5 * IDLE / 2, "{unanswered:?}");
        assert!(answered >= 11 * IDLE / 4, "{answered:?}");
    }
}
