use super::*;
use crate::model::{Names, Phase};

fn job(totals: Option<[u32; 2]>) -> Job {
    let mut job = Job::new("job_1_0001".parse().unwrap());
    job.totals = totals;
    job
}

fn map(job: &Job, index: u32) -> TaskId {
    job.id.task(TaskKind::Map, index)
}

/// Taken in, or not?
fn learn(job: &mut Job, fact: &AttemptFact) -> bool {
    job.learn_attempt(fact, None, Time(1_000_000), 1_000)
}

fn ran(id: AttemptId, state: AttemptState, started: u64, finished: Option<u64>) -> AttemptFact {
    AttemptFact {
        state: Some(state),
        started: Some(Time(started)),
        finished: finished.map(Time),
        ..AttemptFact::of(id)
    }
}

#[test]
fn an_index_beyond_the_job_or_far_ahead_of_what_is_known_is_refused() {
    let takes = |job: &mut Job, index: u32, limit: u32| {
        let fact = TaskFact::of(map(job, index));
        job.learn_task(&fact, Time(1), limit)
    };
    let (mut small, mut unknown, mut large) = (job(Some([100, 0])), job(None), job(Some([1_000_000, 0])));
    assert!(takes(&mut small, 99, 1_000) && !takes(&mut small, 100, 1_000));
    assert!(takes(&mut unknown, 9, 10) && !takes(&mut unknown, 10, 10));
    assert!(!takes(&mut large, 50_000, 1_000_000) && takes(&mut large, 49_999, 1_000_000));
    assert!(!takes(&mut large, 150_000, 1_000_000) && takes(&mut large, 149_999, 1_000_000));
    assert_eq!([small, unknown, large].map(|job| job.known(TaskKind::Map)), [1, 1, 2]);
}

#[test]
fn more_tasks_than_a_job_can_have_are_not_believed_and_are_no_news_when_claimed_again() {
    let mut claims = job(None);
    let attempt = crate::model::AppAttemptId { app: claims.id.0, number: 1 };
    let fact = JobFact {
        job: claims.id,
        attempt,
        name: String::new(),
        user: String::new(),
        queue: String::new(),
        state: None,
        started: Time(1),
        maps: TASKS_MAX + 1,
        reduces: u32::MAX,
        uber: false,
    };
    for stirs in [true, false] {
        claims.stirred = false;
        claims.learn(&fact);
        assert_eq!((claims.totals, claims.stirred), (Some([TASKS_MAX; 2]), stirs));
    }
    claims.learn(&JobFact { maps: TASKS_MAX, reduces: 3, ..fact });
    assert_eq!(claims.totals, Some([TASKS_MAX, 3]));
}

#[test]
fn a_task_is_empty_that_was_told_to_have_no_input_and_never_any_and_tells_nothing_where_another_has_some() {
    let mut job = job(Some([4, 0]));
    let told = |job: &mut Job, index: u32, bytes: Option<u64>| {
        job.stirred = false;
        let fact = TaskFact { input: bytes.map(Bytes), ..TaskFact::of(map(job, index)) };
        assert!(job.learn_task(&fact, Time(1), 4));
        let tells = job.tells(TaskKind::Map);
        let all = job.tasks(TaskKind::Map).map(|(_, task)| (task.is_empty(), tells(task)));
        (job.stirred, all.collect::<Vec<_>>())
    };
    let (unknown, empty, alone) = ((false, true), (true, false), (true, true));
    assert_eq!(told(&mut job, 0, None).1, [unknown]);
    assert_eq!(told(&mut job, 1, Some(0)), (true, vec![unknown, alone]), "nobody has any");
    assert_eq!(told(&mut job, 1, None), (false, vec![unknown, alone]), "that it has none is known on");
    assert_eq!(told(&mut job, 2, Some(7)), (true, vec![unknown, empty, unknown]), "what is not known may be any");
    job.forget_verdicts();
    assert_eq!(told(&mut job, 2, Some(0)), (false, vec![unknown, empty, unknown]), "the most that was told counts");
    assert_eq!(told(&mut job, 1, Some(5)), (true, vec![unknown; 3]), "as a listing in parts may have it");
    assert_eq!(told(&mut job, 3, Some(0)).1[3], empty);
}

