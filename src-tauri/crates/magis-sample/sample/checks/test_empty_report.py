import os
import tempfile
import unittest
from datetime import date

from tally import report
from tally.cli import main
from tally.entries import Entry


class EmptyReport(unittest.TestCase):
    def test_no_totals_make_an_empty_table(self):
        self.assertEqual(list(report.table({})), [])

    def test_a_report_on_a_new_file_succeeds(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "expenses.csv")
            self.assertEqual(main(["--file", path, "report"], today=date(2024, 3, 9), out=lambda line: None), 0)

    def test_totals_are_still_aligned(self):
        sums = report.totals_by_category([Entry(date(2024, 1, 5), "rent", 85000)])
        self.assertEqual(report.table(sums), ["rent  850.00"])
