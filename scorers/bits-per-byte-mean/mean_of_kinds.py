"""The unweighted mean over kinds of text, so that the kind with the most bytes does not dominate."""

import math
from collections import defaultdict
from typing import Any

from scorer_library.ratio import ratio

Sample = dict[str, Any]  # group (the kind), cluster, value in bits, weight in bytes


def mean_of_kinds(samples: list[Sample]) -> tuple[float, float]:
    """Mean over kinds of their bits per byte, and its standard error: over clusters, within kinds.

    Kinds are fixed and share no cluster, so the squares of their errors add.
    """
    ratios = kind_ratios(samples)
    squares = []
    for kind in ratios:
        sums: dict[str, float] = defaultdict(float)
        for sample, pull in zip(samples, pulls(samples), strict=True):
            if sample["group"] == kind:
                sums[sample["cluster"]] += pull
        if len(sums) > 1:
            squares.append(math.fsum(pull**2 for pull in sums.values()) * len(sums) / (len(sums) - 1))
    return math.fsum(ratios.values()) / len(ratios), math.sqrt(math.fsum(squares))


def kind_ratios(samples: list[Sample]) -> dict[str, float]:
    kinds = sorted({sample["group"] for sample in samples})
    return {kind: ratio([sample for sample in samples if sample["group"] == kind])[0] for kind in kinds}


def pulls(samples: list[Sample]) -> list[float]:
    """Each document's influence on the mean. The influences of a kind sum to zero."""
    ratios = kind_ratios(samples)
    sizes: dict[str, float] = defaultdict(float)
    for sample in samples:
        sizes[sample["group"]] += sample["weight"]
    return [
        (sample["value"] - ratios[sample["group"]] * sample["weight"]) / sizes[sample["group"]] / len(ratios)
        for sample in samples
    ]
