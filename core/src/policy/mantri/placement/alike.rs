//! Reduces that all read the same, as where nobody has told their sizes: how many go to each rack is all that matters, and the best numbers are found at once.

use super::Links;

/// `count` reduces that each read `row` bytes, by rack.
struct Alike<'a> {
    row: &'a [f64],
    all: f64,
    count: u32,
    links: &'a [Links],
}

/// How many of `count` reduces that each read `row` bytes from each rack go to each, and the longest transfer over any link, seconds: the least there is. Takes some
/// 64 looks at the racks, and one for each reduce.
pub(super) fn counts(row: &[f64], count: u32, links: &[Links]) -> (Vec<u32>, f64) {
    let alike = Alike { row, all: row.iter().sum(), count, links };
    // Numbers that are not below zero stand in the order of their bits; whatever the numbers, nothing takes as long as infinity.
    let (mut least, mut enough) = (0, f64::INFINITY.to_bits());
    while least < enough {
        let half = least + (enough - least) / 2;
        if alike.within(f64::from_bits(half)).is_some() { enough = half } else { least = half + 1 }
    }
    let (mut on, most) = alike.within(f64::from_bits(enough)).unwrap_or_default();
    for _ in on.iter().sum()..count {
        let open = (0..on.len()).filter(|rack| on[*rack] < most[*rack]);
        let after = |rack: &usize| alike.inbound(*rack, on[*rack] + 1);
        let Some(rack) = open.min_by(|a, b| after(a).total_cmp(&after(b))) else { break };
        on[rack] += 1;
    }
    let transfers = (0..on.len()).map(|rack| alike.outbound(rack, on[rack]).max(alike.inbound(rack, on[rack])));
    let seconds = transfers.fold(0.0, f64::max);
    (on, seconds)
}

impl Alike<'_> {
    /// What leaves a rack with so many, seconds: the more are there, the less.
    fn outbound(&self, rack: usize, there: u32) -> f64 {
        self.row[rack] * f64::from(self.count - there) / self.links[rack].up
    }

    /// What comes into it, seconds: the more are there, the more.
    fn inbound(&self, rack: usize, there: u32) -> f64 {
        (self.all - self.row[rack]).max(0.0) * f64::from(there) / self.links[rack].down
    }

    /// The fewest and the most on each rack for which no link takes longer; `None` where so many cannot be placed.
    fn within(&self, seconds: f64) -> Option<(Vec<u32>, Vec<u32>)> {
        let bounds = |rack: usize| {
            let fewest = first(self.count, |there| self.outbound(rack, there) <= seconds);
            let most = first(self.count, |there| self.inbound(rack, there + 1) > seconds);
            (fewest <= most).then_some((fewest, most))
        };
        let (fewest, most): (Vec<u32>, Vec<u32>) =
            (0..self.links.len()).map(bounds).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let sum = |all: &[u32]| all.iter().map(|one| u64::from(*one)).sum::<u64>();
        (sum(&fewest) <= self.count.into() && u64::from(self.count) <= sum(&most)).then_some((fewest, most))
    }
}

/// The first number for which it holds, as for all after it; `most` where for none before that.
fn first(most: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut least, mut enough) = (0, most);
    while least < enough {
        let half = least + (enough - least) / 2;
        if holds(half) { enough = half } else { least = half + 1 }
    }
    enough
}
