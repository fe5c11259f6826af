//! Which outputs are out of reach: by whose words, of which machines, and never otherwise.

use super::*;
use crate::model::{AttemptFact, JobFact, JobId, JobPhase, Names, TaskFact};
use proptest::prelude::*;

const REPORTED: u64 = 1_000_000;
const NOW: Time = Time(REPORTED + 1_000);

fn id() -> JobId {
    "job_1_0001".parse().unwrap()
}

/// Machine `m` of five, by number.
fn host(number: u32) -> NameId {
    let mut names = Names::default();
    let all: Vec<NameId> = (0..5).map(|n| names.intern(&format!("nm{n}")).unwrap()).collect();
    all[number as usize]
}

fn output(index: u32) -> AttemptId {
    id().task(TaskKind::Map, index).attempt(0)
}

/// A job whose maps have succeeded on these machines, and whose reduces copy on those.
fn job(maps: &[u32], reduces: &[u32]) -> Job {
    let mut job = Job::new(id());
    job.learn(&JobFact {
        job: id(),
        attempt: "appattempt_1_0001_000001".parse().unwrap(),
        name: String::new(),
        user: String::new(),
        queue: String::new(),
        state: Some(JobPhase::Running),
        started: Time(1),
        maps: maps.len() as u32,
        reduces: reduces.len() as u32,
        uber: false,
    });
    for (kind, hosts) in [(TaskKind::Map, maps), (TaskKind::Reduce, reduces)] {
        for (index, on) in hosts.iter().enumerate() {
            let task = id().task(kind, index as u32);
            let done = kind == TaskKind::Map;
            let state = Some(if done { TaskState::Succeeded } else { TaskState::Running });
            job.learn_task(&TaskFact { state, ..TaskFact::of(task) }, Time(10), 100);
            let fact = AttemptFact {
                state: Some(if done { AttemptState::Succeeded } else { AttemptState::Running }),
                started: Some(Time(10)),
                phase: Some(if done { Phase::Map } else { Phase::Copy }),
                ..AttemptFact::of(task.attempt(0))
            };
            job.learn_attempt(&fact, Some(host(*on)), Time(20), 100);
        }
    }
    job
}

/// These reduces could not fetch these outputs, as they told at that time.
fn miss(job: &mut Job, at: u64, words: &[(u32, u32)]) {
    for (reduce, map) in words {
        let missed = vec![Miss { reduce: *reduce, at: Time(at) }];
        job.learn_attempt(&AttemptFact { missed, ..AttemptFact::of(output(*map)) }, None, Time(at), 100);
    }
}

/// A reduce's only attempt has come to that phase at that time.
fn enters(job: &mut Job, reduce: u32, phase: Phase, at: u64) {
    let attempt = id().task(TaskKind::Reduce, reduce).attempt(0);
    job.learn_attempt(&AttemptFact { phase: Some(phase), ..AttemptFact::of(attempt) }, None, Time(at), 100);
}

/// The maps whose outputs are out of reach where nothing was asked for and no machine is given up.
fn lost(job: &Job) -> Vec<u32> {
    lost_by(job, &Asked::new(), false)
}

fn lost_by(job: &Job, asked: &Asked, unusable: bool) -> Vec<u32> {
    let found = out_of_reach(job, asked, Mode::Act, |_| unusable, NOW);
    found.iter().flat_map(|one| &one.outputs).map(|output| output.task.index).collect()
}

/// Four maps on the first machine and one on the second; three reduces on three others.
fn usual() -> Job {
    job(&[0, 0, 0, 0, 1], &[2, 3, 4])
}

#[test]
fn all_of_a_machine_is_out_of_reach_where_two_reduces_missed_several_outputs_there() {
    let mut job = usual();
    miss(&mut job, REPORTED, &[(0, 0), (0, 1), (1, 2)]);
    assert_eq!(lost(&job), Vec::<u32>::new(), "the second has missed one");
    miss(&mut job, REPORTED, &[(1, 1)]);
    let found = out_of_reach(&job, &Asked::new(), Mode::Act, |_| false, NOW);
    let expected = OutOfReach {
        host: host(0),
        outputs: (0..4).map(output).collect(),
        missed_by: vec![0, 1],
        whole: true,
        unusable: false,
    };
    assert_eq!(found, [expected]);
}

