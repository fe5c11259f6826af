use super::*;
use crate::estimate::Sample;
use crate::estimate::phase::{PhaseTimes, Shape};
use crate::model::{AttemptFact, JobFact, JobPhase, JobSettings, Task, TaskFact, TaskState, Time, Track};
use proptest::prelude::*;

const T0: u64 = 1_000_000;

/// A job of so many maps, of that name.
fn job(seq: u32, name: &str, maps: u32) -> Job {
    job_of("alice", seq, name, maps)
}

/// The same of that user.
fn job_of(user: &str, seq: u32, name: &str, maps: u32) -> Job {
    let mut job = Job::new(format!("job_1795000000000_{seq:04}").parse().unwrap());
    job.learn(&JobFact {
        job: job.id,
        attempt: crate::model::AppAttemptId { app: job.id.0, number: 1 },
        name: name.into(),
        user: user.into(),
        queue: "q".into(),
        state: Some(JobPhase::Running),
        started: Time(T0),
        maps,
        reduces: 0,
        uber: false,
    });
    job.settings = Some(JobSettings::default());
    job
}

fn map(job: &Job, index: u32, attempt: u32) -> AttemptId {
    job.id.task(TaskKind::Map, index).attempt(attempt)
}

/// That map of a job succeeded `end` milliseconds in, by that attempt.
fn succeed(job: &mut Job, index: u32, winner: u32, end: u64) {
    let fact = TaskFact {
        state: Some(TaskState::Succeeded),
        finished: Some(Time(T0 + end)),
        winner: Some(winner),
        ..TaskFact::of(job.id.task(TaskKind::Map, index))
    };
    assert!(job.learn_task(&fact, Time(T0 + end), 1_000_000));
}

/// LATE's prediction alone, at half, `at` milliseconds in.
fn note(at: u64, mean: u64) -> Note {
    let left = Left { mean: Millis(mean), spread: Millis(mean / 4) };
    let mut answers = [None; Estimator::ALL.len()];
    answers[0] = Some(left);
    Note::of(Point::Half, Time(T0 + at), answers)
}

/// What a note is due for of an attempt.
fn due(calibration: &Calibration, id: AttemptId, score: f64) -> Option<Point> {
    let mut sampled = calibration.sampled(id.task.job, id.task.kind);
    sampled.find(|watched| watched.index() == id.task.index)?.due(id.number, score)
}

fn late(record: &Record) -> &Accuracy {
    record.of(TaskKind::Map, Point::Half, Estimator::Late).unwrap()
}

/// A run of maps, each noted at half at an instant with a prediction, and then ended, milliseconds; told in that order.
fn run(seq: u32, maps: &[(u32, u64, u64, u64)]) -> Calibration {
    let (mut calibration, mut job) = (Calibration::default(), job(seq, "etl 1", maps.len() as u32));
    calibration.open(&job, 7);
    for (index, at, predicted, _) in maps {
        calibration.note(map(&job, *index, 0), note(*at, *predicted));
    }
    for (index, .., end) in maps {
        succeed(&mut job, *index, 0, *end);
        calibration.settle(&job);
    }
    calibration.close(&job);
    calibration
}

