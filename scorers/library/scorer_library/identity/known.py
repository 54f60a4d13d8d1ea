"""Looks for the weights of known models in a submission, by their fingerprints. Names are not trusted."""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scorer_library.identity.alike import rounded
from scorer_library.identity.fingerprint import (
    Profile,
    as_matrix,
    distance,
    profile,
    sampled,
    unpack_places,
    unpack_profile,
)
from scorer_library.identity.work import Work

ALIKE = 0.2  # correlation at 1 024 places: 6 standard errors of unrelated values
SAME_SIZES = 0.005  # largest relative difference of profiles: copies have 0.0003, other models 0.01 or more
PROFILES_MAX = 48  # matrices whose singular values are computed: large ones take seconds each


@dataclass(frozen=True)
class KnownTensor:
    name: str
    shape: tuple[int, int]
    values: Tensor  # at the places, with mean 0 and length 1
    profile: Profile | None  # none where it is like that of random numbers


def read_known(path: Path) -> tuple[str, list[KnownTensor]]:
    file = json.loads(path.read_text(encoding="utf-8"))
    return file["name"], [as_known(one) for one in file["tensors"]]


def as_known(entry: dict[str, Any]) -> KnownTensor:
    shape = (entry["shape"][0], math.prod(entry["shape"][1:]))
    sizes = unpack_profile(entry["profile"], shape) if "profile" in entry else None
    return KnownTensor(entry["name"], shape, centred(unpack_places(entry["places"])), sizes)


def look_for(own: dict[str, Tensor], files: list[Path], seed: str, work: Work) -> list[dict[str, Any]]:
    """For each known model, the matrices of the submission that are like one of its."""
    known = [read_known(path) for path in files]
    looked, matches = matches_of(own, [tensors for _, tensors in known], seed, work)
    return [
        {"model": model, "looked": looked, "matches": found}
        for (model, _), found in zip(known, matches, strict=True)
    ]


def matches_of(
    own: dict[str, Tensor], known: list[list[KnownTensor]], seed: str, work: Work
) -> tuple[int, list[list[dict[str, Any]]]]:
    """How many matrices can be compared, and for each known model those that are like one of its."""
    names = [name for name in sorted(own) if as_matrix(own[name]) is not None]
    with_sizes = drawn({name: own[name].numel() for name in names}, seed)
    matches: list[list[dict[str, Any]]] = [[] for _ in known]
    for name in names:
        matrix = as_matrix(own[name])
        assert matrix is not None
        work.values(4 * matrix.numel())
        sizes = None
        if name in with_sizes:
            work.eigenvalues(min(matrix.shape))
            sizes = profile(matrix)
        for tensors, found in zip(known, matches, strict=True):
            if match := nearest(matrix, sizes, tensors):
                found.append({"tensor": name, **match})
    return len(names), matches


def drawn(sizes: dict[str, int], seed: str) -> set[str]:
    """PROFILES_MAX names, those of larger matrices oftener: small ones cannot crowd out the others.

    Weighted sampling without replacement (Efraimidis and Spirakis, Weighted random sampling, 2006).
    """

    def key(name: str) -> float:
        number = int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:7], "big")
        return -math.log((number + 1) / (2**56 + 1)) / sizes[name]

    return set(sorted(sizes, key=lambda name: (key(name), name))[:PROFILES_MAX])


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
