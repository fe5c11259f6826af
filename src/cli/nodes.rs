//! `drover nodes`: how healthy each node is, the costliest first.

use super::Common;
use super::client::{Client, NoAnswer, Service};
use super::output::{self, Failure};
use crate::api::health::{MeasureView, StragglingView};
use crate::api::views::NodeView;
use crate::api::{Nodes, PAGE_MAX};
use crate::words;
use clap::Args;

const EXAMPLES: &str = "\
Asks the running service, which learns from the jobs that end while it watches. Nodes on which work costs most come first.

  factor     how many times longer tasks take there for their data than is typical of their phases (Mantri); 1 is an ordinary node
  straggles  probability that a task there runs at less than half the usual rate (Dolly): by five minutes, then by the hour
  loses      probability that the output of a map there is lost and made again (Mantri), by the day
  work       LATE's work of the jobs that run now: the progress scores of succeeded and running attempts; slow is below SlowNodeThreshold
  tasks      tasks that factor and straggles by the hour rest on, older hours counting less
  users      whose tasks these are, up to eight: what one user's tasks tell alone is that user's word

Below them stands how often tasks straggle anywhere, by the hour: Dolly's p, by which clones are counted once enough tasks have shown it.

Examples:
  drover nodes
  drover nodes --json | jq -r '.nodes[] | select(.health.cost > 1.5) | .node'";

const LEARNS: &str = "nodes' health is learned while a service watches";

/// `drover nodes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Service,
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let client = self.service.client(common)?;
        let nobody = || {
            format!(
                "no service answers at {}; {LEARNS}: start one with `drover serve`, or name another with --service URL",
                client.base()
            )
        };
        let mut all = all(&client).await.map_err(|why| why.or(nobody))?;
        worst_first(&mut all.nodes);
        match self.json {
            true => output::json(&all),
            false => Ok(output::say(&text(&all))?),
        }
    }
}

/// Every node, page by page.
async fn all(client: &Client) -> Result<Nodes, NoAnswer> {
    let mut nodes: Vec<NodeView> = Vec::new();
    loop {
        let after = nodes.last().map_or_else(String::new, |last| format!("&after={}", last.node));
        let page: Nodes = client.get(&format!("api/v1/nodes?limit={PAGE_MAX}{after}")).await?;
        let is_last = page.nodes.len() < PAGE_MAX;
        nodes.extend(page.nodes);
        if is_last {
            return Ok(Nodes { straggling: page.straggling, nodes });
        }
    }
}

fn value(measure: &Option<MeasureView>) -> Option<f64> {
    measure.as_ref().map(|measure| measure.value)
}

/// By what work costs there, then by how often tasks straggle.
fn worst_first(nodes: &mut [NodeView]) {
    let straggles = |node: &NodeView| value(&node.health.straggles_hourly).unwrap_or(0.0);
    nodes.sort_by(|a, b| {
        let by_cost = b.health.cost.total_cmp(&a.health.cost);
        by_cost.then(straggles(b).total_cmp(&straggles(a))).then(a.node.cmp(&b.node))
    });
}

/// Every node, then what holds of any.
fn text(all: &Nodes) -> String {
    let help = "`drover nodes --help` tells what each column is.";
    format!("{}\n\n{} {help}", table(&all.nodes), anywhere(&all.straggling))
}

fn anywhere(p: &StragglingView) -> String {
    let known = match &p.probability {
        Some(shown) => {
            let (tasks, by) = (shown.evidence.floor(), users(shown.principals));
            format!("Anywhere {} of tasks straggle, by {tasks:.0} tasks; users: {by}.", words::share(shown.value))
        }
        None => "No task has shown yet how often tasks straggle.".into(),
    };
    let lacks = p.lacks().map(|lacks| match p.prior {
        0.0 => format!(" Nothing is cloned before enough have shown it: {lacks}."),
        prior => format!(" Until enough have shown it, {lacks}, clones are counted by {}.", words::share(prior)),
    });
    known + &lacks.unwrap_or_default()
}

