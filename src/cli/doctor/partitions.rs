//! Jobs whose containers go to nodes with a label of which it is not told what their queue may use.

use super::Checks;
use crate::yarn::poll::Clients;
use drover_core::model::{AppFact, ClusterState, Job, JobId, NodeFact, QueueFact, TaskKind};
use std::collections::BTreeSet;

const NAME: &str = "node labels";
const FIX: &str = "see that the queue may use the label (accessible-node-labels, and its capacity there) and that nodes have it. \
     Until then copies go by what is free on the label's nodes alone, and may wait there for a queue that is full";
/// Jobs that are named.
const SHOWN: usize = 5;

/// Looks at each running job's queue, as far as the ResourceManager tells what they ask for: labels of maps or of reduces alone it does not.
pub async fn check(clients: &Clients, checks: &mut Checks) {
    // Where it does not answer, that has been said.
    let (Ok(nodes), Ok(queues)) = (clients.rm.nodes(None).await, clients.rm.queues(None).await) else { return };
    let Ok(apps) = clients.rm.apps(None).await else { return };
    look(nodes.what, queues.what, apps.what.into_iter().map(|seen| seen.fact).collect(), checks);
}

fn look(nodes: Vec<NodeFact>, queues: Vec<QueueFact>, apps: Vec<AppFact>, checks: &mut Checks) {
    let mut cluster = ClusterState::default();
    cluster.nodes.extend(nodes.into_iter().map(|node| (node.host.clone(), node)));
    cluster.queues.extend(queues.into_iter().map(|queue| (queue.name.clone(), queue)));
    cluster.apps.extend(apps.into_iter().map(|app| (app.app, app)));
    if !cluster.has_partitions() {
        return;
    }
    let known: BTreeSet<&str> = cluster.usable_nodes().filter_map(|node| node.label.as_deref()).collect();
    let unknown: Vec<String> = cluster.apps.values().filter_map(|app| trouble(&cluster, &known, app)).collect();
    let labels = known.iter().copied().collect::<Vec<_>>().join(", ");
    match unknown.len() {
        0 => {
            checks.ok(NAME, format!("nodes have labels ({labels}), and each job's queue tells what it may use of them"))
        }
        many => {
            let named = unknown[..many.min(SHOWN)].join("; ");
            let more = if many > SHOWN { format!(" and {} more", many - SHOWN) } else { String::new() };
            checks.warn(NAME, format!("nodes have labels ({labels}): {named}{more}"), FIX);
        }
    }
}

/// Why what a job's queue may use of its nodes is not known.
fn trouble(cluster: &ClusterState, known: &BTreeSet<&str>, app: &AppFact) -> Option<String> {
    let mut job = Job::new(JobId(app.app));
    job.queue.clone_from(&app.queue);
    let label = cluster.label_of(&job, TaskKind::Map);
    let why = match cluster.queue_of(&job) {
        None => format!("its queue {} is not listed", app.queue),
        Some(_) if label.is_empty() => return None,
        Some(_) if !known.contains(label) => format!("it asks for {label}, which no node has"),
        Some(queue) if queue.by_label.contains_key(label) => return None,
        Some(queue) => format!("what its queue {} may use of {label} is not told", queue.name),
    };
    Some(format!("{}: {why}", job.id))
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use drover_core::model::{AppId, QueueShare, Resources, Time};

    fn node(host: &str, label: Option<&str>) -> NodeFact {
        let label = label.map(Into::into);
        NodeFact { label, ..NodeFact::usable(host, Resources::default(), Resources::default()) }
    }

    fn app(seq: u32, queue: &str, label: Option<&str>) -> AppFact {
        AppFact {
            app: AppId { cluster: 7, seq },
            user: "ann".into(),
            queue: queue.into(),
            name: "job".into(),
            started: Time(1),
            containers: 1,
            allocated: Resources::default(),
            label: label.map(Into::into),
        }
    }

    fn said(nodes: Vec<NodeFact>, apps: Vec<AppFact>) -> Option<(Verdict, String)> {
        let by_label = [("gpu".to_owned(), QueueShare::default())].into();
        let etl = QueueFact { partition: Some(String::new()), by_label, ..QueueFact::open("root.etl") };
        let adhoc = QueueFact { partition: Some("gpu".into()), ..QueueFact::open("root.adhoc") };
        let mut checks = Checks::default();
        look(nodes, vec![etl, adhoc], apps, &mut checks);
        checks.0.pop().map(|check| (check.verdict, check.says))
    }

    #[test]
    fn a_job_whose_queues_share_of_its_nodes_is_not_told_is_named_and_why() {
        let nodes = || vec![node("n1", None), node("n2", Some("gpu"))];
        let fine = said(nodes(), vec![app(1, "etl", None), app(2, "etl", Some("gpu"))]).unwrap();
        assert_eq!(fine.0, Verdict::Ok, "{}", fine.1);
        let jobs = vec![app(1, "etl", Some("ssd")), app(2, "adhoc", None), app(3, "none", None)];
        let (verdict, says) = said(nodes(), jobs).unwrap();
        assert_eq!(verdict, Verdict::Warn);
        assert_eq!(
            says,
            "nodes have labels (gpu): job_7_0001: it asks for ssd, which no node has; \
             job_7_0002: what its queue root.adhoc may use of gpu is not told; job_7_0003: its queue none is not listed"
        );
        let many = (1..8).map(|seq| app(seq, "adhoc", None)).collect();
        assert!(said(nodes(), many).unwrap().1.ends_with(" is not told and 2 more"));
    }

    #[test]
    fn where_no_node_has_a_label_nothing_is_said() {
        assert_eq!(said(vec![node("n1", None)], vec![app(1, "none", Some("gpu"))]), None);
    }
}
