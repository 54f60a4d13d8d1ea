"""How the hidden dimension of a submission follows from that of a given model, found from the embeddings."""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

FIT = 0.7  # largest relative residual; unrelated embeddings have 0.85 or more at four rows for each column
ENERGY = 1e-6  # share of the largest squared length under which directions do not count
ROWS = 4  # sampled rows for each column
WHOLE = 0.01  # largest distance of an entry from 0 or 1 in a map that selects


@dataclass(frozen=True)
class HiddenMap:
    matrix: Tensor  # hidden size of the given model x that of the submission
    chosen: Tensor | None  # where it only selects, reorders or pads: for each column, the given one


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
