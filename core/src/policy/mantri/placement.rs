//! Network-aware placement of reduces (Mantri, OSDI'10, §5.2): each reduce on the rack that keeps the slowest of all rack links fastest.

mod alike;

/// What a rack's links still carry, bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Links {
    /// b_u: out of the rack.
    pub up: f64,
    /// b_d: into it.
    pub down: f64,
}

/// Where each reduce goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// The rack of each reduce, by its place.
    pub racks: Vec<usize>,
    /// The longest transfer over any link, seconds.
    pub seconds: f64,
    /// No placement is faster than this, seconds; the same where this one is the best.
    pub bound: f64,
}

/// §5.2: links as measured when the phase starts where it is short, equal ones where it moves more than `short` bytes, for then their use by others evens out.
pub fn expected_links(measured: &[Links], bytes: f64, short: f64) -> Vec<Links> {
    if bytes <= short || measured.is_empty() {
        return measured.to_vec();
    }
    let all = measured.iter().flat_map(|links| [links.up, links.down]);
    let mean = all.sum::<f64>() / (2 * measured.len()) as f64;
    vec![Links { up: mean, down: mean }; measured.len()]
}

/// Links that are looked at before the best so far is taken: some tens of milliseconds.
const LOOKS_MAX: usize = 600_000;

/// Phases of more reduces are not searched through: each is a call within the one before.
const DEPTH_MAX: usize = 1_000;

/// §5.2: arg min max_j c_j, where c_{2i−1} = d_u^i / b_u^i and c_{2i} = d_d^i / b_d^i, over every placement of the reduces on racks. `inputs` is I: what each reduce (a
/// row) has to read from each rack, bytes. Exact where all rows are alike, and where that takes no more than so many looks, which Mantri's own greedy search is not; else the best found, with a bound. `None` for
/// rows that are not as long as there are racks, and without racks.
pub fn place(inputs: &[Vec<f64>], links: &[Links]) -> Option<Placement> {
    if links.is_empty() || inputs.iter().any(|row| row.len() != links.len()) {
        return None;
    }
    if inputs.iter().all(|row| *row == inputs[0]) {
        let none = vec![0.0; links.len()];
        return Some(place_alike(inputs.first().unwrap_or(&none), inputs.len() as u32, links));
    }
    // The largest first: what is decided last should matter least. Equal rows stand together, and may change places without changing anything.
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    let total = |row: &usize| inputs[*row].iter().sum::<f64>();
    let by_content = |a: &usize, b: &usize| {
        let differs = inputs[*a].iter().zip(&inputs[*b]).map(|(a, b)| a.total_cmp(b)).find(|one| one.is_ne());
        total(b).total_cmp(&total(a)).then(differs.unwrap_or(a.cmp(b)))
    };
    order.sort_by(by_content);
    let mut search = Search::new(inputs, links, &order);
    search.best = Some(search.at_first(&order));
    if inputs.len() > DEPTH_MAX {
        search.looks = LOOKS_MAX;
    }
    search.deeper(0, 0.0);
    let (racks, seconds) = search.best.take().unwrap_or_default();
    let exact = search.looks < LOOKS_MAX;
    let mut placed = vec![0; inputs.len()];
    order.iter().zip(&racks).for_each(|(row, rack)| placed[*row] = *rack);
    Some(Placement { racks: placed, seconds, bound: if exact { seconds } else { bound(inputs, links).min(seconds) } })
}

/// The same of `count` reduces that all read `row`, which is as long as there are racks.
pub fn place_alike(row: &[f64], count: u32, links: &[Links]) -> Placement {
    let (on, seconds) = alike::counts(row, count, links);
    let racks = on.iter().enumerate().flat_map(|(rack, there)| (0..*there).map(move |_| rack));
    Placement { racks: racks.collect(), seconds, bound: seconds }
}

/// Depth first over the rows in order, leaving out what cannot be better than the best so far: no link's transfer shrinks when another reduce is placed.
struct Search<'a> {
    rows: Vec<&'a [f64]>,
    links: &'a [Links],
    out: Vec<f64>,
    into: Vec<f64>,
    chosen: Vec<usize>,
    best: Option<(Vec<usize>, f64)>,
    looks: usize,
}

