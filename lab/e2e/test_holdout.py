import json
import unittest

from lab.e2e.ledgers import Ledgers, rows
from lab.service import total

# So slow that on a busy machine, too, its shim is believed and a copy wins before it ends, and that a job without any
# copy ends in a minute or so.
SLOW = {"lab.slow.attempts": "m_0_0:30"}
AT_ONCE, LEAST, MOST = 2, 2, 40


class HoldOut(Ledgers):
    def test_jobs_held_out_get_no_copy_and_each_job_is_told_on_the_side_that_it_was_drawn_to(self):
        file = self.cluster.dir / "held-out" / "ledger.db"
        file.parent.mkdir()
        service = self.keeper(file, "govern.holdout = 0.5")
        self.until("the ledger is kept", lambda: self.state(service) == "keeping")
        ended = {}
        # As many as chance asks for: fewer than two on a side of forty come once in ten billion draws.
        while len(ended) < MOST and min(map(self.of_side(file).count, (0, 1))) < LEAST:
            for running in [self.submit(**SLOW)[0] for _ in range(AT_ONCE)]:
                result = self.unharmed(running)
                ended[result.job] = result
        sides = dict(self.until("all ended", lambda: self.settled(file, len(ended))))
        held = [job for job, held_out in sides.items() if held_out]
        self.assertGreaterEqual(min(len(held), len(sides) - len(held)), LEAST)
        for job in held:
            self.assertEqual(ended[job].copies(), [], "held out")
            self.assertEqual(rows(file, "SELECT * FROM decisions WHERE job = ? AND mode = 'act'", job), [])
        copied = [job for job in ended if job not in held and ended[job].copies()]
        self.assertTrue(copied, "no job of the other side had a copy")
        self.told(service, len(held), len(ended) - len(held))

    @staticmethod
    def of_side(file) -> list:
        """The sides of all jobs so far."""
        return [held_out for (held_out,) in rows(file, "SELECT held_out FROM enrolments")] if file.exists() else []

    @staticmethod
    def settled(file, count: int):
        """Each job with its side, once the ends of all are kept."""
        found = rows(file, "SELECT job, held_out FROM jobs JOIN enrolments USING (job, held_out)")
        return found if len(found) == count else None

    def told(self, service, held: int, others: int) -> None:
        """The report has both sides, and says that this is too little to tell; so do the metrics have them."""
        told = json.loads(service.cli("report", "--json"))["holdout"]
        self.assertEqual((told["held_out"]["jobs"], told["acted"]["jobs"]), (held, others))
        self.assertEqual((told["held_out"]["acted_on"], told["held_out"]["open"], told["acted"]["open"]), (0, 0, 0))
        self.assertEqual((told["verdict"], told["change"]), ("not_enough_data", None))
        self.assertIn("not enough data yet", service.cli("report"))
        ended = [
            total(service.metrics(), "drover_ledger_jobs_ended_total", f'side="{side}"')
            for side in ("held_out", "acted_on", "undrawn")
        ]
        self.assertEqual(ended, [held, others, 0])


if __name__ == "__main__":
    unittest.main()
