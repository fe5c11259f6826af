//! File descriptors: each connection takes one, and the ledger, the recording and requests to the cluster need theirs.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// For files, requests to the cluster and the runtime.
const OWN: u64 = 256;

/// Has this process hold as many as it may be given; how many that are, `None` where there is no limit. As shipped most systems give 1,024, and more to whoever asks.
pub fn raise() -> Option<u64> {
    let known = getrlimit(Resource::Nofile);
    if known.current != known.maximum {
        // Where that is refused it stays as it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: known.maximum, ..known });
    }
    getrlimit(Resource::Nofile).current
}

/// Of so many connections of shims those for which there are descriptors beside the service's own and those of two other listeners, of so many connections each; at least one.
pub fn for_shims(limit: Option<u64>, wanted: usize, of_others: u64) -> usize {
    let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(OWN).saturating_sub(2 * of_others));
    wanted.min(usize::try_from(left).unwrap_or(usize::MAX)).max(1)
}

/// Says what there is too little of.
pub fn warn(limit: Option<u64>, wanted: usize, given: usize) {
    if given < wanted {
        tracing::warn!(
            limit,
            shim.connections = wanted,
            given,
            "too few file descriptors for as many connections of shims as are set: those beyond wait; raise the limit (LimitNOFILE of its unit, ulimit -n), or set shim.connections lower"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_as_high_as_this_process_may_have_it() {
        let most = getrlimit(Resource::Nofile).maximum;
        assert_eq!(raise(), most);
    }

    #[test]
    fn shims_leave_descriptors_to_all_else() {
        assert_eq!(for_shims(None, 16_384, 256), 16_384);
        assert_eq!(for_shims(Some(65_536), 16_384, 256), 16_384);
        assert_eq!(for_shims(Some(1_024), 16_384, 256), 256);
        assert_eq!(for_shims(Some(64), 16_384, 256), 1);
    }
}
