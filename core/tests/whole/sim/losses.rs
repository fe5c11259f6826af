//! Outputs that are lost and found missing only when they are read, and what Mantri does about them (§5.3). A container is on its way for 0.5 s, a JVM starts in 1.5 s, a commit
//! takes 0.1 s, where nothing else is said.

use super::*;
use drover_core::model::Bytes;
use drover_core::sim::Ideal;
use serde_json::{Value, json};

/// Jobs, by name: those of `of`, each of whose maps runs for ten seconds, and whose reduce reads for four and works for five.
fn jobs(of: &[(&str, f64)]) -> Value {
    let job = |(name, at): &(&str, f64)| {
        json!({
            "name": name, "arrive": {"at": at},
            "maps": {"tasks": 1, "work": 10, "input_mb": 2000, "memory_mb": 1024, "vcores": 1},
            "reduces": {"tasks": 1, "copy": 4, "work": 5, "input_mb": 100, "memory_mb": 512, "vcores": 3},
        })
    };
    of.iter().map(job).collect()
}

/// Maps have room on the first node and on the third, reduces on the second alone, for so many at once.
fn cluster(reduces: u32) -> Value {
    let kinds = json!([
        {"nodes": 1, "vcores": 2},
        {"nodes": 1, "memory_mb": 512 * reduces, "vcores": 3 * reduces},
        {"nodes": 1, "vcores": 2},
    ]);
    json!({"nodes": 3, "kinds": kinds, "network": {"within_mb_s": 50}})
}

/// The first node loses all outputs from then on for so long, and the third is not there before 13 s.
fn trouble(from: f64, lasts: f64, again: f64) -> Value {
    json!([
        {"nodes": [0], "from": from, "lasts": lasts, "again": again, "loses": 1},
        {"nodes": [2], "from": 0, "lasts": 13, "lost": true},
    ])
}

/// Under Mantri, which may compute anew as much as there is, and copies nothing that runs.
fn mantri(scenario: &Scenario, seed: u64) -> Outcome {
    let mut params = EngineParams::paper(PolicyName::Mantri);
    params.govern.cluster_cap = 0.0;
    params.measures.precomputed = 1.0;
    run(scenario, params, seed).unwrap()
}

fn row<'a>(outcome: &'a Outcome, name: &str) -> &'a JobRow {
    outcome.jobs.iter().find(|job| job.name == name).unwrap()
}

#[test]
fn a_loss_shows_when_a_reduce_is_to_read_and_the_reader_waits_for_the_map_to_run_again() {
    let of = |trouble: Value, reduces: u32| {
        let maps = json!({"tasks": 1, "work": 10});
        let job = json!({"name": "a", "maps": maps, "reduces": {"tasks": reduces, "copy": 4, "work": 5}});
        let json = json!({"cluster": {"nodes": 1}, "hadoop": {"slow_start": 1}, "trouble": trouble, "jobs": [job]});
        let outcome = alone(json);
        (took(&outcome)[0], outcome.jobs[0].recomputed)
    };
    let loses = |from: f64, share: f64| json!([{"nodes": [0], "from": from, "lasts": 8, "loses": share}]);
    assert_eq!(of(loses(5.0, 1.0), 0), (12.1, 0), "nobody reads it");
    assert_eq!(of(loses(5.0, 0.0), 1), (23.2, 0));
    // Written at 12.1 s, missed at 14.1 s, there again at 26.2 s, when the node loses nothing any more.
    assert_eq!(of(loses(5.0, 1.0), 1), (35.3, 1));
    assert_eq!(of(loses(13.0, 1.0), 1), (rounded(14.1 + 12.1 + 9.1), 1), "what lies there when it begins is lost, too");
    assert_eq!(of(loses(3.0, 1.0), 1), (23.2, 0), "over before anything was written");
    assert_eq!(of(loses(14.2, 1.0), 1), (23.2, 0), "it has been read by then");
}

#[test]
fn of_all_outputs_that_share_is_lost() {
    let job = json!({"name": "a", "maps": {"tasks": 1_000, "work": 10}, "reduces": {"tasks": 1, "copy": 4, "work": 5}});
    let outcome = alone(json!({
        "cluster": {"nodes": 10, "vcores": 200, "memory_mb": 200_000}, "hadoop": {"slow_start": 1},
        "trouble": [{"share": 1, "from": 13, "lasts": 1, "loses": 0.3}], "jobs": [job],
    }));
    assert!((250..350).contains(&outcome.jobs[0].recomputed), "{}", outcome.jobs[0].recomputed);
}

#[test]
fn the_ideal_loses_nothing() {
    let json = json!({"cluster": cluster(1), "hadoop": {"slow_start": 1}, "trouble": trouble(5.0, 8.0, 0.0), "jobs": jobs(&[("a", 0.0)])});
    let scenario = scenario(json);
    assert_eq!(took(&run(&scenario, drover_core::sim::Actor::Ideal(Ideal::IdealRecompute), 1).unwrap()), [23.2]);
    assert_eq!(took(&under(PolicyName::None, &scenario, 1)), [35.3]);
}

/// A first job shows that the machine loses outputs; the second's reads at 131.1 s what its map wrote at 120.6 s.
fn replicates(can: Value, second: Value) -> Outcome {
    let mut all = vec![json!({"nodes": [0], "from": 5, "lasts": 20, "loses": 1})];
    all.push(second);
    let json = json!({
        "cluster": cluster(1), "trouble": all, "jobs": jobs(&[("a", 0.0), ("b", 100.0)]),
        "hadoop": {"slow_start": 1, "start_up": 10, "can": can},
    });
    let mut scenario = scenario(json);
    scenario.cluster.kinds[2].vcores = Some(0);
    mantri(&scenario, 1)
}