#[test]
fn lates_example_is_told_right_by_phases_and_wrong_by_the_average_rate() {
    // LATE §4.2, Fig. 2: 5 %/s to half, then 1 %/s; looked at at 10 s, it ends after 60 s.
    let mut track = Track::default();
    (1..=10).for_each(|second| track.add(0.05 * second as f32, Time(T0 + second * 1000)));
    let now = Time(T0 + 10_000);
    let sample = Sample {
        launched: Time(T0),
        started: Time(T0),
        track,
        phase: None,
        entered: [Some(now), None],
        heard: now,
        rhythm: Millis(1000),
        reading: None,
    };
    let times = PhaseTimes { typical: [Some(Millis(10_000)), Some(Millis(50_000)), None] };
    let (mut calibration, mut job) = (Calibration::default(), job(1, "fig2", 1));
    calibration.open(&job, 7);
    let id = map(&job, 0, 0);
    assert_eq!(due(&calibration, id, track.score()), Some(Point::Half));
    calibration.note(
        id,
        Note::new(
            Point::Half,
            &sample,
            Shape { ends: &[0.5, 1.0] },
            &times,
            &[Spreads::UNMEASURED; Estimator::ALL.len()],
            now,
        ),
    );
    assert_eq!(due(&calibration, id, track.score()), None, "noted once");
    succeed(&mut job, 0, 0, 60_000);
    let errors = calibration.settle(&job);
    assert!(errors.iter().all(|error| error.actual == Millis(50_000)));
    let of = |estimator| calibration.overall().of(TaskKind::Map, Point::Half, estimator).unwrap();
    let (late, phases) = (of(Estimator::Late), of(Estimator::PhaseAware));
    assert_eq!((late.bias(), late.mean_error(), late.coverage()), (Some(-0.8), Some(0.8), Some(0.0)));
    assert!((late.median_error().unwrap() - 0.8).abs() < 0.2, "{late:?}");
    assert!(phases.mean_error().unwrap() < 0.01 && phases.coverage() == Some(1.0), "{phases:?}");
}

#[test]
fn an_interval_covers_what_lies_within_its_spreads_to_either_side() {
    // Each predicts 10 s with a spread of 2.5 s: 6.8 to 13.2 s.
    let covered = |actual: u64| late(run(1, &[(0, 0, 10_000, actual)]).overall()).coverage();
    assert_eq!([6_700, 6_900, 13_100, 13_300].map(covered), [0.0, 1.0, 1.0, 0.0].map(Some));
}

#[test]
fn of_three_tasks_with_one_swapped_one_pair_of_three_is_wrong() {
    let record = run(1, &[(0, 0, 10_000, 12_000), (1, 0, 20_000, 35_000), (2, 0, 30_000, 25_000)]);
    let accuracy = late(record.overall());
    assert_eq!((accuracy.pairs(), accuracy.wrong_orderings()), (3, Some(1.0 / 3.0)));
}

#[test]
fn ties_and_tasks_of_different_waves_are_no_pairs() {
    let pairs = |other| late(run(1, &[(0, 0, 10_000, 12_000), other]).overall()).pairs();
    assert_eq!(pairs((1, 0, 10_000, 13_000)), 0, "the same end was predicted");
    assert_eq!(pairs((1, 0, 11_000, 12_000)), 0, "they ended together");
    assert_eq!(pairs((1, 12_000, 11_000, 30_000)), 0, "the first had ended when the other's end was predicted");
    assert_eq!(pairs((1, 11_000, 11_000, 30_000)), 1);
}

#[test]
fn what_another_attempt_ended_is_censored_and_proves_nothing() {
    let (mut calibration, mut job) = (Calibration::default(), job(1, "etl", 5));
    calibration.open(&job, 7);
    for index in 0..4 {
        calibration.note(map(&job, index, 0), note(0, 10_000));
    }
    succeed(&mut job, 0, 1, 5_000);
    // Its first attempt died, and the second came to half itself.
    calibration.note(map(&job, 1, 1), note(20_000, 10_000));
    succeed(&mut job, 1, 1, 30_000);
    let killed = TaskFact { state: Some(TaskState::Killed), ..TaskFact::of(job.id.task(TaskKind::Map, 2)) };
    job.learn_task(&killed, Time(T0 + 31_000), 5);
    assert_eq!(calibration.settle(&job).len(), 1);
    // The fourth runs when the job is killed, and the fifth was never noted.
    assert_eq!(calibration.close(&job), []);
    let record = calibration.overall();
    assert_eq!((record.censored, late(record).evidence(), late(record).bias()), ([4, 0], 1, Some(0.0)));
    assert_eq!((calibration.watched(), calibration.jobs.len()), (0, 0));
}

