"""Rows, columns and experts of a given model in another order, and choices that only look like one."""

import tempfile
import unittest
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from scorer_library.identity.compare import compare_model
from scorer_library.identity.reorder import exact_order
from scorer_library.identity.tensors import GivenModel
from scorer_library.identity.work import Work

NAME = "layers.0.up.weight"


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def shuffled(seed: int, length: int, kept: int | None = None) -> Tensor:
    return torch.randperm(length, generator=torch.Generator().manual_seed(seed))[:kept]


def relations(
    own: dict[str, Tensor],
    given: dict[str, Tensor],
    embedding: str | None = None,
    *,
    compressed: bool = False,
) -> Any:
    """By tensor, and whether nothing shows which hidden units are left."""
    with tempfile.TemporaryDirectory() as folder:
        save_file(
            {name: value.contiguous() for name, value in given.items()}, Path(folder, "model.safetensors")
        )
        with GivenModel("base", Path(folder)) as model:
            comparison = compare_model(own, model, embedding, "00", Work(), compressed=compressed)
            names = sorted(own, key=lambda name: own[name].ndim < 2)
            return {name: comparison.relation(name) for name in names}, comparison.unmapped


def values(own: Tensor, given: Tensor) -> str | None:
    found = relations({NAME: own}, {NAME: given})[0][NAME]
    return found and found["values"]


class Reorder(unittest.TestCase):
    def test_rows_that_changed_places_are_found_by_their_values_in_any_type_and_number(self) -> None:
        given = 0.05 * normal(0, 160, 64)
        for moved in (2, 12, 80, 160):  # of these the cosine in place is high, or near zero
            order = torch.arange(160)
            order[shuffled(1, 160, moved).sort().values] = shuffled(1, 160, moved)
            for dtype in (torch.float32, torch.bfloat16, torch.float16):
                own = given[order].to(dtype).float()
                self.assertEqual([values(own, given), values(own.T, given.T)], ["equal", "equal"])
                own[7, 7] *= 1.01
                self.assertEqual([values(own, given), values(own.T, given.T)], ["other", "other"])

    def test_rows_that_are_left_and_moved_up_are_found_with_zeros_below(self) -> None:
        given = normal(2, 160, 64)
        for kept in (80, 152):
            own = torch.zeros(160, 64)
            own[:kept] = given[shuffled(3, 160, kept).sort().values]
            self.assertEqual([values(own, given), values(own.T, given.T)], ["zeros", "zeros"])

    def test_rows_and_columns_are_found_where_both_moved_or_were_cut(self) -> None:
        given = normal(4, 160, 64).bfloat16().float()
        for rows, columns in ((160, 64), (80, 48)):
            own = given[shuffled(5, 160, rows)][:, shuffled(6, 64, columns)]
            self.assertEqual(values(own, given), "equal")
            pruned = torch.where(own.abs() > own.abs().quantile(0.8), own, 0.0)
            self.assertEqual(values(pruned, given), "zeros")
            own[3, 3] += 0.5
            self.assertNotIn(values(own, given), ("equal", "zeros"))

    def test_an_order_of_each_row_is_no_order(self) -> None:
        given = normal(7, 160, 64).bfloat16().float()
        own = torch.stack([row[shuffled(at, 64)] for at, row in enumerate(given)])
        self.assertIsNone(exact_order(own, given, Work()))
        self.assertIsNone(exact_order(given.sort(1).values, given, Work()))

    def test_rows_that_are_taken_again_are_counted_and_each_sparse_row_has_its_own_if_it_can(self) -> None:
        given = normal(8, 160, 64)
        order = exact_order(given[[3, *range(159)]], given, Work())
        assert order is not None
        self.assertAlmostEqual(order.repeated(), 1 / 160)
        few = torch.zeros(4, 8)
        few[:, 0] = 1.0  # one value is left, which each row has
        whole = torch.where(few > 0, few, normal(9, 4, 8))
        order = exact_order(torch.cat([whole[1:], few[:1]]), whole, Work())
        assert order is not None and order.rows is not None
        self.assertEqual(order.rows.tolist(), [1, 2, 3, 0])

    def test_rows_with_few_values_show_no_order_unless_they_are_in_place(self) -> None:
        given = normal(14, 160, 64).bfloat16().float()
        at, column = torch.arange(160), torch.arange(160) % 64
        for rows, share in ((shuffled(15, 160, 160), 0.9), (at, 0.0)):
            own = torch.zeros(160, 64)
            own[at, column] = given[rows, column]
            order = exact_order(own, given, Work())
            assert order is not None
            self.assertGreaterEqual(order.repeated(), share)
            self.assertLessEqual(order.repeated(), share + 0.1)

    def test_a_transposed_matrix_and_joined_ones_hold_the_given_values(self) -> None:
        given = {f"layers.0.{name}.weight": normal(at, 48, 64) for at, name in enumerate("qkv")}
        turned = {name: value.T for name, value in given.items()}
        found, _ = relations(turned, given)
        self.assertEqual([one["values"] for one in found.values()], ["equal"] * 3)
        both = {"layers.0.qkv.weight": torch.cat(list(given.values()))}
        for own, other in ((both, given), (given, both)):
            found, _ = relations(own, other)
            self.assertEqual({one and one["values"] for one in found.values()}, {"equal"})
        trained = {"layers.0.qkv.weight": both["layers.0.qkv.weight"] + 0.1 * normal(10, 144, 64)}
        [near] = relations(trained, given)[0].values()
        self.assertGreater(near["cosine"], 0.9)
        self.assertEqual(near["values"], "other")

    def test_experts_in_one_tensor_may_change_places_and_lose_neurons(self) -> None:
        given = normal(11, 4, 96, 64)
        self.assertEqual(values(given[[2, 0, 3]], given), "equal")
        own = torch.stack([given[2][shuffled(12, 96, 48)], given[1][shuffled(13, 96, 48)]])
        self.assertEqual(values(own, given), "equal")
        own[0, 0, 0] += 1
        self.assertEqual(relations({NAME: own}, {NAME: given})[0][NAME]["values"], "other")

    def test_a_matrix_that_is_near_in_every_layer_is_found_in_the_one_it_came_from(self) -> None:
        start = normal(30, 96, 64)
        given = {f"layers.{at}.decay": start + 0.01 * normal(31 + at, 96, 64) for at in range(3)}
        for order in (torch.arange(96), shuffled(34, 96)):
            found, _ = relations({"layers.0.decay": given["layers.2.decay"][order]}, given)
            self.assertEqual(found["layers.0.decay"]["values"], "equal")

    def test_dimensions_of_length_one_do_not_hide_an_order(self) -> None:
        given = {"layers.0.conv": normal(35, 96, 1, 8), "layers.0.mix": normal(36, 1, 1, 96)}
        order = shuffled(37, 96)
        own = {
            "layers.0.conv": given["layers.0.conv"][order],
            "layers.0.mix": given["layers.0.mix"][..., order],
        }
        found, _ = relations(own, given)
        self.assertEqual([one["values"] for one in found.values()], ["equal", "equal"])

    def test_a_vector_follows_the_order_of_a_matrix_of_its_layer_and_no_other(self) -> None:
        given = {NAME: normal(14, 96, 64), "layers.0.gain": normal(15, 96), "layers.1.gain": normal(16, 96)}
        order = shuffled(17, 96)
        own = {name: value[order] for name, value in given.items()}
        found, _ = relations(own, given)
        self.assertEqual([one["values"] for one in found.values()], ["equal", "equal", "other"])