#[test]
fn room_is_made_a_little_ahead_of_what_is_known() {
    let mut job = job(Some([60_000, 0]));
    for (index, room) in [(0, 50_001), (50_001, 60_000)] {
        let fact = TaskFact::of(map(&job, index));
        assert!(job.learn_task(&fact, Time(1), 100_000));
        assert_eq!(job.tasks[0].capacity(), room);
    }
}

#[test]
fn of_a_task_no_more_than_64_attempts_are_known_and_the_known_are_heard_on() {
    let mut job = job(Some([1, 0]));
    let attempt = |job: &Job, number| AttemptFact::of(map(job, 0).attempt(number));
    for number in 0..64 {
        let fact = attempt(&job, number);
        assert!(learn(&mut job, &fact));
    }
    let (new, known) = (attempt(&job, 64), attempt(&job, 3));
    assert!(!learn(&mut job, &new) && learn(&mut job, &known));
    // One that came to nothing leaves its place to a newer one, and is not taken for that later.
    let dead = AttemptFact { state: Some(AttemptState::Failed), ..attempt(&job, 2) };
    assert!(learn(&mut job, &dead) && learn(&mut job, &new) && !learn(&mut job, &dead));
    let numbers: Vec<_> = job.task(new.id(job.id).task).unwrap().attempts.iter().map(|one| one.number).collect();
    assert_eq!((numbers.len(), numbers[2], numbers[63]), (64, 3, 64));
}

#[test]
fn an_attempt_that_has_ended_is_believed_no_score_of_later_and_its_own_of_before() {
    let mut job = job(Some([2, 0]));
    let id = map(&job, 0).attempt(0);
    learn(&mut job, &ran(id, AttemptState::Killed, 1_000, Some(9_000)));
    let score = |job: &mut Job, score, at| {
        learn(job, &AttemptFact { score: Some(score), scored_at: Some(Time(at)), ..AttemptFact::of(id) });
        job.task(id.task).unwrap().attempts[0].track.score()
    };
    assert_eq!(score(&mut job, 1.0, 9_000), 0.0, "Hadoop sets the score of what has ended to 1");
    assert!((score(&mut job, 0.25, 8_999) - 0.25).abs() < 1e-6);
    let id = map(&job, 1).attempt(0);
    learn(&mut job, &ran(id, AttemptState::Killed, 1_000, None));
    learn(&mut job, &AttemptFact { score: Some(1.0), scored_at: Some(Time(2_000)), ..AttemptFact::of(id) });
    assert_eq!(job.task(id.task).unwrap().attempts[0].track.score(), 0.0, "nobody knows when it ended");
}

#[test]
fn a_task_is_told_of_once_however_often_by_itself_and_its_attempts_until_it_is_heeded() {
    let mut job = job(Some([4, 0]));
    for index in [2, 0, 2] {
        let of_task = TaskFact { score: Some(0.5), ..TaskFact::of(map(&job, index)) };
        job.learn_task(&of_task, Time(1_000), 1_000);
        let of_attempt = AttemptFact { score: Some(0.5), ..AttemptFact::of(map(&job, index).attempt(0)) };
        learn(&mut job, &of_attempt);
    }
    job.learn_task(&TaskFact::of(map(&job, 1)), Time(1_000), 1_000);
    assert_eq!(job.told(TaskKind::Map), [map(&job, 0), map(&job, 2)]);
    job.heed();
    assert_eq!((job.told(TaskKind::Map), job.task(map(&job, 2)).unwrap().marks.told()), (vec![], false));
    let more = AttemptFact { score: Some(0.6), ..AttemptFact::of(map(&job, 2).attempt(0)) };
    learn(&mut job, &more);
    assert_eq!(job.told(TaskKind::Map), [map(&job, 2)]);
    job.forget_verdicts();
    assert_eq!(job.told(TaskKind::Map), []);
}

