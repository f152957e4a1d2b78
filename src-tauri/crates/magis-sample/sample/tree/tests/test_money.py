import unittest

from tally.money import format_amount, parse_amount, split_evenly


class Amounts(unittest.TestCase):
    def test_whole_and_decimal_amounts_are_read(self):
        self.assertEqual(parse_amount("12.50"), 1250)
        self.assertEqual(parse_amount(" 1,204 "), 120400)
        self.assertEqual(parse_amount("-3"), -300)

    def test_words_and_long_fractions_are_refused(self):
        for text in ["", "ten", "1.234", "1.x"]:
            with self.assertRaises(ValueError):
                parse_amount(text)

    def test_amounts_are_written_with_two_decimals(self):
        self.assertEqual(format_amount(120450), "1,204.50")
        self.assertEqual(format_amount(-5), "-0.05")

    def test_shares_add_up_to_the_whole(self):
        self.assertEqual(split_evenly(1000, 3), [334, 333, 333])
