"""Scores that are a mean of credits over items, or an unweighted mean over groups of items."""

from collections.abc import Sequence
from typing import Any

from scorer_library.lm_eval.items import (
    Item,
    Shares,
    Total,
    calibration,
    clustered_ratio,
    decided,
    error_of_mean,
    groups_of,
    mean,
    mean_credit,
    official_shares,
)


def mean_over_items(items: Sequence[Item]) -> dict[str, Any]:
    """Items have equal weights. The error treats them as independent, `standardErrorClustered` does not."""
    value, ties = decided(items, mean_credit)
    found = by_group(items)
    return {
        "value": value,
        "standardError": error_of_mean([credit_of(item) for item in items]),
        "groups": found,
        "extra": {
            **ties,
            **calibration(items),
            "groups": len(found),
            "standardErrorClustered": clustered_ratio(items)[1],
        },
    }


def mean_over_groups(items: Sequence[Item]) -> dict[str, Any]:
    """Each group has the same weight, whatever its size. Groups are the clusters of the error."""
    value, ties = decided(items, lambda items, shares: mean(group_totals(items, shares)))
    found = by_group(items)
    return {
        "value": value,
        "standardError": error_of_mean([group["value"] for group in found.values()]),
        "groups": found,
        "extra": {**ties, **calibration(items), "groups": len(found)},
    }


def group_totals(items: Sequence[Item], shares: Sequence[Shares], total: Total = mean_credit) -> list[float]:
    """The total of each group of items, by the group's name."""
    members: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        members.setdefault(item.group, []).append(at)
    return [
        total([items[at] for at in places], [shares[at] for at in places])
        for _, places in sorted(members.items())
    ]


def by_group(items: Sequence[Item]) -> dict[str, dict[str, Any]]:
    return {
        name: {"value": mean([credit_of(item) for item in found]), "items": len(found)}
        for name, found in groups_of(items).items()
    }


def credit_of(item: Item) -> float:
    return mean_credit([item], [official_shares(item)])
