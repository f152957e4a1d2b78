"""The command line: reads arguments, calls the library, prints lines."""

import argparse
import sys
from datetime import date

from tally import budget, filters, recurring, report, storage
from tally.dates import month_of, parse_date, parse_month
from tally.entries import Entry
from tally.money import format_amount, parse_amount


def build_parser():
    """The parser of all commands."""
    parser = argparse.ArgumentParser(prog="tally", description="Keep the expenses of a household.")
    parser.add_argument("--file", default="expenses.csv", help="the CSV file (default: expenses.csv)")
    commands = parser.add_subparsers(dest="command", required=True)

    add = commands.add_parser("add", help="write down an expense")
    add.add_argument("category")
    add.add_argument("amount")
    add.add_argument("--day", help="the day it was paid (default: today)")
    add.add_argument("--note", default="")
    add.add_argument("--payer", default="")

    show = commands.add_parser("list", help="show expenses and their total")
    show.add_argument("--since", help="first day")
    show.add_argument("--until", help="last day")
    show.add_argument("--category")
    show.add_argument("--text", help="only those whose note or payer contains this")

    totals = commands.add_parser("report", help="show totals")
    totals.add_argument("--by", choices=["category", "month", "payer"], default="category")
    totals.add_argument("--month", help="only this month, such as 2024-03")

    limits = commands.add_parser("budget", help="compare a month with the limits of a file")
    limits.add_argument("limits", help="a file with lines such as: rent = 850.00")
    limits.add_argument("--month", help="such as 2024-03 (default: this month)")

    rule = commands.add_parser("recurring", help="write down what has become due every month")
    rule.add_argument("category")
    rule.add_argument("amount")
    rule.add_argument("first", help="the first day it was due")
    rule.add_argument("--note", default="")
    return parser


def main(argv=None, today=None, out=print):
    """Run one command; returns the exit code."""
    args = build_parser().parse_args(argv)
    try:
        for line in run(args, today or date.today()):
            out(line)
    except (ValueError, OSError, storage.StorageError) as error:
        print(f"tally: {error}", file=sys.stderr)
        return 1
    return 0


def run(args, today):
    """Carry out a parsed command and return the lines to print."""
    if args.command == "add":
        return add_entry(args, today)
    entries = storage.load(args.file)
    if args.command == "list":
        return list_entries(args, entries)
    if args.command == "report":
        return show_report(args, entries)
    if args.command == "budget":
        month = args.month or month_of(today)
        with open(args.limits, encoding="utf-8") as handle:
            return budget.status(budget.read_limits(handle), entries, month)
    return add_recurring(args, entries, today)


def add_entry(args, today):
    """Write down one expense."""
    day = parse_date(args.day) if args.day else today
    entry = Entry(day, args.category, parse_amount(args.amount), args.note, args.payer)
    storage.append(args.file, entry)
    return [f"{entry.day}  {entry.category}  {format_amount(entry.cents)}"]


def list_entries(args, entries):
    """The expenses that were asked for, and their total."""
    since = parse_date(args.since) if args.since else date.min
    until = parse_date(args.until) if args.until else date.max
    return report.listing(filters.select(entries, since, until, args.category, args.text))


def show_report(args, entries):
    """Totals by category, month or payer."""
    if args.month:
        parse_month(args.month)
        entries = [entry for entry in entries if month_of(entry.day) == args.month]
    if args.by == "month":
        return report.table(report.totals_by_month(entries))
    if args.by == "payer":
        return report.table(report.balances(entries))
    return report.table(report.totals_by_category(entries))


def add_recurring(args, entries, today):
    """Write down the months of a recurring expense that are missing."""
    rule = recurring.Recurring(parse_date(args.first), args.category, parse_amount(args.amount), args.note)
    missing = recurring.missing_entries(rule, entries, today)
    if missing:
        storage.save(args.file, entries + missing)
    return [f"{len(missing)} entries added"]
