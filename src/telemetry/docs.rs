//! `docs/metrics.md`, written from the registry.

use prometheus::Registry;
use prometheus::proto::MetricType;
use std::fmt::Write;

const INTRODUCTION: &str = "# Metrics

Every metric that the service shows to Prometheus, with its labels, for whoever writes a query, a rule or a dashboard. `drover config docs --metrics` writes this
page from the registry itself; a test keeps it so. The rules, alerts and dashboards that come with Drover are in [monitoring.md](monitoring.md).

- They are served at `/metrics` on `listen.metrics` in Prometheus' text format.
- No label carries the id of a job, task, attempt or node, so the number of series does not grow with the cluster.
- Counters end in `_total`.
- Label sets that are known beforehand start at zero.

| metric | type | labels | |
|---|---|---|---|
";

/// The page about every metric in the registry. Metrics without a label set yet do not show, so rooms initialise theirs.
pub fn markdown(registry: &Registry) -> String {
    let mut out = INTRODUCTION.to_owned();
    for family in registry.gather() {
        let metrics = family.get_metric();
        let labels = metrics.first().map(|metric| metric.get_label()).unwrap_or_default();
        let labels: Vec<String> = labels.iter().map(|label| format!("`{}`", label.name())).collect();
        let kind = match family.get_field_type() {
            MetricType::COUNTER => "counter",
            MetricType::GAUGE => "gauge",
            MetricType::HISTOGRAM => "histogram",
            MetricType::SUMMARY => "summary",
            MetricType::UNTYPED => "untyped",
        };
        let help = family.help().replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {kind} | {} | {help} |", family.name(), labels.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_page_is_the_generated_one_and_tells_of_every_room() {
        let page = markdown(&crate::service::all_metrics().unwrap());
        let committed =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/metrics.md")).unwrap_or_default();
        assert!(committed == page, "run `drover config docs --metrics > docs/metrics.md`");
        for name in
            ["drover_rest_requests_total", "drover_shim_sessions", "drover_facts_refused_total", "drover_verdicts"]
        {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
