"""Text for people: a list of entries and its total."""

from tally.entries import total
from tally.money import format_amount


def listing(entries):
    """One line for each entry, and the total below."""
    lines = []
    for entry in entries:
        line = f"{entry.day}  {entry.category:<12} {format_amount(entry.cents):>12}  {entry.note}"
        lines.append(line.rstrip())
    lines.append(f"total {format_amount(total(entries))}")
    return lines
