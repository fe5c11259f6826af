import unittest

from lab import monitoring, prometheus


class Promtool(unittest.TestCase):
    """Prometheus' own judgement. Without promtool this fails: ./dev test fetches it."""

    def assert_passes(self, *words):
        done = prometheus.promtool(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_and_alerts_are_well_formed(self):
        self.assert_passes("check", "rules", *sorted({rule.file for rule in monitoring.rules()}))

    def test_the_sample_configuration_loads_every_file_of_rules(self):
        self.assert_passes("check", "config", "prometheus.yml")
        text = (monitoring.PROMETHEUS / "prometheus.yml").read_text()
        for file in {rule.file for rule in monitoring.rules()}:
            self.assertIn(f"- {file}\n", text)

    def test_rules_and_alerts_do_what_their_tests_say(self):
        self.assert_passes("test", "rules", *sorted((monitoring.PROMETHEUS / "tests").glob("*.yml")))


if __name__ == "__main__":
    unittest.main()
