"""Dates and months as they are typed on the command line."""

import calendar
from datetime import date, datetime


def parse_date(text):
    """Read a date written as 2024-03-09."""
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise ValueError(f"not a date (write it as 2024-03-09): {text!r}") from None


def parse_month(text):
    """Read a month written as 2024-03 and return its year and its number."""
    try:
        parsed = datetime.strptime(text.strip(), "%Y-%m")
    except ValueError:
        raise ValueError(f"not a month (write it as 2024-03): {text!r}") from None
    return parsed.year, parsed.month


def month_of(day):
    """The month of a day, written as 2024-03."""
    return f"{day.year:04d}-{day.month:02d}"


def add_months(day, count):
    """The same day some months later; the 31st becomes the last day of a shorter month."""
    index = day.year * 12 + day.month - 1 + count
    year, month = index // 12, index % 12 + 1
    last = calendar.monthrange(year, month)[1]
    return date(year, month, min(day.day, last))
