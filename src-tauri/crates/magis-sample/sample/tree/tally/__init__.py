"""Keep the expenses of a household in one plain CSV file."""
