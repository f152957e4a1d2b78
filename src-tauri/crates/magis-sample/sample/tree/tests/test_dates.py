import unittest
from datetime import date

from tally.dates import add_months, month_of, parse_date, parse_month


class Dates(unittest.TestCase):
    def test_dates_and_months_are_read(self):
        self.assertEqual(parse_date("2024-03-09"), date(2024, 3, 9))
        self.assertEqual(parse_month("2024-03"), (2024, 3))

    def test_other_spellings_are_refused_with_an_example(self):
        with self.assertRaisesRegex(ValueError, "2024-03-09"):
            parse_date("9.3.2024")

    def test_month_of_a_day(self):
        self.assertEqual(month_of(date(2024, 3, 9)), "2024-03")

    def test_last_day_of_a_month_stays_in_the_next_month(self):
        self.assertEqual(add_months(date(2024, 1, 31), 1), date(2024, 2, 29))
        self.assertEqual(add_months(date(2024, 11, 30), 2), date(2025, 1, 30))
