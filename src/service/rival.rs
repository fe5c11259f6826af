//! Another service on the same cluster.

use super::holds::Holds;
use super::notes::Notes;
use crate::clock;
use crate::shim::Shim;
use std::time::Duration;

const LOOK_FOR_OTHERS: Duration = Duration::from_secs(1);

/// Says so, once each time, when shims report that another service speaks to them; the engine then leaves every job to it.
pub async fn watch_for_others(notes: &Notes, holds: &Holds) {
    let mut known = None;
    loop {
        tokio::time::sleep(LOOK_FOR_OTHERS).await;
        let other = notes.shim.get().and_then(Shim::higher_epoch);
        if other == known {
            continue;
        }
        holds.rival(other, clock::now()).await;
        match other {
            Some(epoch) => tracing::warn!(
                epoch,
                "another Drover service with a higher epoch speaks to this cluster's shims, so this one does not act: stop one of the two; or, where there is \
                 no other, an earlier start of this one had a clock that was ahead: put this machine's clock right, set state.dir, by which a start outranks those \
                 before it, and start the service after that epoch, which is in Unix milliseconds"
            ),
            None => tracing::warn!("no shim has spoken of another Drover service for ten minutes"),
        }
        known = other;
    }
}
