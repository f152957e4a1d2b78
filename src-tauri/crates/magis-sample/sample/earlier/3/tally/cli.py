"""The command line: reads arguments, calls the library, prints lines."""

import argparse
import sys
from datetime import date

from tally import filters, report, storage
from tally.dates import parse_date
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
    show.add_argument("--text", help="only those whose note contains this")

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
    return list_entries(args, entries)


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
