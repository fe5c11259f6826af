import re
import unittest

from lab import monitoring, promql

OF_TARGET = {"job", "instance", "cluster"}
SEVERITIES = {"critical", "warning", "info"}
SAID = re.compile(r"\$labels\.(\w+)")
LEGEND = re.compile(r"\{\{(\w+)\}\}")
AGGREGATED = re.compile(r"\b(?:sum|avg|max|min) by \(([^()]*)\)")
CHOICE = re.compile(r"label_values\((\w+(?:\{[^{}]*\})?), (\w+)\)")
FIRING = re.compile(
    r"""expr: 'ALERTS\{alertname="(\w+)",alertstate="firing"\}'\n\s*eval_time: \S+\n\s*exp_samples:( \[\])?"""
)
YIELDING = re.compile(r"expr: '([^\n]*)'\n\s*eval_time: \S+\n\s*exp_samples:\n")


def unknown(expressions: list, more: set) -> list:
    """What expressions name that is not there: series, or labels that those series do not have."""
    known, found = monitoring.known(), []
    for expression in expressions:
        series = promql.selectors(expression)
        found += [one.name for one in series if one.name not in known]
        for one in series:
            labels = {*known.get(one.name, ()), *OF_TARGET}
            found += [f"{one.name}{{{label}}}" for label, _, _ in one.matchers if label not in labels]
        has = {label for one in series for label in known.get(one.name, ())} | OF_TARGET
        found += [f"{label} in {expression}" for label in (promql.grouped(expression) | more) - has]
    return found


class Expressions(unittest.TestCase):
    def test_the_series_and_labels_of_an_expression_are_found_whatever_is_around_them(self):
        text = 'sum without (end) (rate(a_total{end!="won",to=~"x|y"}[1h])) / on (job) avg_over_time(b[1d:5m]) > 1e3'
        self.assertEqual([one.name for one in promql.selectors(text)], ["a_total", "b"])
        self.assertEqual(promql.selectors(text)[0].matchers, (("end", "!=", "won"), ("to", "=~", "x|y")))
        self.assertEqual(promql.grouped(text), {"end", "job"})
        alternatives = [str(one) for one in promql.selectors(text)[0].alternatives()]
        self.assertEqual(alternatives, ['a_total{to="x",end!="won"}', 'a_total{to="y",end!="won"}'])

    def test_an_alert_without_its_conditions_is_all_that_it_reads_joined_as_it_joins(self):
        asked = {
            "a > 0.5": ["a"],
            "a == 0 or absent(b > 1)": ["a", "absent(b > 1)"],
            '(a > 1.5 or b{x=~"y or z"} < 0.67) and c >= 50': ["a and c", 'b{x=~"y or z"} and c'],
            "a >= 0.95 and ignoring (x) b > 0.25": ["a and ignoring (x) b"],
            "a < 0.5 * b and c != 2 unless (d > 0 or e == 1)": ["a and 0.5 * b and c", "d", "e"],
            "sum by (x) (a) > 0": ["sum by (x) (a)"],
            "(a) + (b) > 0": ["(a) + (b)"],
        }
        self.assertEqual({text: promql.unconditioned(text) for text in asked}, asked)

    def test_what_is_not_there_is_found(self):
        said = unknown(['drover_nothing / drover_breaker{reason="x"}', "sum by (end) (drover_holds)"], {"policy"})
        self.assertEqual(said[:2], ["drover_nothing", "drover_breaker{reason}"])
        self.assertTrue(said[2].startswith("end in sum") or said[3].startswith("end in sum"), said)

    def test_the_page_of_metrics_is_read(self):
        documented = monitoring.documented()
        self.assertEqual(set(documented["drover_observations_dropped_total"]), {"channel", "reason"})
        self.assertIn("le", documented["drover_estimate_error_ratio_bucket"])
        self.assertIn("drover_holds", documented)


