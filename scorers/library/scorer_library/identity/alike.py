"""Measures of two tensors: likeness, equality up to rounding, and rows in another order."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

NEAR = 0.5  # cosine from which a tensor is taken for a version of another one
# Of 1 - cosine, that of the nearest row over that of the next one. Rows of unrelated models may share a
# direction, and then have many near rows: embeddings trained apart had 0.97 or more, those with noise of
# 80 % at most 0.89.
DISTINCT = 0.9
NARROW = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Alike:
    cosine: float  # of the whole tensors, 0 where one is zero
    difference: float  # length of the difference over the length of the given tensor, at most 1e9
    values: str  # "equal" up to rounding; "zeros": equal or zero; "other"


def cosine(own: Tensor, given: Tensor) -> float:
    """Of two tensors of one shape in single precision. Values that are not finite count as zero."""
    one, other = unit(own).flatten(), unit(given).flatten()
    return float(torch.dot(one, other))


def unit(values: Tensor) -> Tensor:
    """With length one, or zero. Scaled first: the square of a large value may be infinite."""
    finite = torch.nan_to_num(values.float(), 0.0, 0.0, 0.0)
    finite = finite / finite.abs().max().clamp_min(1e-38) if finite.numel() else finite
    return finite / finite.norm().clamp_min(1e-38)


def alike(own: Tensor, given: Tensor) -> Alike:
    """Compares place by place, in single precision."""
    mine = own.float()
    values = "other"
    for version in roundings(mine, given):
        equal = mine == version
        if bool(equal.all()):
            values = "equal"
            break
        if bool((equal | (mine == 0)).all()):
            values = "zeros"
    length = float(given.norm())
    off = torch.nan_to_num((mine - given).abs(), 1e9, 1e9, 1e9)
    difference = float(off.norm()) / length if length > 0 else 1e9
    return Alike(cosine(mine, given), min(difference, 1e9), values)


def roundings(own: Tensor, given: Tensor) -> Iterator[Tensor]:
    """`given`, and as saved in each narrower type that holds `own`, directly or by way of the other one.

    Types round to the nearest number. A value that was rounded to another near number was chosen, so a
    tolerance would hide training.
    """
    yield given
    for dtype in NARROW:
        if torch.equal(own.to(dtype).float(), own):
            yield given.to(dtype).float()
            yield from (given.to(other).to(dtype).float() for other in NARROW if other != dtype)


def chance(rows: int, width: int) -> float:
    """The cosine that the best of `rows` unrelated rows of this width seldom exceeds."""
    return min(0.95, 1.5 * math.sqrt(2 * math.log(max(2, rows)) / max(1, width)))


def matching_rows(own: Tensor, given: Tensor) -> Tensor | None:
    """For each row of `own`, the index of the row of `given` that is most alike; None if they are not near.

    Both are matrices of one width. 16 rows are tried first. -1: a row of zeros in a pruned matrix.
    """
    exact = rows_with_these_values(own.float(), given)
    if exact is not None:
        return exact
    rows, width = given.shape
    least = max(NEAR, chance(rows, width))
    theirs = torch.nn.functional.normalize(given, dim=1)
    mine = torch.nn.functional.normalize(torch.nan_to_num(own.float(), 0.0, 0.0, 0.0), dim=1)
    filled = torch.nonzero(mine.abs().sum(1) > 0).flatten()
    if len(filled) == 0:
        return None
    tried = filled[torch.linspace(0, len(filled) - 1, min(16, len(filled))).long()]
    nearest = (mine[tried] @ theirs.T).topk(min(2, rows), dim=1).values
    apart = (1 - nearest[:, 0]) / (1 - nearest[:, -1]).clamp_min(1e-6)
    if float(nearest[:, 0].median()) < least or (rows > 1 and float(apart.median()) > DISTINCT):
        return None
    found = torch.cat([(part @ theirs.T).argmax(1) for part in mine.split(1024)])
    return found if cosine(own, given[found]) >= least else None


def rows_with_these_values(own: Tensor, given: Tensor) -> Tensor | None:
    """For each row of `own`, a row of `given` that has all its values but zeros; None if a row has none.

    This holds where pruning left too few values for a cosine. A row of zeros has the index -1.
    """
    for version in roundings(own, given):
        found = torch.full((len(own),), -1)
        for at, row in enumerate(own):
            left = torch.nonzero(row).flatten()
            if len(left) == 0:
                continue
            largest = row.abs().argmax()
            likely = torch.nonzero(version[:, largest] == row[largest]).flatten()
            fits = likely[(version[likely][:, left] == row[left]).all(1)]
            if len(fits) == 0:
                break
            found[at] = fits[0]
        else:
            return found if bool((found >= 0).any()) else None
    return None