#[test]
fn what_is_lost_is_read_from_its_replica_where_outputs_can_be_kept_twice() {
    let again = json!({"nodes": [0], "from": 125, "lasts": 20, "loses": 1});
    let without = replicates(json!({"duplicate": true}), again.clone());
    assert_eq!((took(&without), row(&without, "b").recomputed), (vec![60.8, 60.8], 1));
    // Of two outputs one was lost: t_redo is 10.3 s, t_rep 2 s. Decided at 121 s, there at 123 s.
    let with = replicates(json!({"duplicate": true, "replicate": true}), again);
    assert_eq!(took(&with), [60.8, 40.2]);
    let kept = row(&with, "b").kept;
    assert_eq!((kept.replicated, kept.replica_used, kept.replicated_bytes), (1, 1, Bytes(100 << 20)));
    assert_eq!([row(&with, "a").kept.replicated, row(&with, "b").recomputed], [0, 0]);
}

#[test]
fn a_replica_that_is_not_whole_when_the_first_is_lost_is_none() {
    let early = json!({"nodes": [0], "from": 122.9, "lasts": 8.5, "loses": 1});
    let outcome = replicates(json!({"duplicate": true, "replicate": true}), early);
    let b = row(&outcome, "b");
    assert_eq!(
        (seconds(b), b.recomputed, b.kept.replicated, b.kept.replica_used),
        (60.8, 1, 2, 0),
        "that of what was made again is another"
    );
}

#[test]
fn a_replica_outlasts_the_node_of_the_first_and_is_lost_with_its_own() {
    let lost = |node: u32| json!({"nodes": [node], "from": 125, "lasts": 1, "lost": true});
    let of = |node| {
        let outcome = replicates(json!({"duplicate": true, "replicate": true}), lost(node));
        let b = row(&outcome, "b");
        (seconds(b), b.recomputed, b.kept.replica_used)
    };
    assert_eq!(of(0), (40.2, 0, 1));
    // The reduce is launched anew on its node, at 126.5 s.
    assert_eq!(of(1), (rounded(26.5 + 10.0 + 4.0 + 5.0 + 0.1), 0, 0));
}

/// The first job's reduce finds its input lost at 14.1 s; the second's waits for its place until 35.3 s.
fn precomputes(can: Value, loses: f64, seed: u64) -> Outcome {
    let mut trouble = trouble(5.0, 10.0, 0.0);
    trouble[0]["loses"] = json!(loses);
    let json = json!({
        "cluster": cluster(1), "hadoop": {"slow_start": 1, "can": can}, "trouble": trouble,
        "jobs": jobs(&[("a", 0.0), ("b", 0.0)]),
    });
    mantri(&scenario(json), seed)
}

#[test]
fn what_else_lies_on_a_machine_that_loses_outputs_is_there_again_before_it_is_missed() {
    let without = precomputes(json!({"duplicate": true}), 1.0, 1);
    assert_eq!((took(&without), row(&without, "b").recomputed), (vec![35.3, 58.5], 1));
    // Decided at 15 s, there at 27.1 s on the third node.
    let with = precomputes(json!({"duplicate": true, "precompute": true}), 1.0, 1);
    assert_eq!((took(&with), row(&with, "b").recomputed), (vec![35.3, 46.4], 0));
    let kept = row(&with, "b").kept;
    assert_eq!([kept.precomputed, kept.precompute_needed, kept.precomputed_in_time], [1, 1, 1]);
    assert!(row(&with, "a").kept.is_none(), "what was missed is no longer to be missed");
}

#[test]
fn what_was_computed_anew_is_needed_where_its_first_output_would_have_been_missed() {
    let (mut needed, mut precomputed) = (0, 0);
    for seed in 0..40 {
        let with = precomputes(json!({"duplicate": true, "precompute": true}), 0.5, seed);
        let without = precomputes(json!({"duplicate": true}), 0.5, seed);
        let kept = row(&with, "b").kept;
        if kept.precomputed > 0 {
            assert_eq!(kept.precompute_needed, row(&without, "b").recomputed, "seed {seed}");
            (needed, precomputed) = (needed + kept.precompute_needed, precomputed + 1);
        }
    }
    assert!(needed > 0 && needed < precomputed, "{needed} of {precomputed}");
}

#[test]
fn a_reader_waits_for_what_is_being_computed_anew_and_for_no_other_run_of_the_map() {
    let json = json!({
        "cluster": cluster(2), "hadoop": {"slow_start": 1, "can": {"duplicate": true, "precompute": true}},
        "trouble": trouble(5.0, 15.0, 0.0), "jobs": jobs(&[("a", 0.0), ("b", 1.0)]),
    });
    let outcome = mantri(&scenario(json), 1);
    let b = row(&outcome, "b");
    // Asked for at 15 s, missed at 15.1 s, there at 27.1 s.
    assert_eq!((seconds(b), b.recomputed), (rounded(27.1 + 9.1 - 1.0), 1));
    assert_eq!([b.kept.precomputed, b.kept.precompute_needed, b.kept.precomputed_in_time], [1, 1, 0]);
    assert_eq!(outcome.attempts, 6, "each map twice, and two reduces");
}
