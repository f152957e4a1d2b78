import unittest
from datetime import date

from tally.entries import Entry
from tally.filters import select

JANUARY = Entry(date(2024, 1, 31), "rent", 85000)
FEBRUARY = Entry(date(2024, 2, 29), "rent", 85000)
MARCH = Entry(date(2024, 3, 31), "rent", 85000)
APRIL = Entry(date(2024, 4, 1), "groceries", 2340)
ALL = [JANUARY, FEBRUARY, MARCH, APRIL]


class UntilNamesTheLastDay(unittest.TestCase):
    def test_expenses_of_the_last_day_are_listed(self):
        chosen = select(ALL, since=date(2024, 1, 1), until=date(2024, 3, 31))
        self.assertEqual(chosen, [JANUARY, FEBRUARY, MARCH])

    def test_one_day_can_be_asked_for(self):
        self.assertEqual(select(ALL, since=date(2024, 3, 31), until=date(2024, 3, 31)), [MARCH])

    def test_later_days_stay_out(self):
        self.assertEqual(select(ALL, until=date(2024, 2, 28)), [JANUARY])