class Units(unittest.TestCase):
    """The hidden dimension where the tokens are others, so that embeddings have no rows in common."""

    def setUp(self) -> None:
        self.given = {
            "embed.weight": normal(20, 512, 64),
            NAME: normal(21, 160, 64),
            "layers.0.norm": normal(22, 64),
        }
        self.units, self.tokens = shuffled(23, 64, 48), shuffled(24, 512, 400)

    def cut(self, rows: int) -> dict[str, Tensor]:
        """`rows` of the matrix, and hidden units and tokens in part."""
        return {
            "embed.weight": self.given["embed.weight"][self.tokens][:, self.units],
            NAME: self.given[NAME][:rows, self.units],
            "layers.0.norm": self.given["layers.0.norm"][self.units],
        }

    def test_units_are_found_by_values_or_by_a_matrix_that_lost_only_these(self) -> None:
        for rows in (160, 80):
            found, unmapped = relations(self.cut(rows), self.given, "embed.weight")
            self.assertEqual([one["values"] for one in found.values()], ["equal"] * 3)
            self.assertFalse(unmapped)
        trained = {name: value + 0.1 * torch.randn_like(value) for name, value in self.cut(160).items()}
        found, unmapped = relations(trained, self.given, "embed.weight")
        self.assertGreater(min(one["cosine"] for one in found.values()), 0.9)
        self.assertEqual({one["by"] for one in found.values() if one["tensor"] != "layers.0.norm"}, {"part"})
        self.assertFalse(unmapped)

    def test_units_are_unknown_where_every_matrix_was_cut_and_trained(self) -> None:
        trained = {name: value + 0.1 * normal(25, *value.shape) for name, value in self.cut(80).items()}
        self.assertTrue(relations(trained, self.given, "embed.weight")[1])
        wider = trained | {NAME: normal(26, 200, 48)}  # no part of the given one
        self.assertFalse(relations(wider, self.given, "embed.weight")[1])

    def test_tokens_that_were_removed_alone_leave_the_units_known(self) -> None:
        own = self.given | {"embed.weight": self.given["embed.weight"][self.tokens] + 0.1}
        found, unmapped = relations(own, self.given, "embed.weight")
        self.assertGreater(found["embed.weight"]["cosine"], 0.9)
        self.assertFalse(unmapped)

    def test_new_tokens_leave_rows_that_show_a_rotation(self) -> None:
        turn = torch.linalg.qr(normal(27, 64, 64))[0]
        own = {
            "embed.weight": torch.cat([self.given["embed.weight"] @ turn, normal(28, 16, 64)]),
            NAME: self.given[NAME] @ turn,
        }
        found, _ = relations(own, self.given, "embed.weight")
        self.assertEqual(found[NAME]["by"], "map")
        self.assertGreater(found[NAME]["cosine"], 0.99)


if __name__ == "__main__":
    unittest.main()
