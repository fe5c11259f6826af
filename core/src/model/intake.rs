//! How much of their input attempts have taken in. Kept beside the attempts: it is asked for a few of them only.

use super::id::{AttemptId, TaskKind};
use super::observation::AttemptFact;
use super::state::AttemptState;
use super::track::Stamp;
use super::units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// What an attempt's counters told at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Intake {
    /// Bytes a map has read, or a reduce shuffled; zero where its input format does not count them.
    pub bytes: Bytes,
    /// Records read.
    pub records: u64,
    /// Of the bytes those that crossed racks, where a source counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossed: Option<Bytes>,
    /// When that was last seen, the AM's clock.
    pub at: Stamp,
    /// When it was first seen, likewise: since then at least nothing more has come.
    #[serde(default)]
    pub since: Stamp,
}

impl Intake {
    fn told(bytes: Bytes, records: u64, crossed: Option<Bytes>, at: Time) -> Intake {
        let mut told = Intake { bytes, records, crossed, ..Intake::default() };
        told.at.earliest(Some(at));
        Intake { since: told.at, ..told }
    }
}

/// The newest of an attempt's intakes and a few before it: over these its pace is averaged (Mantri §5.5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recent {
    #[serde(flatten)]
    newest: Intake,
    /// Newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<Intake>,
}

impl Recent {
    /// A moving average over four reports spans three of their intervals: an attempt that turns slow is seen to after as many, and one late report moves it little.
    const BEFORE: usize = 3;

    /// Folds in one more. What was told again holds from its latest time.
    fn learn(&mut self, told: Intake) {
        let amount = |intake: &Intake| (intake.bytes, intake.records, intake.crossed);
        let mut known = std::iter::once(&mut self.newest).chain(&mut self.before);
        if let Some(known) = known.find(|known| amount(known) == amount(&told)) {
            known.at.latest(told.at.get());
            known.since.earliest(told.since.get());
            return;
        }
        let newer = |known: &&Intake| amount(known) > amount(&told);
        let place = usize::from(newer(&&self.newest)) + self.before.iter().take_while(newer).count();
        if place > Self::BEFORE {
            return;
        }
        // Not the room of a vector that grows: there may be as many of these as suspects.
        match self.before.len() {
            Self::BEFORE => self.before.truncate(Self::BEFORE - 1),
            _ => self.before.reserve_exact(1),
        }
        match place.checked_sub(1) {
            Some(place) => self.before.insert(place, told),
            None => self.before.insert(0, std::mem::replace(&mut self.newest, told)),
        }
    }
}

/// The intakes known of one job's attempts. Like all that is known of attempts they may be told in any order, and repeated.
/// Ordered by attempt, in a vector: for the one or two suspects that most jobs have, a tree would take ten times the room.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Intakes(Vec<(AttemptId, Recent)>);

impl Intakes {
    /// A job's intakes are asked for by us, or are those of running suspects: so few that this is hardly reached; beyond it those of the first attempts are kept.
    const MAX: usize = 1_000;
    /// A job's first so many reduces are followed whatever their pace, as nobody tells a reduce's input beforehand; of others those that lag, so that these alone are a fair sample.
    pub const SAMPLE: u32 = 4;

    /// Folds in an attempt's counters, which held at `at` on the AM's clock.
    pub fn learn(&mut self, id: AttemptId, fact: &AttemptFact, at: Time) {
        let records = fact.counters.records;
        let bytes = bytes(fact);
        if bytes.is_some() || records.is_some() {
            let (bytes, records) = (bytes.unwrap_or_default(), records.unwrap_or(0));
            self.fold(self.place(id), id, Intake::told(bytes, records, fact.counters.crossed, at));
        }
    }

    /// The same of a source that tells of a counter only when it has changed, as a shim does, and of very many attempts: what its row leaves out is as it was. Nothing before it has told of
    /// bytes. Of an attempt of which nothing is known it is learned where that one `begins` to be followed.
    pub fn follow(&mut self, id: AttemptId, fact: &AttemptFact, begins: bool, at: Time) {
        let place = self.place(id);
        let known = place.ok().map(|at| self.0[at].1.newest);
        // A map that has ended leaves its split's length; what crossed racks is told by nothing else.
        let ended = fact.kind == TaskKind::Map && fact.state.is_some_and(AttemptState::is_final);
        if ended && known.is_none_or(|intake| intake.crossed.is_none()) {
            place.into_iter().for_each(|at| drop(self.0.remove(at)));
            return;
        }
        let bytes = bytes(fact).or(known.map(|intake| intake.bytes));
        if let Some(bytes) = bytes.filter(|_| begins || known.is_some()) {
            let records = fact.counters.records.or(known.map(|intake| intake.records)).unwrap_or(0);
            let crossed = fact.counters.crossed.or(known.and_then(|intake| intake.crossed));
            self.fold(place, id, Intake::told(bytes, records, crossed, at));
        }
    }

