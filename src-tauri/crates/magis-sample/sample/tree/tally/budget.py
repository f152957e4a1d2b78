"""Monthly limits by category: read from a small file, compared with what was spent."""

from tally.dates import month_of
from tally.money import format_amount, parse_amount


def read_limits(lines):
    """Read lines such as "rent = 850.00"; empty lines and lines that begin with # are passed over."""
    limits = {}
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        category, sign, amount = line.partition("=")
        if not sign:
            raise ValueError(f"budget, line {number}: write it as category = amount")
        limits[category.strip()] = parse_amount(amount)
    return limits


def spent_in(entries, category, month):
    """What was spent on a category in a month, in cents."""
    return sum(entry.cents for entry in entries if entry.category == category and month_of(entry.day) == month)


def status(limits, entries, month):
    """A line for each limit: what was spent, what the limit is, and whether it was kept."""
    lines = []
    for category, limit in sorted(limits.items()):
        spent = spent_in(entries, category, month)
        verdict = "over" if spent > limit else "ok"
        lines.append(f"{category}: {format_amount(spent)} of {format_amount(limit)} {verdict}")
    return lines
