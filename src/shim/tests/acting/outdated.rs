//! Orders for an answer or a job that is over.

use super::*;

#[tokio::test]
async fn an_answer_that_the_sessions_next_request_has_overtaken_takes_no_order_and_the_next_ones_does() {
    let (mut room, mut am) = owned().await;
    let answers = [(); 2].map(|()| {
        room.later(1_000);
        room.exchange(&am.key.clone(), &am.next()).unwrap()
    });
    room.desk.order(order(&room, am.job(), 1, 30_000), room.now).unwrap();
    room.drain();
    for (answer, orders) in answers.into_iter().zip([0, 1]) {
        let (mut reply, awaits) = (answer.reply, answer.awaits.unwrap());
        room.desk.add_orders(&mut reply, &awaits.seat, room.now);
        assert_eq!((reply.actions.len(), room.own_facts().len()), (orders, orders), "{reply:?}");
    }
}

#[tokio::test]
async fn nothing_is_ordered_of_a_shim_whose_application_has_ended() {
    let (room, am) = owned().await;
    room.desk.end(am.job().0);
    assert_eq!(room.desk.order(order(&room, am.job(), 1, 5_000), room.now), Err(Unsent::Unable));
}
