//! The one thread that owns the engine: facts in, passes when they are due, questions answered in between.

use super::desk::{Again, Desk};
use super::notes::Notes;
use crate::shim::Batch;
use drover_core::model::{Millis, Observation, Time};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Facts that may wait for the engine; whoever brings more waits.
const FACTS_WAITING: usize = 256;
/// Batches of facts that may wait likewise.
const BATCHES_WAITING: usize = 256;
/// Facts or batches taken at once.
const AT_ONCE: usize = 32;
/// Questions that may wait for the engine.
const QUESTIONS_WAITING: usize = 128;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often gauges over the whole state are counted while something happens.
const COUNT_EVERY: Millis = Millis(1_000);

/// How often an engine to which nothing happens says that it lives.
const LIVES_EVERY: Millis = Millis(1_000);

/// Nobody answers: the engine has too much to do, or is stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the service is busy or stopping; try again in a second")]
pub struct Busy;

type Question = Box<dyn FnOnce(&mut Desk) + Send>;

/// Asks the engine's thread. Clones ask the same one.
#[derive(Clone)]
pub struct Asker(mpsc::Sender<Question>);

/// The thread's ends of its channels.
pub struct Inbox {
    facts: mpsc::Receiver<Observation>,
    batches: mpsc::Receiver<Batch>,
    again: mpsc::Receiver<Again>,
    questions: mpsc::Receiver<Question>,
    /// The last event was a question.
    asked: bool,
    /// The last event was a pass.
    passed: bool,
}

impl Inbox {
    /// The facts that wait, if any.
    fn waiting(&mut self) -> Option<Vec<Batch>> {
        let mut all: Vec<Batch> = std::iter::from_fn(|| self.batches.try_recv().ok()).take(AT_ONCE).collect();
        let facts: Vec<Observation> = std::iter::from_fn(|| self.facts.try_recv().ok()).take(AT_ONCE).collect();
        all.extend((!facts.is_empty()).then_some(Batch { facts, ..Batch::default() }));
        (!all.is_empty()).then_some(all)
    }
}

/// What feeds the thread.
pub struct Outside {
    /// Facts, one by one.
    pub facts: mpsc::Sender<Observation>,
    /// Facts, in batches.
    pub batches: mpsc::Sender<Batch>,
    /// The configuration, read again.
    pub again: mpsc::Sender<Again>,
    /// Questions.
    pub asker: Asker,
}

/// The channels between the engine's thread and everything else.
pub fn channels() -> (Outside, Inbox) {
    let (facts, facts_in) = mpsc::channel(FACTS_WAITING);
    let (batches, batches_in) = mpsc::channel(BATCHES_WAITING);
    let (again, again_in) = mpsc::channel(4);
    let (questions, questions_in) = mpsc::channel(QUESTIONS_WAITING);
    let inbox = Inbox {
        facts: facts_in,
        batches: batches_in,
        again: again_in,
        questions: questions_in,
        asked: false,
        passed: false,
    };
    (Outside { facts, batches, again, asker: Asker(questions) }, inbox)
}

impl Asker {
    /// The answer to a question about the state.
    pub async fn ask<T: Send + 'static>(&self, question: impl FnOnce(&Desk) -> T + Send + 'static) -> Result<T, Busy> {
        let (answer, answered) = oneshot::channel();
        let ask: Question = Box::new(move |desk| {
            // Whoever asked may have gone meanwhile, and nobody is answered in vain.
            if !answer.is_closed() {
                let _ = answer.send(question(desk));
            }
        });
        self.0.try_send(ask).map_err(|_| Busy)?;
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            _ => Err(Busy),
        }
    }
}

/// When the engine is asked.
struct Pace {
    shortest: Millis,
    last: Time,
    /// The engine's own wish.
    next: Option<Time>,
    /// Facts have come since it was last asked.
    news: bool,
    counted: Time,
}

impl Pace {
    /// How long to wait before asking next. News never wait longer than the shortest pace, whatever the clock says.
    fn wait(&self, now: Time) -> Option<Millis> {
        let soonest = (self.last + self.shortest).since(now).min(self.shortest);
        let wish = if self.news { Some(Millis(0)) } else { self.next.map(|at| at.since(now)) };
        wish.map(|wait| wait.max(soonest))
    }
}

