"""One task's score, whatever its metric, from the shares of each item's choices."""

import math
from collections.abc import Sequence

from scorer_library.lm_eval.items import Item, Shares, clustered_ratio, mean, mean_credit, official_shares

CB = "cb"
CB_CLASSES = 3


def task_score(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    """For cb the mean of accuracy and the unweighted mean F1 of its three classes, else the mean credit."""
    accuracy = mean_credit(items, shares)
    return (accuracy + class_f1(items, shares)) / 2 if items[0].group == CB else accuracy


def class_f1(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    """Mean over classes of 2 tp / (2 tp + fp + fn). A class that never occurs counts 0, as in lm-eval."""
    found = []
    for label in range(CB_CLASSES):
        claimed = [share[label] for share in shares]
        true = [item.credits[label] for item in items]
        hits = math.fsum(claim * is_true for claim, is_true in zip(claimed, true, strict=True))
        both = math.fsum(claimed) + math.fsum(true)
        found.append(2 * hits / both if both else 0.0)
    return mean(found)


def task_baseline(items: Sequence[Item]) -> float:
    """The best score without reading: always one choice, or uniform choices."""
    constants = [
        [[float(at == chosen) for at in range(len(item.credits))] for item in items]
        for chosen in range(min(len(item.credits) for item in items))
    ]
    even = [[1 / len(item.credits)] * len(item.credits) for item in items]
    return max(task_score(items, shares) for shares in (*constants, even))


def task_error(items: Sequence[Item]) -> float:
    """Standard error of the ratio over clusters; for cb by the jackknife, as F1 is no mean over items."""
    if items[0].group != CB:
        return clustered_ratio(items)[1]
    count = len(items)
    if count < 2:
        return 0.0
    without = [
        task_score(rest, [official_shares(item) for item in rest])
        for rest in ([*items[:at], *items[at + 1 :]] for at in range(count))
    ]
    centre = mean(without)
    return math.sqrt((count - 1) / count * math.fsum((value - centre) ** 2 for value in without))
