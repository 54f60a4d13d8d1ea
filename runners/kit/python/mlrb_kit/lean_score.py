"""From texts to the shares that compile and that also say what the reference says."""

from typing import Any

from mlrb_kit.generate_items import MathData
from mlrb_kit.generate_measure import grouped
from mlrb_kit.lean_check import open_lean
from mlrb_kit.lean_text import Theorem, read_theorem
from mlrb_kit.lean_together import judge_all
from mlrb_kit.ratio import ratio


def lean_score(
    data: MathData, texts: list[str], *, faithful: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`faithful`: a text counts only if its statement equals the reference's. Raises LeanMissing."""
    with open_lean(data.lean) as lean:
        verdicts = judge_all(lean, texts)
    same = [says_the_same(text, item.formal_proof) for text, item in zip(texts, data.items, strict=True)]
    values = [
        float(verdict.compiles and (equal or not faithful))
        for verdict, equal in zip(verdicts, same, strict=True)
    ]
    samples = [
        {
            "value": value,
            "weight": 1,
            "compiles": verdict.compiles,
            "sameStatement": equal,
            "reason": verdict.reason or ("" if equal or not faithful else "another statement"),
        }
        for value, verdict, equal in zip(values, verdicts, same, strict=True)
    ]
    value, error = ratio(samples)
    limits = ("over the time limit", "over the memory limit")
    extra = {
        "compiles": sum(verdict.compiles for verdict in verdicts) / len(verdicts),
        "sameStatement": sum(same) / len(same),
        "stoppedByLimits": sum(verdict.reason in limits for verdict in verdicts),
    }
    score = {"value": value, "standardError": error, "items": len(values), "groups": grouped(data, values)}
    return {**score, "extra": extra}, samples


def says_the_same(text: str, reference: str) -> bool:
    """Equal statements after normalisation (lean_text); the theorem's name does not count."""
    one, other = read_theorem(text), read_theorem(reference)
    return isinstance(one, Theorem) and isinstance(other, Theorem) and one.statement == other.statement
