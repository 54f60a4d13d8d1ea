"""Checks what is measured for a memory rule, with real models in real processes."""

import tempfile
import unittest
from pathlib import Path

from memory_models import MB, save_small, save_wide, settings

from scorer_library.costs.memory_limit import measure_once


class Measured(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_a_small_model_is_measured_though_its_outputs_are_no_numbers(self) -> None:
        run = measure_once(save_small(self.folder, unusable=True), settings(120 * MB))
        self.assertEqual(run["end"], "measured")
        self.assertLess(run["atMostBytes"], 60 * MB)

    def test_no_context_that_a_model_states_shortens_the_recipe(self) -> None:
        save_wide(self.folder, positions=64)
        run = measure_once(self.folder, settings(400 * MB))
        self.assertEqual((run["end"], run["numbers"]["forwardTokens"]), ("measured", 2000))
        self.assertGreater(run["atLeastBytes"], 2 * 160 * MB)

    def test_a_model_with_too_few_positions_fails_with_its_reason_and_what_it_held(self) -> None:
        run = measure_once(save_small(self.folder, positions=64), settings(120 * MB))
        self.assertEqual((run["end"], "atMostBytes" in run), ("failed", False))
        self.assertRegex(run["detail"], "the model fails on text: IndexError")
        self.assertGreater(run["atLeastBytes"], 0)


if __name__ == "__main__":
    unittest.main()
