"""A ratio of sums over items, with its standard error: bits per byte over documents, hits over questions."""

import math
from typing import Any


def ratio(samples: list[dict[str, Any]]) -> tuple[float, float]:
    """sum(value) / sum(weight) and the standard error of that ratio over the samples.

    The error is the linearised ratio estimator's (Cochran, Sampling Techniques, 3rd ed., section 2.11);
    0.0 for a single sample, whose error is unknown.
    """
    weight = math.fsum(sample["weight"] for sample in samples)
    value = math.fsum(sample["value"] for sample in samples) / weight
    count = len(samples)
    if count < 2:
        return value, 0.0
    squares = math.fsum((sample["value"] - value * sample["weight"]) ** 2 for sample in samples)
    return value, math.sqrt(squares * count / (count - 1)) / weight
