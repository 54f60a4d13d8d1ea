"""Checks the arithmetic of scores by lm-eval against numbers worked out by hand."""

import math
import os
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import storable
from scorer_library.lm_eval.data import HubData, read_hub_data
from scorer_library.lm_eval.items import (
    Item,
    calibration,
    clustered_ratio,
    decided,
    error_of_mean,
    mean_credit,
    sample_of,
    tied_shares,
)
from scorer_library.lm_eval.mean import mean_over_groups, mean_over_items
from scorer_library.lm_eval.memory import BATCH_BYTES, check_memory, free_memory

INFINITY = math.inf


def item(likelihoods: Sequence[float], right: int, group: str = "a", at: int = 0) -> Item:
    credits = [float(choice == right) for choice in range(len(likelihoods))]
    return Item(f"{group}/{at}", group, list(likelihoods), credits, cluster=group)


class Deciding(unittest.TestCase):
    def test_one_tie_in_many_keeps_the_official_value_and_reports_the_shared_one(self) -> None:
        items = [*[item([-1, -2], 0)] * 49, item([-1, -1], 0)]
        value, ties = decided(items, mean_credit)
        self.assertEqual((value, ties), (1.0, {"ties": 1, "tiesHalf": 0.99}))

    def test_ties_that_move_the_score_by_more_than_0_02_are_refused(self) -> None:
        with self.assertRaisesRegex(Rejected, "ties: 1.000 as lm-eval counts, 0.970"):
            decided([*[item([-1, -2], 0)] * 47, *[item([-1, -1], 0)] * 3], mean_credit)

    def test_ties_in_most_items_are_refused_even_where_they_happen_to_change_nothing(self) -> None:
        even = [item([-1] * 4, right) for right in range(4)]  # first of equals: 0.25, shared: 0.25
        with self.assertRaisesRegex(Rejected, "ties: in 4 of 4 items"):
            decided(even, mean_credit)

    def test_a_tie_behind_the_likeliest_choice_is_none(self) -> None:
        self.assertEqual(decided([item([-1, -3, -3], 0)], mean_credit)[1]["ties"], 0)

    def test_a_tie_is_shared_among_the_tied_only(self) -> None:
        self.assertEqual(tied_shares(item([-1, -1 - 5e-7, -2], 0)), [0.5, 0.5, 0.0])
        self.assertEqual(tied_shares(item([-1, -1 - 2e-6], 0)), [1.0, 0.0])

    def test_nan_and_only_impossible_choices_are_refused_and_one_impossible_choice_is_not(self) -> None:
        self.assertEqual(decided([item([-1, -INFINITY], 0)], mean_credit)[0], 1.0)
        for likelihoods in ([math.nan, -1], [-1, math.nan], [-INFINITY] * 2, [-1, INFINITY]):
            with self.assertRaisesRegex(Rejected, "non-finite"):
                decided([item([-1, -2], 0), item(likelihoods, 0)], mean_credit)

    def test_a_sample_can_be_written_whatever_its_likelihoods(self) -> None:
        sample = storable(sample_of(item([math.nan, -INFINITY], 0)))
        self.assertEqual((sample["likelihoods"], sample["value"]), (["nan", "-inf"], 0.0))


class Means(unittest.TestCase):
    def test_over_items_a_large_group_weighs_more_and_over_groups_it_does_not(self) -> None:
        items = [item([-1, -2], 0, "a"), *[item([-2, -1], 0, "b", at) for at in range(3)]]
        by_item, by_group = mean_over_items(items), mean_over_groups(items)
        self.assertEqual((by_item["value"], by_group["value"]), (0.25, 0.5))
        self.assertAlmostEqual(by_item["standardError"], 0.25)  # sample variance 1/4 over 4 items
        self.assertAlmostEqual(by_group["standardError"], 0.5)  # group means 1 and 0
        self.assertEqual(by_group["groups"]["b"], {"value": 0.0, "items": 3})

    def test_items_of_one_cluster_that_agree_leave_a_larger_error(self) -> None:
        hits = (1, 1, 1, 1, 0, 0, 0, 0)
        items = [item([-1, -2] if hit else [-2, -1], 0, f"c{at // 4}", at) for at, hit in enumerate(hits)]
        self.assertAlmostEqual(clustered_ratio(items)[1], 0.5)  # two clusters, 1 and 0
        self.assertAlmostEqual(error_of_mean([float(hit) for hit in hits]), (2 / 7 / 8) ** 0.5)

    def test_a_single_value_has_no_error_to_give(self) -> None:
        self.assertEqual(error_of_mean([0.7]), 0.0)


