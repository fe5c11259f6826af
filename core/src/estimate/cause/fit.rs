//! Mantri, OSDI'10, §4.2, footnote 4: "for each phase, we fit a linear regression model for task lifetime given the size of input and the volume of traffic moved across
//! low bandwidth links".

use super::super::stats::{median, robust_mean_spread};

/// One task: its time, and what it had to do.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// Its time, seconds.
    pub seconds: f64,
    /// Its input, in whatever unit the phase's are told; zero where unknown.
    pub data: f64,
    /// What of that it read over racks. Hadoop's counters do not tell it, so what is seen live has none.
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
    /// The line that residuals are counted from, and those that are kept.
    start: Row<3>,
    kept: (f64, f64),
    /// Sums of products of the kept tasks' rows.
    gram: Gram,
    evidence: u32,
}

type Row<const N: usize> = [f64; N];
/// Of one, data, crossed traffic, and time.
type Gram = [[f64; 4]; 4];

/// Times vary by so much whatever their data: a line through three points that happen to lie on it is no certain one.
const NOISE: f64 = 0.05;
/// Residuals further off than so many standard deviations are stragglers'.
const OUTLIER: f64 = 3.0;
/// The error (of what it tells, one standard deviation) up to which a line is asked: half of what a task's time may be off by.
const ERROR_MAX: f64 = 0.1;

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
        let mut fit =
            Fit { typical, rate, crosses, start: [0.0; 3], kept: (0.0, 0.0), gram: Gram::default(), evidence: 0 };
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
        let squares = [3, 2].into_iter().filter_map(|columns| Some(solve(&all, columns)?.line));
        let lines = [[0.0, self.rate, 0.0]].into_iter().chain(squares).chain([[constant, 0.0, 0.0]]);
        let mut best = f64::INFINITY;
        for line in lines {
            let mut residuals: Vec<f64> = rows.iter().map(|row| row[3] - along(&line, row)).collect();
            let Some((centre, spread)) = robust_mean_spread(&mut residuals) else { continue };
            if spread < best * (1.0 - 1e-9) {
                (best, self.start, self.kept) = (spread, line, (centre, OUTLIER * spread.max(NOISE)));
            }
        }
        for row in &rows {
            if self.keeps(row) {
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

    fn keeps(&self, row: &Row<4>) -> bool {
        (row[3] - along(&self.start, row) - self.kept.0).abs() <= self.kept.1
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
        if of_fit && self.keeps(&row) {
            add(&mut gram, &row, -1.0);
        }
        let told = [3, 2].into_iter().filter(|columns| *columns == 2 || point.crossed.is_some());
        for line in told.filter_map(|columns| solve(&gram, columns)) {
            let (mean, error) = line.at(&row);
            if mean <= 0.0 || error > ERROR_MAX * mean {
                continue;
            }
            if line.line[1..].iter().all(|slope| *slope >= 0.0) {
                return mean;
            }
            // More data takes no less time: such a line says that data does not matter.
            if line.columns == 2 {
                return gram[0][3] / gram[0][0];
            }
        }
        self.rate * row[1]
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

fn along(line: &Row<3>, row: &Row<4>) -> f64 {
    line.iter().zip(row).map(|(slope, value)| slope * value).sum()
}

fn add(gram: &mut Gram, row: &Row<4>, sign: f64) {
    for (sums, one) in gram.iter_mut().zip(row) {
        sums.iter_mut().zip(row).for_each(|(sum, other)| *sum += sign * one * other);
    }
}

/// A line of least squares with the error of what it tells.
struct Line {
    columns: usize,
    line: Row<3>,
    inverse: [[f64; 3]; 3],
    variance: f64,
}

impl Line {
    /// What it tells of such a task, and its standard error.
    fn at(&self, row: &Row<4>) -> (f64, f64) {
        let quadratic: f64 =
            (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| row[i] * self.inverse[i][j] * row[j]).sum();
        (along(&self.line, row), (self.variance * quadratic.max(0.0)).sqrt())
    }
}

/// The normal equations of the first columns. `None` where the tasks are too few, or too alike, to tell.
fn solve(gram: &Gram, columns: usize) -> Option<Line> {
    const LEAST_PIVOT: f64 = 1e-9;
    let count = gram[0][0];
    if count <= columns as f64 {
        return None;
    }
    // Gauss and Jordan: the sums beside what becomes their inverse.
    let mut wide = [[0.0; 6]; 3];
    for i in 0..columns {
        wide[i][..columns].copy_from_slice(&gram[i][..columns]);
        wide[i][3 + i] = 1.0;
    }
    for i in 0..columns {
        let pivot = wide[i][i];
        if pivot <= LEAST_PIVOT * gram[i][i] {
            return None;
        }
        wide[i].iter_mut().for_each(|value| *value /= pivot);
        let row = wide[i];
        for (_, other) in wide.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let times = other[i];
            other.iter_mut().zip(row).for_each(|(value, own)| *value -= times * own);
        }
    }
    let inverse = wide.map(|row| [row[3], row[4], row[5]]);
    let line = inverse.map(|row| (0..3).map(|j| row[j] * gram[j][3]).sum::<f64>());
    let explained: f64 = (0..3).map(|j| line[j] * gram[j][3]).sum();
    let variance = ((gram[3][3] - explained) / (count - columns as f64)).max(NOISE * NOISE);
    Some(Line { columns, line, inverse, variance })
}

#[cfg(test)]
mod tests;
