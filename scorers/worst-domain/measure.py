"""Measures a model's accuracy in its worst domain (see README.md)."""

from pathlib import Path

from mlrb_kit.rejected import Rejected
from mlrb_kit.score_stage import Measured, score_stage
from scorer_library.lm_eval.continuation import continuation_measure
from worst import scored, weighed, worst

answered = continuation_measure(scored)


def measure(submission: Path, private: Path) -> Measured:
    score, samples = answered(submission, private)
    if isinstance(score, Rejected):
        return Measured(score, samples)
    return Measured(score, weighed(samples, worst(score["groups"])))


if __name__ == "__main__":
    score_stage(measure)
