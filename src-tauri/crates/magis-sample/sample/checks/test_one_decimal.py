import unittest

from tally.money import format_amount, parse_amount


class OneDecimal(unittest.TestCase):
    def test_one_decimal_means_tenths(self):
        self.assertEqual(parse_amount("12.5"), 1250)
        self.assertEqual(parse_amount("-0.5"), -50)

    def test_other_amounts_are_read_as_before(self):
        for text, cents in [("12.50", 1250), ("12.05", 1205), ("7", 700), ("7.", 700)]:
            self.assertEqual(parse_amount(text), cents)

    def test_what_was_read_is_written_with_two_decimals(self):
        self.assertEqual(format_amount(parse_amount("1,204.5")), "1,204.50")
