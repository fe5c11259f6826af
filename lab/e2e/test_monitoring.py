"""A real Prometheus scrapes the real service where no job runs, and is asked everything that config/ asks of it."""

import re
import tempfile
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

from lab import build, http, monitoring, paths, proc, promql
from lab.progress import Failed
from lab.prometheus import Prometheus
from lab.recorded import IdleCluster

LIMIT_S = 300
SCRAPES = 20
LISTEN = ("listen.api=127.0.0.1:0", "listen.shim=127.0.0.1:0", "listen.metrics=127.0.0.1:0")
METRICS_AT = re.compile(r" metrics=(\S+)")
OF_EVERY_SERIES = {"__name__", "job", "instance", "cluster"}
# Series that come with the first of what they count; every other that an expression names is there from the start.
COME_LATER = {("drover_rest_requests_total", "outcome")}
# Empty until jobs have run: each leaves out what is not a number yet, or is 0.
NEED_JOBS = {
    "instance_estimator_kind:drover_estimate_coverage_ratio:avg",
    "instance_estimator_kind:drover_estimate_wrong_orderings_ratio:avg",
}


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


class Monitored(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        proc.interrupt_on_signals()
        build.drover()
        with ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=paths.TARGET)))
            cluster = stack.enter_context(IdleCluster())
            log = directory / "drover.log"
            # A service without a ledger has none of its metrics.
            chosen = (*LISTEN, f"cluster.rm_urls={cluster.url}", f"ledger.path={directory / 'ledger.db'}")
            settings = [word for one in chosen for word in ("--set", one)]
            process = proc.spawn([paths.drover(), "serve", *settings], log, cwd=directory)
            stack.callback(proc.end_group, process)
            target = cls.until("the service listens", lambda: METRICS_AT.search(log.read_text()), log).group(1)
            cls.prometheus = stack.enter_context(Prometheus(directory, target))
            cls.until("every rule was evaluated on some scrapes", cls.settled, cls.prometheus.log)
            cls.addClassCleanup(stack.pop_all().close)

    @staticmethod
    def until(what: str, found, log: Path):
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            answer = found()
            if answer:
                return answer
            time.sleep(0.2)
        raise Failed(f"{what}: not within {LIMIT_S} s", log)

    @classmethod
    def read(cls) -> list:
        return [rule for group in cls.prometheus.get("rules")["groups"] for rule in group["rules"]]

    @classmethod
    def settled(cls) -> bool:
        scrapes = cls.prometheus.ask('count_over_time(drover_rest_rm_up{job="drover"}[1h])')
        return bool(scrapes) and scrapes[0][1] >= SCRAPES and all(rule["health"] != "unknown" for rule in cls.read())

    def test_prometheus_reads_each_rule_as_the_tests_of_rules_do(self):
        read = {rule["name"]: bare(rule["query"]) for rule in self.read()}
        self.assertEqual(read, {rule.name: bare(rule.expr) for rule in monitoring.rules()})

    def test_no_rule_fails(self):
        self.assertEqual({rule["name"]: rule["lastError"] for rule in self.read() if rule["health"] != "ok"}, {})

    def test_every_recorded_metric_has_values_with_the_labels_of_its_level(self):
        empty = set()
        for rule in monitoring.rules("record"):
            series = self.prometheus.ask(rule.name)
            for labels, _ in series:
                self.assertEqual(set(labels) - OF_EVERY_SERIES, set(rule.labels), rule.name)
            if not series:
                empty.add(rule.name)
        self.assertEqual(empty, NEED_JOBS)

    def test_every_panel_has_data_but_those_that_leave_out_what_only_jobs_bring(self):
        for panel in monitoring.panels():
            for expression in panel.asked:
                named = {one.name for one in promql.selectors(expression)}
                if self.prometheus.ask(expression) or named & NEED_JOBS:
                    continue
                # Nothing but the comparison at its end may be why it is empty.
                self.assertTrue(self.prometheus.ask(monitoring.uncompared(expression)), expression)

    def test_every_series_that_an_expression_names_is_there_whichever_of_its_alternatives(self):
        expressions = [rule.expr for rule in monitoring.rules()]
        expressions += [expression for panel in monitoring.panels() for expression in panel.asked]
        for series in {one for expression in expressions for one in promql.selectors(expression)}:
            later = any((series.name, label) in COME_LATER for label, _, _ in series.matchers)
            if later or series.name in NEED_JOBS:
                continue
            for one in (series, *series.alternatives()):
                self.assertTrue(self.prometheus.ask(str(one)), f"nothing there: {one}")

    def test_a_healthy_service_without_jobs_alarms_nobody(self):
        self.assertEqual(self.prometheus.ask('ALERTS{alertstate="firing"}'), [])

    def test_an_expression_with_an_error_is_told(self):
        with self.assertRaises(http.Unanswered):
            self.prometheus.ask("sum by (")


if __name__ == "__main__":
    unittest.main()