    fn fold(&mut self, place: Result<usize, usize>, id: AttemptId, told: Intake) {
        match place {
            Ok(at) => self.0[at].1.learn(told),
            Err(at) => {
                if self.0.len() == self.0.capacity() {
                    // A vector's own doubling would waste up to half of it.
                    self.0.reserve_exact(1 + self.0.len() / 4);
                }
                self.0.insert(at, (id, Recent { newest: told, before: Vec::new() }));
            }
        }
        self.0.truncate(Self::MAX);
    }

    fn place(&self, id: AttemptId) -> Result<usize, usize> {
        // All are of one job.
        let of_job = |id: AttemptId| (id.task.kind, id.task.index, id.number);
        self.0.binary_search_by_key(&of_job(id), |(known, _)| of_job(*known))
    }

    fn get(&self, id: AttemptId) -> Option<&Recent> {
        self.place(id).ok().map(|at| &self.0[at].1)
    }

    /// All that an attempt which ended at `ended` has read; `None` while its counters were last told before that.
    pub fn whole(&self, id: AttemptId, ended: Time) -> Option<Intake> {
        self.of(id).filter(|intake| intake.at.get().is_some_and(|at| at >= ended))
    }

    /// What is known of an attempt; `None` before any counter was told.
    pub fn of(&self, id: AttemptId) -> Option<Intake> {
        self.get(id).map(|recent| recent.newest)
    }

    /// Share (0–1) of what an attempt has read that crossed racks, where a source counts that.
    pub fn crossed(&self, id: AttemptId) -> Option<f64> {
        let intake = self.of(id).filter(|intake| intake.bytes.0 > 0)?;
        Some((intake.crossed?.0 as f64 / intake.bytes.0 as f64).min(1.0))
    }

    /// The newest few, newest first, each with less than the one before it.
    pub fn recent(&self, id: AttemptId) -> impl Iterator<Item = &Intake> {
        self.get(id).into_iter().flat_map(|recent| std::iter::once(&recent.newest).chain(&recent.before))
    }
}

