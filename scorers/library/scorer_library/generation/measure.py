"""The part that all scorers of generated formal proofs share.

The model writes the texts once, in a separate stage. A scorer passes `reads="answers"` to score_stage and
gets the folder of the texts instead of the submission's folder.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlrb_kit.answers import Prediction, read_answers
from mlrb_kit.score_stage import Measured
from scorer_library.generation.items import MathData, read_math

# maps the data and the predictions' texts to the fields of a scored score and one sample per item
Judge = Callable[[MathData, list[str]], tuple[dict[str, Any], list[dict[str, Any]]]]


def measure_generated(
    judge: Judge, answers: Path, private: Path, *, ready: Callable[[], Any] = lambda: None
) -> Measured:
    """`ready` is called first, and raises where the judge cannot work."""
    data = read_math(private)
    ready()
    made = read_answers(answers, [item.name for item in data.items])
    score, judged = judge(data, [prediction.text for prediction in made])
    score["extra"] = {**score.get("extra", {}), **counts(made)}
    samples = [
        {**prediction.sample(), "group": item.group, **sample}
        for item, prediction, sample in zip(data.items, made, judged, strict=True)
    ]
    return Measured(score, samples)


def counts(made: list[Prediction]) -> dict[str, int]:
    """Counts of all generations: tokens, steps with equally likely tokens, and ends by kind."""
    ended = [prediction.ended for prediction in made]
    return {
        "newTokens": sum(prediction.tokens for prediction in made),
        "tiedSteps": sum(prediction.tied for prediction in made),
        "endedItself": ended.count("end-token"),
        "promptTooLong": ended.count("prompt-too-long"),
        "outOfTime": ended.count("seconds"),
    }


def grouped(data: MathData, values: list[float]) -> dict[str, dict[str, Any]]:
    """The mean of each group of items."""
    groups: dict[str, list[float]] = {}
    for item, value in zip(data.items, values, strict=True):
        groups.setdefault(item.group, []).append(value)
    return {
        name: {"value": sum(found) / len(found), "items": len(found)}
        for name, found in sorted(groups.items())
    }
