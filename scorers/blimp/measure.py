"""Measures BLiMP: how often a model finds the right sentence of a minimal pair likelier (see README.md)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from mlrb_kit.score_stage import score_stage
from scorer_library.lm_eval.blimp import DATA, PHENOMENON_OF, task_of
from scorer_library.lm_eval.data import Row
from scorer_library.lm_eval.items import Item, mean
from scorer_library.lm_eval.mean import mean_over_groups
from scorer_library.lm_eval.measure import LmEval, lm_eval_measure
from scorer_library.lm_eval.run import Answer


def item_of(paradigm: str, at: int, _row: Row, answer: Answer) -> Item:
    credits = [outcome["acc"] for outcome in answer.outcomes]
    more = {"phenomenon": PHENOMENON_OF[paradigm]}
    return Item(f"{paradigm}/{at}", paradigm, answer.likelihoods, credits, cluster=paradigm, more=more)


def scored(items: Sequence[Item]) -> dict[str, Any]:
    """The unweighted mean over paradigms. Groups are phenomena, each the unweighted mean of its paradigms."""
    found = mean_over_groups(items)
    paradigms = found.pop("groups")
    members: dict[str, list[str]] = {}
    for paradigm in paradigms:
        members.setdefault(PHENOMENON_OF[paradigm], []).append(paradigm)
    groups = {
        name: {
            "value": mean([paradigms[paradigm]["value"] for paradigm in there]),
            "items": sum(paradigms[paradigm]["items"] for paradigm in there),
        }
        for name, there in sorted(members.items())
    }
    extra = {key: value for key, value in found["extra"].items() if key != "groups"}
    each = {f"paradigm.{paradigm}": group["value"] for paradigm, group in paradigms.items()}
    counts = {"paradigms": len(paradigms), "phenomena": len(groups)}
    return {**found, "groups": groups, "extra": {**extra, **counts, **each}}


measure = partial(lm_eval_measure, LmEval(DATA, "blimp", task_of, item_of, scored))

if __name__ == "__main__":
    score_stage(measure)