#[test]
fn an_attempt_that_tells_of_a_phases_end_to_come_is_not_believed() {
    let entered = |copied: u64, sorted: u64| {
        let mut job = job(Some([0, 1]));
        let id = job.id.task(TaskKind::Reduce, 0).attempt(0);
        let (copied, sorted, scored_at) = (Some(Time(copied)), Some(Time(sorted)), Some(Time(5_000)));
        learn(&mut job, &AttemptFact { copied, sorted, scored_at, ..AttemptFact::of(id) });
        let attempt = &job.task(id.task).unwrap().attempts[0];
        [attempt.copied(), attempt.sorted()].map(|at| at.map(|at| at.0))
    };
    assert_eq!(entered(4_000, 5_000), [Some(4_000), Some(5_000)]);
    assert_eq!([entered(5_001, 5_001), entered(4_999, 6_000)], [[None; 2], [Some(4_999), None]]);
}

#[test]
fn a_node_whose_clock_is_behind_ends_no_phase_before_the_attempt_was_launched_or_seen_in_it_in_any_order() {
    let entered = |facts: &[AttemptFact]| {
        let mut job = job(Some([0, 1]));
        facts.iter().for_each(|fact| assert!(learn(&mut job, fact)));
        let attempt = &job.task(facts[0].id(job.id).task).unwrap().attempts[0];
        [attempt.copied(), attempt.sorted()].map(|at| at.map(|at| at.0))
    };
    let id = job(None).id.task(TaskKind::Reduce, 0).attempt(0);
    let seen = |phase, at| AttemptFact { phase: Some(phase), scored_at: Some(Time(at)), ..AttemptFact::of(id) };
    let told = |copied: u64, sorted: u64| {
        let (started, copied, sorted) = (Some(Time(10_000)), Some(Time(copied)), Some(Time(sorted)));
        AttemptFact { started, copied, sorted, ..seen(Phase::Reduce, 60_000) }
    };
    let copying = seen(Phase::Copy, 40_000);
    for facts in [[copying.clone(), told(25_000, 30_000)], [told(25_000, 30_000), copying.clone()]] {
        assert_eq!(entered(&facts), [Some(40_000), Some(45_000)], "the second took five seconds");
    }
    assert_eq!(entered(&[told(2_000, 7_000)]), [Some(10_000), Some(15_000)], "it was not seen while it copied");
    assert_eq!(entered(&[copying, told(41_000, 50_000)]), [Some(41_000), Some(50_000)], "by a clock that is right");
    let late_words = AttemptFact { phase: Some(Phase::Copy), ..told(55_000, 56_000) };
    assert_eq!(
        entered(&[late_words]),
        [Some(55_000), Some(56_000)],
        "what says that it copies is older than what says that it has"
    );
    let ended = AttemptFact { finished: Some(Time(42_000)), ..told(25_000, 30_000) };
    let copying = AttemptFact { started: Some(Time(10_000)), ..seen(Phase::Copy, 40_000) };
    assert_eq!(entered(&[copying, ended]), [Some(40_000), Some(42_000)], "no later than its end");
}

#[test]
fn a_newer_master_ends_the_attempts_numbered_below_its_own_and_no_others() {
    let mut job = job(Some([1, 0]));
    for number in [999, 1_000] {
        let fact = ran(map(&job, 0).attempt(number), AttemptState::Running, 5, None);
        assert!(learn(&mut job, &fact));
    }
    job.outlive(2);
    let states: Vec<_> = job.task(map(&job, 0)).unwrap().attempts.iter().map(|attempt| attempt.state).collect();
    assert_eq!(states, [AttemptState::Killed, AttemptState::Running]);
}

