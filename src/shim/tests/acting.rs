//! Leases, actions and their answers: to whom, how often, and what is believed of what comes back.

mod outdated;

use super::super::acting::RIVAL_REMEMBERED;
use super::super::batch::Late;
use super::super::desk::Origin;
use super::super::outbox::{Order, action_id};
use super::super::params::{ActParams, Identity};
use super::super::reply::{Launcher, On, Reply, What};
use super::super::unsent::Unsent;
use super::{Am, Desk, EPOCH, INCARNATION, Room, ShimParams, metrics, one_look};
use drover_core::model::{
    AckFact, Answer, Capabilities, Channel, Fact, JobId, Measure, MeasureKind, MeasureOrder, MeasurePlan, Millis, Mode,
    TaskKind, Verdict,
};
use prometheus::Registry;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A seated session from this machine whose job is Drover's.
async fn owned() -> (Room, Am) {
    owned_with(one_look()).await
}

async fn owned_with(params: ShimParams) -> (Room, Am) {
    let (mut room, mut am) = (Room::with(params, 1_000), Am::new(1, 1, 1));
    room.from = Origin::Loopback;
    room.seat(&mut am).await;
    room.own(&[am.job()]);
    (room, am)
}

fn on() -> On {
    On { k: 'm', i: 1, live: 1, avoid: vec!["nm2".into()], moves: 6 }
}

fn order(room: &Room, job: JobId, decision: u64, lasts: u64) -> Order {
    let deadline = room.now.wall + Millis(lasts);
    let what = What::Duplicate { on: on(), copies: 1, prefer: Vec::new() };
    Order { decision, job, what, deadline }
}

impl Room {
    fn own(&self, jobs: &[JobId]) {
        self.desk.acting.own(jobs.iter().map(|job| (*job, false)).collect(), self.now.mono);
    }

    /// The answer to the session's next request, a second later.
    fn next(&mut self, am: &mut Am, fields: Value) -> Reply {
        self.later(1_000);
        self.send(&am.key.clone(), &am.with(fields)).unwrap()
    }

    /// What is told of Drover's own doing.
    fn own_facts(&mut self) -> Vec<Fact> {
        self.drain().into_iter().filter(|o| o.source.channel == Channel::Own).map(|o| o.fact).collect()
    }
}

fn ack(decision: u64, outcome: &str, attempts: &[u32]) -> Value {
    json!({"id": action_id(INCARNATION, decision), "outcome": outcome, "attempts": attempts})
}

fn acked(job: JobId, decision: u64, answer: Answer, attempts: &[u32]) -> Fact {
    Fact::Acked(AckFact { job, decision, answer, attempts: attempts.to_vec() })
}

fn lease(reply: &Reply) -> (Launcher, u64) {
    (reply.launcher, reply.lease_ms)
}

#[tokio::test]
async fn a_lease_goes_to_the_jobs_that_are_drovers_and_ends_with_the_next_answer_after_they_are_not() {
    let (mut room, mut am) = owned().await;
    let mut other = Am::new(2, 1, 2);
    room.seat(&mut other).await;
    let (leased, not) = (room.next(&mut am, json!({})), room.next(&mut other, json!({})));
    assert_eq!((lease(&leased), leased.news_exchange_ms), ((Launcher::Drover, 10_000), Some(250)));
    assert_eq!((lease(&not), not.news_exchange_ms), ((Launcher::Native, 0), None));
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.desk.metrics.leases.get(), 1);
    room.desk.end(am.job().0);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.desk.metrics.leases.get(), 0, "a job that has ended holds none");
    (room, am) = owned().await;
    assert_eq!(room.next(&mut am, json!({})).launcher, Launcher::Drover);
    room.own(&[]);
    assert_eq!(lease(&room.next(&mut am, json!({}))), (Launcher::Native, 0));
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.desk.metrics.leases.get(), 0);
}

