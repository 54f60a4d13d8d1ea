"""Measures bits per byte of a submission on held-out text of several kinds (see README.md)."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

from mean_of_kinds import Sample, kind_ratios, mean_of_kinds, pulls
from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import Measured, score_stage
from scorer_library.bits_per_byte import bits_samples, cluster_of
from scorer_library.heldout import read_heldout


def measure(submission: Path, private: Path) -> Measured:
    clusters = [cluster_of(document) for document in read_heldout(private)]
    found = bits_samples(submission, private)
    samples = [{**sample, "cluster": cluster} for sample, cluster in zip(found, clusters, strict=True)]
    value, error = mean_of_kinds(samples)
    if not math.isfinite(value):
        return Measured(Rejected("non-finite output"), samples)
    counts = Counter(sample["group"] for sample in samples)
    score = {
        "value": value,
        "standardError": error,
        "items": len(samples),
        "groups": {
            kind: {"value": mean, "items": counts[kind]} for kind, mean in kind_ratios(samples).items()
        },
        "extra": {"kinds": len(counts)},
    }
    return Measured(score, pseudo_values(samples, value))


def pseudo_values(samples: list[Sample], score: float) -> list[dict[str, Any]]:
    """Samples with values whose mean is the score and whose spread is its error: score + n times the pull.

    A table that pairs two submissions by document can then treat the score like a mean over items.
    """
    return [
        {
            **{key: kept for key, kept in sample.items() if key not in ("value", "weight")},
            "bits": sample["value"],
            "bytes": sample["weight"],
            "value": score + len(samples) * pull,
            "weight": 1,
        }
        for sample, pull in zip(samples, pulls(samples), strict=True)
    ]


if __name__ == "__main__":
    score_stage(measure)