#[test]
fn an_attempt_that_a_newer_master_recovers_is_its_tasks_winner_and_one_that_was_told_killed_is_not() {
    use AttemptState::{Killed, Running, Succeeded};
    let states = [(Running, None), (Killed, Some(8_000))].map(|(state, finished)| {
        let mut job = job(Some([1, 0]));
        let id = map(&job, 0);
        assert!(learn(&mut job, &ran(id.attempt(0), state, 1_000, finished)));
        job.outlive(2);
        let task = TaskFact { state: Some(TaskState::Succeeded), ..TaskFact::of(id) };
        assert!(job.learn_task(&task, Time(20_000), 10));
        assert!(learn(&mut job, &ran(id.attempt(0), Succeeded, 1_000, Some(9_000))));
        let task = job.task(id).unwrap();
        (task.attempts[0].state, task.winner(), job.lost.is_empty())
    });
    assert_eq!(states, [(Succeeded, Some(0), true), (Killed, None, true)]);
    let mut own = job(Some([1, 0]));
    own.outlive(2);
    let id = map(&own, 0).attempt(1_000);
    for state in [Killed, Succeeded] {
        assert!(learn(&mut own, &ran(id, state, 1_000, None)));
    }
    assert_eq!(own.task(id.task).unwrap().attempts[0].state, Killed, "its own master has told that");
}

#[test]
fn a_map_taken_back_waits_although_the_end_of_the_attempt_whose_output_was_lost_is_told_or_told_again() {
    use AttemptState::{CommitPending, Failed, Killed, Running, Succeeded};
    for end in [Failed, Killed] {
        let mut job = job(Some([1, 0]));
        let id = map(&job, 0);
        assert!(learn(&mut job, &ran(id.attempt(0), Succeeded, 1_000, Some(9_000))));
        let back = TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(id) };
        assert!(job.learn_task(&back, Time(20_000), 10));
        let mut state = |number, state| {
            assert!(learn(&mut job, &ran(id.attempt(number), state, 1_000, None)));
            job.task(id).unwrap().state
        };
        for told in [Succeeded, end, Running] {
            assert_eq!(state(0, told), TaskState::Scheduled, "{told:?}");
        }
        assert_eq!(state(1, AttemptState::Starting), TaskState::Scheduled);
        let runs = if end == Failed { Running } else { CommitPending };
        assert_eq!(state(1, runs), TaskState::Running);
    }
}

#[test]
fn a_newer_masters_word_on_a_task_counts_though_its_clock_is_behind_its_predecessors() {
    let mut job = job(Some([1, 0]));
    let told = |state| TaskFact { state: Some(state), ..TaskFact::of(map(&job, 0)) };
    let (running, succeeded) = (told(TaskState::Running), told(TaskState::Succeeded));
    job.learn_task(&running, Time(90_000), 10);
    job.learn_task(&succeeded, Time(60_000), 10);
    assert_eq!(job.task(map(&job, 0)).unwrap().state, TaskState::Running, "of one master the newest counts");
    job.outlive(2);
    job.learn_task(&succeeded, Time(60_000), 10);
    assert_eq!(job.task(map(&job, 0)).unwrap().state, TaskState::Succeeded);
}

#[test]
fn an_attempt_whose_output_was_lost_is_not_taken_for_the_winner_that_the_task_names_and_nobody_has_read() {
    let mut job = job(Some([1, 0]));
    let id = map(&job, 0);
    assert!(learn(&mut job, &ran(id.attempt(0), AttemptState::Succeeded, 1_000, Some(9_000))));
    let won = |job: &Job| {
        let task = job.task(id).unwrap();
        (task.winner(), task.won().map(|won| won.number), task.run_time())
    };
    let told = |winner| TaskFact { state: Some(TaskState::Succeeded), winner, ..TaskFact::of(id) };
    assert!(job.learn_task(&told(None), Time(10_000), 10));
    assert_eq!(won(&job), (Some(0), Some(0), Some(Millis(8_000))));
    let again = TaskFact { finished: Some(Time(30_000)), ..told(Some(1)) };
    assert!(job.learn_task(&again, Time(31_000), 10));
    assert_eq!(won(&job), (Some(1), None, None));
    assert!(learn(&mut job, &ran(id.attempt(1), AttemptState::Succeeded, 20_000, Some(30_000))));
    assert_eq!(won(&job), (Some(1), Some(1), Some(Millis(10_000))));
}

