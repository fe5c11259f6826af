//! Mantri, OSDI'10, §4.2, footnote 4: "for each phase, we fit a linear regression model for task lifetime given the size of input and the volume of traffic moved across
//! low bandwidth links".

mod line;

use super::super::stats::{median, robust_mean_spread};
use line::{Gram, NOISE, RATES, Row, STRAIGHT, WHOLE, add, along, solve};

/// One task: its time, and what it had to do.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// Its time, seconds.
    pub seconds: f64,
    /// Its input, in whatever unit the phase's are told; zero where unknown.
    pub data: f64,
    /// What of that it read over racks; `None` where nobody can say.
    pub crossed: Option<f64>,
}

/// The regression of a phase's times on its tasks' data. Everything is counted in typical tasks: times in the median time, data in the median data.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Medians; data of one where no task tells any.
    typical: Point,
    /// Median time for a typical task's data.
    rate: f64,
    /// Every task tells what it read over racks.
    crosses: bool,
    /// The line that residuals are counted from.
    start: Start,
    /// Sums of products of the kept tasks' rows.
    gram: Gram,
    evidence: u32,
}

/// Residuals further off than so many standard deviations are stragglers'.
const OUTLIER: f64 = 3.0;
/// One or two tasks that crossed racks and took long may have taken long for anything.
const SEVERAL: usize = 3;

