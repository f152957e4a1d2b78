"""One expense, and what is asked of a valid one."""

from dataclasses import dataclass, replace
from datetime import date


@dataclass(frozen=True)
class Entry:
    """Money spent (or, when negative, given back) on a day."""

    day: date
    category: str
    cents: int
    note: str = ""
    payer: str = ""

    def __post_init__(self):
        if not self.category.strip():
            raise ValueError("an entry needs a category")
        if self.cents == 0:
            raise ValueError("an entry needs an amount other than zero")


def refund(entry, day):
    """The entry that takes another one back."""
    return replace(entry, day=day, cents=-entry.cents, note=f"refund: {entry.note}".rstrip(": "))


def total(entries):
    """The sum of the amounts, in cents."""
    return sum(entry.cents for entry in entries)


def payers(entries):
    """The names of those who paid, each once, in order of their first payment."""
    names = []
    for entry in sorted(entries, key=lambda entry: entry.day):
        if entry.payer and entry.payer not in names:
            names.append(entry.payer)
    return names
