import unittest
from datetime import date

from tally import report
from tally.entries import Entry, refund

MARKET = Entry(date(2024, 1, 5), "groceries", 2340, "market", "Ana")
RENT = Entry(date(2024, 2, 1), "rent", 85000, "February", "Ben")
BAKERY = Entry(date(2024, 2, 9), "groceries", 1250, "bakery", "Ben")


class Reports(unittest.TestCase):
    def test_totals_by_category_begin_with_the_greatest(self):
        sums = report.totals_by_category([MARKET, RENT, BAKERY])
        self.assertEqual(list(sums.items()), [("rent", 85000), ("groceries", 3590)])

    def test_totals_by_month_are_in_order_of_time(self):
        sums = report.totals_by_month([RENT, BAKERY, MARKET])
        self.assertEqual(list(sums.items()), [("2024-01", 2340), ("2024-02", 86250)])

    def test_amounts_are_aligned(self):
        self.assertEqual(report.table({"rent": 85000, "groceries": 3590}), ["rent       850.00", "groceries   35.90"])

    def test_a_list_ends_with_its_total(self):
        lines = report.listing([MARKET, refund(MARKET, date(2024, 1, 8))])
        self.assertIn("refund: market", lines[1])
        self.assertEqual(lines[-1], "total 0.00")

    def test_balances_add_up_to_nothing(self):
        owed = report.balances([MARKET, RENT])
        self.assertEqual(owed, {"Ana": -41330, "Ben": 41330})
