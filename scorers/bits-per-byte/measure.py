"""Measures bits per byte of a submission on held-out text (defined in README.md)."""

import math
from pathlib import Path
from typing import Any

from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import Measured, judged, score_stage
from scorer_library.bits_per_byte import bits_samples
from scorer_library.ratio import ratio


def measure(submission: Path, private: Path) -> Measured:
    samples = bits_samples(submission, private)
    return judged(samples, lambda: scored(samples))


def scored(samples: list[dict[str, Any]]) -> dict[str, Any]:
    value, error = ratio(samples)
    if not math.isfinite(value):
        raise Rejected("non-finite output")
    groups = sorted({sample["group"] for sample in samples})
    members = {group: [sample for sample in samples if sample["group"] == group] for group in groups}
    return {
        "value": value,
        "standardError": error,
        "items": len(samples),
        "groups": {
            group: {"value": ratio(found)[0], "items": len(found)} for group, found in members.items()
        },
        "extra": {
            "bytes": sum(sample["weight"] for sample in samples),
            "tokens": sum(sample["tokens"] for sample in samples),
        },
    }


if __name__ == "__main__":
    score_stage(measure)