#[tokio::test]
async fn starts_are_news_for_a_leased_job_whose_tasks_have_clones_at_the_pace_of_all_other_news() {
    let (mut room, mut am) = owned().await;
    assert!(!room.next(&mut am, json!({})).news_of_starts, "it has none");
    room.desk.acting.own([(am.job(), true)].into(), room.now.mono);
    let cloned = room.next(&mut am, json!({}));
    assert_eq!((cloned.news_of_starts, cloned.news_exchange_ms, cloned.next_exchange_ms), (true, Some(250), 1_000));
    room.own(&[]);
    assert!(!room.next(&mut am, json!({})).news_of_starts, "without a lease none is asked for");
}

#[tokio::test]
async fn no_lease_is_given_nor_order_sent_while_the_engine_hangs_and_a_quiet_one_does_not() {
    let (mut room, mut am) = owned().await;
    for _ in 0..20 {
        assert_eq!(lease(&room.next(&mut am, json!({}))), (Launcher::Drover, 10_000));
        room.desk.acting.own_still(room.now.mono);
    }
    room.desk.order(order(&room, am.job(), 1, 60_000), room.now).unwrap();
    room.later(9_000);
    assert_eq!(room.next(&mut am, json!({})).launcher, Launcher::Drover, "a lease's length, and no more");
    let hung = room.next(&mut am, json!({}));
    assert_eq!((lease(&hung), hung.actions.len()), ((Launcher::Native, 0), 0));
    room.desk.acting.own_still(room.now.mono);
    assert_eq!(room.next(&mut am, json!({})).launcher, Launcher::Drover, "it goes on");
}

#[tokio::test]
async fn only_the_last_page_of_what_is_told_waits_for_what_is_decided_on_it() {
    let (mut room, mut am) = owned().await;
    for more in [true, false] {
        room.later(1_000);
        let answer = room.exchange(&am.key.clone(), &am.with(json!({"more": more}))).unwrap();
        assert_eq!((answer.reply.launcher, answer.awaits.is_some()), (Launcher::Drover, !more));
    }
}

#[tokio::test]
async fn a_session_that_cannot_copy_or_comes_over_plain_http_gets_neither_lease_nor_action() {
    for (local, insists, can, expected) in [
        (true, false, json!(["duplicate"]), true),
        (true, false, json!(["kill", "move"]), false),
        (false, false, json!(["duplicate"]), false),
        (false, true, json!(["duplicate"]), true),
    ] {
        let act = ActParams { plain_http: insists, ..ActParams::default() };
        let (mut room, mut am) = (Room::with(ShimParams { act, ..one_look() }, 1_000), Am::new(1, 1, 1));
        room.from = if local { Origin::Loopback } else { Origin::Network };
        room.cluster.runs(&am);
        let mut hello = am.clone().next()["hello"].clone();
        hello["can"] = can;
        room.settled(&mut am, json!({"hello": hello})).await.unwrap();
        am.hello = false;
        assert!(
            room.told().contains(&Fact::Can(am.job(), Capabilities { duplicate: expected, ..Capabilities::default() }))
        );
        room.own(&[am.job()]);
        let put = room.desk.order(order(&room, am.job(), 1, 5_000), room.now);
        assert_eq!(put, if expected { Ok(()) } else { Err(Unsent::Unable) });
        let reply = room.next(&mut am, json!({}));
        assert_eq!((reply.lease_ms > 0, reply.actions.len()), (expected, usize::from(expected)));
    }
}

