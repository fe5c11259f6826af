//! What a shim tells of bytes.

use super::*;
use drover_core::estimate::shuffle::Shuffles;

/// A job that a shim tells of.
fn job(maps: u32, reduces: u32) -> (Script, JobId) {
    let params = EngineParams { policy: PolicyName::Mantri, ..EngineParams::default() };
    let (mut script, id) = (Script { jobs_by: Channel::Shim, ..Script::new(params) }, job_id(1));
    script.open_job(id, maps, reduces, at(0.0));
    script.say(at(0.0), Fact::ShimSession(id, true));
    (script, id)
}

/// Sixteen maps of 20 s. Some, launched at some second, are ten times slower by their scores and read a byte of their thousand a second: told each second as a shim does,
/// the counters beside the scores. What was decided, and the engine then.
fn maps_with_bytes(slow: &[u32], launched: u32, until: u32) -> (Vec<Decision>, Script) {
    let (mut script, id) = job(16, 0);
    let mut decided = Vec::new();
    for second in 0..until {
        let of = |index: u32| {
            let is_slow = slow.contains(&index);
            let (from, takes, pace) = if is_slow { (launched, 200.0, 1) } else { (0, 20.0, 50) };
            let (mut task, mut attempts) =
                runs_of(id.task(TaskKind::Map, index), &[run(from.into(), takes)], second.into());
            task.input = Some(Bytes(1_000));
            for attempt in &mut attempts {
                attempt.counters.read = Some(Bytes(1_000.min(pace * u64::from(second - from))));
            }
            (task, attempts)
        };
        let (tasks, attempts): (Vec<_>, Vec<_>) = (0..16).map(of).unzip();
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts.concat());
        decided.extend(script.decide(at(second.into())).decisions);
    }
    (decided, script)
}

#[test]
fn what_a_shim_tells_of_a_maps_bytes_is_what_its_first_copy_is_decided_by() {
    // With its peers, and after they have ended.
    for launched in [0, 25] {
        let (decided, _) = maps_with_bytes(&[5], launched, 40);
        assert_eq!(decided.first().map(|copy| copy.task.index), Some(5));
        assert!(decided[0].rule.contains("t_rem by bytes read"), "{launched}: {}", decided[0].rule);
    }
}

#[test]
fn of_the_maps_that_a_shim_tells_of_only_those_that_lag_are_followed() {
    let followed = |until| {
        let (_, script) = maps_with_bytes(&[5, 9], 0, until);
        let job = script.engine.cluster().job(job_id(1)).unwrap();
        let known = job.tasks(TaskKind::Map).filter(|(id, _)| job.intakes.of(id.attempt(0)).is_some());
        known.map(|(id, _)| id.index).collect::<Vec<_>>()
    };
    assert_eq!(followed(10), [5, 9], "by their pace alone, for nothing tells yet how long a copy takes");
    assert_eq!(followed(30), [5, 9]);
    assert_eq!(followed(202), Vec::<u32>::new(), "what has ended is let go");
}

#[test]
fn a_few_reduces_that_a_shim_tells_of_show_how_fast_they_read() {
    let (mut script, id) = job(1, 6);
    let (map, won) = succeeded(id.task(TaskKind::Map, 0), at(0.0), at(2.0));
    script.tasks(id, at(2.0), vec![map]);
    script.attempts(id, at(2.0), vec![won]);
    for index in 0..6 {
        let reduce = id.task(TaskKind::Reduce, index);
        let mut reads = running(reduce, at(1.0), 0.2, "nm1");
        (reads.phase, reads.counters.shuffled) = (Some(drover_core::model::Phase::Copy), Some(Bytes(400)));
        script.attempts(id, at(5.0), vec![reads]);
        let copied = AttemptFact {
            phase: Some(drover_core::model::Phase::Sort),
            copied: Some(at(6.0)),
            ..AttemptFact::of(reduce.attempt(0))
        };
        script.attempts(id, at(6.0), vec![copied]);
        // Its counter has not changed since.
        let (task, ended) = succeeded(reduce, at(1.0), at(9.0));
        script.tasks(id, at(9.0), vec![task]);
        script.attempts(id, at(9.0), vec![ended]);
    }
    let job = script.engine.cluster().job(id).unwrap();
    let whole = |index| job.intakes.whole(id.task(TaskKind::Reduce, index).attempt(0), at(9.0));
    assert_eq!(
        [0, 3, 4].map(|index| whole(index).map(|intake| intake.bytes)),
        [Some(Bytes(400)), Some(Bytes(400)), None]
    );
    let kind = JobKind::of(job).unwrap();
    let mut shuffles = Shuffles::default();
    shuffles.learn(&kind, job, None);
    assert!(shuffles.of(&kind).is_some());
}