#[test]
fn where_several_reduces_miss_one_output_it_alone_is_made_again_unless_it_is_all_there_is() {
    let mut job = usual();
    miss(&mut job, REPORTED, &[(0, 1), (1, 1), (2, 1)]);
    let found = out_of_reach(&job, &Asked::new(), Mode::Act, |_| false, NOW);
    assert_eq!((found[0].outputs.clone(), found[0].whole), (vec![output(1)], false));
    let mut job = usual();
    miss(&mut job, REPORTED, &[(0, 4), (1, 4)]);
    let found = out_of_reach(&job, &Asked::new(), Mode::Act, |_| false, NOW);
    assert_eq!((found[0].outputs.clone(), found[0].whole), (vec![output(4)], true));
}

#[test]
fn one_reduce_is_believed_only_beside_the_resource_manager_and_reduces_of_one_machine_count_as_one() {
    let mut job = usual();
    miss(&mut job, REPORTED, &[(0, 0), (0, 1), (0, 2), (0, 3)]);
    assert_eq!(lost(&job), Vec::<u32>::new());
    assert_eq!(lost_by(&job, &Asked::new(), true), [0, 1, 2, 3]);
    assert_eq!(lost_by(&usual(), &Asked::new(), true), Vec::<u32>::new(), "no reduce has missed any");
    let mut one_host = super::tests::job(&[0, 0], &[2, 2]);
    miss(&mut one_host, REPORTED, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(lost(&one_host), Vec::<u32>::new());
}

/// Another attempt of a reduce runs on that machine from then on.
fn copied(job: &mut Job, reduce: u32, on: u32, from: u64) {
    let attempt = id().task(TaskKind::Reduce, reduce).attempt(1);
    let (state, started) = (Some(AttemptState::Running), Some(Time(from)));
    let fact = AttemptFact { state, started, phase: Some(Phase::Copy), ..AttemptFact::of(attempt) };
    assert!(job.learn_attempt(&fact, Some(host(on)), Time(from), 100));
}

#[test]
fn of_a_reduce_with_two_attempts_either_may_have_told_it_and_one_sick_machine_is_no_two_witnesses() {
    let words = [(0, 0), (0, 1), (1, 0), (1, 1)];
    // Reduces on machines 2 and 2, or 2 and 3, with copies on those of the last two numbers.
    let told = |first: [u32; 2], copies: [u32; 2], dies: bool| {
        let mut job = job(&[0, 0, 1, 1], &first);
        for (reduce, on) in (0..).zip(copies) {
            copied(&mut job, reduce, on, 500);
        }
        miss(&mut job, REPORTED, &words);
        for reduce in 0..2 {
            let attempt = id().task(TaskKind::Reduce, reduce).attempt(0);
            let (state, finished) = (Some(AttemptState::Failed), Some(Time(REPORTED + 500)));
            let fact = AttemptFact { state, finished, ..AttemptFact::of(attempt) };
            assert!(!dies || job.learn_attempt(&fact, None, Time(REPORTED + 500), 100));
        }
        lost(&job)
    };
    assert_eq!(told([2, 2], [3, 4], false), [] as [u32; 0]);
    assert_eq!(told([2, 2], [3, 4], true), [] as [u32; 0], "those who told it may be gone");
    assert_eq!(told([2, 3], [4, 4], false), [] as [u32; 0]);
    assert_eq!(told([2, 3], [4, 1], false), [0, 1], "whichever told it");
}

#[test]
fn what_was_told_long_ago_or_before_a_reduce_had_copied_everything_does_not_count() {
    let words = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let told = |at| {
        let mut job = usual();
        miss(&mut job, at, &words);
        job
    };
    let oldest = NOW.0 - WITHIN.0;
    assert_eq!([oldest, oldest - 1].map(|at| lost(&told(at)).len()), [4, 0]);
    let mut copied = told(REPORTED);
    enters(&mut copied, 2, Phase::Sort, REPORTED);
    assert_eq!(lost(&copied), Vec::<u32>::new(), "the third has had them all since");
    miss(&mut copied, REPORTED + 1, &words);
    assert_eq!(lost(&copied), [0, 1, 2, 3]);
}

#[test]
fn only_reduces_that_copy_now_have_a_say() {
    for phase in [Phase::Sort, Phase::Reduce] {
        let mut job = usual();
        enters(&mut job, 1, phase, REPORTED - 1);
        miss(&mut job, REPORTED, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(lost(&job), Vec::<u32>::new(), "{phase:?}");
    }
    let mut ended = usual();
    miss(&mut ended, REPORTED, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
    let attempt = id().task(TaskKind::Reduce, 1).attempt(0);
    let killed = AttemptFact { state: Some(AttemptState::Killed), ..AttemptFact::of(attempt) };
    ended.learn_attempt(&killed, None, NOW, 100);
    assert_eq!(lost(&ended), Vec::<u32>::new(), "it runs no more");
}

#[test]
fn an_output_that_is_no_tasks_own_any_more_is_left() {
    let mut job = usual();
    miss(&mut job, REPORTED, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
    let killed = AttemptFact { state: Some(AttemptState::Killed), ..AttemptFact::of(output(0)) };
    job.learn_attempt(&killed, None, NOW, 100);
    let again = TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(output(0).task) };
    job.learn_task(&again, NOW, 100);
    assert_eq!(lost(&job), [1], "each has missed one output that stands");
    miss(&mut job, REPORTED, &[(0, 2), (1, 3)]);
    assert_eq!(lost(&job), [1, 2, 3]);
}

/// These maps' outputs were asked for in that mode, all at one time.
fn asked(at: u64, all: &[(u32, Mode)]) -> Asked {
    let mut asked = Asked::new();
    all.iter().for_each(|(index, mode)| Ask::note(&mut asked, output(*index), *mode, Time(at)));
    asked
}

#[test]
fn a_map_runs_again_once_and_what_was_only_said_is_still_to_be_done() {
    let mut job = usual();
    miss(&mut job, REPORTED, &[(0, 0), (0, 1), (1, 0), (1, 1)]);
    let asked = asked(REPORTED, &[(0, Mode::Act), (1, Mode::Advise)]);
    assert_eq!(lost_by(&job, &asked, false), [1, 2, 3]);
    let found = out_of_reach(&job, &asked, Mode::Advise, |_| false, NOW);
    assert_eq!(found[0].outputs, [output(2), output(3)]);
}

#[test]
fn what_was_asked_in_vain_is_asked_again_where_the_output_stands_and_enough_reduces_miss_it_long_after() {
    let long = NOW.0 - AGAIN.0;
    let told = |at: [u64; 2]| {
        let mut job = usual();
        miss(&mut job, at[0], &[(0, 0), (0, 1)]);
        miss(&mut job, at[1], &[(1, 0), (1, 1)]);
        job
    };
    let all = [0, 1, 2, 3].map(|index| (index, Mode::Act));
    let act = asked(long - 1, &all);
    let job = told([NOW.0, NOW.0]);
    assert_eq!(lost_by(&job, &act, false), [0, 1, 2, 3], "by two words of each they all stand out of reach");
    assert_eq!(lost_by(&told([NOW.0, NOW.0 - 1]), &act, false), Vec::<u32>::new(), "the second's words are too early");
    let only_said = asked(long - 1, &[(0, Mode::Advise), (1, Mode::Advise)]);
    let found = out_of_reach(&job, &only_said, Mode::Advise, |_| false, NOW);
    assert_eq!(found[0].outputs, [output(2), output(3)], "it is said once");
    let mut by_another = act.clone();
    by_another.get_mut(&0).unwrap().attempt = 1;
    assert_eq!(lost_by(&job, &by_another, false), [1, 2, 3], "a map that has run again does not once more");
    let mut often = act;
    (1..TIMES).for_each(|_| Ask::note(&mut often, output(1), Mode::Act, Time(long - 1)));
    assert_eq!(lost_by(&job, &often, false), [0, 2, 3], "and not for ever");
    let mut one = usual();
    miss(&mut one, NOW.0, &[(0, 0), (1, 0)]);
    assert_eq!(lost_by(&one, &asked(long - 1, &all), false), [0], "of the others nobody has told since");
}

#[test]
fn no_more_than_half_of_a_jobs_maps_run_again() {
    let (job, three) = (job(&[0, 0, 0, 0, 1, 1], &[2, 3]), job(&[0, 0, 1], &[2, 3]));
    let asked = asked(REPORTED, &[(0, Mode::Act), (1, Mode::Act), (2, Mode::Advise)]);
    let within = |asked: &Asked, more: &[u32]| {
        within_budget(&job, asked, &more.iter().map(|index| output(*index)).collect::<Vec<_>>())
    };
    assert_eq!(within(&asked, &[3]), Ok(()));
    assert_eq!(within(&asked, &[0, 1, 2]), Ok(()), "two of them have been counted");
    assert_eq!(within(&asked, &[3, 4]), Err(Verdict::MeasureBudget));
    assert_eq!(within(&Asked::new(), &[0, 1, 2, 3]), Err(Verdict::MeasureBudget));
    let of_three = |more: &[AttemptId]| within_budget(&three, &Asked::new(), more);
    assert_eq!(of_three(&[output(0)]), Ok(()));
    assert_eq!(of_three(&[output(0), output(1)]), Err(Verdict::MeasureBudget));
}

proptest! {
    #[test]
    fn whatever_is_told_only_outputs_that_stand_are_made_again_once_and_by_the_word_of_several_that_need_them(
        maps in prop::collection::vec(0u32..5, 1..12),
        reduces in prop::collection::vec((0u32..5, any::<bool>()), 0..6),
        words in prop::collection::vec((0u32..6, 0u32..12, 850_000u64..1_001_000), 0..80),
        gone in prop::option::of(0u32..12),
    ) {
        let mut job = job(&maps, &reduces.iter().map(|(on, _)| *on).collect::<Vec<_>>());
        for (index, _) in reduces.iter().enumerate().filter(|(_, (_, past))| *past) {
            enters(&mut job, index as u32, Phase::Sort, 50);
        }
        if let Some(map) = gone.filter(|map| (*map as usize) < maps.len()) {
            let state = Some(AttemptState::Killed);
            job.learn_attempt(&AttemptFact { state, ..AttemptFact::of(output(map)) }, None, Time(60), 100);
        }
        for (reduce, map, at) in words.iter().filter(|(_, map, _)| (*map as usize) < maps.len()) {
            miss(&mut job, *at, &[(*reduce, *map)]);
        }
        let found = out_of_reach(&job, &Asked::new(), Mode::Act, |_| false, NOW);
        let copying = |reduce: u32| reduces.get(reduce as usize).is_some_and(|(_, past)| !past);
        let mut asked = Asked::new();
        for one in &found {
            for output in &one.outputs {
                prop_assert_eq!(host(maps[output.task.index as usize]), one.host);
                prop_assert!(gone != Some(output.task.index), "it stands no more");
                Ask::note(&mut asked, *output, Mode::Act, NOW);
                prop_assert_eq!(asked[&output.task.index].times, 1, "named twice");
            }
            let told: BTreeSet<u32> = one.missed_by.iter().copied().filter(|reduce| copying(*reduce)).collect();
            prop_assert_eq!(told.len(), one.missed_by.len(), "of reduces that copy");
            let on: BTreeSet<u32> = told.iter().map(|reduce| reduces[*reduce as usize].0).collect();
            prop_assert!(on.len() >= 2, "on as many machines");
        }
        prop_assert_eq!(out_of_reach(&job, &asked, Mode::Act, |_| false, NOW), vec![]);
        if reduces.iter().all(|(_, past)| *past) {
            prop_assert_eq!(found, vec![], "nobody needs them");
        }
    }
}
