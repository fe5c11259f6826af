//! Where copies ran, beside the hosts that their decision had named.

use serde::{Deserialize, Serialize};

/// Launched copies on known hosts. Those whose decision named none to keep off, or none to prefer, are not counted for that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    /// On a host to keep off.
    pub avoided: u32,
    /// On none of these.
    pub kept_off: u32,
    /// On a host to prefer.
    pub preferred: u32,
    /// On another host of such a one's rack.
    pub near: u32,
    /// On none of both.
    pub elsewhere: u32,
}

impl Landed {
    /// Of copies on those hosts, one each; `near` is whether a host is on a preferred one's rack.
    pub fn of<H: PartialEq>(
        hosts: impl IntoIterator<Item = H>,
        avoid: &[H],
        prefer: &[H],
        near: impl Fn(&H) -> bool,
    ) -> Landed {
        let mut landed = Landed::default();
        for host in hosts {
            if !avoid.is_empty() {
                let count = if avoid.contains(&host) { &mut landed.avoided } else { &mut landed.kept_off };
                *count += 1;
            }
            if !prefer.is_empty() {
                let count = match prefer.contains(&host) {
                    true => &mut landed.preferred,
                    false if near(&host) => &mut landed.near,
                    false => &mut landed.elsewhere,
                };
                *count += 1;
            }
        }
        landed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_copy_counts_once_for_the_hosts_to_keep_off_and_once_for_those_to_prefer_where_any_are_named() {
        let near = |host: &&str| ["a", "b"].contains(host);
        let of = |avoid: &[&'static str], prefer: &[&'static str]| {
            let landed = Landed::of(["a", "b", "c", "c"], avoid, prefer, near);
            [landed.avoided, landed.kept_off, landed.preferred, landed.near, landed.elsewhere]
        };
        assert_eq!(of(&["c"], &["a"]), [2, 2, 1, 1, 2]);
        assert_eq!(of(&[], &["a", "c"]), [0, 0, 3, 1, 0]);
        assert_eq!(of(&["d"], &[]), [0, 4, 0, 0, 0]);
    }
}
