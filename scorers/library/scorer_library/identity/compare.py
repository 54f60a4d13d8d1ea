"""Compares the tensors of a submission with those of a given model, whole.

A tensor is compared place by place with tensors of its name, in any layer. If values differ, it may hold rows
and columns of one in another order, or in part. If it is not near either, it may be one with the hidden
dimension mapped (rotated, permuted, padded, cut), rows of several, or a mixture. Any of these may be on fewer
directions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from scorer_library.identity.alike import NEAR, VERSION, alike, cosine, rounded
from scorer_library.identity.hidden_map import find_hidden
from scorer_library.identity.lower_rank import is_decomposed, on_fewer_directions
from scorer_library.identity.mixture import mixture_of
from scorer_library.identity.ordered import FindOrder, Found, Ordered, stacked
from scorer_library.identity.reorder import exact_order, near_order, values_left
from scorer_library.identity.tensors import LAYER, GivenModel, layer_of
from scorer_library.identity.versions import Change, Versions, in_order, plain, same
from scorer_library.identity.work import Work

NEW_ROWS = 0.01  # of all rows: more may be a vocabulary of its own
# cosine with the nearest part of a mixture: six equal parts have 0.41, and less where values were removed
MIXED_MIN = 0.1
MIXED_MAX = 64  # tensors that may be parts
RELATED = 0.3  # cosine from which a matrix may be a given one that was changed in several ways


@dataclass
class Comparison:
    """The submission and one given model; remembers what the first tensors show of the others."""

    own: dict[str, Tensor]
    given: GivenModel
    embedding: str | None
    versions: Versions
    unmapped: bool  # whether nothing shows which part of the hidden dimension is left
    work: Work
    seed: int
    compressed: bool  # whether a rule asks if it is a compression
    trained: bool = False  # whether a matrix is near a given one, and has all directions
    layers: dict[str, str] = field(default_factory=dict)  # layer of the submission -> of the given model
    orders: dict[str, list[Tensor]] = field(default_factory=dict)  # by module: given rows or columns

    def relation(self, name: str) -> dict[str, Any] | None:
        """The nearest tensor of the given model; None if nothing shows that `name` was made from one."""
        own = plain(self.own[name].cpu().float())
        placed = None
        if own.ndim < 2:
            if next(self.given.of_pattern(name), None) is None:
                return self.absent(own)
            found = self.of_vector(name, own)
        else:
            found = placed = self.by_place(name, own)
            if found is None or found.measured.values == "other":
                found = self.otherwise(name, own, found) or found
        if found is None or found.measured.values == "other":
            found = self.longer(name, own) or self.mixed(name, own, found) or found
        if found is not None and found.by in ("place", "part") and found.measured.values == "other":
            found = self.projected(own, found) or self.of_lower_rank(own, found, placed) or found
        if found is None:  # zeros, of a matrix of which rows were removed too, hold nothing of another model
            return None if bool(own.any()) else self.absent(own)
        layer, other = layer_of(name), layer_of(found.tensor)
        if found.measured.cosine >= NEAR and layer and other:
            self.layers.setdefault(layer, other)
        return {
            "model": self.given.name,
            "tensor": found.tensor,
            "by": found.by,
            "values": found.measured.values,
            "cosine": rounded(found.measured.cosine),
            "difference": rounded(found.measured.difference),
            "repeated": rounded(found.repeated),
        }

    def longer(self, name: str, own: Tensor) -> Found | None:
        """The given rows (values, experts) and a few new ones after them, as where tokens were added."""
        rows = len(own)
        for tensor in self.candidates(name):
            shape = self.given.shape(tensor)  # reading each one would cost more than the comparison
            if len(shape) != own.ndim or shape[1:] != tuple(own.shape[1:]):
                continue
            more = rows - shape[0]
            if not 0 < more <= NEW_ROWS * rows:
                continue
            self.work.values(shape[0] * own[0].numel())
            measured = alike(own[: shape[0]], self.read(tensor))
            if measured.values != "other":
                return Found(tensor, "part", measured, more / rows)
        return None

    def mixed(self, name: str, own: Tensor, nearest: Found | None) -> Found | None:
        """A mixture of given tensors of this name, as the mean of two layers is: nothing was trained."""
        if nearest is None or nearest.change is None:
            return None
        most = 2.0 if self.compressed and not self.trained else VERSION
        if own.ndim > 1 and not MIXED_MIN <= abs(nearest.measured.cosine) < most:
            return None
        shape = self.given.shape(nearest.tensor)
        tensors = [one for one in self.candidates(name) if self.given.shape(one) == shape][:MIXED_MAX]
        given = [self.read(one) for one in tensors]
        # what was removed from a mixture may make rows that are not in their place look nearer
        changes = [same, nearest.change]
        if own.ndim == 1 and tensors:
            changes = [change for _, change in self.of_vector_versions(name, tensors[0], own)]
        for change in changes:
            parts = [change(one) for one in given]
            self.work.values(own.numel() * len(parts))
            if all(part.shape == own.shape for part in parts) and (mixed := mixture_of(own, parts)):
                likeness = replace(mixed.likeness, values="other")
                return Found(tensors[mixed.largest], "mixture", likeness, nearest.repeated)
        return None

    def projected(self, own: Tensor, found: Found) -> Found | None:
        """The given matrix on fewer directions."""
        if own.ndim < 2 or found.change is None:
            return None
        version = found.change(self.read(found.tensor))
        same_shape = own.shape == version.shape
        if same_shape and on_fewer_directions(own, version, self.seed, self.work):
            return replace(found, by="rank")
        return None

    def of_lower_rank(self, own: Tensor, found: Found, placed: Found | None) -> Found | None:
        """A matrix near the given one, of lower rank: it may have been changed before, e.g. pruned.

        Eigenvalues are dear. After one matrix that is near and of full rank, the others decide nothing.
        """
        if own.ndim < 2 or not self.compressed or self.trained or abs(found.measured.cosine) < RELATED:
            return None
        # rows of few values may look like others than those in their place
        nearest = [found, *([placed] if placed is not None and placed is not found else [])]
        versions = [one.change(self.read(one.tensor)) for one in nearest if one.change is not None]
        if is_decomposed(own, versions, self.seed, self.work):
            return replace(found, by="near-rank")
        self.trained = True
        return None

    def absent(self, own: Tensor) -> dict[str, Any]:
        """Compared with zeros: a vector of a name that the given model lacks, as a bias; or all are zero."""
        measured = alike(own, torch.zeros_like(own))
        about = {"model": self.given.name, "tensor": "", "by": "place", "values": measured.values}
        return {**about, "cosine": 0.0, "difference": rounded(measured.difference), "repeated": 0}

    def read(self, tensor: str) -> Tensor:
        return plain(self.given.read(tensor))

    def candidates(self, name: str) -> Iterator[str]:
        """Tensors of this name: first of its own layer, or of the layer that others of it came from."""
        layer = LAYER.search(name)
        expected = name
        if layer and layer[1] in self.layers:
            expected = f"{name[: layer.start(1)]}{self.layers[layer[1]]}{name[layer.end(1) :]}"
        # a head is often tied to the embedding, and then not stored
        named = list(self.given.of_pattern(name))
        if not named and self.embedding is not None:
            named = list(self.given.of_pattern(self.embedding))
        yield from sorted(named, key=lambda other: (other != expected, other != name))

    def by_place(self, name: str, own: Tensor) -> Found | None:
        shape = tuple(self.own[name].shape)
        names = [one for one in self.candidates(name) if self.given.shape(one) == shape]
        best: tuple[float, str] | None = None
        for tensor in names or [one for one in self.given.names() if self.given.shape(one) == shape]:
            self.work.values(own.numel())
            strength = abs(cosine(own, self.read(tensor)))
            if best is None or strength > best[0]:
                best = (strength, tensor)
            if strength >= 0.999 or (tensor == name and strength >= 0.9):
                break
        return best and Found(best[1], "place", alike(own, self.read(best[1])), change=same)

    def of_vector(self, name: str, own: Tensor) -> Found | None:
        """Vectors are alike in every layer, so the first with equal values counts, else the nearest."""
        best: Found | None = None
        for tensor in self.candidates(name):
            theirs = self.read(tensor)
            for by, change in self.of_vector_versions(name, tensor, own):
                version = change(theirs)
                self.work.values(version.numel())
                if version.shape != own.shape:
                    continue
                measured = alike(own, version)
                if measured.values != "other":
                    return Found(tensor, by, measured)
                if best is None or measured.cosine > best.measured.cosine:
                    best = Found(tensor, by, measured, change=change)
        return self.shortened(name, own) or best

    def shortened(self, name: str, own: Tensor) -> Found | None:
        """A given vector of which values were removed, where no matrix shows which: undecided."""
        for tensor in self.candidates(name):
            theirs = self.read(tensor)
            self.work.values(theirs.numel())
            if (left := values_left(own, theirs)) is not None:
                return Found(tensor, "part", alike(own, left), 1.0)
        return None

    def of_vector_versions(self, name: str, tensor: str, own: Tensor) -> Iterator[tuple[str, Change]]:
        """As it is, in the order of its module's matrix or of another of its layer, and mapped."""
        yield "place", same
        module, layer = module_of(name), layer_of(name)
        length = max(self.given.shape(tensor), default=1)
        for other in sorted(self.orders, key=lambda other: other != module):
            if layer_of(f"{other}.") != layer:
                continue
            for order in self.orders[other]:
                if own.shape == order.shape and int(order.max()) < length:
                    yield "part", partial(in_order, order, own, self.work)
        yield from self.versions.of(tensor, self.read(tensor), own)

    def otherwise(self, name: str, own: Tensor, placed: Found | None) -> Found | None:
        """In another order, on fewer directions, or mapped. Of a near tensor only equal values are new."""
        sure = placed is not None and placed.measured.cosine >= VERSION
        tensors = [*(self.near(name, own, placed) if placed and sure else self.candidates(name))]
        for tensor in tensors:
            theirs = self.read(tensor)
            for by, change in self.versions.selections(theirs, own):
                found = self.ordered(name, own, change(theirs), exact_order)
                if found is not None:
                    return found.of(tensor, by, change)
        if sure:
            return None
        if placed is not None and (found := self.projected(own, placed)) is not None:
            return found
        for tensor in tensors:
            theirs = self.read(tensor)
            for by, change in self.versions.of(tensor, theirs, own):
                found = self.ordered(name, own, change(theirs), near_order)
                if found is not None:
                    return found.of(tensor, by, change)
        return self.joined(name, own) if next(self.given.of_pattern(name), None) is None else None

    def joined(self, name: str, own: Tensor) -> Found | None:
        """Of a name that the given model lacks: rows of a layer's matrices, as queries and keys."""
        layers: dict[str, list[str]] = {}
        for tensor in self.given.names():
            shape = self.given.shape(tensor)
            if (layer := layer_of(tensor)) and len(shape) == 2 and shape[1] == own.shape[-1]:
                layers.setdefault(layer, []).append(tensor)
        mine = layer_of(name)
        expected = mine and self.layers.get(mine, mine)
        for layer in sorted(layers, key=lambda other: other != expected):
            rows = torch.cat([self.read(tensor) for tensor in layers[layer]])
            for find in (exact_order, near_order):
                if (found := self.ordered(name, own, rows, find)) is not None:
                    return Found(layers[layer][0], "part", found.measured, found.repeated)
        return None

    def near(self, name: str, own: Tensor, placed: Found) -> Iterator[str]:
        """The near tensor, and others if all are near, as those that training hardly changes."""
        yield placed.tensor
        for tensor in self.candidates(name):
            if tensor != placed.tensor:
                theirs = self.read(tensor)
                if own.shape != theirs.shape or cosine(own, theirs) < VERSION:
                    return
                yield tensor

    def ordered(self, name: str, own: Tensor, version: Tensor, find: FindOrder) -> Ordered | None:
        """The likeness with the rows and columns of `version` in the order of `own`."""
        self.work.values(own.numel() + version.numel())
        if own.ndim == 3 and version.ndim == 3:
            return stacked(own, version, find, self.work)
        order = find(own, version, self.work)
        if order is None:
            return None
        self.orders.setdefault(module_of(name), []).extend(order.axes())
        return Ordered(alike(own, order.of(version)), order.repeated(), order.of)


def compare_model(
    own: dict[str, Tensor],
    given: GivenModel,
    embedding: str | None,
    seed: str,
    work: Work,
    *,
    compressed: bool = False,
) -> Comparison:
    """Ready to compare. `embedding` is the name of the submission's input embedding, if it has one.

    `compressed`: a rule asks whether it is a compression of this model.
    """
    drawn = int(seed[:15], 16)
    hidden, unmapped = find_hidden(own, given, embedding, drawn, work)
    return Comparison(own, given, embedding, Versions(given, hidden), unmapped, work, drawn, compressed)


def module_of(name: str) -> str:
    return name.rpartition(".")[0]
