//! One process at a time: a lock that ends with whoever has it, however that ends.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock that this file stands for, which is made if it is not there. Another process may be just ending: it is given so long.
///
/// # Errors
/// `WouldBlock` where another one has it; and where the file cannot be made, or its file system has no locks.
pub fn take(path: &Path, patience: Duration) -> io::Result<Lock> {
    const AGAIN: Duration = Duration::from_millis(100);
    // Another user's, as of a service that once ran as root, need not be written to.
    let open = || OpenOptions::new().create(true).append(true).open(path);
    let file = open().or_else(|error| File::open(path).map_err(|_| error))?;
    let until = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(error) if error == Errno::WOULDBLOCK && Instant::now() < until => std::thread::sleep(AGAIN),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_is_kept_out_until_the_first_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one.lock");
        let first = take(&path, Duration::ZERO).unwrap();
        assert_eq!(take(&path, Duration::ZERO).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(first);
        take(&path, Duration::ZERO).unwrap();
        take(&dir.path().join("none/one.lock"), Duration::ZERO).unwrap_err();
    }
}
