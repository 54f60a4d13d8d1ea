"""Measures of two tensors: likeness, and equality up to rounding."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

NEAR = 0.5  # cosine from which a tensor is taken for a version of another one
VERSION = 0.8  # cosine from which the given tensor is known: only equal values are looked for
SQUARES = (1e-15, 1e18)  # lengths beyond have squares that single precision may lack
NARROW = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Alike:
    cosine: float  # of the whole tensors, 0 where one is zero
    difference: float  # length of the difference over the length of the given tensor, at most 1e9
    values: str  # "equal" up to rounding; "zeros": equal or zero; "other"


def cosine(own: Tensor, given: Tensor) -> float:
    """Of two tensors of one shape in single precision. Values that are not finite count as zero."""
    one, other = own.float().flatten(), given.float().flatten()
    lengths = float(one.norm()), float(other.norm())
    if all(SQUARES[0] < length < SQUARES[1] for length in lengths):
        return float(torch.dot(one, other)) / (lengths[0] * lengths[1])
    return float(torch.dot(unit(one), unit(other)))


def unit(values: Tensor) -> Tensor:
    """With length one, or zero. Scaled first: the square of a large value may be infinite."""
    finite = torch.nan_to_num(values, 0.0, 0.0, 0.0)
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
    length = length_of(given)
    off = torch.nan_to_num((mine - given).abs(), 1e9, 1e9, 1e9)
    difference = length_of(off) / length if length > 0 else 1e9
    return Alike(cosine(mine, given), min(difference, 1e9), values)


def length_of(values: Tensor) -> float:
    length = float(values.norm())
    if SQUARES[0] < length < SQUARES[1]:
        return length
    return float(torch.linalg.vector_norm(values, dtype=torch.float64))  # 20 times as slow


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


def rounded(value: float) -> float:
    """To four digits: equal submissions give equal files on one processor."""
    return float(f"{value:.4g}")