#[test]
fn of_a_kind_that_much_is_known_of_few_tasks_are_drawn_and_of_others_as_many_as_before() {
    let mut calibration = Calibration::default();
    let mut sampled = |seq, name: &str| {
        let mut job = job(seq, name, 40);
        calibration.open(&job, 7);
        let drawn: Vec<u32> = calibration.sampled(job.id, TaskKind::Map).map(Watched::index).collect();
        for index in &drawn {
            calibration.note(map(&job, *index, 0), note(0, 10_000));
            succeed(&mut job, *index, 0, 10_000 + u64::from(*index));
        }
        calibration.close(&job);
        drawn.len() as u32
    };
    let drawn: Vec<u32> = (1..=10).map(|seq| sampled(seq, "etl")).collect();
    assert_eq!((drawn[..8].to_vec(), drawn[8..].to_vec()), (vec![SAMPLED; 8], vec![SAMPLED_OF_KNOWN; 2]));
    assert_eq!(sampled(11, "another"), SAMPLED);
}

#[test]
fn a_sample_is_given_up_once_all_of_its_tasks_have_ended() {
    let (mut calibration, mut job) = (Calibration::default(), job(1, "etl", 40));
    calibration.open(&job, 7);
    assert_eq!(calibration.watched(), SAMPLED as usize);
    for index in 0..40 {
        calibration.note(map(&job, index, 0), note(0, 10_000));
        succeed(&mut job, index, 0, 10_000 + u64::from(index));
    }
    assert_eq!(calibration.settle(&job).len(), SAMPLED as usize);
    assert_eq!((calibration.watched(), late(calibration.overall()).pairs()), (0, 0));
    calibration.open(&job, 7);
    assert_eq!(calibration.sampled(job.id, TaskKind::Map).count(), 0, "a map that runs again is not drawn anew");
}

#[test]
fn one_is_chosen_on_evidence_and_by_a_margin_alone() {
    let record = |tasks: u32, predicted: u64, of_phases: u64| {
        let mut record = Record::default();
        for (estimator, predicted) in [(Estimator::Late, predicted), (Estimator::PhaseAware, of_phases)] {
            let left = Left { mean: Millis(predicted), spread: Millis(0) };
            let outcome = Outcome::of(left, Millis(10_000)).unwrap();
            let cell = Cell { tasks: TaskKind::Map, point: Point::Half, estimator };
            (0..tasks).for_each(|_| record.cell(cell).add(outcome));
        }
        record
    };
    let best = |record: Record| record.best(TaskKind::Map, Estimator::Late);
    assert_eq!(best(record(20, 15_000, 11_000)), Some(Estimator::PhaseAware));
    assert_eq!(best(record(19, 15_000, 11_000)), None, "too little is known");
    assert_eq!(best(record(20, 15_000, 14_900)), None, "hardly better");
    assert_eq!(best(record(20, 11_000, 15_000)), None);
    assert_eq!(record(20, 15_000, 11_000).best(TaskKind::Reduce, Estimator::Late), None);
}

#[test]
fn an_estimator_that_seldom_answers_is_not_chosen_and_of_equals_always_the_same_is() {
    let mut record = Record::default();
    let mut add = |estimator, times: u32, error| {
        let cell = Cell { tasks: TaskKind::Map, point: Point::Half, estimator };
        (0..times).for_each(|_| record.cell(cell).add(Outcome { error, miss: 0, covered: true }));
        record.best(TaskKind::Map, Estimator::Late)
    };
    add(Estimator::Late, 100, 500);
    assert_eq!(add(Estimator::HadoopSmoothed, 80, 100), None);
    assert_eq!(add(Estimator::HadoopLegacy, 100, 200), Some(Estimator::HadoopLegacy));
    assert_eq!(add(Estimator::PhaseAware, 100, 200), Some(Estimator::PhaseAware), "the first of equals");
    assert_eq!(add(Estimator::PhaseAware, 1, 3_000), Some(Estimator::HadoopLegacy), "the lesser mean error");
}