#[test]
fn a_job_that_ran_inside_its_master_once_is_one_that_does() {
    let mut job = job(None);
    let told = |uber| JobFact {
        job: "job_1_0001".parse().unwrap(),
        attempt: "appattempt_1_0001_000001".parse().unwrap(),
        name: "job".into(),
        user: "ann".into(),
        queue: "default".into(),
        state: None,
        started: Time(1),
        maps: 1,
        reduces: 0,
        uber,
    };
    let uber = [false, true, false].map(|uber| {
        job.learn(&told(uber));
        job.uber
    });
    assert_eq!(uber, [false, true, true]);
}

#[test]
fn two_attempts_are_a_copy_of_hadoops_where_one_is_labelled_or_they_ran_at_once() {
    use AttemptState::{Killed, Running};
    let copied = |first: (AttemptState, Option<u64>), second: u64, labelled: &[bool]| {
        let mut job = job(Some([1, 0]));
        let id = map(&job, 0);
        for (number, (state, started, finished)) in
            [(first.0, 10, first.1), (Running, second, None)].into_iter().enumerate()
        {
            let fact = ran(id.attempt(number as u32), state, started, finished);
            assert!(learn(&mut job, &AttemptFact { speculative: labelled.get(number).copied(), ..fact }));
            // What was said once is not taken back.
            assert!(learn(
                &mut job,
                &AttemptFact { speculative: Some(false), ..AttemptFact::of(id.attempt(number as u32)) }
            ));
        }
        job.task(id).unwrap().natively_copied()
    };
    assert!(copied((Running, None), 20, &[]));
    assert!(copied((Killed, Some(21)), 20, &[]));
    assert!(!copied((Killed, Some(20)), 20, &[]), "one in the place of the other");
    assert!(!copied((Killed, None), 20, &[]), "nobody says until when the first ran");
    assert!(!copied((Running, None), 10, &[]), "which of the two is the copy?");
    assert!(copied((Killed, Some(20)), 20, &[false, true]));
}

#[test]
fn an_attempt_killed_within_a_tenth_of_a_second_was_never_launched() {
    let launched = |state, lived: Option<u64>| {
        let mut job = job(Some([1, 0]));
        let id = map(&job, 0);
        let fact = ran(id.attempt(0), state, 1_000, lived.map(|lived| 1_000 + lived));
        assert!(learn(&mut job, &fact));
        job.task(id).unwrap().attempts[0].was_launched()
    };
    use AttemptState::{Killed, Succeeded};
    assert_eq!([Some(100), Some(101), None].map(|lived| launched(Killed, lived)), [false, true, false]);
    assert!(launched(Succeeded, Some(1)));
}

#[test]
fn an_attempt_that_was_seen_to_run_was_launched_though_nobody_says_yet_when_it_was_killed() {
    let mut job = job(Some([1, 0]));
    let id = map(&job, 0);
    for state in [AttemptState::Running, AttemptState::Killed] {
        assert!(learn(&mut job, &ran(id.attempt(0), state, 1_000, None)));
        assert!(job.task(id).unwrap().attempts[0].was_launched(), "{state:?}");
    }
}

