import unittest
from datetime import date

from tally.entries import Entry
from tally.filters import largest_first, select

JANUARY = Entry(date(2024, 1, 5), "groceries", 2340, "market", "Ana")
RENT = Entry(date(2024, 2, 1), "rent", 85000, "February", "Ben")
MARCH = Entry(date(2024, 3, 9), "groceries", 1250, "bakery", "Ben")
ALL = [MARCH, JANUARY, RENT]


class Filters(unittest.TestCase):
    def test_without_filters_all_come_oldest_first(self):
        self.assertEqual(select(ALL), [JANUARY, RENT, MARCH])

    def test_since_begins_with_its_day(self):
        self.assertEqual(select(ALL, since=date(2024, 2, 1)), [RENT, MARCH])

    def test_until_leaves_out_later_days(self):
        self.assertEqual(select(ALL, until=date(2024, 2, 15)), [JANUARY, RENT])

    def test_category_and_text_are_combined(self):
        self.assertEqual(select(ALL, category="groceries", text="BAKE"), [MARCH])

    def test_largest_first(self):
        self.assertEqual(largest_first(ALL), [RENT, JANUARY, MARCH])
