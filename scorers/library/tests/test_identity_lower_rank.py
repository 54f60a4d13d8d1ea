"""Given matrices on fewer directions, alone or changed in another way too, and training."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import torch
from safetensors.torch import save_file
from test_identity_reorder import normal, relations, shuffled
from torch import Tensor

from scorer_library.identity import lower_rank
from scorer_library.identity.alike import alike
from scorer_library.identity.compare import compare_model
from scorer_library.identity.lower_rank import decomposed_only, has_fewer_directions, on_fewer_directions
from scorer_library.identity.ordered import Found
from scorer_library.identity.tensors import GivenModel
from scorer_library.identity.versions import same
from scorer_library.identity.work import Work

NAMES = [f"layers.{at}.up.weight" for at in range(3)]
GIVEN = {name: 0.05 * normal(at, 160, 64) for at, name in enumerate(NAMES)}


def truncated(value: Tensor, share: float) -> Tensor:
    left, sizes, right = torch.linalg.svd(value, full_matrices=False)
    kept = int(share * len(sizes))
    return (left[:, :kept] * sizes[:kept]) @ right[:kept]


def pruned(value: Tensor, share: float) -> Tensor:
    return torch.where(value.abs() > value.abs().quantile(share), value, 0.0)


def by(own: Tensor, *, compressed: bool = True, name: str = NAMES[1]) -> str | None:
    found = relations({name: own}, GIVEN, compressed=compressed)[0][name]
    return found and found["by"]


class LowerRank(unittest.TestCase):
    def test_any_lower_rank_is_found_at_any_cosine_and_in_any_type(self) -> None:
        given = GIVEN[NAMES[1]]
        for share in (0.1, 0.25, 0.5, 0.75, 0.9, 0.97):
            for dtype in (torch.float32, torch.bfloat16, torch.float16):
                own = truncated(given, share).to(dtype).float()
                for matrix, theirs in ((own, given), (own.T, given.T)):
                    self.assertTrue(on_fewer_directions(matrix, theirs, 1, Work()), (share, dtype))
                self.assertEqual(by(own, compressed=False), "rank")

    def test_training_noise_rounding_to_a_grid_and_other_models_are_no_lower_rank(self) -> None:
        given = GIVEN[NAMES[1]]
        step = given.abs().amax(1, keepdim=True) / 7
        for own in (
            given + 0.0005 * normal(9, 160, 64),
            given + 0.002 * normal(9, 160, 1) @ normal(10, 1, 64),  # of rank one, as LoRA adds
            (given / step).round() * step,
            truncated(given, 0.5) + 0.005 * normal(9, 160, 64),
            0.5 * given,
            normal(11, 160, 64),
            truncated(normal(11, 160, 64), 0.5),
        ):
            self.assertFalse(on_fewer_directions(own, given, 1, Work()))
            self.assertNotIn(by(own), ("rank", "near-rank"))

    def test_rows_or_columns_may_be_removed_reordered_or_zero_before_or_after(self) -> None:
        given, order = GIVEN[NAMES[1]], shuffled(3, 160)
        low = truncated(given, 0.5)
        zero = low.clone()
        zero[:, 40:] = 0
        for own in (low[order], low[order[:100]], truncated(given[order[:100]], 0.5), low[:, :48], zero):
            self.assertIn(by(own), ("rank", "near-rank"))

    def test_of_lower_rank_and_changed_before_is_undecided_where_a_rule_asks_for_a_compression(self) -> None:
        given = GIVEN[NAMES[1]]
        for own in (truncated(pruned(given, 0.5), 0.5), truncated(given + 0.005 * normal(9, 160, 64), 0.9)):
            self.assertEqual(by(own), "near-rank")
            self.assertNotIn(by(own, compressed=False), ("rank", "near-rank"))

    def test_pruning_that_leaves_empty_columns_before_a_cut_is_undecided_in_any_type(self) -> None:
        given = GIVEN[NAMES[1]]
        for empty in range(0, 40, 4):
            own = pruned(given, 0.8)
            own[:, :empty] = 0
            rows = own.clone()
            rows[50:] = 0  # so few directions that a cut removes none
            for dtype in (torch.float32, torch.bfloat16, torch.float16):
                for base in (given, given.bfloat16().float(), given.half().float()):
                    for matrix in (own, rows):
                        cut = truncated(torch.where(matrix == 0, 0.0, base), 0.9).to(dtype).float()
                        models = {**GIVEN, NAMES[1]: base}
                        found = relations({NAMES[1]: cut}, models, compressed=True)[0][NAMES[1]]
                        explained = found["by"] in ("rank", "near-rank") or found["values"] != "other"
                        self.assertTrue(explained, (empty, dtype, found))

    def test_a_decomposition_is_known_in_its_place_where_rows_were_found_in_another_order(self) -> None:
        given = GIVEN[NAMES[1]]
        own = pruned(given, 0.8)
        own = truncated(own, 1.0).half().float()
        own[:, :12] = 0  # all directions are left of the rest
        self.assertFalse(has_fewer_directions(own, 1, Work()))
        placed = Found(NAMES[1], "place", alike(own, given), change=same)
        moved = replace(placed, by="part", change=lambda theirs: theirs[[1, 0, *range(2, 160)]])
        with tempfile.TemporaryDirectory() as folder:
            save_file({NAMES[1]: given}, Path(folder, "model.safetensors"))
            with GivenModel("base", Path(folder)) as model:
                compared = compare_model({NAMES[1]: own}, model, None, "00", Work(), compressed=True)
                found = compared.of_lower_rank(own, moved, placed)
                self.assertEqual(found and found.by, "near-rank")
                self.assertFalse(compared.trained)
                self.assertIsNone(compared.of_lower_rank(own, moved, moved))

    def test_a_decomposition_that_cuts_nothing_is_known_by_its_error_alone(self) -> None:
        given = GIVEN[NAMES[1]].half().float()
        given[:, 3] *= 1e-3  # values under the range of F16
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            own = truncated(pruned(given, 0.5), 1.0).to(dtype).float()
            self.assertTrue(decomposed_only(own, given), dtype)
        near = given.bfloat16().float()
        another = near * torch.where(normal(4, 160, 64) > 0, 1 + 2**-7, 1.0)  # other numbers of the same type
        trained = given + 1e-5 * given.abs().max() * normal(9, 160, 64)
        for own in (another, trained, 1e-7 * normal(1, 160, 64)):
            self.assertFalse(decomposed_only(own, given))
        given[7, 7] = 10.0  # one large value allows no more of the others
        self.assertFalse(decomposed_only(given + 2e-5 * normal(9, 160, 64).sign(), given))

    def test_each_of_several_matrices_may_be_removed_or_cut_in_its_own_way(self) -> None:
        given = {"experts.weight": 0.05 * normal(0, 4, 96, 64)}
        pruned_first = torch.stack([pruned(one, 0.5) for one in given["experts.weight"]])
        pruned_first[1, :, :7] = 0
        for before in (given["experts.weight"], pruned_first):
            own = torch.stack([truncated(one, 0.5) for one in before])
            own[1] = truncated(before[1], 1.0)
            own[1, :, :7] = before[1, :, :7]
            own[2] = 0
            own = own.half().float()
            relation = relations({"experts.weight": own}, given, compressed=True)[0]["experts.weight"]
            self.assertIn(relation["by"], ("rank", "near-rank"))
        trained = given["experts.weight"] + 0.005 * normal(9, 4, 96, 64)
        trained[2] = 0
        relation = relations({"experts.weight": trained}, given, compressed=True)[0]["experts.weight"]
        self.assertNotIn(relation["by"], ("rank", "near-rank"))

    def test_rows_of_zeros_in_a_trained_matrix_are_no_lower_rank(self) -> None:
        own = GIVEN[NAMES[1]] + 0.005 * normal(9, 160, 64)
        own[:, :20] = 0
        self.assertFalse(has_fewer_directions(own, 1, Work()))
        self.assertNotIn(by(own), ("rank", "near-rank"))

    def test_a_small_matrix_of_lower_rank_is_known_when_it_was_rounded(self) -> None:
        for seed in range(200):
            own = truncated(normal(seed, 2, 64), 0.5).bfloat16().float()
            self.assertTrue(has_fewer_directions(own, seed, Work()), seed)
            self.assertFalse(has_fewer_directions(normal(seed, 2, 64), seed, Work()), seed)

    def test_a_layer_that_is_the_mean_of_two_may_be_cut_or_near_both(self) -> None:
        mean = (GIVEN[NAMES[1]] + GIVEN[NAMES[2]]) / 2
        cut = mean[shuffled(5, 160, 100).sort().values]
        for own in (pruned(mean, 0.5), cut):
            self.assertEqual(by(own), "mixture")
        alike = {name: value.clone() for name, value in GIVEN.items()}
        for value in alike.values():  # of two rows that are alike, the wrong one may be nearer
            value[1:20:2] = value[:20:2] + 0.01 * normal(6, 10, 64)
        own = {NAMES[1]: pruned((alike[NAMES[1]] + alike[NAMES[2]]) / 2, 0.5)}
        self.assertEqual(relations(own, alike, compressed=True)[0][NAMES[1]]["by"], "mixture")
        shared = normal(20, 160, 64)
        near = {name: shared + 0.3 * value / 0.05 for name, value in GIVEN.items()}
        own = {NAMES[1]: (near[NAMES[1]] + near[NAMES[2]]) / 2}
        found = relations(own, near, compressed=True)[0][NAMES[1]]
        self.assertGreater(found["cosine"], 0.9)
        self.assertEqual(found["by"], "mixture")

    def test_eigenvalues_are_computed_of_one_trained_matrix_only_and_of_none_without_such_a_rule(
        self,
    ) -> None:
        trained = {name: value + 0.005 * normal(9, 160, 64) for name, value in GIVEN.items()}
        for compressed, times in ((True, 1), (False, 0)):
            with patch.object(lower_rank, "has_fewer_directions", wraps=has_fewer_directions) as looked:
                relations(trained, GIVEN, compressed=compressed)
            self.assertEqual(looked.call_count, times)

    def test_a_given_matrix_is_tested_without_a_decomposition(self) -> None:
        work = Work()
        self.assertFalse(on_fewer_directions(normal(0, 512, 512), normal(1, 512, 512), 1, work))
        decomposed = Work()
        decomposed.eigenvalues(512)
        self.assertLess(work.seconds, decomposed.seconds / 20)


if __name__ == "__main__":
    unittest.main()