impl<'a> Search<'a> {
    fn new(inputs: &'a [Vec<f64>], links: &'a [Links], order: &[usize]) -> Search<'a> {
        let rows = order.iter().map(|row| inputs[*row].as_slice()).collect();
        let none = vec![0.0; links.len()];
        Search { rows, links, out: none.clone(), into: none, chosen: Vec::new(), best: None, looks: 0 }
    }

    /// Adds the row's traffic if it goes to that rack, or takes it away again.
    fn shift(&mut self, row: usize, rack: usize, sign: f64) {
        for (from, bytes) in self.rows[row].iter().enumerate().filter(|(from, _)| *from != rack) {
            self.out[from] += sign * bytes;
            self.into[rack] += sign * bytes;
        }
    }

    /// The longest transfer over any link so far, seconds.
    fn slowest(&self) -> f64 {
        let out = self.out.iter().zip(self.links).map(|(bytes, links)| bytes / links.up);
        let into = self.into.iter().zip(self.links).map(|(bytes, links)| bytes / links.down);
        out.chain(into).fold(0.0, f64::max)
    }

    /// The longest transfer over any link if the row goes to each rack in turn, seconds.
    fn costs(&self, row: usize) -> Vec<f64> {
        let (bytes, all) = (self.rows[row], self.rows[row].iter().sum::<f64>());
        let elsewhere = |rack: usize| {
            let (out, into) = (self.out[rack] + bytes[rack], self.into[rack]);
            (out / self.links[rack].up).max(into / self.links[rack].down)
        };
        let here = |rack: usize| {
            let (out, into) = (self.out[rack], self.into[rack] + (all - bytes[rack]));
            (out / self.links[rack].up).max(into / self.links[rack].down)
        };
        // Of the racks that it does not go to the slowest: the slowest of all, or for that one the next.
        let (mut slowest, mut next) = ((0, 0.0), 0.0_f64);
        for (rack, seconds) in (0..self.links.len()).map(elsewhere).enumerate() {
            if seconds > slowest.1 {
                (slowest, next) = ((rack, seconds), slowest.1);
            } else {
                next = next.max(seconds);
            }
        }
        let others = |rack: usize| if rack == slowest.0 { next } else { slowest.1 };
        (0..self.links.len()).map(|rack| here(rack).max(others(rack))).collect()
    }

    /// The best of what is found in one go, of the same number on each rack, and of the numbers that would be best were all alike.
    fn at_first(&mut self, order: &[usize]) -> (Vec<usize>, f64) {
        let all = [self.greedily(), self.evenly(order), self.as_though_alike()];
        let better = |best: (Vec<usize>, f64), other: (Vec<usize>, f64)| if other.1 < best.1 { other } else { best };
        all.into_iter().reduce(better).unwrap_or_default()
    }

    /// The reduces by their numbers on one rack after the other.
    fn evenly(&mut self, order: &[usize]) -> (Vec<usize>, f64) {
        let racks: Vec<usize> = order.iter().map(|number| number % self.links.len()).collect();
        racks.iter().enumerate().for_each(|(row, rack)| self.shift(row, *rack, 1.0));
        self.ended(racks)
    }

    /// As many on each rack as were best if each row were the mean one, the largest rows where most are still to go.
    fn as_though_alike(&mut self) -> (Vec<usize>, f64) {
        let count = self.rows.len().max(1) as f64;
        let mean: Vec<f64> =
            (0..self.links.len()).map(|rack| self.rows.iter().map(|row| row[rack]).sum::<f64>() / count).collect();
        let (mut open, _) = alike::counts(&mean, self.rows.len() as u32, self.links);
        let mut racks = Vec::new();
        for row in 0..self.rows.len() {
            let rack = (0..open.len()).rev().max_by_key(|rack| open[*rack]).unwrap_or(0);
            open[rack] = open[rack].saturating_sub(1);
            self.shift(row, rack, 1.0);
            racks.push(rack);
        }
        self.ended(racks)
    }

    /// Each row in turn where it hurts least now.
    fn greedily(&mut self) -> (Vec<usize>, f64) {
        let mut racks = Vec::new();
        for row in 0..self.rows.len() {
            let costs = self.costs(row);
            let rack = (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b])).unwrap_or(0);
            self.shift(row, rack, 1.0);
            racks.push(rack);
        }
        self.ended(racks)
    }

    /// How long that takes; nothing is placed again.
    fn ended(&mut self, racks: Vec<usize>) -> (Vec<usize>, f64) {
        let seconds = self.slowest();
        self.out.fill(0.0);
        self.into.fill(0.0);
        (racks, seconds)
    }

    fn deeper(&mut self, row: usize, so_far: f64) {
        if self.looks >= LOOKS_MAX {
            return;
        }
        self.looks += self.links.len();
        if row == self.rows.len() {
            self.best = Some((self.chosen.clone(), so_far));
            return;
        }
        let twin = row > 0 && self.rows[row] == self.rows[row - 1];
        let first = if twin { self.chosen[row - 1] } else { 0 };
        for (rack, seconds) in self.costs(row).into_iter().enumerate().skip(first) {
            // What rounding alone makes faster is not.
            if self.best.as_ref().is_none_or(|(_, best)| seconds < best * (1.0 - 1e-12)) {
                self.shift(row, rack, 1.0);
                self.chosen.push(rack);
                self.deeper(row + 1, seconds);
                self.chosen.pop();
                self.shift(row, rack, -1.0);
            }
        }
    }
}

/// Whatever the placement: what no reduce can have on its own rack crosses some uplink and some downlink, and each reduce alone takes its time.
fn bound(inputs: &[Vec<f64>], links: &[Links]) -> f64 {
    let crosses = |row: &Vec<f64>| row.iter().sum::<f64>() - row.iter().copied().fold(0.0, f64::max);
    let crossing: f64 = inputs.iter().map(crosses).sum();
    let all = |of: fn(&Links) -> f64| crossing / links.iter().map(of).sum::<f64>();
    let alone = |row: &Vec<f64>| {
        let at = |rack: usize| {
            let others = row.iter().enumerate().filter(|(from, _)| *from != rack);
            let out = others.clone().map(|(from, bytes)| bytes / links[from].up).fold(0.0, f64::max);
            (others.map(|(_, bytes)| bytes).sum::<f64>() / links[rack].down).max(out)
        };
        (0..links.len()).map(at).fold(f64::INFINITY, f64::min)
    };
    inputs.iter().map(alone).fold(all(|links| links.up).max(all(|links| links.down)), f64::max)
}

#[cfg(test)]
mod tests;
