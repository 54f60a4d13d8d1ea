"""Compares the tensors of a submission with those of a given model, whole.

A tensor is compared place by place with tensors of its name, in any layer. If none is near, it may be a part
of one (rows or columns removed or reordered), one with the hidden dimension mapped (rotated, permuted,
padded, cut), or one of lower rank.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from scorer_library.identity.alike import NEAR, Alike, alike, cosine, matching_rows
from scorer_library.identity.hidden_map import HiddenMap, find_map
from scorer_library.identity.tensors import GivenModel
from scorer_library.identity.work import Work

LAYER = re.compile(r"\.(\d+)\.")
VERSION = 0.8  # cosine from which no closer version is looked for
LOWER_RANK = 0.9  # of the smaller side: a matrix of less rank is tested as an approximation
RANK_FIT = 0.05  # largest relative distance to the given matrix, projected on its own directions
ENERGY = 1e-6  # share of the squared length under which directions do not count


@dataclass
class Comparison:
    """The submission and one given model; remembers what the first tensors show of the others."""

    own: dict[str, Tensor]
    given: GivenModel
    embedding: str | None
    hidden: HiddenMap | None
    work: Work
    layers: dict[str, str] = field(default_factory=dict)  # layer of the submission -> of the given model
    kept: dict[str, Tensor] = field(default_factory=dict)  # by module: rows or columns of the given matrix

    def relation(self, name: str) -> dict[str, Any] | None:
        """The nearest tensor of the given model; None if nothing shows that `name` was made from one."""
        own = self.own[name].cpu().float()
        if own.ndim < 2 and next(self.given.of_pattern(name), None) is None:
            return self.absent(own)
        found = self.by_place(name, own) if own.ndim >= 2 else self.of_vector(name, own)
        if own.ndim >= 2 and (found is None or (found[2].cosine < VERSION and found[2].values == "other")):
            found = self.otherwise(name, own) or found
        if found is None:
            return None
        tensor, by, measured = found
        if measured.cosine >= NEAR and (layer := LAYER.search(name)) and (other := LAYER.search(tensor)):
            self.layers.setdefault(layer[1], other[1])
        return {
            "model": self.given.name,
            "tensor": tensor,
            "by": by,
            "values": measured.values,
            "cosine": rounded(measured.cosine),
            "difference": rounded(measured.difference),
        }

    def absent(self, own: Tensor) -> dict[str, Any]:
        """Of a vector of a name that the given model lacks, such as a bias: it is compared with zeros."""
        measured = alike(own, torch.zeros_like(own))
        about = {"model": self.given.name, "tensor": "", "by": "place", "values": measured.values}
        return {**about, "cosine": 0.0, "difference": rounded(measured.difference)}

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

    def by_place(self, name: str, own: Tensor) -> tuple[str, str, Alike] | None:
        shape = tuple(own.shape)
        names = [one for one in self.candidates(name) if self.given.shape(one) == shape]
        best: tuple[float, str] | None = None
        for tensor in names or [one for one in self.given.names() if self.given.shape(one) == shape]:
            self.work.values(own.numel())
            strength = abs(cosine(own, self.given.read(tensor)))
            if best is None or strength > best[0]:
                best = (strength, tensor)
            if strength >= 0.999 or (tensor == name and strength >= 0.9):
                break
        return best and (best[1], "place", alike(own, self.given.read(best[1])))

    def of_vector(self, name: str, own: Tensor) -> tuple[str, str, Alike] | None:
        """Vectors are alike in every layer, so the first with equal values counts, else the nearest."""
        best: tuple[str, str, Alike] | None = None
        for tensor in self.candidates(name):
            theirs = self.given.read(tensor)
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
                    return tensor, by, measured
                if best is None or measured.cosine > best[2].cosine:
                    best = (tensor, by, measured)
        return best

    def like_matrix(self, name: str, own: Tensor, theirs: Tensor) -> Iterator[tuple[str, Tensor]]:
        """A given vector, such as a bias, with the places that are left of its module's matrix.

        Where nothing is left of a row, its place is unknown. Each place that no other row has may be
        there, once.
        """
        kept = self.kept.get(module_of(name))
        if kept is None or own.shape != kept.shape or int(kept.max()) >= len(theirs):
            return
        version = theirs[kept]
        free = torch.ones(len(theirs), dtype=torch.bool)
        free[kept[kept >= 0]] = False
        for at in torch.nonzero(kept < 0).flatten().tolist():
            off = torch.where(free, (theirs - own[at]).abs(), torch.inf)
            place = int(off.argmin())
            version[at] = theirs[place] if bool(free[place]) else 0
            free[place] = False
        yield "part", version

    def otherwise(self, name: str, own: Tensor) -> tuple[str, str, Alike] | None:
        rank = LowerRank(own, self.work)
        for tensor in self.candidates(name):
            theirs = self.given.read(tensor)
            if own.shape == theirs.shape and own.ndim == 2 and rank.approximates(theirs):
                return tensor, "rank", alike(own, theirs)
            for by, version in self.versions(tensor, own):
                self.work.values(own.numel() + version.numel())
                if own.ndim == 2 and version.ndim == 2:
                    self.work.products(own.shape[0], version.shape[0], version.shape[1])
                if (found := fitted(own, version)) is not None:
                    measured, kept = found
                    if kept is not None:
                        self.kept[module_of(name)] = kept
                    return tensor, by, measured
        return None

    def versions(self, tensor: str, own: Tensor) -> Iterator[tuple[str, Tensor]]:
        """The given tensor as it is, and with its hidden dimension as the submission has it."""
        theirs = self.given.read(tensor)
        yield "part", theirs
        if self.hidden is None:
            return
        hidden, size = self.hidden.matrix.shape
        for axis in (-1, 0):
            if theirs.shape[axis] != hidden or own.shape[axis] != size or theirs.ndim > 2:
                continue
            yield "map", self.mapped(theirs, axis)
            if theirs.ndim == 2 and self.hidden.chosen is None:
                for norm in self.norms(tensor, hidden):  # a rotation needs norms folded into what they feed
                    yield "map", self.mapped(theirs * (norm if axis == -1 else norm[:, None]), axis)

    def mapped(self, theirs: Tensor, axis: int) -> Tensor:
        assert self.hidden is not None
        if self.hidden.chosen is not None:
            return theirs.index_select(axis, self.hidden.chosen)
        return theirs @ self.hidden.matrix if axis == -1 else self.hidden.matrix.T @ theirs

    def norms(self, tensor: str, hidden: int) -> Iterator[Tensor]:
        layer = LAYER.search(tensor)
        for name in self.given.names():
            other = LAYER.search(name)
            if self.given.shape(name) == (hidden,) and (layer and layer[1]) == (other and other[1]):
                yield self.given.read(name)


def compare_model(
    own: dict[str, Tensor], given: GivenModel, embedding: str | None, seed: str, work: Work
) -> Comparison:
    """Ready to compare. `embedding` is the name of the submission's input embedding, if it has one."""
    if embedding is None:
        return Comparison(own, given, None, None, work)
    hidden = None
    mine = own[embedding].cpu().float()
    for tensor in given.of_pattern(embedding):
        theirs = given.read(tensor)
        if theirs.ndim == 2 and (mine.shape != theirs.shape or abs(cosine(mine, theirs)) < NEAR):
            work.eigenvalues(theirs.shape[1])
            work.eigenvalues(mine.shape[-1])
            hidden = find_map(mine, theirs, int(seed[:15], 16))
    return Comparison(own, given, embedding, hidden, work)