#[tokio::test]
async fn an_attempt_is_killed_only_where_the_operator_has_it_so_and_by_a_shim_that_can() {
    for (allowed, can, expected) in [
        (true, json!(["duplicate", "restart"]), true),
        (false, json!(["duplicate", "restart"]), false),
        (true, json!(["duplicate"]), false),
    ] {
        let act = ActParams { restart: allowed, ..ActParams::default() };
        let (mut room, mut am) = (Room::with(ShimParams { act, ..one_look() }, 1_000), Am::new(1, 1, 1));
        room.from = Origin::Loopback;
        room.cluster.runs(&am);
        let mut hello = am.clone().next()["hello"].clone();
        hello["can"] = can;
        room.settled(&mut am, json!({"hello": hello})).await.unwrap();
        am.hello = false;
        let able = Capabilities { duplicate: true, restart: expected, ..Capabilities::default() };
        assert!(room.told().contains(&Fact::Can(am.job(), able)));
        room.own(&[am.job()]);
        let what = What::Restart { on: on(), n: 0, below: 0.5, restarts: 1 };
        let put = room.desk.order(Order { what, ..order(&room, am.job(), 1, 5_000) }, room.now);
        assert_eq!(put, if expected { Ok(()) } else { Err(Unsent::Unable) });
        if !expected {
            continue;
        }
        let asked = json!(room.next(&mut am, json!({})).actions)[0].clone();
        let told = ["type", "n", "below", "restarts"].map(|name| asked[name].clone());
        assert_eq!(told, [json!("restart"), json!(0), json!(0.5), json!(1)]);
        assert!(asked.get("copies").is_none());
        room.own_facts();
        for (outcome, attempts, answer) in [("applied", &[][..], Answer::Applied), ("moved", &[1], Answer::Moved)] {
            room.next(&mut am, json!({"acks": [ack(1, outcome, attempts)]}));
            assert_eq!(room.own_facts(), [acked(am.job(), 1, answer, attempts)]);
        }
    }
}

#[tokio::test]
async fn machines_are_avoided_only_where_the_operator_has_it_so_and_the_answer_is_told() {
    for allowed in [true, false] {
        let act = ActParams { avoid: allowed, ..ActParams::default() };
        let (mut room, mut am) = (Room::with(ShimParams { act, ..one_look() }, 1_000), Am::new(1, 1, 1));
        room.from = Origin::Loopback;
        room.cluster.runs(&am);
        let mut hello = am.clone().next()["hello"].clone();
        hello["can"] = json!(["duplicate", "avoid", "dance"]);
        room.settled(&mut am, json!({"hello": hello})).await.unwrap();
        am.hello = false;
        room.own(&[am.job()]);
        let plan = Some(MeasurePlan::Avoid { hosts: vec!["nm2".into()], lasts: Millis(300_000) });
        let made = Measure::new(am.job(), MeasureKind::Avoid, Verdict::Decided, Mode::Act, plan);
        assert_eq!(Order::of_measure(&made), None, "it is only said");
        let ordered = Some(MeasureOrder { decision: 4, deadline: room.now.wall + Millis(5_000) });
        let put = room.desk.order(Order::of_measure(&Measure { order: ordered, ..made }).unwrap(), room.now);
        assert_eq!(put, if allowed { Ok(()) } else { Err(Unsent::Unable) });
        let actions = json!(room.next(&mut am, json!({})).actions);
        if !allowed {
            assert_eq!(actions, json!([]));
            continue;
        }
        let id = action_id(INCARNATION, 4);
        let said = json!({"id": id, "type": "avoid", "deadline_ms": 4_000, "avoid": ["nm2"], "for_ms": 300_000});
        assert_eq!(actions, json!([said]));
        room.own_facts();
        room.next(&mut am, json!({"acks": [ack(4, "too_many_nodes", &[])]}));
        assert_eq!(room.own_facts(), [acked(am.job(), 4, Answer::TooManyNodes, &[])]);
    }
}

#[tokio::test]
async fn maps_run_again_only_where_the_operator_has_it_so_and_the_answer_is_told() {
    for allowed in [true, false] {
        let act = ActParams { rerun: allowed, ..ActParams::default() };
        let (mut room, mut am) = (Room::with(ShimParams { act, ..one_look() }, 1_000), Am::new(1, 1, 1));
        room.from = Origin::Loopback;
        room.cluster.runs(&am);
        let mut hello = am.clone().next()["hello"].clone();
        hello["can"] = json!(["duplicate", "rerun"]);
        room.settled(&mut am, json!({"hello": hello})).await.unwrap();
        am.hello = false;
        room.own(&[am.job()]);
        let output = am.job().task(TaskKind::Map, 1).attempt(3);
        let (host, outputs, missed_by) = ("nm2".to_owned(), vec![output], vec![0, 2]);
        let plan = Some(MeasurePlan::Rerun { host, outputs, missed_by, whole: true, unusable: false });
        let order = Some(MeasureOrder { decision: 4, deadline: room.now.wall + Millis(5_000) });
        let made = Measure::new(am.job(), MeasureKind::Rerun, Verdict::Decided, Mode::Act, plan);
        let put = room.desk.order(Order::of_measure(&Measure { order, ..made }).unwrap(), room.now);
        assert_eq!(put, if allowed { Ok(()) } else { Err(Unsent::Unable) });
        let actions = json!(room.next(&mut am, json!({})).actions);
        let id = action_id(INCARNATION, 4);
        let said = json!({"id": id, "type": "rerun", "deadline_ms": 4_000, "outputs": [[1, 3]]});
        assert_eq!(actions, if allowed { json!([said]) } else { json!([]) });
        room.own_facts();
        if allowed {
            room.next(&mut am, json!({"acks": [ack(4, "no_output", &[])]}));
            assert_eq!(room.own_facts(), [acked(am.job(), 4, Answer::NoOutput, &[])]);
        }
    }
}

