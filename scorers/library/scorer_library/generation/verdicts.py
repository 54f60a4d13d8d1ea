"""Computes a score from what a proof checker says of generated texts, for every such checker."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from scorer_library.generation.items import MathData
from scorer_library.generation.measure import grouped
from scorer_library.ratio import ratio


@dataclass(frozen=True)
class Verdict:
    compiles: bool
    reason: str  # why it does not compile, or ""


def score_of_verdicts(
    data: MathData, same: list[bool] | None, verdicts: Sequence[Verdict | None], limits: Collection[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`same`: whether a text states the reference's theorem; None where nobody asks. No verdict: it does
    not, and was not checked. `limits`: the reasons of texts whose check a limit ended."""
    asked = [None] * len(verdicts) if same is None else same
    samples = [sample(verdict, equal) for verdict, equal in zip(verdicts, asked, strict=True)]
    values = [one["value"] for one in samples]
    value, error = ratio(samples)
    extra = {
        **({} if same is None else {"sameStatement": sum(same) / len(same)}),
        "stoppedByLimits": sum(verdict is not None and verdict.reason in limits for verdict in verdicts),
    }
    score = {"value": value, "standardError": error, "items": len(values), "groups": grouped(data, values)}
    return {**score, "extra": extra}, samples


def sample(verdict: Verdict | None, equal: bool | None) -> dict[str, Any]:
    return {
        "value": float(verdict is not None and verdict.compiles),
        "weight": 1,
        **({} if verdict is None else {"compiles": verdict.compiles}),
        **({} if equal is None else {"sameStatement": equal}),
        "reason": "another statement" if verdict is None else verdict.reason,
    }
