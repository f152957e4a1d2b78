import unittest
from datetime import date

from tally.entries import Entry
from tally.recurring import Recurring, due_days, missing_entries

RENT = Recurring(date(2024, 1, 31), "rent", 85000)


class RecurringExpenses(unittest.TestCase):
    def test_a_rule_is_due_each_month_up_to_today(self):
        expected = [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31)]
        self.assertEqual(due_days(RENT, date(2024, 3, 31)), expected)

    def test_only_missing_months_are_written_down(self):
        known = [Entry(date(2024, 1, 31), "rent", 85000)]
        missing = missing_entries(RENT, known, date(2024, 3, 1))
        self.assertEqual([entry.day for entry in missing], [date(2024, 2, 29)])
