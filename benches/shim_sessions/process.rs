//! What a process has used, from `/proc`.

use std::fs;

/// CPU and memory of a process.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// CPU, user and system, seconds.
    pub cpu_s: f64,
    /// Memory resident now, KiB.
    pub rss_kib: u64,
    /// Most memory ever resident, KiB.
    pub peak_kib: u64,
}

impl Usage {
    /// Of this process.
    pub fn of_self() -> Usage {
        Usage::read("self")
    }

    /// Of another one.
    pub fn of(pid: u32) -> Usage {
        Usage::read(&pid.to_string())
    }

    fn read(process: &str) -> Usage {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // Fields after the parenthesised name: utime and stime are the 12th and 13th, in hundredths of a second.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |n: usize| fields.get(n).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().nth(0)?.parse().ok()).unwrap_or(0)
        };
        Usage { cpu_s: (ticks(11) + ticks(12)) as f64 / 100.0, rss_kib: kib("VmRSS:"), peak_kib: kib("VmHWM:") }
    }

    /// CPU used since an earlier reading; memory as it is now.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage { cpu_s: self.cpu_s - earlier.cpu_s, ..*self }
    }
}
