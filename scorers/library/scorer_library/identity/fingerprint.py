"""Fingerprints of matrices: values at many places, and sizes that survive permutation, padding and rotation.

A fingerprint is small and public, and no weights can be rebuilt from it.
"""

import hashlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite, prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

PLACES = 1024
FIRST_PLACES = 64  # of format 1, as in an attempt's fingerprint.json
POINTS = 64  # of each profile
SIZE_MIN = 1024  # smaller matrices are similar by chance
EMPTY = 1e-3  # of the largest norm or singular value: rows, columns and directions under it are padding
LIKE_RANDOM = 0.02  # profiles that differ by less from one of normal numbers are not stored
SCALE = 31  # of one standard deviation, in a signed byte


@dataclass(frozen=True)
class Profile:
    """Each sorted, over the root mean square, at POINTS quantiles."""

    singular: Tensor
    rows: Tensor
    columns: Tensor
    filled: tuple[int, int]  # rows and columns that are no padding


def as_matrix(values: Tensor) -> Tensor | None:
    """Two dimensions, without values that are no numbers; None for vectors, small and constant tensors."""
    if values.ndim < 2 or values.numel() < SIZE_MIN:
        return None
    matrix = torch.nan_to_num(values.detach().cpu().float(), 0.0, 0.0, 0.0).flatten(1)
    largest = float(matrix.abs().max())
    if not largest > 0 or bool((matrix == matrix[0, 0]).all()):
        return None
    return matrix / largest


@cache
def places(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Rows and columns of the sampled values: fixed for a shape, spread by a hash."""
    drawn = [hashlib.sha256(f"{rows}x{columns}:{at}:2".encode()).digest() for at in range(PLACES)]
    numbers = [int.from_bytes(digest[:6], "big") % (rows * columns) for digest in drawn]
    at = torch.tensor(numbers)
    return at // columns, at % columns


def first_places(shape: list[int]) -> list[int]:
    """Row-major places of format 1, as runners/kit/src/rules/fingerprint.ts draws them."""
    key, size = "x".join(map(str, shape)), prod(shape)
    drawn = (hashlib.sha256(f"{key}:{at}".encode()).digest() for at in range(FIRST_PLACES))
    return [int.from_bytes(digest[:6], "big") % size for digest in drawn]


def fingerprint(name: str, values: Tensor) -> dict[str, Any] | None:
    """An entry of a known-weights file; None for vectors, small matrices, and tables of a few values."""
    matrix = as_matrix(values)
    if matrix is None:
        return None
    shape = list(values.shape)
    first = [float(f"{value:.4g}") for value in values.flatten()[first_places(shape)].tolist()]
    if len(set(first)) < 8 or not all(map(isfinite, first)):
        return None
    at = (matrix.shape[0], matrix.shape[1])
    entry = {"name": name, "shape": shape, "values": first, "places": pack_places(sampled(matrix, at))}
    sizes = profile(matrix)
    if distance(sizes, profile_of_random(*sizes.filled)) > LIKE_RANDOM:
        entry["profile"] = pack_profile(sizes)
    return entry


@cache
def profile_of_random(rows: int, columns: int) -> Profile:
    """Of normal numbers: every model that was hardly trained has it, so it tells nothing."""
    return profile(torch.randn(rows, columns, generator=torch.Generator().manual_seed(0)))


def sampled(matrix: Tensor, shape: tuple[int, int]) -> Tensor:
    """The values at the places of a matrix of `shape`, which may be smaller than `matrix`."""
    rows, columns = places(*shape)
    return matrix[rows, columns]


def profile(matrix: Tensor) -> Profile:
    rows, columns = filled(matrix.norm(dim=1)), filled(matrix.norm(dim=0))
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    singular = filled(torch.linalg.eigvalsh((small @ small.T).double()).clamp_min(0).sqrt())
    return Profile(quantiles(singular), quantiles(rows), quantiles(columns), (len(rows), len(columns)))


def distance(own: Profile, known: Profile) -> float:
    """Of the singular values, and of the norms on that side which a rotation of the other one keeps."""
    if sorted(own.filled) != sorted(known.filled):
        return inf
    turned = own.filled != known.filled
    rows, columns = (own.columns, own.rows) if turned else (own.rows, own.columns)
    norms = min(apart(rows, known.rows), apart(columns, known.columns))
    return max(apart(own.singular, known.singular), norms)


def apart(own: Tensor, known: Tensor) -> float:
    return float((own - known).norm() / known.norm())


def filled(sizes: Tensor) -> Tensor:
    return sizes[sizes > EMPTY * sizes.max()]


def quantiles(sizes: Tensor) -> Tensor:
    ordered = sizes.double().sort(descending=True).values
    at = torch.linspace(0, len(ordered) - 1, POINTS).round().long()
    return (ordered / ordered.square().mean().sqrt())[at]


def pack_places(values: Tensor) -> str:
    """As signed bytes: correlations need no more."""
    spread = (values - values.mean()) / values.std().clamp_min(1e-38)
    return b64encode((spread * SCALE).round().clamp(-127, 127).to(torch.int8).numpy().tobytes()).decode()


def unpack_places(text: str) -> Tensor:
    return torch.from_numpy(np.frombuffer(b64decode(text), dtype=np.int8).copy()).float()


def pack_profile(found: Profile) -> str:
    parts = torch.cat([found.singular, found.rows, found.columns]).half()
    return b64encode(parts.numpy().tobytes()).decode()


def unpack_profile(text: str, shape: tuple[int, int]) -> Profile:
    """`shape`: of the matrix, which is stored without padding."""
    parts = torch.from_numpy(np.frombuffer(b64decode(text), dtype=np.float16).copy()).double().split(POINTS)
    return Profile(parts[0], parts[1], parts[2], shape)
