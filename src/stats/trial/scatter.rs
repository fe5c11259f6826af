//! How sure a difference between the sides is: each stratum scatters as it does, and jobs left alone scatter more or less than the others by one ratio over all strata.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// One side's logarithms of job times.
#[derive(Clone, Copy)]
pub struct Side {
    pub jobs: usize,
    mean: f64,
    /// Squares of the distances from the mean, summed.
    squares: f64,
}

impl Side {
    fn of(logs: &[f64]) -> Option<Side> {
        let first = *logs.first()?;
        // Reckoned from the first, so that equal times have no scatter at all and not that of rounding.
        let mean = first + logs.iter().map(|log| log - first).sum::<f64>() / logs.len() as f64;
        let squares = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Some(Side { jobs: logs.len(), mean, squares })
    }

    fn count(&self) -> f64 {
        self.jobs as f64
    }

    fn freedom(&self) -> f64 {
        self.count() - 1.0
    }
}

/// Jobs that are set against each other.
#[derive(Clone, Copy)]
pub struct Stratum {
    pub acted: Side,
    pub left: Side,
}

impl Stratum {
    /// `None` where a side has no job, or none has two.
    pub fn of(acted: &[f64], left: &[f64]) -> Option<Stratum> {
        let one = Stratum { acted: Side::of(acted)?, left: Side::of(left)? };
        (one.freedom() > 0.0).then_some(one)
    }

    /// What the difference counts for: most where both sides have many jobs.
    pub fn weight(&self) -> f64 {
        let (acted, left) = (self.acted.count(), self.left.count());
        acted * left / (acted + left)
    }

    /// By how much jobs that may be acted on take longer.
    pub fn difference(&self) -> f64 {
        self.acted.mean - self.left.mean
    }

    fn freedom(&self) -> f64 {
        self.acted.freedom() + self.left.freedom()
    }

    fn scatters(&self) -> bool {
        self.acted.squares + self.left.squares > 0.0
    }

    /// Has either side's job no fellow, so that only the ratio tells how it scatters?
    fn borrows(&self) -> bool {
        self.acted.jobs < 2 || self.left.jobs < 2
    }

    /// What each side adds to the variance of the weighted sum of the differences: of jobs that may be acted on, and of those left alone.
    fn variances(&self, ratio: f64) -> [f64; 2] {
        let scatter = (self.acted.squares + self.left.squares / ratio) / self.freedom();
        let weighted = self.weight().powi(2) * scatter;
        [weighted / self.acted.count(), weighted * ratio / self.left.count()]
    }
}

/// Half of the 95 % interval of the weighted sum of the differences. `None` where no stratum with two jobs on both sides shows how they scatter, or these are
/// too few for others to borrow from: of two on one side and any number on the other there have to be two.
///
/// The degrees of freedom are Satterthwaite's, by what the scatter of each stratum and the ratio are known to: of one stratum it is Welch's interval.
pub fn half_width(strata: &[Stratum]) -> Option<f64> {
    if strata.iter().any(|one| !one.borrows()) && !strata.iter().any(Stratum::scatters) {
        return Some(0.0);
    }
    let ratio = Ratio::of(strata)?;
    let (mut variance, mut by_strata, mut by_ratio) = (0.0, 0.0, 0.0);
    for one in strata {
        let [acted, left] = one.variances(ratio.value);
        let (both, freedom) = (acted + left, one.freedom());
        variance += both;
        by_strata += both * both / freedom;
        // What another ratio changes: with a larger one jobs left alone scatter more, and the stratum, in part read off them, less.
        by_ratio += left - both * one.left.freedom() / freedom;
    }
    let mut freedom = variance * variance / (by_strata + by_ratio * by_ratio / ratio.freedom);
    if strata.iter().any(Stratum::borrows) {
        if ratio.freedom < 1.0 {
            return None;
        }
        // Where few jobs tell the ratio, it may be small by chance, and its part in the variance would then seem to be small for certain.
        freedom = freedom.min(ratio.freedom);
    }
    // Below one the quantile is beyond all use, and not found for certain.
    let quantile = StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok()?.inverse_cdf(0.975);
    Some(quantile * variance.sqrt())
}

/// How jobs left alone scatter beside the others of their stratum.
struct Ratio {
    /// Their variance by that of the others.
    value: f64,
    /// Degrees of freedom that it rests on.
    freedom: f64,
}

impl Ratio {
    /// Beyond that, and below one by it, no ratio is looked for.
    const MOST: f64 = 1e6;
    /// Halvings of the logarithm's range, to the last bit of it.
    const HALVINGS: usize = 60;

    /// The ratio at which the jobs left alone have that share of the squares, over strata with two jobs on both sides, that their degrees of freedom have: whatever the strata's own
    /// scatter, it tips to neither side. `None` where there is no such stratum, or only one side scatters.
    fn of(strata: &[Stratum]) -> Option<Ratio> {
        let tell: Vec<&Stratum> = strata.iter().filter(|one| !one.borrows() && one.scatters()).collect();
        let scatters = |side: fn(&Stratum) -> &Side| tell.iter().any(|one| side(one).squares > 0.0);
        if !scatters(|one| &one.acted) || !scatters(|one| &one.left) {
            return None;
        }
        let known = |one: &Stratum| one.acted.freedom() * one.left.freedom() / one.freedom();
        // Names differ in their ratio, and those that lack fellows are rare: the most frequent one is not to speak for all.
        let says = |one: &Stratum| 1.0 / (1.0 + known(one));
        let sum = |of: &dyn Fn(&Stratum) -> f64| tell.iter().map(|one| of(one)).sum::<f64>();
        let excess = |ratio: f64| {
            let share = |one: &Stratum| one.left.squares / (ratio * one.acted.squares + one.left.squares);
            sum(&|one| says(one) * (one.freedom() * share(one) - one.left.freedom()))
        };
        let (mut low, mut high) = (-Self::MOST.ln(), Self::MOST.ln());
        for _ in 0..Self::HALVINGS {
            let middle = f64::midpoint(low, high);
            if excess(middle.exp()) > 0.0 { low = middle } else { high = middle }
        }
        let freedom = sum(&|one| says(one) * known(one)).powi(2) / sum(&|one| says(one).powi(2) * known(one));
        Some(Ratio { value: f64::midpoint(low, high).exp(), freedom })
    }
}
