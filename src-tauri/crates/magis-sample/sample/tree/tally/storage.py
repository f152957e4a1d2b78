"""The CSV file: read into entries, and written so that a crash never leaves half a file."""

import csv
import os
import tempfile

from tally.dates import parse_date
from tally.entries import Entry
from tally.money import format_amount, parse_amount

COLUMNS = ["day", "category", "amount", "note", "payer"]


class StorageError(Exception):
    """The file cannot be read as a list of expenses."""


def load(path):
    """All entries of the file in its order; a file that does not exist yet has none."""
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as handle:
        reader = csv.DictReader(handle)
        missing = [name for name in COLUMNS[:3] if name not in (reader.fieldnames or [])]
        if missing:
            raise StorageError(f"{path} has no column named {', '.join(missing)}")
        return [_entry(path, number, row) for number, row in enumerate(reader, start=2)]


def save(path, entries):
    """Replace the file by one that holds these entries."""
    folder = os.path.dirname(os.path.abspath(path))
    descriptor, scratch = tempfile.mkstemp(dir=folder, suffix=".csv")
    try:
        with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as handle:
            writer = csv.writer(handle)
            writer.writerow(COLUMNS)
            for entry in entries:
                writer.writerow(_row(entry))
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def append(path, entry):
    """Add one entry at the end of the file."""
    save(path, load(path) + [entry])


def _entry(path, number, row):
    try:
        return Entry(
            day=parse_date(row["day"]),
            category=row["category"],
            cents=parse_amount(row["amount"]),
            note=row.get("note") or "",
            payer=row.get("payer") or "",
        )
    except ValueError as error:
        raise StorageError(f"{path}, line {number}: {error}") from error


def _row(entry):
    return [entry.day.isoformat(), entry.category, format_amount(entry.cents), entry.note, entry.payer]
