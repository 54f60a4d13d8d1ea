"""Fits each tensor of a submission as a mixture of given models: own = origin + sum of shares x differences.

The origin is the first model (the base, where one is given), the differences are the other models minus it.
Coefficients are least squares in double precision. Values chosen place by place (TIES, DARE) are no such sum,
so the file also counts values outside the range that the differences can give.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from scorer_library.identity.alike import Alike, alike, length_of, rounded
from scorer_library.identity.tensors import GivenModel, rounding

CHUNK = 2**17  # values at a time
RANGE = 20.0  # largest factor of a difference: DARE that drops 95 % scales the rest by 20
PLACES = 4096  # that show the weights of a mixture of layers
SHARE_MIN = 0.05  # the least weight of a part
# the distance of a mixture of layers, relative to its length, that saving in this type leaves
FIT = {torch.bfloat16: 4e-3, torch.float16: 5e-4, torch.float32: 1e-5}
SLACK = 2.0  # sums of several rounded terms have a larger error than each term


def fit_mixture(own: dict[str, Tensor], models: list[GivenModel]) -> dict[str, Any]:
    """`weights`: of each model over all tensors; their sum is one. Tensors that a model lacks are skipped."""
    others = len(models) - 1
    grams = torch.zeros(others, others, dtype=torch.float64)
    projections = torch.zeros(others, dtype=torch.float64)
    tensors = []
    for name in sorted(own):
        shape = tuple(own[name].shape)
        if any(name not in model.names() or model.shape(name) != shape for model in models):
            continue
        mine = own[name].cpu().float().flatten()
        step = rounding(mine)
        theirs = [model.read(name).flatten() for model in models]
        gram, projection, scaled = sums(mine, theirs)
        grams += gram
        projections += projection
        tensors.append({"name": name, **measure(mine, theirs, scaled, step)})
    shares = solve(grams, projections).tolist()
    return {
        "models": [model.name for model in models],
        "weights": [rounded(1 - sum(shares)), *map(rounded, shares)],
        "tensors": tensors,
    }


@dataclass(frozen=True)
class LayerMixture:
    likeness: Alike  # of the submission's tensor and the mixture
    largest: int  # the place of the part with the largest weight


def mixture_of(own: Tensor, given: list[Tensor]) -> LayerMixture | None:
    """The mixture of at least two tensors of one model that `own` is, up to rounding; None if it is none.

    Places of zeros do not count: they were removed.
    """
    if len(given) < 2:
        return None
    filled = torch.nonzero(own.flatten()).flatten()
    drawn = torch.linspace(0, len(filled) - 1, min(len(filled), PLACES)).long()
    places = filled[drawn.clamp_max(len(filled) - 1)]  # single precision rounds beyond 16 million
    if len(places) <= 2 * len(given):
        return None
    parts = torch.stack([one.flatten()[places] for one in given]).double()
    mine = torch.nan_to_num(own.flatten()[places].double(), 0.0, 0.0, 0.0)
    weights = solve(parts @ parts.T, parts @ mine).float()
    if int((weights.abs() >= SHARE_MIN).sum()) < 2 or not bool((weights.abs() <= RANGE).all()):
        return None
    whole = torch.zeros_like(own)
    for weight, one in zip(weights, given, strict=True):
        whole += weight * one
    whole *= own != 0
    stored = next((dtype for dtype in FIT if torch.equal(own.to(dtype).float(), own)), None)
    if stored is None:  # it holds what is no number
        return None
    likeness = alike(own, whole)
    length, (_, least) = length_of(whole), rounding(own)
    # values near the least one of their type are off by it, not by a share
    if not likeness.difference * length <= FIT[stored] * length + SLACK * least * len(filled) ** 0.5:
        return None
    return LayerMixture(likeness, int(weights.abs().argmax()))


def chunks(mine: Tensor, theirs: list[Tensor]) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Own values, the origin's, and the differences of the others (one row each), in double precision."""
    for start in range(0, mine.numel(), CHUNK):
        part = slice(start, start + CHUNK)
        origin = theirs[0][part].double()
        differences = [other[part].double() - origin for other in theirs[1:]]
        rows = torch.stack(differences) if differences else torch.empty(0, origin.numel()).double()
        yield torch.nan_to_num(mine[part].double(), 0.0, 0.0, 0.0), origin, rows


def sums(mine: Tensor, theirs: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Gram matrix and projections of the differences, and the coefficients of [origin, differences]."""
    width = len(theirs)
    gram = torch.zeros(width, width, dtype=torch.float64)
    target = torch.zeros(width, dtype=torch.float64)
    projection = torch.zeros(width - 1, dtype=torch.float64)
    for own, origin, differences in chunks(mine, theirs):
        columns = torch.cat([origin[None], differences])
        gram += columns @ columns.T
        target += columns @ (own - origin)
        projection += differences @ (own - origin)
    coefficients = solve(gram, target)
    coefficients[0] += 1  # of the origin: one, except where lengths are kept (SLERP)
    return gram[1:, 1:], projection, coefficients


def solve(gram: Tensor, target: Tensor) -> Tensor:
    """Least squares with scaled columns; columns of zeros get zero."""
    scale = gram.diagonal().clamp_min(0).sqrt()
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    unit = gram / scale[:, None] / scale[None, :]
    return torch.linalg.pinv(unit, rtol=1e-10, hermitian=True) @ (target / scale) / scale


def measure(mine: Tensor, theirs: list[Tensor], scaled: Tensor, step: tuple[float, float]) -> dict[str, Any]:
    rest = length = 0.0
    outside = 0
    relative, absolute = step
    for own, origin, differences in chunks(mine, theirs):
        fit = scaled[0] * origin + scaled[1:] @ differences
        rest += float(((own - fit) ** 2).sum())
        length += float((own**2).sum())
        give = SLACK * (relative * (origin.abs() + differences.abs().sum(0)) + absolute)
        low = origin + RANGE * differences.clamp_max(0).sum(0) - give
        high = origin + RANGE * differences.clamp_min(0).sum(0) + give
        outside += int(((own < low) | (own > high)).sum())
    outside += int((~torch.isfinite(mine)).sum())
    return {
        "size": mine.numel(),
        "residual": rounded((rest / length) ** 0.5 if length > 0 else 0.0),
        "allowed": rounded(SLACK * relative),
        "outside": outside,
    }
