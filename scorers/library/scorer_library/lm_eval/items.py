"""Turns answers into scores, rejects likelihoods that decide nothing, and computes calibration.

lm-eval chooses the first of equal likelihoods, and the first choice where one is NaN. A model without any
preference would choose what comes first, which can be right more often than chance.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlrb_kit.rejected import Rejected
from scorer_library.ratio import ratio

TIE_NATS = 1e-6
TIES_GAP_MAX = 0.02
TIES_SHARE_MAX = 0.5
BINS = 10  # bins of confidence, for the calibration error

Shares = list[float]  # an item's share for each choice; shares sum to 1


@dataclass(frozen=True)
class Item:
    id: str
    group: str
    likelihoods: list[float]  # of each choice, in nats
    credits: list[float]  # the credit of each choice; 1 for a right one
    cluster: str = ""  # items of one cluster are not independent
    more: dict[str, Any] = field(default_factory=dict)  # more fields of the sample


Total = Callable[[Sequence[Item], Sequence[Shares]], float]


def official_shares(item: Item) -> Shares:
    """1 for the likeliest choice, the first of equals, as in lm-eval."""
    chosen = item.likelihoods.index(max(item.likelihoods))
    return [float(at == chosen) for at in range(len(item.likelihoods))]


def tied_shares(item: Item) -> Shares:
    """1/k for each of the k choices within 1e-6 nats of the likeliest."""
    tied = best(item)
    return [float(at in tied) / len(tied) for at in range(len(item.likelihoods))]


def best(item: Item) -> list[int]:
    most = max(item.likelihoods)
    return [
        at
        for at, likelihood in enumerate(item.likelihoods)
        if likelihood == most or most - likelihood < TIE_NATS
    ]


def earned(item: Item, shares: Shares) -> float:
    return math.fsum(share * credit for share, credit in zip(shares, item.credits, strict=True) if share)


def mean_credit(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    return math.fsum(earned(item, share) for item, share in zip(items, shares, strict=True)) / len(items)


def decided(items: Sequence[Item], total: Total) -> tuple[float, dict[str, float]]:
    """The score by lm-eval's choices, and counts of ties. Raises Rejected where ties decide the score."""
    for item in items:
        choices = item.likelihoods
        if any(math.isnan(choice) or choice == math.inf for choice in choices) or max(choices) == -math.inf:
            raise Rejected("non-finite output")
    value = total(items, [official_shares(item) for item in items])
    ties_half = total(items, [tied_shares(item) for item in items])
    ties = sum(len(best(item)) > 1 for item in items)
    if abs(value - ties_half) > TIES_GAP_MAX:
        counts = f"{value:.3f} as lm-eval counts, {ties_half:.3f} with ties shared"
        raise Rejected(f"ties: {counts}; the model does not tell answers apart")
    if ties > TIES_SHARE_MAX * len(items):
        raise Rejected(f"ties: in {ties} of {len(items)} items; the model does not tell answers apart")
    return value, {"ties": ties, "tiesHalf": ties_half}


def calibration(items: Sequence[Item]) -> dict[str, float]:
    """Margin and calibration of the right choice by softmax, over items with one right choice.

    `margin`: mean nats from the likeliest wrong choice to the right one; items with an impossible choice have
    no margin and are counted as `impossible`. `goldProbability`: mean probability of the right choice.
    `brier`: mean sum of squares over choices (0 to 2). `calibrationError`: over ten equal bins, weighted.
    """
    single = [item for item in items if item.credits.count(1.0) == 1 and len(item.credits) > 1]
    if not single:
        return {}
    margins, gold, brier = [], [], []
    bins: dict[int, list[tuple[float, float]]] = {}
    for item in single:
        right = item.credits.index(1.0)
        wrong = max(likelihood for at, likelihood in enumerate(item.likelihoods) if at != right)
        if all(math.isfinite(likelihood) for likelihood in item.likelihoods):
            margins.append(item.likelihoods[right] - wrong)
        chances = softmax(item.likelihoods)
        gold.append(chances[right])
        brier.append(math.fsum((chance - (at == right)) ** 2 for at, chance in enumerate(chances)))
        sure = max(chances)
        bins.setdefault(min(int(sure * BINS), BINS - 1), []).append(
            (sure, earned(item, official_shares(item)))
        )
    gaps = [abs(math.fsum(sure - hit for sure, hit in bins[at])) for at in sorted(bins)]
    found = {
        "goldProbability": mean(gold),
        "brier": mean(brier),
        "calibrationError": math.fsum(gaps) / len(single),
        "impossible": len(single) - len(margins),
    }
    return {**found, "margin": mean(margins)} if margins else found


def softmax(likelihoods: Sequence[float]) -> list[float]:
    most = max(likelihoods)
    weights = [math.exp(likelihood - most) for likelihood in likelihoods]
    return [weight / math.fsum(weights) for weight in weights]


def clustered_ratio(items: Sequence[Item]) -> tuple[float, float]:
    """The mean credit of items and its standard error, clustered."""
    sums: dict[str, dict[str, float]] = {}
    for item in items:
        of = sums.setdefault(item.cluster, {"value": 0.0, "weight": 0.0})
        of["value"] += earned(item, official_shares(item))
        of["weight"] += 1
    return ratio(list(sums.values()))


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def error_of_mean(values: Sequence[float]) -> float:
    """Standard error of the unweighted mean; 0.0 for a single value, whose error is unknown."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    spread = math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(spread / len(values))


def groups_of(items: Sequence[Item]) -> dict[str, list[Item]]:
    return {
        name: [item for item in items if item.group == name]
        for name in sorted({item.group for item in items})
    }


def sample_of(item: Item) -> dict[str, Any]:
    """One line of the samples file."""
    nan = any(math.isnan(likelihood) for likelihood in item.likelihoods)
    return {
        **item.more,
        "id": item.id,
        "group": item.group,
        "cluster": item.cluster or item.group,
        "value": 0.0 if nan else earned(item, official_shares(item)),
        "weight": 1,
        "credits": item.credits,
        "likelihoods": item.likelihoods,
    }
