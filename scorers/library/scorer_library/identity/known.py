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
    profile: Profile


def read_known(path: Path) -> tuple[str, list[KnownTensor]]:
    file = json.loads(path.read_text(encoding="utf-8"))
    return file["name"], [
        KnownTensor(
            one["name"], shape, centred(unpack_places(one["places"])), unpack_profile(one["profile"], shape)
        )
        for one in file["tensors"]
        for shape in [(one["shape"][0], math.prod(one["shape"][1:]))]
    ]


def look_for(own: dict[str, Tensor], files: list[Path], seed: str) -> list[dict[str, Any]]:
    """For each known model, the matrices of the submission that are like one of its."""
    known = [read_known(path) for path in files]
    found: list[dict[str, Any]] = [{"model": name, "looked": 0, "matches": []} for name, _ in known]
    names = [name for name, values in own.items() if values.ndim >= 2]
    profiled = set(drawn(names, seed)[:PROFILES_MAX])
    for name in sorted(names):
        matrix = as_matrix(own[name])
        if matrix is None:
            continue
        sizes = profile(matrix) if name in profiled else None
        for entry, (_, tensors) in zip(found, known, strict=True):
            entry["looked"] += 1
            if match := nearest(matrix, sizes, tensors):
                entry["matches"].append({"tensor": name, **match})
    return found


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
            off = distance(sizes, one.profile)
            if off <= SAME_SIZES and (best is None or 1 - off > best[0]):
                best = (1 - off, {"known": one.name, "by": "sizes", "likeness": rounded(1 - off)})
    return best and best[1]


def distance(own: Profile, known: Profile) -> float:
    """Of the singular values, and of the norms on that side which a rotation of the other one keeps."""
    if sorted(own.filled) != sorted(known.filled):
        return math.inf
    turned = own.filled != known.filled
    rows, columns = (own.columns, own.rows) if turned else (own.rows, own.columns)
    norms = min(apart(rows, known.rows), apart(columns, known.columns))
    return max(apart(own.singular, known.singular), norms)


def apart(own: Tensor, known: Tensor) -> float:
    return float((own - known).norm() / known.norm())


def centred(values: Tensor) -> Tensor:
    around = values - values.mean()
    return around / around.norm().clamp_min(1e-38)
