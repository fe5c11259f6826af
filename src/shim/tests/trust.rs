//! Who is believed, and who is not.

use super::super::desk::Origin;
use super::super::params::{ProofParams, ShimParams};
use super::super::reply::Why;
use super::super::table::Seat;
use super::super::trust::{AppLife, VouchError};
use super::super::values::Key;
use super::{Am, Room, mac, one_look, why};
use drover_core::model::{AppAttemptId, Channel, Fact};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn rows() -> serde_json::Value {
    json!({"upto": 1, "tasks": [{"k": "m", "i": 0, "s": "RUNNING"}]})
}

#[tokio::test]
async fn facts_before_the_proof_stands_are_not_applied_and_afterwards_carry_the_vouched_user() {
    let (mut room, mut am) = (Room::new(), Am::new(21, 2, 1));
    room.cluster.runs(&am);
    let first = room.send(&am.key.clone(), &am.with(rows())).unwrap();
    assert!(!first.accepted && first.ack == 0 && first.next_exchange_ms == 253);
    assert!(room.drain().is_empty());
    let reply = room.settled(&mut am, rows()).await.unwrap();
    assert!(reply.accepted && reply.ack == 1 && reply.epoch == 3 && reply.next_exchange_ms == 1_000);
    let told = room.drain();
    for o in &told {
        assert_eq!(o.source.channel, Channel::Shim);
        assert_eq!((o.source.app, o.source.principal.as_deref()), (Some(am.job().0), Some("alice")));
        assert_eq!((o.source.incarnation, o.at.0, o.received), (2, 1_795_182_435_000, room.now.wall));
    }
    assert!(told.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(told[0].fact, Fact::ShimSession(am.job(), true));
    let Fact::Job(job) = &told[2].fact else { panic!("{:?}", told[2]) };
    assert_eq!((job.queue.as_str(), job.name.as_str()), ("root.vouched", "word count"), "the queue is the RM's word");
    assert!(matches!(told[3].fact, Fact::Settings(..)));
    assert!(matches!(&told[4].fact, Fact::Tasks { tasks, complete: false, .. } if tasks.len() == 1));
    assert_eq!(room.metric("drover_shim_proofs_total", "held"), 1.0);
}

#[tokio::test]
async fn a_proof_that_is_missing_or_made_with_another_key_is_wrong() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs_without_proof(&am);
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::WrongProof);
    let mut thief = Am { key: Key::from([99; 32]), ..Am::new(2, 1, 2) };
    room.cluster.runs(&Am::new(2, 1, 2));
    assert_eq!(why(room.settled(&mut thief, json!({})).await), Why::WrongProof);
    assert_eq!(room.metric("drover_shim_proofs_total", "wrong_proof"), 2.0);
}

#[tokio::test]
async fn a_proof_that_appears_a_little_later_is_found() {
    let proofs = ProofParams { patience_ms: 60_000, ..ProofParams::default() };
    let (room, mut am) = (Room::with(ShimParams { proofs, ..ShimParams::default() }, 10), Am::new(1, 1, 1));
    // Neither has the AM registered, nor does its page answer.
    room.cluster.runs_without_proof(&am);
    room.cluster.apps.lock().unwrap().get_mut(&am.job().0).unwrap().life = AppLife::Starting;
    room.cluster
        .diagnostics
        .lock()
        .unwrap()
        .insert(am.job(), Err(VouchError::Unavailable("connection refused".into())));
    assert!(!room.send(&am.key.clone(), &am.next()).unwrap().accepted);
    while room.cluster.asked.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    room.cluster.publishes(&am);
    let mut reply = room.send(&am.key.clone(), &am.next()).unwrap();
    while !reply.accepted {
        tokio::time::sleep(Duration::from_millis(10)).await;
        reply = room.send(&am.key.clone(), &am.next()).unwrap();
    }
    assert_eq!(
        room.cluster.asked.load(Ordering::Relaxed),
        2,
        "one look too early, one in time; exchanges in between ask nothing"
    );
}