fn table(nodes: &[NodeView]) -> String {
    if nodes.is_empty() {
        return "the ResourceManager lists no nodes, or has not been read yet".into();
    }
    let mut table =
        output::table(&["node", "rack", "state", "factor", "straggles", "hourly", "loses", "work", "tasks", "users"]);
    let none = || "–".to_owned();
    let share = |measure: &Option<MeasureView>| value(measure).map_or_else(none, words::share);
    for node in nodes {
        let health = &node.health;
        let work = value(&health.work).map_or_else(none, |work| format!("{work:.1}"));
        let basis = health.straggles_hourly.as_ref();
        table.add_row([
            node.node.clone(),
            node.rack.clone(),
            node.state.clone(),
            value(&health.location_factor).map_or_else(none, |factor| format!("{factor:.2}")),
            share(&health.straggles),
            share(&health.straggles_hourly),
            share(&health.loses_output),
            if health.slow { work + " slow" } else { work },
            basis.map_or_else(none, |basis| format!("{:.1}", basis.evidence)),
            basis.map_or_else(none, |basis| users(basis.principals)),
        ]);
    }
    table.to_string()
}

fn users(principals: u64) -> String {
    const MANY: u64 = drover_core::estimate::users::PRINCIPALS_MAX as u64;
    if principals < MANY { principals.to_string() } else { format!("{MANY}+") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::estimate::health::{Measure, NodeHealth};
    use drover_core::model::{NodeFact, Resources};

    fn node(host: &str, factor: Option<f64>, straggles: f64, principals: usize) -> NodeView {
        let told = NodeFact::usable(host, Resources::default(), Resources::default());
        let fact = NodeFact { rack: "/r1".into(), ..told };
        let measure = |value| Measure { value, last: None, evidence: 12.5, principals };
        let told = factor.is_some().then(|| measure(straggles));
        let location_factor = factor.map(measure);
        let health =
            NodeHealth { straggles_hourly: told, location_factor, slow: straggles > 0.5, ..NodeHealth::default() };
        NodeView::of(&fact, &health)
    }

    #[test]
    fn the_nodes_on_which_work_costs_most_come_first_and_those_never_heard_of_count_as_ordinary() {
        let mut nodes = vec![
            node("a", None, 0.0, 0),
            node("b", Some(0.9), 0.0, 2),
            node("c", Some(3.0), 0.8, 1),
            node("d", Some(1.0), 0.1, 8),
        ];
        worst_first(&mut nodes);
        assert_eq!(nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["c", "d", "a", "b"]);
        let text = table(&nodes);
        let row = |host: &str| {
            text.lines().find(|line| line.trim().starts_with(host)).unwrap().split_whitespace().collect::<Vec<_>>()
        };
        assert_eq!(row("c"), ["c", "/r1", "RUNNING", "3.00", "–", "80", "%", "–", "–", "slow", "12.5", "1"]);
        assert_eq!(row("d").last(), Some(&"8+"));
        assert!(table(&[]).contains("lists no nodes"));
    }

    #[test]
    fn below_the_nodes_it_says_how_often_tasks_straggle_anywhere_and_what_is_lacking_to_clone_by_it() {
        let p = |tasks: f64, prior| {
            let shown = MeasureView { value: 0.08, last_window: None, evidence: tasks, principals: 8 };
            let probability = (tasks > 0.0).then_some(shown);
            text(&Nodes { straggling: StragglingView { probability, tasks_needed: 100.0, prior }, nodes: Vec::new() })
        };
        assert!(p(0.0, 0.0).contains("No task has shown yet"));
        assert!(p(37.5, 0.0).contains("8 % of tasks straggle, by 37 tasks; users: 8+. Nothing is cloned before"));
        assert!(p(37.5, 0.1).contains("shown it, 37 of 100 tasks so far, clones are counted by 10 %."));
        assert!(!p(100.0, 0.0).contains("so far"));
    }
}
