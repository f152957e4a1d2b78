import os
import tempfile
import unittest
from datetime import date

from tally import storage
from tally.entries import Entry


class Storage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "expenses.csv")

    def test_a_missing_file_has_no_entries(self):
        self.assertEqual(storage.load(self.path), [])

    def test_entries_come_back_as_they_were_written(self):
        entry = Entry(date(2024, 1, 5), "groceries", 2340, "market, flowers", "Ana")
        storage.append(self.path, entry)
        storage.append(self.path, entry)
        self.assertEqual(storage.load(self.path), [entry, entry])

    def test_a_bad_line_is_named(self):
        with open(self.path, "w", encoding="utf-8") as handle:
            handle.write("day,category,amount\n2024-01-05,rent,850.00\n2024-01-06,rent,much\n")
        with self.assertRaisesRegex(storage.StorageError, "line 3"):
            storage.load(self.path)
