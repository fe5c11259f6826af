//! Connections, within limits: so many at once, and none that stays silent for long.

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
    /// At most `connections` at once; each is closed after `idle` without a byte either way.
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
        (Guarded { stream, timer, idle: self.idle, _permit: permit }, peer)
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
    _permit: Option<OwnedSemaphorePermit>,
}

impl Guarded {
    /// Progress starts the timer anew; without progress, has it run out?
    fn watch<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match result {
            Poll::Ready(result) => {
                self.timer.as_mut().reset(Instant::now() + self.idle);
                Poll::Ready(result)
            }
            Poll::Pending => self.timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
        }
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
        self.watch(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(cx, result)
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