class Calibration(unittest.TestCase):
    def test_it_agrees_with_two_items_worked_out_by_hand(self) -> None:
        sure, wrong = math.log(0.9), math.log(0.1)
        found = calibration([item([sure, wrong], 0), item([sure, wrong], 1)])
        self.assertAlmostEqual(found["goldProbability"], 0.5)
        self.assertAlmostEqual(found["brier"], (2 * 0.1**2 + 2 * 0.9**2) / 2)
        self.assertAlmostEqual(found["calibrationError"], 0.4)  # confidence 0.9, right half of the time
        self.assertAlmostEqual(found["margin"], 0.0)

    def test_an_impossible_choice_is_counted_and_has_no_margin(self) -> None:
        found = calibration([item([-1, -INFINITY], 0), item([-1, -3], 0)])
        self.assertEqual((found["impossible"], found["margin"]), (1, 2.0))
        self.assertNotIn("margin", calibration([item([-1, -INFINITY], 0)]))

    def test_items_without_exactly_one_right_choice_are_left_out(self) -> None:
        self.assertEqual(calibration([Item("x", "x", [-1, -2], [1.0, 1.0])]), {})


class Data(unittest.TestCase):
    def refusal(self, files: dict[str, str]) -> str:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        for name, text in files.items():
            path = Path(temporary.name, "set", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        data = HubData(
            "set",
            "owner/set",
            "test",
            None,
            lambda config: (
                {"text": "text", "parts": "texts", "label": "whole"} if config != "other" else None
            ),
            lambda _, row: None if row["label"] < 2 else "label is over 1",
        )
        with self.assertRaises(SystemExit) as ended:
            read_hub_data(Path(temporary.name), data)
        return str(ended.exception.code)

    def test_every_trouble_with_a_row_names_its_line(self) -> None:
        good = '{"text": "a", "parts": ["b"], "label": 1}\n'
        for bad, said in (
            ("{", "no JSON"),
            ("[]", "no JSON object"),
            ('{"text": "a", "parts": ["b"]}', "no field 'label'"),
            ('{"text": 3, "parts": ["b"], "label": 1}', "'text' is 3, expected a string"),
            ('{"text": "a", "parts": [], "label": 1}', "expected a list of strings"),
            ('{"text": "a", "parts": ["b"], "label": true}', "expected a whole number"),
            ('{"text": "a", "parts": ["b"], "label": 2}', "label is over 1"),
        ):
            found = self.refusal({"one/test.jsonl": good + bad})
            self.assertTrue(found.startswith("set/one/test.jsonl:2: "), found)
            self.assertIn(said, found)
            self.assertTrue(found.endswith("The private data is at fault, not the submission"), found)

    def test_missing_rows_fail_the_script(self) -> None:
        self.assertIn("no data", self.refusal({}))
        self.assertIn("no rows", self.refusal({"one/test.jsonl": "\n"}))
        self.assertIn("no such file", self.refusal({"one/train.jsonl": ""}))
        self.assertIn("owner/set has no such config", self.refusal({"other/test.jsonl": ""}))


class Memory(unittest.TestCase):
    def model(self, size: int) -> Path:
        """A sparse file of that many bytes."""
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        path = Path(temporary.name, "model.safetensors")
        path.touch()
        os.truncate(path, size)
        return path.parent

    def test_a_model_larger_than_what_is_free_is_refused_without_being_opened(self) -> None:
        folder = self.model(2**38)  # 256 GiB
        with self.assertRaisesRegex(MemoryError, r"needs 256.2 GiB, with a batch; 64.0 GiB are free"):
            check_memory(folder, 64 * 2**30)

    def test_what_just_fits_with_a_batch_passes_and_an_unknown_machine_refuses_nothing(self) -> None:
        folder = self.model(2**22)
        check_memory(folder, 2**22 + BATCH_BYTES)
        check_memory(folder, None)
        with self.assertRaises(MemoryError):
            check_memory(folder, 2**22 + BATCH_BYTES - 1)

    def test_the_tightest_control_group_decides_what_is_free(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            groups = {
                "sys/fs/cgroup/a": ("1000000", "400000", "inactive_file 100000"),
                "sys/fs/cgroup/a/b": ("max", "400000", "inactive_file 0"),
            }
            for group, (most, current, stat) in groups.items():
                (root / group).mkdir(parents=True, exist_ok=True)
                (root / group / "memory.max").write_text(most)
                (root / group / "memory.current").write_text(current)
                (root / group / "memory.stat").write_text(stat)
            (root / "proc/self").mkdir(parents=True)
            (root / "proc/self/cgroup").write_text("0::/a/b\n")
            self.assertEqual(free_memory(root), 700000)
            (root / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:  500 kB\n")
            self.assertEqual(free_memory(root), 512000)
            self.assertIsNone(free_memory(root / "nowhere"))


if __name__ == "__main__":
    unittest.main()
