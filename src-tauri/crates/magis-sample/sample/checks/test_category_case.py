import unittest
from datetime import date

from tally.budget import status
from tally.entries import Entry
from tally.filters import select

LOWER = Entry(date(2024, 2, 1), "rent", 50000)
UPPER = Entry(date(2024, 2, 2), "Rent", 40000)
OTHER = Entry(date(2024, 2, 3), "groceries", 2340)
ALL = [LOWER, UPPER, OTHER]


class CategoriesInAnyCase(unittest.TestCase):
    def test_a_list_finds_the_category_in_any_case(self):
        self.assertEqual(len(select(ALL, category="rent")), 2)
        self.assertEqual(len(select(ALL, category="RENT")), 2)

    def test_a_limit_counts_the_category_in_any_case(self):
        for name in ["rent", "RENT"]:
            [line] = status({name: 85000}, ALL, "2024-02")
            self.assertTrue(line.endswith("900.00 of 850.00 over"), line)

    def test_other_categories_stay_apart(self):
        self.assertEqual(select(ALL, category="Groceries"), [OTHER])