/// A name without digits for each number.
fn name(n: usize) -> String {
    format!("job {}", (b'a'..=b'z').map(char::from).cycle().skip(n % 26).take(n / 26 + 1).collect::<String>())
}

fn learn_of(calibration: &mut Calibration, mut job: Job) {
    calibration.open(&job, 7);
    calibration.note(map(&job, 0, 0), note(0, 10_000));
    succeed(&mut job, 0, 0, 10_000);
    calibration.close(&job);
}

#[test]
fn a_user_with_ever_new_jobs_takes_no_other_users_place() {
    let mut calibration = Calibration::default();
    let mut others = job(9_999, "nightly", 1);
    others.user = "bob".into();
    learn_of(&mut calibration, others);
    (0..2 * KINDS_MAX).for_each(|n| learn_of(&mut calibration, job(n as u32, &name(n), 1)));
    let kinds = calibration.kinds();
    assert_eq!((kinds.len(), kinds.iter().filter(|(kind, _)| kind.user == "bob").count()), (KINDS_MAX, 1));
}

#[test]
fn the_kind_longest_not_heard_of_is_forgotten_first() {
    let mut calibration = Calibration::default();
    for n in (0..KINDS_MAX).chain([0, KINDS_MAX]) {
        learn_of(&mut calibration, job(n as u32, &name(n), 1));
    }
    let kinds = calibration.kinds();
    assert_eq!((kinds.len(), late(kinds[1].1).evidence()), (KINDS_MAX, 2), "heard of again, the first stays");
    assert!(kinds.iter().all(|(kind, _)| kind.name != name(1)));
    let in_all = calibration.overall().cells().map(|(_, known)| known.evidence()).sum::<u32>();
    assert_eq!(in_all, 514, "those of kinds that are forgotten count on, by half each time there are 1,024");
}

#[test]
fn a_whole_task_of_which_no_winner_is_told_ran_once_or_is_censored() {
    let settled = |attempts: u32| {
        let (mut calibration, mut job) = (Calibration::default(), job(1, "etl", 1));
        calibration.open(&job, 7);
        calibration.note(map(&job, 0, 0), note(0, 10_000));
        for number in 0..attempts {
            job.learn_attempt(&AttemptFact::of(map(&job, 0, number)), None, Time(T0), 1);
        }
        let end = TaskFact {
            state: Some(TaskState::Succeeded),
            finished: Some(Time(T0 + 9_000)),
            ..TaskFact::of(job.id.task(TaskKind::Map, 0))
        };
        job.learn_task(&end, Time(T0 + 9_000), 1);
        assert!(job.task(job.id.task(TaskKind::Map, 0)).is_some_and(|task: &Task| task.winner().is_none()));
        calibration.settle(&job).len()
    };
    assert_eq!([0, 1, 2].map(settled), [1, 1, 0]);
}

/// Maps as `run` takes them: no more than are sampled, so that all are.
fn maps() -> impl Strategy<Value = Vec<(u32, u64, u64, u64)>> {
    let map = (0u64..50_000, 1u64..200_000, 1u64..200_000);
    prop::collection::vec(map, 1..SAMPLED as usize).prop_map(|maps| {
        let indexed = maps.into_iter().enumerate();
        indexed.map(|(n, (at, predicted, took))| (n as u32, at, predicted, at + took)).collect()
    })
}

