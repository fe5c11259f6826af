use super::*;
use crate::ledger::fixture::{decision, job, kept};
use crate::ledger::schema::Record;
use crate::ledger::tables::DecisionRow;
use drover_core::model::{EndFact, JobId};

/// Jobs that are left without an end at that time, the newest first, and actions by their number.
fn left_at(path: &Path, now: Time) -> (Vec<String>, Vec<u64>) {
    let left = left(path, now).unwrap();
    let jobs = left.jobs.iter().map(|job| job.id.to_string()).collect();
    (jobs, left.actions.iter().map(|one| one.decision).collect())
}

/// Decision `id` of job `n`, which was never enrolled.
fn of_job(n: u32, id: u64, mode: &str) -> DecisionRow {
    let (job, task) = (format!("job_1_{n:04}"), format!("task_1_{n:04}_m_000003"));
    DecisionRow { job, task, ..decision(id, mode) }
}

#[test]
fn jobs_without_an_end_are_left_whether_acted_on_or_held_out_and_none_whose_end_is_written_or_that_were_only_advised_on()
 {
    let mut rows = job(1, false, Some(9), "succeeded");
    rows.extend(job(2, false, None, ""));
    rows.extend(job(3, true, None, ""));
    rows.extend([of_job(4, 7, "act").row(), of_job(4, 8, "act").row(), of_job(5, 9, "advise").row()]);
    rows.extend([DecisionRow { action: "withdraw".into(), ..of_job(6, 10, "act") }.row()]);
    let (_dir, path) = kept(&rows);
    let names = |all: &[u32]| all.iter().map(|n| format!("job_1_{n:04}")).collect::<Vec<_>>();
    assert_eq!(left_at(&path, Time(100)), (names(&[4, 3, 2]), vec![7, 8]));
    let later = Time(3) + LOOK_BACK;
    assert_eq!(left_at(&path, later), (names(&[4, 3, 2]), vec![7, 8]));
    assert_eq!(left_at(&path, later + LOOK_BACK), (names(&[4, 3, 2]), vec![7, 8]), "a job may run for weeks");
}

#[test]
fn of_a_week_ago_actions_are_left_only_where_a_job_without_an_end_was_enrolled_before() {
    let mut rows = vec![of_job(4, 7, "act").row()];
    let later = Time(7) + LOOK_BACK + Millis(1);
    let (_dir, path) = kept(&rows);
    assert_eq!(left_at(&path, later), (vec![], vec![]));
    rows.extend(job(3, true, None, ""));
    let (_dir, path) = kept(&rows);
    assert_eq!(left_at(&path, later), (vec!["job_1_0004".into(), "job_1_0003".into()], vec![7]));
}

#[test]
fn an_action_whose_job_has_an_end_is_left_all_the_same_for_a_week() {
    let mut rows = job(1, false, Some(9), "succeeded");
    rows.push(decision(7, "act").row());
    let (_dir, path) = kept(&rows);
    assert_eq!(left_at(&path, Time(100)), (vec!["job_1_0001".into()], vec![7]));
    rows.extend(job(3, true, None, ""));
    rows.push(of_job(4, 6, "act").row());
    let (_dir, path) = kept(&rows);
    let names = |all: &[u32]| all.iter().map(|n| format!("job_1_{n:04}")).collect::<Vec<_>>();
    let week = Time(7) + LOOK_BACK;
    assert_eq!(
        left_at(&path, week),
        (names(&[4, 3, 1]), vec![6, 7]),
        "of a job that has run for longer, and of its like"
    );
    assert_eq!(left_at(&path, week + Millis(1)), (names(&[4, 3]), vec![6]));
}

#[test]
fn a_job_of_before_the_first_end_that_is_kept_is_left_for_a_week_only_as_its_own_may_have_been_let_go() {
    let mut rows = job(5, false, Some(9), "succeeded");
    rows.extend(job(3, false, None, ""));
    rows.extend(job(6, false, None, ""));
    let (_dir, path) = kept(&rows);
    let week = Time(3) + LOOK_BACK;
    assert_eq!(left_at(&path, week).0, ["job_1_0006", "job_1_0003"]);
    assert_eq!(left_at(&path, week + LOOK_BACK).0, ["job_1_0006"]);
}

#[test]
fn of_a_job_that_is_left_its_enrolment_tells_more_than_its_actions() {
    let mut rows = job(1, false, None, "");
    rows.extend([decision(7, "act").row(), of_job(2, 8, "act").row()]);
    let (_dir, path) = kept(&rows);
    let left = left(&path, Time(100)).unwrap();
    let end = |job: JobId| EndFact { job, state: None, started: None, finished: None, attempts: Vec::new() };
    let told: Vec<_> = left.jobs.iter().map(|one| one.ended(&end(one.id)).0).collect();
    let told: Vec<_> = told.iter().map(|job| (&*job.name, &*job.user, &*job.queue, job.totals, job.held_out)).collect();
    assert_eq!(
        told,
        [("", "ann", "root.etl", None, None), ("daily 1", "ann", "root.etl", Some([20, 2]), Some(false))],
        "newest first"
    );
}

#[test]
fn what_an_earlier_version_has_enrolled_is_left_though_it_did_not_keep_the_draw() {
    let (_dir, path) = kept(&job(1, true, None, ""));
    let connection = Connection::open(path).unwrap();
    let drawn = |connection| of(connection, Time(0)).unwrap().jobs.remove(0).drawn.map(|draw| draw.share);
    assert_eq!(drawn(&connection), Some(0.3));
    connection
        .execute_batch("ALTER TABLE enrolments DROP COLUMN share; ALTER TABLE enrolments DROP COLUMN salt")
        .unwrap();
    assert_eq!(drawn(&connection), None);
    let left = of(&connection, Time(0)).unwrap().jobs.remove(0);
    let (end, _) =
        left.ended(&EndFact { job: left.id, state: None, started: None, finished: None, attempts: Vec::new() });
    assert_eq!((&*end.name, end.totals, end.held_out), ("daily 1", Some([20, 2]), Some(true)));
}

#[test]
fn where_enrolments_cannot_be_read_the_actions_are_known_all_the_same() {
    let mut rows = job(1, false, None, "");
    rows.push(decision(7, "act").row());
    let (_dir, path) = kept(&rows);
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("DROP TABLE enrolments").unwrap();
    let left = of(&connection, Time(0)).unwrap();
    assert_eq!((left.actions.len(), left.jobs.len()), (1, 1));
}
