import subprocess
import sys
import unittest

from lab import batches, draws, paths


def slow(words: str) -> list:
    return [tuple(word.split(":")) for word in words.split(",") if word]


class Luck(unittest.TestCase):
    def test_the_same_place_has_the_same_luck_in_another_process_and_another_place_another(self):
        def drawn(*place) -> str:
            return draws.slow_attempts(draws.chance(*place), 4, 0.15, (3, 8))

        words = [
            sys.executable,
            "-c",
            "from lab import draws; print(draws.slow_attempts(draws.chance('a', 1), 4, 0.15, (3, 8)))",
        ]
        elsewhere = subprocess.run(words, cwd=paths.ROOT, capture_output=True, text=True).stdout.strip()
        self.assertEqual(drawn("a", 1), elsewhere)
        self.assertNotEqual(drawn("a", 1), drawn("a", 2))

    def test_so_many_attempts_are_slow_as_were_to_be_by_as_much(self):
        found = slow(draws.slow_attempts(draws.chance("share"), 1000, 0.15, (3, 8)))
        self.assertAlmostEqual(len(found) / (1000 * draws.ATTEMPTS), 0.15, delta=0.015)
        factors = [float(factor) for _, factor in found]
        self.assertTrue(all(3 <= factor <= 8 for factor in factors))
        self.assertAlmostEqual(sum(factors) / len(factors), 5.5, delta=0.2)
        self.assertTrue({name.split("_")[2] for name, _ in found} == set(map(str, range(draws.ATTEMPTS))))

    def test_one_more_task_moves_nobody_elses_luck(self):
        fewer, more = (draws.slow_attempts(draws.chance("x"), tasks, 0.5, (3, 8)) for tasks in (2, 3))
        self.assertTrue(more.startswith(fewer))


class Clones(unittest.TestCase):
    def test_as_many_as_dolly_has_them(self):
        self.assertEqual([draws.copies_of_each(n, 0.15, 0.05) for n in (1, 2, 3, 4, 10)], [2, 2, 3, 3, 3])
        self.assertEqual([draws.copies_of_each(n, 0.1, 0.05) for n in (1, 10)], [2, 3])

    def test_no_group_needs_more_places_than_there_are_and_no_job_is_left_out(self):
        for sizes in ([4, 3, 2, 2, 1, 1], [1] * 9, [4, 4, 4], [2, 3, 1, 3, 2]):
            groups = draws.packed(sizes, batches.places_of, batches.PLACES)
            self.assertTrue(all(sum(map(batches.places_of, group)) <= 12 for group in groups), groups)
            self.assertEqual(sorted(size for group in groups for size in group), sorted(sizes))
        with self.assertRaises(ValueError):
            draws.packed([5], batches.places_of, batches.PLACES)


class Mixes(unittest.TestCase):
    def test_sixty_jobs_most_of_them_small_arrive_within_their_time_and_otherwise_in_each_round(self):
        self.assertEqual(len(draws.MIX_SIZES), 60)
        first, again, other = (draws.mixed(number) for number in (0, 0, 1))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(sorted(size for size, _ in other), sorted(draws.MIX_SIZES))
        times = draws.arrivals(draws.chance("arrivals", 0), 60, 215)
        self.assertEqual((times[0], times[-1], times), (0.0, 215.0, sorted(times)))


class Batches(unittest.TestCase):
    def test_the_jobs_have_the_same_names_and_sizes_in_every_round_and_the_same_in_every_start(self):
        for name, batch in batches.LIVE.items():
            rounds = [batch.jobs(number) for number in (*range(batch.rounds), 0)]
            self.assertEqual(len({tuple(one.name for one in planned) for planned in rounds}), 1, name)
            self.assertEqual(len({one.name for one in rounds[0]}), len(rounds[0]), name)
            self.assertEqual(rounds[0], rounds[-1], name)
            self.assertLessEqual(batch.minutes, 40, name)

    def test_a_stretched_batch_has_the_same_jobs_later_and_another_name(self):
        mix = batches.LIVE["mix"]
        longer = mix.stretched(1.5)
        first, then = mix.jobs(0), longer.jobs(0)
        self.assertEqual([one.settings for one in first], [one.settings for one in then])
        self.assertEqual([round(1.5 * one.at, 2) for one in first], [one.at for one in then])
        self.assertEqual(then[-1].at, 1.5 * batches.MIX_WITHIN_S)
        self.assertNotEqual(repr(mix), repr(longer))

    def test_dollys_jobs_are_slow_by_attempt_each_round_anew_and_never_more_than_twelve_places_at_once(self):
        batch = batches.LIVE["dolly"]
        lucks = [[one.settings.get("lab.slow.attempts") for one in batch.jobs(number)] for number in range(3)]
        self.assertEqual(len(set(map(tuple, lucks))), 3)
        for wave in range(3):
            of_wave = [one for one in batch.jobs(0) if one.wave == wave]
            self.assertTrue(0 < sum(batches.places_of(one.tasks) for one in of_wave) <= 12)

    def test_nothing_is_slow_where_stragglers_are_left_out_and_all_else_is_the_same(self):
        batch = batches.LIVE["dolly"]
        found = [one for one in batch.jobs(0) if "lab.slow.attempts" in one.settings]
        self.assertTrue(found)
        for planned in found:
            plain, none = (batch.settings(planned, arm, "default") for arm in (batches.NO_STRAGGLERS, "none"))
            self.assertEqual({**plain, "lab.slow.attempts": planned.settings["lab.slow.attempts"]}, none)

    def test_the_services_settings_are_lines_of_toml(self):
        settings = 'policy = "mantri"\nact.restart = true\nact.avoid = true\nblacklist.beside = true'
        self.assertEqual(batches.LIVE["mantri"].toml(), settings)


if __name__ == "__main__":
    unittest.main()
