//! Why a session is believed: the job's diagnostics hold the hash of its key, and the ResourceManager vouches for the rest.

use super::mac::KeyHash;
use super::reply::{Refusal, Why};
use super::values::{SessionId, unhex};
use drover_core::model::{AppAttemptId, AppId, JobId};
use futures::future::BoxFuture;
use subtle::ConstantTimeEq;

/// What only the cluster can say; the REST room answers it through the ResourceManager and its proxy.
pub trait Vouch: Send + Sync + 'static {
    /// What the ResourceManager knows of an application.
    fn application(&self, app: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>>;

    /// What it has said of a running application of its own accord; `None` where it has not, or not lately.
    fn listed(&self, _app: AppId) -> Option<AppVouch> {
        None
    }

    /// A job's diagnostics as its AM shows them through the ResourceManager's proxy.
    fn job_diagnostics(&self, job: JobId) -> BoxFuture<'_, Result<String, VouchError>>;
}

/// What the ResourceManager says of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppVouch {
    /// Its owner.
    pub user: String,
    /// Its queue, where told.
    pub queue: Option<String>,
    /// Where it is in its life.
    pub life: AppLife,
    /// Number of its newest attempt, from 1.
    pub attempt: u32,
}

/// Where an application is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppLife {
    /// Accepted; its AM may run already, but has not registered (YARN's NEW, SUBMITTED, ACCEPTED).
    Starting,
    /// Running.
    Running,
    /// Finished, failed or killed.
    Ended,
}

/// Why the cluster did not say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VouchError {
    /// It answered that there is no such thing.
    #[error("the cluster does not know it")]
    NotFound,
    /// The job's AM does not let Drover's user see its tasks and diagnostics.
    #[error("Drover's user may not view the job")]
    Hidden,
    /// It did not answer, or not in a form that can be read.
    #[error("{0}")]
    Unavailable(String),
}

/// Who a session says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub session: SessionId,
    /// Hash of its key.
    pub hash: KeyHash,
    /// The AM it runs in.
    pub attempt: AppAttemptId,
    /// The user it runs as.
    pub user: String,
}

/// What the ResourceManager vouches for, once the proof stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// The application's owner.
    pub user: String,
    /// Its queue, where told.
    pub queue: Option<String>,
}

/// The result of one look at the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The claim holds.
    Holds(Vouched),
    /// It does not, whatever comes.
    Fails(Refusal),
    /// It does not yet; that is what to answer if it stays so.
    NotYet(Refusal),
}

/// Looks once. The AM's page may lag behind its shim, so what may still come is `NotYet`.
pub async fn check(vouch: &dyn Vouch, claim: &Claim) -> Finding {
    let app = claim.attempt.app;
    // What was listed may confirm a claim, and never refuses one: that has its application asked about.
    let fits = |told: &AppVouch| told.attempt == claim.attempt.number && contradiction(told, claim).is_none();
    let told = match vouch.listed(app).filter(fits) {
        Some(told) => Ok(told),
        None => vouch.application(app).await,
    };
    let told = match told {
        Ok(told) => told,
        Err(VouchError::NotFound) => {
            return Finding::Fails(Refusal::new(Why::NotVouched, format!("the ResourceManager does not know {app}")));
        }
        Err(why) => return Finding::NotYet(unreachable("the ResourceManager", &why)),
    };
    if let Some(refusal) = contradiction(&told, claim) {
        return Finding::Fails(refusal);
    }
    if told.attempt < claim.attempt.number {
        let words = format!("the ResourceManager knows of attempt {} only", told.attempt);
        return Finding::NotYet(Refusal::new(Why::NotVouched, words));
    }
    match vouch.job_diagnostics(JobId(app)).await {
        Ok(text) => match proof(&text, claim.session, &claim.hash) {
            Some(true) => Finding::Holds(Vouched { user: told.user, queue: told.queue }),
            Some(false) => Finding::Fails(no_proof("the job's diagnostics hold another proof for this session")),
            None => Finding::NotYet(no_proof("the job's diagnostics hold no proof for this session")),
        },
        Err(VouchError::Hidden) => Finding::Fails(Refusal::new(
            Why::MayNotView,
            "Drover's user may not view the job: add it to mapreduce.job.acl-view-job or mapreduce.cluster.administrators",
        )),
        Err(why) => Finding::NotYet(unreachable("the job's page behind the ResourceManager's proxy", &why)),
    }
}

fn contradiction(told: &AppVouch, claim: &Claim) -> Option<Refusal> {
    let AppAttemptId { app, number } = claim.attempt;
    if told.life == AppLife::Ended {
        return Some(Refusal::new(Why::FinishedApplication, format!("{app} has ended")));
    }
    if told.user != claim.user {
        return Some(Refusal::new(Why::ForeignApplication, format!("{app} is not this user's")));
    }
    let newer = told.attempt > number;
    newer.then(|| Refusal::new(Why::Superseded, format!("{app} is in attempt {} by now", told.attempt)))
}

fn no_proof(words: &str) -> Refusal {
    Refusal::new(Why::WrongProof, words)
}

fn unreachable(what: &str, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Why::NotVouched, format!("{what} could not be asked: {why}").chars().take(300).collect::<String>())
}

/// Does the text prove the session? `Some(false)`: it proves it for other keys only. Hadoop joins diagnostics without a separator, so a proof may stand anywhere.
fn proof(text: &str, session: SessionId, hash: &KeyHash) -> Option<bool> {
    let lead = format!("drover-proof v1 {session} ");
    let mut seen = None;
    for (at, _) in text.match_indices(&lead) {
        let digits = text.get(at + lead.len()..at + lead.len() + 64);
        if let Some(published) = digits.and_then(unhex::<32>) {
            seen = Some(seen == Some(true) || bool::from(published.ct_eq(hash)));
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digits: &str) -> SessionId {
        serde_json::from_value(serde_json::json!(digits)).unwrap()
    }

    #[test]
    fn a_proof_is_found_between_other_diagnostics_and_only_for_its_own_session_and_key() {
        let (mine, hash) = (id("00112233445566778899aabbccddeeff"), [0xab; 32]);
        let line = format!("drover-proof v1 {mine} {}", hex::encode(hash));
        assert_eq!(proof(&line, mine, &hash), Some(true));
        assert_eq!(proof(&format!("Job init{line}drover-proof v1 cut"), mine, &hash), Some(true));
        assert_eq!(proof(&format!("é{line}é{line}"), mine, &hash), Some(true));
        assert_eq!(proof(&line, mine, &[0xac; 32]), Some(false));
        assert_eq!(proof(&line, id("ffeeddccbbaa99887766554433221100"), &hash), None);
        assert_eq!(proof(&line[..line.len() - 1], mine, &hash), None, "a proof cut short proves nothing");
        assert_eq!(proof(&format!("{}é", &line[..line.len() - 1]), mine, &hash), None);
        assert_eq!(proof(&line.to_uppercase(), mine, &hash), None);
        assert_eq!(proof("", mine, &hash), None);
    }
}
