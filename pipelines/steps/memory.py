"""Measures the peak memory of a submission for the memory rules of its task (ADR 44). The verdict reads it.

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/memory.py
    --input submission=DIR --input admission=FILE --output memory=FILE --param data=smoke
    --param 'rules=[{"method": "memory-max", "with": {"bytes": 120000000, "tokens": 2000}}]'
"""

import json
from typing import Any

from mlrb_kit.canonical import write_canonical
from mlrb_kit.stage import read_stage

METHOD = "memory-max"


def main() -> None:
    stage = read_stage()
    admission = json.loads(stage.input("admission").read_text(encoding="utf-8"))
    measurements = []
    if admission["admitted"] and not admission.get("undecided"):
        for recipe in recipes(stage.param("rules"), stage.param("data")):
            from scorer_library.costs.memory_limit import measure_limit  # late: most tasks have no such rule

            measurements.append(measure_limit(stage.input("submission"), **recipe))
    write_canonical(stage.output("memory"), {"formatVersion": 1, "measurements": measurements})


def recipes(rules: list[dict[str, Any]], data: str) -> list[dict[str, int]]:
    """Of the rules for this kind of data, each recipe once."""
    given = [rule["with"] for rule in rules if rule["method"] == METHOD and data in rule.get("on", [data])]
    asked = [(one["bytes"], one["tokens"], one.get("newTokens", 0)) for one in given]
    return [
        {"limit_bytes": limit, "tokens": tokens, "new_tokens": new}
        for limit, tokens, new in dict.fromkeys(asked)
    ]


if __name__ == "__main__":
    main()
