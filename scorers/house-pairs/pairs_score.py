"""From samples to a score: the mean over paradigms, unless the likelihoods decide nothing.

lm-eval takes the first of equal likelihoods, and the right sentence always comes first: a model that
cannot tell two sentences apart would be right every time.
"""

import math
from typing import Any

from mlrb_kit.rejected import Rejected

TIE_NATS = 1e-6
TIES_GAP_MAX = 0.02


def scored(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of a scored score; raises Rejected on non-finite likelihoods and on ties that decide."""
    for sample in samples:
        choices = (sample["good"], sample["bad"])
        if any(math.isnan(choice) for choice in choices) or all(choice == -math.inf for choice in choices):
            raise Rejected("non-finite output")
    groups = {
        name: [sample for sample in samples if sample["group"] == name]
        for name in sorted({sample["group"] for sample in samples})
    }
    means = {name: mean([sample["value"] for sample in found]) for name, found in groups.items()}
    value = mean(list(means.values()))
    ties_half = mean([mean([half_for_ties(sample) for sample in found]) for found in groups.values()])
    if abs(value - ties_half) > TIES_GAP_MAX:
        counts = f"{value:.3f} as lm-eval counts, {ties_half:.3f} with ties counted half"
        raise Rejected(f"ties: {counts}; the model does not tell sentences apart")
    ties = sum(tied(sample) for sample in samples)
    return {
        "value": value,
        "standardError": clustered_error(list(means.values())),
        "items": len(samples),
        "groups": {name: {"value": means[name], "items": len(found)} for name, found in groups.items()},
        "extra": {"paradigms": len(groups), "ties": ties, "tiesHalf": ties_half},
    }


def tied(sample: dict[str, Any]) -> bool:
    return abs(sample["good"] - sample["bad"]) < TIE_NATS


def half_for_ties(sample: dict[str, Any]) -> float:
    return 0.5 if tied(sample) else sample["value"]


def clustered_error(means: list[float]) -> float:
    """Of the unweighted mean of paradigm means, the paradigms taken as the clusters; 0.0 for a single one."""
    if len(means) < 2:
        return 0.0
    centre = mean(means)
    spread = math.fsum((value - centre) ** 2 for value in means) / (len(means) - 1)
    return math.sqrt(spread / len(means))


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