#[tokio::test]
async fn a_session_that_moves_to_the_network_loses_its_lease_and_the_engine_hears_of_it() {
    let (mut room, mut am) = owned().await;
    room.next(&mut am, json!({}));
    room.from = Origin::Network;
    room.drain();
    assert_eq!(room.next(&mut am, json!({})).lease_ms, 0);
    assert!(room.told().contains(&Fact::Can(am.job(), Capabilities::default())));
}

#[tokio::test]
async fn an_action_is_repeated_with_the_same_id_until_it_is_answered_and_its_sending_is_told_once() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 17, 30_000), room.now).unwrap();
    let reply = room.next(&mut am, json!({}));
    let expected = json!([{"id": format!("{INCARNATION}-17"), "type": "duplicate", "deadline_ms": 10_000, "k": "m", "i": 1,
        "copies": 1, "live": 1, "avoid": ["nm2"], "moves": 6}]);
    assert_eq!(json!(reply.actions), expected, "it never outlasts the lease");
    assert_eq!(reply.next_exchange_ms, 250);
    assert_eq!(room.own_facts(), [Fact::Sent { job: am.job(), decision: 17 }]);
    // That answer was lost: the same again.
    assert_eq!(json!(room.next(&mut am, json!({})).actions)[0]["id"], expected[0]["id"]);
    assert_eq!(room.own_facts(), []);
    let reply = room.next(&mut am, json!({"acks": [ack(17, "applied", &[1])]}));
    assert_eq!((reply.actions.len(), reply.next_exchange_ms), (0, 1_000));
    assert_eq!(room.own_facts(), [acked(am.job(), 17, Answer::Applied, &[1])]);
    // The shim repeats it until it has seen a 200.
    room.next(&mut am, json!({"acks": [ack(17, "applied", &[1])]}));
    assert_eq!(room.own_facts(), []);
    room.next(&mut am, json!({"acks": [ack(17, "moved", &[2])]}));
    assert_eq!(room.own_facts(), [acked(am.job(), 17, Answer::Moved, &[2])]);
    assert_eq!(room.metric("drover_shim_answers_total", "applied"), 1.0);
    assert_eq!(room.desk.metrics.actions_sent.get(), 1);
}

#[tokio::test]
async fn own_facts_carry_the_services_epoch_and_clock_and_the_jobs_application() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 1, 5_000), room.now).unwrap();
    room.next(&mut am, json!({}));
    room.next(&mut am, json!({"acks": [ack(1, "committing", &[])]}));
    let own: Vec<_> = room.drain().into_iter().filter(|o| o.source.channel == Channel::Own).collect();
    assert_eq!(own.len(), 2);
    assert!(own[0].seq < own[1].seq);
    for seen in own {
        assert_eq!((seen.source.app, seen.source.incarnation), (Some(am.job().0), EPOCH));
        assert_eq!((seen.source.principal, seen.at), (None, seen.received));
    }
}

