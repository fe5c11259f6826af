use super::*;
use crate::model::{Action, AppId, CopyEnd, Landed, Millis, TaskKind};
use proptest::prelude::*;

/// A copy of the first map of a job of that number that ended so.
pub fn outcome(job: u32, end: CopyEnd) -> CopyOutcome {
    let job = JobId(AppId { cluster: 1, seq: job });
    CopyOutcome {
        decision: 1,
        policy: "late".into(),
        action: Action::Duplicate,
        clones: false,
        telling: true,
        task: job.task(TaskKind::Map, 0),
        end,
        answer: None,
        attempts: vec![],
        winner: None,
        host: None,
        hosts: Vec::new(),
        named: Default::default(),
        landed: Landed::default(),
        restart: None,
        at: Time(0),
        cost: Millis(0),
        winner_cost: Millis(0),
        outran: None,
    }
}

fn after(ends: impl IntoIterator<Item = (u32, CopyEnd)>, params: &GovernParams) -> Breakers {
    let mut breakers = Breakers::default();
    for (second, (job, end)) in (1..).zip(ends) {
        breakers.count(&outcome(job, end), "ada", params, Time(second * 1_000));
    }
    breakers
}

#[test]
fn wilsons_bound_is_that_of_the_tables() {
    for (won, of, bound) in [(0, 20, 0.119_1), (0, 24, 0.101_3), (0, 25, 0.097_7), (5, 100, 0.099_2), (20, 20, 1.0)] {
        assert!((upper_bound(won, of) - bound).abs() < 0.000_1, "{won} of {of}: {}", upper_bound(won, of));
    }
}

#[test]
fn it_opens_with_the_first_copy_that_makes_the_bound_certain_and_rests_as_long_as_it_should() {
    let params = GovernParams::default();
    let lost = |n| (0..n).map(|copy| (copy, CopyEnd::Lost));
    assert!(!after(lost(24), &params).is_open("late", "ada"));
    let mut breakers = after(lost(25), &params);
    assert!(breakers.is_open("late", "ada") && !breakers.is_open("late", "bob"));
    let told = BreakerTurn { policy: "late".into(), user: "ada".into(), open: true, won: 0, copies: 25 };
    assert_eq!(breakers.open(), [OpenBreaker { since: Time(25_000), told: told.clone() }]);
    breakers.rest(&params, Time(25_000 + params.breaker_rest.0 - 1));
    assert!(breakers.is_open("late", "ada"));
    breakers.rest(&params, Time(25_000 + params.breaker_rest.0));
    assert!(!breakers.is_open("late", "ada") && breakers.open().is_empty());
    assert_eq!(breakers.take_turns(), [told.clone(), BreakerTurn { open: false, ..told }]);
    breakers.count(&outcome(99, CopyEnd::Lost), "ada", &params, Time(1_000_000));
    assert!(!breakers.is_open("late", "ada"), "it counts anew");
}

/// Copies of as many jobs of which the first so many won.
fn first_won(won: u32, of: u32) -> impl Iterator<Item = (u32, CopyEnd)> {
    (0..of).map(move |copy| (copy, if copy < won { CopyEnd::Won } else { CopyEnd::Lost }))
}

#[test]
fn it_opens_where_five_of_a_hundred_won_and_not_where_six_did_and_tells_so() {
    let params = GovernParams { breaker_least: 100, breaker_below: 0.1, ..GovernParams::default() };
    assert!(after(first_won(6, 100), &params).open().is_empty());
    let told = after(first_won(5, 100), &params).open().pop().map(|open| (open.told.won, open.told.copies));
    assert_eq!(told, Some((5, 100)));
}

#[test]
fn copies_that_all_win_open_none_whatever_the_share_asked_for() {
    let params = GovernParams { breaker_below: 1.0, ..GovernParams::default() };
    assert!(after(first_won(100, 100), &params).open().is_empty());
}

#[test]
fn the_newest_200_copies_count_and_as_many_may_be_asked_for() {
    let params = GovernParams { breaker_least: 200, ..GovernParams::default() };
    assert!(!after(first_won(0, 199), &params).is_open("late", "ada"));
    assert!(after(first_won(0, 200), &params).is_open("late", "ada"));
    // Of the newest 200 as few have won as make the bound, 5.9 to 10 %, certain only once the oldest wins are beyond them.
    let opened = |copies| after(first_won(100, copies), &params).is_open("late", "ada");
    let first = (200..400).find(|copies| opened(*copies)).unwrap();
    let won = (300 - first) as usize;
    assert!(upper_bound(won, 200) < params.breaker_below && upper_bound(won + 1, 200) >= params.breaker_below);
}

#[test]
fn where_too_many_users_are_told_apart_those_that_are_known_still_count() {
    let params = GovernParams::default();
    let mut breakers = Breakers::default();
    let mut lose = |user: &str| {
        (0..25).for_each(|job| breakers.count(&outcome(job, CopyEnd::Lost), user, &params, Time(0)));
        breakers.is_open("late", user)
    };
    let mut counted = (0..=USERS_MAX).map(|user| lose(&user.to_string()));
    assert!(counted.by_ref().take(USERS_MAX).all(|open| open));
    assert_eq!(counted.next(), Some(false));
}

