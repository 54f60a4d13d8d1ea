"""Measures what upstream's agent-eval measures of a submission (defined in README.md)."""

from pathlib import Path
from typing import Any

from mlrb_kit.score_stage import Measured, judged, score_stage
from mlrb_kit.submission import load_submission
from perplexity import Sample, perplexity_of, running_mean, window_samples
from scorer_library.costs.efficiency import read_settings
from scorer_library.ratio import ratio
from scorer_library.wikitext import encode_wikitext, read_wikitext
from speed import measure_speed

SETTINGS = {"warmups": 5, "runs": 10}


def measure(submission: Path, private: Path) -> Measured:
    return measure_text(submission, read_wikitext(private), read_settings(private, SETTINGS))


def measure_text(folder: Path, text: str, settings: dict[str, int]) -> Measured:
    submission = load_submission(folder)
    ids = encode_wikitext(submission, text)
    samples = window_samples(submission, ids)
    more = {
        "bytesPerToken": len(text.encode()) / len(ids),
        "parameters": sum(values.numel() for values in submission.model.parameters()),
    }
    return judged(samples, lambda: scored(samples, {**more, **measure_speed(submission, settings)}))


def scored(samples: list[Sample], more: dict[str, Any]) -> dict[str, Any]:
    """The standard error of exp(x) is exp(x) times that of x."""
    nats, error = ratio(samples)
    value = perplexity_of(nats)
    return {
        "value": value,
        "standardError": value * error,
        "items": len(samples),
        "groups": {},
        "extra": {
            "perplexityRunningMean": running_mean(samples),
            "tokens": sum(sample["weight"] for sample in samples),
            **more,
        },
    }


if __name__ == "__main__":
    score_stage(measure)
