"""The common part of every scorer's measure.py, from its inputs to score.json.

A submission that was not admitted is rejected without being opened, and the result gets the header from
scorer.yaml. Each measure.py is a stage script of its own, so that a change of it, or of its imports, changes
only its own scores. By hand, with PYTHONPATH as docs/authors.md says:
    python scorers/NAME/measure.py --param version=1 --param unit=UNIT
        --param direction=higher --input submission=DIR --input admission=FILE --input private=DIR
        --output score=FILE --output samples=FILE
and `--input answers=DIR` for a scorer of generated texts (answers_stage.py).
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mlrb_kit.admitted import check_admitted, check_look_ahead
from mlrb_kit.answers import write_other_answers
from mlrb_kit.canonical import write_canonical
from mlrb_kit.guarded import fault_of
from mlrb_kit.rejected import Rejected
from mlrb_kit.results import write_jsonl
from mlrb_kit.stage import read_stage
from mlrb_kit.took import charged


class Measured(NamedTuple):
    score: dict[str, Any] | Rejected  # value, standardError, items, groups, extra
    samples: Iterable[dict[str, Any]]  # one per item, enough to recompute the score


# takes the judged folder and that of the private data; raises Rejected if the submission is at fault
Measure = Callable[[Path, Path], Measured]


def judged(samples: Sequence[dict[str, Any]], score: Callable[[], dict[str, Any]]) -> Measured:
    """Calls `score` and keeps the samples even if it rejects them."""
    try:
        return Measured(score(), samples)
    except Rejected as rejected:
        return Measured(rejected, samples)


def score_stage(measure: Measure, *, reads: str = "submission") -> None:
    """`reads`: the judged input; `answers` are the generated texts of the submission (answers_stage.py)."""
    stage = read_stage()
    header = {
        "formatVersion": 1,
        "scorer": Path(sys.argv[0]).resolve().parent.name,
        "version": stage.param("version"),
        "unit": str(stage.param("unit")),
        "direction": "lower" if stage.param("direction") == "lower" else "higher",
    }

    def write(score: dict[str, Any] | Rejected, samples: Iterable[dict[str, Any]] = ()) -> None:
        rejected = isinstance(score, Rejected)
        result = {"kind": "rejected", "reason": str(score)} if rejected else {"kind": "scored", **score}
        write_jsonl(stage.output("samples"), map(storable, samples))
        write_canonical(stage.output("score"), {**header, **result})

    def act(folder: Path) -> None:
        try:
            score, samples = measure(folder, stage.input("private"))
        except Rejected as rejected:
            score, samples = rejected, ()
        write(score, samples)
        if isinstance(score, Rejected):
            raise score

    folder = stage.input(reads)
    control = None if reads == "submission" else partial(write_other_answers, folder)
    with charged(stage):
        try:
            check_admitted(stage)
            check_look_ahead(stage)
            if fault := fault_of(stage, act, folder, control):
                raise Rejected(fault)
        except Rejected as rejected:
            write(rejected)


def storable(value: Any) -> Any:
    """NaN and infinities as words, since JSON cannot hold them."""
    if isinstance(value, dict):
        return {key: storable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
