"""The lowest accuracy of the domains, its standard error, and samples that sum to it."""

from collections.abc import Iterable, Sequence
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
)
from scorer_library.lm_eval.mean import by_group, credit_of, group_totals


def scored(items: Sequence[Item]) -> dict[str, Any]:
    """The error is that of the worst domain, with facts as clusters."""
    value, ties = decided(items, least)
    domains = by_group(items)
    found = groups_of(items)[worst(domains)]
    # a single cluster, as in rows without facts, has no known error
    error = max(clustered_ratio(found)[1], error_of_mean([credit_of(item) for item in found]))
    values = [domain["value"] for domain in domains.values()]
    return {
        "value": value,
        "standardError": error,
        "groups": domains,
        "extra": {**ties, **calibration(items), "domains": len(domains), "meanOverDomains": mean(values)},
    }


def least(items: Sequence[Item], shares: Sequence[Shares]) -> float:
    return min(group_totals(items, shares))


def worst(domains: dict[str, dict[str, Any]]) -> str:
    """The domain with the lowest value; the first by name of equals."""
    return min(sorted(domains), key=lambda name: domains[name]["value"])


def weighed(samples: Iterable[dict[str, Any]], domain: str) -> list[dict[str, Any]]:
    """Samples in which only the items of `domain` count, so that values over weights are the score.

    A comparison of two submissions by item then compares their minima, each in its own worst domain.
    """
    return [
        sample if sample["group"] == domain else {**sample, "value": 0.0, "weight": 0} for sample in samples
    ]
