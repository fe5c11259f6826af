//! Whom restarts over REST reach: no job that loads the shim, which owns its speculation whether it is heard or not.

use super::*;
use crate::service::restarts::tests::restarts_at;
use crate::service::{channels, fixture};
use crate::shim::{AppVouch, Identity, ShimParams, Vouch, VouchError};
use drover_core::model::{Action, AppId, JobSettings};
use futures::future::BoxFuture;
use prometheus::{IntCounterVec, Opts, Registry};

/// A ResourceManager that nobody asks.
struct Rm;

impl Vouch for Rm {
    fn application(&self, _: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>> {
        unreachable!()
    }

    fn job_diagnostics(&self, _: JobId) -> BoxFuture<'_, Result<String, VouchError>> {
        unreachable!()
    }
}

/// A service that restarts over REST, of which none is carried out.
fn service() -> (Arc<Notes>, Arc<Restarts>) {
    let refused = IntCounterVec::new(Opts::new("refused", "Refused."), &["channel", "reason"]).unwrap();
    let metrics = shim::Metrics::new(&Registry::new(), refused).unwrap();
    let identity = Identity { epoch: 9, incarnation: "9f86d081884c7d65".into() };
    let shim = Shim::new(ShimParams::default(), identity, Arc::new(Rm), channels().0.batches, metrics);
    let (notes, restarts) = (Notes::default(), Arc::new(restarts_at("http://127.0.0.1:1".into()).0));
    let _ = (notes.shim.set(shim), notes.restarts.set(Arc::clone(&restarts)));
    (Arc::new(notes), restarts)
}

/// That a job's settings name this class.
fn loads(speculator: Option<&str>) -> Observation {
    let settings = JobSettings { speculator: speculator.map(str::to_owned), ..JobSettings::default() };
    fixture::seen(fixture::job(1), 900, 130_000, Fact::Settings(fixture::job(1), settings))
}

/// How many restarts REST is given of a job that is heard or not, and loads that class.
fn given(is_heard: bool, speculator: Option<&str>) -> usize {
    let (mut engine, _, mut pass) = fixture::decided(is_heard);
    pass.decisions[0].action = Action::Restart;
    engine.observe(&loads(speculator)).unwrap();
    let (notes, restarts) = service();
    notes.act(&engine, &pass);
    restarts.waiting()
}

#[tokio::test]
async fn an_order_for_a_job_that_loads_the_shim_never_goes_over_rest_be_it_heard_or_not() {
    assert_eq!(given(false, None), 1, "there is no other way");
    assert_eq!(given(false, Some("a.Other")), 1);
    assert_eq!(given(false, Some(shim::CLASS)), 0, "it loads the shim, and is not heard");
    assert_eq!(given(true, None), 0, "it is heard, and its settings are not known yet");
}

#[tokio::test]
async fn the_engine_is_told_that_a_job_may_be_killed_over_rest_only_where_that_is_permitted_and_it_loads_no_shim() {
    let ((notes, restarts), mut desk) = (service(), fixture::watched());
    let (asks, job) = (Asks(Arc::clone(&notes)), fixture::job(1));
    assert_eq!((asks.may_kill(job), Asks(Arc::default()).may_kill(job)), (Some(true), None));
    restarts.not_permitted(job);
    assert_eq!(asks.may_kill(job), Some(false), "three kills were turned down");
    restarts.forget(job);
    assert_eq!(asks.may_kill(job), Some(true));
    let seen = loads(Some(shim::CLASS));
    notes.hints.touch(&seen);
    desk.observe(seen);
    notes.hints.publish(&desk.engine);
    assert_eq!(asks.may_kill(job), Some(false), "it loads the shim, and is not heard");
}
