"""Computes the share of texts that Lean 3 accepts."""

from typing import Any

from scorer_library.generation.items import MathData
from scorer_library.generation.verdicts import score_of_verdicts
from scorer_library.lean3.check import OVER_ALL_TIME, open_lean3
from scorer_library.lean3.settings import read_lean3

LIMITS = ("over the time limit", "over the memory limit", OVER_ALL_TIME)


def lean3_score(data: MathData, texts: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Raises Lean3Missing, and ValueError where the data has no settings for Lean 3."""
    with open_lean3(read_lean3(data)) as lean:
        verdicts = [lean.judge(text) for text in texts]
    return score_of_verdicts(data, None, verdicts, LIMITS)
