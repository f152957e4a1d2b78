import unittest
from datetime import date

from tally.budget import read_limits, status
from tally.entries import Entry


class Budget(unittest.TestCase):
    def test_limits_are_read_from_lines(self):
        self.assertEqual(read_limits(["# flat", "", "rent = 850.00"]), {"rent": 85000})

    def test_a_line_without_a_limit_is_named(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            read_limits(["rent = 850.00", "groceries"])

    def test_a_month_is_compared_with_its_limits(self):
        entries = [Entry(date(2024, 2, 1), "rent", 90000), Entry(date(2024, 1, 1), "rent", 1)]
        self.assertEqual(status({"rent": 85000}, entries, "2024-02"), ["rent: 900.00 of 850.00 over"])
