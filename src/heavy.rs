//! Work that would hold up others on the same thread.

use tokio::task::{JoinError, spawn_blocking};

/// A document from which on its reading does: 1 MiB of JSON takes some 5 ms.
pub const LARGE: usize = 256 << 10;

/// Reads a document of so many bytes, a large one on a thread for that.
///
/// # Errors
/// Where a large one's reading panicked, or the runtime is stopping.
pub async fn read<T: Send + 'static>(bytes: usize, read: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
    if bytes < LARGE { Ok(read()) } else { spawn_blocking(read).await }
}
