"""Measures the peak memory of a submission for the memory rules of its task (ADR 44). The verdict reads it.

By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/memory.py
    --input submission=DIR --input admission=FILE --output memory=FILE --param data=smoke
    --param 'rules=[{"method": "memory-max", "with": {"bytes": 120000000, "tokens": 2000}}]'
"""

from pathlib import Path
from typing import Any

from mlrb_kit.admitted import read_admission
from mlrb_kit.canonical import write_canonical
from mlrb_kit.guarded import fault_of
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import read_stage

METHOD = "memory-max"


def main() -> None:
    stage = read_stage()
    admission = read_admission(stage)
    asked = recipes(stage.param("rules"), stage.param("data"))

    def write(measurements: list[dict[str, Any]]) -> None:
        write_canonical(stage.output("memory"), {"formatVersion": 1, "measurements": measurements})

    def act(folder: Path) -> None:
        from scorer_library.costs.memory_limit import measure_limit  # late: most tasks have no such rule

        found = [measure_limit(folder, **recipe) for recipe in asked]
        write(found)
        if failed := [run for one in found for run in one["runs"] if run["end"] == "failed"]:
            raise Rejected(failed[0]["detail"])

    if not asked or not admission["admitted"] or admission.get("undecided"):
        write([])
    elif fault := fault_of(stage, act, stage.input("submission")):
        failed = {"end": "failed", "atLeastBytes": 0, "detail": fault}
        names = {"limit_bytes": "bytes", "tokens": "tokens", "new_tokens": "newTokens"}
        write([{**{names[key]: recipe[key] for key in recipe}, "runs": [failed]} for recipe in asked])


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
