"""Choosing entries: by day, by category, by text; and putting them in order."""


def in_period(entry, since=None, until=None):
    """Tell whether an entry lies between two days; a missing day sets no bound."""
    if since is not None and entry.day < since:
        return False
    if until is not None and entry.day >= until:
        return False
    return True


def by_category(entries, category):
    """The entries of one category."""
    return [entry for entry in entries if entry.category == category]


def matching(entries, text):
    """The entries whose note contains the text, whatever its case."""
    wanted = text.casefold()
    return [entry for entry in entries if wanted in entry.note.casefold()]


def select(entries, since=None, until=None, category=None, text=None):
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