/// Runs until told to stop, on the thread that calls it.
pub fn run(
    mut desk: Desk,
    mut inbox: Inbox,
    notes: &Notes,
    shortest: Millis,
    clock: &dyn Fn() -> Time,
    runtime: &tokio::runtime::Handle,
    stop: &CancellationToken,
) {
    let mut pace = Pace { shortest, last: Time(0), next: None, news: false, counted: Time(0) };
    let mut told = Vec::new();
    while let Some(event) = runtime.block_on(event(&mut inbox, pace.wait(clock()), stop)) {
        notes.lives();
        match event {
            Event::Quiet => desk.keep_learned(clock()),
            Event::Facts(batches) => {
                for batch in batches {
                    batch.late.iter().for_each(|late| desk.answered_late(clock(), late));
                    for seen in batch.facts {
                        notes.note(&seen);
                        desk.observe(seen);
                    }
                    told.extend(batch.decided);
                }
                notes.ask_again(desk.take_regained());
                pace.news = true;
            }
            Event::Again(again) => {
                desk.read_again(clock(), *again);
                pace.news = true;
            }
            Event::Question(question) => question(&mut desk),
            Event::Due => {
                let now = clock();
                let pass = desk.decide(now);
                (pace.last, pace.next, pace.news) = (now, pass.next, false);
                notes.act(&desk.engine, &pass);
                // Whoever waited may have gone meanwhile.
                told.drain(..).for_each(|waits: oneshot::Sender<()>| _ = waits.send(()));
                notes.hints.publish(&desk.engine);
                desk.keep_learned(now);
                if now.since(pace.counted) >= COUNT_EVERY {
                    desk.count(now);
                    pace.counted = now;
                }
            }
        }
    }
    desk.finish(clock());
}

enum Event {
    Facts(Vec<Batch>),
    Again(Box<Again>),
    Question(Question),
    Due,
    Quiet,
}

/// How long to wait for anything else, and what it is then.
fn longest(wait: Option<Millis>) -> (Millis, Event) {
    wait.filter(|wait| *wait <= LIVES_EVERY).map_or((LIVES_EVERY, Event::Quiet), |wait| (wait, Event::Due))
}

