"""Amounts of money: read from text, kept in whole cents, written back as text."""


def parse_amount(text):
    """Read an amount such as "12.50", "1,204" or "-3" and return it in cents."""
    cleaned = text.strip().replace(",", "")
    sign = -1 if cleaned.startswith("-") else 1
    whole, _, fraction = cleaned.lstrip("+-").partition(".")
    if not whole.isdigit() or (fraction and not fraction.isdigit()):
        raise ValueError(f"not an amount: {text!r}")
    if len(fraction) > 2:
        raise ValueError(f"an amount has at most two decimals: {text!r}")
    return sign * (int(whole) * 100 + int(fraction or "0"))


def format_amount(cents):
    """Write cents the way people read them: 120450 becomes "1,204.50"."""
    sign = "-" if cents < 0 else ""
    whole, fraction = divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{fraction:02d}"


def split_evenly(cents, people):
    """Share an amount among people; the first ones carry the cents that are left."""
    if people < 1:
        raise ValueError("an amount is shared among at least one person")
    share, left = divmod(cents, people)
    return [share + 1 if index < left else share for index in range(people)]
