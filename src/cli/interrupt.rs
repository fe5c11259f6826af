//! The user's Ctrl-C: what is done is kept.

use super::output::Failure;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first Ctrl-C, upon which nothing more is to begin; the second ends the process.
pub fn stop_on_ctrl_c() -> Result<Arc<AtomicBool>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    std::thread::spawn(move || {
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                asked.store(true, Ordering::Relaxed);
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        });
    });
    Ok(stop)
}