async fn event(inbox: &mut Inbox, wait: Option<Millis>, stop: &CancellationToken) -> Option<Event> {
    if stop.is_cancelled() {
        return None;
    }
    // A pass that is due comes before all else, so that no flood can put it off, and not twice in a row before what waits, so that slow passes cannot either.
    let is_due = wait == Some(Millis(0));
    inbox.passed = is_due && !inbox.passed;
    if inbox.passed {
        return Some(Event::Due);
    }
    // Between two questions facts have their turn, or whoever goes on asking would keep them out.
    if std::mem::take(&mut inbox.asked)
        && let Some(facts) = inbox.waiting()
    {
        return Some(Event::Facts(facts));
    }
    let (wait, then) = longest(wait);
    let facts = async {
        let (mut facts, mut batches) = (Vec::new(), Vec::new());
        // Whichever comes first by lot, so that a flood of one cannot keep the other out.
        tokio::select! {
            count = inbox.batches.recv_many(&mut batches, AT_ONCE), if !inbox.batches.is_closed() => Some(batches).filter(|_| count > 0),
            count = inbox.facts.recv_many(&mut facts, AT_ONCE) => Some(vec![Batch { facts, ..Batch::default() }]).filter(|_| count > 0),
        }
    };
    tokio::select! {
        // A question comes before facts.
        biased;
        () = stop.cancelled() => None,
        () = tokio::time::sleep(Duration::from_millis(wait.0)) => Some(then),
        Some(question) = inbox.questions.recv() => {
            inbox.asked = true;
            Some(Event::Question(question))
        }
        Some(again) = inbox.again.recv() => Some(Event::Again(Box::new(again))),
        facts = facts => facts.map(Event::Facts),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use drover_core::model::Fact;
    use futures::FutureExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn a_flood_of_batches_does_not_keep_single_facts_out() {
        let (outside, mut inbox) = channels();
        let seen = |n| fixture::seen(fixture::job(n), 1, 1, Fact::Nodes(Vec::new()));
        outside.facts.try_send(seen(7)).unwrap();
        for _ in 0..200 {
            while outside.batches.try_send(Batch { facts: vec![seen(1)], ..Batch::default() }).is_ok() {}
            let Some(Event::Facts(facts)) = event(&mut inbox, None, &CancellationToken::new()).await else {
                panic!("no facts")
            };
            if facts.into_iter().flatten().eq([seen(7)]) {
                return;
            }
        }
        panic!("the single fact never came");
    }

    #[tokio::test]
    async fn whoever_goes_on_asking_does_not_keep_facts_out_nor_facts_whoever_asks() {
        let (outside, mut inbox) = channels();
        for _ in 0..3 {
            let question: Question = Box::new(|_| {});
            assert!(outside.asker.0.try_send(question).is_ok());
            outside.facts.try_send(fixture::seen(fixture::job(1), 1, 1, Fact::Nodes(Vec::new()))).unwrap();
        }
        let mut came = Vec::new();
        for _ in 0..4 {
            came.push(match event(&mut inbox, None, &CancellationToken::new()).await {
                Some(Event::Question(_)) => "question",
                Some(Event::Facts(_)) => "facts",
                _ => "another",
            });
        }
        assert_eq!(came, ["question", "facts", "question", "question"], "all facts that waited come at once");
    }

    #[tokio::test]
    async fn a_question_whose_asker_has_gone_is_not_worked_out_and_that_of_one_who_waits_is() {
        let (outside, mut inbox) = channels();
        let mut desk = fixture::watched();
        let worked_out = Arc::new(AtomicU32::new(0));
        let counted = || {
            let worked_out = worked_out.clone();
            outside.asker.ask(move |_| worked_out.fetch_add(1, Ordering::Relaxed))
        };
        let (mut gone, mut waits) = (Box::pin(counted()), Box::pin(counted()));
        assert!(gone.as_mut().now_or_never().is_none() && waits.as_mut().now_or_never().is_none());
        drop(gone);
        for expected in [0, 1] {
            inbox.questions.try_recv().unwrap()(&mut desk);
            assert_eq!(worked_out.load(Ordering::Relaxed), expected);
        }
        assert_eq!(waits.await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_pass_that_is_due_comes_whatever_waits_and_lets_one_other_event_come_before_the_next() {
        let (outside, mut inbox) = channels();
        let mut came = Vec::new();
        for _ in 0..8 {
            while outside.facts.try_send(fixture::seen(fixture::job(1), 1, 1, Fact::Nodes(Vec::new()))).is_ok() {}
            let question: Question = Box::new(|_| {});
            assert!(outside.asker.0.try_send(question).is_ok());
            came.push(match event(&mut inbox, Some(Millis(0)), &CancellationToken::new()).await {
                Some(Event::Due) => "pass",
                Some(Event::Question(_)) => "question",
                Some(Event::Facts(_)) => "facts",
                _ => "another",
            });
        }
        assert_eq!(came, ["pass", "question", "pass", "facts"].repeat(2));
    }

    fn wait(now: u64, next: Option<u64>, news: bool) -> Option<u64> {
        let pace = Pace { shortest: Millis(250), last: Time(1_000), next: next.map(Time), news, counted: Time(0) };
        pace.wait(Time(now)).map(|wait| wait.0)
    }

    #[test]
    fn a_pass_follows_news_at_the_shortest_pace_and_else_only_the_engines_own_wish() {
        assert_eq!(wait(1_000, None, false), None);
        assert_eq!(wait(1_000, None, true), Some(250));
        assert_eq!(wait(1_000, Some(9_000), false), Some(8_000));
        assert_eq!(wait(1_000, Some(9_000), true), Some(250));
        assert_eq!(wait(1_000, Some(1_001), false), Some(250));
        assert_eq!(wait(1_900, Some(1_500), true), Some(0));
    }

    #[test]
    fn an_engine_to_which_nothing_happens_is_heard_of_all_the_same_and_no_pass_comes_before_it_is_due() {
        for (wait, expected) in [(None, 1_000), (Some(9_000), 1_000), (Some(1_001), 1_000)] {
            let (longest, then) = longest(wait.map(Millis));
            assert!(matches!(then, Event::Quiet) && longest == Millis(expected), "{wait:?}");
        }
        for wait in [1_000, 0] {
            let (longest, then) = longest(Some(Millis(wait)));
            assert!(matches!(then, Event::Due) && longest == Millis(wait), "{wait}");
        }
    }

    #[test]
    fn a_clock_that_shows_less_than_before_does_not_stop_the_passes() {
        assert_eq!(wait(3, Some(9_000), true), Some(250));
    }
}
