import hashlib
import unittest

from lab import expected


class Digest(unittest.TestCase):
    def test_a_reduces_file_has_all_records_and_each_maps_file_its_own(self):
        first, second = "0\t0\t0\n", "1\t1\t9e3779b97f4a7c15\n"

        def of(text: str) -> str:
            return hashlib.sha256(text.encode()).hexdigest()

        self.assertEqual(expected.digest(2, 1, records=1), of(f"part-r-00000\n{first}{second}"))
        self.assertEqual(expected.digest(2, records=1), of(f"part-m-00000\n{first}part-m-00001\n{second}"))

    def test_of_several_reduces_nothing_is_said(self):
        with self.assertRaises(ValueError):
            expected.digest(2, 2)
