//! One look at the cluster: is what claims to an application say borne out?

use super::mac::KeyHash;
use super::reply::{Refusal, Why};
use super::trust::{AppLife, AppVouch, Claim, Finding, Vouch, VouchError, Vouched};
use super::values::{SessionId, unhex};
use drover_core::model::{AppAttemptId, AppId, JobId};
use subtle::ConstantTimeEq;

/// An AM posts one proof; of what else stands in its job's diagnostics no more is kept than this.
const PROOFS_KEPT: usize = 8;

/// One look at an application: what it has the cluster asked, it asks once, however many claims to the application there are.
pub struct Look<'a> {
    vouch: &'a dyn Vouch,
    app: AppId,
    asked: Option<Result<AppVouch, VouchError>>,
    page: Option<Result<String, VouchError>>,
}

impl<'a> Look<'a> {
    /// Nothing has been asked yet.
    pub fn at(vouch: &'a dyn Vouch, app: AppId) -> Look<'a> {
        Look { vouch, app, asked: None, page: None }
    }

    /// What was listed of the application, where that confirms the claim. It never refuses one: that has the application asked about.
    pub fn listed(&self, claim: &Claim) -> Option<AppVouch> {
        self.vouch.listed(self.app).filter(|told| told.confirms(claim))
    }

    /// Does the claim hold? The AM's page may lag behind its shim, so what may still come is `NotYet`.
    pub async fn finds(&mut self, claim: &Claim) -> Finding {
        let told = match self.listed(claim) {
            Some(told) => Ok(told),
            None => self.asked().await.clone(),
        };
        let told = match told {
            Ok(told) => told,
            Err(VouchError::NotFound) => {
                let words = format!("the ResourceManager does not know {}", self.app);
                return Finding::Fails(Refusal::new(Why::NotVouched, words));
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
        match self.page().await {
            Ok(text) => match proof(published(text), claim) {
                Some(true) => Finding::Holds(Vouched { user: told.user, queue: told.queue }),
                Some(false) => Finding::Fails(no_proof("the job's diagnostics hold another proof for this session")),
                None => Finding::NotYet(no_proof("the job's diagnostics hold no proof for this session")),
            },
            Err(VouchError::Hidden) => Finding::Fails(Refusal::new(
                Why::MayNotView,
                "Drover's user may not view the job: add it to mapreduce.job.acl-view-job or mapreduce.cluster.administrators",
            )),
            Err(why) => Finding::NotYet(unreachable("the job's page behind the ResourceManager's proxy", why)),
        }
    }

    async fn asked(&mut self) -> &Result<AppVouch, VouchError> {
        let told = match self.asked.take() {
            Some(told) => told,
            None => self.vouch.application(self.app).await,
        };
        self.asked.insert(told)
    }

    async fn page(&mut self) -> &Result<String, VouchError> {
        let told = match self.page.take() {
            Some(told) => told,
            None => self.vouch.job_diagnostics(JobId(self.app)).await,
        };
        self.page.insert(told)
    }

    /// Reads the job's diagnostics for claims that are still to come, where the application may run.
    pub async fn read_ahead(&mut self) {
        let runs = matches!(&self.asked, Some(Ok(told)) if told.life != AppLife::Ended);
        if runs || self.vouch.listed(self.app).is_some() {
            let _ = self.page().await;
        }
    }

    /// What it has shown, for claims that come later.
    pub fn shown(self) -> Option<Shown> {
        let page = self.page?.ok()?;
        let mut proofs: Vec<_> = published(&page).collect();
        proofs.drain(..proofs.len().saturating_sub(PROOFS_KEPT));
        Some(Shown { asked: self.asked.and_then(Result::ok), proofs })
    }
}

/// What a look has shown of an application.
pub struct Shown {
    asked: Option<AppVouch>,
    proofs: Vec<(SessionId, KeyHash)>,
}

impl Shown {
    /// Who is vouched for, where the claim's proof was there already and the ResourceManager's word confirms it, none speaking against it.
    pub fn bears_out(&self, vouch: &dyn Vouch, claim: &Claim) -> Option<Vouched> {
        let words = [vouch.listed(claim.attempt.app), self.asked.clone()];
        if words.iter().flatten().any(|told| contradiction(told, claim).is_some()) {
            return None;
        }
        let told = words.into_iter().flatten().find(|told| told.confirms(claim))?;
        let holds = proof(self.proofs.iter().copied(), claim) == Some(true);
        holds.then_some(Vouched { user: told.user, queue: told.queue })
    }
}

impl AppVouch {
    fn confirms(&self, claim: &Claim) -> bool {
        self.attempt == claim.attempt.number && contradiction(self, claim).is_none()
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

/// All proofs in a job's diagnostics. Hadoop joins these without a separator, so a proof may stand anywhere.
fn published(text: &str) -> impl Iterator<Item = (SessionId, KeyHash)> {
    const LEAD: &str = "drover-proof v1 ";
    const SESSION: usize = 32;
    text.match_indices(LEAD).filter_map(|(at, _)| {
        let (session, hash) = text.get(at + LEAD.len()..at + LEAD.len() + SESSION + 1 + 64)?.split_once(' ')?;
        Some((SessionId::from(unhex(session)?), unhex::<32>(hash)?))
    })
}

/// Do these prove the claim? `Some(false)`: its session for other keys only.
fn proof(published: impl Iterator<Item = (SessionId, KeyHash)>, claim: &Claim) -> Option<bool> {
    let own = published.filter(|(session, _)| *session == claim.session);
    own.map(|(_, hash)| bool::from(hash.ct_eq(&claim.hash))).reduce(|some, one| some || one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_found_between_other_diagnostics_and_only_for_its_own_session_and_key() {
        let session = |digits: &str| SessionId::from(unhex(digits).unwrap());
        let (mine, hash) = (session("00112233445566778899aabbccddeeff"), [0xab; 32]);
        let attempt = "appattempt_1_0001_000001".parse().unwrap();
        let claim = |session, hash| Claim { session, hash, attempt, user: "ada".into() };
        let own = claim(mine, hash);
        let proof = |text: &str, claim: &Claim| proof(published(text), claim);
        let line = format!("drover-proof v1 {mine} {}", hex::encode(hash));
        assert_eq!(proof(&line, &own), Some(true));
        assert_eq!(proof(&format!("Job init{line}drover-proof v1 cut"), &own), Some(true));
        assert_eq!(proof(&format!("é{line}é{line}"), &own), Some(true));
        assert_eq!(proof(&format!("drover-proof v1 {mine} {}{line}", hex::encode([1; 32])), &own), Some(true));
        assert_eq!(proof(&line, &claim(mine, [0xac; 32])), Some(false));
        assert_eq!(proof(&line, &claim(session("ffeeddccbbaa99887766554433221100"), hash)), None);
        assert_eq!(proof(&line[..line.len() - 1], &own), None, "a proof cut short proves nothing");
        assert_eq!(proof(&format!("{}é", &line[..line.len() - 1]), &own), None);
        assert_eq!(proof(&line.to_uppercase(), &own), None);
        assert_eq!(proof("", &own), None);
    }
}
