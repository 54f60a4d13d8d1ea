"""Computes a score from what a proof checker says of generated texts, for every such checker."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from scorer_library.generation.items import MathData
from scorer_library.generation.measure import grouped
from scorer_library.ratio import ratio


class Verdict(Protocol):
    @property
    def compiles(self) -> bool: ...

    @property
    def reason(self) -> str: ...


def score_of_verdicts(
    data: MathData, same: list[bool], verdicts: Sequence[Verdict | None], limits: Collection[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`same`: whether a text states the reference's theorem. No verdict: it does not, and was not checked.
    `limits`: the reasons of texts whose check a limit ended."""
    samples = [sample(verdict, equal) for verdict, equal in zip(verdicts, same, strict=True)]
    values = [one["value"] for one in samples]
    value, error = ratio(samples)
    extra = {
        "sameStatement": sum(same) / len(same),
        "stoppedByLimits": sum(verdict is not None and verdict.reason in limits for verdict in verdicts),
    }
    score = {"value": value, "standardError": error, "items": len(values), "groups": grouped(data, values)}
    return {**score, "extra": extra}, samples


def sample(verdict: Verdict | None, equal: bool) -> dict[str, Any]:
    return {
        "value": float(verdict is not None and verdict.compiles),
        "weight": 1,
        **({} if verdict is None else {"compiles": verdict.compiles}),
        "sameStatement": equal,
        "reason": "another statement" if verdict is None else verdict.reason,
    }
