"""Tensors compared with those of a given model, in cases that measured rates have shown (ADR 43)."""

import math
import tempfile
import unittest
from pathlib import Path

import torch
from safetensors.torch import save_file
from test_identity_reorder import relations
from torch import Tensor

from scorer_library.identity.alike import alike
from scorer_library.identity.compare import compare_model
from scorer_library.identity.hidden_map import find_map
from scorer_library.identity.lower_rank import on_fewer_directions
from scorer_library.identity.mixture import mixture_of
from scorer_library.identity.reorder import exact_order, near_order
from scorer_library.identity.tensors import GivenModel
from scorer_library.identity.work import Work


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def matching_rows(own: Tensor, given: Tensor) -> Tensor | None:
    order = exact_order(own, given, Work()) or near_order(own, given, Work())
    return order and order.rows


def neighbour(values: Tensor, dtype: torch.dtype) -> Tensor:
    """The number on the other side of each value, where it is no further than the largest rounding error."""
    nearest = values.to(dtype)
    away = nearest.float().abs() < values.abs()
    other = (nearest.view(torch.int16) + torch.where(away, 1, -1).short()).view(dtype)
    near = (other.float() - values).abs() <= torch.finfo(dtype).eps / 2 * values.abs()
    return torch.where(near, other, nearest)


