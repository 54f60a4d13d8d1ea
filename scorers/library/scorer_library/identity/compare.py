"""Compares the tensors of a submission with those of a given model, whole.

A tensor is compared place by place with tensors of its name, in any layer. If values differ, it may hold rows
and columns of one in another order, or in part. If it is not near either, it may be one with the hidden
dimension mapped (rotated, permuted, padded, cut), one of lower rank, rows of several, or a mixture.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from scorer_library.identity.alike import NEAR, VERSION, Alike, alike, cosine, rounded
from scorer_library.identity.hidden_map import HiddenMap, find_hidden
from scorer_library.identity.lower_rank import LowerRank
from scorer_library.identity.mixture import mixture_of
from scorer_library.identity.reorder import Order, exact_order, near_order
from scorer_library.identity.tensors import LAYER, GivenModel, layer_of
from scorer_library.identity.work import Work

NEW_ROWS = 0.01  # of all rows: more may be a vocabulary of its own
MIXED_MIN = 0.4  # cosine with the nearest part of a mixture; that of six equal parts is 0.41
MIXED_MAX = 64  # tensors that may be parts

FindOrder = Callable[[Tensor, Tensor, Work], Order | None]


@dataclass(frozen=True)
class Found:
    """The nearest given tensor."""

    tensor: str
    by: str
    measured: Alike
    repeated: float = 0.0


@dataclass
class Comparison:
    """The submission and one given model; remembers what the first tensors show of the others."""

    own: dict[str, Tensor]
    given: GivenModel
    embedding: str | None
    hidden: HiddenMap | None
    unmapped: bool  # whether nothing shows which part of the hidden dimension is left
    work: Work
    layers: dict[str, str] = field(default_factory=dict)  # layer of the submission -> of the given model
    orders: dict[str, list[Tensor]] = field(default_factory=dict)  # by module: given rows or columns

    def relation(self, name: str) -> dict[str, Any] | None:
        """The nearest tensor of the given model; None if nothing shows that `name` was made from one."""
        own = plain(self.own[name].cpu().float())
        if own.ndim < 2:
            if next(self.given.of_pattern(name), None) is None:
                return self.absent(own)
            found = self.of_vector(name, own)
        else:
            found = self.by_place(name, own)
            if found is None or found.measured.values == "other":
                found = self.otherwise(name, own, found) or found
        if found is None or found.measured.values == "other":
            found = self.longer(name, own) or self.mixed(name, own, found) or found
        if found is None:
            return None
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
        """The given rows and a few new ones after them, as where tokens were added."""
        if own.ndim != 2:
            return None
        rows, width = own.shape
        for tensor in self.candidates(name):
            shape = self.given.shape(tensor)  # reading each one would cost more than the comparison
            more = rows - shape[0]
            if shape[1:] != (width,) or not 0 < more <= NEW_ROWS * rows:
                continue
            self.work.values(shape[0] * width)
            measured = alike(own[: shape[0]], self.read(tensor))
            if measured.values != "other":
                return Found(tensor, "part", measured, more / rows)
        return None

    def mixed(self, name: str, own: Tensor, nearest: Found | None) -> Found | None:
        """A mixture of given tensors of this name, as the mean of two layers is: nothing was trained."""
        near = 0.0 if nearest is None else abs(nearest.measured.cosine)
        if own.ndim > 1 and not MIXED_MIN <= near < VERSION:
            return None
        shape = tuple(self.own[name].shape)
        tensors = [one for one in self.candidates(name) if self.given.shape(one) == shape][:MIXED_MAX]
        self.work.values(own.numel() * len(tensors))
        mixed = mixture_of(own, [self.read(one) for one in tensors])
        return mixed and Found(tensors[mixed.largest], "mixture", replace(mixed.likeness, values="other"))

    def absent(self, own: Tensor) -> dict[str, Any]:
        """Of a vector of a name that the given model lacks, such as a bias: it is compared with zeros."""
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
        return best and Found(best[1], "place", alike(own, self.read(best[1])))

    def of_vector(self, name: str, own: Tensor) -> Found | None:
        """Vectors are alike in every layer, so the first with equal values counts, else the nearest."""
        best: Found | None = None
        for tensor in self.candidates(name):
            theirs = self.read(tensor)
            for by, version in [
                ("place", theirs),
                *self.like_matrix(name, own, theirs),
                *self.versions(tensor, own),
            ]:
                self.work.values(version.numel())
                if version.shape != own.shape:
                    continue
                measured = alike(own, version)
                if measured.values != "other":
                    return Found(tensor, by, measured)
                if best is None or measured.cosine > best.measured.cosine:
                    best = Found(tensor, by, measured)
        return best

    def like_matrix(self, name: str, own: Tensor, theirs: Tensor) -> Iterator[tuple[str, Tensor]]:
        """A given vector, such as a bias, in the order of its module's matrix, or of another of its layer."""
        module, layer = module_of(name), layer_of(name)
        for other in sorted(self.orders, key=lambda other: other != module):
            if layer_of(f"{other}.") != layer:
                continue
            for order in self.orders[other]:
                if own.shape == order.shape and int(order.max()) < len(theirs):
                    yield "part", in_order(order, own, theirs)

    def otherwise(self, name: str, own: Tensor, placed: Found | None) -> Found | None:
        """In another order, of lower rank, or through the map. Of a near tensor only equal values are new."""
        sure = placed is not None and placed.measured.cosine >= VERSION
        tensors = [*(self.near(name, own, placed) if placed and sure else self.candidates(name))]
        for tensor in tensors:
            for by, version in self.selections(tensor, own):
                if (found := self.ordered(name, own, version, exact_order)) is not None:
                    return Found(tensor, by, *found)
        if sure:
            return None
        rank = LowerRank(own, self.work)
        for tensor in tensors:
            theirs = self.read(tensor)
            if own.shape == theirs.shape and own.ndim == 2 and rank.approximates(theirs):
                return Found(tensor, "rank", alike(own, theirs))
            for by, version in self.versions(tensor, own):
                if (found := self.ordered(name, own, version, near_order)) is not None:
                    return Found(tensor, by, *found)
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
                    return Found(layers[layer][0], "part", *found)
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

    def ordered(self, name: str, own: Tensor, version: Tensor, find: FindOrder) -> tuple[Alike, float] | None:
        """The likeness with the rows and columns of `version` in the order of `own`; and how many repeat."""
        self.work.values(own.numel() + version.numel())
        if own.ndim == 3 and version.ndim == 3:
            return self.stacked(own, version, find)
        order = find(own, version, self.work)
        if order is None:
            return None
        self.orders.setdefault(module_of(name), []).extend(order.axes())
        return alike(own, order.of(version)), order.repeated()

    def stacked(self, own: Tensor, version: Tensor, find: FindOrder) -> tuple[Alike, float] | None:
        """Of experts in one tensor: each is compared with each."""
        found: list[Tensor] = []
        taken: list[int] = []
        repeated = 0.0
        for at, matrix in enumerate(own):
            for other in sorted(range(len(version)), key=lambda other: (other in taken, other != at)):
                order = find(matrix, version[other], self.work)
                if order is not None:
                    found.append(order.of(version[other]))
                    repeated = max(repeated, order.repeated(), float(other in taken))
                    taken.append(other)
                    break
            else:
                return None
        return alike(own, torch.stack(found)), repeated

    def versions(self, tensor: str, own: Tensor) -> Iterator[tuple[str, Tensor]]:
        """The given tensor as it is, transposed, and with its hidden dimension as the submission has it."""
        yield from self.selections(tensor, own)
        if self.hidden is None or self.hidden.chosen is not None:
            return
        theirs = self.read(tensor)
        for axis in self.hidden_axes(theirs, own):
            yield "map", self.mapped(theirs, axis)
            if theirs.ndim == 2:
                for norm in self.norms(tensor, theirs.shape[axis]):  # a rotation needs norms folded in
                    yield "map", self.mapped(theirs * (norm if axis == -1 else norm[:, None]), axis)

    def selections(self, tensor: str, own: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Those versions that hold given values only."""
        theirs = self.read(tensor)
        yield "part", theirs
        if theirs.ndim == 2 and own.ndim == 2:
            yield "part", theirs.T
        if self.hidden is not None and self.hidden.chosen is not None:
            for axis in self.hidden_axes(theirs, own):
                yield "part" if own.ndim > 1 else "map", self.mapped(theirs, axis)

    def hidden_axes(self, theirs: Tensor, own: Tensor) -> Iterator[int]:
        assert self.hidden is not None
        hidden, size = self.hidden.matrix.shape
        for axis in range(-1, -1 - min(2, theirs.ndim, own.ndim), -1):
            if theirs.shape[axis] == hidden and own.shape[axis] == size:
                yield axis

    def mapped(self, theirs: Tensor, axis: int) -> Tensor:
        assert self.hidden is not None
        if self.hidden.chosen is not None:
            return theirs.index_select(axis, self.hidden.chosen)
        return theirs @ self.hidden.matrix if axis == -1 else self.hidden.matrix.T @ theirs

    def norms(self, tensor: str, hidden: int) -> Iterator[Tensor]:
        for name in self.given.names():
            if self.given.shape(name) == (hidden,) and layer_of(tensor) == layer_of(name):
                yield self.read(name)


def compare_model(
    own: dict[str, Tensor], given: GivenModel, embedding: str | None, seed: str, work: Work
) -> Comparison:
    """Ready to compare. `embedding` is the name of the submission's input embedding, if it has one."""
    hidden, unmapped = find_hidden(own, given, embedding, seed, work)
    return Comparison(own, given, embedding, hidden, unmapped, work)


def is_vector(values: Tensor) -> bool:
    return values.numel() == max(values.shape, default=1)


def plain(values: Tensor) -> Tensor:
    """Without dimensions of length one: a vector, a matrix, or several matrices."""
    return values.flatten() if is_vector(values) else values.squeeze()


def in_order(order: Tensor, own: Tensor, theirs: Tensor) -> Tensor:
    """A given vector in the order of a matrix's rows.

    Where nothing is left of a row, its place is unknown. Each place that no other row has may be there, once.
    """
    version = theirs[order]
    free = torch.ones(len(theirs), dtype=torch.bool)
    free[order[order >= 0]] = False
    for at in torch.nonzero(order < 0).flatten().tolist():
        off = torch.where(free, (theirs - own[at]).abs(), torch.inf)
        place = int(off.argmin())
        version[at] = theirs[place] if bool(free[place]) else 0
        free[place] = False
    return version


def module_of(name: str) -> str:
    return name.rpartition(".")[0]