#[test]
fn a_task_began_anew_where_its_only_attempt_was_killed_and_another_came_in_its_place() {
    use AttemptState::{Killed, Running, Starting, Succeeded};
    let restarts = |attempts: &[(AttemptState, u64, Option<u64>)]| {
        let mut job = job(Some([1, 0]));
        let id = map(&job, 0);
        for (number, (state, started, finished)) in (0..).zip(attempts) {
            let fact = ran(id.attempt(number), *state, *started, *finished);
            assert!(learn(&mut job, &AttemptFact { started: fact.started.filter(|at| at.0 > 0), ..fact }));
        }
        job.task(id).unwrap().restarts()
    };
    let killed = |from, to| (Killed, from, Some(to));
    let runs = |from| (Running, from, None);
    assert_eq!(restarts(&[killed(1_000, 2_000), runs(2_500)]), 1);
    assert_eq!(restarts(&[killed(1_000, 2_000), killed(2_000, 3_000), (Starting, 0, None)]), 2, "one waits");
    assert_eq!(restarts(&[killed(1_000, 2_000)]), 0, "nothing came in its place");
    assert_eq!(restarts(&[killed(1_000, 1_050), runs(2_500)]), 0, "it never ran");
    assert_eq!(restarts(&[runs(1_000), killed(1_500, 3_000), runs(4_000)]), 0, "a copy was withdrawn");
    assert_eq!(restarts(&[(Succeeded, 1_000, Some(3_000)), killed(1_500, 3_000), runs(4_000)]), 0, "a copy lost");
    assert_eq!(
        restarts(&[(Succeeded, 1_000, Some(3_000)), killed(1_500, 3_200), runs(4_000)]),
        0,
        "and was killed for it"
    );
    assert_eq!(
        restarts(&[(Succeeded, 1_000, Some(3_000)), killed(3_500, 4_000), runs(4_000)]),
        1,
        "its output was lost"
    );
    assert_eq!(restarts(&[killed(1_000, 3_000), killed(1_500, 3_000), runs(4_000)]), 1, "both at once: once anew");
    let lost_at_once = [(Succeeded, 1_000, Some(3_000)), killed(3_000, 4_000), runs(4_000)];
    assert_eq!(restarts(&lost_at_once), 1, "it began as the other ended");
}

#[test]
fn a_tasks_own_score_is_its_attempts_only_while_that_has_ever_been_alone() {
    let score = |others: u32| {
        let mut job = job(Some([1, 0]));
        let id = map(&job, 0);
        let task = TaskFact { state: Some(TaskState::Running), score: Some(0.9), ..TaskFact::of(id) };
        assert!(job.learn_task(&task, Time(5_000), 10));
        for number in 0..=others {
            let state = if number < others { AttemptState::Failed } else { AttemptState::Running };
            let fact = ran(id.attempt(number), state, 1_000, None);
            assert!(learn(&mut job, &AttemptFact { score: Some(0.25), phase: Some(Phase::Map), ..fact }));
        }
        job.task(id).unwrap().progress().score()
    };
    assert!((score(0) - 0.9).abs() < 1e-6);
    assert!((score(1) - 0.25).abs() < 1e-6, "0.9 may be what the failed one had reached");
}

#[test]
fn a_task_and_its_attempt_stay_small_for_a_million_are_kept() {
    assert_eq!(
        (std::mem::size_of::<Option<Task>>(), std::mem::size_of::<Attempt>()),
        (152, 80),
        "its only attempt included"
    );
}

#[test]
fn a_job_of_which_nothing_but_its_end_is_told_has_its_tasks_their_winners_and_where_they_ran() {
    let (mut job, mut hosts) = (job(Some([2, 0])), Names::default());
    let at = |host: &str, fact| AttemptFact { host: Some(host.into()), ..fact };
    let id = map(&job, 1);
    let lost = at("n1", ran(id.attempt(0), AttemptState::Killed, 10, Some(95)));
    let won = at("n2", ran(id.attempt(1), AttemptState::Succeeded, 50, Some(90)));
    let false_one = ran(map(&job, 2).attempt(0), AttemptState::Succeeded, 10, Some(20));
    let attempts = vec![lost, won, false_one];
    let end =
        EndFact { job: job.id, state: Some(JobPhase::Succeeded), started: None, finished: Some(Time(100)), attempts };
    job.end(&end, |host| hosts.intern(host));
    assert_eq!((job.state, job.ended.get(), job.known(TaskKind::Map)), (Some(JobPhase::Succeeded), Some(Time(100)), 1));
    let task = job.task(id).unwrap();
    assert_eq!((task.state, task.winner(), task.ended()), (TaskState::Succeeded, Some(1), Some(Time(90))));
    let ran_on: Vec<_> = task.attempts.iter().map(|one| hosts.name(one.host.unwrap())).collect();
    assert_eq!(ran_on, ["n1", "n2"]);
}

