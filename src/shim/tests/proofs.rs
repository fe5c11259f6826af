//! How long what was found of a claim is remembered, and a claim that nothing was found of yet.

use super::super::params::{ProofParams, ShimParams};
use super::super::reply::Why;
use super::{Am, Room, why};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn a_refused_session_is_looked_into_again_after_its_time_to_try_again_though_it_called_meanwhile() {
    let (room, mut am) = (Room::new(), Am::new(1, 1, 1));
    room.cluster.runs_without_proof(&am);
    assert_eq!(why(room.settled(&mut am, json!({})).await), Why::WrongProof);
    room.cluster.publishes(&am);
    for _ in 0..4 {
        sleep(Duration::from_secs(1)).await;
        room.desk.sweep(room.now, 1.0);
        assert_eq!(why(room.send(&am.key.clone(), &am.next())), Why::WrongProof, "it stands for five seconds");
    }
    sleep(Duration::from_millis(1_100)).await;
    room.desk.sweep(room.now, 1.0);
    assert!(room.settled(&mut am, json!({})).await.unwrap().accepted);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_nobody_comes_back_for_is_forgotten_and_one_whose_session_calls_is_not() {
    let proofs = ProofParams { patience_ms: 600_000, ..ProofParams::default() };
    let (room, mut am) = (Room::with(ShimParams { proofs, ..ShimParams::default() }, 10), Am::new(1, 1, 1));
    room.cluster.runs_without_proof(&am);
    let in_hand_after = async |seconds: u64| {
        sleep(Duration::from_secs(seconds)).await;
        room.desk.sweep(room.now, 1.0);
        room.desk.views(room.now).len()
    };
    assert!(!room.send(&am.key.clone(), &am.next()).unwrap().accepted);
    assert_eq!(in_hand_after(100).await, 1);
    assert!(!room.send(&am.key.clone(), &am.next()).unwrap().accepted);
    assert_eq!([in_hand_after(100).await, in_hand_after(21).await], [1, 0], "two minutes from its last call");
}
