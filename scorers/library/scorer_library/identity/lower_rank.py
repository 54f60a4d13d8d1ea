"""Whether a matrix holds a given one on fewer directions, as a truncated singular value decomposition does.

Also whether it has fewer directions itself, or none fewer and the error of such a decomposition. `own` is a
matrix, or several in one tensor.
"""

import torch
from torch import Tensor

from scorer_library.identity.alike import length_of, roundings
from scorer_library.identity.work import Work

DRAWN = 16  # random vectors, with which products of matrices are tested
RANK_FIT = 0.01  # largest relative distance from the projected matrix: sums of BF16 factors differ by 0.004
LOST = 0.3  # largest share of the difference in directions of the matrix; a random difference has 1
LOWER_RANK = 0.9  # of the smaller side: a matrix of at most this rank has fewer directions
ENERGY = 1e-6  # share of the squared length under which directions do not count
SMALL = 8  # under this size a direction gets more of the rounding to BF16, which is 1.3e-6 of all
ROUND_OFF = 2e-6  # of the largest value: what a decomposition in single precision adds to a value
OUTLIER = 16.0  # times the usual value; larger ones do not raise this error
FIRST = 64  # rows that are compared before the others


def on_fewer_directions(own: Tensor, given: Tensor, seed: int, work: Work) -> bool:
    """Whether `own` is `given`, projected on the columns of `own`, or on its rows, up to rounding.

    Then nothing of the difference lies in those directions: own.T @ (given - own) is zero. Its product with
    random vectors shows that (Freivalds, 1977), so no decomposition is needed.
    """
    if own.ndim == 3:
        pairs = [(one, other) for one, other in zip(own, given, strict=True) if bool(one.any())]
        return len(pairs) > 0 and all(on_fewer_directions(*pair, seed, work) for pair in pairs)
    work.products(4 * DRAWN, *own.shape)
    mine, rows, columns = filled(own)
    some = given[rows][:, columns]
    # values of another size are none of a projection, and their squares may be infinite
    if not RANK_FIT <= largest(own) / largest(some) <= 1 / RANK_FIT:
        return False
    theirs = some / largest(own)
    return orthogonal(mine, theirs, seed) or orthogonal(mine.T, theirs.T, seed)


def filled(own: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Without rows and columns of zeros, and with 1 as the largest value; and which ones are left."""
    finite = torch.nan_to_num(own, 0.0, 0.0, 0.0)
    rows, columns = finite.any(1), finite.any(0)
    return finite[rows][:, columns] / largest(own), rows, columns


def largest(own: Tensor) -> float:
    """Matrices are divided by it, since the square of a large value may be infinite."""
    finite = torch.nan_to_num(own, 0.0, 0.0, 0.0)
    return max(1e-38, float(finite.abs().max())) if own.numel() else 1.0


def orthogonal(own: Tensor, given: Tensor, seed: int) -> bool:
    """Whether the difference has nothing in the directions of the columns of `own`."""
    draw = torch.randn(own.shape[1], DRAWN, generator=torch.Generator().manual_seed(seed))
    off, length = (given - own) @ draw, float(own.norm())
    # as long as `off`, if its directions are random
    inside = float((own.T @ off).norm()) * own.shape[0] ** 0.5 / max(1e-38, length)
    rounding = RANK_FIT * float(given.norm()) * DRAWN**0.5
    return length > 0 and inside <= min(LOST * float(off.norm()), rounding)


def is_decomposed(own: Tensor, versions: list[Tensor], seed: int, work: Work) -> bool:
    """Whether each matrix has fewer directions, or is one of `versions` that a decomposition returned.

    Of several matrices in one tensor, those of zeros were removed.
    """
    if own.ndim == 3:
        left = [at for at, one in enumerate(own) if bool(one.any())]
        given = [version for version in versions if version.shape == own.shape]
        return len(left) > 0 and all(
            is_decomposed(own[at], [version[at] for version in given], seed, work) for at in left
        )
    work.values(own.numel() * len(versions))
    if any(version.shape == own.shape and decomposed_only(own, version) for version in versions):
        return True
    return has_fewer_directions(own, seed, work)


def has_fewer_directions(own: Tensor, seed: int, work: Work) -> bool:
    """Whether the rank is at most 90 % of the smaller side, and lower than rows and columns of zeros make it.

    Zeros alone are no lower rank: they may be rows that were removed from a trained matrix.
    """
    mine, _, _ = filled(own)
    side = mine if mine.shape[0] <= mine.shape[1] else mine.T
    size = side.shape[0]
    # so many columns have the rank of all
    drawn = torch.randperm(side.shape[1], generator=torch.Generator().manual_seed(seed))[: 2 * max(size, 64)]
    work.products(size, size, len(drawn))
    work.eigenvalues(size)
    some = side[:, drawn].double()
    energy = torch.linalg.eigvalsh(some @ some.T)
    least = ENERGY * max(1.0, SMALL / max(1, size)) * energy.sum()
    rank = int((energy > least).sum())
    return rank < size and rank <= LOWER_RANK * min(own.shape)


def decomposed_only(own: Tensor, given: Tensor) -> bool:
    """Whether `own` is `given`, partly zero, as a decomposition returns it that cuts nothing.

    So it is where pruning left fewer directions than a later cut keeps. Each value may be off by the error of
    the decomposition, before it is rounded to the type of `own`.
    """
    off = ROUND_OFF * min(usual(own), usual(given))
    return is_within(own[:FIRST], given[:FIRST], off) and is_within(own, given, off)


def is_within(own: Tensor, given: Tensor, off: float) -> bool:
    least, most = roundings(own, given - off), roundings(own, given + off)
    return any(
        bool(((own.abs() <= off) | ((own >= low) & (own <= high))).all())
        for low, high in zip(least, most, strict=True)
    )


def usual(values: Tensor) -> float:
    """The largest value, or 16 times the root mean square of those that are not zero, if this is less."""
    count = max(1, int((values != 0).sum()))
    return min(largest(values), OUTLIER * length_of(torch.nan_to_num(values, 0.0, 0.0, 0.0)) / count**0.5)
