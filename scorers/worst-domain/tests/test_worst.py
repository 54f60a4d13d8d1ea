"""Checks the worst domain's score and error against numbers worked out by hand."""

import unittest

from mlrb_kit.rejected import Rejected
from scorer_library.lm_eval.items import Item, sample_of
from scorer_library.ratio import ratio
from worst import scored, weighed, worst


def items(domain: str, hits: dict[str, list[bool]]) -> list[Item]:
    """`hits`: by fact, whether each question about it is answered right."""
    return [
        Item(f"{domain}/{fact}/{at}", domain, [-1.0, -2.0] if hit else [-2.0, -1.0], [1.0, 0.0], fact)
        for fact, found in hits.items()
        for at, hit in enumerate(found)
    ]


STRONG = items("a", {"p": [True, True], "q": [True, False]})  # 0.75
WEAK = items("b", {"r": [True, True], "s": [False, False], "t": [False, False], "u": [True, False]})  # 3 of 8


class Worst(unittest.TestCase):
    def test_the_score_is_that_of_the_domain_with_the_lowest_accuracy_however_many_items_it_has(self) -> None:
        found = scored(STRONG + WEAK)
        self.assertEqual(found["value"], 3 / 8)
        self.assertEqual(found["extra"]["meanOverDomains"], (0.75 + 3 / 8) / 2)
        self.assertEqual(found["groups"]["a"], {"value": 0.75, "items": 4})
        self.assertEqual(scored(WEAK + STRONG), found)

    def test_its_error_is_of_that_domain_alone_with_questions_about_one_fact_taken_together(self) -> None:
        # over facts: residual sums 2 - 0.75, -0.75, -0.75, 1 - 0.75, over 8 items
        squares = 1.25**2 + 0.75**2 + 0.75**2 + 0.25**2
        self.assertAlmostEqual(scored(STRONG + WEAK)["standardError"], (squares * 4 / 3) ** 0.5 / 8)

    def test_without_facts_the_items_count_as_independent(self) -> None:
        rows = items("c", {"": [True, False, False, False]})
        self.assertAlmostEqual(scored(rows)["standardError"], (0.75 / 3 / 4) ** 0.5)

    def test_the_samples_sum_to_the_score_and_keep_the_other_domains_likelihoods(self) -> None:
        found = scored(STRONG + WEAK)
        samples = weighed([sample_of(item) for item in STRONG + WEAK], worst(found["groups"]))
        self.assertAlmostEqual(ratio(samples)[0], found["value"])
        self.assertEqual(sum(sample["weight"] for sample in samples), len(WEAK))
        self.assertTrue(all(len(sample["likelihoods"]) == 2 for sample in samples))

    def test_of_equal_domains_the_first_by_name_stands_for_the_score(self) -> None:
        self.assertEqual(worst({"z": {"value": 0.5}, "a": {"value": 0.5}, "b": {"value": 0.6}}), "a")

    def test_ties_that_decide_the_worst_domain_are_rejected(self) -> None:
        tied = [Item(f"d/{at}", "d", [-1.0, -1.0], [1.0, 0.0]) for at in range(2)]
        with self.assertRaisesRegex(Rejected, "ties: 0.750 as lm-eval counts, 0.500 with ties shared"):
            scored(STRONG + tied)


if __name__ == "__main__":
    unittest.main()
