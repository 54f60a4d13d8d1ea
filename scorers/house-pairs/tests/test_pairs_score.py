"""Checks the mean over paradigms of pairs, against numbers worked out by hand."""

import unittest

from mlrb_kit.rejected import Rejected
from pairs_score import scored


class PairsScore(unittest.TestCase):
    def sample(self, good: float, bad: float, group: str = "a") -> dict[str, object]:
        return {"good": good, "bad": bad, "group": group, "value": float(good >= bad), "weight": 1}

    def test_the_mean_is_over_paradigms_not_pairs(self) -> None:
        found = scored(
            [
                self.sample(-1, -2, "a"),
                self.sample(-2, -1, "b"),
                self.sample(-2, -1, "b"),
                self.sample(-2, -1, "b"),
            ]
        )
        self.assertEqual(found["value"], 0.5)
        self.assertAlmostEqual(found["standardError"], 0.5)  # paradigm means 1 and 0

    def test_ties_in_a_few_pairs_are_counted_and_in_many_refused(self) -> None:
        clear = [self.sample(-1, -2)] * 49
        self.assertEqual(
            scored([*clear, self.sample(-1, -1)])["extra"], {"paradigms": 1, "ties": 1, "tiesHalf": 0.99}
        )
        with self.assertRaisesRegex(Rejected, "ties"):
            scored([*clear, *[self.sample(-1, -1)] * 3])

    def test_nan_is_refused_and_one_impossible_sentence_is_not(self) -> None:
        infinity = float("inf")
        self.assertEqual(scored([self.sample(-1, -infinity)])["value"], 1.0)
        for good, bad in ((float("nan"), -1.0), (-1.0, float("nan")), (-infinity, -infinity)):
            with self.assertRaisesRegex(Rejected, "non-finite"):
                scored([self.sample(-1, -2), self.sample(good, bad)])

    def test_a_single_paradigm_has_no_error_to_give(self) -> None:
        self.assertEqual(scored([self.sample(-1, -2)])["standardError"], 0.0)


if __name__ == "__main__":
    unittest.main()