def fitted(own: Tensor, version: Tensor) -> tuple[Alike, Tensor | None] | None:
    """How alike they are, with rows or columns of `version` in the order of `own`, and which these are.

    None if they are not alike.
    """
    if own.shape == version.shape and abs(cosine(own, version)) >= NEAR:
        return alike(own, version), None
    if own.ndim != 2 or version.ndim != 2:
        return None
    if own.shape[1] == version.shape[1]:
        rows = matching_rows(own, version)
        if rows is not None:
            return alike(own, version[rows]), rows
    if own.shape[0] == version.shape[0]:
        columns = matching_rows(own.T, version.T)
        if columns is not None:
            return alike(own, version[:, columns]), columns
    return None


class LowerRank:
    """A matrix that may hold another one on fewer directions: as a truncated singular value decomposition."""

    def __init__(self, own: Tensor, work: Work) -> None:
        self.own = own
        self.work = work

    @cached_property
    def directions(self) -> tuple[Tensor, Tensor] | None:
        """The matrix with its smaller side first, and the directions that hold it; None at full rank."""
        side = self.own if self.own.shape[0] <= self.own.shape[1] else self.own.T
        mine = torch.nan_to_num(
            side, 0.0, 0.0, 0.0
        ).double()  # squares of large values are infinite in single
        self.work.eigenvalues(mine.shape[0])
        energy, directions = torch.linalg.eigh(mine @ mine.T)
        kept = directions[:, energy > ENERGY * energy.sum()]
        full = kept.shape[1] == 0 or kept.shape[1] > LOWER_RANK * mine.shape[0]
        return None if full else (mine, kept)

    def approximates(self, given: Tensor) -> bool:
        if self.directions is None:
            return False
        mine, kept = self.directions
        theirs = (given if given.shape == mine.shape else given.T).double()
        self.work.products(kept.shape[1], kept.shape[0], 2 * theirs.shape[1])
        projected = kept @ (kept.T @ theirs)
        return float((projected - mine).norm()) <= RANK_FIT * float(mine.norm())


def module_of(name: str) -> str:
    return name.rpartition(".")[0]


def rounded(value: float) -> float:
    """To four digits: equal submissions give equal files on one processor."""
    return float(f"{value:.4g}")
