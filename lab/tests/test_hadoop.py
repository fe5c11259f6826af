import unittest

from lab import build, hadoop, http


class Versions(unittest.TestCase):
    def test_a_version_is_compared_by_its_numbers_and_not_as_text(self):
        of = ("2.7.7", "2.9.2", "2.10.2", "3.0.3", "3.5.0")
        self.assertEqual([one for one in of if hadoop.newer(one, 2, 9)], ["2.9.2", "2.10.2", "3.0.3", "3.5.0"])

    def test_a_list_of_one_without_its_brackets_is_read_as_one(self):
        self.assertEqual([http.listed(value) for value in (None, [], {"id": 1}, [1, 2])], [[], [], [{"id": 1}], [1, 2]])


class Downloads(unittest.TestCase):
    def test_no_maven_takes_what_does_not_have_the_checksum_that_is_told_of_it(self):
        self.assertIn("-C", hadoop.MAVEN)
        script = (build.SHIM / "compile-all.sh").read_text()
        self.assertEqual(script.count("mvn "), script.count("mvn -q -B -ntp -C "))


if __name__ == "__main__":
    unittest.main()
