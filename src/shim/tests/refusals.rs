//! Requests out of turn: repeated, late, with gaps, too often, when there is no room.

use super::super::acting::RIVAL_REMEMBERED;
use super::super::batch::Waits;
use super::super::params::ShimParams;
use super::super::reply::Why;
use super::{Am, Room, one_look, why};
use drover_core::model::Fact;
use serde_json::json;
use std::sync::atomic::Ordering;

async fn seated(params: ShimParams, batches: usize) -> (Room, Am) {
    let (mut room, mut am) = (Room::with(params, batches), Am::new(1, 1, 1));
    room.seat(&mut am).await;
    (room, am)
}

#[tokio::test]
async fn a_request_that_arrives_twice_is_applied_once_and_gets_the_same_ack() {
    let (mut room, mut am) = seated(one_look(), 100).await;
    let request = am.with(json!({"upto": 4, "tasks": [{"k": "m", "i": 0}]}));
    assert_eq!(room.send(&am.key, &request).unwrap().ack, 4);
    assert!(!room.drain().is_empty());
    let refusal = room.send(&am.key, &request).unwrap_err();
    assert_eq!((refusal.why, refusal.ack), (Why::StaleSequence, Some(4)));
    assert!(room.drain().is_empty());
    // The same rows under a new number, because the answer was lost: held already, and acknowledged as before.
    let again = am.with(json!({"upto": 4, "tasks": [{"k": "m", "i": 0}]}));
    assert_eq!(room.send(&am.key, &again).unwrap().ack, 4);
}

#[tokio::test]
async fn a_request_that_was_overtaken_is_stale_and_changes_nothing() {
    let (mut room, mut am) = seated(one_look(), 100).await;
    let late = am.with(json!({"upto": 4, "attempts": [{"k": "m", "i": 0, "n": 0, "p": 0.1}]}));
    let newer = am.with(json!({"upto": 6, "attempts": [{"k": "m", "i": 0, "n": 0, "p": 0.2}]}));
    assert_eq!(room.send(&am.key, &newer).unwrap().ack, 6);
    room.drain();
    let refusal = room.send(&am.key, &late).unwrap_err();
    assert_eq!((refusal.why, refusal.ack), (Why::StaleSequence, Some(6)));
    assert!(room.drain().is_empty());
}

#[tokio::test]
async fn a_gap_before_the_rows_is_answered_by_the_wish_for_a_snapshot() {
    let (mut room, mut am) = seated(one_look(), 100).await;
    room.send(&am.key.clone(), &am.with(json!({"upto": 4}))).unwrap();
    room.drain();
    let gap = am.with(json!({"base": 5, "upto": 6, "tasks": [{"k": "m", "i": 0}]}));
    let reply = room.send(&am.key, &gap).unwrap();
    assert!(reply.snapshot && reply.ack == 0);
    assert!(room.drain().is_empty());
    let reply =
        room.send(&am.key.clone(), &am.with(json!({"base": 0, "upto": 6, "tasks": [{"k": "m", "i": 0}]}))).unwrap();
    assert!(!reply.snapshot && reply.ack == 6);
}

#[tokio::test]
async fn a_snapshot_can_be_asked_for() {
    let (mut room, mut am) = seated(one_look(), 100).await;
    room.send(&am.key.clone(), &am.with(json!({"upto": 4}))).unwrap();
    room.desk.ask_snapshot(am.job());
    assert!(room.send(&am.key.clone(), &am.with(json!({"base": 4, "upto": 5}))).unwrap().snapshot);
    room.drain();
    assert_eq!(room.send(&am.key.clone(), &am.with(json!({"upto": 5}))).unwrap().ack, 5);
    let told = room.told();
    assert!(told.iter().any(|fact| matches!(fact, Fact::Job(_))), "the summary belongs to it");
    assert!(told.contains(&Fact::ShimSession(am.job(), true)), "and that a shim tells of the job");
}

