//! Work that would hold up others on the same thread.

use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};

/// A document from which on its reading does: 1 MiB of JSON takes some 5 ms.
pub const LARGE: usize = 256 << 10;

/// Documents of one origin. Large ones are read a few at once, for each takes several times its bytes of memory while it is, and each origin has places of its own, so that none waits for another's.
pub struct Lane(Semaphore);

/// Answers of the cluster's servers.
pub static ANSWERS: Lane = Lane::new();
/// What shims, and whoever passes for one, tell.
pub static BODIES: Lane = Lane::new();

impl Lane {
    const fn new() -> Lane {
        Lane(Semaphore::const_new(2))
    }

    /// Reads a document of so many bytes, a large one on a thread for that. One that is begun is read on though whoever asked has gone.
    ///
    /// # Errors
    /// Where a large one's reading panicked, or the runtime is stopping.
    pub async fn read<T: Send + 'static>(
        &'static self,
        bytes: usize,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        if bytes < LARGE {
            return Ok(read());
        }
        // It is never closed.
        let place = self.0.acquire().await.ok();
        let read = move || {
            let _place = place;
            read()
        };
        spawn_blocking(read).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn large_documents_are_read_two_at_once_and_small_ones_do_not_wait_for_them() {
        static LANE: Lane = Lane::new();
        let reading = LANE.0.acquire_many(2).await.unwrap();
        let (small, mut large) = (LANE.read(LARGE - 1, || 1), Box::pin(LANE.read(LARGE, || 2)));
        assert_eq!(small.now_or_never().map(Result::unwrap), Some(1));
        assert!(large.as_mut().now_or_never().is_none());
        drop(reading);
        assert_eq!(large.await.unwrap(), 2);
    }

    #[tokio::test]
    async fn a_document_that_is_being_read_keeps_its_place_though_whoever_asked_has_gone() {
        static LANE: Lane = Lane::new();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let mut left = Box::pin(LANE.read(LARGE, move || released.recv()));
        assert!(left.as_mut().now_or_never().is_none());
        drop(left);
        assert_eq!(LANE.0.available_permits(), 1);
        release.send(()).unwrap();
        LANE.0.acquire_many(2).await.unwrap().forget();
    }
}
