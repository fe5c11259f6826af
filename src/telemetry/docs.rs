//! `docs/metrics.md`, written from the registry.

use prometheus::Registry;
use prometheus::proto::MetricType;
use std::fmt::Write;

const INTRODUCTION: &str = "# Metrics

Served at `/metrics` on `listen.metrics` in Prometheus' text format. Written by `drover config docs --metrics` from the registry itself; a
test keeps it so. No label carries the id of a job, task, attempt or node, so the number of series does not grow with the cluster.
Counters end in `_total`; label sets that are known beforehand start at zero.

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
