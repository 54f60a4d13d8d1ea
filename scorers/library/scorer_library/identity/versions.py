"""Versions of a given tensor that a submission may hold instead of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from scorer_library.identity.hidden_map import HiddenMap
from scorer_library.identity.tensors import GivenModel, layer_of
from scorer_library.identity.work import Work

Change = Callable[[Tensor], Tensor]  # makes a version of a given tensor, and of others of its shape


def same(theirs: Tensor) -> Tensor:
    return theirs


def transposed(theirs: Tensor) -> Tensor:
    return theirs.T


@dataclass(frozen=True)
class Versions:
    """Of the tensors of a given model."""

    given: GivenModel
    hidden: HiddenMap | None

    def of(self, tensor: str, theirs: Tensor, own: Tensor) -> Iterator[tuple[str, Change]]:
        """The given tensor as it is, transposed, and with its hidden dimension as the submission has it."""
        yield from self.selections(theirs, own)
        if self.hidden is None or self.hidden.chosen is not None:
            return
        for axis in self.hidden_axes(theirs, own):
            yield "map", partial(self.mapped, axis=axis)
            if theirs.ndim == 2:
                for norm in self.norms(tensor, theirs.shape[axis]):  # a rotation needs norms folded in
                    yield "map", partial(self.scaled_and_mapped, norm=norm, axis=axis)

    def selections(self, theirs: Tensor, own: Tensor) -> Iterator[tuple[str, Change]]:
        """Those versions that hold given values only."""
        yield "part", same
        if theirs.ndim == 2 and own.ndim == 2:
            yield "part", transposed
        if self.hidden is not None and self.hidden.chosen is not None:
            for axis in self.hidden_axes(theirs, own):
                yield "part" if own.ndim > 1 else "map", partial(self.mapped, axis=axis)

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

    def scaled_and_mapped(self, theirs: Tensor, norm: Tensor, axis: int) -> Tensor:
        return self.mapped(theirs * (norm if axis == -1 else norm[:, None]), axis)

    def norms(self, tensor: str, hidden: int) -> Iterator[Tensor]:
        for name in self.given.names():
            if self.given.shape(name) == (hidden,) and layer_of(tensor) == layer_of(name):
                yield plain(self.given.read(name))


def is_vector(values: Tensor) -> bool:
    return values.numel() == max(values.shape, default=1)


def plain(values: Tensor) -> Tensor:
    """Without dimensions of length one: a vector, a matrix, or several matrices."""
    if is_vector(values):
        return values.flatten()
    some = values.squeeze()
    return some.flatten(0, -3) if some.ndim > 3 else some


def in_order(order: Tensor, own: Tensor, work: Work, theirs: Tensor) -> Tensor:
    """A given vector in the order of a matrix's rows.

    Where nothing is left of a row, its place is unknown. Each place that no other row has may be there, once.
    """
    missing = torch.nonzero(order < 0).flatten().tolist()
    work.values(len(missing) * len(theirs))
    version = theirs[order]
    free = torch.ones(len(theirs), dtype=torch.bool)
    free[order[order >= 0]] = False
    for at in missing:
        off = torch.where(free, (theirs - own[at]).abs(), torch.inf)
        place = int(off.argmin())
        version[at] = theirs[place] if bool(free[place]) else 0
        free[place] = False
    return version
