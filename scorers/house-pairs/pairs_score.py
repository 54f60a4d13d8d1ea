"""Computes the score, a mean over paradigms, from samples. Ties that decide the score are rejected.

lm-eval chooses the first of equal likelihoods, and the right sentence always comes first: a model with equal
likelihoods would always be right.
"""

import math
from typing import Any

from mlrb_kit.rejected import Rejected
from scorer_library.lm_eval.items import TIE_NATS, TIES_GAP_MAX, error_of_mean, mean


def scored(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of a scored score, with paradigms as the clusters of the error.

    Raises Rejected on non-finite likelihoods and on ties that decide.
    """
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
        "standardError": error_of_mean(list(means.values())),
        "items": len(samples),
        "groups": {name: {"value": means[name], "items": len(found)} for name, found in groups.items()},
        "extra": {"paradigms": len(groups), "ties": ties, "tiesHalf": ties_half},
    }


def tied(sample: dict[str, Any]) -> bool:
    return abs(sample["good"] - sample["bad"]) < TIE_NATS


def half_for_ties(sample: dict[str, Any]) -> float:
    return 0.5 if tied(sample) else sample["value"]