#[tokio::test]
async fn an_application_of_another_user_is_refused() {
    let (room, mut am) = (Room::new(), Am { user: "mallory".into(), ..Am::new(1, 1, 1) });
    room.cluster.runs(&Am::new(1, 1, 1));
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::ForeignApplication);
}

#[tokio::test]
async fn a_job_that_the_service_may_not_view_is_refused_by_that_name_while_it_runs() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs_without_proof(&am);
    room.cluster.diagnostics.lock().unwrap().insert(am.job(), Err(VouchError::Hidden));
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::MayNotView);
    assert_eq!(room.metric("drover_shim_proofs_total", "may_not_view"), 1.0);
}

#[tokio::test]
async fn an_owner_that_is_not_told_is_not_taken_for_another_user() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    room.cluster.unsure.lock().unwrap().insert(am.job().0);
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::NotVouched, "which is asked again");
}

#[tokio::test]
async fn a_session_speaks_about_its_own_application_only() {
    let (mut room, mut am, mut other) = (Room::new(), Am::new(1, 1, 1), Am::new(2, 1, 2));
    room.seat(&mut am).await;
    room.seat(&mut other).await;
    let of = |n: u32| format!("appattempt_1795181650543_{n:04}_000001");
    assert_eq!(why(room.send(&am.key.clone(), &am.with(json!({"job": other.job()})))), Why::ForeignApplication);
    let both = json!({"job": other.job(), "attempt": of(2)});
    assert_eq!(why(room.send(&am.key.clone(), &am.with(both))), Why::UnknownSession);
    let newer = json!({"attempt": "appattempt_1795181650543_0001_000002"});
    assert_eq!(why(room.send(&am.key.clone(), &am.with(newer))), Why::ForeignApplication);
    // Not even under the other's name, which anyone can read in the job's diagnostics.
    let named = json!({"job": other.job(), "attempt": of(2), "session": other.session});
    assert_eq!(why(room.send(&am.key.clone(), &am.with(named))), Why::WrongMac);
    assert!(room.drain().is_empty());
}

#[tokio::test]
async fn a_finished_or_unknown_application_has_no_session() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::NotVouched);
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    room.cluster.apps.lock().unwrap().get_mut(&am.job().0).unwrap().life = AppLife::Ended;
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::FinishedApplication);
}

#[tokio::test]
async fn a_session_ends_with_its_application() {
    let (mut room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.seat(&mut am).await;
    assert!(room.desk.has_live_session(am.job(), room.now));
    room.desk.end(am.job().0);
    assert!(!room.desk.has_live_session(am.job(), room.now));
    assert_eq!(why(room.send(&am.key.clone(), &am.next())), Why::FinishedApplication);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.told(), [Fact::ShimSession(am.job(), false)]);
}

#[tokio::test]
async fn a_cluster_that_cannot_be_asked_vouches_for_no_one() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    room.cluster.diagnostics.lock().unwrap().insert(am.job(), Err(VouchError::Unavailable("x".repeat(5_000))));
    let refusal = room.settled(&mut am, json!({})).await.unwrap_err();
    assert_eq!(refusal.why, Why::NotVouched);
    assert!(refusal.message.contains("could not be asked") && refusal.message.len() <= 300);
}

