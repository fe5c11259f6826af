//! Lines of least squares through tasks: time by one, data and crossed traffic.

pub(super) type Row<const N: usize> = [f64; N];
/// Of one, data, crossed traffic, and time.
pub(super) type Gram = [[f64; 4]; 4];

/// Times vary by so much whatever their data: a line through three points that happen to lie on it is no certain one.
pub(super) const NOISE: f64 = 0.05;
/// The error (of what it tells, one standard deviation) up to which a line is asked: half of what a task's time may be off by.
const ERROR_MAX: f64 = 0.1;

pub(super) fn along(line: &Row<3>, row: &Row<4>) -> f64 {
    line.iter().zip(row).map(|(slope, value)| slope * value).sum()
}

pub(super) fn add(gram: &mut Gram, row: &Row<4>, sign: f64) {
    for (sums, one) in gram.iter_mut().zip(row) {
        sums.iter_mut().zip(row).for_each(|(sum, other)| *sum += sign * one * other);
    }
}

/// What a line is of, among one, data and crossed traffic: with a start and both rates;
pub(super) const WHOLE: &[usize] = &[0, 1, 2];
/// without a start, which tasks of equal data do not tell from the time for their data;
pub(super) const RATES: &[usize] = &[1, 2];
/// and of data alone.
pub(super) const STRAIGHT: &[usize] = &[0, 1];

/// A line of least squares with the error of what it tells.
pub(super) struct Line {
    pub line: Row<3>,
    inverse: [[f64; 3]; 3],
    variance: f64,
}

impl Line {
    /// What it tells of such a task, if that is more than nothing and its error small.
    pub fn tells(&self, row: &Row<4>) -> Option<f64> {
        let (mean, error) = self.at(row);
        (mean > 0.0 && error <= ERROR_MAX * mean).then_some(mean)
    }

    /// Neither more data nor more traffic takes less time.
    pub fn rises(&self) -> bool {
        self.line[1..].iter().all(|slope| *slope >= 0.0)
    }

    /// What it tells of such a task, and its standard error.
    pub fn at(&self, row: &Row<4>) -> (f64, f64) {
        let quadratic: f64 =
            (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| row[i] * self.inverse[i][j] * row[j]).sum();
        (along(&self.line, row), (self.variance * quadratic.max(0.0)).sqrt())
    }
}

/// The normal equations of some columns. `None` where the tasks are too few, or too alike, to tell.
pub(super) fn solve(gram: &Gram, columns: &[usize]) -> Option<Line> {
    const LEAST_PIVOT: f64 = 1e-9;
    let (count, unknown) = (gram[0][0], columns.len());
    if count <= unknown as f64 {
        return None;
    }
    // Gauss and Jordan: the sums beside what becomes their inverse.
    let mut wide = [[0.0; 6]; 3];
    for (i, column) in columns.iter().enumerate() {
        columns.iter().enumerate().for_each(|(j, other)| wide[i][j] = gram[*column][*other]);
        wide[i][3 + i] = 1.0;
    }
    for (i, column) in columns.iter().enumerate() {
        let pivot = wide[i][i];
        if pivot <= LEAST_PIVOT * gram[*column][*column] {
            return None;
        }
        wide[i].iter_mut().for_each(|value| *value /= pivot);
        let row = wide[i];
        for (_, other) in wide.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let times = other[i];
            other.iter_mut().zip(row).for_each(|(value, own)| *value -= times * own);
        }
    }
    let mut inverse = [[0.0; 3]; 3];
    for (i, column) in columns.iter().enumerate() {
        columns.iter().enumerate().for_each(|(j, other)| inverse[*column][*other] = wide[i][3 + j]);
    }
    let line = inverse.map(|row| (0..3).map(|j| row[j] * gram[j][3]).sum::<f64>());
    let explained: f64 = (0..3).map(|j| line[j] * gram[j][3]).sum();
    let variance = ((gram[3][3] - explained) / (count - unknown as f64)).max(NOISE * NOISE);
    Some(Line { line, inverse, variance })
}
