"""Computes the share of texts that compile, and of those that also state the reference's theorem."""

from typing import Any

from scorer_library.generation.items import MathData
from scorer_library.generation.measure import grouped
from scorer_library.lean.check import open_lean
from scorer_library.lean.text import Theorem, read_theorem
from scorer_library.lean.together import judge_all
from scorer_library.ratio import ratio


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
    samples = [
        {
            "value": float(verdict is not None and verdict.compiles),
            "weight": 1,
            **({} if verdict is None else {"compiles": verdict.compiles}),
            "sameStatement": equal,
            "reason": "another statement" if verdict is None else verdict.reason,
        }
        for verdict, equal in zip(verdicts, same, strict=True)
    ]
    values = [sample["value"] for sample in samples]
    value, error = ratio(samples)
    limits = ("over the time limit", "over the memory limit")
    extra = {
        "sameStatement": sum(same) / len(same),
        "stoppedByLimits": sum(verdict is not None and verdict.reason in limits for verdict in verdicts),
    }
    if not faithful:
        extra["compiles"] = sum(values) / len(values)
    score = {"value": value, "standardError": error, "items": len(values), "groups": grouped(data, values)}
    return {**score, "extra": extra}, samples


def says_the_same(text: str, reference: str) -> bool:
    """Whether the statements are equal after normalisation (lean.text). Names of theorems are ignored.
    A statement whose end is unknown equals none."""
    one, other = read_theorem(text), read_theorem(reference)
    if not isinstance(one, Theorem) or not isinstance(other, Theorem) or one.statement is None:
        return False
    return one.statement == other.statement