#[tokio::test]
async fn a_session_of_before_a_restart_of_the_service_says_hello_again() {
    let (mut room, mut am) = (Room::new(), Am::new(1, 1, 1));
    am.hello = false;
    am.seq = 40;
    assert_eq!(why(room.send(&am.key.clone(), &am.with(json!({"base": 30, "upto": 31})))), Why::UnknownSession);
    am.hello = true;
    room.cluster.runs(&am);
    let reply = room.settled(&mut am, json!({"base": 30, "upto": 31})).await.unwrap();
    assert!(reply.accepted && reply.snapshot && reply.ack == 0);
    assert!(room.drain().is_empty(), "a delta on what is not held is no fact");
    assert_eq!(room.send(&am.key.clone(), &am.with(json!({"upto": 31}))).unwrap().ack, 31);
    assert!(matches!(
        room.told()[..],
        [Fact::ShimSession(_, true), Fact::Can(..), Fact::Job(_), Fact::Settings(..), Fact::Needs { .. }]
    ));
}

#[tokio::test]
async fn with_no_room_for_facts_nothing_is_acknowledged_and_nothing_lost() {
    let (mut room, mut am) = seated(one_look(), 1).await;
    let row = |p: f64| json!({"upto": 7, "attempts": [{"k": "m", "i": 0, "n": 0, "p": p}]});
    assert_eq!(room.send(&am.key.clone(), &am.with(json!({"upto": 5}))).unwrap().ack, 5);
    let refused = room.send(&am.key.clone(), &am.with(row(0.5))).unwrap_err();
    assert_eq!((refused.why, refused.ack), (Why::Overloaded, Some(5)));
    assert!(refused.retry_ms >= 4_000, "a full queue is given time");
    room.desk.sweep(room.now, 1.0);
    room.drain();
    let reply = room.send(&am.key.clone(), &am.with(row(0.5))).unwrap();
    assert_eq!(reply.ack, 7);
    assert!(room.told().iter().any(|f| matches!(f, Fact::Attempts { attempts, .. } if attempts[0].score == Some(0.5))));
}

#[tokio::test]
async fn a_session_that_tells_rows_without_end_is_held_up_and_loses_none() {
    let (mut room, mut am) =
        seated(ShimParams { rows_per_s: 120_000, session_rows_burst_s: 1, ..one_look() }, 100).await;
    let rows = json!({"upto": 7, "tasks": vec![json!({"k": "m", "i": 0}); 20_000]});
    for _ in 0..2 {
        assert_eq!(room.send(&am.key.clone(), &am.with(rows.clone())).unwrap().ack, 7);
    }
    let refusal = room.send(&am.key.clone(), &am.with(rows.clone())).unwrap_err();
    assert_eq!((refusal.why, refusal.ack, refusal.retry_ms), (Why::TooFrequent, Some(7), 334));
    room.later(refusal.retry_ms);
    assert_eq!(room.send(&am.key.clone(), &am.with(rows)).unwrap().ack, 7);
}

#[tokio::test]
async fn the_loss_of_a_session_waits_for_room_too() {
    let (mut room, mut am) = seated(one_look(), 1).await;
    room.send(&am.key.clone(), &am.next()).unwrap();
    room.later(20_000);
    room.desk.sweep(room.now, 1.0);
    room.drain();
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.told(), [Fact::ShimSession(am.job(), false)]);
}

