"""The scores of a submitted program: accuracy, time, memory, and accuracy squared per minute."""

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.score_stage import Measured
from scorer_library.programs.answers import Answered, read_answered
from scorer_library.programs.labels import read_test

# value and standard error
Number = Callable[[Answered, float], tuple[float, float]]


def measure_program(number: Number, answers: Path, private: Path) -> Measured:
    answered = read_answered(answers, private)
    labels = answered.test.labels
    right = [answered.is_right(name) for name in labels]
    accuracy = sum(right) / len(right)
    samples = [
        {
            "id": name,
            "group": labels[name],
            "prediction": answered.predictions[name],
            "value": float(hit),
            "weight": 1,
        }
        for name, hit in zip(labels, right, strict=True)
    ]
    value, error = number(answered, accuracy)
    score: dict[str, Any] = {"value": value, "standardError": error, "items": len(right)}
    return Measured({**score, "groups": groups(samples), "extra": {}}, samples)


def measure_run(number: Number, answers: Path, private: Path) -> Measured:
    """A number of the whole run, e.g. its seconds, as one item."""
    value, error = number(read_answered(answers, private), math.nan)
    score = {"value": value, "standardError": error, "items": 1, "groups": {}, "extra": {}}
    return Measured(score, [{"id": "run", "value": value, "weight": 1}])


def groups(samples: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The accuracy for each label."""
    found: dict[str, list[float]] = {}
    for sample in samples:
        found.setdefault(sample["group"], []).append(sample["value"])
    return {
        label: {"value": sum(hits) / len(hits), "items": len(hits)} for label, hits in sorted(found.items())
    }


def accuracy(answered: Answered, share: float) -> tuple[float, float]:
    return share, binomial_error(share, len(answered.test.labels))


def binomial_error(share: float, items: int) -> float:
    return math.sqrt(share * (1 - share) / items)


def seconds(answered: Answered, _share: float) -> tuple[float, float]:
    return answered.cost.seconds, 0.0


def peak_bytes(answered: Answered, _share: float) -> tuple[float, float]:
    return float(answered.cost.peak_bytes), 0.0


def time_weighted(answered: Answered, share: float) -> tuple[float, float]:
    """TWE = accuracy^2 / minutes; its error is that of the accuracy, by the derivative."""
    minutes = answered.cost.seconds / 60
    error = binomial_error(share, len(answered.test.labels))
    return share**2 / minutes, 2 * share * error / minutes


def accuracy_rows(_public: Path, private: Path) -> list[dict[str, Any]]:
    """The most frequent label of the test images, and the right answers."""
    labels = list(read_test(private).labels.values())
    label, count = max(sorted(Counter(labels).items()), key=lambda item: item[1])
    share = count / len(labels)
    common = {"kind": "guess", "value": share, "standardError": binomial_error(share, len(labels))}
    title = f"The most frequent label ({label}) for every image"
    right = {"kind": "answers", "value": 1.0, "standardError": 0.0}
    return [
        {"name": "majority", "title": title, **common},
        {"name": "answers", "title": "The right answers", **right},
    ]
