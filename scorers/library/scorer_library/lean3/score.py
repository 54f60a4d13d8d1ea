"""Computes the share of texts that Lean 3 accepts, and of those that also state the reference's theorem."""

from typing import Any

from scorer_library.generation.items import MathData
from scorer_library.generation.verdicts import score_of_verdicts
from scorer_library.lean3.check import OVER_ALL_TIME, open_lean3
from scorer_library.lean3.settings import read_lean3
from scorer_library.lean3.text import Theorem, read_theorem

LIMITS = ("over the time limit", "over the memory limit", OVER_ALL_TIME)


def lean3_score(
    data: MathData, texts: list[str], *, faithful: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`faithful`: a text counts only if its statement equals the reference's; Lean checks no other text.

    Raises Lean3Missing, and ValueError where the data has no settings for Lean 3.
    """
    settings = read_lean3(data)
    same = [says_the_same(text, item.formal_proof) for text, item in zip(texts, data.items, strict=True)]
    with open_lean3(settings) as lean:
        verdicts = [
            lean.judge(text) if equal or not faithful else None
            for text, equal in zip(texts, same, strict=True)
        ]
    return score_of_verdicts(data, same, verdicts, LIMITS)


def says_the_same(text: str, reference: str) -> bool:
    """Whether the statements are equal after normalisation, under the same imports and open namespaces.
    A statement whose end is unknown equals none."""
    one, other = read_theorem(text), read_theorem(reference)
    if not isinstance(one, Theorem) or not isinstance(other, Theorem) or one.claim is None:
        return False
    return one.claim == other.claim