#[tokio::test]
async fn an_action_past_its_deadline_is_sent_no_more_and_its_late_answer_still_counts() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 1, 1_500), room.now).unwrap();
    room.desk.order(order(&room, am.job(), 2, 900), room.now).unwrap();
    let reply = room.next(&mut am, json!({}));
    let left: Vec<_> = reply.actions.iter().map(|action| action.deadline_ms).collect();
    assert_eq!(left, [500], "the second is too late already");
    assert!(room.next(&mut am, json!({})).actions.is_empty());
    room.own_facts();
    room.next(&mut am, json!({"acks": [ack(1, "past_deadline", &[]), ack(2, "applied", &[1])]}));
    assert_eq!(room.own_facts(), [acked(am.job(), 1, Answer::PastDeadline, &[])]);
    assert_eq!(room.refused("unknown_action"), 1, "the second was never sent");
}

#[tokio::test]
async fn an_order_whose_end_is_known_before_it_was_sent_is_never_sent() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 1, 30_000), room.now).unwrap();
    room.desk.call_off(Am::new(2, 1, 2).job(), 1);
    assert_eq!(room.next(&mut am, json!({})).actions.len(), 1, "it is another job's that is over");
    room.desk.order(order(&room, am.job(), 2, 30_000), room.now).unwrap();
    for decision in [1, 2] {
        room.desk.call_off(am.job(), decision);
    }
    room.own_facts();
    assert!(room.next(&mut am, json!({})).actions.is_empty());
    room.next(&mut am, json!({"acks": [ack(1, "task_ended", &[])]}));
    assert_eq!(room.own_facts(), [acked(am.job(), 1, Answer::TaskEnded, &[])]);
}

#[tokio::test]
async fn answers_that_mean_nothing_here_are_counted_by_name_and_refuse_nothing() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 1, 30_000), room.now).unwrap();
    room.next(&mut am, json!({}));
    room.own_facts();
    let foreign = json!({"id": "0123456789abcdef-1", "outcome": "applied", "attempts": [1]});
    let acks = json!([foreign, ack(9, "applied", &[1]), ack(1, "sure", &[1]), {"id": "", "outcome": "applied"}]);
    let reply = room.next(&mut am, json!({"acks": acks, "native": {"launched": 0, "held": 3}}));
    assert_eq!(room.own_facts(), []);
    assert_eq!(reply.actions.len(), 1, "an answer that cannot be read is no answer");
    let counted = ["foreign_action", "unknown_action", "unknown_outcome"].map(|reason| room.refused(reason));
    assert_eq!(counted, [2, 1, 1]);
    room.next(&mut am, json!({"acks": [ack(1, "applied", &[1, 1_000])], "native": {"launched": 0, "held": 5}}));
    assert_eq!(room.own_facts(), [acked(am.job(), 1, Answer::Applied, &[1])]);
    assert_eq!(room.refused("bad_attempt_number"), 1, "the first AM has no attempt 1,000");
    assert_eq!(room.desk.metrics.native_held.get(), 5);
}

#[tokio::test]
async fn an_answer_to_what_an_earlier_process_left_open_in_that_job_is_passed_on_beside_the_facts() {
    let (mut room, mut am) = owned().await;
    let mut other = Am::new(2, 1, 2);
    room.seat(&mut other).await;
    room.desk.acting.expect([(am.job(), "0123", 7)].into_iter());
    let answer = |decision| json!([{"id": action_id("0123", decision), "outcome": "moved", "attempts": [2]}]);
    room.next(&mut am, json!({"acks": answer(7)}));
    let batches = std::iter::from_fn(|| room.facts.try_recv().ok());
    let (facts, late): (Vec<_>, Vec<_>) = batches.map(|batch| (batch.facts, batch.late)).unzip();
    assert!(facts.concat().iter().all(|seen| !matches!(seen.fact, Fact::Acked(_))));
    let ack = AckFact { job: am.job(), decision: 7, answer: Answer::Moved, attempts: vec![2] };
    assert_eq!(late.concat(), [Late { incarnation: "0123".into(), ack }]);
    assert_eq!(room.refused("foreign_action"), 0);
    room.next(&mut am, json!({"acks": answer(8)}));
    room.next(&mut other, json!({"acks": answer(7)}));
    assert_eq!(room.refused("foreign_action"), 2, "what nobody waits for, and what another job answers");
}

