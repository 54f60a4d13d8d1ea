"""The score that is a mean over items, or an unweighted mean over groups of items, of what each earns."""

from collections.abc import Sequence
from typing import Any

from scorer_library.lm_eval.items import (
    Item,
    Shares,
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
    """Each item counts alike; the error treats items as independent, `standardErrorClustered` does not."""
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
    """Each group counts alike, whatever its number of items; groups are the clusters of the error."""
    value, ties = decided(items, group_mean)
    found = by_group(items)
    return {
        "value": value,
        "standardError": error_of_mean([group["value"] for group in found.values()]),
        "groups": found,
        "extra": {**ties, **calibration(items), "groups": len(found)},
    }


def group_mean(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    members: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        members.setdefault(item.group, []).append(at)
    return mean(
        [
            mean_credit([items[at] for at in places], [shares[at] for at in places])
            for _, places in sorted(members.items())
        ]
    )


def by_group(items: Sequence[Item]) -> dict[str, dict[str, Any]]:
    return {
        name: {"value": mean([credit_of(item) for item in found]), "items": len(found)}
        for name, found in groups_of(items).items()
    }


def credit_of(item: Item) -> float:
    return mean_credit([item], [official_shares(item)])
