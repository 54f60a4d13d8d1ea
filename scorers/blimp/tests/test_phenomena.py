"""Checks the table of phenomena against lm-eval's task files and the counts in its authors' results."""

import unittest
from pathlib import Path

import lm_eval

from measure import scored
from scorer_library.lm_eval.blimp import PHENOMENA, PHENOMENON_OF
from scorer_library.lm_eval.items import Item


class Phenomena(unittest.TestCase):
    def test_every_paradigm_that_lm_eval_ships_has_exactly_one(self) -> None:
        folder = Path(lm_eval.__file__).parent / "tasks/blimp"
        shipped = {path.stem for path in folder.glob("*.yaml") if not path.name.startswith("_")}
        self.assertEqual(set(PHENOMENON_OF), shipped)
        self.assertEqual(sum(map(len, PHENOMENA.values())), 67)

    def test_they_are_the_twelve_of_the_authors_with_as_many_paradigms(self) -> None:
        counts = [len(paradigms) for paradigms in PHENOMENA.values()]
        self.assertEqual(counts, [2, 9, 7, 5, 8, 2, 7, 2, 8, 7, 4, 6])

    def test_a_phenomenon_is_the_unweighted_mean_of_the_paradigms_that_are_there(self) -> None:
        hits = {"passive_1": [1], "passive_2": [0, 0, 0], "wh_island": [1]}
        items = [
            Item(f"{name}/{at}", name, [-1, -2] if hit else [-2, -1], [1.0, 0.0])
            for name, found in hits.items()
            for at, hit in enumerate(found)
        ]
        found = scored(items)
        self.assertEqual(found["groups"]["argument structure"], {"value": 0.5, "items": 4})
        self.assertAlmostEqual(found["value"], 2 / 3)  # over paradigms, not over phenomena (0.75)
        self.assertEqual((found["extra"]["paradigms"], found["extra"]["phenomena"]), (3, 2))


if __name__ == "__main__":
    unittest.main()
