"""Expenses that come back every month, such as rent: the rule, and the entries it stands for."""

from dataclasses import dataclass
from datetime import date

from tally.dates import add_months
from tally.entries import Entry


@dataclass(frozen=True)
class Recurring:
    """An expense that is due on the same day of each month, from its first day on."""

    first: date
    category: str
    cents: int
    note: str = ""
    payer: str = ""
    every: int = 1

    def __post_init__(self):
        if self.every < 1:
            raise ValueError("an expense comes back after at least one month")


def due_days(rule, today):
    """The days on which the rule was due, up to today."""
    days = []
    count = 0
    while (day := add_months(rule.first, count)) <= today:
        days.append(day)
        count += rule.every
    return days


def missing_entries(rule, entries, today):
    """The entries of the rule that nobody has written down yet."""
    known = {(entry.day, entry.category, entry.cents) for entry in entries}
    return [
        Entry(day, rule.category, rule.cents, rule.note, rule.payer)
        for day in due_days(rule, today)
        if (day, rule.category, rule.cents) not in known
    ]
