"""The least of the domains' accuracies, its standard error, and the samples that add up to it."""

from collections.abc import Iterable, Sequence
from typing import Any

from scorer_library.lm_eval.items import (
    Item,
    Shares,
    calibration,
    clustered_ratio,
    decided,
    earned,
    error_of_mean,
    groups_of,
    mean,
)
from scorer_library.lm_eval.mean import by_group, credit_of


def scored(items: Sequence[Item]) -> dict[str, Any]:
    """The error is the worst domain's own, questions about one fact taken together."""
    value, ties = decided(items, least)
    domains = by_group(items)
    found = groups_of(items)[worst(domains)]
    # one cluster alone, as where rows name no facts, has no error that could be known
    error = max(clustered_ratio(found)[1], error_of_mean([credit_of(item) for item in found]))
    values = [domain["value"] for domain in domains.values()]
    return {
        "value": value,
        "standardError": error,
        "groups": domains,
        "extra": {**ties, **calibration(items), "domains": len(domains), "meanOverDomains": mean(values)},
    }


def least(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    domains: dict[str, list[float]] = {}
    for item, share in zip(items, shares, strict=True):
        domains.setdefault(item.group, []).append(earned(item, share))
    return min(mean(credits) for credits in domains.values())


def worst(domains: dict[str, dict[str, Any]]) -> str:
    """The domain of least value, the first by name of equals."""
    return min(sorted(domains), key=lambda name: domains[name]["value"])


def weighed(samples: Iterable[dict[str, Any]], domain: str) -> list[dict[str, Any]]:
    """With nothing counted but the items of `domain`, so that values over weights are the score.

    Whoever compares two submissions item by item then compares their minima, each over its own worst domain.
    """
    return [
        sample if sample["group"] == domain else {**sample, "value": 0.0, "weight": 0} for sample in samples
    ]