impl Fit {
    /// Ordinary least squares over the phase's tasks; then again without those whose residuals lie more than three robust standard deviations (of the median absolute
    /// deviation) off, since the stragglers are what the line is to be set against. `None` without tasks.
    pub fn new(points: &[Point]) -> Option<Fit> {
        let mut points = points.to_vec();
        // Sums depend on their order, and the answer is not to.
        let key = |point: &Point| [point.data, point.seconds, point.crossed.unwrap_or(-1.0)];
        points.sort_unstable_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(a[2].total_cmp(&b[2]))
        });
        let medians = |of: fn(&Point) -> f64| median(&mut points.iter().map(of).collect::<Vec<_>>());
        let seconds = medians(|point| point.seconds).filter(|seconds| *seconds > 0.0)?;
        points.retain(|point| point.data > 0.0);
        let crosses = !points.is_empty() && points.iter().all(|point| point.crossed.is_some());
        let of = |of: fn(&Point) -> f64| median(&mut points.iter().map(of).collect::<Vec<_>>()).unwrap_or(1.0);
        let crossed = crosses.then(|| of(|point| point.crossed.unwrap_or(0.0)));
        let typical = Point { seconds, data: of(|point| point.data), crossed };
        let rates = points.iter().map(|point| point.seconds / seconds * typical.data / point.data);
        let rate = median(&mut rates.collect::<Vec<_>>()).unwrap_or(0.0);
        let start = Start::default();
        let mut fit = Fit { typical, rate, crosses, start, gram: Gram::default(), evidence: 0 };
        fit.settle(&points);
        Some(fit)
    }

    /// Chooses the line to start from, and sums over what lies near it.
    fn settle(&mut self, points: &[Point]) {
        let rows: Vec<Row<4>> = points.iter().map(|point| self.row(point)).collect();
        let mut all = Gram::default();
        rows.iter().for_each(|row| add(&mut all, row, 1.0));
        // A straggler among few tasks can pull a line of least squares through itself: of the lines that could be, the one that most tasks lie near.
        let constant = median(&mut rows.iter().map(|row| row[3]).collect::<Vec<_>>()).unwrap_or(0.0);
        let squares = |columns| Start::new(solve(&all, columns)?.line, &rows);
        let constants = [[0.0, self.rate, 0.0], [constant, 0.0, 0.0]].map(|line| Start::new(line, &rows));
        let lines = [constants[0], squares(WHOLE), squares(RATES), squares(STRAIGHT), constants[1]];
        let nearer = |best: Start, one: Start| if one.spread < best.spread * (1.0 - 1e-9) { one } else { best };
        let Some(best) = lines.into_iter().flatten().reduce(nearer) else { return };
        // A few tasks whose input crossed racks look like stragglers to a line that knows nothing of racks: one that has a place for several of them tells more.
        let kept = |start: &Start| rows.iter().filter(|row| start.keeps(row)).count();
        let wider = |one: &Start| one.spread <= best.spread.max(NOISE) && kept(one) >= kept(&best) + SEVERAL;
        self.start = [WHOLE, RATES].into_iter().filter_map(squares).find(wider).unwrap_or(best);
        for row in &rows {
            if self.start.keeps(row) {
                add(&mut self.gram, row, 1.0);
                self.evidence += 1;
            }
        }
    }

    /// One, data and crossed traffic in the median data, time in the median time.
    fn row(&self, point: &Point) -> Row<4> {
        let crossed = point.crossed.filter(|_| self.crosses).unwrap_or(0.0);
        let Point { seconds, data, .. } = self.typical;
        [1.0, point.data / data, crossed / data, point.seconds / seconds]
    }

    /// The time, seconds, that the phase lets expect of a task with such data. Told by the line where its own error there is small; else time is taken to grow with the data
    /// (Mantri §5.5, eq. 3: processRate · d), as where all tasks have about the same. `of_fit`: the task is one of those fitted, and is left out, so as not to explain itself.
    pub fn expected(&self, point: &Point, of_fit: bool) -> f64 {
        let told = (point.data > 0.0).then(|| self.told(point, of_fit));
        told.filter(|times| *times > 0.0).unwrap_or(1.0) * self.typical.seconds
    }

    /// The same in typical tasks; zero where no task tells of its data, or only those do that took no time.
    fn told(&self, point: &Point, of_fit: bool) -> f64 {
        let (row, mut gram) = (self.row(point), self.gram);
        if of_fit && self.start.keeps(&row) {
            add(&mut gram, &row, -1.0);
        }
        let told =
            [WHOLE, RATES, STRAIGHT].into_iter().filter(|columns| *columns == STRAIGHT || point.crossed.is_some());
        for (columns, line) in told.filter_map(|columns| Some((columns, solve(&gram, columns)?))) {
            let Some(mean) = line.tells(&row) else { continue };
            if line.rises() {
                return mean;
            }
            // More data takes no less time: such a line says that data does not matter.
            if columns == STRAIGHT {
                return gram[0][3] / gram[0][0];
            }
        }
        self.rate * row[1]
    }

    /// What the network is to a task of typical data of which that share (0–1) would cross racks: how much of a typical task's time its peers took to bring theirs over racks,
    /// and how much this one's would take, both as shares of that time. `None` where no line tells it.
    pub fn path(&self, share: f64) -> Option<(f64, f64)> {
        let usual = self.typical.crossed? / self.typical.data;
        [WHOLE, RATES].into_iter().filter_map(|columns| solve(&self.gram, columns)).find_map(|line| {
            let of = |share| line.tells(&[1.0, 1.0, share, 0.0]).filter(|_| line.rises());
            let (usual, here, without) = (of(usual)?, of(share)?, of(0.0)?);
            Some(((usual - without) / usual, (here - without) / usual))
        })
    }

    /// The time, seconds, that it lets expect of a task with the phase's typical data.
    pub fn typical(&self) -> f64 {
        self.expected(&self.typical, false)
    }

    /// How many tasks' data and time it rests on.
    pub fn evidence(&self) -> u32 {
        self.evidence
    }
}

/// A line to start from, and what lies near it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Start {
    line: Row<3>,
    /// Of the residuals: median, spread, and how far from the median one may lie.
    centre: f64,
    spread: f64,
    within: f64,
}

impl Start {
    fn new(line: Row<3>, rows: &[Row<4>]) -> Option<Start> {
        let mut residuals: Vec<f64> = rows.iter().map(|row| row[3] - along(&line, row)).collect();
        let (centre, spread) = robust_mean_spread(&mut residuals)?;
        Some(Start { line, centre, spread, within: OUTLIER * spread.max(NOISE) })
    }

    fn keeps(&self, row: &Row<4>) -> bool {
        (row[3] - along(&self.line, row) - self.centre).abs() <= self.within
    }
}

#[cfg(test)]
mod tests;
