//! What the length of an input split makes of a run over it.

use super::runs::Run;
use crate::model::Bytes;

/// How many times the typical split one is, be it less or more; `None` where they are not told.
pub fn share(split: Bytes, typical: Bytes) -> Option<f64> {
    (split.0 > 0 && typical.0 > 0).then(|| split.0 as f64 / typical.0 as f64)
}

/// Does a split of that length tell how long a typical one takes? A run over less than a quarter of it is mostly the start of its JVM, unless that is `told` from work.
pub fn tells_pace(split: Bytes, typical: Bytes, told: bool) -> bool {
    const LEAST: f64 = 0.25;
    told || share(split, typical).is_none_or(|share| share >= LEAST)
}

/// Those of these runs, each with its seconds, whose splits tell; all where none does.
pub fn telling<'a>(
    runs: impl Iterator<Item = (f64, &'a Run)> + Clone,
    typical: Bytes,
    told: bool,
) -> impl Iterator<Item = (f64, &'a Run)> {
    let tells = move |run: &Run| tells_pace(run.input, typical, told);
    let any = runs.clone().any(|(_, run)| tells(run));
    runs.filter(move |(_, run)| !any || tells(run))
}