#[test]
fn what_ran_while_its_ams_clock_was_set_tells_nothing_of_others_until_it_runs_anew() {
    let mut job = job(Some([4, 0]));
    let secs = |second: u64| Time(1_000 * second);
    let is = |job: &mut Job, index: u32, state: TaskState, launched: Option<u64>, at: u64| {
        let (state, started) = (Some(state), launched.map(secs));
        let fact = TaskFact { state, started, ..TaskFact::of(map(job, index)) };
        assert!(job.learn_task(&fact, secs(at), 4));
    };
    let tells = |job: &Job| {
        let tells = job.tells(TaskKind::Map);
        job.tasks(TaskKind::Map).map(|(_, task)| tells(task)).collect::<Vec<_>>()
    };
    is(&mut job, 0, TaskState::Running, Some(55), 100);
    // It is a hundred seconds, and set to sixty.
    job.clock_was_set(secs(60));
    is(&mut job, 1, TaskState::Running, Some(90), 61);
    is(&mut job, 2, TaskState::Running, Some(50), 62);
    is(&mut job, 3, TaskState::Running, Some(63), 70);
    assert_eq!(tells(&job), [false, false, false, true]);
    is(&mut job, 0, TaskState::Succeeded, None, 80);
    assert!(!tells(&job)[0], "how long it took is not known");
    is(&mut job, 0, TaskState::Running, None, 85);
    assert_eq!(tells(&job), [true, false, false, true]);
    is(&mut job, 1, TaskState::Succeeded, None, 90);
    job.outlive(2);
    assert_eq!(tells(&job), [true, false, true, true], "what runs under the next AM is launched by its clock");
}

#[test]
fn maps_that_ended_by_the_clock_of_an_am_whose_next_is_behind_were_over_when_that_began_to_speak() {
    let mut job = job(Some([1, 1]));
    let done =
        TaskFact { state: Some(TaskState::Succeeded), finished: Some(Time(50_000)), ..TaskFact::of(map(&job, 0)) };
    assert!(job.learn_task(&done, Time(50_000), 10));
    assert!(job.outlive(2) && !job.outlive(2));
    job.maps_were_over_by(Time(60_000));
    assert_eq!(job.maps_done().at, Some(Time(50_000)));
    job.maps_were_over_by(Time(20_000));
    assert_eq!(job.maps_done().at, Some(Time(20_000)));
}

#[test]
fn maps_that_ended_before_their_ams_clock_was_set_back_were_over_when_it_was() {
    let mut job = job(Some([1, 1]));
    let done =
        TaskFact { state: Some(TaskState::Succeeded), finished: Some(Time(50_000)), ..TaskFact::of(map(&job, 0)) };
    assert!(job.learn_task(&done, Time(50_000), 4));
    job.clock_was_set(Time(20_000));
    assert!(job.learn_task(&done, Time(25_000), 4));
    assert_eq!(job.maps_done().at, Some(Time(20_000)));
    let again = TaskFact { state: Some(TaskState::Running), finished: None, ..done.clone() };
    assert!(job.learn_task(&again, Time(70_000), 4));
    job.note_maps_done(job.maps_done().at);
    let finished = Some(Time(90_000));
    assert!(job.learn_task(&TaskFact { finished, ..done }, Time(90_000), 4));
    assert_eq!(job.maps_done().at, finished);
}
