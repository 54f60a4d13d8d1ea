"""Checks the mean over paradigms of pairs by hand-made numbers, and that sums are not rounded."""

import tempfile
import unittest
from pathlib import Path

from transformers import AutoModelForCausalLM

from mlrb_kit.random_gpt2 import write_control
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import load_submission
from pairs_score import scored
from run_lm_eval import run_lm_eval


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

    def test_a_model_in_bf16_ties_in_no_pair(self) -> None:
        pairs = [
            {
                "UID": "a",
                "pair_id": at,
                "linguistics_term": "agreement",
                "sentence_good": f"The {noun} near the houses of the town is old and was painted again.",
                "sentence_bad": f"The {noun} near the houses of the town are old and was painted again.",
            }
            for at, noun in enumerate(("door", "wall", "roof", "tree", "gate", "road", "well", "barn"))
        ]
        with tempfile.TemporaryDirectory() as folder:
            write_control(Path(folder), size=0)
            AutoModelForCausalLM.from_pretrained(folder).bfloat16().save_pretrained(folder)
            samples = run_lm_eval(load_submission(Path(folder)), pairs)
        self.assertEqual([sample["id"] for sample in samples if sample["good"] == sample["bad"]], [])
        self.assertTrue(any(sample["good"] % 1 not in (0, 0.25, 0.5, 0.75) for sample in samples))


if __name__ == "__main__":
    unittest.main()
