"""Computes the share of texts that compile, and of those that also state the reference's theorem."""

from typing import Any

from scorer_library.generation.items import MathData
from scorer_library.generation.verdicts import score_of_verdicts
from scorer_library.lean.check import open_lean
from scorer_library.lean.text import Theorem, read_theorem
from scorer_library.lean.together import judge_all

LIMITS = ("over the time limit", "over the memory limit")


def lean_score(
    data: MathData, texts: list[str], *, faithful: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`faithful`: a text counts only if its statement equals the reference's; Lean checks no other text.

    Raises LeanMissing.
    """
    same = [says_the_same(text, item.formal_proof) for text, item in zip(texts, data.items, strict=True)]
    asked = [equal or not faithful for equal in same]
    with open_lean(data.lean) as lean:
        judged = iter(judge_all(lean, [text for text, ask in zip(texts, asked, strict=True) if ask]))
    verdicts = [next(judged) if ask else None for ask in asked]
    score, samples = score_of_verdicts(data, same, verdicts, LIMITS)
    if not faithful:
        score["extra"]["compiles"] = sum(sample["value"] for sample in samples) / len(samples)
    return score, samples


def says_the_same(text: str, reference: str) -> bool:
    """Whether the statements are equal after normalisation (lean.text). Names of theorems are ignored.
    A statement whose end is unknown equals none."""
    one, other = read_theorem(text), read_theorem(reference)
    if not isinstance(one, Theorem) or not isinstance(other, Theorem) or one.statement is None:
        return False
    return one.statement == other.statement