#[tokio::test]
async fn a_body_that_its_key_does_not_authenticate_changes_nothing() {
    let (mut room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    let wrong = Key::from([7; 32]);
    assert_eq!(why(room.send(&wrong, &am.next())), Why::WrongMac);
    assert_eq!(room.cluster.asked.load(Ordering::Relaxed), 0, "the cluster is not even asked");
    room.seat(&mut am).await;
    assert_eq!(why(room.send(&wrong, &am.with(rows()))), Why::WrongMac);
    let body = serde_json::to_vec(&am.with(rows())).unwrap();
    let mut changed = body.clone();
    let at = changed.len() - 3;
    changed[at] ^= 1;
    for (code, body) in [("", &body), ("zz", &body), (mac::sign(&am.key, &body).as_str(), &changed)] {
        assert!(room.desk.exchange(room.now, Origin::Loopback, code, body).is_err());
    }
    assert!(room.drain().is_empty());
    assert_eq!(room.send(&am.key.clone(), &am.with(rows())).unwrap().ack, 1);
}

#[tokio::test]
async fn two_masters_claiming_one_job_are_told_apart_by_the_jobs_diagnostics() {
    let (mut room, mut true_one, mut liar) = (Room::new(), Am::new(1, 1, 1), Am::new(1, 1, 2));
    room.seat(&mut true_one).await;
    assert_eq!(why(room.settled(&mut liar, rows()).await), Why::TwoMasters);
    // The same under the true one's name: its name is public, its key is not.
    let mut namesake = Am { session: true_one.session.clone(), ..Am::new(1, 1, 3) };
    assert_eq!(why(room.settled(&mut namesake, rows()).await), Why::TwoMasters);
    assert!(room.drain().is_empty());
    assert!(room.send(&true_one.key.clone(), &true_one.next()).unwrap().accepted, "the true one is not disturbed");
}

#[tokio::test]
async fn a_second_session_whose_proof_stands_too_takes_over_for_good() {
    let (mut room, mut old, mut new) = (Room::new(), Am::new(1, 1, 1), Am::new(1, 1, 2));
    room.seat(&mut old).await;
    let replaced = room.desk.table.holder(old.job()).unwrap().id;
    room.cluster.publishes(&new);
    assert!(room.settled(&mut new, json!({})).await.unwrap().accepted);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(why(room.send(&old.key.clone(), &old.next())), Why::Superseded);
    old.hello = true;
    assert_eq!(why(room.send(&old.key.clone(), &old.next())), Why::Superseded, "or the two would take turns for ever");
    let views = room.desk.views(room.now);
    assert_eq!(views.len(), 1);
    room.later(room.desk.params.expiry_ms + 1);
    room.desk.sweep(room.now, 1.0);
    assert!(!room.desk.table.was_replaced(old.job(), replaced), "which costs memory until it is long gone");
}

#[tokio::test]
async fn the_second_am_takes_the_place_of_the_first_and_the_first_cannot_come_back() {
    let (mut room, mut first, mut second) = (Room::new(), Am::new(1, 1, 1), Am::new(1, 2, 2));
    room.seat(&mut first).await;
    // The ResourceManager may not know of the second AM yet.
    room.cluster.publishes(&second);
    assert_eq!(why(room.settled(&mut second, json!({})).await), Why::NotVouched);
    let mut second = Am { seq: 0, ..Am::new(1, 2, 4) };
    room.cluster.runs(&second);
    assert!(room.settled(&mut second, json!({})).await.unwrap().accepted);
    assert!(room.drain().iter().all(|o| o.source.incarnation == 2));
    assert_eq!(why(room.send(&first.key.clone(), &first.next())), Why::Superseded);
    let mut late = Am::new(1, 1, 5);
    room.cluster.publishes(&late);
    assert_eq!(why(room.send(&late.key.clone(), &late.next())), Why::Superseded);
    // Even where no session of the newer AM is held, the ResourceManager knows better.
    let (other, mut late) = (Room::new(), Am::new(1, 1, 5));
    other.cluster.runs(&second);
    other.cluster.publishes(&late);
    assert_eq!(why(other.settled(&mut late, json!({})).await), Why::Superseded);
    let attempt: AppAttemptId = "appattempt_1795181650543_0001_000002".parse().unwrap();
    assert_eq!(room.desk.views(room.now)[0].attempt, attempt);
}

#[tokio::test]
async fn two_requests_of_a_new_session_at_the_same_time_seat_it_once() {
    let (mut room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.seat(&mut am).await;
    room.send(&am.key.clone(), &am.with(rows())).unwrap();
    let held = room.desk.table.holder(am.job()).unwrap();
    let again = Seat::new(held.id, held.key.clone(), held.hash, held.lock().profile.clone(), room.now);
    assert!(Arc::ptr_eq(&held, &room.desk.table.seat(again, &room.desk.params, room.now).unwrap()));
    assert_eq!(held.lock().ack, 1);
}

#[tokio::test]
async fn an_older_am_whose_proof_was_found_just_before_the_newer_one_was_seated_takes_no_seat_from_it() {
    let (mut room, mut newer) = (Room::new(), Am::new(1, 2, 1));
    room.seat(&mut newer).await;
    let held = room.desk.table.holder(newer.job()).unwrap();
    let mut profile = held.lock().profile.clone();
    profile.attempt.number = 1;
    let older = Seat::new([7; 16].into(), held.key.clone(), held.hash, profile, room.now);
    let refusal = room.desk.table.seat(older, &room.desk.params, room.now).err();
    assert_eq!(refusal.map(|refusal| refusal.why), Some(Why::Superseded));
    assert!(Arc::ptr_eq(&held, &room.desk.table.holder(newer.job()).unwrap()));
}

#[tokio::test]
async fn a_flood_of_false_claims_does_not_keep_the_true_am_out() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    for nonce in 10..14 {
        let mut liar = Am::new(1, 1, nonce);
        assert_eq!(why(room.settled(&mut liar, json!({})).await), Why::WrongProof);
    }
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
}

#[tokio::test(start_paused = true)]
async fn one_look_at_an_application_serves_all_claims_to_it() {
    let room = Room::with(ShimParams::default(), 10);
    let (mut am, mut liars) = (Am::new(1, 1, 1), (10..13).map(|nonce| Am::new(1, 1, nonce)).collect::<Vec<_>>());
    room.cluster.runs(&am);
    for liar in &mut liars {
        assert!(!room.send(&liar.key.clone(), &liar.next()).unwrap().accepted);
    }
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
    assert_eq!((room.cluster.asked.load(Ordering::Relaxed), room.cluster.read.load(Ordering::Relaxed)), (1, 1));
}

/// How many times the job's page was read before the true AM was believed, while others take all places that its job has whenever any is free.
async fn looks_through_a_flood(user: &str) -> Option<usize> {
    let (room, mut am) = (Room::with(ShimParams::default(), 10), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    let mut others = 1_000_000..;
    for _ in 0..50 {
        for other in others.by_ref().take(8) {
            let mut liar = Am { session: format!("{other:032x}"), user: user.into(), ..Am::new(1, 1, 9) };
            let _ = room.send(&liar.key.clone(), &liar.next());
        }
        match room.send(&am.key.clone(), &am.next()) {
            Ok(reply) if reply.accepted => return Some(room.cluster.read.load(Ordering::Relaxed)),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    None
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_all_places_again_and_again_does_not_keep_the_true_am_out() {
    for user in ["alice", "mallory"] {
        let looks = looks_through_a_flood(user).await;
        assert!(looks.is_some_and(|looks| looks <= 6), "{user}: {looks:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_look_has_shown_bears_out_no_claim_after_half_a_minute() {
    let (room, mut am, mut liar) = (Room::with(ShimParams::default(), 10), Am::new(1, 1, 1), Am::new(1, 1, 2));
    room.cluster.runs(&am);
    assert!(!room.send(&liar.key.clone(), &liar.next()).unwrap().accepted);
    tokio::time::sleep(Duration::from_secs(1)).await;
    room.cluster.hangs.lock().unwrap().insert(am.job());
    let foreign = Am { user: "mallory".into(), ..am.clone() };
    assert!(!room.send(&am.key.clone(), &foreign.clone().next()).unwrap().accepted, "its owner is another");
    let mut thief = Am { key: Key::from([9; 32]), ..am.clone() };
    assert!(!room.send(&thief.key.clone(), &thief.next()).unwrap().accepted, "its key is another");
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert!(!room.send(&am.key.clone(), &am.next()).unwrap().accepted);
}

#[tokio::test]
async fn claims_that_wait_are_bounded_for_each_application_and_in_all() {
    let proofs = ProofParams { pending: 6, at_once: 1, per_application: 4, ..ProofParams::default() };
    let room = Room::with(ShimParams { proofs, ..ShimParams::default() }, 10);
    // Nothing is looked into before the test first waits, so all of them wait.
    let ask = |job, nonce| {
        let mut am = Am::new(job, 1, nonce);
        room.send(&am.key.clone(), &am.next())
    };
    assert!((1..5).all(|nonce| ask(1, nonce).is_ok()));
    assert_eq!(why(ask(1, 5)), Why::TooManySessions);
    assert!(ask(2, 1).is_ok() && ask(3, 1).is_ok());
    assert_eq!(why(ask(4, 1)), Why::TooManySessions);
    assert_eq!(room.desk.views(room.now).len(), 6);
    room.desk.sweep(room.now, 1.0);
    assert_eq!(room.metric("drover_shim_sessions", "pending"), 6.0);
}

#[tokio::test]
async fn a_session_whose_application_was_listed_is_believed_without_a_question_for_it() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    room.cluster.lists(&am);
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
    assert_eq!(room.cluster.asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn what_was_listed_before_a_masters_new_run_refuses_no_session_of_that() {
    let (room, mut am) = (Room::with(one_look(), 10), Am::new(1, 1, 1));
    room.cluster.runs(&am);
    room.cluster.lists(&am);
    am.number = 2;
    room.cluster.runs(&am);
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
    assert_eq!(room.cluster.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn invented_applications_keep_out_none_that_is_listed() {
    let proofs = ProofParams { pending: 6, at_once: 1, ..ProofParams::default() };
    let (room, mut am) = (Room::with(ShimParams { proofs, ..ShimParams::default() }, 10), Am::new(1, 1, 1));
    let ask = |job| {
        let mut am = Am::new(job, 1, 1);
        room.send(&am.key.clone(), &am.next())
    };
    assert!((2..8).all(|job| ask(job).is_ok()));
    assert_eq!(why(ask(8)), Why::TooManySessions);
    room.cluster.runs(&am);
    room.cluster.lists(&am);
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
}

#[tokio::test(start_paused = true)]
async fn masters_that_hang_keep_no_other_session_from_being_believed_once_that_has_shown() {
    let proofs = ProofParams { at_once: 2, look_ms: 1_000, patience_ms: 600_000, ..ProofParams::default() };
    let room = Room::with(ShimParams { proofs, ..ShimParams::default() }, 10);
    for job in 2..=9 {
        let mut hangs = Am::new(job, 1, 1);
        room.cluster.runs(&hangs);
        room.cluster.hangs.lock().unwrap().insert(hangs.job());
        room.send(&hangs.key.clone(), &hangs.next()).unwrap();
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    let (mut am, began) = (Am::new(1, 1, 1), tokio::time::Instant::now());
    room.cluster.runs(&am);
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn sessions_are_bounded() {
    let (mut room, mut second) = (Room::with(ShimParams { sessions: 1, ..one_look() }, 10), Am::new(2, 1, 2));
    room.seat(&mut Am::new(1, 1, 1)).await;
    room.cluster.runs(&second);
    assert_eq!(why(room.settled(&mut second, json!({})).await), Why::TooManySessions);
}

#[tokio::test]
async fn a_key_over_plain_http_is_refused_where_the_operator_says_so() {
    let room = Room::with(ShimParams { require_tls: true, ..one_look() }, 10);
    let mut am = Am::new(1, 1, 1);
    room.cluster.runs(&am);
    assert_eq!(why(room.send(&am.key.clone(), &am.next())), Why::SecretOverPlainHttp);
    let body = serde_json::to_vec(&am.next()).unwrap();
    assert!(room.desk.exchange(room.now, Origin::Loopback, &mac::sign(&am.key, &body), &body).is_ok());
}

#[tokio::test]
async fn a_session_that_came_through_tls_is_refused_in_the_clear_where_the_operator_says_so() {
    let (mut room, mut am) = (Room::with(ShimParams { require_tls: true, ..one_look() }, 1_000), Am::new(1, 1, 1));
    room.from = Origin::Loopback;
    room.seat(&mut am).await;
    room.later(1_000);
    room.from = Origin::Network;
    assert_eq!(why(room.send(&am.key.clone(), &am.next())), Why::SecretOverPlainHttp);
    room.from = Origin::Loopback;
    assert!(room.send(&am.key.clone(), &am.next()).is_ok());
}
