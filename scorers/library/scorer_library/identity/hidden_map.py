"""How the hidden dimension of a submission follows from that of a given model, found from the embeddings."""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from scorer_library.identity.alike import NEAR, cosine
from scorer_library.identity.reorder import exact_order, near_rows
from scorer_library.identity.tensors import GivenModel, pattern
from scorer_library.identity.work import Work

FIT = 0.7  # largest relative residual; unrelated embeddings have 0.85 or more at four rows for each column
ENERGY = 1e-6  # share of the largest squared length under which directions do not count
ROWS = 4  # sampled rows for each column
WHOLE = 0.01  # largest distance of an entry from 0 or 1 in a map that selects


@dataclass(frozen=True)
class HiddenMap:
    matrix: Tensor  # hidden size of the given model x that of the submission
    chosen: Tensor | None  # where it only selects, reorders or pads: for each column, the given one


def find_hidden(
    own: dict[str, Tensor], given: GivenModel, embedding: str | None, seed: int, work: Work
) -> tuple[HiddenMap | None, bool]:
    """The map, if one is needed and found; and whether it is unknown.

    It is unknown where the submission may be a part of the given model, and too much is cut to see which one.
    """
    tensor = next(given.of_pattern(embedding), None) if embedding is not None else None
    if embedding is None or tensor is None:
        return None, False
    mine, theirs = own[embedding].cpu().float(), given.read(tensor)
    if mine.ndim != 2 or theirs.ndim != 2 or mine.shape[1] == 0:
        return None, False
    if mine.shape == theirs.shape and abs(cosine(mine, theirs)) >= NEAR:
        return None, False
    common = min(len(mine), len(theirs))  # new tokens come last
    work.eigenvalues(theirs.shape[1])
    work.eigenvalues(mine.shape[1])
    found = find_map(mine[:common], theirs[:common], seed)
    if found is not None:
        return found, False
    if mine.shape[1] == theirs.shape[1] and near_rows(mine, theirs, work) is not None:
        return None, False  # only tokens were removed or reordered
    order = exact_order(mine, theirs, work)
    columns = order and order.columns
    if columns is None:
        columns = columns_of_matrices(own, given, (mine, theirs), work)
    if columns is not None:
        return selecting(columns, theirs.shape[1]), False
    return None, len(mine) < len(theirs) and may_be_part(own, given)


def columns_of_matrices(
    own: dict[str, Tensor], given: GivenModel, embeddings: tuple[Tensor, Tensor], work: Work
) -> Tensor | None:
    """The hidden units that are left, by a matrix of which only these were removed.

    They must make rows of the embeddings alike too.
    """
    mine, theirs = embeddings
    first = {pattern(name): name for name in sorted(own, reverse=True) if own[name].ndim == 2}
    for name in first.values():
        matrix = own[name].cpu().float()
        for other in map(given.read, given.of_pattern(name)):
            for one, whole in ((matrix, other), (matrix.T, other.T)):
                sizes = (one.shape[1], whole.shape[1]) if one.shape[0] == whole.shape[0] else None
                if sizes != (mine.shape[1], theirs.shape[1]):
                    continue
                columns = near_rows(one.T, whole.T, work)
                if columns is not None and near_rows(mine, theirs[:, columns], work) is not None:
                    return columns
    return None


def may_be_part(own: dict[str, Tensor], given: GivenModel) -> bool:
    """Whether each matrix has a given one of its name that is at least as large in each dimension."""
    sizes: dict[str, list[tuple[int, ...]]] = {}
    for name in given.names():
        sizes.setdefault(pattern(name), []).append(given.shape(name))
    return all(
        any(
            len(shape) == values.ndim and all(a <= b for a, b in zip(values.shape, shape, strict=True))
            for shape in sizes.get(pattern(name), [])
        )
        for name, values in own.items()
        if values.ndim >= 2
    )


def selecting(columns: Tensor, size: int) -> HiddenMap:
    matrix = torch.zeros(size, len(columns))
    matrix[columns, torch.arange(len(columns))] = (columns >= 0).float()
    return HiddenMap(matrix, columns.clamp_min(0))  # of a column of zeros, any


def find_map(own: Tensor, given: Tensor, seed: int) -> HiddenMap | None:
    """The least-squares map of the given embedding rows to those of the submission, if it fits.

    The embeddings have a row for each token, in one order: they share a tokenizer.
    """
    tokens, hidden = given.shape
    if own.ndim != 2 or own.shape[0] != tokens or tokens < ROWS * hidden or own.shape[1] == 0:
        return None
    drawn = torch.randperm(tokens, generator=torch.Generator().manual_seed(seed))[: 2 * ROWS * hidden]
    theirs, mine = given[drawn].double(), torch.nan_to_num(own[drawn].double(), 0.0, 0.0, 0.0)
    gram = theirs.T @ theirs
    matrix = torch.linalg.pinv(gram, hermitian=True) @ (theirs.T @ mine)
    if not median_residual(theirs @ matrix, mine) <= FIT:
        return None
    return HiddenMap(matrix.float(), selection(matrix))


def median_residual(fit: Tensor, mine: Tensor) -> float:
    """Relative, over the directions of `mine`: rows of unrelated models may share a few long directions."""
    energy, directions = torch.linalg.eigh(mine.T @ mine)
    counted = energy > ENERGY * energy.max()
    if not bool(counted.any()):
        return inf
    rest = ((fit - mine) @ directions[:, counted]).square().sum(0) / energy[counted]
    return float(rest.median().sqrt())


def selection(matrix: Tensor) -> Tensor | None:
    chosen = matrix.abs().argmax(0)
    whole = torch.zeros_like(matrix)
    whole[chosen, torch.arange(matrix.shape[1])] = (matrix.abs().amax(0) > 0.5).to(matrix.dtype)
    return chosen if float((matrix - whole).abs().max()) <= WHOLE else None
