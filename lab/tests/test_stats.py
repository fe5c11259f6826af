import unittest

from lab import stats


def run(seconds: float, copies: int = 0, held: float = 10.0, succeeded: bool = True) -> dict:
    return {
        "seconds": seconds,
        "copies": copies,
        "copies_won": copies,
        "container_seconds": held,
        "succeeded": succeeded,
    }


class Statistics(unittest.TestCase):
    def test_quantiles_of_students_t_are_those_of_the_tables(self):
        for freedom, quantile in ((10, 1.8125), (29, 1.6991), (60, 1.6706)):
            self.assertAlmostEqual(stats.t_quantile(0.95, freedom), quantile, places=3)

    def test_equal_ratios_have_no_spread_and_unequal_ones_a_bound_above_their_mean(self):
        mean, bound = stats.ratio_bound([(2.0, 1.0)] * 30)
        self.assertAlmostEqual(mean, 2)
        self.assertAlmostEqual(bound, 2)
        mean, bound = stats.ratio_bound([(1.1, 1.0), (1.0, 1.1)] * 15)
        self.assertAlmostEqual(mean, 1)
        self.assertTrue(1.02 < bound < 1.05, bound)

    def test_one_pair_has_no_bound(self):
        self.assertEqual(stats.ratio_bound([(3.0, 3.0)]), (1.0, None))

    def test_a_table_names_the_runs_that_failed(self):
        cells = {("job", "none"): stats.summary([run(3), run(1, 2), run(2, succeeded=False)])}
        self.assertEqual(cells["job", "none"]["seconds"], 2)
        self.assertEqual(cells["job", "none"]["copies"], 2)
        self.assertIn("3, 1 FAILED", stats.table(cells))


if __name__ == "__main__":
    unittest.main()
