"""Writes a score that is not measured: scorer.yaml names no program to measure with (ADR 12), or the scorer
defines nothing for models of this kind.

A program that is named and missing, or that fails its checks, is an error: the script ends, and the stage
fails. This module is apart from score_stage.py, so that scorers without such a program keep their keys.
"""

import sys
from pathlib import Path

from mlrb_kit.canonical import write_canonical
from mlrb_kit.results import write_jsonl
from mlrb_kit.stage import read_stage


def write_not_measured(reason: str) -> None:
    """Writes the outputs of a scorer's measure.py: no samples, and a score without a number."""
    stage = read_stage()
    print(f"not measured: {reason}", flush=True)
    write_jsonl(stage.output("samples"), [])
    score = {
        "formatVersion": 1,
        "scorer": script_folder(),
        "version": stage.param("version"),
        "unit": str(stage.param("unit")),
        "direction": "lower" if stage.param("direction") == "lower" else "higher",
        "kind": "not-measured",
        "reason": reason,
    }
    write_canonical(stage.output("score"), score)


def write_no_rows(reason: str) -> None:
    """Writes the output of a scorer's references.py without a row."""
    stage = read_stage()
    print(f"not measured: {reason}", flush=True)
    rows = {"formatVersion": 1, "scorer": script_folder(), "rows": []}
    write_canonical(stage.output("rows"), rows)


def script_folder() -> str:
    return Path(sys.argv[0]).resolve().parent.name
