"""The mean over tasks, as shipped and with multirc's labels corrected, and minus the best constants."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scorer_library.lm_eval.items import Item, Shares, calibration, decided, groups_of, mean, official_shares
from scorer_library.lm_eval.mean import group_totals
from task_score import task_baseline, task_error, task_score

SWAPPED = "multirc"


def mean_score(items: Sequence[Item]) -> dict[str, Any]:
    corrected = [with_labels_right(item) for item in items]
    value, ties = decided(items, over_tasks)
    right, _ = decided(corrected, over_tasks)
    tasks = groups_of(items)
    baselines = {name: task_baseline(found) for name, found in tasks.items()}
    baseline = mean(list(baselines.values()))
    errors = [task_error(found) for found in tasks.values()]
    extra = {
        **ties,
        **calibration(corrected),
        "tasks": len(tasks),
        "baseline": baseline,
        "overBaseline": value - baseline,
        "corrected": right,
        "correctedOverBaseline": right - baseline,  # swapped labels keep the best constant answer
        **{f"baseline.{name}": each for name, each in baselines.items()},
    }
    if SWAPPED in tasks:
        extra[f"corrected.{SWAPPED}"] = value_of([item for item in corrected if item.group == SWAPPED])
    return {
        "value": value,
        "standardError": math.sqrt(math.fsum(error**2 for error in errors)) / len(errors),
        "groups": {name: {"value": value_of(found), "items": len(found)} for name, found in tasks.items()},
        "extra": extra,
    }


def over_tasks(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    """The unweighted mean of the tasks' scores."""
    return mean(group_totals(items, shares, task_score))


def value_of(items: Sequence[Item]) -> float:
    return task_score(items, [official_shares(item) for item in items])


def with_labels_right(item: Item) -> Item:
    """lm-eval lists "yes" first, but the label of a true answer is 1: it counts "no" as right."""
    if item.group != SWAPPED:
        return item
    return replace(item, credits=[1 - credit for credit in item.credits])
