"""What a comparison may cost, and models that have nothing to compare."""

import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

import torch
from safetensors.torch import save_file

from mlrb_kit.rejected import Rejected
from scorer_library.identity.compare import compare_model
from scorer_library.identity.hidden_map import find_map
from scorer_library.identity.known import PROFILES_MAX, drawn
from scorer_library.identity.tensors import GivenModel
from scorer_library.identity.versions import in_order
from scorer_library.identity.work import SECONDS_MAX, Work


def compared(own: dict[str, torch.Tensor], given: dict[str, torch.Tensor]) -> set[str]:
    """What the values of `own` are like, matrices first."""
    with tempfile.TemporaryDirectory() as folder:
        save_file(given, Path(folder, "model.safetensors"))
        with GivenModel("base", Path(folder)) as model:
            comparison = compare_model(own, model, None, "00", Work())
            found = [comparison.relation(name) for name in sorted(own, key=lambda name: own[name].ndim < 2)]
            return {one["values"] for one in found if one is not None}


class Bounds(unittest.TestCase):
    def test_work_beyond_the_bound_is_rejected_by_sizes_and_not_by_time(self) -> None:
        work = Work()
        with self.assertRaisesRegex(Rejected, "more than 90 minutes of one core"):
            for _ in range(10**6):
                work.eigenvalues(4096)
        self.assertLess(work.seconds, SECONDS_MAX + 60)

    def test_places_of_a_vector_whose_rows_are_empty_are_not_searched_beyond_the_bound(self) -> None:
        rows = 10**6
        with self.assertRaisesRegex(Rejected, "more than 90 minutes of one core"):
            in_order(torch.full((rows,), -1), torch.zeros(rows), Work(), torch.zeros(rows))

    def test_very_many_vectors_of_a_matrix_with_empty_rows_end_with_the_bound(self) -> None:
        rows, vectors = 4000, 60
        matrix = torch.randn(rows, 8, generator=torch.Generator().manual_seed(0))
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(1))
        gains = {f"layers.0.gain{at}": torch.arange(rows) + float(at) for at in range(vectors)}
        given = {"layers.0.up": matrix, **gains}
        honest = {name: values[order] for name, values in given.items()}
        hostile = honest | {"layers.0.up": torch.where(torch.arange(rows)[:, None] < 9, matrix[order], 0.0)}
        with patch("scorer_library.identity.work.SECONDS_MAX", 0.5):
            self.assertEqual(compared(honest, given), {"equal"})
            with self.assertRaisesRegex(Rejected, "comparing its tensors would take more than"):
                compared(hostile, given)

    def test_small_matrices_do_not_crowd_out_large_ones(self) -> None:
        large = {f"large.{at}": 500_000 for at in range(200)}
        small = {f"small.{at}": 1024 for at in range(20_000)}
        for seed in ("00", "01", "02"):
            found = drawn(large | small, seed)
            self.assertEqual(len(found), PROFILES_MAX)
            self.assertGreater(len(found & set(large)), PROFILES_MAX // 2)
        self.assertNotEqual(drawn(large, "00"), drawn(large, "01"))

    def test_a_model_without_width_has_no_map(self) -> None:
        self.assertIsNone(find_map(torch.zeros(512, 0), torch.randn(512, 64), 1))


if __name__ == "__main__":
    unittest.main()