/// What an attempt has taken in, as told: a map's input, what a reduce has shuffled. A reduce's file systems count what it reads of them, which is none of its input.
fn bytes(fact: &AttemptFact) -> Option<Bytes> {
    let counters = fact.counters;
    match fact.kind {
        TaskKind::Map => counters.read.or(counters.shuffled),
        TaskKind::Reduce => counters.shuffled.or(counters.read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;
    use proptest::prelude::*;

    fn fact(id: AttemptId, bytes: Option<u64>, records: Option<u64>) -> AttemptFact {
        let mut fact = AttemptFact::of(id);
        (fact.counters.read, fact.counters.records) = (bytes.map(Bytes), records);
        fact
    }

    fn attempt(index: u32) -> AttemptId {
        "job_1795000000000_0001".parse::<JobId>().unwrap().task(TaskKind::Map, index).attempt(0)
    }

    #[test]
    fn a_counter_of_zero_is_known_and_one_not_told_is_not() {
        let mut intakes = Intakes::default();
        intakes.learn(attempt(0), &fact(attempt(0), None, None), Time(5));
        intakes.learn(attempt(1), &fact(attempt(1), Some(0), None), Time(5));
        assert_eq!(intakes.of(attempt(0)), None);
        assert_eq!(intakes.of(attempt(1)).unwrap().bytes, Bytes(0));
    }

    #[test]
    fn what_an_attempt_had_read_before_its_end_is_not_all_of_it() {
        let mut intakes = Intakes::default();
        intakes.learn(attempt(0), &fact(attempt(0), None, Some(33)), Time(5));
        assert_eq!(intakes.whole(attempt(0), Time(9)), None);
        intakes.learn(attempt(0), &fact(attempt(0), None, Some(33)), Time(9));
        assert_eq!(intakes.whole(attempt(0), Time(9)).unwrap().records, 33);
    }

    #[test]
    fn the_newest_four_reports_of_an_attempt_are_kept_and_what_was_told_again_holds_from_its_latest_time() {
        let mut intakes = Intakes::default();
        for (bytes, at) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (3, 9)] {
            intakes.learn(attempt(0), &fact(attempt(0), Some(bytes), None), Time(at));
        }
        let kept: Vec<_> =
            intakes.recent(attempt(0)).map(|intake| (intake.bytes.0, intake.at.get().unwrap().0)).collect();
        assert_eq!(kept, [(5, 5), (4, 4), (3, 9), (2, 2)]);
        let json = serde_json::to_string(&intakes).unwrap();
        assert_eq!(serde_json::from_str::<Intakes>(&json).unwrap(), intakes);
    }

    #[test]
    fn what_a_row_of_changes_leaves_out_is_as_it_was_and_records_alone_show_no_pace() {
        let (id, mut intakes) = (attempt(0), Intakes::default());
        let told = [(None, Some(3), 1), (Some(10), Some(4), 2), (None, Some(5), 3), (None, None, 4)];
        for (bytes, records, at) in told {
            intakes.follow(id, &fact(id, bytes, records), true, Time(at));
        }
        let kept: Vec<_> = intakes.recent(id).map(|one| (one.bytes.0, one.records, one.at.get().unwrap().0)).collect();
        assert_eq!(kept, [(10, 5, 4), (10, 4, 2)]);
        let over = AttemptFact { state: Some(AttemptState::Succeeded), ..fact(id, Some(11), None) };
        intakes.follow(id, &over, true, Time(5));
        assert_eq!(intakes, Intakes::default());
    }

    #[test]
    fn what_is_followed_stays_so_and_what_crossed_racks_is_kept_beyond_a_maps_end() {
        let (id, mut intakes) = (attempt(0), Intakes::default());
        let read = |intakes: &Intakes| intakes.of(id).map(|intake| intake.bytes.0);
        intakes.follow(id, &fact(id, Some(1), None), false, Time(1));
        assert_eq!(read(&intakes), None);
        intakes.follow(id, &fact(id, Some(2), None), true, Time(2));
        let mut crossed = AttemptFact { state: Some(AttemptState::Running), ..fact(id, Some(3), None) };
        crossed.counters.crossed = Some(Bytes(1));
        intakes.follow(id, &crossed, false, Time(3));
        crossed.state = Some(AttemptState::Succeeded);
        intakes.follow(id, &crossed, false, Time(4));
        assert_eq!(read(&intakes), Some(3));
    }

    #[test]
    fn what_a_reduce_reads_of_file_systems_is_not_taken_for_what_it_shuffles() {
        let id = attempt(0).task.job.task(TaskKind::Reduce, 0).attempt(0);
        let mut reduce = fact(id, Some(0), None);
        reduce.counters.shuffled = Some(Bytes(400));
        let mut intakes = Intakes::default();
        intakes.learn(id, &reduce, Time(5));
        assert_eq!(intakes.of(id).unwrap().bytes, Bytes(400));
    }

    #[test]
    fn room_is_made_a_quarter_ahead_and_only_once_there_is_none() {
        let mut intakes = Intakes::default();
        let mut rooms: Vec<usize> = (0..200)
            .map(|index| {
                intakes.learn(attempt(index), &fact(attempt(index), Some(1), None), Time(5));
                intakes.0.capacity()
            })
            .collect();
        assert!((1..=200).zip(&rooms).all(|(len, room)| *room <= len + len / 4 + 1));
        rooms.dedup();
        assert!(rooms.len() < 30, "{rooms:?}");
    }

    #[test]
    fn no_job_can_make_more_of_them_than_the_limit() {
        let mut intakes = Intakes::default();
        for index in (0..3_000).rev() {
            intakes.learn(attempt(index), &fact(attempt(index), Some(1), None), Time(5));
        }
        assert_eq!(intakes.0.len(), Intakes::MAX);
        assert!(intakes.of(attempt(0)).is_some() && intakes.of(attempt(2_999)).is_none());
    }

    proptest! {
        #[test]
        fn intakes_fold_to_the_same_in_any_order(
            told in prop::collection::vec((0u32..3, 0u64..5, 0u64..5, 1u64..50), 0..24),
            shuffled in Just(()).prop_perturb(|(), mut rng| rng.random::<u64>()),
        ) {
            let fold = |order: &[(u32, u64, u64, u64)]| {
                let mut intakes = Intakes::default();
                for (index, bytes, records, at) in order {
                    intakes.learn(attempt(*index), &fact(attempt(*index), Some(*bytes), Some(*records)), Time(*at));
                }
                intakes
            };
            let mut other = told.clone();
            other.rotate_left((shuffled % (told.len() as u64).max(1)) as usize);
            other.reverse();
            prop_assert_eq!(fold(&told), fold(&other));
        }
    }

    #[test]
    fn of_what_has_read_nothing_no_share_crossed_racks() {
        let (id, mut intakes) = (attempt(0), Intakes::default());
        for (bytes, share) in [(0, None), (8, Some(0.5))] {
            let mut told = fact(id, Some(bytes), None);
            told.counters.crossed = Some(Bytes(bytes / 2));
            intakes.learn(id, &told, Time(5));
            assert_eq!(intakes.crossed(id), share);
        }
    }
}
