"""Whether a matrix holds a given one on fewer directions."""

from functools import cached_property

import torch
from torch import Tensor

from scorer_library.identity.work import Work

LOWER_RANK = 0.9  # of the smaller side: a matrix of less rank is tested as an approximation
RANK_FIT = 0.05  # largest relative distance to the given matrix, projected on its own directions
ENERGY = 1e-6  # share of the squared length under which directions do not count


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