#[tokio::test]
async fn a_new_am_takes_over_nothing_of_what_the_old_one_was_asked() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 1, 30_000), room.now).unwrap();
    assert_eq!(room.next(&mut am, json!({})).actions.len(), 1);
    let mut second = Am::new(1, 2, 7);
    room.seat(&mut second).await;
    let reply = room.next(&mut second, json!({"acks": [ack(1, "applied", &[1])]}));
    assert_eq!((reply.launcher, reply.actions.len()), (Launcher::Drover, 0));
    assert_eq!((room.own_facts(), room.refused("unknown_action")), (vec![], 1));
    assert!(room.send(&am.key.clone(), &am.next()).is_err());
}

#[tokio::test]
async fn answers_in_a_request_whose_rows_do_not_fit_still_count() {
    let (mut room, mut am) = owned().await;
    room.desk.order(order(&room, am.job(), 1, 30_000), room.now).unwrap();
    room.next(&mut am, json!({}));
    room.own_facts();
    let reply = room.next(&mut am, json!({"base": 40, "upto": 50, "acks": [ack(1, "applied", &[1])]}));
    assert!(reply.snapshot && reply.actions.is_empty());
    assert_eq!(room.own_facts(), [acked(am.job(), 1, Answer::Applied, &[1])]);
}

#[tokio::test]
async fn an_order_for_a_job_without_a_session_or_beyond_the_bound_is_refused_by_name() {
    let act = ActParams { actions: 2, ..ActParams::default() };
    let (room, am) = owned_with(ShimParams { act, ..one_look() }).await;
    assert_eq!(room.desk.order(order(&room, Am::new(9, 1, 9).job(), 1, 5_000), room.now), Err(Unsent::NoSession));
    let puts = [1, 2, 3].map(|decision| room.desk.order(order(&room, am.job(), decision, 5_000), room.now));
    assert_eq!(puts, [Ok(()), Ok(()), Err(Unsent::Full)]);
}

#[tokio::test]
async fn a_lease_outlasts_three_exchanges_however_slow_their_pace() {
    let (mut room, mut am) = owned_with(ShimParams { exchanges_per_s: 1, ..one_look() }).await;
    for n in 2..=6 {
        room.seat(&mut Am::new(n, 1, n as u8)).await;
    }
    let reply = room.next(&mut am, json!({}));
    assert_eq!((reply.next_exchange_ms, reply.lease_ms), (6_000, 24_000));
}

#[tokio::test]
async fn of_two_services_the_one_with_the_lower_epoch_acts_no_more_not_even_where_the_other_was_not_seen() {
    let (mut room, mut am) = owned().await;
    let mut other = Am::new(2, 1, 2);
    room.seat(&mut other).await;
    room.own(&[am.job(), other.job()]);
    assert_eq!(room.next(&mut am, json!({})).launcher, Launcher::Drover);

    let (out, _facts) = mpsc::channel(100);
    let identity = Identity { epoch: EPOCH + 1, incarnation: "ffff".into() };
    let younger = Desk::new(one_look(), identity, room.cluster.clone(), out, metrics(&Registry::new()));
    let older = std::mem::replace(&mut room.desk, younger);
    am.hello = true;
    let reply = room.settled(&mut am, json!({})).await.unwrap();
    am.hello = false;
    room.own(&[am.job()]);
    assert_eq!((reply.epoch, room.next(&mut am, json!({})).launcher), (EPOCH + 1, Launcher::Drover));
    assert_eq!(room.desk.higher_epoch(room.now), None);

    let _younger = std::mem::replace(&mut room.desk, older);
    assert_eq!(room.next(&mut am, json!({"epoch": EPOCH + 1})).launcher, Launcher::Native);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.next(&mut other, json!({})).launcher, Launcher::Native);
    assert_eq!(room.desk.higher_epoch(room.now), Some(EPOCH + 1));
    // The only job that has met the younger one is gone. Others may still be with it, and so it is given way to for a while.
    room.desk.end(am.job().0);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.next(&mut other, json!({})).launcher, Launcher::Native);
    room.now.mono = room.now.mono + RIVAL_REMEMBERED + Millis(1);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.desk.higher_epoch(room.now), None);
}