#[test]
fn the_next_to_close_is_the_one_that_has_rested_longest() {
    let params = GovernParams::default();
    let mut breakers = after(first_won(0, 25), &params);
    assert_eq!(Breakers::default().next(&params), None);
    first_won(0, 25).for_each(|(job, end)| breakers.count(&outcome(job, end), "bob", &params, Time(9_000)));
    assert_eq!(breakers.next(&params), Some(Time(9_000) + params.breaker_rest));
}

#[test]
fn what_never_ran_and_what_is_not_telling_says_nothing() {
    let params = GovernParams::default();
    for end in [CopyEnd::Refused, CopyEnd::Unsent, CopyEnd::Unanswered, CopyEnd::Unknown] {
        assert_eq!(after((0..100).map(|copy| (copy, end)), &params), Breakers::default());
    }
    let mut breakers = Breakers::default();
    for job in 0..100 {
        let untold = CopyOutcome { telling: false, ..outcome(job, CopyEnd::Lost) };
        breakers.count(&untold, "ada", &params, Time(0));
    }
    assert_eq!(breakers, Breakers::default());
}

#[test]
fn what_ends_while_it_is_open_says_nothing_and_a_clock_set_back_does_not_make_it_longer() {
    let params = GovernParams::default();
    let mut breakers = after((0..25).map(|copy| (copy, CopyEnd::Lost)), &params);
    let open = breakers.clone();
    for job in 0..200 {
        breakers.count(&outcome(job, CopyEnd::Won), "ada", &params, Time(26_000));
        breakers.count(&outcome(job, CopyEnd::Lost), "ada", &params, Time(26_000));
    }
    assert_eq!(breakers, open);
    breakers.rest(&params, Time(5_000));
    breakers.rest(&params, Time(5_000) + params.breaker_rest);
    assert!(!breakers.is_open("late", "ada"));
}

#[test]
fn no_one_job_opens_it_nor_does_another_users() {
    let params = GovernParams::default();
    assert!(!after((0..1_000).map(|_| (1, CopyEnd::Lost)), &params).is_open("late", "ada"));
    assert!(after((0..1_000).map(|copy| (copy % 3, CopyEnd::Lost)), &params).is_open("late", "ada"));
}

#[test]
fn an_operators_word_and_a_bound_of_nothing_close_it() {
    let params = GovernParams::default();
    let open = after((0..50).map(|copy| (copy, CopyEnd::Died)), &params);
    let mut reset = open.clone();
    reset.reset();
    let mut off = open.clone();
    off.rest(&GovernParams { breaker_below: 0.0, ..params }, Time(50_000));
    assert!(open.is_open("late", "ada") && !reset.is_open("late", "ada") && !off.is_open("late", "ada"));
}

fn fates() -> impl Strategy<Value = Vec<(u32, bool)>> {
    prop::collection::vec((0u32..6, prop::bool::weighted(0.1)), 0..300)
}

/// With how many copies it opens.
fn opens(fates: &[(u32, bool)], params: &GovernParams) -> Option<usize> {
    let ends = |n: usize| fates[..n].iter().map(|(job, won)| (*job, if *won { CopyEnd::Won } else { CopyEnd::Lost }));
    (1..=fates.len()).find(|n| after(ends(*n), params).is_open("late", "ada"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn with_fewer_copies_than_the_least_it_never_opens(fates in fates(), least in 1u32..60, below in 0.0f64..1.0) {
        let params = GovernParams { breaker_least: least, breaker_below: below, ..GovernParams::default() };
        prop_assert!(opens(&fates, &params).is_none_or(|copies| copies >= least as usize));
    }

    #[test]
    fn where_a_win_is_a_loss_it_opens_no_later(
        fates in fates(),
        worse in prop::collection::vec(any::<bool>(), 300),
        below in 0.0f64..0.5,
    ) {
        let params = GovernParams { breaker_below: below, ..GovernParams::default() };
        let lower: Vec<_> = fates.iter().zip(worse).map(|((job, won), worse)| (*job, *won && !worse)).collect();
        if let Some(copies) = opens(&fates, &params) {
            prop_assert!(opens(&lower, &params).is_some_and(|earlier| earlier <= copies));
        }
    }

    #[test]
    fn its_memory_has_a_bound(fates in fates()) {
        let ends = fates.iter().map(|(job, won)| (*job, if *won { CopyEnd::Won } else { CopyEnd::Lost }));
        let breakers = after(ends, &GovernParams { breaker_least: 400, breaker_below: 0.0, ..GovernParams::default() });
        prop_assert!(breakers.by_policy.values().flat_map(BTreeMap::values).all(|breaker| breaker.recent.len() <= WINDOW));
    }
}

#[test]
fn with_one_user_too_many_whoever_was_counted_longest_ago_makes_room() {
    let params = GovernParams::default();
    let mut breakers = Breakers::default();
    for user in 0..USERS_MAX as u64 {
        breakers.count(&outcome(1, CopyEnd::Lost), &user.to_string(), &params, Time(1_000 + user));
    }
    (0..25).for_each(|job| breakers.count(&outcome(job, CopyEnd::Lost), "ada", &params, Time(10_000)));
    assert!(breakers.is_open("late", "ada"), "whose copies keep losing is told apart, however many there were before");
    let known = &breakers.by_policy["late"];
    assert_eq!((known.len(), known.contains_key("0"), known.contains_key("1")), (USERS_MAX, false, true));
}
