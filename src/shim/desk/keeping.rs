//! What is done for all sessions: housekeeping, and what others ask about them.

use super::super::session::Now;
use super::super::table::SessionView;
use super::super::told::Told;
use super::Desk;
use drover_core::model::{AppId, Fact, JobId};

impl Desk {
    /// Housekeeping, `seconds` after the last one: tells of sessions that fell silent, forgets old ones, measures the load.
    pub fn sweep(&self, now: Now, seconds: f64) {
        self.proofs.sweep();
        self.rows.sample(self.metrics.rows.get(), seconds);
        let (mut skews, mut leases) = (Vec::new(), 0);
        for seat in self.table.all() {
            let mut session = seat.lock();
            leases += i64::from(session.is_leased(now));
            if session.is_live(now) {
                skews.push(session.skew_ms.unsigned_abs());
            } else if session.open
                && let Ok(room) = self.out.try_reserve()
            {
                session.open = false;
                let facts = vec![Fact::ShimSession(session.profile.job(), false)];
                let at = now.wall.shifted(session.skew_ms);
                self.send(room, &session, Told { facts, ..Told::default() }, at, now, None);
            }
        }
        self.higher_epoch(now);
        self.metrics.leases.set(leases);
        self.table.sweep(&self.params, now);
        skews.sort_unstable();
        let seconds_of = |ms: Option<&u64>| ms.map_or(0.0, |ms| *ms as f64 / 1000.0);
        let median = seconds_of(skews.get(skews.len() / 2));
        self.metrics.skew_seconds.with_label_values(&["median"]).set(median);
        self.metrics.skew_seconds.with_label_values(&["max"]).set(seconds_of(skews.last()));
        self.metrics.pace_seconds.set(f64::from(self.pace_ms()) / 1000.0);
        let counts = [("accepted", self.table.count()), ("live", skews.len()), ("pending", self.proofs.count())];
        for (state, n) in counts {
            self.metrics.sessions.with_label_values(&[state]).set(n as i64);
        }
    }

    /// All believed sessions, and the claims that are being looked into.
    pub fn views(&self, now: Now) -> Vec<SessionView> {
        let seats = self.table.all();
        let mut views: Vec<_> = seats.iter().map(|seat| SessionView::of(&seat.lock(), now)).collect();
        views.extend(self.proofs.claims_in_hand().into_iter().map(SessionView::claimed));
        views.sort_by_key(|view| (view.job, view.attempt));
        views
    }

    /// Does a shim speak for this job, so that it need not be polled?
    pub fn has_live_session(&self, job: JobId, now: Now) -> bool {
        self.table.holder(job).is_some_and(|seat| seat.lock().is_live(now))
    }

    /// The application has ended: its session is told so when it next calls.
    pub fn end(&self, app: AppId) {
        if let Some(seat) = self.table.holder(JobId(app)) {
            seat.lock().ended = true;
        }
    }

    /// Holds none of the job's rows any more, so that the next delta is answered by the wish for a snapshot.
    pub fn ask_snapshot(&self, job: JobId) {
        if let Some(seat) = self.table.holder(job) {
            let mut session = seat.lock();
            session.ack = 0;
            session.summary = None;
            session.open = false;
        }
    }

    /// Highest epoch that a shim heard of now or a while ago has verified, when it is above this service's own: another service speaks to
    /// the same shims.
    pub fn higher_epoch(&self, now: Now) -> Option<u64> {
        let seats = self.table.all();
        let told = seats.iter().filter_map(|seat| {
            let session = seat.lock();
            session.is_live(now).then_some(session.epoch)
        });
        self.acting.rival(told.max().filter(|epoch| *epoch > self.identity.epoch), now.mono)
    }
}