proptest! {
    #[test]
    fn permuting_tasks_changes_nothing(
        (maps, order) in maps().prop_flat_map(|maps| {
            let order = Just((0..maps.len() as u32).collect::<Vec<_>>()).prop_shuffle();
            (Just(maps), order)
        }),
    ) {
        let renamed: Vec<_> = order.iter().map(|n| maps[*n as usize]).zip(0..).map(|(map, n)| (n, map.1, map.2, map.3)).collect();
        let retold: Vec<_> = order.iter().map(|n| maps[*n as usize]).collect();
        let one = run(1, &maps);
        let (two, three) = (run(1, &renamed), run(1, &retold));
        prop_assert_eq!(one.overall(), two.overall());
        prop_assert_eq!(one.overall(), three.overall());
        prop_assert_eq!(one.overall(), one.kinds()[0].1);
    }

    #[test]
    fn scaling_all_times_alike_leaves_errors_and_orderings_as_they_were(maps in maps(), factor in 2u64..50) {
        let longer: Vec<_> = maps.iter().map(|(n, at, p, e)| (*n, at * factor, p * factor, e * factor)).collect();
        let (one, other) = (run(1, &maps), run(1, &longer));
        let numbers = |run: &Calibration| {
            let known = late(run.overall());
            (known.mean_error(), known.median_error(), known.bias(), known.pairs(), known.wrong_orderings())
        };
        prop_assert_eq!(numbers(&one), numbers(&other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    #[test]
    fn never_more_than_the_bound_is_watched(jobs in prop::collection::vec((30u32..200_000, prop::bool::weighted(0.05)), 1_100..1_200)) {
        let mut calibration = Calibration::default();
        for (seq, (maps, ends)) in jobs.into_iter().enumerate() {
            let job = job_of(&format!("u{}", seq % 5), seq as u32, "etl", maps);
            calibration.open(&job, 7);
            calibration.open(&job, 7);
            prop_assert!(calibration.watched() <= WATCHED_MAX);
            prop_assert!(calibration.sampled(job.id, TaskKind::Map).count() <= SAMPLED as usize);
            if ends {
                calibration.close(&job);
            }
        }
        prop_assert!(calibration.watched() > WATCHED_MAX / 2);
        let sum: usize = calibration.jobs.values().flatten().map(|watch| watch.tasks.len()).sum();
        prop_assert_eq!(sum, calibration.watched());
    }
}

#[test]
fn a_look_at_the_very_end_proves_nothing() {
    let run = run(1, &[(0, 10_000, 5_000, 10_000)]);
    assert_eq!(run.overall().cells().count(), 0);
    let (mut calibration, mut job) = (Calibration::default(), job(1, "etl", 1));
    calibration.open(&job, 7);
    calibration.note(map(&job, 0, 0), note(10_000, 5_000));
    succeed(&mut job, 0, 0, 10_000);
    assert_eq!(calibration.settle(&job), []);
}

#[test]
fn a_kind_of_jobs_is_remembered_once_something_is_known_of_it() {
    let (mut calibration, mut job) = (Calibration::default(), job(1, "etl", 2));
    calibration.open(&job, 7);
    calibration.note(map(&job, 0, 0), note(0, 10_000));
    assert!(calibration.settle(&job).is_empty() && calibration.kinds().is_empty());
    succeed(&mut job, 0, 0, 10_000);
    assert_eq!((calibration.settle(&job).len(), calibration.kinds().len()), (1, 1));
}

/// Jobs of a user who has just as many tasks sampled as may be, and one more.
fn crowd(calibration: &mut Calibration, user: &str, first: u32) -> Vec<Job> {
    let jobs = (first..=first + WATCHED_OF_USER as u32 / SAMPLED).map(|seq| job_of(user, seq, "etl", 2 * SAMPLED));
    let jobs: Vec<Job> = jobs.collect();
    jobs.iter().for_each(|job| calibration.open(job, 7));
    jobs
}

fn sampled(calibration: &Calibration, job: &Job) -> usize {
    calibration.sampled(job.id, TaskKind::Map).count()
}

#[test]
fn just_as_many_tasks_as_the_bound_are_watched_and_those_of_a_forgotten_job_make_room() {
    let mut calibration = Calibration::default();
    for user in 0..3 {
        crowd(&mut calibration, &format!("u{user}"), 1_000 * user);
    }
    let jobs = crowd(&mut calibration, "alice", 3_000);
    let others = job_of("bob", 9_999, "etl", 2 * SAMPLED);
    calibration.open(&others, 7);
    assert_eq!((calibration.watched(), sampled(&calibration, &others)), (WATCHED_MAX, 0));
    calibration.forget(jobs[0].id);
    assert_eq!((calibration.watched(), sampled(&calibration, &jobs[0])), (WATCHED_MAX - SAMPLED as usize, 0));
    calibration.open(&others, 7);
    assert_eq!((calibration.watched(), sampled(&calibration, &others)), (WATCHED_MAX, SAMPLED as usize));
}

#[test]
fn one_users_jobs_take_a_quarter_of_the_places_at_most_and_give_them_back_as_they_end_whoever_owns_them_by_then() {
    let mut calibration = Calibration::default();
    let mut jobs = crowd(&mut calibration, "alice", 0);
    let last = jobs.pop().unwrap();
    assert_eq!((calibration.watched(), sampled(&calibration, &last)), (WATCHED_OF_USER, 0));
    calibration.open(&job_of("bob", 9_999, "etl", 2 * SAMPLED), 7);
    assert_eq!(calibration.watched(), WATCHED_OF_USER + SAMPLED as usize);
    for mut job in jobs {
        (0..2 * SAMPLED).for_each(|index| succeed(&mut job, index, 0, 10_000));
        job.user = "carl".into();
        calibration.settle(&job);
        calibration.close(&job);
    }
    calibration.forget(job(9_999, "etl", 1).id);
    assert_eq!((calibration.watched(), &calibration.owners), (0, &Owners::default()));
    calibration.open(&last, 7);
    assert_eq!(sampled(&calibration, &last), SAMPLED as usize);
}

#[test]
fn each_seed_and_each_cluster_and_each_of_its_jobs_has_a_sample_of_its_own() {
    let sample = |cluster: u64, seq: u32, seed| {
        let mut job = job(1, "etl", 100_000);
        job.id = format!("job_{cluster}_{seq:04}").parse().unwrap();
        let mut calibration = Calibration::default();
        calibration.open(&job, seed);
        calibration.sampled(job.id, TaskKind::Map).map(Watched::index).collect::<Vec<_>>()
    };
    let mut seen = std::collections::BTreeSet::new();
    for seed in [0, u64::MAX] {
        for (cluster, seq) in [(1_795_000_000_000, 1), (1_795_000_000_000, 2), (1_795_000_000_007, 1)] {
            assert!(seen.insert(sample(cluster, seq, seed)), "{cluster} {seq} {seed}");
        }
    }
}

/// LATE's spread at half, as that kind of job is to take it, seconds of 100.
fn spread(calibration: &Calibration, user: &str, name: &str) -> u64 {
    let kind = JobKind { user: user.into(), name: name.into() };
    calibration.spreads(&kind, TaskKind::Map, Estimator::Late).around(100.0, 0.5).spread.0 / 1_000
}

#[test]
fn a_spread_is_the_kinds_own_or_else_that_of_all_jobs_and_never_one_other_users_word() {
    let mut calibration = Calibration::default();
    let mut learn = |seq, user: &str, name, maps: u32, end| {
        let mut job = job(seq, name, maps);
        job.user = user.into();
        calibration.open(&job, 7);
        (0..maps).for_each(|index| calibration.note(map(&job, index, 0), note(0, 10_000)));
        (0..maps).for_each(|index| succeed(&mut job, index, 0, end));
        calibration.close(&job);
        [("alice", "etl"), ("alice", "sort"), ("bob", "etl")].map(|(user, name)| spread(&calibration, user, name))
    };
    // 0.5 at the most of the prediction, over 1.28 spreads.
    assert_eq!(learn(1, "alice", "etl", 19, 15_000), [25, 25, 25], "of 19 nothing is said");
    assert_eq!(learn(2, "alice", "etl", 1, 15_000), [39, 39, 25]);
    assert_eq!(learn(3, "bob", "sort", 1, 10_000), [39, 39, 39], "two users have shown it");
    assert_eq!(learn(4, "alice", "sort", 20, 12_000), [39, 15, 39], "its own where that is known");
}
