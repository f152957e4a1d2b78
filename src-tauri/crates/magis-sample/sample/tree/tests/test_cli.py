import os
import tempfile
import unittest
from datetime import date

from tally.cli import main


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "expenses.csv")

    def tally(self, *arguments):
        lines = []
        code = main(["--file", self.path, *arguments], today=date(2024, 3, 9), out=lines.append)
        self.assertEqual(code, 0)
        return lines

    def test_what_is_added_is_listed(self):
        self.tally("add", "groceries", "23.40", "--note", "market")
        lines = self.tally("list")
        self.assertTrue(lines[0].startswith("2024-03-09  groceries"))
        self.assertEqual(lines[-1], "total 23.40")

    def test_recurring_expenses_are_added_once(self):
        self.assertEqual(self.tally("recurring", "rent", "850.00", "2024-01-31"), ["2 entries added"])
        self.assertEqual(self.tally("recurring", "rent", "850.00", "2024-01-31"), ["0 entries added"])

    def test_reports_are_by_category_unless_asked_otherwise(self):
        self.tally("add", "rent", "850.00", "--day", "2024-01-31")
        self.assertEqual(self.tally("report"), ["rent  850.00"])
        self.assertEqual(self.tally("report", "--by", "month"), ["2024-01  850.00"])