class Rules(unittest.TestCase):
    def test_rules_name_only_metrics_and_labels_that_there_are(self):
        for rule in monitoring.rules():
            said = {word for key in ("summary", "description") for word in SAID.findall(rule.fields.get(key, ""))}
            self.assertEqual(unknown([rule.expr], said), [], rule.name)

    def test_recorded_metrics_say_their_level_their_metric_and_the_operation(self):
        for rule in monitoring.rules("record"):
            self.assertRegex(rule.name, r"^instance(_[a-z]+)*:drover_[a-z_]+:[a-z][a-z0-9_]*$")

    def test_every_alert_says_how_bad_what_and_what_to_do(self):
        alerts = monitoring.rules("alert")
        self.assertEqual(len({alert.name for alert in alerts}), len(alerts))
        for alert in alerts:
            self.assertIn(alert.fields.get("severity"), SEVERITIES, alert.name)
            self.assertGreater(len(alert.fields.get("description", "")), len(alert.fields["summary"]), alert.name)
            self.assertEqual(alert.fields.get("runbook_url"), f"docs/runbooks/{alert.name}.md")

    def test_every_alert_has_its_page_and_every_page_its_alert(self):
        pages = {page.stem: page.read_text() for page in monitoring.RUNBOOKS.glob("*.md")}
        self.assertEqual(sorted(pages), sorted(alert.name for alert in monitoring.rules("alert")))
        for name, text in pages.items():
            self.assertTrue(text.startswith(f"# {name}\n"), name)
            for part in ("How to check", "What to do", "When it can be ignored", "Why it waits as long as it does"):
                self.assertIn(f"\n## {part}\n", text, name)

    def test_pages_name_only_metrics_that_there_are_and_pages_that_there_are(self):
        known = monitoring.known()
        for page in sorted(monitoring.RUNBOOKS.glob("*.md")):
            text = page.read_text()
            for name in re.findall(r"(?:[a-z_]+:)?\bdrover_[a-z_]+(?::[a-z0-9_]+)?", text):
                self.assertTrue(name in known or f"{name}_bucket" in known, f"{page.name}: {name}")
            for link in re.findall(r"\]\(([^)]+\.md)\)", text):
                self.assertTrue((page.parent / link).is_file(), f"{page.name}: {link}")

    def test_every_alert_is_tested_to_fire_and_not_to_and_every_recorded_metric_to_yield_a_value(self):
        texts = [file.read_text() for file in sorted((monitoring.PROMETHEUS / "tests").glob("*.yml"))]
        cases = {case for text in texts for case in FIRING.findall(text)}
        for alert in monitoring.rules("alert"):
            self.assertIn((alert.name, ""), cases, "is never tested to fire")
            self.assertIn((alert.name, " []"), cases, "is never tested not to fire")
        yielding = {one.name for text in texts for case in YIELDING.findall(text) for one in promql.selectors(case)}
        self.assertEqual([rule.name for rule in monitoring.rules("record") if rule.name not in yielding], [])


class Dashboards(unittest.TestCase):
    def test_panels_name_only_metrics_and_labels_that_there_are(self):
        for panel in monitoring.panels():
            for target in panel.about["targets"]:
                said = unknown([target["expr"]], set(LEGEND.findall(target["legendFormat"])))
                self.assertEqual(said, [], f"{panel.file}: {panel.title}")

    def test_legends_name_every_label_by_which_series_of_a_panel_differ(self):
        for panel in monitoring.panels():
            for target in panel.about["targets"]:
                expression = target["expr"]
                by = AGGREGATED.search(expression)
                first = promql.selectors(expression)[0]
                fixed = {label for label, how, _ in first.matchers if how == "="} | {"le"}
                differ = {*monitoring.known()[first.name], "instance"} - fixed
                if by:
                    differ = {label.strip() for label in by.group(1).split(",")}
                said = set(LEGEND.findall(target["legendFormat"]))
                self.assertEqual(said, differ, f"{panel.file}: {panel.title}")

    def test_every_panel_has_a_description_and_a_unit_and_takes_its_source_from_the_variable(self):
        for panel in monitoring.panels():
            what = f"{panel.file}: {panel.title}"
            self.assertGreater(len(panel.about.get("description", "")), 20, what)
            self.assertTrue(panel.unit, what)
            self.assertTrue(panel.exprs, what)
            for one in (panel.about, *panel.about["targets"]):
                self.assertEqual(one["datasource"], {"type": "prometheus", "uid": "${datasource}"}, what)

    def test_a_share_of_nothing_is_told_in_words_and_not_as_a_number_in_a_colour(self):
        for panel in monitoring.panels():
            if panel.about["type"] == "stat" and ":ratio" in " ".join(panel.exprs):
                what = f"{panel.file}: {panel.title}"
                self.assertTrue(all(one.endswith(" >= 0") for one in panel.exprs), what)
                self.assertTrue(panel.about["fieldConfig"]["defaults"].get("noValue"), what)

    def test_every_dashboard_chooses_its_source_and_service_and_none_is_another(self):
        boards = monitoring.dashboards()
        self.assertEqual(len(boards), 4)
        for file, board in boards.items():
            variables = {one["name"]: one for one in board["templating"]["list"]}
            self.assertEqual(variables["datasource"]["type"], "datasource", file)
            self.assertLessEqual({"datasource", "cluster", "instance"}, set(variables), file)
            for one in (one for one in variables.values() if one["type"] == "query"):
                series, label = CHOICE.fullmatch(one["query"]["query"]).groups()
                self.assertEqual(unknown([series], {label}), [], file)
                if one["name"] != "cluster":
                    self.assertIn(("cluster", "=~", "$cluster"), promql.selectors(series)[0].matchers, file)
            self.assertEqual(board["uid"], file[: -len(".json")])
            self.assertIsNone(board.get("id"), file)
            ids = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(set(ids)), len(ids), file)

    def test_every_panel_heeds_the_chosen_cluster_and_service(self):
        for panel in monitoring.panels():
            for one in (one for expression in panel.exprs for one in promql.selectors(expression)):
                for label in ("cluster", "instance"):
                    self.assertIn((label, "=~", f"${label}"), one.matchers, f"{panel.file}: {panel.title}")

    def test_panels_do_not_lie_on_each_other(self):
        for file, board in monitoring.dashboards().items():
            taken = set()
            for panel in board["panels"]:
                at = panel["gridPos"]
                cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
                self.assertFalse(taken & cells, f"{file}: {panel['title']}")
                self.assertLessEqual(at["x"] + at["w"], 24)
                taken |= cells


if __name__ == "__main__":
    unittest.main()