#[tokio::test]
async fn few_batches_of_many_rows_fill_the_room_for_facts_too_until_the_engine_takes_them() {
    let (mut room, mut am) = seated(one_look(), 9).await;
    room.drain();
    assert_eq!(room.desk.waiting.load(Ordering::Relaxed), 0);
    let others = Waits::among(&room.desk.waiting, Waits::MAX);
    assert_eq!(room.send(&am.key.clone(), &am.next()).unwrap_err().why, Why::Overloaded);
    drop(others);
    assert!(room.send(&am.key.clone(), &am.next()).is_ok());
    assert!(room.desk.waiting.load(Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn a_new_session_without_room_for_its_facts_is_not_lost() {
    let (mut room, mut am, mut other) = (Room::with(one_look(), 1), Am::new(1, 1, 1), Am::new(2, 1, 2));
    room.seat(&mut other).await;
    room.send(&other.key.clone(), &other.next()).unwrap();
    room.cluster.runs(&am);
    assert_eq!(why(room.settled(&mut am, json!({"upto": 2})).await), Why::Overloaded);
    room.drain();
    assert_eq!(room.settled(&mut am, json!({"upto": 2})).await.unwrap().ack, 2);
    assert_eq!(room.told()[0], Fact::ShimSession(am.job(), true));
}

#[tokio::test]
async fn a_session_that_calls_too_often_is_told_when_to_call_again() {
    let (mut room, mut am) = seated(ShimParams { session_per_s: 2, session_burst: 3, ..one_look() }, 100).await;
    let mut call = |room: &Room| room.send(&am.key.clone(), &am.next());
    assert!(call(&room).is_ok() && call(&room).is_ok());
    let refusal = call(&room).unwrap_err();
    assert_eq!((refusal.why, refusal.retry_ms), (Why::TooFrequent, 500));
    room.later(500);
    assert!(call(&room).is_ok());
}

#[tokio::test]
async fn a_service_of_a_higher_epoch_does_not_go_unnoticed() {
    let (room, mut am) = seated(one_look(), 100).await;
    room.send(&am.key.clone(), &am.with(json!({"epoch": 3}))).unwrap();
    assert_eq!(room.desk.higher_epoch(room.now), None);
    room.send(&am.key.clone(), &am.with(json!({"epoch": 4}))).unwrap();
    assert_eq!(room.desk.higher_epoch(room.now), Some(4));
}

#[tokio::test]
async fn an_epoch_that_one_shim_made_up_is_forgotten_some_time_after_its_session() {
    let (mut room, mut liar) = seated(one_look(), 100).await;
    let mut other = Am::new(9, 1, 9);
    room.send(&liar.key.clone(), &liar.with(json!({"epoch": 1u64 << 50}))).unwrap();
    assert_eq!(room.desk.higher_epoch(room.now), Some(1 << 50));
    room.desk.end(liar.job().0);
    room.later(RIVAL_REMEMBERED.0);
    assert_eq!(room.desk.higher_epoch(room.now), Some(1 << 50));
    room.later(1);
    assert_eq!(room.desk.higher_epoch(room.now), None);
    room.seat(&mut other).await;

    room.send(&other.key.clone(), &other.with(json!({"epoch": 5}))).unwrap();
    assert_eq!(room.desk.higher_epoch(room.now), Some(5));
    room.later(60_000);
    assert_eq!(room.desk.higher_epoch(room.now), Some(5), "it has fallen silent");
    room.later(RIVAL_REMEMBERED.0);
    assert_eq!(room.desk.higher_epoch(room.now), None);
}

#[tokio::test]
async fn thousands_of_sessions_are_held_and_slow_their_pace() {
    let mut room = Room::with(one_look(), 20_000);
    let ams: Vec<_> = (1..=2_000).map(|n| Am::new(n, 1, (n % 251) as u8)).collect();
    ams.iter().for_each(|am| room.cluster.runs(am));
    let mut waiting = ams;
    let mut pace = 0;
    while !waiting.is_empty() {
        let mut still = Vec::new();
        for mut am in waiting {
            let reply = room.send(&am.key.clone(), &am.next()).unwrap();
            pace = pace.max(if reply.accepted { reply.next_exchange_ms } else { 0 });
            if !reply.accepted {
                still.push(am);
            }
        }
        waiting = still;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(room.desk.views(room.now).iter().filter(|view| view.accepted).count(), 2_000);
    assert_eq!(pace, 2_000, "2,000 sessions share 1,000 exchanges a second");
    assert!(room.drain().len() >= 4 * 2_000);
}