class Compare(unittest.TestCase):
    def test_values_are_equal_if_rounded_to_the_nearest_number_and_not_to_the_other_one(self) -> None:
        given = 0.05 * normal(0, 64, 64)
        for dtype, other in ((torch.bfloat16, torch.float16), (torch.float16, torch.bfloat16)):
            self.assertEqual(alike(given.to(dtype).float(), given).values, "equal")
            self.assertEqual(alike(given.to(other).to(dtype).float(), given).values, "equal")
            pruned = torch.where(normal(1, 64, 64) > 0, given.to(dtype).float(), 0.0)
            self.assertEqual(alike(pruned, given).values, "zeros")
            chosen = neighbour(given, dtype).float()
            self.assertGreater(int((chosen != given.to(dtype).float()).sum()), 1000)
            self.assertEqual(alike(chosen, given).values, "other")

    def test_the_bias_of_a_new_token_is_a_new_value_after_the_given_ones(self) -> None:
        given = {"head.weight": 0.05 * normal(1, 512, 64), "head.bias": 0.05 * normal(2, 512)}
        for count, found in ((1, True), (5, True), (6, False)):  # at most 1 % are new
            own = {
                name: torch.cat([value, 0.05 * normal(3, count, *value.shape[1:])])
                for name, value in given.items()
            }
            for name, relation in relations(own, given)[0].items():
                known = relation is not None and relation["by"] == "part" and relation["values"] == "equal"
                self.assertEqual(known, found, (name, count))
                if found:
                    self.assertGreater(relation["repeated"], 0)
            own["head.bias"][7] += 0.01
            relation = relations(own, given)[0]["head.bias"]
            self.assertTrue(relation is None or relation["values"] == "other")

    def test_a_bias_of_removed_neurons_is_undecided_where_no_matrix_shows_which_are_left(self) -> None:
        given = {"up.bias": 0.05 * normal(1, 160)}
        kept = torch.randperm(160, generator=torch.Generator().manual_seed(2))[:120].sort().values
        left = given["up.bias"][kept]
        zero = torch.where(normal(3, 120) > 0, left, 0.0)
        for own in (left, left.half().float(), zero):
            relation = relations({"up.bias": own}, given)[0]["up.bias"]
            self.assertNotEqual(relation["values"], "other")
            self.assertEqual(relation["repeated"], 1)
        trained, swapped = left.clone(), left.clone()
        trained[5] += 0.001
        swapped[[5, 6]] = left[[6, 5]]
        for own in (trained, swapped, given["up.bias"].flip(0)):
            relation = relations({"up.bias": own}, given)[0]["up.bias"]
            self.assertTrue(relation is None or relation["values"] == "other")

    def test_values_whose_squares_are_infinite_make_no_mixture_and_no_projection(self) -> None:
        names = [f"layers.{at}.up.weight" for at in range(3)]
        given = {name: 0.05 * normal(at, 160, 64) for at, name in enumerate(names)}
        for share in (0.15, 0.5):
            other = share * given[names[1]] + (1 - share**2) ** 0.5 * 0.05 * normal(9, 160, 64)
            for scale in (2.0**131, 2.0**70, 2.0**-80):
                for compressed in (False, True):
                    own = {names[1]: scale * other}
                    relation = relations(own, given, compressed=compressed)[0][names[1]]
                    self.assertNotIn(relation["by"], ("mixture", "rank"))
                    self.assertTrue(math.isfinite(relation["difference"]))
        self.assertFalse(on_fewer_directions(2.0**-80 * normal(9, 160, 64), given[names[1]], 1, Work()))

    def test_matrices_in_any_number_of_dimensions_are_compared(self) -> None:
        for shape in ((3, 96, 64), (2, 3, 48, 64), (2, 1, 2, 2, 48, 64), (1, 1, 64, 64)):
            given = {f"layers.{at}.w": 0.05 * normal(at, *shape) for at in range(2)}
            first, second = given.values()
            for own, by in ((first + 0.02 * normal(5, *shape), "place"), ((first + second) / 2, "mixture")):
                for compressed in (False, True):
                    relation = relations({"layers.0.w": own}, given, compressed=compressed)[0]["layers.0.w"]
                    self.assertEqual((relation["by"], relation["values"]), (by, "other"))

    def test_a_value_that_is_no_number_makes_no_mixture(self) -> None:
        parts = [0.05 * normal(at, 160, 64) for at in range(3)]
        mean = (parts[0] + parts[1]) / 2
        self.assertIsNotNone(mixture_of(mean, parts))
        mean[3, 3] = torch.nan
        self.assertIsNone(mixture_of(mean, parts))

    def test_a_matrix_of_zeros_of_which_rows_were_removed_holds_nothing_new(self) -> None:
        given = {"up.weight": 0.05 * normal(1, 160, 64)}
        for own, found in ((torch.zeros(80, 64), "equal"), (0.05 * normal(2, 80, 64), None)):
            relation = relations({"up.weight": own}, given)[0]["up.weight"]
            self.assertEqual(relation and relation["values"], found)

    def test_a_mean_of_two_layers_is_known_when_little_is_left_or_its_values_are_tiny(self) -> None:
        names = [f"layers.{at}.up.{kind}" for kind in ("weight", "bias") for at in range(3)]
        sizes = {name: (160, 64) if name.endswith("weight") else (160,) for name in names}
        given = {name: (1e-6 * normal(at, *sizes[name])).half().float() for at, name in enumerate(names)}
        for kind in ("weight", "bias"):
            name = f"layers.1.up.{kind}"
            mean = (given[name] + given[f"layers.2.up.{kind}"]) / 2
            own = {name: mean.half().float()}
            self.assertEqual(relations(own, given, compressed=True)[0][name]["by"], "mixture")
            for other in (1e-6 * normal(9, *sizes[name]), mean + 5e-7 * normal(9, *sizes[name])):
                relation = relations({name: other.half().float()}, given, compressed=True)[0][name]
                self.assertTrue(relation is None or relation["by"] != "mixture")
        large = {name: 1e5 * value for name, value in given.items()}
        mean = (large["layers.1.up.weight"] + large["layers.2.up.weight"]) / 2
        mean[5:] = 0  # the cosine with a part is about 0.12
        found = relations({"layers.1.up.weight": mean}, large, compressed=True)[0]["layers.1.up.weight"]
        self.assertEqual(found["by"], "mixture")

    def test_rows_that_share_a_direction_with_those_of_an_unrelated_model_are_no_match(self) -> None:
        shared = 3 * normal(2, 1, 64)
        own, given = (normal(seed, 512, 64) + shared for seed in (3, 4))
        self.assertIsNone(matching_rows(own, given))
        order = torch.randperm(512, generator=torch.Generator().manual_seed(5))[:400]
        found = matching_rows(given[order] + 0.3 * normal(6, 400, 64), given)
        assert found is not None
        self.assertGreater(float((found == order).float().mean()), 0.99)

    def test_a_mean_of_two_layers_is_a_mixture_and_a_trained_one_is_none(self) -> None:
        names = [f"layers.{at}.mlp.weight" for at in range(4)]
        given = {name: 0.05 * normal(20 + at, 96, 64) for at, name in enumerate(names)}
        mean = (given[names[1]] + given[names[2]]) / 2
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            own = mean.to(dtype).float()
            [found] = relations({names[1]: own}, given)[0].values()
            self.assertEqual((found["by"], found["values"]), ("mixture", "other"))
            moved = (mean + 0.02 * mean.std() * normal(30, 96, 64)).to(dtype).float()
            [found] = relations({names[1]: moved}, given)[0].values()
            self.assertNotEqual(found["by"], "mixture")

    def test_a_mean_of_matrices_with_more_values_than_single_precision_counts_is_a_mixture(self) -> None:
        given = [torch.full((2**12, 2**12 + 1), value) for value in (1.0, 2.0)]
        for value, row in zip(given, (0, 1), strict=True):
            value[row::2] *= 3
        self.assertIsNotNone(mixture_of((given[0] + given[1]) / 2, given))

    def test_rows_after_the_given_ones_count_as_new_where_they_are_few(self) -> None:
        given = {"embed.weight": normal(40, 400, 32)}
        for more, by in ((1, "part"), (4, "part"), (40, None)):
            own = {"embed.weight": torch.cat([given["embed.weight"], normal(41, more, 32)])}
            found = relations(own, given)[0]["embed.weight"]
            if by is None:
                self.assertTrue(found is None or found["values"] == "other")
            else:
                self.assertEqual((found["by"], found["values"]), ("part", "equal"))
                self.assertGreater(found["repeated"], 0)

    def test_embeddings_that_share_directions_have_no_map_and_turned_ones_have_one(self) -> None:
        shared = 3 * normal(9, 1, 64)
        own, given = (normal(seed, 512, 64) + shared for seed in (10, 11))
        self.assertIsNone(find_map(own, given, 1))
        turn = torch.linalg.qr(normal(12, 64, 64))[0]
        self.assertIsNotNone(find_map((given + 0.1 * normal(13, 512, 64)) @ turn, given, 1))

    def test_rows_of_which_few_values_are_left_are_found_by_these(self) -> None:
        given = normal(14, 160, 64)
        order = torch.randperm(160, generator=torch.Generator().manual_seed(15))[:80]
        own = given[order].bfloat16().float()
        own[own.abs() < own.abs().quantile(0.95)] = 0
        found = matching_rows(own, given)
        assert found is not None
        self.assertEqual(alike(own, given[found]).values, "zeros")

    def test_a_bias_is_found_at_the_places_that_are_left_of_its_matrix(self) -> None:
        given = {"layers.0.up.weight": normal(7, 96, 64), "layers.0.up.bias": normal(8, 96)}
        left = torch.arange(0, 96, 2)
        honest = {name: value[left] for name, value in given.items()}
        trained = honest | {"layers.0.up.bias": honest["layers.0.up.bias"] + 0.01}
        with tempfile.TemporaryDirectory() as folder:
            save_file(given, Path(folder, "model.safetensors"))
            for own, values in ((honest, "equal"), (trained, "other")):
                with GivenModel("base", Path(folder)) as model:
                    comparison = compare_model(own, model, None, "00", Work())
                    found = [comparison.relation(name) for name in ("layers.0.up.weight", "layers.0.up.bias")]
                self.assertEqual([one and one["values"] for one in found], ["equal", values])

    def test_a_bias_next_to_empty_rows_holds_each_given_value_at_most_once(self) -> None:
        given = {"layers.0.up.weight": normal(16, 96, 64), "layers.0.up.bias": normal(17, 96)}
        weight = given["layers.0.up.weight"].clone()
        weight[:40] = 0  # behind these any value of the bias could be
        weight = weight[torch.randperm(96, generator=torch.Generator().manual_seed(18))]
        empty = (weight == 0).all(1)
        order = torch.cdist(weight, given["layers.0.up.weight"]).argmin(1)
        honest = given["layers.0.up.bias"][order]
        honest[empty] = given["layers.0.up.bias"][:40]
        chosen = honest.clone()
        chosen[empty] = honest[empty][0]  # one of the given values, again and again
        with tempfile.TemporaryDirectory() as folder:
            save_file(given, Path(folder, "model.safetensors"))
            for bias, values in ((honest, "equal"), (chosen, "other")):
                own = {"layers.0.up.weight": weight, "layers.0.up.bias": bias}
                with GivenModel("base", Path(folder)) as model:
                    comparison = compare_model(own, model, None, "00", Work())
                    [matrix, vector] = [
                        comparison.relation(name) for name in ("layers.0.up.weight", "layers.0.up.bias")
                    ]
                self.assertEqual(
                    [matrix and matrix["values"], vector and vector["values"]], ["zeros", values]
                )


if __name__ == "__main__":
    unittest.main()
