"""Choosing entries: by day, by category, by text; and putting them in order."""

from datetime import date


def in_period(entry, since=date.min, until=date.max):
    """Tell whether the day of an entry lies between two days."""
    return since <= entry.day < until


def by_category(entries, category):
    """The entries of one category."""
    return [entry for entry in entries if entry.category == category]


def matching(entries, text):
    """The entries whose note or payer contains the text, whatever its case."""
    wanted = text.casefold()
    return [entry for entry in entries if wanted in entry.note.casefold() or wanted in entry.payer.casefold()]


def select(entries, since=date.min, until=date.max, category=None, text=None):
    """The entries that pass every filter that is given, oldest first."""
    chosen = [entry for entry in entries if in_period(entry, since, until)]
    if category is not None:
        chosen = by_category(chosen, category)
    if text is not None:
        chosen = matching(chosen, text)
    return oldest_first(chosen)


def oldest_first(entries):
    """Sort by day; entries of one day keep their order in the file."""
    return sorted(entries, key=lambda entry: entry.day)


def largest_first(entries):
    """Sort by amount, the greatest first."""
    return sorted(entries, key=lambda entry: entry.cents, reverse=True)
