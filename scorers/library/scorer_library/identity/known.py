"""Looks for the weights of known models in a submission, by their fingerprints. Names are not trusted."""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scorer_library.identity.compare import rounded
from scorer_library.identity.fingerprint import (
    Profile,
    as_matrix,
    distance,
    profile,
    sampled,
    unpack_places,
    unpack_profile,
)

ALIKE = 0.2  # correlation at 1 024 places: 6 standard errors of unrelated values
SAME_SIZES = 0.005  # largest relative difference of profiles: copies have 0.0003, other models 0.01 or more
PROFILES_MAX = 48  # matrices whose singular values are computed: large ones take seconds each


@dataclass(frozen=True)
class KnownTensor:
    name: str
    shape: tuple[int, int]
    values: Tensor  # at the places, with mean 0 and length 1
    profile: Profile | None  # none where it is like that of random numbers


@dataclass(frozen=True)
class OwnMatrix:
    name: str
    values: Tensor
    profile: Profile | None  # of those that the seed draws


def read_known(path: Path) -> tuple[str, list[KnownTensor]]:
    file = json.loads(path.read_text(encoding="utf-8"))
    return file["name"], [as_known(one) for one in file["tensors"]]


def as_known(entry: dict[str, Any]) -> KnownTensor:
    shape = (entry["shape"][0], math.prod(entry["shape"][1:]))
    sizes = unpack_profile(entry["profile"], shape) if "profile" in entry else None
    return KnownTensor(entry["name"], shape, centred(unpack_places(entry["places"])), sizes)


def look_for(own: dict[str, Tensor], files: list[Path], seed: str) -> list[dict[str, Any]]:
    """For each known model, the matrices of the submission that are like one of its."""
    matrices = profiled(own, seed)
    return [
        {"model": name, "looked": len(matrices), "matches": matches_of(matrices, tensors)}
        for name, tensors in map(read_known, files)
    ]


def profiled(own: dict[str, Tensor], seed: str) -> list[OwnMatrix]:
    names = [name for name, values in own.items() if values.ndim >= 2]
    with_sizes = set(drawn(names, seed)[:PROFILES_MAX])
    return [
        OwnMatrix(name, matrix, profile(matrix) if name in with_sizes else None)
        for name in sorted(names)
        if (matrix := as_matrix(own[name])) is not None
    ]


def matches_of(matrices: list[OwnMatrix], tensors: list[KnownTensor]) -> list[dict[str, Any]]:
    found = ((one.name, nearest(one.values, one.profile, tensors)) for one in matrices)
    return [{"tensor": name, **match} for name, match in found if match]


def drawn(names: list[str], seed: str) -> list[str]:
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


def nearest(matrix: Tensor, sizes: Profile | None, tensors: list[KnownTensor]) -> dict[str, Any] | None:
    best: tuple[float, dict[str, Any]] | None = None
    for one in tensors:
        for version in (matrix, matrix.T):
            if version.shape[0] < one.shape[0] or version.shape[1] < one.shape[1]:
                continue
            strength = abs(float(torch.dot(centred(sampled(version, one.shape)), one.values)))
            if strength >= ALIKE and (best is None or strength > best[0]):
                best = (strength, {"known": one.name, "by": "places", "likeness": rounded(strength)})
    if best is None and sizes is not None:
        for one in tensors:
            if one.profile is None:
                continue
            off = distance(sizes, one.profile)
            if off <= SAME_SIZES and (best is None or 1 - off > best[0]):
                best = (1 - off, {"known": one.name, "by": "sizes", "likeness": rounded(1 - off)})
    return best and best[1]


def centred(values: Tensor) -> Tensor:
    around = values - values.mean()
    return around / around.norm().clamp_min(1e-38)
