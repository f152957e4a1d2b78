"""Text for people: a list of entries, totals by category and by month, who owes whom."""

from collections import defaultdict

from tally.dates import month_of
from tally.entries import payers, total
from tally.money import format_amount, split_evenly


def totals_by_category(entries):
    """The sum of each category, the greatest first."""
    sums = defaultdict(int)
    for entry in entries:
        sums[entry.category] += entry.cents
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def totals_by_month(entries):
    """The sum of each month that has entries, in order of time."""
    sums = defaultdict(int)
    for entry in entries:
        sums[month_of(entry.day)] += entry.cents
    return dict(sorted(sums.items()))


def table(sums):
    """Two columns, name and amount, the amounts aligned to the right."""
    amounts = {name: format_amount(cents) for name, cents in sums.items()}
    name_width = max(len(name) for name in amounts)
    amount_width = max(len(amount) for amount in amounts.values())
    return [f"{name:<{name_width}}  {amount:>{amount_width}}" for name, amount in amounts.items()]


def listing(entries):
    """One line for each entry, and the total below."""
    lines = []
    for entry in entries:
        line = f"{entry.day}  {entry.category:<12} {format_amount(entry.cents):>12}  {entry.note}"
        lines.append(line.rstrip())
    lines.append(f"total {format_amount(total(entries))}")
    return lines


def balances(entries):
    """What each payer gets back (positive) or still owes (negative), in cents."""
    names = payers(entries)
    if not names:
        return {}
    shared = [entry for entry in entries if entry.payer]
    shares = split_evenly(total(shared), len(names))
    paid = {name: total(entry for entry in shared if entry.payer == name) for name in names}
    return {name: paid[name] - share for name, share in zip(names, shares)}
